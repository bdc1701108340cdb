// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what it makes of records that were lost, suppressed or never made. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

#define WAIT MSEC(250)

/* Another process in the cgroup of A1. */
static void test_lost(void **state)
{
	const struct graced_counts before = {.exits = 1, .lost = 4},
				   after = {.exits = 2, .lost = 5};
	const struct graced_proc second = world_second_a1();
	const struct obs next = {
		.type = OBS_INIT,
		.at_ns = SEC(151),
		.init = {.id = CG_B1, .lost = 4, .rank = GRACED_INIT_PID1, .proc = second},
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_exit_counted(&w, SEC(20), CG_A1, &P_A1, EXIT(0), &before);
	world_gone(&w, SEC(21), CG_A1, &before);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));

	/* Losses of an earlier life are no gap in a later one's evidence. */
	world_clear(&w);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_exit_counted(&w, SEC(20), CG_B1, &P_B1, EXIT(0), &before);
	world_empty_counted(&w, SEC(21), CG_B1, &before);
	world_clear(&w);
	world_tell(&w, &next);
	world_exit_counted(&w, SEC(160), CG_B1, &second, EXIT(0), &before);
	world_gone(&w, SEC(161), CG_B1, &before);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);

	world_clear(&w);
	world_init(&w, SEC(151), CG_D1, &P_D1);
	world_counts(&w, SEC(152), CG_D1, true, &before);
	world_exit_counted(&w, SEC(160), CG_D1, &P_D1, EXIT(0), &after);
	world_gone(&w, SEC(161), CG_D1, &after);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_close(&w);
}

static void test_not_run(void **state)
{
	const struct obs missed = {
		.type = OBS_LOST, .at_ns = SEC(15), .lost = {.recursion_misses = 1}};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_tell(&w, &missed);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21), CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_clear(&w);
	world_init(&w, SEC(30), CG_B1, &P_B1);
	world_exit(&w, SEC(31), CG_B1, &P_B1, EXIT(0));
	world_empty(&w, SEC(32), CG_B1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

/* Counts that are read run ahead of the records that are still in the ring. */
static void test_counts_ahead(void **state)
{
	const struct graced_counts lost = {.exits = 1, .lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_counts(&w, SEC(9), CG_A1, true, &lost);
	world_init(&w, SEC(8), CG_A1, &P_A1);
	world_exit_counted(&w, SEC(10), CG_A1, &P_A1, EXIT(0), &lost);
	world_empty_counted(&w, SEC(11), CG_A1, &lost);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_close(&w);
}

static void test_suppressed(void **state)
{
	static const struct {
		uint64_t at_request, at_exit;
		uint32_t gaps;
	} want[] = {{0, 0, 0}, {90, 90, 0}, {90, 91, GAP(SUPPRESSED)}};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct graced_counts counts = {.suppressed = want[i].at_exit};
		const struct shot asked = {.sig = 15,
					   .from = &P_SHIM,
					   .to = &P_A1,
					   .suppressed = (uint32_t)want[i].at_request};
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		world_shot(&w, SEC(19), CG_A1, &asked);
		world_exit_counted(&w, SEC(20), CG_A1, &P_A1, EXIT(0), &counts);
		world_gone(&w, SEC(21), CG_A1, &counts);
		assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, want[i].gaps);
		world_close(&w);
	}
}

static void test_attached_late(void **state)
{
	static const struct {
		uint32_t rank, gaps;
	} want[] = {
		{GRACED_INIT_PID1, GAP(ATTACHED_LATE)},
		{GRACED_INIT_GUESSED, GAP(ATTACHED_LATE) | GAP(INIT_GUESSED)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct graced_proc second = world_second_a1();
		struct world w;

		world_open_bare(&w, NULL);
		world_found(&w, SEC(1), CG_D1, "/docker/" WORLD_ID_D1);
		world_ranked(&w, SEC(1), CG_D1, &P_D1, want[i].rank);
		world_attach(&w, SEC(2));
		assert_int_equal(world_record(&w, RECORD_ATTACHED, 0)->attached.containers, 1);
		world_exit(&w, SEC(100), CG_D1, &P_D1, EXIT(0));
		world_empty(&w, SEC(101), CG_D1);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, want[i].gaps);
		/* The next life in it is seen from its beginning. */
		world_clear(&w);
		world_init(&w, SEC(151), CG_D1, &second);
		world_exit(&w, SEC(160), CG_D1, &second, EXIT(0));
		world_empty(&w, SEC(161), CG_D1);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		world_close(&w);
	}
}

/* An old seccomp kill sends no signal; a window with a hole in it may have had one. */
static void test_unsigned_crash(void **state)
{
	const struct graced_counts lost = {.lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_exit_counted(&w, SEC(20), CG_A1, &P_A1, 31, &lost);
	world_gone(&w, SEC(21), CG_A1, &lost);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(EVENTS_LOST));
	world_close(&w);
}

static void test_kill_lost(void **state)
{
	const struct graced_counts lost = {.lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(15), CG_A1, &P_A1, 15);
	world_exit_counted(&w, SEC(20), CG_A1, &P_A1, 9, &lost);
	world_gone(&w, SEC(21), CG_A1, &lost);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | GAP(KILL_UNSEEN));
	assert_true(world_stop(&w)->stop_signal.known);
	assert_false(world_stop(&w)->kill_signal.known);
	world_close(&w);
}

/* Emptiness, or the removal of the cgroup, says that init is gone. */
static void test_exit_lost(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(15), CG_A1, &P_A1, 15);
	world_empty(&w, SEC(20), CG_A1);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
	assert_false(world_stop(&w)->exit.known || world_stop(&w)->latency_known);
	assert_true(world_stop(&w)->stop_signal.known);
	assert_int_equal(world_stop(&w)->empty_ns, SEC(20));
	/* Its record has the time at which that was known. */
	assert_int_equal(world_record(&w, RECORD_STOP, 0)->at_ns, SEC(20));

	world_clear(&w);
	world_init(&w, SEC(10), CG_B1, &P_B1);
	world_gone(&w, SEC(20), CG_B1, NULL);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
	assert_int_equal(world_stop(&w)->empty_ns, 0);
	world_close(&w);
}

static void probe(struct world *w, uint64_t at, uint64_t start_ns, bool alive)
{
	const struct obs obs = {
		.type = OBS_PROBE,
		.at_ns = at,
		.probe = {.id = CG_A1, .pid = P_A1.pid, .start_ns = start_ns, .alive = alive},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

static void test_probe(void **state)
{
	const struct graced_counts lost = {.lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_counts(&w, SEC(20), CG_A1, true, &lost);
	assert_int_equal(world_effect(&w, EFFECT_PROBE_INIT)->pid, P_A1.pid);
	assert_int_equal(world_effect(&w, EFFECT_PROBE_INIT)->start_ns, P_A1.start_ns);
	/* Nothing lost since: no question. */
	world_counts(&w, SEC(21), CG_A1, true, &lost);
	assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 1);
	probe(&w, SEC(22), P_A1.start_ns, true);
	probe(&w, SEC(22), P_A1.start_ns + 1, false);
	world_timer(&w, SEC(23));
	world_timer(&w, SEC(24));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	/* It is gone; a moment for a record that may be in the ring. A signal in it may be older
	 * than that look, or newer: it is looked for again. */
	probe(&w, SEC(30), P_A1.start_ns, false);
	world_managed(&w, SEC(30) + 1, CG_A1, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 2);
	probe(&w, SEC(30) + 2, P_A1.start_ns, false);
	world_timer(&w, SEC(30) + 2 + WAIT);
	world_timer(&w, SEC(30) + 2 + 2 * WAIT);
	world_gone(&w, SEC(40), CG_A1, &lost);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(EXIT_UNSEEN) | GAP(EVENTS_LOST) | GAP(NOT_EMPTY));
	world_close(&w);
}

static void look(struct world *w, uint64_t at, bool held)
{
	const struct obs obs = {
		.type = OBS_PROBE,
		.at_ns = at,
		.probe = {.id = CG_A1, .pid = P_A1.pid, .start_ns = P_A1.start_ns, .held = held},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* Others are left in the pid namespace of an init that was killed. */
static void end_before_others(struct world *w)
{
	const struct obs exited = {
		.type = OBS_EXIT,
		.at_ns = SEC(20) + 1,
		.exit = {.id = CG_A1,
			 .flags = GRACED_EXIT_INIT | GRACED_EXIT_NS_OTHERS,
			 .status = 9,
			 .proc = P_A1,
			 .counts = {.exits = 1, .collateral = 1}},
	};

	world_open(w, NULL);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 9);
	assert_int_equal(world_tell(w, &exited), 0);
	world_empty_counted(w, SEC(20) + 2, CG_A1, &exited.exit.counts);
	assert_int_equal(world_effects(w, EFFECT_PROBE_INIT), 1);
}

static void test_held(void **state)
{
	static const struct {
		bool first, second;
		uint32_t gaps;
	} want[] = {
		{false, false, 0},
		{true, false, 0},
		{true, true, GAP(NOT_REAPED)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct world w;

		end_before_others(&w);
		look(&w, SEC(20) + 3, want[i].first);
		if (want[i].first) {
			world_timer(&w, SEC(20) + 3 + WAIT);
			assert_int_equal(world_effects(&w, EFFECT_PROBE_INIT), 2);
			assert_int_equal(world_count(&w, RECORD_STOP), 0);
			look(&w, SEC(20) + 4 + WAIT, want[i].second);
		}
		world_timer(&w, SEC(20) + 4 + WAIT);
		assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, want[i].gaps);
		world_close(&w);
	}
}

static void test_probe_and_then_the_end(void **state)
{
	const struct graced_counts lost = {.lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_counts(&w, SEC(20), CG_A1, true, &lost);
	probe(&w, SEC(22), P_A1.start_ns, false);
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = SEC(22) + 1});
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(EXIT_UNSEEN) | GAP(EVENTS_LOST) | GAP(NOT_EMPTY));
	world_close(&w);
}

static void test_probe_and_then_the_exit(void **state)
{
	const struct graced_counts lost = {.lost = 1};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_counts(&w, SEC(20), CG_A1, true, &lost);
	probe(&w, SEC(22), P_A1.start_ns, false);
	world_exit_counted(&w, SEC(21), CG_A1, &P_A1, EXIT(2), &lost);
	world_gone(&w, SEC(23), CG_A1, &lost);
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_close(&w);
}

/* The exec's record was lost: whoever is called init by a signal or an exit is it. */
static void test_init_lost(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + 1, CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);

	world_clear(&w);
	world_managed(&w, SEC(19), CG_B1, &P_B1, 15);
	world_exit(&w, SEC(20), CG_B1, &P_B1, EXIT(0));
	world_empty(&w, SEC(20) + 1, CG_B1);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, GAP(EVENTS_LOST));
	world_close(&w);
}

/* A signal on another CPU found the init before its own record was in the ring. */
static void test_init_overtaken(void **state)
{
	struct engine_stats stats;
	struct world w;

	world_open(&w, NULL);
	world_managed(&w, SEC(10) + 1, CG_A1, &P_A1, 15);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21), CG_A1);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.unexpected, 0);
	world_close(&w);
}

/* Before we said that we are attached it may have been running for long. */
static void test_init_lost_while_attaching(void **state)
{
	struct world w;

	world_open_bare(&w, NULL);
	world_found(&w, SEC(1), CG_D1, "/docker/" WORLD_ID_D1);
	world_found(&w, SEC(1), CG_SYSTEM, "/system.slice");
	world_managed(&w, SEC(2), CG_D1, &P_D1, 15);
	world_attach(&w, SEC(3));
	world_exit(&w, SEC(4), CG_D1, &P_D1, EXIT(0));
	world_empty(&w, SEC(5), CG_D1);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, GAP(ATTACHED_LATE));
	world_close(&w);
}

/* Exit and emptiness of the first were lost; the second is seen by its exec, a signal, its exit. */
static void test_life_ends_unseen(void **state)
{
	const struct graced_proc second = world_second_a1();
	struct world w;

	for (int how = 0; how < 3; how++) {
		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		world_managed(&w, SEC(15), CG_A1, &P_A1, 15);
		if (how == 0)
			world_init(&w, SEC(151), CG_A1, &second);
		else if (how == 1)
			world_from(&w, SEC(151), CG_A1, &second, 1, &P_SHELL);
		else
			world_exit(&w, SEC(160), CG_A1, &second, EXIT(3));
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
		assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
		world_clear(&w);
		if (how < 2)
			world_exit(&w, SEC(160), CG_A1, &second, EXIT(3));
		world_empty(&w, SEC(161), CG_A1);
		assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, how == 0 ? 0 : GAP(EVENTS_LOST));
		assert_int_equal(world_stop(&w)->process.pid, second.pid);
		assert_false(world_stop(&w)->stop_signal.known);
		world_close(&w);
	}
}

/* That the first one's was, the record of the second says. */
static void test_life_ends_lost(void **state)
{
	const struct graced_counts counts = {.exits = 2, .lost = 2};
	const struct graced_proc second = world_second_a1();
	const struct obs init = {
		.type = OBS_INIT,
		.at_ns = SEC(151),
		.init = {.id = CG_A1, .lost = 2, .rank = GRACED_INIT_PID1, .proc = second},
	};
	const struct shot shot = {.sig = 1, .from = &P_SHELL, .to = &second, .lost = 2};
	struct world w;

	for (int how = 0; how < 3; how++) {
		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		if (how == 0)
			world_tell(&w, &init);
		else if (how == 1)
			world_shot(&w, SEC(151), CG_A1, &shot);
		else
			world_exit_counted(&w, SEC(160), CG_A1, &second, EXIT(3), &counts);
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
			       GAP(EVENTS_LOST) | GAP(EXIT_UNSEEN));
		assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
		world_clear(&w);
		if (how < 2)
			world_exit_counted(&w, SEC(160), CG_A1, &second, EXIT(3), &counts);
		world_empty_counted(&w, SEC(161), CG_A1, &counts);
		assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, how == 0 ? 0 : GAP(EVENTS_LOST));
		world_close(&w);
	}
}

/* Records of two CPUs may be a few µs out of order. */
static void test_stragglers(void **state)
{
	struct engine_stats stats;
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_managed(&w, SEC(20) - 1, CG_A1, &P_A1, 15);
	world_empty(&w, SEC(20) + 1, CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_clear(&w);
	world_managed(&w, SEC(20) + 2, CG_A1, &P_A1, 15);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + 3, CG_A1);
	world_timer(&w, SEC(1000));
	world_gone(&w, SEC(1000), CG_A1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.stops, 1);
	assert_true(stats.unexpected > 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("records lost in a life are a gap in its evidence, others are not",
		      test_lost),
		CLAIM("programs that did not run are a gap of every stop under way", test_not_run),
		CLAIM("counts read ahead of the records hide no loss", test_counts_ahead),
		CLAIM("signals suppressed after the request are a gap", test_suppressed),
		CLAIM("who ran before we attached has a gap, and a guessed init another",
		      test_attached_late),
		CLAIM("a crash without a signal is nobody's when the window has a hole",
		      test_unsigned_crash),
		CLAIM("a kill that was lost is unseen, not denied", test_kill_lost),
		CLAIM("a lost exit is reported when the cgroup is empty or gone", test_exit_lost),
		CLAIM("after a loss init is looked for, and reported as unknown when it is gone",
		      test_probe),
		CLAIM("an init that what is left in its pid namespace holds twice is not reaped",
		      test_held),
		CLAIM("a trace that ends meanwhile tells it, too", test_probe_and_then_the_end),
		CLAIM("an exit that was in the ring still beats the look for it",
		      test_probe_and_then_the_exit),
		CLAIM("an init whose exec was lost is known by its signal or its exit",
		      test_init_lost),
		CLAIM("an exec's record that a signal overtook is not lost", test_init_overtaken),
		CLAIM("an init met while attaching ran before we attached",
		      test_init_lost_while_attaching),
		CLAIM("a life whose end was lost is reported when the next one shows",
		      test_life_ends_unseen),
		CLAIM("... and that its records were lost is a gap of it", test_life_ends_lost),
		CLAIM("a record that comes after the verdict starts no new life", test_stragglers),
	};

	return cmocka_run_group_tests_name("core/engine: evidence", tests, NULL, NULL);
}
