// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/sender: a sender that cannot be known, and one of which it is not known
 * where it runs. */
#include "core/stop/sender.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define CG_UNWATCHED 987654 /* there was no room for it */

static void map_open(struct cgmap *map)
{
	static const struct {
		uint64_t id;
		const char *path;
	} tree[] = {
		{CG_ROOT, "/"},
		{CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A},
		{CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1},
		{CG_B1, "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1},
		{CG_SYSTEM, "/system.slice"},
		{CG_CONTAINERD, "/system.slice/containerd.service"},
		{CG_KUBELET, "/system.slice/kubelet.service"},
		{CG_USER, "/user.slice"},
	};

	*map = (struct cgmap){};
	for (size_t i = 0; i < LEN(tree); i++) {
		struct cgnode *node = NULL;

		assert_int_equal(
			cgmap_add_path(map,
				       &(struct cgmap_new){.id = tree[i].id, .name = tree[i].path},
				       &node),
			0);
	}
}

/* Judges one signal to the init of A1, and compares. */
static void assert_judged(const char *what, const struct obs_signal *sig, enum sender_kind kind,
			  enum relation relation, struct sender *ret)
{
	struct sender got = {};
	struct cgmap map;

	map_open(&map);
	sender_judge(&map, sig, cgmap_get(&map, CG_A1), P_SELF.pid, &got);
	if (got.kind != kind || got.relation != relation)
		fail_msg("%s: kind %d, relation %d", what, got.kind, got.relation);
	if (ret)
		*ret = got;
	sender_done(&map, &got);
	cgmap_done(&map);
}

static void test_codes(void **state)
{
	static const struct graced_proc idle = {.comm = "swapper/0"};
	static const struct {
		const char *what;
		uint32_t sig;
		int32_t code;
		const struct graced_proc *current;
		enum sender_kind kind;
		enum relation relation;
	} want[] = {
		{"a timer, while another pod ran", 15, -2, &P_B1, SENDER_UNKNOWN, RELATION_UNKNOWN},
		{"a message queue, while runc ran", 15, -3, &P_RUNC, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"asynchronous I/O, while it ran itself", 15, -4, &P_A1, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"queued SIGIO, while PID 1 ran", 29, -5, &P_SYSTEMD, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"a timer, while the CPU was idle", 15, -2, &idle, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"something to read, while it ran itself", 15, 1, &P_A1, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"a hang-up, while it ran itself", 15, 6, &P_A1, SENDER_UNKNOWN, RELATION_UNKNOWN},
		{"something to read, while another ran", 15, 1, &P_B1, SENDER_UNKNOWN,
		 RELATION_UNKNOWN},
		{"SIGILL, its own", 4, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"SIGTRAP, its own", 5, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"SIGBUS, its own", 7, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"SIGFPE, its own", 8, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"SIGSEGV, its own", 11, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"SIGSYS, its own", 31, 1, &P_A1, SENDER_KERNEL, RELATION_SELF},
		{"sigqueue", 15, -1, &P_B1, SENDER_POD, RELATION_OTHER_POD},
		{"tgkill", 15, -6, &P_B1, SENDER_POD, RELATION_OTHER_POD},
		{"a code that only processes use", 15, -60, &P_B1, SENDER_POD, RELATION_OTHER_POD},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct obs_signal sig = {.sig = want[i].sig,
					       .code = want[i].code,
					       .target = P_A1,
					       .sender = *want[i].current};

		assert_judged(want[i].what, &sig, want[i].kind, want[i].relation, NULL);
	}
}

static void test_nothing_is_left(void **state)
{
	const struct obs_signal sig = {
		.sig = 15, .code = -2, .target = P_A1, .sender = P_RUNC, .ancestors = {P_SHIM}};
	struct sender got;

	assert_judged("a timer", &sig, SENDER_UNKNOWN, RELATION_UNKNOWN, &got);
	assert_int_equal(got.proc.pid, 0);
	assert_string_equal(got.proc.comm, "");
	assert_string_equal(got.ancestors[0], "");
	assert_null(got.node);
}

static void test_unplaced(void **state)
{
	static const struct {
		const char *what, *exe;
		uint64_t watch;
		uint32_t pid;
		enum sender_kind kind;
		enum relation relation;
	} want[] = {
		{"below a branch", "bash", CG_USER, 900, SENDER_UNPLACED, RELATION_UNPLACED},
		{"root called runc", "runc", CG_SYSTEM, 812, SENDER_UNPLACED, RELATION_UNPLACED},
		{"below a runtime's unit", "sh", CG_CONTAINERD, 813, SENDER_UNPLACED,
		 RELATION_UNPLACED},
		{"below the kubelet's unit", "sh", CG_KUBELET, 814, SENDER_UNPLACED,
		 RELATION_UNPLACED},
		{"below the target's pod", "sh", CG_POD_A, 816, SENDER_UNPLACED, RELATION_UNPLACED},
		{"below a container", "runc", CG_B1, 817, SENDER_POD, RELATION_OTHER_POD},
		{"below the target's container", "sh", CG_A1, 818, SENDER_POD,
		 RELATION_SAME_CONTAINER},
		{"PID 1 of the host", "systemd", CG_ROOT, 1, SENDER_SYSTEMD, RELATION_MANAGER},
		{"graced itself", "graced", CG_SYSTEM, 77, SENDER_GRACED, RELATION_MANAGER},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs_signal sig = {.sig = 15,
					 .target = P_A1,
					 .sender = {.pid = want[i].pid,
						    .watch_id = want[i].watch,
						    .cgroup_id = CG_UNWATCHED},
					 .ancestors = {P_SHIM}};
		struct sender got;

		snprintf(sig.sender.exe, sizeof(sig.sender.exe), "%s", want[i].exe);
		assert_judged(want[i].what, &sig, want[i].kind, want[i].relation, &got);
		/* The process is known; where it is, is not. */
		assert_int_equal(got.proc.pid, want[i].pid);
		assert_string_equal(got.ancestors[0], "containerd-shim");
		if (want[i].kind == SENDER_UNPLACED)
			assert_int_equal(got.proc.watch_id, 0);
	}
}

/* The sender is one of the host's, and what it descends from decides. */
static void test_unplaced_ancestors(void **state)
{
	struct obs_signal sig = {
		.sig = 15,
		.target = P_A1,
		.sender = {.pid = 900, .watch_id = CG_USER, .cgroup_id = CG_USER, .exe = "sh"},
		.ancestors = {P_SHIM},
	};

	assert_judged("a shim", &sig, SENDER_RUNTIME, RELATION_MANAGER, NULL);
	sig.ancestors[0].watch_id = CG_SYSTEM;
	sig.ancestors[0].cgroup_id = CG_UNWATCHED;
	assert_judged("what may be a shim", &sig, SENDER_UNPLACED, RELATION_UNPLACED, NULL);
	sig.ancestors[1] = P_SHIM;
	assert_judged("a shim above it", &sig, SENDER_RUNTIME, RELATION_MANAGER, NULL);
	sig.ancestors[0].watch_id = CG_B1;
	sig.ancestors[1].pid = 0;
	assert_judged("one in a container", &sig, SENDER_HOST, RELATION_HOST, NULL);
}

static void test_same(void **state)
{
	static const struct {
		const char *what;
		int32_t code;
		uint64_t cgroup;
		uint32_t pid[2];
		bool same;
	} want[] = {
		{"one process of the host", 0, CG_USER, {7, 7}, true},
		{"two of one cgroup of the host", 0, CG_USER, {7, 8}, false},
		{"one process, nobody knows where", 0, CG_UNWATCHED, {7, 7}, true},
		{"two, nobody knows where", 0, CG_UNWATCHED, {7, 8}, false},
		{"one timer and another", -2, CG_USER, {7, 7}, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct sender s[2] = {};
		struct cgmap map;

		map_open(&map);
		for (int k = 0; k < 2; k++) {
			const struct obs_signal sig = {.sig = 15,
						       .code = want[i].code,
						       .target = P_A1,
						       .sender = {.pid = want[i].pid[k],
								  .start_ns = 5,
								  .watch_id = CG_USER,
								  .cgroup_id = want[i].cgroup}};

			sender_judge(&map, &sig, cgmap_get(&map, CG_A1), P_SELF.pid, &s[k]);
		}
		if (sender_same(&s[0], &s[1]) != want[i].same)
			fail_msg("%s", want[i].what);
		sender_done(&map, &s[0]);
		sender_done(&map, &s[1]);
		cgmap_done(&map);
	}
}

/* Rows 6, 10 and 19 of the decision table. */
static void test_verdicts(void **state)
{
	static const enum relation from[] = {RELATION_UNKNOWN, RELATION_UNPLACED};

	for (size_t i = 0; i < LEN(from); i++) {
		struct outcome_facts f = {.status_seen = true,
					  .status = 9,
					  .kill_seen = true,
					  .kill_from = from[i],
					  .request_open = true,
					  .window_complete = true};

		assert_int_equal(outcome_decide(&f).row, OUTCOME_ROW_6);
		f.kill_escalates = true;
		assert_int_equal(outcome_decide(&f).row, OUTCOME_ROW_10);
		f.status = 14;
		f.fatal_from = from[i];
		assert_int_equal(outcome_decide(&f).row, OUTCOME_ROW_19);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a signal that the kernel may have raised while anybody ran has no sender",
		      test_codes),
		CLAIM("nothing is kept of who ran then", test_nothing_is_left),
		CLAIM("a process that may be in an unwatched container is no manager and no host's",
		      test_unplaced),
		CLAIM("nor is one whose ancestors may be a runtime's", test_unplaced_ancestors),
		CLAIM("a death of their signals has an unknown cause, unless who asked killed",
		      test_verdicts),
		CLAIM("two whose place is not known are the same as one process only", test_same),
	};

	return cmocka_run_group_tests_name("core/stop/sender: unknown", tests, NULL, NULL);
}
