// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/container_status that no vector makes. */
#include "core/kubelet/container_status.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

static struct ctrstatus_in input(const struct podmake *m, const struct ctrstatus_record *records,
				 size_t n)
{
	return (struct ctrstatus_in){
		.rules = podphase_rules_of(36),
		.pod = &m->pod,
		.containers = m->pod.containers,
		.previous = m->pod.status.containers,
		.records = records,
		.n_records = n,
	};
}

static struct ctrstatus_record record(const char *name, const char *id, enum ctrstatus_state state)
{
	return (struct ctrstatus_record){.name = name,
					 .id = id,
					 .image = "",
					 .image_id = "",
					 .state = state,
					 .reason = "",
					 .message = ""};
}

static void test_failures(void **state)
{
	static const struct ctrstatus_failure failures[] = {
		{"a", "CrashLoopBackOff", "back-off 10s"}};
	static const struct {
		const char *what;
		enum meta_restart_policy policy;
		enum ctrstatus_state runtime;
		int32_t exit_code;
		bool deleting, inits, waiting;
	} want[] = {
		{"failed", META_RESTART_ALWAYS, CTRSTATUS_EXITED, 1, false, false, true},
		{"for good", META_RESTART_NEVER, CTRSTATUS_EXITED, 1, false, false, false},
		{"well", META_RESTART_ON_FAILURE, CTRSTATUS_EXITED, 0, false, false, false},
		{"goes", META_RESTART_ALWAYS, CTRSTATUS_EXITED, 1, true, false, false},
		{"runs", META_RESTART_ALWAYS, CTRSTATUS_RUNNING, 0, false, false, false},
		{"made", META_RESTART_NEVER, CTRSTATUS_CREATED, 0, false, false, true},
		{"init done", META_RESTART_ALWAYS, CTRSTATUS_EXITED, 0, false, true, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct ctrstatus_record runtime = record("a", "id", want[i].runtime);
		struct podmake m = {};
		struct ctrstatus_in in;
		struct podobj_statuses got;
		bool waiting;

		podmake_start(&m, want[i].policy);
		podmake_container(&m, "a");
		m.pod.deleting = want[i].deleting;
		runtime.exit_code = want[i].exit_code;
		in = input(&m, &runtime, 1);
		in.are_inits = want[i].inits;
		in.failures = failures;
		in.n_failures = 1;
		assert_int_equal(ctrstatus_convert(&in, &arena, &got), 0);
		waiting = strcmp(got.items[0].state.reason, "CrashLoopBackOff") == 0;
		if (waiting != want[i].waiting)
			fail_msg("%s: %d", want[i].what, waiting);
		if (waiting && want[i].runtime == CTRSTATUS_EXITED)
			assert_int_equal(got.items[0].last.kind, PODOBJ_TERMINATED);
	}
}

static void test_lost(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct ctrstatus_record runtime = record("a", "id", CTRSTATUS_UNKNOWN);
	struct podmake m = {};
	struct ctrstatus_in in;
	struct podobj_statuses got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING)->restarts = INT32_MAX;
	in = input(&m, &runtime, 1);
	assert_int_equal(ctrstatus_convert(&in, &arena, &got), 0);
	assert_string_equal(got.items[0].state.reason, CTRSTATUS_LOST);
	assert_int_equal(got.items[0].state.exit_code, 137);
	assert_int_equal(got.items[0].restarts, INT32_MAX);
	m.statuses[0].state.kind = PODOBJ_WAITING;
	assert_int_equal(ctrstatus_convert(&in, &arena, &got), 0);
	assert_int_equal(got.items[0].state.kind, PODOBJ_WAITING);
	assert_string_equal(got.items[0].state.reason, "");
}

static void test_two_newest(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct ctrstatus_record runtime[] = {
		record("b", "b1", CTRSTATUS_RUNNING),
		record("a", "a3", CTRSTATUS_RUNNING),
		record("a", "a2", CTRSTATUS_EXITED),
		record("a", "a1", CTRSTATUS_EXITED),
	};
	struct podmake m = {};
	struct ctrstatus_in in;
	struct podobj_statuses got;

	runtime[2].exit_code = 2;
	runtime[3].exit_code = 1;
	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	podmake_status(&m, "a", PODOBJ_RUNNING)->started = PODOBJ_STARTED_YES;
	in = input(&m, runtime, 4);
	assert_int_equal(ctrstatus_convert(&in, &arena, &got), 0);
	assert_int_equal(got.n, 1);
	assert_string_equal(got.items[0].id, "a3");
	assert_string_equal(got.items[0].last.id, "a2");
	assert_int_equal(got.items[0].last.exit_code, 2);
	assert_true(podobj_is_started(&got.items[0]));
	assert_false(got.items[0].ready);
}

static void test_messages(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	char text[CTRSTATUS_MESSAGES_MAX + 1];
	struct podmake m = {};
	struct podobj_statuses cut;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text + 4095, "\xc3\xa4", 2); /* a character across the limit of three */
	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_status(&m, "a", PODOBJ_NONE)->state = podmake_end(1, "Error");
	m.statuses[0].state.message = text;
	m.statuses[0].last = podmake_end(1, "Error");
	m.statuses[0].last.message = "short";
	cut = m.pod.status.containers;
	assert_int_equal(ctrstatus_cut_messages(&cut, 3, &arena), 0);
	assert_int_equal(strlen(cut.items[0].state.message), 4095);
	assert_string_equal(cut.items[0].last.message, "short");
	cut = m.pod.status.containers;
	assert_int_equal(ctrstatus_cut_messages(&cut, 0, &arena), 0);
	assert_int_equal(strlen(cut.items[0].state.message), CTRSTATUS_MESSAGES_MAX);
}

static void test_memory(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = 16};
	struct podmake m = {};
	struct ctrstatus_in in;
	struct podobj_statuses got;

	podmake_start(&m, META_RESTART_ALWAYS);
	podmake_container(&m, "a");
	in = input(&m, NULL, 0);
	assert_int_equal(ctrstatus_convert(&in, &arena, &got), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("why a container could not be started is shown while it is to be started",
		      test_failures),
		CLAIM("a container that ran and is lost ended with 137", test_lost),
		CLAIM("the newest record is the state, the next one the last state",
		      test_two_newest),
		CLAIM("messages share 12 KiB, cut between characters", test_messages),
		CLAIM("statuses without room are an error", test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
