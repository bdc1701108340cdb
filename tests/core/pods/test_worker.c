// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/worker: what the updates of one pod lead to (docs/kubelet-rules.md,
 * "Pod updates"). */
#include <string.h>

#include "lib/claim.h"
#include "lib/pods/podrun.h"

static const struct podworker_kill evict = {.evict = true, .grace = {true, 1}};

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

static void a_pod_is_driven_through_all_its_stages(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);
	const struct podworker_status *s;

	run.now += PODRUN_SECOND;
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	podrun_drain(&run);
	says(&run, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 30; 1 terminated; "
		   "requeue 1 0s; SyncTerminatedPod 1; 1 finished");
	s = podworker_status(run.pw, "1");
	assert_int_equal(s->synced_ns, 100 * PODRUN_SECOND);
	assert_int_equal(s->started_ns, 100 * PODRUN_SECOND);
	assert_int_equal(s->terminating_ns, 101 * PODRUN_SECOND);
	assert_int_equal(s->terminated_ns, 101 * PODRUN_SECOND);
	podrun_end(&run);
}

static void a_pod_that_ends_by_itself_gets_no_grace_period_from_the_worker(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_update(&run, PODWORKER_SYNC, &pod), 0);
	podrun_start(&run, "1");
	podrun_done(&run, "1", PODWORKER_TERMINAL);
	podrun_drain(&run);
	says(&run, "SyncPod 1; sync; 1 terminating; requeue 1 0s; SyncTerminatingPod 1; "
		   "1 terminated; requeue 1 0s; SyncTerminatedPod 1; 1 finished");
	podrun_end(&run);
}

static void a_runtime_pod_can_only_be_killed_and_is_then_forgotten(void **state)
{
	const struct podworker_running running = {"1", "ns", "pod"};
	struct podrun run;

	podrun_begin(&run);
	for (unsigned int type = PODWORKER_SYNC; type < PODWORKER_KILL; type++) {
		const struct podworker_update update = {.type = type, .running = &running};

		assert_int_equal(podworker_update(run.pw, &update, run.now), 1);
		assert_null(podworker_status(run.pw, "1"));
	}
	assert_int_equal(podrun_kill_running(&run, "1", NULL), 0);
	podrun_start(&run, "1");
	podrun_done(&run, "1", PODWORKER_FAILED);
	says(&run, "1 terminating; SyncTerminatingRuntimePod 1; grace 1; requeue 1 10s");
	assert_int_equal(podrun_kill_running(&run, "1", NULL), 0);
	podrun_drain(&run);
	says(&run, "SyncTerminatingRuntimePod 1; grace 1; 1 forgotten");
	assert_null(podworker_status(run.pw, "1"));
	podrun_end(&run);
}

static void what_the_runtime_runs_of_a_known_pod_is_killed_as_that_pod(void **state)
{
	const struct podworker_kill kill = {.grace = {true, 7}};
	struct podrun run;

	running_pod(&run);
	assert_int_equal(podrun_kill_running(&run, "1", &kill), 0);
	podrun_drain(&run);
	says(&run, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 7; 1 terminated; "
		   "requeue 1 0s; SyncTerminatedPod 1; 1 finished");
	assert_true(podworker_status(run.pw, "1")->deleted);
	assert_true(podworker_status(run.pw, "1")->observed_runtime);
	podrun_end(&run);
}

static void what_the_runtime_runs_of_a_pod_that_has_not_started_is_killed_as_that_pod(void **state)
{
	struct podworker_pod pod = podrun_pod("1", 30);
	struct podrun run;

	podrun_begin(&run);
	assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 0);
	assert_int_equal(podrun_kill_running(&run, "1", NULL), 0);
	podrun_start(&run, "1");
	says(&run, "1 sync; 1 terminating; SyncTerminatingPod 1; grace 30");
	podrun_end(&run);
}

static void what_was_over_before_it_was_seen_is_only_cleaned_up(void **state)
{
	static const struct {
		enum meta_phase phase;
		enum podworker_runtime runtime;
		const char *says;
	} rows[] = {
		{META_PHASE_FAILED, PODWORKER_RUNTIME_QUIET,
		 "1 terminated; SyncTerminatedPod 1; 1 finished"},
		{META_PHASE_SUCCEEDED, PODWORKER_RUNTIME_QUIET,
		 "1 terminated; SyncTerminatedPod 1; 1 finished"},
		{META_PHASE_SUCCEEDED, PODWORKER_RUNTIME_RUNS,
		 "1 terminating; SyncTerminatingPod 1; grace 30; 1 terminated; requeue 1 0s; "
		 "SyncTerminatedPod 1; 1 finished"},
		{META_PHASE_FAILED, PODWORKER_RUNTIME_ERROR,
		 "1 terminating; SyncTerminatingPod 1; grace 30; 1 terminated; requeue 1 0s; "
		 "SyncTerminatedPod 1; 1 finished"},
		{META_PHASE_RUNNING, PODWORKER_RUNTIME_QUIET,
		 "1 sync; SyncPod 1; create; requeue 1 60s"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct podworker_pod pod = podrun_pod("1", 30);
		struct podrun run;

		pod.phase = rows[i].phase;
		pod.runtime = rows[i].runtime;
		podrun_begin(&run);
		assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 0);
		podrun_drain(&run);
		says(&run, rows[i].says);
		podrun_end(&run);
	}
}

static void a_create_of_what_is_ending_asks_for_a_restart_and_nothing_else(void **state)
{
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	assert_false(podworker_status(run.pw, "1")->restart_requested);
	assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 1);
	assert_true(podworker_status(run.pw, "1")->restart_requested);
	podrun_drain(&run);
	podrun_log(&run);
	assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 1);
	assert_null(podworker_ready(run.pw));
	says(&run, "");
	podrun_end(&run);
}

static void nobody_is_told_about_a_kill_of_what_is_finished(void **state)
{
	const struct podworker_kill kill = {.waiter = 7};
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	podrun_drain(&run);
	podrun_log(&run);
	assert_int_equal(podrun_kill(&run, &pod, &kill), 1);
	podrun_drain(&run);
	says(&run, "");
	podrun_end(&run);
}

static void only_the_update_that_starts_the_end_says_why(void **state)
{
	struct podworker_pod pod = podrun_pod("1", 30), deleted = pod, failed = pod;
	const struct {
		const struct podworker_pod *pod;
		enum podworker_type type;
		const struct podworker_kill *kill;
		bool is_deleted, is_evicted;
	} rows[] = {
		{&deleted, PODWORKER_UPDATE, NULL, true, false},
		{&deleted, PODWORKER_KILL, &evict, true, false},
		{&failed, PODWORKER_UPDATE, NULL, false, false},
		{&failed, PODWORKER_KILL, &evict, false, false},
		{&pod, PODWORKER_KILL, NULL, false, false},
		{&pod, PODWORKER_KILL, &evict, false, true},
	};

	deleted.deleting = true;
	failed.phase = META_PHASE_FAILED;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct podworker_update update = {
			.type = rows[i].type, .pod = rows[i].pod, .kill = rows[i].kill};
		const struct podworker_status *s;
		struct podrun run;

		running_pod(&run);
		s = podworker_status(run.pw, "1");
		assert_int_equal(podworker_update(run.pw, &update, run.now), 0);
		assert_true(s->terminating_ns);
		assert_int_equal(podrun_kill(&run, &deleted, &evict), 0);
		assert_int_equal(s->deleted, rows[i].is_deleted);
		assert_int_equal(s->evicted, rows[i].is_evicted);
		podrun_end(&run);
	}
}

static void waiters_are_told_once_when_the_containers_have_stopped(void **state)
{
	struct podworker_kill kill = {.waiter = 7};
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	kill.waiter = 8;
	assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	podrun_start(&run, "1");
	podrun_done(&run, "1", PODWORKER_FAILED);
	says(&run, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 30; requeue 1 10s");
	assert_int_equal(podrun_update(&run, PODWORKER_SYNC, &pod), 0);
	podrun_start(&run, "1");
	podrun_done(&run, "1", PODWORKER_OK);
	says(&run, "SyncTerminatingPod 1; grace 30; stopped 7; stopped 8; 1 terminated; "
		   "requeue 1 0s");
	kill.waiter = 9;
	assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	podrun_drain(&run);
	says(&run, "stopped 9; SyncTerminatedPod 1; 1 finished");
	podrun_end(&run);
}

static void a_waiter_of_a_pod_that_runs_on_is_told_at_once(void **state)
{
	const struct podworker_kill kill = {.waiter = 7, .grace = {true, 3}};
	struct podworker_pod pod = podrun_pod("1", 30);
	const struct podworker_update update = {
		.type = PODWORKER_CREATE, .pod = &pod, .kill = &kill};
	struct podrun run;

	podrun_begin(&run);
	assert_int_equal(podworker_update(run.pw, &update, run.now), 0);
	says(&run, "stopped 7; 1 sync");
	podrun_drain(&run);
	podrun_log(&run);
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	podrun_start(&run, "1");
	says(&run, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 30");
	podrun_end(&run);
}

static void waiters_without_room_are_counted_and_the_kill_goes_on(void **state)
{
	struct podworker_stats stats;
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	for (uint64_t i = 1; i <= PODWORKER_MAX_WAITERS + 2; i++) {
		const struct podworker_kill kill = {.waiter = i};

		assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	}
	podworker_get_stats(run.pw, &stats);
	assert_int_equal(stats.waiters_refused, 2);
	podrun_drain(&run);
	assert_non_null(strstr(podrun_log(&run), "stopped 16; 1 terminated"));
	podrun_end(&run);
}

static void the_last_status_function_is_the_one_that_counts(void **state)
{
	struct podworker_kill kill = {.status_fn = 3};
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	kill.status_fn = 4;
	assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	podrun_drain(&run);
	says(&run, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 30; status 4; "
		   "1 terminated; requeue 1 0s; SyncTerminatedPod 1; 1 finished");
	podrun_end(&run);
}

static void only_a_shorter_grace_period_cancels_again(void **state)
{
	static const struct {
		struct pod_seconds override;
		const char *says;
	} rows[] = {
		{{true, 10}, "cancel 1; 1 terminating; SyncTerminatingPod 1; grace 10"},
		{{true, 20}, "requeue 1 10s; SyncTerminatingPod 1; grace 10"},
		{{}, "requeue 1 10s; SyncTerminatingPod 1; grace 10"},
		{{true, 4}, "cancel 1; requeue 1 10s; SyncTerminatingPod 1; grace 4"},
		{{true, 0}, "cancel 1; requeue 1 10s; SyncTerminatingPod 1; grace 1"},
	};
	struct podrun run;
	struct podworker_pod pod = running_pod(&run);

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct podworker_kill kill = {.grace = rows[i].override};

		assert_int_equal(podrun_kill(&run, &pod, &kill), 0);
		if (i > 0)
			podrun_done(&run, "1", PODWORKER_CANCELLED);
		assert_int_equal(podrun_start(&run, "1"), 1);
		says(&run, rows[i].says);
	}
	podrun_end(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod is driven through all its stages",
		      a_pod_is_driven_through_all_its_stages),
		CLAIM("a pod that ends by itself gets no grace period from the worker",
		      a_pod_that_ends_by_itself_gets_no_grace_period_from_the_worker),
		CLAIM("a runtime pod can only be killed, and is then forgotten",
		      a_runtime_pod_can_only_be_killed_and_is_then_forgotten),
		CLAIM("what the runtime runs of a known pod is killed as that pod",
		      what_the_runtime_runs_of_a_known_pod_is_killed_as_that_pod),
		CLAIM("what the runtime runs of a pod that has not started is killed as that pod",
		      what_the_runtime_runs_of_a_pod_that_has_not_started_is_killed_as_that_pod),
		CLAIM("what was over before it was seen is only cleaned up",
		      what_was_over_before_it_was_seen_is_only_cleaned_up),
		CLAIM("a create of what is ending asks for a restart, and nothing else",
		      a_create_of_what_is_ending_asks_for_a_restart_and_nothing_else),
		CLAIM("nobody is told about a kill of what is finished",
		      nobody_is_told_about_a_kill_of_what_is_finished),
		CLAIM("only the update that starts the end says why",
		      only_the_update_that_starts_the_end_says_why),
		CLAIM("waiters are told once, when the containers have stopped",
		      waiters_are_told_once_when_the_containers_have_stopped),
		CLAIM("a waiter of a pod that runs on is told at once",
		      a_waiter_of_a_pod_that_runs_on_is_told_at_once),
		CLAIM("waiters without room are counted, and the kill goes on",
		      waiters_without_room_are_counted_and_the_kill_goes_on),
		CLAIM("the last status function is the one that counts",
		      the_last_status_function_is_the_one_that_counts),
		CLAIM("only a shorter grace period cancels again",
		      only_a_shorter_grace_period_cancels_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
