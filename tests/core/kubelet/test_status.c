// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/status and core/kubelet/condition that no vector makes. */
#include "core/kubelet/status.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/condition.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

#define S 1000000000LL

static const struct podobj_condition *find(const struct podobj_pod_status *status, const char *type)
{
	const struct podobj_condition *found = podobj_condition_of(&status->conditions, type);

	assert_non_null(found);
	return found;
}

static struct kubelet_in input(const struct podmake *m)
{
	return (struct kubelet_in){
		.rules = podphase_rules_of(36),
		.pod = &m->pod,
		.inits = m->pod.status.inits,
		.containers = m->pod.status.containers,
		.now_wall_ns = 1000 * S,
	};
}

static void test_transition(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_pod_status got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING);
	podmake_condition(&m, PODCOND_READY, "False");
	podmake_condition(&m, PODCOND_CONTAINERS_READY, "True");
	m.conditions[0].transition_wall_ns = m.conditions[1].transition_wall_ns = 7 * S;
	in = input(&m);
	assert_int_equal(podstatus_compose(&in, &arena, &got, NULL), 0);
	assert_int_equal(find(&got, PODCOND_READY)->transition_wall_ns, 7 * S);
	assert_int_equal(find(&got, PODCOND_CONTAINERS_READY)->transition_wall_ns, 1000 * S);
}

static void test_foreign(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct podobj_condition disruption = {PODCOND_DISRUPTION, "True",
						    "TerminationByKubelet", "", 0};
	struct podobj_pod_status cached = {
		.phase = "Running", .reason = "", .message = "", .conditions = {&disruption, 1}};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_pod_status got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_condition(&m, "example.com/gate", "True");
	podmake_condition(&m, PODCOND_DISRUPTION, "True");
	podmake_condition(&m, "PodResizePending", "True");
	in = input(&m);
	in.cached = &cached;
	assert_int_equal(podstatus_compose(&in, &arena, &got, NULL), 0);
	assert_string_equal(find(&got, "example.com/gate")->status, "True");
	assert_string_equal(find(&got, PODCOND_DISRUPTION)->reason, "TerminationByKubelet");
	assert_null(podobj_condition_of(&got.conditions, "PodResizePending"));
	assert_null(podobj_condition_of(&got.conditions, PODCOND_RESTARTING_ALL));
	assert_string_equal(find(&got, PODCOND_SCHEDULED)->status, "True");
}

static void test_no_way_back(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podobj_pod_status cached = {.phase = "Failed", .reason = "mine", .message = ""}, got;
	struct podmake m = {};
	struct kubelet_in in;
	struct podphase phase;

	podmake_start(&m, META_RESTART_ALWAYS);
	m.pod.status.phase = "Succeeded";
	m.pod.status.message = "theirs";
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING)->ready = true;
	in = input(&m);
	in.cached = &cached;
	assert_int_equal(podstatus_compose(&in, &arena, &got, &phase), 0);
	assert_int_equal(phase.phase, META_PHASE_RUNNING);
	assert_string_equal(got.phase, "Succeeded");
	assert_string_equal(got.reason, "mine");
	assert_string_equal(got.message, "theirs");
	assert_string_equal(find(&got, PODCOND_READY)->status, "False");
	in.deadline_passed = true;
	assert_int_equal(podstatus_compose(&in, &arena, &got, &phase), 0);
	assert_string_equal(got.phase, "Succeeded");
	assert_string_equal(got.reason, "DeadlineExceeded");
}

static void test_deadline(void **state)
{
	static const struct {
		bool has;
		int64_t start_ns, deadline_s, now_ns;
		bool passed;
	} want[] = {
		{true, 10 * S, 5, 15 * S, true},
		{true, 10 * S, 5, 15 * S - 1, false},
		{false, 10 * S, 5, 15 * S, false},
		{true, 0, 5, 15 * S, false},
		{true, 10 * S, INT64_MAX, INT64_MAX, false},
		{true, INT64_MAX, 5, INT64_MAX, false},
		{true, 10 * S, INT64_MIN, 0, true},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podobj_pod pod;

		podobj_init(&pod);
		pod.deadline.set = want[i].has;
		pod.start_wall_ns = want[i].start_ns;
		pod.deadline.s = want[i].deadline_s;
		if (podstatus_deadline_passed(&pod, want[i].now_ns) != want[i].passed)
			fail_msg("case %zu", i);
	}
}

static void test_ends(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct podobj_pod_status got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING)->state.started_wall_ns = 5;
	podmake_condition(&m, PODCOND_READY, "True");
	m.pod.status.phase = "Running";
	assert_int_equal(podstatus_terminate(&m.pod, NULL, &arena, &got), 0);
	assert_string_equal(got.containers.items[0].state.message, CTRSTATUS_LOST_TEXT);
	assert_int_equal(got.containers.items[0].state.started_wall_ns, 0);
	assert_string_equal(find(&got, PODCOND_READY)->reason, "PodFailed");
	assert_int_equal(m.statuses[0].state.kind, PODOBJ_RUNNING);
}

static void test_follows(void **state)
{
	struct podmake before = {}, after = {};
	struct podphase_rules rules = podphase_rules_of(36);
	struct podobj_ref because = {};

	podmake_start(&before, META_RESTART_ON_FAILURE);
	podmake_start(&after, META_RESTART_ON_FAILURE);
	podmake_sidecar(&before, "proxy");
	podmake_container(&before, "a");
	podmake_container(&before, "b");
	podmake_init_status(&before, "proxy", PODOBJ_NONE)->state = podmake_end(0, "");
	podmake_status(&before, "a", PODOBJ_NONE)->state = podmake_end(1, "");
	podmake_status(&before, "b", PODOBJ_NONE)->state = podmake_end(0, "");
	podmake_init_status(&after, "proxy", PODOBJ_RUNNING);
	podmake_status(&after, "a", PODOBJ_WAITING);
	assert_true(podstatus_may_follow(&rules, &before.pod, &before.pod.status, &after.pod.status,
					 &because));
	podmake_status(&after, "b", PODOBJ_WAITING);
	assert_false(podstatus_may_follow(&rules, &before.pod, &before.pod.status,
					  &after.pod.status, &because));
	assert_int_equal(because.list, PODOBJ_CONTAINERS);
	assert_int_equal(because.index, 1);
	podmake_condition(&after, PODCOND_RESTARTING_ALL, "True");
	assert_true(podstatus_may_follow(&rules, &before.pod, &before.pod.status, &after.pod.status,
					 &because));
}

static void test_memory(void **state)
{
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_pod_status got = {.phase = "untouched"};

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_init(&m, "init");
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING);
	in = input(&m);
	for (size_t limit = 16; limit < 2048; limit += 16) {
		_cleanup_(arena_free) struct arena arena = {.limit = limit};
		int r = podstatus_compose(&in, &arena, &got, NULL);

		if (r == 0)
			return;
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(got.phase, "untouched");
	}
	fail_msg("2 KiB are not enough");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a condition's time is that of its last change", test_transition),
		CLAIM("conditions of others stay, those of the kubelet are made anew",
		      test_foreign),
		CLAIM("the API's terminal phase stands, whatever containers do", test_no_way_back),
		CLAIM("a deadline passes to the nanosecond, and does not overflow", test_deadline),
		CLAIM("what runs when its pod is over ended unseen, and is not ready", test_ends),
		CLAIM("no container comes back that its policy does not start again", test_follows),
		CLAIM("without memory there is an error and no half a status", test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
