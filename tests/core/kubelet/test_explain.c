// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/explain and core/kubelet/controller. */
#include "core/kubelet/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/condition.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct explain ask(const struct podmake *m, unsigned int minor, const struct jobpolicy *job,
			  struct arena *arena)
{
	struct explain_in in = {.minor = minor, .pod = &m->pod, .job = job, .now_wall_ns = 1};
	struct explain e;

	assert_int_equal(explain_pod(&in, arena, &e), 0);
	return e;
}

static void start(struct podmake *m, const char *owner_kind, const char *phase)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.node = "node";
	m->pod.owner.kind = owner_kind;
	m->pod.status.phase = phase;
	podmake_container(m, "a");
}

static void test_deleted(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;

	start(&m, "ReplicaSet", "Running");
	m.pod.deleting = true;
	podmake_status(&m, "a", PODOBJ_RUNNING)->ready = true;
	e = ask(&m, 36, NULL, &arena);
	assert_string_equal(e.status.phase, "Running");
	m.statuses[0].state = podmake_end(143, "Error");
	e = ask(&m, 36, NULL, &arena);
	assert_string_equal(e.status.phase, "Failed");
	assert_string_equal(explain_because(&e)->container->name, "a");
	assert_int_equal(e.next, PODNEXT_REPLACES);
	e = ask(&m, 26, NULL, &arena);
	assert_string_equal(e.status.phase, "Running");
}

static void test_api_is_final(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;

	start(&m, "DaemonSet", "Failed");
	m.pod.status.reason = "Evicted";
	m.pod.status.containers.absent = true;
	e = ask(&m, 36, NULL, &arena);
	assert_int_equal(e.from, EXPLAIN_API);
	assert_string_equal(e.status.phase, "Failed");
	assert_string_equal(e.status.reason, "Evicted");
	assert_int_equal(e.by_containers.rule, PODPHASE_RULE_UNKNOWN);
	assert_int_equal(e.next, PODNEXT_DELETES);
}

static void test_over_by_itself(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;
	bool restarts;

	start(&m, "Job", "Failed");
	m.pod.restart_policy = META_RESTART_NEVER;
	podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(1, "Error");
	e = ask(&m, 36, NULL, &arena);
	assert_false(e.killed);
	assert_int_equal(e.by_containers.rule, PODPHASE_RULE_FAILED);
	assert_string_equal(explain_restart(&e, &e.containers[0], &restarts), "pod-policy");
	assert_false(restarts);
	m.pod.restart_policy = META_RESTART_ALWAYS;
	e = ask(&m, 36, NULL, &arena);
	assert_true(e.killed);
	assert_int_equal(e.by_containers.rule, PODPHASE_RULE_KILLED_FAILED);
	assert_string_equal(explain_restart(&e, &e.containers[0], &restarts), "pod-over");
	assert_false(restarts);
	m.pod.status.phase = "Running";
	e = ask(&m, 36, NULL, &arena);
	assert_string_equal(explain_restart(&e, &e.containers[0], &restarts), "pod-policy");
	assert_true(restarts);
	m.pod.deleting = true;
	e = ask(&m, 36, NULL, &arena);
	assert_string_equal(explain_restart(&e, &e.containers[0], &restarts), "pod-deleted");
	assert_false(restarts);
	m.statuses[0].state.kind = PODOBJ_RUNNING;
	e = ask(&m, 36, NULL, &arena);
	assert_null(explain_restart(&e, &e.containers[0], &restarts));
}

static void test_no_node(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;

	start(&m, "", "Pending");
	m.pod.node = "";
	podmake_condition(&m, PODCOND_SCHEDULED, "False");
	e = ask(&m, 36, NULL, &arena);
	assert_int_equal(e.from, EXPLAIN_NO_NODE);
	assert_int_equal(e.status.conditions.n, 1);
	assert_string_equal(e.status.conditions.items[0].status, "False");
}

static void test_deadline(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain_in in = {.minor = 36, .pod = &m.pod, .now_wall_ns = 12000000000};
	struct explain e;

	start(&m, "", "Running");
	podmake_status(&m, "a", PODOBJ_RUNNING);
	m.pod.deadline.set = true;
	m.pod.deadline.s = 2;
	m.pod.start_wall_ns = 10000000000;
	assert_int_equal(explain_pod(&in, &arena, &e), 0);
	assert_int_equal(e.from, EXPLAIN_DEADLINE);
	assert_string_equal(e.status.reason, "DeadlineExceeded");
}

static void test_sandbox(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;

	start(&m, "", "Running");
	e = ask(&m, 36, NULL, &arena);
	assert_null(podobj_condition_of(&e.status.conditions, PODCOND_READY_TO_START));
	podmake_condition(&m, PODCOND_READY_TO_START, "True");
	e = ask(&m, 36, NULL, &arena);
	assert_true(podobj_condition_is_true(&e.status.conditions, PODCOND_READY_TO_START));
}

static void test_next(void **state)
{
	static const struct {
		const char *kind, *phase;
		bool deleting;
		enum podnext next;
	} want[] = {
		{"", "Failed", false, PODNEXT_NOBODY},
		{"Node", "Running", false, PODNEXT_KUBELET},
		{"ReplicaSet", "Running", false, PODNEXT_KEEPS},
		{"ReplicaSet", "Running", true, PODNEXT_REPLACES},
		{"ReplicationController", "Failed", false, PODNEXT_REPLACES},
		{"StatefulSet", "Pending", false, PODNEXT_KEEPS},
		{"StatefulSet", "Failed", false, PODNEXT_DELETES},
		{"StatefulSet", "Failed", true, PODNEXT_WAITS},
		{"DaemonSet", "Running", true, PODNEXT_WAITS},
		{"DaemonSet", "Succeeded", false, PODNEXT_DELETES},
		{"Job", "Running", false, PODNEXT_KEEPS},
		{"Job", "Running", true, PODNEXT_REPLACES},
		{"Job", "Succeeded", true, PODNEXT_SUCCEEDS},
		{"Job", "Failed", false, PODNEXT_RETRIES},
		{"SomebodysSet", "Failed", false, PODNEXT_UNKNOWN},
	};
	static const struct jobpolicy waits = {.waits_for_the_failed = true};
	struct podobj_pod pod;

	for (size_t i = 0; i < LEN(want); i++) {
		podobj_init(&pod);
		pod.owner.kind = want[i].kind;
		pod.deleting = want[i].deleting;
		if (podnext_of(&pod, want[i].phase, NULL, NULL) != want[i].next)
			fail_msg("%s, %s", want[i].kind, want[i].phase);
	}
	podobj_init(&pod);
	pod.owner.kind = "Job";
	pod.deleting = true;
	assert_int_equal(podnext_of(&pod, "Running", &waits, NULL), PODNEXT_WAITS_ENDED);
}

static const int32_t codes[] = {42, 0};
static const struct podobj_condition disrupted = {.type = PODCOND_DISRUPTION,
						  .status = "True",
						  .reason = "",
						  .message = ""};
static const struct jobpolicy_rule rules[] = {
	{.action = JOBPOLICY_IGNORE, .container = "", .conditions = &disrupted, .n_conditions = 1},
	{.action = JOBPOLICY_FAIL_JOB,
	 .by_codes = true,
	 .container = "a",
	 .op = PODOBJ_OP_IN,
	 .codes = codes,
	 .n_codes = 2},
	{.action = JOBPOLICY_FAIL_INDEX,
	 .by_codes = true,
	 .container = "",
	 .op = PODOBJ_OP_NOT_IN,
	 .codes = codes,
	 .n_codes = 2},
};

static void test_job_rules(void **state)
{
	static const struct {
		const char *what;
		int32_t code_a, code_b;
		bool disrupted, any;
		size_t rule;
		enum podnext next;
	} want[] = {
		{"exit 42 of a", 42, 0, false, true, 1, PODNEXT_FAILS_JOB},
		{"exit 42 of b", 0, 42, false, false, 0, PODNEXT_RETRIES},
		{"exit 7 of b", 0, 7, false, true, 2, PODNEXT_FAILS_INDEX},
		{"both, the first rule wins", 42, 7, false, true, 1, PODNEXT_FAILS_JOB},
		{"disrupted", 42, 0, true, true, 0, PODNEXT_IGNORES},
		{"no exit but 0", 0, 0, false, false, 0, PODNEXT_RETRIES},
	};
	static const struct jobpolicy job = {.rules = rules, .n_rules = 3};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podmake m = {};
		struct explain e;

		start(&m, "Job", "Failed");
		podmake_container(&m, "b");
		podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(want[i].code_a, "");
		podmake_status(&m, "b", PODOBJ_NONE)->state = podmake_end(want[i].code_b, "");
		if (want[i].disrupted)
			podmake_condition(&m, PODCOND_DISRUPTION, "True");
		e = ask(&m, 36, &job, &arena);
		if (e.match.any != want[i].any || e.match.rule != want[i].rule ||
		    e.next != want[i].next)
			fail_msg("%s: %d, rule %zu, %s", want[i].what, e.match.any, e.match.rule,
				 podnext_name(e.next));
	}
}

static void test_running_matches_nothing(void **state)
{
	static const struct jobpolicy job = {.rules = rules, .n_rules = 3};
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct explain e;

	start(&m, "Job", "Running");
	podmake_status(&m, "a", PODOBJ_RUNNING);
	podmake_condition(&m, PODCOND_DISRUPTION, "True");
	e = ask(&m, 36, &job, &arena);
	assert_false(e.match.any);
	assert_int_equal(e.next, PODNEXT_KEEPS);
}

static void test_other_job(void **state)
{
	static const struct {
		const char *kind, *api, *namespace_, *name, *uid;
		struct jobpolicy job;
		bool is_of;
	} rows[] = {
		{"Job", "batch/v1", "shop", "db", "u1", {.name = "db", .uid = "u1"}, true},
		{"Job", "batch/v1", "shop", "db", "u1", {.namespace_ = "shop", .name = "db"}, true},
		{"Job", "", "shop", "db", "", {.name = "db", .uid = "u1"}, true},
		{"Job", "", "", "", "", {.name = ""}, true},
		{"Job", "batch/v1", "shop", "db", "u1", {.name = "db", .uid = "u2"}, false},
		{"Job", "batch/v1", "shop", "db", "u1", {.name = "web"}, false},
		{"Job", "batch/v1", "shop", "db", "u1", {.namespace_ = "x", .name = "db"}, false},
		{"Job", "batch.volcano.sh/v1", "shop", "db", "u1", {.name = "db"}, false},
		{"ReplicaSet", "apps/v1", "shop", "db", "u1", {.name = "db"}, false},
		{"", "", "shop", "", "", {.name = "db"}, false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct jobpolicy job = rows[i].job;
		struct podmake m = {};
		struct explain e;

		print_message("# row %zu\n", i);
		job.rules = rules;
		job.n_rules = 3;
		start(&m, rows[i].kind, "Failed");
		m.pod.owner.api = rows[i].api;
		m.pod.namespace_ = rows[i].namespace_;
		m.pod.owner.name = rows[i].name;
		m.pod.owner.uid = rows[i].uid;
		podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(42, "");
		e = ask(&m, 36, &job, &arena);
		assert_int_equal(e.match.any, rows[i].is_of);
		assert_ptr_equal(e.job, rows[i].is_of ? &job : NULL);
		assert_ptr_equal(e.other_job, rows[i].is_of ? NULL : &job);
	}
}

/* The notes of a pod, in order: their words, separated by spaces. */
static const char *notes_of(const struct podmake *m, int64_t now_wall_ns)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct explain_in in = {.minor = 36, .pod = &m->pod, .now_wall_ns = now_wall_ns};
	static char words[512];
	struct explain e;

	assert_int_equal(explain_pod(&in, &arena, &e), 0);
	words[0] = '\0';
	for (size_t i = 0; i < e.n_notes; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s(%s)",
			 i ? " " : "", explain_topic_name(e.notes[i].topic), e.notes[i].about);
	return words;
}

#define DELETED_NS INT64_C(1000000000000)
#define LONG_AFTER (DELETED_NS + EXPLAIN_OVERDUE_NS)

static void start_scheduled(struct podmake *m)
{
	start(m, "", "Running");
	podmake_condition(m, PODCOND_SCHEDULED, "True");
	podmake_status(m, "a", PODOBJ_RUNNING)->ready = true;
}

static void start_deleted(struct podmake *m)
{
	start_scheduled(m);
	m->pod.deleting = true;
	m->pod.deleted_wall_ns = DELETED_NS;
	m->pod.deletion_grace.set = true;
	m->pod.deletion_grace.s = 30;
}

static void test_finalizers(void **state)
{
	static const char *const finalizers[] = {"x/y", "batch.kubernetes.io/job-tracking"};
	struct podmake m = {};

	start_scheduled(&m);
	m.pod.finalizers = finalizers;
	m.pod.n_finalizers = 2;
	assert_string_equal(notes_of(&m, LONG_AFTER), "");
	start_deleted(&m);
	m.pod.finalizers = finalizers;
	m.pod.n_finalizers = 2;
	assert_string_equal(notes_of(&m, DELETED_NS),
			    "finalizer(x/y) finalizer(batch.kubernetes.io/job-tracking)");
	/* The kubelet has confirmed the deletion. */
	m.pod.deletion_grace.s = 0;
	assert_string_equal(notes_of(&m, LONG_AFTER),
			    "finalizer(x/y) finalizer(batch.kubernetes.io/job-tracking)");
}

static void test_overdue(void **state)
{
	struct podmake m = {};

	start_deleted(&m);
	assert_string_equal(notes_of(&m, LONG_AFTER - 1), "");
	assert_string_equal(notes_of(&m, LONG_AFTER), "deletion-overdue()");
	m.pod.deleted_wall_ns = INT64_MIN;
	assert_string_equal(notes_of(&m, INT64_MAX), "");
	m.pod.deleted_wall_ns = DELETED_NS;
	/* As the controller of nodes leaves it when the node goes silent. */
	podmake_condition(&m, PODCOND_CONTAINERS_READY, "True");
	podmake_condition(&m, PODCOND_READY, "False");
	assert_string_equal(notes_of(&m, LONG_AFTER), "node-silent()");
	m.conditions[2].reason = "ReadinessGatesNotReady";
	assert_string_equal(notes_of(&m, LONG_AFTER), "deletion-overdue()");
	m.pod.status.reason = "NodeLost";
	assert_string_equal(notes_of(&m, LONG_AFTER), "node-silent()");
	m.pod.node = "";
	assert_string_equal(notes_of(&m, LONG_AFTER), "");
}

static void test_beside(void **state)
{
	static const struct {
		enum meta_restart_policy policy;
		int32_t code;
		bool regular, deleting;
		const char *notes;
	} want[] = {
		{META_RESTART_NEVER, 0, true, false, "runs-beside(log)"},
		{META_RESTART_NEVER, 1, true, false, "runs-beside(log)"},
		{META_RESTART_ON_FAILURE, 0, true, false, "runs-beside(log)"},
		{META_RESTART_ON_FAILURE, 1, true, false, ""},
		{META_RESTART_ALWAYS, 0, true, false, ""},
		{META_RESTART_NEVER, 0, true, true, ""},
		{META_RESTART_NEVER, 0, false, false, ""},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podmake m = {};

		start_scheduled(&m);
		m.pod.owner.kind = "Job";
		m.pod.restart_policy = want[i].policy;
		m.pod.deleting = want[i].deleting;
		m.statuses[0].state = podmake_end(want[i].code, "");
		if (want[i].regular) {
			podmake_container(&m, "log");
			podmake_status(&m, "log", PODOBJ_RUNNING);
		} else {
			podmake_sidecar(&m, "log");
			podmake_init_status(&m, "log", PODOBJ_RUNNING);
		}
		if (strcmp(notes_of(&m, 1), want[i].notes) != 0)
			fail_msg("%zu: %s", i, notes_of(&m, 1));
	}
}

static void test_oom_child(void **state)
{
	static const struct {
		int32_t code;
		const char *reason, *notes;
	} want[] = {
		{143, "OOMKilled", "oom-not-init(a)"},
		{0, "OOMKilled", "oom-not-init(a)"},
		{137, "OOMKilled", ""},
		{143, "Error", ""},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podmake m = {};

		start_scheduled(&m);
		m.statuses[0].state = podmake_end(want[i].code, want[i].reason);
		if (strcmp(notes_of(&m, 1), want[i].notes) != 0)
			fail_msg("%d %s: %s", want[i].code, want[i].reason, notes_of(&m, 1));
		/* The last end of a container that runs again counts. */
		m.statuses[0].last = m.statuses[0].state;
		m.statuses[0].state.kind = PODOBJ_RUNNING;
		assert_string_equal(notes_of(&m, 1), want[i].notes);
	}
}

static void test_scheduled(void **state)
{
	struct podmake m = {};

	start_scheduled(&m);
	assert_string_equal(notes_of(&m, 1), "");
	m.pod.is_static = true;
	assert_string_equal(notes_of(&m, 1), "scheduled-by-kubelet()");
	m.pod.is_static = false;
	m.conditions[0].status = "False";
	assert_string_equal(notes_of(&m, 1), "scheduled-by-kubelet()");
	m.pod.node = "";
	m.pod.status.containers.n = 0;
	assert_string_equal(notes_of(&m, 1), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a finalizer holds the object of a pod that is being deleted, and no other",
		      test_finalizers),
		CLAIM("a deletion is overdue a minute after its grace period, and a silent node is "
		      "known by what its controller marked",
		      test_overdue),
		CLAIM("a regular container that runs on beside one that is done for good is named, "
		      "but not a sidecar",
		      test_beside),
		CLAIM("OOMKilled with another exit code than SIGKILL's is not of PID 1",
		      test_oom_child),
		CLAIM("PodScheduled that no scheduler wrote is said to be the kubelet's",
		      test_scheduled),
		CLAIM("a deleted pod ends by its exit codes, if its kubelet knows that",
		      test_deleted),
		CLAIM("a phase that is terminal at the API stands", test_api_is_final),
		CLAIM("a pod was killed if its containers did not end it; then none starts again",
		      test_over_by_itself),
		CLAIM("what is on no node is as the API has it", test_no_node),
		CLAIM("a deadline that has passed fails the pod", test_deadline),
		CLAIM("a note on sandboxes has only what the API has", test_sandbox),
		CLAIM("each controller does its own with a pod", test_next),
		CLAIM("a Job counts for the pods whose controller it is", test_other_job),
		CLAIM("the first rule of the Job that matches decides", test_job_rules),
		CLAIM("no rule matches a pod that has not failed", test_running_matches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
