// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/worker: a record that another worker had goes on as it would have there. */
#include <errno.h>

#include "core/pods/worker.h"
#include "lib/claim.h"

#define UID "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"

static struct podworker_restored at_stage(enum pod_stage stage)
{
	return (struct podworker_restored){
		.uid = UID,
		.stage = stage,
		.synced_ns = 1,
		.started_ns = 2,
		.terminating_ns = stage >= POD_STAGE_TERMINATING ? 3 : 0,
		.terminated_ns = stage >= POD_STAGE_TERMINATED ? 4 : 0,
		.grace_s = stage >= POD_STAGE_TERMINATING ? 30 : 0,
	};
}

static struct podworker *worker(void)
{
	const struct podworker_config config = {};
	struct podworker *pw;

	assert_int_equal(podworker_new(&config, &pw), 0);
	return pw;
}

static void end_call(struct podworker *pw, enum podworker_result result)
{
	const struct podworker_outcome outcome = {.result = result};

	assert_int_equal(podworker_done(pw, UID, &outcome, 10), 0);
}

static void test_goes_on(void **state)
{
	for (int stage = POD_STAGE_SYNC; stage <= POD_STAGE_FINISHED; stage++) {
		const struct podworker_restored rec = at_stage((enum pod_stage)stage);
		struct podworker *pw = worker();
		struct podworker_call call;

		assert_int_equal(podworker_restore(pw, &rec), 0);
		assert_int_equal(podworker_restore(pw, &rec), -EEXIST);
		assert_null(podworker_ready(pw));
		if (stage == POD_STAGE_TERMINATING) {
			end_call(pw, PODWORKER_OK);
			assert_int_equal(podworker_start(pw, UID, 11, 0, &call), 1);
			assert_int_equal(call.kind, PODWORKER_CALL_TERMINATED_POD);
		}
		if (stage == POD_STAGE_TERMINATING || stage == POD_STAGE_TERMINATED) {
			end_call(pw, PODWORKER_OK);
			assert_true(podworker_status(pw, UID)->finished);
		}
		podworker_drop(pw, UID);
		assert_null(podworker_status(pw, UID));
		podworker_free(pw);
	}
}

/* docs/kubelet-rules.md, "Effective grace period": periods only shrink. */
static void test_ends(void **state)
{
	const struct podworker_restored sync = at_stage(POD_STAGE_SYNC);
	const struct podworker_restored going = at_stage(POD_STAGE_TERMINATING);
	struct podworker_pod pod = {.uid = UID, .deleting = true, .deletion_grace = {true, 40}};
	const struct podworker_update update = {.type = PODWORKER_UPDATE, .pod = &pod};
	struct podworker *pw = worker();
	struct podworker_call call;

	assert_int_equal(podworker_restore(pw, &sync), 0);
	assert_int_equal(podworker_update(pw, &update, 5), 0);
	assert_int_equal(podworker_start(pw, UID, 6, 0, &call), 1);
	assert_int_equal(call.kind, PODWORKER_CALL_TERMINATING_POD);
	assert_int_equal(call.grace.s, 40);
	podworker_drop(pw, UID);
	assert_int_equal(podworker_restore(pw, &going), 0);
	assert_int_equal(podworker_update(pw, &update, 5), 0);
	assert_int_equal(podworker_status(pw, UID)->grace_s, 30);
	pod.deletion_grace.s = 5;
	assert_int_equal(podworker_update(pw, &update, 6), 0);
	assert_int_equal(podworker_status(pw, UID)->grace_s, 5);
	podworker_free(pw);
}

static void test_refused(void **state)
{
	struct podworker_restored bad[] = {
		at_stage(POD_STAGE_NONE),	 at_stage(POD_STAGE_FORGOTTEN),
		at_stage((enum pod_stage)99),	 at_stage(POD_STAGE_SYNC),
		at_stage(POD_STAGE_SYNC),	 at_stage(POD_STAGE_SYNC),
		at_stage(POD_STAGE_TERMINATING), at_stage(POD_STAGE_TERMINATING),
		at_stage(POD_STAGE_TERMINATED),	 at_stage(POD_STAGE_TERMINATED),
		at_stage(POD_STAGE_FINISHED),	 at_stage(POD_STAGE_SYNC),
	};
	struct podworker *pw = worker();
	struct podworker_stats stats;

	bad[3].synced_ns = 0;
	bad[4].grace_s = 1;
	bad[5].terminating_ns = 3;
	bad[6].terminated_ns = 4;
	bad[7].grace_s = -1;
	bad[8].started_ns = 0;
	bad[9].terminating_ns = 0;
	bad[10].terminated_ns = 0;
	bad[11].uid = "";
	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(podworker_restore(pw, &bad[i]), -EINVAL);
	podworker_get_stats(pw, &stats);
	assert_int_equal(stats.pods, 0);
	podworker_free(pw);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a record goes on from each stage, and can be dropped", test_goes_on),
		CLAIM("it ends as any other, and its grace only gets shorter", test_ends),
		CLAIM("what no worker can have is refused", test_refused),
	};

	return cmocka_run_group_tests_name("core/pods/worker: taken up", tests, NULL, NULL);
}
