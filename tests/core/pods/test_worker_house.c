// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/worker: pods beside each other, static ones and orphans, and what others
 * query (docs/kubelet-rules.md, "Static pods", "Orphaned pods", "Pod worker queries" and
 * "Housekeeping"). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/pods/worker_priv.h"
#include "lib/claim.h"
#include "lib/pods/podrun.h"

static void says(struct podrun *run, const char *words)
{
	assert_string_equal(podrun_log(run), words);
}

static struct podworker_pod static_pod(const char *uid)
{
	struct podworker_pod pod = podrun_pod(uid, 30);

	pod.is_static = true;
	return pod;
}

static void wants(struct podrun *run, const char *uid)
{
	podworker_sync_known(run->pw, &uid, uid ? 1 : 0, run->now, NULL, NULL);
}

static void static_pods_of_one_name_run_one_at_a_time_as_they_came(void **state)
{
	struct podworker_pod a = static_pod("a"), b = static_pod("b"), c = static_pod("c");
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &b);
	podrun_update(&run, PODWORKER_CREATE, &a);
	podrun_update(&run, PODWORKER_CREATE, &c);
	podrun_drain(&run);
	says(&run, "b sync; a sync; c sync; SyncPod b; create; requeue b 60s; requeue a 10s; "
		   "requeue c 10s");
	podrun_kill(&run, &b, NULL);
	podrun_update(&run, PODWORKER_SYNC, &c);
	podrun_drain(&run);
	podrun_log(&run);
	/* b is finished: c has been looked at, and is behind a. */
	podrun_update(&run, PODWORKER_SYNC, &c);
	podrun_drain(&run);
	says(&run, "requeue c 10s");
	podrun_update(&run, PODWORKER_SYNC, &a);
	podrun_drain(&run);
	says(&run, "SyncPod a; sync; requeue a 60s");
	podrun_end(&run);
}

static void a_name_is_free_when_its_pod_is_finished_not_before(void **state)
{
	struct podworker_pod a = static_pod("a"), b = static_pod("b");
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &a);
	podrun_drain(&run);
	podrun_kill(&run, &a, NULL);
	assert_true(podworker_is_mirror_terminating(run.pw, "pod_ns"));
	podrun_start(&run, "a");
	podrun_done(&run, "a", PODWORKER_OK);
	assert_false(podworker_is_mirror_terminating(run.pw, "pod_ns"));
	podrun_start(&run, "a");
	podrun_log(&run);
	podrun_update(&run, PODWORKER_CREATE, &b);
	assert_int_equal(podrun_start(&run, "b"), 0);
	podrun_done(&run, "a", PODWORKER_OK);
	podrun_update(&run, PODWORKER_CREATE, &b);
	podrun_drain(&run);
	says(&run, "b sync; requeue b 10s; a finished; SyncPod b; create; requeue b 60s");
	podrun_end(&run);
}

static void a_static_pod_that_is_killed_while_it_waits_ends_without_a_call(void **state)
{
	const struct podworker_kill kill = {.waiter = 7};
	struct podworker_pod a = static_pod("a"), b = static_pod("b");
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &a);
	podrun_update(&run, PODWORKER_CREATE, &b);
	podrun_drain(&run);
	podrun_log(&run);
	podrun_kill(&run, &b, &kill);
	podrun_drain(&run);
	says(&run, "cancel b; b terminating; b finished");
	assert_false(podworker_status(run.pw, "b")->started_terminating);
	podrun_end(&run);
}

static void those_that_never_came_to_run_do_not_pile_up(void **state)
{
	struct podworker_pod a = static_pod("a");
	const struct podworker_name *name;
	struct podrun run;
	char uid[32];

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &a);
	podrun_drain(&run);
	for (int i = 0; i < 20000; i++) {
		struct podworker_pod next = static_pod(uid);

		snprintf(uid, sizeof(uid), "b%d", i % 7 ? i : 0);
		assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &next), 0);
		wants(&run, "a");
		podrun_log(&run);
	}
	name = podworker_name_find(run.pw, "pod_ns");
	assert_in_range(name->n_waiting, 1, 128);
	podrun_end(&run);
}

static void names_of_the_dead_make_room(void **state)
{
	struct podworker_stats stats;
	struct podrun run;

	podrun_begin(&run);
	for (int i = 0; i < PODLIFE_MAX_PODS + 10; i++) {
		char name[32];
		struct podworker_pod pod = static_pod("u");

		snprintf(name, sizeof(name), "n%d", i);
		pod.name = name;
		assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 0);
		wants(&run, NULL);
		podrun_log(&run);
	}
	podworker_get_stats(run.pw, &stats);
	assert_int_equal(stats.refused, 0);
	assert_int_equal(stats.pods, 0);
	podrun_end(&run);
}

static void a_full_table_refuses_new_pods_and_serves_the_known(void **state)
{
	struct podworker_stats stats;
	struct podworker_pod pod;
	struct podrun run;
	char uid[32];

	podrun_begin(&run);
	for (int i = 0; i < PODLIFE_MAX_PODS + 3; i++) {
		snprintf(uid, sizeof(uid), "u%d", i);
		pod = podrun_pod(uid, 30);
		assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod),
				 i < PODLIFE_MAX_PODS ? 0 : -ENOSPC);
	}
	podworker_get_stats(run.pw, &stats);
	assert_int_equal(stats.pods, PODLIFE_MAX_PODS);
	assert_int_equal(stats.refused, 3);
	pod = podrun_pod("u5", 30);
	assert_int_equal(podrun_kill(&run, &pod, NULL), 0);
	podrun_end(&run);
}

static void a_uid_that_is_none_is_refused(void **state)
{
	char longest[POD_UID_MAX], too_long[POD_UID_MAX + 1];
	const char *const uids[] = {NULL, "", too_long};
	struct podworker_house house;
	struct podworker_pod pod;
	struct podrun run;

	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	memcpy(longest, too_long + 1, sizeof(longest));
	podrun_begin(&run);
	for (size_t i = 0; i < LEN(uids); i++) {
		const struct podworker_running running = {uids[i], NULL, NULL};

		pod = podrun_pod(uids[i], 30);
		assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), -EINVAL);
		podworker_housekeep(run.pw, &pod, 1, &running, 1, run.now, &house);
		assert_null(podworker_status(run.pw, uids[i]));
	}
	pod = podrun_pod(longest, 30);
	pod.name = pod.namespace_ = NULL;
	assert_int_equal(podrun_update(&run, PODWORKER_CREATE, &pod), 0);
	assert_non_null(podworker_status(run.pw, longest));
	podrun_end(&run);
}

static void an_orphan_that_never_ran_is_forgotten_and_one_that_did_is_ended(void **state)
{
	struct podworker_pod ran = podrun_pod("ran", 30), new = podrun_pod("new", 30);
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &ran);
	podrun_drain(&run);
	podrun_update(&run, PODWORKER_CREATE, &new);
	podrun_log(&run);
	wants(&run, NULL);
	says(&run, "ran terminating; new forgotten");
	assert_int_equal(podworker_status(run.pw, "ran")->grace_s, 30);
	assert_true(podworker_status(run.pw, "ran")->deleted);
	podrun_start(&run, "ran");
	podrun_done(&run, "ran", PODWORKER_FAILED);
	says(&run, "SyncTerminatingPod ran; requeue ran 10s");
	assert_null(podworker_ready(run.pw));
	wants(&run, NULL);
	podrun_drain(&run);
	says(&run, "SyncTerminatingPod ran; ran terminated; requeue ran 0s; "
		   "SyncTerminatedPod ran; ran finished");
	wants(&run, NULL);
	says(&run, "ran forgotten");
	podrun_end(&run);
}

static void what_is_wanted_is_remembered_until_it_may_come_anew(void **state)
{
	struct podworker_pod pod = podrun_pod("1", 30);
	struct podworker_house house;
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &pod);
	podrun_drain(&run);
	podrun_kill(&run, &pod, NULL);
	podrun_drain(&run);
	podrun_log(&run);
	assert_int_equal(podworker_housekeep(run.pw, &pod, 1, NULL, 0, run.now, &house), 0);
	says(&run, "");
	assert_int_equal(house.desired[0], 1);
	assert_int_equal(house.active[0], 0);
	assert_int_equal(house.working[PODWORKER_STATE_TERMINATED][PODWORKER_DESIRED][0], 1);
	podrun_update(&run, PODWORKER_CREATE, &pod);
	assert_int_equal(podworker_housekeep(run.pw, &pod, 1, NULL, 0, run.now, &house), 0);
	says(&run, "1 forgotten; 1 sync");
	assert_int_equal(house.restarted[0], 1);
	assert_int_equal(house.active[0], 1);
	assert_int_equal(house.working[PODWORKER_STATE_SYNC][PODWORKER_DESIRED][0], 1);
	podrun_end(&run);
}

static void what_is_over_is_active_only_while_it_is_ended(void **state)
{
	struct podworker_pod pod = podrun_pod("1", 30);
	struct podworker_house house;
	struct podrun run;

	podrun_begin(&run);
	podrun_update(&run, PODWORKER_CREATE, &pod);
	podrun_drain(&run);
	pod.phase = META_PHASE_FAILED;
	assert_int_equal(podworker_housekeep(run.pw, &pod, 1, NULL, 0, run.now, &house), 0);
	assert_int_equal(house.active[0], 0);
	podrun_update(&run, PODWORKER_UPDATE, &pod);
	assert_int_equal(podworker_housekeep(run.pw, &pod, 1, NULL, 0, run.now, &house), 0);
	assert_int_equal(house.active[0], 1);
	podrun_drain(&run);
	assert_int_equal(podworker_housekeep(run.pw, &pod, 1, NULL, 0, run.now, &house), 0);
	assert_int_equal(house.active[0], 0);
	podrun_end(&run);
}

static void a_static_pod_that_ended_unstarted_is_no_working_pod(void **state)
{
	struct podworker_pod pods[] = {static_pod("a"), static_pod("b")};
	struct podworker_house house, only_a = {};
	struct podrun run;

	podrun_begin(&run);
	for (size_t i = 0; i < LEN(pods); i++)
		podrun_update(&run, PODWORKER_CREATE, &pods[i]);
	podrun_drain(&run);
	podrun_kill(&run, &pods[1], NULL);
	podrun_drain(&run);
	assert_int_equal(podworker_housekeep(run.pw, pods, 2, NULL, 0, run.now, &house), 0);
	only_a.working[PODWORKER_STATE_SYNC][PODWORKER_DESIRED][1] = 1;
	assert_memory_equal(house.working, only_a.working, sizeof(house.working));
	podrun_end(&run);
}

static void what_runs_and_is_wanted_by_nobody_is_killed_once(void **state)
{
	const struct podworker_running running[] = {{"1", "ns", "pod"}, {"1", "ns", "pod"}};
	struct podworker_house house;
	struct podrun run;

	podrun_begin(&run);
	assert_int_equal(podworker_housekeep(run.pw, NULL, 0, running, 2, run.now, &house), 0);
	assert_int_equal(house.orphaned, 1);
	assert_int_equal(house.working[PODWORKER_STATE_TERMINATING][PODWORKER_RUNTIME_ONLY][0], 1);
	podrun_drain(&run);
	says(&run, "1 terminating; SyncTerminatingRuntimePod 1; grace 1; 1 forgotten");
	podrun_end(&run);
}

static void a_rejected_pod_passes_through_a_worker_once_it_is_deleted_and_over(void **state)
{
	static const struct {
		bool deleting, ended_here, runs;
		enum meta_phase phase;
		const char *says;
	} rows[] = {
		{true, true, false, META_PHASE_FAILED,
		 "1 terminated; SyncTerminatedPod 1; 1 finished"},
		{false, true, false, META_PHASE_FAILED, ""},
		{true, true, false, 0, ""},
		{false, false, false, META_PHASE_SUCCEEDED, ""},
		{true, true, true, META_PHASE_FAILED,
		 "1 terminating; SyncTerminatingRuntimePod 1; grace 1; 1 forgotten"},
		{false, false, false, META_PHASE_RUNNING,
		 "1 sync; SyncPod 1; create; requeue 1 60s"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct podworker_running running = {"1", "ns", "pod"};
		struct podworker_pod pod = podrun_pod("1", 30);
		struct podworker_house house;
		struct podrun run;

		pod.deleting = rows[i].deleting;
		pod.ended_here = rows[i].ended_here;
		pod.phase = rows[i].phase;
		podrun_begin(&run);
		assert_int_equal(podworker_housekeep(run.pw, &pod, 1, &running, rows[i].runs,
						     run.now, &house),
				 0);
		podrun_drain(&run);
		says(&run, rows[i].says);
		podrun_end(&run);
	}
}

/* Letters of the queries that say yes, in the order of the table in docs/kubelet-rules.md,
 * "Pod worker queries". */
static const char *asked(const struct podworker *pw, const char *uid)
{
	static bool (*const queries[])(const struct podworker *, const char *) = {
		podworker_is_known_terminated,
		podworker_could_have_running_containers,
		podworker_should_be_finished,
		podworker_is_termination_requested,
		podworker_should_containers_be_terminating,
		podworker_should_runtime_be_removed,
		podworker_should_content_be_removed,
	};
	static char yes[LEN(queries) + 1];
	size_t n = 0;

	for (size_t i = 0; i < LEN(queries); i++)
		if (queries[i](pw, uid))
			yes[n++] = "KCFRTUD"[i];
	yes[n] = '\0';
	return yes;
}

static void answers_are_the_kubelets_at_every_stage(void **state)
{
	const struct podworker_kill evict = {.evict = true};
	struct podworker_pod pod = podrun_pod("1", 30);
	struct podrun run;

	podrun_begin(&run);
	assert_string_equal(asked(run.pw, "1"), "C");
	podrun_update(&run, PODWORKER_CREATE, &pod);
	podrun_drain(&run);
	assert_string_equal(asked(run.pw, "1"), "C");
	podrun_kill(&run, &pod, NULL);
	assert_string_equal(asked(run.pw, "1"), "CR");
	podrun_start(&run, "1");
	assert_string_equal(asked(run.pw, "1"), "CRT");
	podrun_done(&run, "1", PODWORKER_OK);
	assert_string_equal(asked(run.pw, "1"), "KRTU");
	podrun_drain(&run);
	assert_string_equal(asked(run.pw, "1"), "KFRTU");
	wants(&run, NULL);
	assert_string_equal(asked(run.pw, "1"), "FTUD");
	podrun_update(&run, PODWORKER_CREATE, &pod);
	podrun_drain(&run);
	podrun_kill(&run, &pod, &evict);
	assert_string_equal(asked(run.pw, "1"), "CRD");
	podrun_end(&run);
}

static void one_pod_alone_is_forgotten_or_kept(void **state)
{
	struct podworker_pod a = podrun_pod("a", 30), b = podrun_pod("b", 30);
	struct podrun run;

	podrun_begin(&run);
	assert_false(podworker_sync_one(run.pw, "a", true, run.now));
	podrun_update(&run, PODWORKER_CREATE, &a);
	podrun_update(&run, PODWORKER_CREATE, &b);
	podrun_drain(&run);
	assert_false(podworker_sync_one(run.pw, "a", false, run.now));
	/* An orphan that ran is ended first; the other one is none. */
	assert_false(podworker_sync_one(run.pw, "a", true, run.now));
	podrun_drain(&run);
	assert_true(podworker_status(run.pw, "a")->finished);
	assert_false(podworker_status(run.pw, "b")->deleted);
	/* Who is over and wanted stays, unless it is to come anew. */
	assert_false(podworker_sync_one(run.pw, "a", false, run.now));
	podrun_update(&run, PODWORKER_CREATE, &a);
	assert_true(podworker_sync_one(run.pw, "a", false, run.now));
	assert_null(podworker_status(run.pw, "a"));
	assert_non_null(podworker_status(run.pw, "b"));
	podrun_end(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("static pods of one name run one at a time, as they came",
		      static_pods_of_one_name_run_one_at_a_time_as_they_came),
		CLAIM("a name is free when its pod is finished, not before",
		      a_name_is_free_when_its_pod_is_finished_not_before),
		CLAIM("a static pod that is killed while it waits ends without a call",
		      a_static_pod_that_is_killed_while_it_waits_ends_without_a_call),
		CLAIM("those that never came to run do not pile up",
		      those_that_never_came_to_run_do_not_pile_up),
		CLAIM("names of the dead make room", names_of_the_dead_make_room),
		CLAIM("a full table refuses new pods and serves the known",
		      a_full_table_refuses_new_pods_and_serves_the_known),
		CLAIM("a UID that is none is refused", a_uid_that_is_none_is_refused),
		CLAIM("an orphan that never ran is forgotten, and one that did is ended",
		      an_orphan_that_never_ran_is_forgotten_and_one_that_did_is_ended),
		CLAIM("what is wanted is remembered until it may come anew",
		      what_is_wanted_is_remembered_until_it_may_come_anew),
		CLAIM("one pod alone is forgotten or kept", one_pod_alone_is_forgotten_or_kept),
		CLAIM("what is over is active only while it is ended",
		      what_is_over_is_active_only_while_it_is_ended),
		CLAIM("a static pod that ended unstarted is no working pod",
		      a_static_pod_that_ended_unstarted_is_no_working_pod),
		CLAIM("what runs and is wanted by nobody is killed once",
		      what_runs_and_is_wanted_by_nobody_is_killed_once),
		CLAIM("a rejected pod passes through a worker once it is deleted and over",
		      a_rejected_pod_passes_through_a_worker_once_it_is_deleted_and_over),
		CLAIM("answers are the kubelet's at every stage",
		      answers_are_the_kubelets_at_every_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
