// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: inits that the kernel kills for others, and what they take along. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

/* The memory of init ran out at some level; the record of the kill came before. */
static void oom_kill(struct world *w, bool recorded, uint64_t level, uint32_t flags)
{
	const struct obs oom = {
		.type = OBS_OOM,
		.at_ns = SEC(20) + 9000,
		.oom = {.id = CG_A1,
			.level_id = level,
			.flags = flags | GRACED_OOM_INIT,
			.victim = P_A1},
	};
	struct obs exit = {
		.type = OBS_EXIT,
		.at_ns = SEC(20) + 90000,
		.exit = {.id = CG_A1,
			 .status = 9,
			 .flags = GRACED_EXIT_INIT | GRACED_EXIT_OOM_VICTIM,
			 .proc = P_A1,
			 .counts = {.exits = 1, .oom_kills = 1}},
	};

	world_init(w, SEC(10), CG_A1, &P_A1);
	world_shot(w, SEC(20), CG_A1,
		   &(struct shot){.sig = 9,
				  .from = &P_B1,
				  .to = &P_A1,
				  .flags = GRACED_SIG_INFO_PRIV | GRACED_SIG_GROUP});
	if (recorded)
		world_tell(w, &oom);
	world_tell(w, &exit);
	world_empty_counted(w, SEC(21), CG_A1, &exit.exit.counts);
}

static void test_oom(void **state)
{
	static const struct {
		const char *what;
		bool recorded;
		uint64_t level;
		uint32_t flags;
		enum cause cause;
		uint32_t gaps;
	} want[] = {
		{"its own limit", true, CG_A1, GRACED_OOM_LEVEL_KNOWN, CAUSE_OOM_CONTAINER, 0},
		{"a limit below it", true, 0, GRACED_OOM_LEVEL_KNOWN | GRACED_OOM_BELOW,
		 CAUSE_OOM_CONTAINER, 0},
		{"its pod's limit", true, CG_POD_A, GRACED_OOM_LEVEL_KNOWN, CAUSE_OOM_POD, 0},
		{"another pod's, which cannot be", true, CG_POD_B, GRACED_OOM_LEVEL_KNOWN,
		 CAUSE_OOM_NODE, 0},
		{"a limit above the pod", true, CG_KUBEPODS, GRACED_OOM_LEVEL_KNOWN, CAUSE_OOM_NODE,
		 0},
		{"the whole node", true, 0, GRACED_OOM_LEVEL_KNOWN, CAUSE_OOM_NODE, 0},
		{"an unknown level", true, CG_A1, 0, CAUSE_OOM_UNKNOWN, GAP(OOM_LEVEL)},
		{"a cgroup nobody knows", true, 4711, GRACED_OOM_LEVEL_KNOWN, CAUSE_OOM_UNKNOWN,
		 GAP(OOM_LEVEL)},
		{"the OOM's record lost", false, 0, 0, CAUSE_OOM_UNKNOWN, GAP(OOM_LEVEL)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_stop *s;
		struct world w;

		world_open(&w, NULL);
		oom_kill(&w, want[i].recorded, want[i].level, want[i].flags);
		s = world_stop(&w);
		if (s->outcome != OUTCOME_OOM_KILLED || s->cause != want[i].cause ||
		    s->gaps != want[i].gaps)
			fail_msg("%s: %s/%s, gaps %x", want[i].what, outcome_name(s->outcome),
				 cause_name(s->cause), s->gaps);
		assert_int_equal(s->oom_kills, 1);
		assert_int_equal(world_count(&w, RECORD_OOM), want[i].recorded);
		world_close(&w);
	}
}

/* The init's own record was lost, and its OOM kill is the first that is heard of it. */
static void test_oom_of_an_unknown_init(void **state)
{
	const struct obs oom = {
		.type = OBS_OOM,
		.at_ns = SEC(20),
		.oom = {.id = CG_D1,
			.level_id = CG_D1,
			.flags = GRACED_OOM_INIT | GRACED_OOM_LEVEL_KNOWN,
			.victim = P_D1},
	};
	struct world w;

	world_open(&w, NULL);
	world_tell(&w, &oom);
	assert_int_equal(world_record(&w, RECORD_OOM, 0)->oom.level, OOM_LEVEL_CONTAINER);
	assert_true(world_record(&w, RECORD_OOM, 0)->oom.init);
	assert_int_equal(world_record(&w, RECORD_OOM, 0)->oom.victim.pid, P_D1.pid);
	world_exit(&w, SEC(21), CG_D1, &P_D1, 9);
	world_empty(&w, SEC(22), CG_D1);
	assert_verdict(&w, OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER, GAP(EVENTS_LOST));
	world_close(&w);
}

/* The victim was gone on another CPU before the OOM killer said that it is one. */
static void test_oom_overtaken(void **state)
{
	const struct obs oom = {
		.type = OBS_OOM,
		.at_ns = SEC(20) + 1000,
		.oom = {.id = CG_D1,
			.level_id = CG_D1,
			.flags = GRACED_OOM_INIT | GRACED_OOM_LEVEL_KNOWN,
			.victim = P_D1},
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_D1, &P_D1);
	world_shot(&w, SEC(20), CG_D1,
		   &(struct shot){.sig = 9,
				  .from = &P_B1,
				  .to = &P_D1,
				  .flags = GRACED_SIG_INFO_PRIV | GRACED_SIG_GROUP});
	world_exit(&w, SEC(20) + 900, CG_D1, &P_D1, 9);
	world_tell(&w, &oom);
	world_empty(&w, SEC(21), CG_D1);
	assert_verdict(&w, OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER, 0);
	/* After the verdict it changes nothing. */
	world_tell(&w, &oom);
	world_gone(&w, SEC(22), CG_D1, NULL);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	world_close(&w);
}

static void test_oom_of_a_child(void **state)
{
	const struct graced_counts counts = {.exits = 2, .oom_kills = 1};
	const struct obs oom = {
		.type = OBS_OOM,
		.at_ns = SEC(20),
		.oom = {.id = CG_A1,
			.level_id = CG_A1,
			.flags = GRACED_OOM_LEVEL_KNOWN,
			.victim = P_A1_CHILD},
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_tell(&w, &oom);
	assert_false(world_record(&w, RECORD_OOM, 0)->oom.init);
	world_exit_counted(&w, SEC(21), CG_A1, &P_A1, EXIT(1), &counts);
	world_empty_counted(&w, SEC(22), CG_A1, &counts);
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->oom_kills, 1);
	world_close(&w);
}

/* Its cgroup is empty before its namespace is torn down, and others die elsewhere by that. */
static void test_teardown(void **state)
{
	const struct graced_counts counts = {.exits = 1, .collateral = 2};
	struct obs exit = {
		.type = OBS_EXIT,
		.at_ns = SEC(20),
		.exit = {.id = CG_A1,
			 .flags = GRACED_EXIT_INIT | GRACED_EXIT_NS_OTHERS,
			 .proc = P_A1,
			 .counts = {.exits = 1}},
	};
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_tell(&w, &exit);
	world_empty(&w, SEC(20) + 30000, CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	assert_int_equal(world_effect(&w, EFFECT_WAKE_AT)->at_ns, SEC(20) + 30000 + MSEC(5));
	world_timer(&w, SEC(20) + MSEC(6));
	assert_int_equal(world_effect(&w, EFFECT_READ_COUNTS)->id, CG_A1);
	world_counts(&w, SEC(20) + MSEC(6), CG_A1, false, &counts);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->collateral_kills, 2);
	assert_int_equal(world_stop(&w)->empty_ns, SEC(20) + 30000);
	world_close(&w);
}

static void test_teardown_and_name(void **state)
{
	struct obs exit = {
		.type = OBS_EXIT,
		.at_ns = SEC(20),
		.exit = {.id = 90,
			 .flags = GRACED_EXIT_INIT | GRACED_EXIT_NS_OTHERS,
			 .proc = P_A1,
			 .counts = {.exits = 1}},
	};
	struct world w;

	world_open(&w, NULL);
	world_made(&w, SEC(10), 90, CG_POD_A, HEX_64("e"));
	world_init(&w, SEC(10), 90, &P_A1);
	world_tell(&w, &exit);
	world_empty(&w, SEC(20) + 30000, 90);
	world_timer(&w, SEC(20) + MSEC(6));
	world_counts(&w, SEC(20) + MSEC(6), 90, false, &(struct graced_counts){.collateral = 2});
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_names(&w, SEC(20) + MSEC(90), WORLD_UID_A, HEX_64("e"), "default", "web-0", "job",
		    true);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->collateral_kills, 2);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an OOM kill's level is the one whose memory ran out", test_oom),
		CLAIM("an OOM kill is believed before its init is known",
		      test_oom_of_an_unknown_init),
		CLAIM("an OOM kill that the exit overtook is one", test_oom_overtaken),
		CLAIM("a child's OOM kill is counted, not init's cause", test_oom_of_a_child),
		CLAIM("a namespace's end is waited for to count whom it took", test_teardown),
		CLAIM("that does not shorten the wait for a name", test_teardown_and_name),
	};

	return cmocka_run_group_tests_name("core/engine: oom", tests, NULL, NULL);
}
