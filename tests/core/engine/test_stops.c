// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: requests to stop, and inits that exit. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/walk.h"

static void test_exited(void **state)
{
	static const struct walk want[] = {
		WALK(GRACEFUL, STOP_SIGNAL, EXIT(143), "asked, with a code", 0, SEC(1),
		     SENT(0, 15, RUNTIME)),
		WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "asked while it was pending already", 0,
		     SEC(1), SENT_AS(0, 15, RUNTIME, 2, 0)),
		WALK(GRACEFUL, SELF, EXIT(3), "deaf", 0, SEC(1),
		     SENT_AS(0, 15, RUNTIME, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL)),
		WALK(COMPLETED, SAME_CONTAINER, EXIT(0), "asked by its own child", 0, SEC(60),
		     SENT(0, 15, A1_CHILD)),
		WALK(FAILED, SAME_CONTAINER, EXIT(143),
		     "asked by its own child, while it was pending", 0, SEC(1),
		     SENT_AS(0, 15, A1_CHILD, 2, 0)),
		WALK(COMPLETED, SAME_CONTAINER, EXIT(0), "asked by itself", 0, SEC(1),
		     SENT(0, 15, A1)),
		WALK(COMPLETED, SELF, EXIT(0), "asked by its own child long before", 0, SEC(60) + 1,
		     SENT(0, 15, A1_CHILD)),
		WALK(COMPLETED, SELF, EXIT(0), "asked by its own child without its knowing", 0,
		     SEC(1), SENT_AS(0, 15, A1_CHILD, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL)),
		WALK(COMPLETED, SELF, EXIT(0), "asked by its own child with no room for it", 0,
		     SEC(1), SENT_AS(0, 37, A1_CHILD, 3, 0)),
		WALK(COMPLETED, SELF, EXIT(0),
		     "signalled by its own child, with a signal that is no request", 0, SEC(1),
		     SENT(0, 10, A1_CHILD)),
		WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "asked by its own child, then by the runtime",
		     0, SEC(2), SENT(0, 15, A1_CHILD), SENT(SEC(1), 15, RUNTIME)),
		WALK(COMPLETED, SELF, EXIT(0), "asked with no room for it", 0, SEC(1),
		     SENT_AS(0, 37, RUNTIME, 3, 0)),
		WALK(COMPLETED, SELF, EXIT(0), "asked when it was going already", 0, 1,
		     SENT_AS(0, 15, RUNTIME, 1, GRACED_SIG_GROUP_EXIT)),
		WALK(COMPLETED, SELF, EXIT(0), "killed when it was going already", 0, 1,
		     SENT_AS(0, 9, RUNTIME, 1, GRACED_SIG_GROUP_EXIT)),
		WALK(FAILED, SELF, EXIT(137), "with 137", 0, 0),
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
		{WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "asked three times", 0, SEC(3),
		      SENT(0, 15, RUNTIME), SENT_AS(SEC(1), 15, RUNTIME, 2, 0),
		      SENT(SEC(2), 2, SHELL)),
		 SEC(3), 812},
		{WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "a manager's after another pod's", 0, SEC(3),
		      SENT(0, 15, B1), SENT(SEC(1), 15, RUNTIME), SENT(SEC(2), 15, SYSTEMD)),
		 SEC(2), 812},
		{WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "another pod's after a manager's", 0, SEC(3),
		      SENT(0, 15, SYSTEMD), SENT(SEC(1), 15, B1)),
		 SEC(3), 1},
		{WALK(GRACEFUL, STOP_SIGNAL, EXIT(0), "heard the first time, ignored later", 0,
		      SEC(3), SENT(0, 15, RUNTIME),
		      SENT_AS(SEC(1), 15, RUNTIME, 1, GRACED_SIG_IGN)),
		 SEC(3), 812},
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
