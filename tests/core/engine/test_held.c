// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: when an init that its pid namespace held is let go. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/world_pods.h"

#define EXITED_AT (SEC(20) + 1)
#define WAIT	  MSEC(250)
#define FOUND_AT  (SEC(20) + 4 + WAIT)
#define HOLDER	  77
#define PARENT	  78

static void look(struct world *w, uint64_t at, bool held)
{
	const struct obs obs = {
		.type = OBS_PROBE,
		.at_ns = at,
		.probe = {.id = CG_A1,
			  .pid = P_A1.pid,
			  .start_ns = P_A1.start_ns,
			  .held = held,
			  .holder = {.pid = held ? HOLDER : 0, .comm = "sh"},
			  .holder_parent = {.pid = held ? PARENT : 0, .comm = "agent"}},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

static void reap(struct world *w, uint64_t at)
{
	const struct obs obs = {
		.type = OBS_REAPED, .at_ns = at, .reaped = {.id = CG_A1, .pid = P_A1.pid}};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* Where the kernel half shows when an init is waited for. */
static void attach(struct world *w)
{
	const struct obs obs = {.type = OBS_ATTACHED, .at_ns = SEC(2), .attached = {.reaps = true}};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* It is killed, and others are left in its pid namespace. */
static void open_killed(struct world *w, bool reaps)
{
	const struct obs exited = {
		.type = OBS_EXIT,
		.at_ns = EXITED_AT,
		.exit = {.id = CG_A1,
			 .flags = GRACED_EXIT_INIT | GRACED_EXIT_NS_OTHERS,
			 .status = 9,
			 .proc = P_A1,
			 .counts = {.exits = 1, .collateral = 1}},
	};

	world_open(w, NULL);
	if (reaps)
		attach(w);
	world_init(w, SEC(12), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 9);
	assert_int_equal(world_tell(w, &exited), 0);
}

static void empty(struct world *w)
{
	const struct graced_counts counts = {.exits = 1, .collateral = 1};

	world_empty_counted(w, SEC(20) + 2, CG_A1, &counts);
	/* Where the kernel half shows it, its parent has a moment to wait for it. */
	if (!world_effects(w, EFFECT_PROBE_INIT))
		world_timer(w, SEC(20) + 3 + MSEC(5));
}

static void find_held(struct world *w)
{
	look(w, SEC(20) + 3, true);
	world_timer(w, SEC(20) + 3 + MSEC(6) + WAIT);
	look(w, FOUND_AT + MSEC(6), true);
	world_timer(w, FOUND_AT + MSEC(6));
}

static void open_held(struct world *w, bool reaps)
{
	open_killed(w, reaps);
	empty(w);
	find_held(w);
	assert_verdict(w, OUTCOME_KILLED, CAUSE_NO_GRACE, GAP(NOT_REAPED));
	assert_int_equal(world_stop(w)->held_by.process.pid, HOLDER);
	assert_int_equal(world_stop(w)->held_by.parent.pid, PARENT);
}

/* One record, of the stop's id: at is when it was seen, reap_ns when it was. */
static void expect_let_go(struct world *w, uint64_t at, uint64_t reap_ns)
{
	const struct record *rec;

	assert_int_equal(world_count(w, RECORD_REAPED), 1);
	assert_int_equal(world_count(w, RECORD_STOP), 1);
	rec = world_record(w, RECORD_REAPED, 0);
	assert_int_equal(rec->at_ns, at);
	assert_int_equal(rec->reaped.reap_ns, reap_ns);
	assert_int_equal(rec->reaped.exit.at_ns, EXITED_AT);
	assert_int_equal(rec->reaped.exit.status, 9);
	assert_string_equal(rec->reaped.pod.uid, WORLD_UID_A);
	assert_string_equal(rec->reaped.container.id, WORLD_ID_A1);
	world_timer(w, SEC(900));
	assert_int_equal(world_count(w, RECORD_REAPED), 1);
}

static void test_seen(void **state)
{
	struct world w;

	open_held(&w, true);
	reap(&w, SEC(40));
	assert_string_equal(world_record(&w, RECORD_REAPED, 0)->reaped.id, world_stop(&w)->id);
	expect_let_go(&w, SEC(40), SEC(40));
	world_close(&w);
}

/* The record is in the ring when the look shows it. */
static void test_look_overtakes(void **state)
{
	struct world w;

	for (int comes = 0; comes < 2; comes++) {
		open_held(&w, true);
		world_timer(&w, SEC(22));
		look(&w, SEC(22), false);
		assert_int_equal(world_count(&w, RECORD_REAPED), 0);
		if (comes)
			reap(&w, SEC(22) + 1);
		else
			world_timer(&w, SEC(22) + WAIT);
		expect_let_go(&w, SEC(22) + (comes ? 1 : WAIT), comes ? SEC(22) + 1 : 0);
		world_close(&w);
	}
}

static void test_looked_at(void **state)
{
	struct world w;

	open_held(&w, false);
	for (uint64_t at = SEC(22); at < SEC(300); at += SEC(1)) {
		uint64_t asked = world_effects(&w, EFFECT_PROBE_INIT);

		world_timer(&w, at);
		assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), asked + 1);
		assert_false(world_effect(&w, EFFECT_PROBE_INIT)->holder);
		look(&w, at, true);
	}
	assert_int_equal(world_count(&w, RECORD_REAPED), 0);
	world_timer(&w, SEC(300));
	look(&w, SEC(300), false);
	expect_let_go(&w, SEC(300), 0);
	world_close(&w);
}

static size_t cgroups_of(const struct world *w)
{
	struct engine_stats stats;

	engine_get_stats(w->engine, &stats);
	return stats.cgroups;
}

/* Its cgroup is removed before the first look, between the two, and after the verdict. */
static void test_removed(void **state)
{
	for (int when = 0; when < 4; when++) {
		size_t before;
		struct world w;

		open_killed(&w, true);
		before = cgroups_of(&w);
		if (when > 0)
			empty(&w);
		if (when < 2)
			world_gone(&w, SEC(20) + 3, CG_A1, NULL);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		look(&w, SEC(20) + 3, true);
		if (when == 2)
			world_gone(&w, SEC(20) + 4, CG_A1, NULL);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		find_held(&w);
		assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, GAP(NOT_REAPED));
		if (when == 3)
			world_gone(&w, SEC(21), CG_A1, NULL);
		world_timer(&w, SEC(23));
		look(&w, SEC(23), true);
		world_timer(&w, SEC(24));
		look(&w, SEC(24), false);
		expect_let_go(&w, SEC(24), 0);
		assert_int_equal(cgroups_of(&w), before - 1);
		world_close(&w);
	}
}

/* A pid namespace that was just being torn down is no gap, and the verdict goes out. */
static void test_removed_and_not_held(void **state)
{
	for (int looks = 1; looks < 3; looks++) {
		struct world w;

		open_killed(&w, false);
		world_gone(&w, SEC(20) + 3, CG_A1, NULL);
		if (looks == 2) {
			look(&w, SEC(20) + 3, true);
			world_timer(&w, SEC(20) + 3 + WAIT);
		}
		look(&w, FOUND_AT, false);
		world_timer(&w, FOUND_AT);
		assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
		assert_int_equal(world_stop(&w)->held_by.process.pid, 0);
		world_timer(&w, SEC(900));
		assert_int_equal(world_count(&w, RECORD_REAPED), 0);
		world_close(&w);
	}
}

/* No look is answered: the verdict waits for none. */
static void test_removed_unanswered(void **state)
{
	struct world w;

	open_killed(&w, false);
	world_gone(&w, SEC(20) + 3, CG_A1, NULL);
	world_timer(&w, SEC(20) + 3 + MSEC(5));
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	world_close(&w);
}

static void test_restarted(void **state)
{
	for (int there = 0; there < 2; there++) {
		struct obs_list kept = {};
		struct world w;

		open_held(&w, false);
		engine_keep(w.engine, true, relay_keep, &kept);
		world_close(&w);
		world_open_bare(&w, NULL);
		for (size_t i = 0; i < kept.n; i++)
			world_tell(&w, &kept.list[i]);
		obs_list_free(&kept);
		world_found(&w, SEC(59), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
		if (there)
			world_found(&w, SEC(59), CG_A1,
				    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
		world_attach(&w, SEC(60));
		world_timer(&w, SEC(61));
		assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 1);
		assert_int_equal(world_count(&w, RECORD_REAPED), 0);
		look(&w, SEC(61), false);
		assert_int_equal(world_count(&w, RECORD_REAPED), 1);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		assert_int_equal(world_record(&w, RECORD_REAPED, 0)->reaped.exit.at_ns, EXITED_AT);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("when it is waited for at last, a record of the stop's id says so",
		      test_seen),
		CLAIM("a look that overtakes the kernel half's record does not replace it",
		      test_look_overtakes),
		CLAIM("where the kernel does not show it, it is looked at until it is let go",
		      test_looked_at),
		CLAIM("all that holds when its cgroup is removed, at whatever moment",
		      test_removed),
		CLAIM("one whose cgroup is gone and that is not held is complete",
		      test_removed_and_not_held),
		CLAIM("a verdict whose cgroup is gone waits for no answer that does not come",
		      test_removed_unanswered),
		CLAIM("a restart of the daemon does not forget it", test_restarted),
	};

	return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
