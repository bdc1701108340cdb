// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/engine: a cgroup whose path somebody other than root could choose, or that a
 * nested node has, changes nothing about the pod and the container whose names it has.
 */
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"
#include "lib/shutdown/shutworld.h"

/* A service whose cgroup is delegated to a user, who makes a pod in it. */
#define CG_APP	     200
#define CG_FORGED    203 /* its pod */
#define CG_FORGED_C  204 /* a container of that */
#define APP_PATH     "/system.slice/app.service"
#define FORGED_PATH  APP_PATH "/kubepods/pod" WORLD_UID_A
#define FORGED_LEVEL 3

static const struct graced_proc FORGER = {.pid = 5555,
					  .ns_pid = 1,
					  .uid = 1000,
					  .cgroup_id = CG_FORGED_C,
					  .watch_id = CG_FORGED_C,
					  .start_ns = SEC(14),
					  .comm = "pause",
					  .exe = "pause"};

static void make(struct world *w, uint64_t id, uint64_t parent, const char *name, uint32_t kind,
		 uint32_t delegated_level)
{
	struct obs obs = {.type = OBS_CGROUP_NEW, .at_ns = SEC(13)};

	obs.cgroup.id = id;
	obs.cgroup.parent_id = parent;
	obs.cgroup.kind = kind;
	obs.cgroup.delegated_level = delegated_level;
	strcpy(obs.cgroup.path, name);
	assert_int_equal(world_tell(w, &obs), 0);
}

/* The kernel half takes them for what they are called. */
static void forge(struct world *w, const char *container_id)
{
	make(w, CG_APP, CG_SYSTEM, "app.service", GRACED_WATCH_BRANCH, 0);
	make(w, CG_APP + 1, CG_APP, "kubepods", GRACED_WATCH_BRANCH, FORGED_LEVEL);
	make(w, CG_FORGED, CG_APP + 1, "pod" WORLD_UID_A, GRACED_WATCH_POD, FORGED_LEVEL);
	make(w, CG_FORGED_C, CG_FORGED, container_id, GRACED_WATCH_CONTAINER, FORGED_LEVEL);
}

static void find(struct world *w, uint64_t id, const char *path, uint32_t delegated_level)
{
	struct obs obs = {.type = OBS_CGROUP_FOUND, .at_ns = SEC(13)};

	obs.cgroup.id = id;
	obs.cgroup.delegated_level = delegated_level;
	strcpy(obs.cgroup.path, path);
	assert_int_equal(world_tell(w, &obs), 0);
}

static void find_forged(struct world *w, const char *container_id)
{
	char path[512];

	find(w, CG_APP, APP_PATH, 0);
	find(w, CG_FORGED, FORGED_PATH, FORGED_LEVEL);
	snprintf(path, sizeof(path), FORGED_PATH "/%s", container_id);
	find(w, CG_FORGED_C, path, FORGED_LEVEL);
}

/* All that a container does. */
static void live_and_die(struct world *w)
{
	world_init(w, SEC(15), CG_FORGED_C, &FORGER);
	world_managed(w, SEC(16), CG_FORGED_C, &FORGER, 15);
	world_exit(w, SEC(17), CG_FORGED_C, &FORGER, EXIT(0));
	world_empty(w, SEC(17), CG_FORGED_C);
	world_empty(w, SEC(17), CG_FORGED);
	world_gone(w, SEC(18), CG_FORGED_C, NULL);
	world_gone(w, SEC(18), CG_FORGED, NULL);
	world_timer(w, SEC(19));
}

static void assert_untouched(struct world *w)
{
	const struct podview pod = world_view(w, WORLD_UID_A);

	assert_int_equal(pod.stage, POD_STAGE_SYNC);
	assert_int_equal(world_count(w, RECORD_POD), 0);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
	world_exit(w, SEC(21), CG_A1, &P_A1, EXIT(0));
	world_empty(w, SEC(21) + 1, CG_A1);
	world_timer(w, SEC(22));
	assert_string_equal(world_stop(w)->container.id, WORLD_ID_A1);
	assert_string_equal(world_stop(w)->container.name, "main");
	assert_string_equal(world_stop(w)->pod.name, "web-0");
}

static const char *const forged_ids[] = {WORLD_ID_A1, WORLD_ID_SANDBOX, HEX_64("9")};

static void open_a(struct world *w, bool sources)
{
	world_open_pod(w, sources);
	world_names(w, SEC(12), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	world_clear(w);
}

static void test_forged(void **state)
{
	for (size_t i = 0; i < 2 * LEN(forged_ids); i++) {
		struct world w;

		open_a(&w, i % 2);
		forge(&w, forged_ids[i / 2]);
		/* The kernel half hears that they are neither. */
		assert_int_equal(world_effects(&w, EFFECT_SET_WATCH), 2);
		assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->kind, GRACED_WATCH_BRANCH);
		assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
		assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 0);
		live_and_die(&w);
		assert_int_equal(w.n_records, 0);
		assert_untouched(&w);
		world_close(&w);
	}
}

static void test_forged_first(void **state)
{
	for (size_t i = 0; i < LEN(forged_ids); i++) {
		struct world w;

		world_open_bare(&w, &WORLD_ALL);
		find_forged(&w, forged_ids[i]);
		world_init(&w, SEC(15), CG_FORGED_C, &FORGER);
		find(&w, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A, 0);
		find(&w, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1, 0);
		world_attach(&w, SEC(15));
		world_init(&w, SEC(15), CG_A1, &P_A1);
		world_names(&w, SEC(15), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main",
			    true);
		world_clear(&w);
		live_and_die(&w);
		assert_int_equal(w.n_records, 0);
		assert_untouched(&w);
		world_close(&w);
	}
}

/* A user's own runtime, where the configuration has it. */
static void test_rootless(void **state)
{
	static const char *const roots[] = {"/", NULL};
	struct engine_config config = WORLD_ALL;
	const struct record_stop *s;

	config.container_roots = roots;
	for (size_t i = 0; i < LEN(forged_ids); i++) {
		struct world w;

		world_open_pod_by(&w, &config);
		world_names(&w, SEC(12), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main",
			    true);
		world_clear(&w);
		forge(&w, forged_ids[i]);
		assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
		live_and_die(&w);
		s = world_stop(&w);
		assert_false(s->pod.known);
		assert_null(s->container.name);
		assert_string_equal(s->container.id, forged_ids[i]);
		assert_int_equal(world_count(&w, RECORD_POD), 0);
		world_clear(&w);
		assert_untouched(&w);
		world_close(&w);
	}
}

/* By the id of a container that a source knows, and that is in no pod. */
static void test_rootless_id(void **state)
{
	static const char *const roots[] = {"/", NULL};
	struct meta_container d1 = {
		.source = META_DOCKER, .id = WORLD_ID_D1, .name = "cache", .image = "redis"};
	struct engine_config config = WORLD_ALL;
	struct world w;

	config.container_roots = roots;
	world_open(&w, &config);
	world_say_container(&w, SEC(12), &d1);
	forge(&w, WORLD_ID_D1);
	live_and_die(&w);
	assert_null(world_stop(&w)->container.name);
	world_clear(&w);
	world_init(&w, SEC(20), CG_D1, &P_D1);
	world_exit(&w, SEC(21), CG_D1, &P_D1, EXIT(0));
	world_empty(&w, SEC(21) + 1, CG_D1);
	world_timer(&w, SEC(22));
	assert_string_equal(world_stop(&w)->container.name, "cache");
	world_close(&w);
}

static void test_shutdown(void **state)
{
	struct world w;

	shutworld_open(&w, SHUTDOWN_ASSIST, 0);
	forge(&w, WORLD_ID_A1);
	world_init(&w, SEC(15), CG_FORGED_C, &FORGER);
	shutworld_announce(&w);
	assert_int_equal(shutworld_step(&w, SHUTDOWN_REPORT_ANNOUNCED)->step.living, 1);
	world_empty(&w, ANNOUNCED + 1, CG_FORGED_C);
	world_empty(&w, ANNOUNCED + 1, CG_FORGED);
	world_gone(&w, ANNOUNCED + 2, CG_FORGED_C, NULL);
	world_gone(&w, ANNOUNCED + 2, CG_FORGED, NULL);
	shutworld_pass(&w, ANNOUNCED + SEC(5));
	assert_int_equal(world_effects(&w, EFFECT_DROP_LOCK), 0);
	assert_null(shutworld_step(&w, SHUTDOWN_REPORT_RELEASED));
	world_close(&w);
}

/* Its service is called like one of systemd's, and its runtime like the node's. */
static void test_units(void **state)
{
	const struct engine_config config = {.scope = SCOPE_SERVICES,
					     .sources = 1u << META_SYSTEMD};
	struct graced_proc sender = P_SHELL;
	struct world w;

	world_open(&w, &config);
	find(&w, CG_APP, "/jobs", 0);
	find(&w, CG_APP + 1, "/jobs/ssh.service", 2);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
	find(&w, CG_APP + 2, "/jobs/kubelet.service", 2);
	world_init(&w, SEC(14), CG_A1, &P_A1);
	sender.watch_id = sender.cgroup_id = CG_APP + 2;
	world_from(&w, SEC(15), CG_A1, &P_A1, 15, &sender);
	assert_int_equal(world_record(&w, RECORD_SIGNAL, 0)->signal.sender.kind, SENDER_HOST);
	world_close(&w);
}

static void test_identity(void **state)
{
	struct world w;

	world_open(&w, &WORLD_ALL);
	find(&w, CG_APP, "/jobs/web", 2);
	assert_int_equal(world_effects(&w, EFFECT_IDENTIFY), 0);
	find(&w, CG_APP + 1, "/default/web", 0);
	assert_int_equal(world_effects(&w, EFFECT_IDENTIFY), 1);
	world_close(&w);
}

/* Its keeper did not know whose it is, as one of before could not. */
static void test_kept(void **state)
{
	struct obs_list kept = {};
	struct world w;

	for (int known = 0; known < 2; known++) {
		open_a(&w, true);
		find(&w, CG_FORGED, FORGED_PATH, known ? FORGED_LEVEL : 0);
		find(&w, CG_FORGED_C, FORGED_PATH "/" HEX_64("9"), known ? FORGED_LEVEL : 0);
		world_init(&w, SEC(15), CG_FORGED_C, &FORGER);
		engine_keep(w.engine, true, relay_keep, &kept);
		world_close(&w);
		world_open_bare(&w, &WORLD_ALL);
		for (size_t i = 0; i < kept.n; i++)
			world_tell(&w, &kept.list[i]);
		obs_list_free(&kept);
		find(&w, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A, 0);
		find(&w, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1, 0);
		world_init(&w, SEC(16), CG_A1, &P_A1);
		find(&w, CG_SANDBOX, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_SANDBOX, 0);
		world_init(&w, SEC(16), CG_SANDBOX, &P_PAUSE);
		find_forged(&w, HEX_64("9"));
		world_init(&w, SEC(16), CG_FORGED_C, &FORGER);
		world_attach(&w, SEC(16));
		world_clear(&w);
		live_and_die(&w);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		assert_untouched(&w);
		world_close(&w);
	}
}

/* --- a pod of the same uid in a nested node ------------------------------------------------- */

#define NODE_PATH  "/docker/" WORLD_ID_D1
#define INNER_PATH NODE_PATH "/kubepods/pod" WORLD_UID_A

static const char *const nested[] = {NODE_PATH, NULL};

static struct engine_config with_node(void)
{
	struct engine_config config = WORLD_ALL;

	config.nested_nodes = nested;
	return config;
}

static void find_inner(struct world *w)
{
	find(w, CG_FORGED, INNER_PATH, 0);
	find(w, CG_FORGED_C, INNER_PATH "/" HEX_64("9"), 0);
}

static void test_double(void **state)
{
	const struct engine_config config = with_node();
	const struct record_stop *s;
	struct world w;

	world_open_pod_by(&w, &config);
	world_names(&w, SEC(12), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	world_clear(&w);
	find_inner(&w);
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
	world_names(&w, SEC(14), WORLD_UID_A, HEX_64("9"), "default", "web-0", "main", true);
	live_and_die(&w);
	s = world_stop(&w);
	assert_true(s->pod.known);
	assert_string_equal(s->pod.uid, WORLD_UID_A);
	assert_null(s->pod.name);
	assert_null(s->container.name);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	world_clear(&w);
	assert_untouched(&w);
	world_close(&w);
}

/* The inner one was there first. */
static void test_double_first(void **state)
{
	const struct engine_config config = with_node();
	struct world w;

	world_open_bare(&w, &config);
	find_inner(&w);
	world_attach(&w, SEC(1));
	world_init(&w, SEC(14), CG_FORGED_C, &FORGER);
	find(&w, CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A, 0);
	find(&w, CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1, 0);
	world_init(&w, SEC(15), CG_A1, &P_A1);
	world_names(&w, SEC(15), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	world_clear(&w);
	live_and_die(&w);
	assert_null(world_stop(&w)->pod.name);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	world_clear(&w);
	assert_untouched(&w);
	world_close(&w);
}

static void test_double_left(void **state)
{
	const struct engine_config config = with_node();
	struct world w;

	world_open_pod_by(&w, &config);
	world_names(&w, SEC(12), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	find_inner(&w);
	world_end_pod(&w, SEC(13));
	world_timer(&w, SEC(14));
	world_clear(&w);
	live_and_die(&w);
	assert_null(world_stop(&w)->pod.name);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod that a user forges below a delegated cgroup changes nothing about "
		      "the real one",
		      test_forged),
		CLAIM("... nor does one that was there before", test_forged_first),
		CLAIM("where rootless runtimes are believed, theirs are containers without a pod",
		      test_rootless),
		CLAIM("... and without a name, though a source knows their id", test_rootless_id),
		CLAIM("a forged pod's end lets no lock go", test_shutdown),
		CLAIM("a unit that a user forges is neither a service's nor the kubelet's",
		      test_units),
		CLAIM("what a user makes is never asked for as a runtime's task", test_identity),
		CLAIM("a forged pod is none after a restart, whatever was kept of it", test_kept),
		CLAIM("a pod of a nested node with the uid of another has no name and no part "
		      "in its life",
		      test_double),
		CLAIM("... also when it was there before", test_double_first),
		CLAIM("... and when the other is gone", test_double_left),
	};

	return cmocka_run_group_tests_name("core/engine", tests, NULL, NULL);
}
