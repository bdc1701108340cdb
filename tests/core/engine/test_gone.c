// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: verdicts that wait for names although their cgroups were removed. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#define CG_NEW	   70
#define ID_NEW	   HEX_64("e")
#define EXITED_AT  SEC(60)
#define WAIT	   MSEC(250)
#define SIGSEGV_NR 11

/* A container of pod A that nobody has named ends, and its cgroup is removed 20 ms later. */
static void open_gone(struct world *w)
{
	world_open(w, NULL);
	world_made(w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(w, SEC(51), CG_NEW, &P_A2);
	world_exit(w, EXITED_AT, CG_NEW, &P_A2, EXIT(0));
	world_empty(w, EXITED_AT + 30000, CG_NEW);
	world_gone(w, EXITED_AT + MSEC(20), CG_NEW, NULL);
	assert_int_equal(world_count(w, RECORD_STOP), 0);
}

/* Told once, without its name and with nothing else amiss; nothing of it is left. */
static void expect_late(struct world *w, size_t cgroups)
{
	struct engine_stats stats;

	world_timer(w, EXITED_AT + WAIT);
	assert_verdict(w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NAME_LATE));
	assert_int_equal(world_stop(w)->empty_ns, EXITED_AT + 30000);
	engine_get_stats(w->engine, &stats);
	assert_int_equal(stats.cgroups, cgroups);
	assert_int_equal(world_effect(w, EFFECT_WAKE_AT)->at_ns, 0);
}

static void lose(struct world *w, uint64_t id, uint32_t kind, uint64_t owner_id,
		 const struct graced_counts *counts)
{
	const struct obs gone = {
		.type = OBS_CGROUP_GONE,
		.at_ns = SEC(70) + id,
		.empty = {.id = id, .counts = *counts, .kind = kind, .owner_id = owner_id},
	};

	assert_int_equal(world_tell(w, &gone), 0);
}

static void test_lost(void **state)
{
	const struct graced_counts counts = {.exits = 3, .lost = 5, .oom_kills = 1};
	const struct record_stop *s;
	struct engine_stats before, after;
	struct world w;

	world_open(&w, NULL);
	engine_get_stats(w.engine, &before);
	lose(&w, CG_NEW, GRACED_WATCH_CONTAINER, CG_POD_A, &counts);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(EVENTS_LOST) | GAP(UNKNOWN_CGROUP) | GAP(EXIT_UNSEEN) |
			       GAP(INIT_UNSEEN));
	s = world_stop(&w);
	assert_string_equal(s->pod.uid, WORLD_UID_A);
	assert_true(s->container.known && !s->container.id && !s->container.cgroup);
	assert_int_equal(s->oom_kills, 1);
	/* Outside pods, or in one that is not known. */
	lose(&w, CG_NEW + 1, GRACED_WATCH_CONTAINER, CG_DOCKER, &counts);
	lose(&w, CG_NEW + 2, GRACED_WATCH_CONTAINER, 999, &counts);
	assert_int_equal(world_count(&w, RECORD_STOP), 3);
	for (size_t i = 1; i < 3; i++) {
		assert_false(world_record(&w, RECORD_STOP, i)->stop.pod.known);
		assert_string_not_equal(world_record(&w, RECORD_STOP, i)->stop.id,
					world_record(&w, RECORD_STOP, 0)->stop.id);
	}
	engine_get_stats(w.engine, &after);
	assert_int_equal(after.cgroups, before.cgroups);
	world_close(&w);
}

static void test_lost_no_stop(void **state)
{
	static const struct {
		uint32_t kind;
		struct graced_counts counts;
	} rows[] = {
		{0, {.exits = 1, .lost = 1}},
		{GRACED_WATCH_BRANCH, {.exits = 1, .lost = 1}},
		{GRACED_WATCH_POD, {.exits = 1, .lost = 1}},
		{GRACED_WATCH_MAYBE, {.exits = 1, .lost = 1}},
		{GRACED_WATCH_SERVICE, {.exits = 1, .lost = 1}},
		{99, {.exits = 1, .lost = 1}},
		/* Nothing ran in it. */
		{GRACED_WATCH_CONTAINER, {.lost = 1}},
		/* There was no room for it in the map, or its removal was reported before. */
		{GRACED_WATCH_CONTAINER, {.exits = 1}},
	};
	struct world w;

	world_open(&w, NULL);
	for (size_t i = 0; i < LEN(rows); i++)
		lose(&w, CG_NEW + i, rows[i].kind, CG_POD_A, &rows[i].counts);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_close(&w);
}

/* By its name docker-<id>.scope is a container, by its path it may be a node. */
static void test_lost_node(void **state)
{
	const struct graced_counts counts = {.exits = 3, .lost = 5};
	const char *const none[] = {NULL}, *const nodes[] = {"/docker/" ID_NEW, NULL};

	for (int nested = 0; nested < 2; nested++) {
		const struct engine_config config = {.scope = SCOPE_CONTAINERS,
						     .nested_nodes = nested ? nodes : none};
		struct world w;

		world_open(&w, &config);
		lose(&w, CG_NEW, GRACED_WATCH_CONTAINER, CG_DOCKER, &counts);
		assert_int_equal(world_count(&w, RECORD_STOP), !nested);
		world_close(&w);
	}
}

static size_t cgroups_of_world(void)
{
	struct engine_stats stats;
	struct world w;

	world_open(&w, NULL);
	engine_get_stats(w.engine, &stats);
	world_close(&w);
	return stats.cgroups;
}

static void test_named(void **state)
{
	struct engine_stats stats;
	struct world w;

	open_gone(&w);
	world_names(&w, EXITED_AT + MSEC(90), WORLD_UID_A, ID_NEW, "default", "web-0", "job", true);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_string_equal(world_stop(&w)->container.name, "job");
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.cgroups, cgroups_of_world());
	world_close(&w);
}

static void test_late(void **state)
{
	struct world w;

	open_gone(&w);
	world_gone(&w, EXITED_AT + MSEC(21), CG_NEW, NULL);
	expect_late(&w, cgroups_of_world());
	world_close(&w);
}

static void test_hears_nothing(void **state)
{
	static const struct graced_counts counts = {.exits = 1, .lost = 1};
	struct obs lost = {.type = OBS_LOST, .at_ns = EXITED_AT + MSEC(30)};
	struct obs shed = {.type = OBS_SHED, .at_ns = EXITED_AT + MSEC(31)};
	struct world w;

	open_gone(&w);
	lost.lost.recursion_misses = 1;
	world_tell(&w, &lost);
	shed.shed.id = CG_NEW;
	shed.shed.on = true;
	world_tell(&w, &shed);
	world_counts(&w, EXITED_AT + MSEC(32), CG_NEW, true, &counts);
	world_empty(&w, EXITED_AT + MSEC(33), CG_NEW);
	world_managed(&w, EXITED_AT + MSEC(34), CG_NEW, &P_A2, 9);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	expect_late(&w, cgroups_of_world());
	world_close(&w);
}

/* The kernel does not give out an id twice; a recording may say so. */
static void test_id_again(void **state)
{
	struct graced_proc next = P_A2;
	struct world w;

	open_gone(&w);
	next.pid = 7777;
	next.start_ns = EXITED_AT + MSEC(40);
	world_made(&w, EXITED_AT + MSEC(40), CG_NEW, CG_POD_B, ID_NEW);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NAME_LATE));
	world_clear(&w);
	world_init(&w, EXITED_AT + MSEC(41), CG_NEW, &next);
	world_exit(&w, SEC(70), CG_NEW, &next, EXIT(3));
	world_empty(&w, SEC(70) + 1, CG_NEW);
	world_timer(&w, SEC(71));
	assert_int_equal(world_stop(&w)->process.pid, 7777);
	assert_string_equal(world_stop(&w)->pod.uid, WORLD_UID_B);
	world_close(&w);
}

/* Only the removal shows its end. */
static void test_unseen(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(&w, SEC(51), CG_NEW, &P_A2);
	world_gone(&w, SEC(60), CG_NEW, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_timer(&w, SEC(60) + WAIT);
	assert_int_equal(world_stop(&w)->outcome, OUTCOME_UNKNOWN);
	world_close(&w);
}

static void test_runtime_first(void **state)
{
	struct meta_container c = world_main_a1();
	struct world w;

	world_open(&w, &WORLD_ALL);
	world_made(&w, SEC(50), CG_NEW, CG_POD_A, ID_NEW);
	world_init(&w, SEC(51), CG_NEW, &P_A2);
	world_exit(&w, EXITED_AT, CG_NEW, &P_A2, EXIT(3));
	world_empty(&w, EXITED_AT + 30000, CG_NEW);
	world_gone(&w, EXITED_AT + MSEC(20), CG_NEW, NULL);
	strcpy(c.id, ID_NEW);
	c.known |= META_CTR_EXIT;
	c.exit_code = 3;
	world_say_container(&w, EXITED_AT + MSEC(30), &c);
	assert_int_equal(world_count(&w, RECORD_RUNTIME_EXIT), 0);
	world_timer(&w, EXITED_AT + WAIT);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_record(&w, RECORD_RUNTIME_EXIT, 0)->runtime_exit.agrees, TRI_TRUE);
	assert_int_equal(world_effects(&w, EFFECT_FIND_EXIT), 0);
	world_close(&w);
}

/* With scope all, what dies beside the init is reported, too. */
static void test_child(void **state)
{
	const struct obs child = {
		.type = OBS_EXIT,
		.at_ns = SEC(20),
		.exit = {.id = CG_A1, .status = SIGSEGV_NR, .proc = P_A1_CHILD},
	};
	struct engine_config all = WORLD_ALL;
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	all.scope = SCOPE_ALL;
	world_open(&w, &all);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_say_container(&w, SEC(12), &c);
	world_say_pod(&w, SEC(12), &pod);
	world_tell(&w, &child);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_effects(&w, EFFECT_FIND_EXIT), 0);
	world_ends(&w, SEC(30), EXIT(0));
	c.known |= META_CTR_EXIT;
	c.exit_code = 0;
	world_say_container(&w, SEC(31), &c);
	assert_int_equal(world_record(&w, RECORD_RUNTIME_EXIT, 0)->runtime_exit.agrees, TRI_TRUE);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container of which only counts are left is reported, in its pod if it is known",
		      test_lost),
		CLAIM("... but nothing that was none, or had no process", test_lost_no_stop),
		CLAIM("nor where its name may be that of a nested node", test_lost_node),
		CLAIM("a verdict whose cgroup was removed goes out with its name", test_named),
		CLAIM("... and without after 250 ms, once, and nothing is left of it", test_late),
		CLAIM("nothing else is heard of a cgroup that is gone", test_hears_nothing),
		CLAIM("a cgroup of the same id ends the wait, and is another one", test_id_again),
		CLAIM("an end that went unseen waits for its name from the removal on",
		      test_unseen),
		CLAIM("a runtime's word that came before the verdict is compared, too",
		      test_runtime_first),
		CLAIM("what dies beside an init is not the container's exit", test_child),
	};

	return cmocka_run_group_tests_name("core/engine: removed cgroups", tests, NULL, NULL);
}
