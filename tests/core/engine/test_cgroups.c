// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: cgroups that come, go, are met too early, or lie about their names. */
#include "core/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define CG_NEW 90
#define CG_LIE 91
#define ID_NEW HEX_64("e")

/* Lives for a moment and exits with 0. */
static void lives(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc)
{
	world_init(w, at, id, proc);
	world_exit(w, at + 1, id, proc, EXIT(0));
	world_empty(w, at + 2, id);
}

static void test_made(void **state)
{
	const struct record_container *c;
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_DOCKER, ID_NEW);
	lives(&w, SEC(50) + 1, CG_NEW, &P_D1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	c = &world_stop(&w)->container;
	assert_string_equal(c->id, ID_NEW);
	assert_string_equal(c->cgroup, "/docker/" ID_NEW);
	assert_int_equal(c->runtime, CGPATH_RT_UNKNOWN);
	assert_false(world_stop(&w)->pod.known);
	world_close(&w);
}

/* A container with a writable cgroup names a child of its own like its neighbour. */
static void test_forged(void **state)
{
	struct engine_stats before, after;
	struct world w;

	world_open(&w, NULL);
	engine_get_stats(w.engine, &before);
	world_made(&w, SEC(50), CG_LIE, CG_A1, "pod" WORLD_UID_B);
	world_made(&w, SEC(50), CG_LIE + 1, CG_LIE, WORLD_ID_B1);
	world_made(&w, SEC(50), CG_LIE + 2, CG_A1, WORLD_ID_B1);
	world_found(&w, SEC(50), CG_LIE + 2,
		    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1
		    "/kubepods/pod" WORLD_UID_B "/" WORLD_ID_B1);
	engine_get_stats(w.engine, &after);
	assert_int_equal(after.cgroups, before.cgroups);
	assert_int_equal(after.pods, before.pods);
	/* What happens in it is its container's, for the kernel half tells that one's id. */
	lives(&w, SEC(51), CG_A1, &P_A1);
	assert_string_equal(world_stop(&w)->pod.name, "web-0");
	assert_string_equal(world_stop(&w)->container.name, "main");
	/* The neighbour keeps its name and its id. */
	world_clear(&w);
	lives(&w, SEC(52), CG_B1, &P_B1);
	assert_string_equal(world_stop(&w)->container.id, WORLD_ID_B1);
	assert_string_equal(world_stop(&w)->pod.name, "cart-7");
	world_close(&w);
}

static void test_nested_node(void **state)
{
	static const char *const nested[] = {"/docker/" WORLD_ID_D1, NULL};
	const struct engine_config config = {.scope = SCOPE_CONTAINERS, .nested_nodes = nested};
	struct world w;

	world_open(&w, &config);
	world_made(&w, SEC(50), 91, CG_D1, "kubepods");
	world_made(&w, SEC(50), 92, 91, "pod00000000-1111-2222-3333-444444444444");
	world_made(&w, SEC(50), CG_NEW, 92, ID_NEW);
	world_names(&w, SEC(50), "00000000-1111-2222-3333-444444444444", ID_NEW, "kind", "inner-0",
		    "c", true);
	lives(&w, SEC(51), CG_NEW, &P_D1);
	assert_string_equal(world_stop(&w)->pod.name, "inner-0");
	/* The node itself is nobody's container. */
	world_clear(&w);
	lives(&w, SEC(52), CG_D1, &P_D1);
	assert_int_equal(w.n_records, 0);
	world_close(&w);
}

static void test_corrects_the_kernel(void **state)
{
	static const struct {
		const char *name;
		uint32_t guess, kind; /* kind 0: no correction */
	} want[] = {
		{ID_NEW, GRACED_WATCH_CONTAINER, 0},
		{"plain", GRACED_WATCH_BRANCH, 0},
		{"crio-conmon-" ID_NEW ".scope", GRACED_WATCH_CONTAINER, GRACED_WATCH_BRANCH},
		{ID_NEW, GRACED_WATCH_BRANCH, GRACED_WATCH_CONTAINER},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs obs = {.type = OBS_CGROUP_NEW, .at_ns = SEC(50)};
		const struct effect *set;
		struct world w;

		world_open(&w, NULL);
		obs.cgroup.id = CG_NEW;
		obs.cgroup.parent_id = CG_POD_A;
		obs.cgroup.kind = want[i].guess;
		strcpy(obs.cgroup.path, want[i].name);
		world_tell(&w, &obs);
		set = world_effect(&w, EFFECT_SET_WATCH);
		assert_int_equal(!!set, !!want[i].kind);
		if (set) {
			assert_int_equal(set->id, CG_NEW);
			assert_int_equal(set->kind, want[i].kind);
		}
		world_close(&w);
	}
}

/* Its record was lost: the path is asked for by id, and what happened meanwhile is kept. */
static void test_unknown(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(50), CG_NEW, &P_D1);
	assert_int_equal(world_effect(&w, EFFECT_FIND_CGROUP)->id, CG_NEW);
	/* So is one that only the sweep after a loss shows. */
	world_counts(&w, SEC(50), CG_LIE, true, &(struct graced_counts){.lost = 1});
	assert_int_equal(world_effect(&w, EFFECT_FIND_CGROUP)->id, CG_LIE);
	world_managed(&w, SEC(51), CG_NEW, &P_D1, 15);
	world_found(&w, SEC(51), CG_NEW, "/docker/" ID_NEW);
	/* The kernel half had to guess without a name. */
	assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->kind, GRACED_WATCH_CONTAINER);
	world_exit(&w, SEC(52), CG_NEW, &P_D1, EXIT(0));
	world_empty(&w, SEC(52) + 1, CG_NEW);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	assert_string_equal(world_stop(&w)->container.id, ID_NEW);
	world_close(&w);
}

static void test_never_known(void **state)
{
	char id[192];
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(50), CG_NEW, &P_D1);
	world_exit(&w, SEC(51), CG_NEW, &P_D1, EXIT(0));
	world_timer(&w, SEC(52));
	world_timer(&w, SEC(53));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(UNKNOWN_CGROUP) | GAP(NOT_EMPTY));
	assert_null(world_stop(&w)->container.id);
	assert_null(world_stop(&w)->container.cgroup);
	strcpy(id, world_stop(&w)->id);
	/* Its path comes too late for the verdict, and does not change what it is called. */
	world_clear(&w);
	world_found(&w, SEC(54), CG_NEW, "/docker/" ID_NEW);
	world_empty(&w, SEC(55), CG_NEW);
	assert_string_equal(world_record(&w, RECORD_EMPTY, 0)->empty.id, id);
	/* Its next life is called by its container's id. */
	world_clear(&w);
	lives(&w, SEC(60), CG_NEW, &P_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_string_equal(world_stop(&w)->id, WORLD_BOOT "/" ID_NEW "/2000004242");
	world_close(&w);
}

static void test_unknown_branch(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(50), CG_NEW, &P_SHELL);
	world_managed(&w, SEC(51), CG_NEW, &P_SHELL, 15);
	world_clear(&w);
	world_found(&w, SEC(51), CG_NEW, "/user.slice/user-1000.slice");
	assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->kind, GRACED_WATCH_BRANCH);
	world_exit(&w, SEC(52), CG_NEW, &P_SHELL, EXIT(0));
	world_timer(&w, SEC(2000));
	world_gone(&w, SEC(2001), CG_NEW, NULL);
	assert_int_equal(w.n_records, 0);
	world_close(&w);
}

static void test_unknown_parent(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, 4711, ID_NEW);
	assert_int_equal(world_effect(&w, EFFECT_FIND_CGROUP)->id, CG_NEW);
	world_found(&w, SEC(50) + 1, CG_NEW, "/docker/" ID_NEW);
	lives(&w, SEC(51), CG_NEW, &P_D1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

static void test_unknown_sender(void **state)
{
	const struct graced_proc stranger = {
		.pid = 6000, .watch_id = 4711, .cgroup_id = 4711, .comm = "runc", .exe = "runc"};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_D1, &P_D1);
	world_from(&w, SEC(20), CG_D1, &P_D1, 9, &stranger);
	assert_int_equal(world_effect(&w, EFFECT_FIND_CGROUP)->id, 4711);
	world_exit(&w, SEC(21), CG_D1, &P_D1, 9);
	world_empty(&w, SEC(22), CG_D1);
	/* It may have been a container: nobody says that it was a manager. */
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_HOST, GAP(UNKNOWN_CGROUP));
	assert_null(world_stop(&w)->kill_signal.sender.cgroup);
	world_close(&w);
}

/* The container is remade under the same name: a new cgroup with a new id. */
static void test_remade(void **state)
{
	struct graced_proc second = P_D1;
	struct engine_stats before, after;
	struct world w;

	second.pid = 5000;
	world_open(&w, NULL);
	engine_get_stats(w.engine, &before);
	lives(&w, SEC(10), CG_D1, &P_D1);
	world_gone(&w, SEC(11), CG_D1, NULL);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_clear(&w);
	world_made(&w, SEC(20), CG_NEW, CG_DOCKER, WORLD_ID_D1);
	lives(&w, SEC(21), CG_NEW, &second);
	assert_string_equal(world_stop(&w)->container.id, WORLD_ID_D1);
	assert_int_equal(world_stop(&w)->process.pid, 5000);
	engine_get_stats(w.engine, &after);
	assert_int_equal(after.cgroups, before.cgroups);
	world_close(&w);
}

static void test_gone_for_good(void **state)
{
	struct engine_stats before, after;
	struct world w;

	world_open(&w, NULL);
	engine_get_stats(w.engine, &before);
	for (uint64_t i = 0; i < 20000; i++) {
		world_made(&w, SEC(50) + i, 1000 + i, CG_POD_A, ID_NEW);
		lives(&w, SEC(50) + i, 1000 + i, &P_A1);
		world_gone(&w, SEC(50) + i, 1000 + i, NULL);
		world_clear(&w);
	}
	/* Some waited for their names. */
	engine_get_stats(w.engine, &after);
	assert_in_range(after.cgroups, before.cgroups + 1, before.cgroups + 1024);
	world_timer(&w, SEC(51));
	engine_get_stats(w.engine, &after);
	assert_int_equal(after.cgroups, before.cgroups);
	assert_int_equal(after.pods, before.pods);
	assert_int_equal(after.cgroups_refused, 0);
	assert_int_equal(after.stops, 20000);
	world_close(&w);
}

static void test_bounded(void **state)
{
	const struct engine_config config = {.max_containers = 20};
	struct engine_stats stats;
	struct world w;

	world_open(&w, &config);
	for (uint64_t id = 1000; id < 2000; id++) {
		char name[65];

		memset(name, '0', 64);
		name[64] = '\0';
		name[id % 64] = (char)('a' + id % 6);
		world_made(&w, SEC(50), id, CG_DOCKER, name);
		lives(&w, SEC(51), id, &P_B1);
	}
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.cgroups, 20);
	assert_true(stats.cgroups_refused >= 996);
	/* Who was there keeps its verdicts. */
	world_clear(&w);
	lives(&w, SEC(60), CG_A1, &P_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

static void test_id_0(void **state)
{
	struct engine_stats stats;
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), 0, CG_DOCKER, ID_NEW);
	world_found(&w, SEC(50), 0, "/docker/" ID_NEW);
	world_managed(&w, SEC(50), 0, &P_D1, 9);
	lives(&w, SEC(50), 0, &P_D1);
	world_gone(&w, SEC(50), 0, NULL);
	world_counts(&w, SEC(50), 0, true, &(struct graced_counts){.lost = 1});
	assert_int_equal(w.n_records, 0);
	engine_get_stats(w.engine, &stats);
	assert_true(stats.unexpected >= 2);
	world_close(&w);
}

static void test_identity(void **state)
{
	const struct engine_config asks = {.scope = SCOPE_CONTAINERS,
					   .sources = 1u << META_CONTAINERD};
	struct obs is = {.type = OBS_IDENTITY, .at_ns = SEC(9)};
	struct obs named = {
		.type = OBS_CONTAINER,
		.at_ns = SEC(9),
		.container = {.source = META_CONTAINERD, .id = "web1", .name = "web1"},
	};
	struct world w;

	world_open(&w, &asks);
	world_made(&w, SEC(8), 900, CG_ROOT, "default");
	world_clear(&w);
	world_made(&w, SEC(8), 901, 900, "web1");
	assert_int_equal(world_effect(&w, EFFECT_IDENTIFY)->id, 901);
	world_made(&w, SEC(8), 902, CG_SYSTEM, "x.mount");
	assert_int_equal(world_effects(&w, EFFECT_IDENTIFY), 1);
	is.identity.id = 901;
	is.identity.runtime = CGPATH_RT_CONTAINERD;
	strcpy(is.identity.container_id, "web1");
	world_tell(&w, &is);
	assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->kind, GRACED_WATCH_CONTAINER);
	world_tell(&w, &named);
	world_init(&w, SEC(10), 901, &P_D1);
	world_managed(&w, SEC(20), 901, &P_D1, 15);
	world_exit(&w, SEC(21), 901, &P_D1, EXIT(0));
	world_empty(&w, SEC(21) + 1000, 901);
	world_timer(&w, SEC(22));
	assert_string_equal(world_stop(&w)->container.name, "web1");
	assert_int_equal(world_stop(&w)->container.runtime, CGPATH_RT_CONTAINERD);
	world_close(&w);
}

static const struct {
	const char *name;
	uint32_t guess, set; /* set 0: the kernel half's guess stands until the answer */
	bool containerd;     /* is asked */
} maybes[] = {
	{"web1", GRACED_WATCH_MAYBE, 0, true},
	{"web1", GRACED_WATCH_CONTAINER, 0, true},
	{"web1", GRACED_WATCH_MAYBE, GRACED_WATCH_BRANCH, false},
	{ID_NEW, GRACED_WATCH_MAYBE, GRACED_WATCH_CONTAINER, true},
};

static void guess(struct world *w, size_t i)
{
	struct obs obs = {.type = OBS_CGROUP_NEW, .at_ns = SEC(8)};

	world_made(w, SEC(8), 900, CG_ROOT, "default");
	world_clear(w);
	obs.cgroup.id = 901;
	obs.cgroup.parent_id = 900;
	obs.cgroup.kind = maybes[i].guess;
	strcpy(obs.cgroup.path, maybes[i].name);
	world_tell(w, &obs);
}

static void test_guess_stands(void **state)
{
	struct obs is = {.type = OBS_IDENTITY, .at_ns = SEC(9), .identity.id = 901};

	for (size_t i = 0; i < LEN(maybes); i++) {
		struct engine_config asks = {.scope = SCOPE_CONTAINERS};
		const struct effect *set;
		struct world w;

		if (maybes[i].containerd)
			asks.sources = 1u << META_CONTAINERD;
		world_open(&w, &asks);
		guess(&w, i);
		set = world_effect(&w, EFFECT_SET_WATCH);
		assert_int_equal(set ? set->kind : 0, maybes[i].set);
		if (!set) {
			assert_int_equal(world_effect(&w, EFFECT_IDENTIFY)->kind, maybes[i].guess);
			world_tell(&w, &is);
			assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->id, 901);
			assert_int_equal(world_effect(&w, EFFECT_SET_WATCH)->kind,
					 GRACED_WATCH_BRANCH);
		}
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container made under a branch is known from its first process on",
		      test_made),
		CLAIM("a name forged below a container is ignored", test_forged),
		CLAIM("containers of a nested node are reported, the node is not",
		      test_nested_node),
		CLAIM("the kernel half is corrected where its guess was wrong",
		      test_corrects_the_kernel),
		CLAIM("a container whose record was lost is asked for and judged", test_unknown),
		CLAIM("without an answer its verdict has the gap, and its id stays",
		      test_never_known),
		CLAIM("what turns out to be a branch was no container", test_unknown_branch),
		CLAIM("a child of an unknown parent is asked for", test_unknown_parent),
		CLAIM("a sender in an unknown cgroup is a gap and no manager", test_unknown_sender),
		CLAIM("a cgroup remade under the same name is another", test_remade),
		CLAIM("nothing is left of cgroups that are gone", test_gone_for_good),
		CLAIM("a full map refuses the new and serves the old", test_bounded),
		CLAIM("no cgroup has the id 0", test_id_0),
		CLAIM("a task with a name of its own is a container", test_identity),
		CLAIM("what may be a task is recorded until it is known to be none",
		      test_guess_stands),
	};

	return cmocka_run_group_tests_name("core/engine: cgroups", tests, NULL, NULL);
}
