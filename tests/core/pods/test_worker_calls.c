// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/worker: grace periods, calls and delays (docs/kubelet-rules.md,
 * "Effective grace period", "Sync calls", "Requeue delays" and "Blocking kill"). */
#include <errno.h>

#include "lib/claim.h"
#include "lib/pods/podrun.h"

static void says(struct podrun *run, const char *words)
{
	assert_string_equal(podrun_log(run), words);
}

/* A pod "1" that runs, and nothing more to do. */
static struct podworker_pod running_pod(struct podrun *run)
{
	struct podworker_pod pod = podrun_pod("1", 30);

	podrun_begin(run);
	assert_int_equal(podrun_update(run, PODWORKER_CREATE, &pod), 0);
	podrun_drain(run);
	says(run, "1 sync; SyncPod 1; create; requeue 1 60s");
	return pod;
}

static void the_effective_grace_period_is_the_kubelets(void **state)
{
#define NONE \
	{    \
	}
#define S(n)            \
	{               \
		true, n \
	}
	static const struct {
		int64_t stored;
		struct pod_seconds deletion, override, spec;
		int64_t grace;
		bool shortened;
	} rows[] = {
		{0, NONE, NONE, S(30), 30, false},
		{0, NONE, NONE, NONE, 1, false},
		{0, NONE, NONE, S(-1), 1, false},
		{0, S(5), NONE, S(30), 5, false},
		{0, S(0), NONE, S(30), 1, false},
		{0, S(5), S(20), S(30), 5, false},
		{0, S(5), S(3), S(30), 3, false},
		{0, NONE, S(120), S(30), 120, false},
		{0, S(0), S(10), S(30), 10, false},
		{5, NONE, S(60), S(30), 5, false},
		{5, NONE, NONE, S(1), 5, false},
		{30, S(0), NONE, S(30), 1, true},
		{1, NONE, S(0), S(30), 1, false},
		{1, S(0), S(10), S(30), 10, true},
		{30, S(10), S(3), S(30), 3, true},
		{30, S(INT64_MIN), S(INT64_MAX), S(30), 1, true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		bool shortened;

		assert_int_equal(podworker_effective_grace(rows[i].stored, rows[i].deletion,
							   rows[i].override, rows[i].spec,
							   &shortened),
				 rows[i].grace);
		assert_int_equal(shortened, rows[i].shortened);
	}
}

static void a_blocking_kill_waits_one_and_a_half_grace_periods(void **state)
{
	static const struct {
		struct pod_seconds override, spec;
		int64_t seconds;
	} rows[] = {
		{NONE, NONE, 10},	  {NONE, S(30), 45},
		{S(0), S(30), 10},	  {S(3), S(30), 10},
		{S(7), S(30), 10},	  {S(11), S(30), 16},
		{S(-100), NONE, 10},	  {S(INT64_MAX), NONE, INT64_MAX},
		{S(INT64_MIN), NONE, 10},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(podworker_kill_timeout(rows[i].override, rows[i].spec),
				 rows[i].seconds);
}

static void an_update_during_a_call_is_looked_at_after_it(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_update(&run, PODWORKER_UPDATE, &pod), 0);
	podrun_start(&run, "1");
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	assert_null(podworker_ready(run.pw));
	assert_int_equal(podrun_start(&run, "1"), -ENOENT);
	podrun_done(&run, "1", PODWORKER_OK);
	assert_string_equal(podworker_ready(run.pw), "1");
	podrun_start(&run, "1");
	says(&run, "SyncPod 1; update; cancel 1; 1 terminating; requeue 1 60s; "
		   "SyncTerminatingPod 1; grace 30");
	podrun_end(&run);
}

static void a_pod_that_is_killed_as_it_ends_ends_as_it_was_killed(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_update(&run, PODWORKER_UPDATE, &pod), 0);
	podrun_start(&run, "1");
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	run.now += PODRUN_SECOND;
	podrun_done(&run, "1", PODWORKER_TERMINAL);
	podrun_start(&run, "1");
	says(&run, "SyncPod 1; update; cancel 1; 1 terminating; requeue 1 0s; "
		   "SyncTerminatingPod 1; grace 30");
	assert_int_equal(podworker_status(run.pw, "1")->terminating_ns, 100 * PODRUN_SECOND);
	podrun_end(&run);
}

static void of_two_updates_the_newer_stands_since_the_older_waits(void **state)
{
	struct podworker_pod pod = podrun_pod("1", 30);
	struct podworker_update update = {.type = PODWORKER_CREATE, .pod = &pod, .start_ns = 5};
	struct podworker_call call;
	struct podrun run;

	podrun_begin(&run);
	assert_int_equal(podworker_update(run.pw, &update, run.now), 0);
	update.type = PODWORKER_UPDATE;
	update.start_ns = 9;
	assert_int_equal(podworker_update(run.pw, &update, run.now), 0);
	assert_int_equal(podworker_start(run.pw, "1", run.now, 0, &call), 1);
	assert_int_equal(call.type, PODWORKER_UPDATE);
	assert_int_equal(call.start_ns, 5);
	podrun_end(&run);
}

static void a_call_wants_what_the_runtime_says_after_the_one_before(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);
	struct podworker_call call;

	run.now += PODRUN_SECOND;
	assert_int_equal(podrun_update(&run, PODWORKER_SYNC, &pod), 0);
	assert_int_equal(podworker_start(run.pw, "1", run.now, 0, &call), 1);
	assert_int_equal(call.newer_than_ns, 100 * PODRUN_SECOND);
	podrun_done(&run, "1", PODWORKER_NO_STATUS);
	assert_int_equal(podrun_update(&run, PODWORKER_SYNC, &pod), 0);
	assert_int_equal(podworker_start(run.pw, "1", run.now, 0, &call), 1);
	assert_int_equal(call.newer_than_ns, 100 * PODRUN_SECOND);
	podrun_done(&run, "1", PODWORKER_FAILED);
	assert_int_equal(podrun_update(&run, PODWORKER_SYNC, &pod), 0);
	assert_int_equal(podworker_start(run.pw, "1", run.now, 0, &call), 1);
	assert_int_equal(call.newer_than_ns, 101 * PODRUN_SECOND);
	podrun_end(&run);
}

static void delays_follow_the_error_and_grow_by_half_at_most(void **state)
{
	static const struct podworker_config config = {.resync_ns = 20 * PODRUN_SECOND,
						       .backoff_ns = 10 * PODRUN_SECOND};
	static const struct podworker_error plain = {.text = "x"},
					    network = {.text = "the network is not ready: y"},
					    in5 = {.backs_off = true, .until_ns = 105000000000},
					    in99 = {.backs_off = true, .until_ns = 199000000000},
					    past = {.backs_off = true, .until_ns = INT64_MIN};
	const struct {
		enum podworker_result result;
		bool moved;
		struct podworker_error errors[2];
		size_t n;
		uint32_t jitter;
		uint64_t ms;
	} rows[] = {
		{PODWORKER_OK, true, {}, 0, 500, 0},
		{PODWORKER_FAILED, true, {plain}, 1, 500, 0},
		{PODWORKER_OK, false, {}, 0, 0, 20000},
		{PODWORKER_OK, false, {}, 0, 250, 25000},
		{PODWORKER_OK, false, {}, 0, 99999, 30000},
		{PODWORKER_CANCELLED, false, {}, 0, 0, 10000},
		{PODWORKER_NO_STATUS, false, {}, 0, 0, 10000},
		{PODWORKER_FAILED, false, {plain}, 1, 0, 10000},
		{PODWORKER_FAILED, false, {in5, network}, 2, 0, 1000},
		{PODWORKER_FAILED, false, {plain, in5}, 2, 500, 7500},
		{PODWORKER_FAILED, false, {in99, in5}, 2, 0, 5000},
		{PODWORKER_FAILED, false, {in99}, 1, 0, 20000},
		{PODWORKER_FAILED, false, {in5, past}, 2, 500, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct podworker_outcome outcome = {rows[i].result, rows[i].errors, rows[i].n,
							  rows[i].jitter};

		assert_int_equal(podworker_requeue_ns(&config, rows[i].moved, &outcome,
						      100 * PODRUN_SECOND),
				 rows[i].ms * 1000000);
	}
}

static void an_end_of_no_call_is_counted(void **state)
{
	const struct podworker_outcome outcome = {};
	struct podworker_stats stats;
	struct podrun run;

	running_pod(&run);
	assert_int_equal(podworker_done(run.pw, "1", &outcome, run.now), -ENOENT);
	assert_int_equal(podworker_done(run.pw, "2", &outcome, run.now), -ENOENT);
	podworker_get_stats(run.pw, &stats);
	assert_int_equal(stats.unexpected, 2);
	podrun_end(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the effective grace period is the kubelet's",
		      the_effective_grace_period_is_the_kubelets),
		CLAIM("a blocking kill waits one and a half grace periods",
		      a_blocking_kill_waits_one_and_a_half_grace_periods),
		CLAIM("an update during a call is looked at after it",
		      an_update_during_a_call_is_looked_at_after_it),
		CLAIM("a pod that is killed as it ends by itself ends as it was killed",
		      a_pod_that_is_killed_as_it_ends_ends_as_it_was_killed),
		CLAIM("of two updates the newer stands, since when the older waits",
		      of_two_updates_the_newer_stands_since_the_older_waits),
		CLAIM("a call wants what the runtime says after the one before",
		      a_call_wants_what_the_runtime_says_after_the_one_before),
		CLAIM("delays follow the error and grow by half at most",
		      delays_follow_the_error_and_grow_by_half_at_most),
		CLAIM("an end of no call is counted", an_end_of_no_call_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
