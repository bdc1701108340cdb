// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what is reported to have ended a pod that the kubelet lists. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

static void open_listed(struct world *w)
{
	struct meta_pod pod = world_pod_a();

	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
	world_clear(w);
}

static struct meta_pod failed(enum meta_end end, uint64_t asked_ns)
{
	struct meta_pod pod = world_pod_a();

	pod.phase = META_PHASE_FAILED;
	pod.end = end;
	pod.asked_ns = asked_ns;
	return pod;
}

/* Its containers are stopped from 20 s on, and its cgroup is removed at 25 s. */
static void end_all(struct world *w)
{
	world_stop_a1(w, SEC(20));
	world_stop_sandbox(w, SEC(22));
	world_pod_empty(w, SEC(23));
	world_pod_removed(w, SEC(25));
}

/* Expects the end of the 3 s after which it is awaited no longer. */
static void assert_wakes(const struct world *w, uint64_t at)
{
	const struct effect *wake = world_effect(w, EFFECT_WAKE_AT);

	assert_non_null(wake);
	assert_int_equal(wake->at_ns, at);
}

static void test_reasons(void **state)
{
	static const struct {
		enum meta_end end;
		enum pod_trigger trigger;
	} cases[] = {
		{META_END_EVICTED, POD_EVICTED},
		{META_END_PREEMPTED, POD_PREEMPTED},
		{META_END_SHUTDOWN, POD_NODE_SHUTDOWN},
		{META_END_DEADLINE, POD_DEADLINE},
		{0, POD_PHASE},
		{(enum meta_end)77, POD_PHASE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct meta_pod pod = failed(cases[i].end, 0);
		struct world w;

		open_listed(&w);
		world_stop_a1(&w, SEC(20));
		world_lists(&w, SEC(21), &pod);
		assert_moves(&w, {POD_STAGE_TERMINATING, cases[i].trigger, SEC(20)});
		world_close(&w);
	}
}

/* Kubelets before 1.22 say so before its containers are stopped. */
static void test_evicted_at_once(void **state)
{
	struct meta_pod pod = failed(META_END_EVICTED, SEC(18));
	struct world w;

	open_listed(&w);
	world_lists(&w, SEC(19), &pod);
	end_all(&w);
	assert_moves(&w, MOVE(TERMINATING, EVICTED, SEC(18)), MOVE(TERMINATED, LAST_EXIT, SEC(23)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	world_close(&w);
}

/* Later ones do with its last container, and the list that says so is asked for when its cgroup is
 * gone. */
static void test_evicted_awaited(void **state)
{
	struct meta_pod pod = failed(META_END_EVICTED, SEC(25) + 1);
	struct world w;

	open_listed(&w);
	end_all(&w);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	assert_string_equal(world_effect(&w, EFFECT_FIND_POD)->pod_uid, WORLD_UID_A);
	assert_wakes(&w, SEC(28));
	world_lists(&w, SEC(26), &pod);
	assert_moves(&w, MOVE(TERMINATING, EVICTED, SEC(20)), MOVE(TERMINATED, LAST_EXIT, SEC(23)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	world_timer(&w, SEC(28));
	assert_int_equal(world_count(&w, RECORD_POD), 3);
	world_close(&w);
}

static void test_not_heard(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	open_listed(&w);
	end_all(&w);
	world_lists(&w, SEC(26), &pod);
	world_timer(&w, SEC(28) - 1);
	assert_int_equal(world_count(&w, RECORD_POD), 0);
	world_timer(&w, SEC(28));
	assert_moves(&w, MOVE(TERMINATING, CGROUP_REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(23)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	/* A report is final. */
	pod = failed(META_END_EVICTED, 0);
	world_lists(&w, SEC(40), &pod);
	assert_int_equal(world_count(&w, RECORD_POD), 3);
	world_close(&w);
}

/* A recording, or the daemon, ends while it is awaited. */
static void test_end(void **state)
{
	struct world w;

	open_listed(&w);
	end_all(&w);
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = SEC(26)});
	assert_moves(&w, MOVE(TERMINATING, CGROUP_REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(23)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	world_close(&w);
}

static void test_lives_again(void **state)
{
	struct graced_proc proc = P_A1;
	struct world w;

	open_listed(&w);
	end_all(&w);
	world_made(&w, SEC(26), 80, CG_BURSTABLE, "pod" WORLD_UID_A);
	world_made(&w, SEC(26), 81, 80, WORLD_ID_A1);
	proc.watch_id = 81;
	proc.pid = 6000;
	proc.start_ns = SEC(27);
	world_init(&w, SEC(27), 81, &proc);
	assert_moves(&w, MOVE(TERMINATING, CGROUP_REMOVED, SEC(20)),
		     MOVE(TERMINATED, LAST_EXIT, SEC(23)), MOVE(FINISHED, CGROUP_REMOVED, SEC(25)),
		     MOVE(SYNC, STARTED, SEC(27)));
	world_timer(&w, SEC(28));
	assert_int_equal(world_view(&w, WORLD_UID_A).running, 1);
	world_close(&w);
}

/* Gone from the list is a word, too. */
static void test_gone(void **state)
{
	struct world w;

	open_listed(&w);
	end_all(&w);
	world_lists_not(&w, SEC(26));
	assert_moves(&w, MOVE(TERMINATING, REMOVED, SEC(20)), MOVE(TERMINATED, LAST_EXIT, SEC(23)),
		     MOVE(FINISHED, CGROUP_REMOVED, SEC(25)));
	assert_int_equal(world_view(&w, WORLD_UID_A).stage, POD_STAGE_NONE);
	world_timer(&w, SEC(28));
	assert_int_equal(world_count(&w, RECORD_POD), 3);
	world_close(&w);
}

/* A pod deleted before it was evicted ends by the deletion. */
static void test_deleted_first(void **state)
{
	struct meta_pod pod = world_pod_deleted(SEC(20), SEC(30));
	struct world w;

	open_listed(&w);
	pod.phase = META_PHASE_FAILED;
	pod.end = META_END_EVICTED;
	world_lists(&w, SEC(21), &pod);
	assert_moves(&w, MOVE(TERMINATING, DELETION, SEC(21)));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod that the kubelet failed ends for the kubelet's reason", test_reasons),
		CLAIM("an eviction that is listed first begins when it was listed",
		      test_evicted_at_once),
		CLAIM("an eviction that is listed last is awaited, and begins with the stop",
		      test_evicted_awaited),
		CLAIM("who hears of no reason tells what was seen after 3 s", test_not_heard),
		CLAIM("what is awaited is reported at the end", test_end),
		CLAIM("a pod that lives again is awaited no longer", test_lives_again),
		CLAIM("a pod that is listed no more is awaited no longer", test_gone),
		CLAIM("a deletion comes before an eviction", test_deleted_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
