// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what it makes of records that were not made to save what they cost. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

static void shed(struct world *w, uint64_t at, uint64_t id, bool on)
{
	const struct obs obs = {.type = OBS_SHED, .at_ns = at, .shed = {.id = id, .on = on}};

	world_tell(w, &obs);
}

static void life(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *init)
{
	world_init(w, at, id, init);
	world_exit(w, at + SEC(1), id, init, EXIT(0));
	world_empty(w, at + SEC(2), id);
}

static void test_shed(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	shed(&w, SEC(11), CG_A1, true);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21), CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(SHED));
	world_clear(&w);
	life(&w, SEC(12), CG_B1, &P_B1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

static void test_for_a_while(void **state)
{
	struct graced_proc next = P_A1;
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	shed(&w, SEC(11), CG_A1, true);
	shed(&w, SEC(12), CG_A1, false);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21), CG_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(SHED));

	/* The next life in the same cgroup was followed in full. */
	world_clear(&w);
	next.pid = 5000;
	next.start_ns = SEC(30);
	life(&w, SEC(30), CG_A1, &next);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

static void test_before(void **state)
{
	struct world w;

	world_open(&w, NULL);
	shed(&w, SEC(5), CG_A1, true);
	life(&w, SEC(10), CG_A1, &P_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(SHED));
	world_close(&w);
}

/* What signal a shed container's init died of may have been among what was not recorded. */
static void test_crash(void **state)
{
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	shed(&w, SEC(11), CG_A1, true);
	world_exit(&w, SEC(20), CG_A1, &P_A1, 31);
	world_empty(&w, SEC(21), CG_A1);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(SHED));
	world_close(&w);
}

/* A stop signal comes, and after it signals that are only counted, in one life or the next. */
static void test_limited(void **state)
{
	static const struct {
		uint64_t on_ns, off_ns, suppressed;
		uint32_t gaps;
	} want[] = {
		{SEC(11), 0, 0, 0},
		{SEC(11), 0, 5, GAP(SUPPRESSED) | GAP(SHED)},
		{SEC(5), SEC(15), 5, GAP(SUPPRESSED) | GAP(SHED)},
		/* It was over before this life began: its own processes sent too many. */
		{SEC(5), SEC(6), 5, GAP(SUPPRESSED)},
		{0, 0, 5, GAP(SUPPRESSED)},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct graced_counts counts = {.suppressed = want[i].suppressed};
		struct world w;

		world_open(&w, NULL);
		if (want[i].on_ns && want[i].on_ns < SEC(10))
			shed(&w, want[i].on_ns, 0, true);
		if (want[i].off_ns && want[i].off_ns < SEC(10))
			shed(&w, want[i].off_ns, 0, false);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		if (want[i].on_ns > SEC(10))
			shed(&w, want[i].on_ns, 0, true);
		if (want[i].off_ns > SEC(10))
			shed(&w, want[i].off_ns, 0, false);
		world_managed(&w, SEC(19), CG_A1, &P_A1, 15);
		world_exit_counted(&w, SEC(20), CG_A1, &P_A1, EXIT(0), &counts);
		world_empty_counted(&w, SEC(21), CG_A1, &counts);
		assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, want[i].gaps);
		world_close(&w);
	}
}

static void test_unknown(void **state)
{
	struct world w;

	world_open(&w, NULL);
	shed(&w, SEC(5), 999, true);
	shed(&w, SEC(5), CG_POD_A, true);
	life(&w, SEC(10), CG_A1, &P_A1);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what was shed of a container is a gap, in its evidence alone", test_shed),
		CLAIM("shedding for a while is a gap for that life only", test_for_a_while),
		CLAIM("a life that begins while its container is shed has the gap", test_before),
		CLAIM("a death of a signal nobody saw is not put down to the container itself",
		      test_crash),
		CLAIM("signals that were suppressed while they were limited to save work are shed",
		      test_limited),
		CLAIM("shedding of what is no container changes nothing", test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
