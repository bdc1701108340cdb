// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: requests to stop, and inits that exit. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/walk.h"

static void test_exited(void **state)
{
	static const struct walk want[] = {
		{"asked",
		 0,
		 {{0, 15, BY_RUNTIME, 0, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_GRACEFUL,
		 CAUSE_STOP_SIGNAL},
		{"asked, with a code",
		 0,
		 {{0, 15, BY_RUNTIME, 0, 0}},
		 SEC(1),
		 EXIT(143),
		 OUTCOME_GRACEFUL,
		 CAUSE_STOP_SIGNAL},
		{"asked while it was pending already",
		 0,
		 {{0, 15, BY_RUNTIME, 2, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_GRACEFUL,
		 CAUSE_STOP_SIGNAL},
		{"asked without its knowing",
		 0,
		 {{0, 15, BY_RUNTIME, 1, GRACED_SIG_IGN}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_GRACEFUL,
		 CAUSE_SELF},
		{"deaf",
		 0,
		 {{0, 15, BY_RUNTIME, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL}},
		 SEC(1),
		 EXIT(3),
		 OUTCOME_GRACEFUL,
		 CAUSE_SELF},
		{"asked by its own child",
		 0,
		 {{0, 15, BY_A1_CHILD, 0, 0}},
		 SEC(60),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SAME_CONTAINER},
		{"asked by its own child, with a code",
		 0,
		 {{0, 15, BY_A1_CHILD, 2, 0}},
		 SEC(1),
		 EXIT(143),
		 OUTCOME_FAILED,
		 CAUSE_SAME_CONTAINER},
		{"asked by itself",
		 0,
		 {{0, 15, BY_A1, 0, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SAME_CONTAINER},
		{"asked by its own child long before",
		 0,
		 {{0, 15, BY_A1_CHILD, 0, 0}},
		 SEC(60) + 1,
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"asked by its own child without its knowing",
		 0,
		 {{0, 15, BY_A1_CHILD, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"asked by its own child with no room for it",
		 0,
		 {{0, 37, BY_A1_CHILD, 3, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"signalled by its own child, with a signal that is no request",
		 0,
		 {{0, 10, BY_A1_CHILD, 0, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"asked by its own child, then by the runtime",
		 0,
		 {{0, 15, BY_A1_CHILD, 0, 0}, {SEC(1), 15, BY_RUNTIME, 0, 0}},
		 SEC(2),
		 EXIT(0),
		 OUTCOME_GRACEFUL,
		 CAUSE_STOP_SIGNAL},
		{"asked with no room for it",
		 0,
		 {{0, 37, BY_RUNTIME, 3, 0}},
		 SEC(1),
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"asked when it was going already",
		 0,
		 {{0, 15, BY_RUNTIME, 1, GRACED_SIG_GROUP_EXIT}},
		 1,
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"killed when it was going already",
		 0,
		 {{0, 9, BY_RUNTIME, 1, GRACED_SIG_GROUP_EXIT}},
		 1,
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"by itself",
		 0,
		 {{0, 0, BY_NOBODY, 0, 0}},
		 0,
		 EXIT(0),
		 OUTCOME_COMPLETED,
		 CAUSE_SELF},
		{"by itself, with a code",
		 0,
		 {{0, 0, BY_NOBODY, 0, 0}},
		 0,
		 EXIT(1),
		 OUTCOME_FAILED,
		 CAUSE_SELF},
		{"with 137", 0, {{0, 0, BY_NOBODY, 0, 0}}, 0, EXIT(137), OUTCOME_FAILED, CAUSE_SELF},
		{"with 143", 0, {{0, 0, BY_NOBODY, 0, 0}}, 0, EXIT(143), OUTCOME_FAILED, CAUSE_SELF},
	};

	assert_walks(want, LEN(want));
}

static void test_repeats(void **state)
{
	static const struct {
		struct walk path;
		uint64_t latency;
		uint32_t by; /* pid of the sender that stands in the record */
	} want[] = {
		{{"asked three times",
		  0,
		  {{0, 15, BY_RUNTIME, 0, 0},
		   {SEC(1), 15, BY_RUNTIME, 2, 0},
		   {SEC(2), 2, BY_SHELL, 0, 0}},
		  SEC(3),
		  EXIT(0),
		  OUTCOME_GRACEFUL,
		  CAUSE_STOP_SIGNAL},
		 SEC(3),
		 812},
		{{"a manager's after another pod's",
		  0,
		  {{0, 15, BY_B1, 0, 0},
		   {SEC(1), 15, BY_RUNTIME, 0, 0},
		   {SEC(2), 15, BY_SYSTEMD, 0, 0}},
		  SEC(3),
		  EXIT(0),
		  OUTCOME_GRACEFUL,
		  CAUSE_STOP_SIGNAL},
		 SEC(2),
		 812},
		{{"another pod's after a manager's",
		  0,
		  {{0, 15, BY_SYSTEMD, 0, 0}, {SEC(1), 15, BY_B1, 0, 0}},
		  SEC(3),
		  EXIT(0),
		  OUTCOME_GRACEFUL,
		  CAUSE_STOP_SIGNAL},
		 SEC(3),
		 1},
		{{"heard the first time, ignored later",
		  0,
		  {{0, 15, BY_RUNTIME, 0, 0}, {SEC(1), 15, BY_RUNTIME, 1, GRACED_SIG_IGN}},
		  SEC(3),
		  EXIT(0),
		  OUTCOME_GRACEFUL,
		  CAUSE_STOP_SIGNAL},
		 SEC(3),
		 812},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_stop *s;
		struct world w;

		walk(&w, &want[i].path);
		assert_verdict(&w, want[i].path.outcome, want[i].path.cause, 0);
		s = world_stop(&w);
		assert_true(s->latency_known);
		assert_int_equal(s->latency_ns, want[i].latency);
		assert_int_equal(s->stop_signal.sender.process.pid, want[i].by);
		world_close(&w);
	}
}

static void test_lapse(void **state)
{
	static const struct {
		uint64_t grace, exit_after;
		bool timer; /* fires at the exit, or only the times show the lapse */
		bool open;
	} want[] = {
		{0, SEC(600) - 1, true, true},	      {0, SEC(600), true, false},
		{0, SEC(600) - 1, false, true},	      {0, SEC(600), false, false},
		{SEC(30), SEC(120) - 1, true, true},  {SEC(30), SEC(120), true, false},
		{SEC(30), SEC(120) - 1, false, true}, {SEC(30), SEC(120), false, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct engine_config config = {.scope = SCOPE_CONTAINERS,
						     .assumed_grace_ns = want[i].grace};
		const struct effect *wake;
		struct world w;

		world_open(&w, &config);
		world_init(&w, AT_INIT, CG_A1, &P_A1);
		world_managed(&w, AT_STOP, CG_A1, &P_A1, 15);
		wake = world_effect(&w, EFFECT_WAKE_AT);
		/* It is looked at before. */
		assert_int_equal(wake->at_ns, AT_STOP + (want[i].grace ? SEC(15) : SEC(2)));
		if (want[i].timer)
			world_timer(&w, AT_STOP + want[i].exit_after);
		world_exit(&w, AT_STOP + want[i].exit_after, CG_A1, &P_A1, EXIT(0));
		world_empty(&w, AT_STOP + want[i].exit_after + 1, CG_A1);
		if (want[i].open)
			assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
		else
			assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		assert_int_equal(world_stop(&w)->latency_known, want[i].open);
		world_close(&w);
	}
}

static void test_kill_after_the_lapse(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, AT_INIT, CG_A1, &P_A1);
	world_managed(&w, AT_STOP, CG_A1, &P_A1, 15);
	world_managed(&w, AT_STOP + SEC(700), CG_A1, &P_A1, 9);
	world_exit(&w, AT_STOP + SEC(700) + 1, CG_A1, &P_A1, 9);
	world_empty(&w, AT_STOP + SEC(700) + 2, CG_A1);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	world_close(&w);
}

/* A liveness restart: the same container id does not come back, the same cgroup may. */
static void test_two_lives(void **state)
{
	struct graced_proc second = P_A1;
	struct world w;

	second.pid = 5000;
	second.start_ns = SEC(200);
	world_open(&w, NULL);
	world_init(&w, AT_INIT, CG_A1, &P_A1);
	world_managed(&w, AT_STOP, CG_A1, &P_A1, 15);
	world_exit(&w, AT_STOP + 1, CG_A1, &P_A1, EXIT(0));
	world_empty(&w, AT_STOP + 2, CG_A1);
	world_clear(&w);
	world_init(&w, SEC(201), CG_A1, &second);
	world_exit(&w, SEC(300), CG_A1, &second, EXIT(1));
	world_empty(&w, SEC(300) + 1, CG_A1);
	/* Nothing of the first life is left in the second. */
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, 0);
	assert_false(world_stop(&w)->stop_signal.known || world_stop(&w)->latency_known);
	assert_int_equal(world_stop(&w)->process.pid, 5000);
	world_close(&w);
}

/* What a shell's signal had it pass on is not what the runtime's did. */
static void test_forwards_anew(void **state)
{
	const struct shot on = {.sig = 15,
				.from = &P_A1,
				.to = &P_A1_CHILD,
				.flags = GRACED_SIG_FORWARDED,
				.not_init = true};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, AT_INIT, CG_A1, &P_A1);
	world_from(&w, AT_STOP, CG_A1, &P_A1, 15, &P_SHELL);
	world_shot(&w, AT_STOP + 1, CG_A1, &on);
	world_managed(&w, AT_STOP + SEC(5), CG_A1, &P_A1, 15);
	world_shot(&w, AT_STOP + SEC(5) + 2, CG_A1, &on);
	world_exit(&w, AT_STOP + SEC(6), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, AT_STOP + SEC(6) + 1, CG_A1);
	assert_int_equal(world_stop(&w)->forward.count, 1);
	assert_int_equal(world_stop(&w)->forward.after_ns, 2);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an exit is graceful when it was asked for, and else judged by its code",
		      test_exited),
		CLAIM("a second stop signal does not restart the clock, a manager's first does",
		      test_repeats),
		CLAIM("a request lapses by its time, with a timer or without", test_lapse),
		CLAIM("a kill after the lapse came without a request", test_kill_after_the_lapse),
		CLAIM("what is passed on is reported of the request that counts",
		      test_forwards_anew),
		CLAIM("a second life in the same cgroup is judged on its own", test_two_lives),
	};

	return cmocka_run_group_tests_name("core/engine: stops", tests, NULL, NULL);
}
