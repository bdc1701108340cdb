// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: a user's engine names that user's containers, and no others. */
#include <stdio.h>
#include <string.h>

#include "core/metrics/series.h"
#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/serieslib.h"
#include "lib/engine/world_pods.h"

#define ID	 HEX_64("9")
#define CG_USERS 300
#define PATH_OF(uid, id) \
	"/user.slice/user-" uid ".slice/user@" uid ".service/user.slice/libpod-" id ".scope"

static const struct graced_proc INIT = {.pid = 4000,
					.ns_pid = 1,
					.uid = 1000,
					.cgroup_id = CG_USERS,
					.watch_id = CG_USERS,
					.start_ns = SEC(14),
					.comm = "web",
					.exe = "web"};

static void find(struct world *w, uint64_t id, const char *path)
{
	struct obs obs = {.type = OBS_CGROUP_FOUND, .at_ns = SEC(13)};

	obs.cgroup.id = id;
	obs.cgroup.delegated_level = 4;
	strcpy(obs.cgroup.path, path);
	assert_int_equal(world_tell(w, &obs), 0);
}

static void say(struct world *w, uint32_t user, const char *id, const char *name)
{
	struct meta_container meta = {.source = META_PODMAN,
				      .kind = META_KIND_CONTAINER,
				      .user = user,
				      .known = META_CTR_GRACE,
				      .grace_ns = SEC(7),
				      .stop_signal = 3};

	strcpy(meta.id, id);
	strcpy(meta.name, name);
	world_say_container(w, SEC(14), &meta);
}

static void live_and_die(struct world *w)
{
	world_init(w, SEC(15), CG_USERS, &INIT);
	world_managed(w, SEC(16), CG_USERS, &INIT, 3);
	world_exit(w, SEC(17), CG_USERS, &INIT, EXIT(0));
	world_empty(w, SEC(17), CG_USERS);
	world_timer(w, SEC(19));
}

static void test_named(void **state)
{
	const struct record_stop *s;
	const struct effect *ask;
	struct world w;

	world_open(&w, &WORLD_ALL);
	find(&w, CG_USERS, PATH_OF("1000", ID));
	ask = world_effect(&w, EFFECT_FIND_NAMES);
	assert_non_null(ask);
	assert_int_equal(ask->user, 1000);
	assert_int_equal(ask->runtime, CGPATH_RT_PODMAN);
	assert_string_equal(ask->container_id, ID);
	assert_string_equal(ask->pod_uid, "");
	say(&w, 1000, ID, "web");
	assert_int_equal(world_effect(&w, EFFECT_SET_STOP)->signal, 3);
	live_and_die(&w);
	s = world_stop(&w);
	assert_string_equal(s->container.name, "web");
	assert_int_equal(s->container.user, 1000);
	assert_int_equal(s->grace.ns, SEC(7));
	assert_int_equal(s->outcome, OUTCOME_GRACEFUL);
	assert_false(s->pod.known);
	world_close(&w);
}

/* Of the same id: root's, another user's; and that of a pod, which has a name from its runtime. */
static void test_others(void **state)
{
	static const char *const ids[] = {ID, WORLD_ID_A1, WORLD_ID_D1};
	struct meta_container exited = {.source = META_CRI,
					.kind = META_KIND_CONTAINER,
					.user = 1000,
					.known = META_CTR_EXIT,
					.exit_code = 99,
					.id = WORLD_ID_A1};
	char path[512];
	struct world w;

	for (size_t i = 0; i < LEN(ids); i++) {
		world_open_pod(&w, true);
		world_names(&w, SEC(12), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main",
			    true);
		world_clear(&w);
		snprintf(path, sizeof(path), PATH_OF("1000", "%s"), ids[i]);
		find(&w, CG_USERS, path);
		say(&w, 0, ids[i], "roots");
		say(&w, 1001, ids[i], "others");
		live_and_die(&w);
		assert_null(world_stop(&w)->container.name);
		assert_int_equal(world_stop(&w)->grace.from, GRACE_UNKNOWN);
		world_clear(&w);
		say(&w, 1000, WORLD_ID_A1, "liar");
		world_say_container(&w, SEC(19), &exited);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
		world_empty(&w, SEC(21) + 1, CG_A1);
		world_timer(&w, SEC(22));
		exited.exit_code = 99;
		world_say_container(&w, SEC(23), &exited);
		world_timer(&w, SEC(60));
		assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
		assert_string_not_equal(world_stop(&w)->container.name, "liar");
		assert_string_equal(world_stop(&w)->pod.name, "web-0");
		assert_int_equal(world_count(&w, RECORD_RUNTIME_EXIT), 0);
		world_close(&w);
	}
}

static void test_kept(void **state)
{
	struct obs_list kept = {};
	struct world w;

	world_open(&w, &WORLD_ALL);
	find(&w, CG_USERS, PATH_OF("1000", ID));
	say(&w, 1000, ID, "web");
	world_init(&w, SEC(15), CG_USERS, &INIT);
	engine_keep(w.engine, true, relay_keep, &kept);
	world_close(&w);
	world_open_bare(&w, &WORLD_ALL);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	obs_list_free(&kept);
	find(&w, CG_USERS, PATH_OF("1000", ID));
	world_attach(&w, SEC(15));
	world_init(&w, SEC(15), CG_USERS, &INIT);
	world_clear(&w);
	live_and_die(&w);
	assert_string_equal(world_stop(&w)->container.name, "web");
	world_close(&w);
}

static void test_counted(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	record.stop.container.user = 1000;
	record.stop.pod = (struct record_pod){};
	record.stop.container.namespace_ = "shop";
	record.stop.container.workload = "web";
	record.stop.container.workload_kind = "compose";
	record.stop.latency_known = false;
	record.stop.grace.from = GRACE_UNKNOWN;
	series_record(series, &record);
	series_record(series, &record);
	serieslib_assert(series, "graced_container_stops_total||||graceful|stop-signal|- 2\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container below a user's own systemd is named by that user's engine, with "
		      "its stop signal and grace period",
		      test_named),
		CLAIM("... not by root's or another user's, and that user's names no other of the "
		      "id",
		      test_others),
		CLAIM("... and keeps its name over a restart", test_kept),
		CLAIM("users' containers count together, without their names", test_counted),
	};

	return cmocka_run_group_tests_name("core/engine", tests, NULL, NULL);
}
