// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: which process it takes for a container's init, and whose end it
 * reports. */
#include "core/engine.h"

#include "lib/claim.h"
#include "lib/world.h"

/* Another process in the cgroup of A1. */
static struct graced_proc second_life(void)
{
	struct graced_proc p = P_A1;

	p.pid = 5000;
	p.start_ns = SEC(150);
	return p;
}

/* The pid of the dead is used again at once: by the tick of /proc and no further it is the same. */
static void test_pid_reused(void **state)
{
	static const struct {
		uint64_t apart;
		bool same;
	} rows[] = {{0, true},		{MSEC(10) - 1, true}, {MSEC(10), false},
		    {MSEC(100), false}, {MSEC(999), false},   {SEC(1), false}};
	struct world w;

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct graced_proc second = P_A1;

		second.start_ns += rows[i].apart;
		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
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

/* Before PID 1 of the container came in, a process of a lower rank was taken for init. */
static void test_better_init(void **state)
{
	const struct graced_proc second = second_life();
	struct world w;

	(void)state;
	world_open(&w, NULL);
	world_ranked(&w, SEC(10), CG_A1, &P_A1, GRACED_INIT_FIRST);
	world_ranked(&w, SEC(11), CG_A1, &second, GRACED_INIT_PID1);
	/* On another CPU it was init still when it left. */
	world_exit(&w, SEC(11) + 1, CG_A1, &P_A1, EXIT(0));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_exit(&w, SEC(160), CG_A1, &second, EXIT(3));
	world_empty(&w, SEC(161), CG_A1);
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->process.pid, second.pid);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pid used again within a second is another process", test_pid_reused),
		CLAIM("a better init replaces a worse one without a record", test_better_init),
	};

	return cmocka_run_group_tests_name("engine_inits", tests, NULL, NULL);
}
