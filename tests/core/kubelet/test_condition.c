// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/condition that no vector makes. */
#include "core/kubelet/condition.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct kubelet_in input(const struct podmake *m, const char *phase)
{
	return (struct kubelet_in){
		.rules = podphase_rules_of(36),
		.pod = &m->pod,
		.inits = m->pod.status.inits,
		.containers = m->pod.status.containers,
		.phase = phase,
		.gates = m->pod.status.conditions,
		.former = m->pod.status.conditions,
	};
}

static void test_nameless(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_condition got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "");
	podmake_status(&m, "", PODOBJ_RUNNING);
	in = input(&m, "Running");
	assert_int_equal(podcond_ready(&in, &arena, &got), 0);
	assert_string_equal(got.status, "False");
	assert_string_equal(got.message, "containers with unready status: []");
}

static void test_gates(void **state)
{
	static const char *const gates[] = {"a", "b", "c"};
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_condition got;

	podmake_start(&m, META_RESTART_ALWAYS);
	m.pod.gates = gates;
	m.pod.n_gates = 3;
	podmake_condition(&m, "b", "True");
	podmake_condition(&m, "c", "Unknown");
	in = input(&m, "Running");
	assert_int_equal(podcond_ready(&in, &arena, &got), 0);
	assert_string_equal(got.reason, "ReadinessGatesNotReady");
	assert_string_equal(got.message,
			    "corresponding condition of pod readiness gate \"a\" does not exist., "
			    "the status of pod readiness gate \"c\" is not \"True\", but Unknown");
	assert_int_equal(podcond_containers_ready(&in, &arena, &got), 0);
	assert_string_equal(got.status, "True");
}

static void test_stays_initialized(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_condition got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_init(&m, "init");
	podmake_init_status(&m, "init", PODOBJ_WAITING);
	podmake_condition(&m, PODCOND_INITIALIZED, "True");
	in = input(&m, "Running");
	assert_int_equal(podcond_initialized(&in, &arena, &got), 0);
	assert_string_equal(got.status, "True");
	in.rules.restart_all = false;
	assert_int_equal(podcond_initialized(&in, &arena, &got), 0);
	assert_string_equal(got.status, "False");
	assert_string_equal(got.message, "containers with incomplete status: [init]");
}

static void test_failed_by_version(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_condition got;

	podmake_start(&m, META_RESTART_NEVER);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(1, "Error");
	in = input(&m, "Failed");
	assert_int_equal(podcond_ready(&in, &arena, &got), 0);
	assert_string_equal(got.reason, "PodFailed");
	in.rules = podphase_rules_of(24);
	assert_int_equal(podcond_ready(&in, &arena, &got), 0);
	assert_string_equal(got.message, "containers with unready status: [a]");
}

static void test_sandboxes(void **state)
{
	static const struct {
		const char *what;
		struct podcond_sandbox sandboxes[2];
		size_t n;
		bool host_network, ready;
	} want[] = {
		{"none", {}, 0, true, false},
		{"ready with an address", {{0, true, true}}, 1, false, true},
		{"ready without", {{0, true, false}}, 1, false, false},
		{"ready without, on the host's network", {{0, true, false}}, 1, true, true},
		{"the one before", {{0, true, true}, {1, false, false}}, 2, false, false},
		{"the one after, listed first", {{1, true, true}, {0, false, true}}, 2, false, true},
		{"the one after, listed last", {{0, false, true}, {1, true, true}}, 2, false, true},
		{"two at once", {{1, true, true}, {0, true, true}}, 2, false, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct podobj_condition got =
			podcond_ready_to_start(want[i].sandboxes, want[i].n, want[i].host_network);

		if (strcmp(got.status, want[i].ready ? "True" : "False") != 0)
			fail_msg("%s: %s", want[i].what, got.status);
	}
}

static void test_restart_ends(void **state)
{
	static const struct ctrstatus_record records[] = {
		{.name = "a", .state = CTRSTATUS_EXITED, .exit_code = 1, .reason = ""}};
	struct podmake m = {};
	struct kubelet_in in;

	podmake_start(&m, META_RESTART_NEVER);
	podmake_container(&m, "a");
	assert_false(podcond_may_restart_all(&m.pod));
	podmake_condition(&m, PODCOND_RESTARTING_ALL, "True");
	in = input(&m, "Running");
	assert_string_equal(podcond_restarting_all(&in, records, 1).status, "True");
	assert_string_equal(podcond_restarting_all(&in, NULL, 0).status, "False");
	in.phase = "Failed";
	assert_string_equal(podcond_restarting_all(&in, records, 1).reason, "PodFailed");
}

static void test_memory(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = 16};
	struct podmake m = {};
	struct kubelet_in in;
	struct podobj_condition got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	in = input(&m, "Running");
	assert_int_equal(podcond_ready(&in, &arena, &got), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container without a name is a container", test_nameless),
		CLAIM("each readiness gate that is not met is named", test_gates),
		CLAIM("a pod that may be restarted in place stays initialized",
		      test_stays_initialized),
		CLAIM("before 1.25 a failed pod was unready by its containers",
		      test_failed_by_version),
		CLAIM("containers start in the latest sandbox alone", test_sandboxes),
		CLAIM("a restart of all is over when no container is left, or the pod is",
		      test_restart_ends),
		CLAIM("a message without room is an error", test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
