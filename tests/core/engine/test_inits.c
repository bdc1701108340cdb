// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: which process it takes for a container's init, and whose end it
 * reports. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

/* Another process in the cgroup of A1. */
/* The pid of the dead is used again at once: by the tick of /proc and no further it is the same. */
static void test_pid_reused(void **state)
{
	static const struct {
		uint64_t exact; /* what the first one's start has beside a tick of /proc */
		uint64_t apart;
		bool same;
	} rows[] = {
		{0, 0, true},
		{0, MSEC(10) - 1, true},
		{0, MSEC(10), false},
		{0, MSEC(100), false},
		{0, MSEC(999), false},
		{0, SEC(1), false},
		{7, 0, true},
		{7, 1, false},
		{7, MSEC(5), false},
		/* The second one's was cut. */
		{MSEC(10) - 7, 7, true},
	};
	struct world w;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct graced_proc first = P_A1, second;

		first.start_ns = SEC(2) + rows[i].exact;
		second = first;
		second.start_ns += rows[i].apart;
		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &first);
		/* The end of the first was lost. */
		world_exit(&w, SEC(12), CG_A1, &second, EXIT(3));
		assert_int_equal(world_count(&w, RECORD_STOP), !rows[i].same);
		if (!rows[i].same)
			assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
		world_clear(&w);
		world_empty(&w, SEC(13), CG_A1);
		assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, rows[i].same ? 0 : GAP(EVENTS_LOST));
		world_close(&w);
	}
}

/* A process is left that is PID 1 of a pid namespace further down; it may exec, or only be seen. */
static void test_pid1_left(void **state)
{
	static const struct graced_counts counts = {.exits = 1};
	struct graced_proc sandbox = P_A1;
	struct world w;

	sandbox.pid++;
	sandbox.start_ns = SEC(15);
	for (int execs = 0; execs < 2; execs++) {
		struct obs answer = {.type = OBS_COUNTS, .at_ns = SEC(20) + MSEC(251)};

		world_open(&w, NULL);
		world_ranked(&w, SEC(10), CG_A1, &P_A1, GRACED_INIT_FIRST);
		world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(3));
		if (execs) {
			world_ranked(&w, SEC(20) + MSEC(100), CG_A1, &sandbox, GRACED_INIT_PID1);
			assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, 0);
		} else {
			world_timer(&w, SEC(20) + MSEC(250));
			answer.counts.id = CG_A1;
			answer.counts.counts = counts;
			answer.counts.populated = answer.counts.pid1 = true;
			world_tell(&w, &answer);
			assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, GAP(NOT_EMPTY));
		}
		assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
		world_close(&w);
	}
}

/* The kernel half names another init only when the last one's life is over. */
static void test_next_init(void **state)
{
	const struct graced_proc second = world_second_a1();
	struct world w;

	world_open(&w, NULL);
	world_ranked(&w, SEC(10), CG_A1, &P_A1, GRACED_INIT_FIRST);
	world_ranked(&w, SEC(151), CG_A1, &second, GRACED_INIT_PID1);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EXIT_UNSEEN));
	assert_int_equal(world_stop(&w)->process.pid, P_A1.pid);
	world_close(&w);
}

/* A process without an exec is taken for the init by its exit. Another execs at `next`; 0: none. */
static void test_exit_guess(void **state)
{
	static const struct graced_counts left = {.exits = 1};
	static const struct {
		uint64_t next, next_start, empty;
		bool asked;
		uint64_t reported; /* 0: it was none, and is not reported */
		uint32_t gaps;
	} rows[] = {
		{SEC(21), SEC(15), 0, false, 0, 0},
		{SEC(21), SEC(15), 0, true, SEC(20) + MSEC(251), GAP(NOT_EMPTY)},
		{SEC(22), SEC(21), 0, false, SEC(22), 0},
		{0, 0, SEC(21), false, SEC(21), 0},
		{0, 0, 0, false, SEC(23), GAP(NOT_EMPTY)},
	};
	struct graced_proc next = P_A1;
	struct world w;

	next.pid++;
	for (size_t i = 0; i < LEN(rows); i++) {
		uint32_t asked_for = rows[i].asked ? 15 : 0;

		world_open(&w, NULL);
		next.start_ns = rows[i].next_start;
		world_ranked(&w, asked_for ? SEC(19) : SEC(20), CG_A1, &P_A1, GRACED_INIT_GUESSED);
		if (asked_for)
			world_managed(&w, SEC(19), CG_A1, &P_A1, asked_for);
		world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
		world_timer(&w, SEC(20) + MSEC(250));
		world_counts(&w, SEC(20) + MSEC(251), CG_A1, true, &left);
		assert_int_equal(world_count(&w, RECORD_STOP), rows[i].asked);
		if (rows[i].empty)
			world_empty(&w, rows[i].empty, CG_A1);
		if (rows[i].next)
			world_ranked(&w, rows[i].next, CG_A1, &next, GRACED_INIT_FIRST);
		if (!rows[i].next && !rows[i].empty) {
			world_timer(&w, rows[i].reported - 1);
			assert_int_equal(world_count(&w, RECORD_STOP), 0);
			world_timer(&w, rows[i].reported);
		}
		assert_int_equal(world_count(&w, RECORD_STOP), rows[i].reported != 0);
		if (rows[i].reported)
			assert_verdict(&w, rows[i].asked ? OUTCOME_GRACEFUL : OUTCOME_COMPLETED,
				       rows[i].asked ? CAUSE_STOP_SIGNAL : CAUSE_SELF,
				       GAP(INIT_GUESSED) | rows[i].gaps);
		world_close(&w);
	}
}

/* A signal on another CPU may come before the record of the init that it found. */
static void test_late(void **state)
{
	struct world w;

	for (int late = 0; late < 2; late++)
		for (int after = 0; after < 2; after++) {
			const struct obs init = {
				.type = OBS_INIT,
				.at_ns = SEC(11) + (uint64_t)after,
				.init = {.id = CG_A1,
					 .rank = GRACED_INIT_PID1,
					 .late = late,
					 .proc = P_A1},
			};

			world_open(&w, NULL);
			if (!after)
				assert_int_equal(world_tell(&w, &init), 0);
			world_managed(&w, SEC(11), CG_A1, &P_A1, 15);
			if (after)
				assert_int_equal(world_tell(&w, &init), 0);
			world_exit(&w, SEC(12), CG_A1, &P_A1, EXIT(0));
			world_empty(&w, SEC(12), CG_A1);
			assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL,
				       late ? GAP(ATTACHED_LATE) : 0);
			world_close(&w);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pid used again within a second is another process", test_pid_reused),
		CLAIM("what is left when an init dies, PID 1 or not, takes nothing from its stop",
		      test_pid1_left),
		CLAIM("what exits without an exec is the init, unless one execs that was there before",
		      test_exit_guess),
		CLAIM("an init that gives way to another is reported", test_next_init),
		CLAIM("an init that ran before its container was recorded has that gap", test_late),
	};

	return cmocka_run_group_tests_name("engine_inits", tests, NULL, NULL);
}
