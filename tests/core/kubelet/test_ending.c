// SPDX-License-Identifier: Apache-2.0
/* Claims about core/kubelet/ending: what is written of a pod that a node shutdown has ended. */
#include "core/kubelet/ending.h"

#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/condition.h"
#include "lib/claim.h"
#include "lib/pods/podmake.h"

#define S 1000000000LL

static struct podend_exit exit_of(const char *id, int32_t code)
{
	return (struct podend_exit){
		.id = id,
		.runtime = "containerd",
		.name = "",
		.reason = "",
		.code = code,
		.finished_wall_ns = 500 * S,
	};
}

static int make_of(const struct podmake *m, const char *uid, const struct podend_exit *exits,
		   size_t n, struct arena *arena, struct podobj_pod_status *ret)
{
	struct kubelet_ending ending = {.n_exits = n, .now_wall_ns = 1000 * S};

	memcpy(ending.exits, exits, n * sizeof(*exits));
	return podend_make(&ending, &m->pod, uid, arena, ret);
}

static int make(const struct podmake *m, const struct podend_exit *exits, size_t n,
		struct arena *arena, struct podobj_pod_status *ret)
{
	return make_of(m, "u1", exits, n, arena, ret);
}

/* Two containers that run, as the API has them. */
static void start(struct podmake *m)
{
	podmake_start(m, META_RESTART_ALWAYS);
	m->pod.uid = "u1";
	m->pod.status.phase = "Running";
	for (size_t i = 0; i < 2; i++) {
		struct podobj_status *status;

		podmake_container(m, i ? "b" : "a");
		status = podmake_status(m, i ? "b" : "a", PODOBJ_RUNNING);
		status->id = i ? "containerd://bb" : "containerd://aa";
		status->state.started_wall_ns = 100 * S;
		status->ready = true;
		status->restarts = 3;
	}
	podmake_condition(m, PODCOND_READY, "True");
	podmake_condition(m, PODCOND_CONTAINERS_READY, "True");
	podmake_condition(m, "example.com/gate", "True");
}

static const char *status_of(const struct podobj_pod_status *status, const char *type)
{
	const struct podobj_condition *c = podobj_condition_of(&status->conditions, type);

	return c ? c->status : "";
}

static void test_phase(void **state)
{
	static const struct {
		int32_t a, b;
		const char *phase, *reason, *message;
	} want[] = {
		{0, 0, "Succeeded", "", ""},
		{0, 1, "Failed", PODEND_REASON, PODEND_MESSAGE},
		{143, 0, "Failed", PODEND_REASON, PODEND_MESSAGE},
		{137, 137, "Failed", PODEND_REASON, PODEND_MESSAGE},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		const struct podend_exit exits[] = {exit_of("aa", want[i].a),
						    exit_of("bb", want[i].b)};
		const struct podobj_condition *disruption;
		struct podobj_pod_status got;
		struct podmake m = {};

		start(&m);
		assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_WRITE);
		assert_string_equal(got.phase, want[i].phase);
		assert_string_equal(got.reason, want[i].reason);
		assert_string_equal(got.message, want[i].message);
		assert_string_equal(status_of(&got, PODCOND_READY), "False");
		assert_string_equal(status_of(&got, PODCOND_CONTAINERS_READY), "False");
		assert_string_equal(status_of(&got, "example.com/gate"), "True");
		disruption = podobj_condition_of(&got.conditions, PODCOND_DISRUPTION);
		assert_non_null(disruption);
		assert_string_equal(disruption->reason, "TerminationByKubelet");
		assert_int_equal(got.containers.items[0].state.exit_code, want[i].a);
		assert_int_equal(got.containers.items[0].state.started_wall_ns, 100 * S);
		assert_int_equal(got.containers.items[0].state.finished_wall_ns, 500 * S);
		assert_int_equal(got.containers.items[0].restarts, 3);
		assert_false(got.containers.items[0].ready);
	}
}

#define HASH "0123456789abcdef0123456789abcdef"

/* Its phase cannot be Succeeded while its containers would be restarted: the shutdown's stays. */
static void test_static(void **state)
{
	static const struct {
		enum meta_restart_policy policy;
		int32_t a, b;
		const char *phase, *reason;
	} want[] = {
		{META_RESTART_ALWAYS, 0, 0, "Failed", PODEND_REASON},
		{META_RESTART_ALWAYS, 137, 0, "Failed", PODEND_REASON},
		{META_RESTART_ON_FAILURE, 0, 0, "Succeeded", ""},
		{META_RESTART_NEVER, 0, 0, "Succeeded", ""},
		{META_RESTART_NEVER, 0, 143, "Failed", PODEND_REASON},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		const struct podend_exit exits[] = {exit_of("aa", want[i].a),
						    exit_of("bb", want[i].b)};
		struct podobj_pod_status got;
		struct podmake m = {};

		start(&m);
		m.pod.restart_policy = want[i].policy;
		m.pod.is_static = m.pod.mirror = true;
		m.pod.static_uid = "u1";
		assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_OTHER);
		m.pod.uid = HASH;
		m.pod.static_uid = "u2";
		assert_int_equal(make_of(&m, HASH, exits, 2, &arena, &got), PODEND_OTHER);
		m.pod.static_uid = HASH;
		assert_int_equal(make_of(&m, HASH, exits, 2, &arena, &got), PODEND_WRITE);
		assert_string_equal(got.phase, want[i].phase);
		assert_string_equal(got.reason, want[i].reason);
		assert_string_equal(status_of(&got, PODCOND_READY), "False");
		assert_string_equal(status_of(&got, PODCOND_DISRUPTION), "True");
	}
}

static void test_unseen(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct podend_exit exits[] = {exit_of("aa", 0), exit_of("cc", 0)};
	struct podobj_pod_status got;
	struct podmake m = {};

	start(&m);
	assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_WRITE);
	assert_string_equal(got.phase, "Failed");
	assert_string_equal(got.containers.items[0].state.reason, "Completed");
	assert_int_equal(got.containers.items[1].state.kind, PODOBJ_TERMINATED);
	assert_string_equal(got.containers.items[1].state.reason, CTRSTATUS_LOST);
	assert_int_equal(got.containers.items[1].state.exit_code, CTRSTATUS_LOST_CODE);
	assert_int_equal(got.containers.items[1].state.finished_wall_ns, 0);
	assert_int_equal(got.containers.items[1].restarts, 3);
}

static void test_former_end(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct podend_exit exits[] = {exit_of("aa", 0)};
	struct podobj_pod_status got;
	struct podmake m = {};

	start(&m);
	m.statuses[1].state = podmake_end(7, "Error");
	assert_int_equal(make(&m, exits, 1, &arena, &got), PODEND_WRITE);
	assert_int_equal(got.containers.items[1].state.exit_code, 7);
	assert_string_equal(got.containers.items[1].state.reason, "Error");
	assert_string_equal(got.phase, "Failed");
}

static void test_reasons(void **state)
{
	static const struct {
		int32_t code;
		bool oom;
		const char *runtimes, *want;
	} rows[] = {
		{0, false, "", "Completed"},
		{2, false, "", "Error"},
		{137, true, "", "OOMKilled"},
		{137, false, "ContainerCannotRun", "ContainerCannotRun"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podend_exit exits[] = {exit_of("aa", rows[i].code)};
		struct podobj_pod_status got;
		struct podmake m = {};

		start(&m);
		exits[0].oom = rows[i].oom;
		exits[0].reason = rows[i].runtimes;
		assert_int_equal(make(&m, exits, 1, &arena, &got), PODEND_WRITE);
		assert_string_equal(got.containers.items[0].state.reason, rows[i].want);
	}
}

/* The API has not heard of the container that was started last: its name is a source's. */
static void test_newer_container(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podend_exit exits[] = {exit_of("aa", 1), exit_of("a2", 0), exit_of("bb", 0)};
	struct podobj_pod_status got;
	struct podmake m = {};

	start(&m);
	exits[1].name = "a";
	exits[1].finished_wall_ns = 900 * S;
	assert_int_equal(make(&m, exits, 3, &arena, &got), PODEND_WRITE);
	assert_string_equal(got.containers.items[0].id, "containerd://a2");
	assert_int_equal(got.containers.items[0].state.exit_code, 0);
	assert_int_equal(got.containers.items[0].last.exit_code, 1);
	assert_string_equal(got.phase, "Succeeded");
}

static void test_nothing_to_write(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct podend_exit exits[] = {exit_of("aa", 0), exit_of("bb", 1)};
	struct podobj_pod_status got;
	struct podmake m = {};

	start(&m);
	m.pod.status.phase = "Succeeded";
	/* Ready with a terminal phase contradicts itself: the phase stands, Ready does not. */
	assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_WRITE);
	assert_string_equal(got.phase, "Succeeded");
	assert_string_equal(status_of(&got, PODCOND_READY), "False");
	m.conditions[0].status = m.conditions[1].status = "False";
	assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_THERE);
	m.pod.uid = "u2";
	assert_int_equal(make(&m, exits, 2, &arena, &got), PODEND_OTHER);
}

static void test_no_memory(void **state)
{
	const struct podend_exit exits[] = {exit_of("aa", 0), exit_of("bb", 1)};
	struct podmake m = {};
	int r = -1;

	start(&m);
	for (size_t limit = 64; r != PODEND_WRITE && limit < 65536; limit += 64) {
		_cleanup_(arena_free) struct arena arena = {.limit = limit};
		struct podobj_pod_status got = {.phase = "untouched"};

		r = make(&m, exits, 2, &arena, &got);
		if (r < 0)
			assert_string_equal(got.phase, "untouched");
	}
	assert_int_equal(r, PODEND_WRITE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a static pod's mirror is Failed where its containers would be restarted",
		      test_static),
		CLAIM("exit codes decide the phase, and Ready is False with it", test_phase),
		CLAIM("an end that was not observed is unknown, and has no time", test_unseen),
		CLAIM("an end that the API has already stays", test_former_end),
		CLAIM("a reason is the runtime's, or follows from the exit", test_reasons),
		CLAIM("a container that the API has not heard of is the state, the one before it "
		      "the last state",
		      test_newer_container),
		CLAIM("a terminal phase stays, and another pod of the name is left alone",
		      test_nothing_to_write),
		CLAIM("without memory nothing is made", test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
