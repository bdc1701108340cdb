// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/life beyond those of test_life_walk.c, grace.json and
 * pod_worker.json of tests/vectors. */
#include "core/pods/life.h"
#include "lib/claim.h"

static struct podlife at_stage(enum pod_stage stage)
{
	return (struct podlife){
		.stage = stage,
		.synced_ns = 1,
		.started_ns = 2,
		.terminating_ns = stage >= POD_STAGE_TERMINATING ? 3 : 0,
		.terminated_ns = stage >= POD_STAGE_TERMINATED ? 4 : 0,
		.grace_s = stage >= POD_STAGE_TERMINATING ? 30 : 0,
	};
}

static void test_whole(void **state)
{
	const struct podlife_update wanted = {.anew = true};
	const struct podlife_update deleted = {.deleting = true, .deletion_grace = {true, 30}};
	struct podlife l = {};

	assert_true(podlife_update(&l, &wanted, 10));
	assert_false(podlife_update(&l, &wanted, 11));
	assert_true(podlife_update(&l, &deleted, 12));
	assert_true(podlife_step(&l, PODLIFE_STOPPED, NULL, 13));
	assert_true(podlife_step(&l, PODLIFE_REMOVED, NULL, 14));
	assert_int_equal(l.stage, POD_STAGE_FINISHED);
	assert_int_equal(l.synced_ns, 10);
	assert_int_equal(l.started_ns, 10);
	assert_int_equal(l.terminating_ns, 12);
	assert_int_equal(l.terminated_ns, 13);
	assert_int_equal(l.grace_s, 30);
	assert_true(l.deleted);
}

static void test_known_to_the_runtime_alone(void **state)
{
	const struct podlife_update started = {.anew = true}, ended = {.kill = true, .quiet = true};
	struct podlife l = {};

	podlife_update(&l, &started, 10);
	podlife_update(&l, &ended, 11);
	assert_int_equal(l.stage, POD_STAGE_TERMINATING);
	assert_int_equal(l.grace_s, 1);
	assert_false(l.deleted);
}

static void test_anew(void **state)
{
	const struct podlife_update anew = {.anew = true};
	struct podlife l = at_stage(POD_STAGE_FINISHED);

	assert_false(podlife_is_done(&l, true));
	assert_true(podlife_is_done(&l, false));
	assert_false(podlife_update(&l, &anew, 10));
	assert_true(podlife_is_done(&l, true));
	l = at_stage(POD_STAGE_TERMINATED);
	podlife_update(&l, &anew, 10);
	assert_false(podlife_is_done(&l, false));
}

static void test_forgotten(void **state)
{
	struct podlife l = at_stage(POD_STAGE_FINISHED);

	assert_true(podlife_step(&l, PODLIFE_ORPHANED, NULL, 10));
	for (int event = 0; event < PODLIFE_EVENT_COUNT; event++)
		assert_false(podlife_step(&l, (enum podlife_event)event, NULL, 11));
	assert_int_equal(l.stage, POD_STAGE_FORGOTTEN);
}

static void test_valid(void **state)
{
	struct podlife bad[] = {
		at_stage(POD_STAGE_NONE),	 at_stage(POD_STAGE_FORGOTTEN),
		at_stage((enum pod_stage)99),	 at_stage(POD_STAGE_SYNC),
		at_stage(POD_STAGE_SYNC),	 at_stage(POD_STAGE_SYNC),
		at_stage(POD_STAGE_TERMINATING), at_stage(POD_STAGE_TERMINATING),
		at_stage(POD_STAGE_TERMINATED),	 at_stage(POD_STAGE_TERMINATED),
		at_stage(POD_STAGE_FINISHED),
	};

	for (int stage = POD_STAGE_SYNC; stage <= POD_STAGE_FINISHED; stage++) {
		const struct podlife good = at_stage((enum pod_stage)stage);

		assert_true(podlife_is_valid(&good, false));
	}
	bad[3].synced_ns = 0;
	bad[4].grace_s = 1;
	bad[5].terminating_ns = 3;
	bad[6].terminated_ns = 4;
	bad[7].grace_s = -1;
	bad[8].started_ns = 0;
	bad[9].terminating_ns = 0;
	bad[10].terminated_ns = 0;
	for (size_t i = 0; i < LEN(bad); i++)
		if (podlife_is_valid(&bad[i], false))
			fail_msg("row %zu", i);
}

/* Only a static pod waits to start. */
static void test_waiting(void **state)
{
	const struct podlife_update update = {.anew = true, .waits = true};
	const struct podlife_update deleted = {.deleting = true};
	struct podlife l = {};

	podlife_update(&l, &update, 10);
	assert_true(podlife_is_waiting(&l));
	assert_true(podlife_is_valid(&l, true));
	assert_false(podlife_is_valid(&l, false));
	assert_true(podlife_holds_name(&l, true));
	assert_false(podlife_holds_name(&l, false));
	assert_true(podlife_start(&l, 11));
	assert_false(podlife_start(&l, 12) || podlife_is_waiting(&l));
	assert_int_equal(l.started_ns, 11);
	assert_true(podlife_holds_name(&l, false));
	podlife_update(&l, &deleted, 13);
	assert_true(podlife_holds_name(&l, false));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod goes through all its stages, each with its time", test_whole),
		CLAIM("a pod that the runtime alone knows ends with 1 s, and is not deleted",
		      test_known_to_the_runtime_alone),
		CLAIM("a UID that comes anew waits for its record to be given up", test_anew),
		CLAIM("nothing happens to what is forgotten", test_forgotten),
		CLAIM("a saved life that no pod can have is refused", test_valid),
		CLAIM("a static pod that waits has not started, and holds its name against later ones",
		      test_waiting),
	};

	return cmocka_run_group_tests_name("core/pods/life", tests, NULL, NULL);
}
