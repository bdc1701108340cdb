// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: for how long the kubelet has a pod as Ready that is being stopped. */
#include "lib/claim.h"
#include "lib/world_pods.h"

#define US(n) ((uint64_t)(n)*1000)

static void test_ready_measured(void **state)
{
	const struct record *record;
	struct meta_pod pod;
	struct world w;

	(void)state;
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	pod.asked_ns = SEC(20) + MSEC(1);
	world_lists(&w, SEC(20) + MSEC(5), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, SEC(20));
	/* An answer that was overtaken changes nothing. */
	pod.ready = false;
	pod.asked_ns = SEC(19);
	world_say_pod(&w, SEC(21), &pod);
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	pod.asked_ns = SEC(22);
	world_lists(&w, SEC(22) + MSEC(5), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	world_end_pod(&w, SEC(25));
	world_lists_not(&w, SEC(26));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
	record = world_record(&w, RECORD_POD_READY, 0);
	assert_int_equal(record->at_ns, SEC(22));
	assert_int_equal(record->pod_ready.stop_ns, SEC(20));
	assert_int_equal(record->pod_ready.until_ns, SEC(22));
	assert_false(record->pod_ready.gone);
	assert_string_equal(record->pod_ready.id, WORLD_BOOT "/" WORLD_UID_A "/ready/20000000000");
	assert_string_equal(record->pod_ready.pod.workload, "web");
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 0);
	world_close(&w);
}

/* Its deletion is told before its containers are: a hook runs first. */
static void test_ready_until_gone(void **state)
{
	const struct record_pod_ready *ready;
	struct meta_pod pod;
	struct world w;

	(void)state;
	world_open_ready(&w);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), true);
	world_lists(&w, SEC(20), &pod);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, 0);
	world_managed(&w, SEC(24), CG_A1, &P_A1, 15);
	world_managed(&w, SEC(25), CG_A1, &P_A1, 15);
	assert_int_equal(world_view(&w, WORLD_UID_A).ready_stop_ns, SEC(24));
	world_end_pod(&w, SEC(26));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_lists_not(&w, SEC(30));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 1);
	ready = &world_record(&w, RECORD_POD_READY, 0)->pod_ready;
	assert_int_equal(ready->stop_ns, SEC(24));
	assert_int_equal(ready->until_ns, SEC(30));
	assert_true(ready->gone);
	assert_string_equal(ready->pod.name, "web-0");
	world_close(&w);
}

/* Once it has ended the next list but one would tell of a moment long past. */
static void test_ready_asked(void **state)
{
	struct meta_pod pod;
	struct world w;
	size_t asked;

	(void)state;
	for (int ready = 0; ready < 2; ready++) {
		world_open_ready(&w);
		pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), ready);
		world_lists(&w, SEC(20), &pod);
		world_managed(&w, SEC(21), CG_A1, &P_A1, 15);
		world_stop_sandbox(&w, SEC(25));
		asked = world_effects(&w, EFFECT_FIND_POD);
		world_exit(&w, SEC(26), CG_A1, &P_A1, EXIT(0));
		world_empty(&w, SEC(26) + US(1), CG_A1);
		world_pod_empty(&w, SEC(26) + US(2));
		assert_int_equal(world_view(&w, WORLD_UID_A).stage, PODWORKER_STAGE_TERMINATED);
		assert_int_equal(world_effects(&w, EFFECT_FIND_POD), asked + (size_t)ready);
		world_close(&w);
	}
}

static void test_ready_not_measured(void **state)
{
	struct meta_pod pod;
	struct world w;

	(void)state;
	/* It was not Ready when it was told to stop. */
	world_open_ready(&w);
	pod = world_pod_ready(world_pod_a(), false);
	world_lists(&w, SEC(15), &pod);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_deleted(SEC(20), SEC(30)), false);
	world_lists(&w, SEC(21), &pod);
	world_end_pod(&w, SEC(22));
	world_lists_not(&w, SEC(23));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
	/* A probe's stop is none of its pod's, and a completed pod was not stopped. */
	world_open_ready(&w);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	pod = world_pod_ready(world_pod_a(), false);
	world_lists(&w, SEC(21), &pod);
	world_exit(&w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(22) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(60));
	pod = world_pod_ready(world_pod_a(), false);
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(61), &pod);
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
}

/* Nobody told its container to stop, and a sandbox serves nobody. */
static void test_ready_completed(void **state)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), false);
	struct world w;

	(void)state;
	world_open_ready(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + US(1), CG_A1);
	world_stop_sandbox(&w, SEC(21));
	pod.phase = META_PHASE_SUCCEEDED;
	world_lists(&w, SEC(23), &pod);
	world_lists_not(&w, SEC(24));
	assert_int_equal(world_count(&w, RECORD_POD_READY), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("how long a pod is Ready while it stops is told by the lists' times",
		      test_ready_measured),
		CLAIM("a pod that goes while Ready was so until it was gone",
		      test_ready_until_gone),
		CLAIM("the kubelet is asked at the end of a pod that is Ready", test_ready_asked),
		CLAIM("what was not Ready, or not stopped, is not measured",
		      test_ready_not_measured),
		CLAIM("a sandbox's stop is not measured", test_ready_completed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
