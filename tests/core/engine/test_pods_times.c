// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: which times of a pod are known where a source says so now and then. */
#include "lib/claim.h"
#include "lib/engine/world_pods.h"

/* What is known by its answers alone happened between two of them. */
static void test_between(void **state)
{
	static const struct {
		bool signalled;
		uint64_t before_ns, heard_ns;
		bool timed;
	} rows[] = {
		{false, SEC(19), SEC(20), true},      {false, SEC(18), SEC(20), true},
		{false, SEC(18), SEC(20) + 1, false}, {false, SEC(12), SEC(20), false},
		{true, SEC(12), SEC(28), true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_pod pod = world_pod_a();
		const uint32_t gaps = rows[i].timed ? 0 : GAP(TIME_UNCERTAIN);
		const struct record_pod_state *r;
		struct world w;

		world_open_pod(&w, true);
		world_lists(&w, rows[i].before_ns, &pod);
		if (rows[i].signalled)
			world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		pod = world_pod_deleted(SEC(20), SEC(30));
		pod.asked_ns = SEC(20);
		world_lists(&w, rows[i].heard_ns, &pod);
		world_end_pod(&w, SEC(30));
		for (size_t move = 1; move < 4; move++) {
			r = world_move(&w, move);
			assert_int_equal(r->state, POD_STAGE_SYNC + move);
			assert_int_equal(r->gaps, gaps);
			assert_int_equal(r->terminating_ns, rows[i].timed ? SEC(20) : 0);
			assert_int_equal(r->deadline_ns, rows[i].timed ? SEC(50) : 0);
			assert_int_equal(r->grace.ns, SEC(30));
		}
		assert_int_equal(world_move(&w, 1)->at_ns, SEC(20));
		world_close(&w);
	}
}

static void test_seen_first(void **state)
{
	struct world w;

	/* It ran before, nobody knows since when. */
	world_open_bare(&w, NULL);
	world_found(&w, SEC(1), CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A);
	world_found(&w, SEC(1), CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	world_init(&w, SEC(1), CG_A1, &P_A1);
	world_attach(&w, SEC(2));
	world_names(&w, SEC(2), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	assert_int_equal(world_move(&w, 0)->gaps, GAP(ATTACHED_LATE));
	world_close(&w);
	world_open_pod(&w, false);
	assert_int_equal(world_move(&w, 0)->gaps, 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what is known by answers that are far apart has no time", test_between),
		CLAIM("a pod that was there before has no time at which it began", test_seen_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
