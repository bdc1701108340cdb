// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/sender: who sent a signal, by two lists (graced-records(5), "sender"
 * and OUTCOME AND CAUSE). */
#include "core/stop/sender.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define CG_ROOTLESS	 70 /* below user.slice */
#define CG_DEEPER	 71 /* below containerd.service */
#define CG_HANDMADE	 72 /* named as a unit by a user */
#define CG_CONMON	 73 /* in pod A, but no container */
#define CG_PODMAN_CONMON 74
#define CG_SNAP		 75
#define CG_POD_B	 76
#define CG_HELPER	 77 /* in pod A, but no container */
#define CG_EARLYOOM	 78

static void map_open(struct cgmap *map, bool services)
{
	static const struct {
		uint64_t id;
		const char *path;
	} tree[] = {
		{CG_ROOT, "/"},
		{CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A},
		{CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1},
		{CG_A2, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A2},
		{CG_B1, "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1},
		{CG_D1, "/docker/" WORLD_ID_D1},
		{CG_SYSTEM, "/system.slice"},
		{CG_CONTAINERD, "/system.slice/containerd.service"},
		{CG_DEEPER, "/system.slice/containerd.service/workers"},
		{CG_KUBELET, "/system.slice/kubelet.service"},
		{CG_SSHD, "/system.slice/ssh.service"},
		{CG_INIT_SCOPE, "/init.scope"},
		{CG_USER, "/user.slice"},
		{CG_ROOTLESS, "/user.slice/user-1000.slice/docker.service.d"},
		{CG_HANDMADE, "/user.slice/not-kubelet.service"},
		{CG_PODMAN_CONMON, "/machine.slice/libpod-conmon-" WORLD_ID_D1 ".scope"},
		{CG_SNAP, "/system.slice/snap.docker.dockerd.service"},
		{CG_POD_B, "/kubepods/burstable/pod" WORLD_UID_B},
		{CG_HELPER, "/kubepods/burstable/pod" WORLD_UID_A "/helper"},
		{CG_EARLYOOM, "/system.slice/earlyoom.service"},
		{CG_CONMON,
		 "/kubepods/burstable/pod" WORLD_UID_A "/crio-conmon-" WORLD_ID_A1 ".scope"},
	};

	*map = (struct cgmap){.services = services};
	for (size_t i = 0; i < LEN(tree); i++) {
		struct cgnode *node = NULL;

		/* What is below a service is a part of it. */
		if (services && tree[i].id == CG_DEEPER)
			continue;
		assert_int_equal(
			cgmap_add_path(map,
				       &(struct cgmap_new){.id = tree[i].id, .name = tree[i].path},
				       &node),
			0);
	}
}

struct shooter {
	const char *what;
	enum sender_kind kind;
	enum relation relation; /* to A1, whose init has pid 4242 */
	const char *exe, *comm; /* comm NULL: the same */
	uint64_t cgroup;
	uint32_t pid, uid, sig; /* sig 0: SIGTERM */
	int32_t code;
	uint32_t flags;
	const struct graced_proc *parent, *fourth; /* fourth NULL: it has but one ancestor */
};

#define BY(of, is, name, program, in, number, user, ...)                                      \
	{                                                                                     \
		.what = name, .kind = SENDER_##of, .relation = RELATION_##is, .exe = program, \
		.cgroup = in, .pid = number, .uid = user, __VA_ARGS__                         \
	}

static void put(char ret[GRACED_COMM_LEN], const char *s)
{
	snprintf(ret, GRACED_COMM_LEN, "%s", s ? s : "x");
}

static void assert_judged(const struct cgmap *map, const struct shooter *s)
{
	struct obs_signal sig = {
		.id = CG_A1,
		.sig = s->sig ?: 15,
		.code = s->code,
		.flags = s->flags | GRACED_SIG_INIT,
		.target = P_A1,
		.sender =
			{
				.pid = s->pid,
				.uid = s->uid,
				.cgroup_id = s->cgroup,
				.watch_id = s->cgroup,
				.start_ns = 5,
			},
	};
	struct sender got = {};

	put(sig.sender.exe, s->exe);
	put(sig.sender.comm, s->comm ? s->comm : s->exe);
	if (s->parent)
		sig.ancestors[0] = *s->parent;
	if (s->fourth) {
		sig.ancestors[1] = sig.ancestors[2] = *s->parent;
		sig.ancestors[3] = *s->fourth;
	}
	sender_judge(map, &sig, cgmap_get(map, CG_A1), P_SELF.pid, &got);
	if (got.kind != s->kind || got.relation != s->relation)
		fail_msg("%s: kind %s, relation %d", s->what, sender_kind_name(got.kind),
			 got.relation);
	sender_done((struct cgmap *)map, &got);
	assert_null(got.node);
}

static void assert_all_judged(const struct shooter *s, size_t n, bool services)
{
	struct cgmap map;

	map_open(&map, services);
	for (size_t i = 0; i < n; i++)
		assert_judged(&map, &s[i]);
	cgmap_done(&map);
}

static void test_lists(void **state)
{
	static const struct shooter want[] = {
		BY(POD, SELF, "itself", "nginx", CG_A1, 4242, 101),
		BY(KERNEL, SELF, "its own fault", "nginx", CG_A1, 4242, 101, .code = 0x80),
		BY(POD, SELF, "its own abort", "nginx", CG_A1, 4242, 101, .code = -6),
		BY(KERNEL, SELF, "its own write to a pipe without a reader", "nginx", CG_A1, 4242,
		   101, .flags = GRACED_SIG_INFO_NONE),
		BY(POD, SELF, "itself, by its cgroup.kill", "nginx", CG_A1, 4242, 101, .sig = 9,
		   .flags = GRACED_SIG_INFO_NONE),
		BY(KERNEL, KERNEL, "its own rlimit", "nginx", CG_A1, 4242, 101,
		   .flags = GRACED_SIG_INFO_PRIV),
		BY(KERNEL, KERNEL, "the kernel in somebody else's context", "java", CG_B1, 4444, 0,
		   .flags = GRACED_SIG_INFO_PRIV),
		BY(KERNEL, KERNEL, "the kernel, by code", "bash", CG_USER, 900, 0, .code = 0x80),
		BY(KERNEL, KERNEL, "the idle task", "", 0, 0, 0, .comm = "swapper/0"),
		BY(POD, SAME_CONTAINER, "its own child", "nginx", CG_A1, 4243, 101),
		BY(POD, SAME_CONTAINER, "the kernel, as its own child ends", "nginx", CG_A1, 4243,
		   101, .code = 1, .flags = GRACED_SIG_SENDER_EXITS, .parent = &P_A1),
		BY(UNKNOWN, UNKNOWN, "... or a file of it becomes ready while its child runs",
		   "nginx", CG_A1, 4243, 101, .code = 1, .parent = &P_A1),
		BY(UNKNOWN, UNKNOWN, "... or a file of it becomes ready while another runs",
		   "nginx", CG_A1, 4244, 101, .code = 1, .parent = &P_SHIM),
		BY(POD, SAME_POD, "the other container of the pod", "envoy", CG_A2, 4343, 0),
		BY(POD, OTHER_POD, "another pod", "java", CG_B1, 4444, 0),
		BY(POD, SAME_POD, "a process in the pod's own cgroup", "sh", CG_POD_A, 4344, 0),
		BY(POD, SAME_POD, "... in one below that is no container", "sh", CG_HELPER, 4345,
		   0),
		BY(POD, OTHER_POD, "... in another pod's own", "sh", CG_POD_B, 4346, 0),
		BY(RUNTIME, MANAGER, "a runtime in the pod's own cgroup", "crun", CG_POD_A, 4347,
		   0),
		BY(CONTAINER, OTHER_POD, "a container outside pods", "redis", CG_D1, 4545, 0),
		BY(SYSTEMD, MANAGER, "systemd", "systemd", CG_INIT_SCOPE, 1, 0),
		BY(SYSTEMD, MANAGER, "PID 1, whatever it is called", "init", CG_ROOT, 1, 0),
		BY(KUBELET, MANAGER, "the kubelet", "kubelet", CG_KUBELET, 600, 0),
		BY(RUNTIME, MANAGER, "the daemon of the runtime", "containerd", CG_CONTAINERD, 700,
		   0),
		BY(GRACED, MANAGER, "graced itself", "graced", CG_SYSTEM, 77, 0),
		BY(GRACED, MANAGER, "graced itself, in a container", "graced", CG_B1, 77, 0),
		BY(GRACED, MANAGER, "graced itself, in a container beside it", "graced", CG_A2, 77,
		   0),
		BY(GRACED, MANAGER, "another graced", "graced", CG_SYSTEM, 78, 0),
		BY(HOST, HOST, "another graced, by its name alone", "bash", CG_SYSTEM, 78, 0,
		   .comm = "graced"),
		BY(HOST, HOST, "another graced, of a user", "graced", CG_USER, 78, 1000),
		BY(POD, OTHER_POD, "another graced, in a container", "graced", CG_B1, 78, 0),
		BY(HOST, HOST, "another graced, in a cgroup nobody knows", "graced", 999, 78, 0),
		BY(HOST, HOST, "sshd", "sshd", CG_SSHD, 500, 0),
		BY(HOST, HOST, "somebody's shell", "bash", CG_USER, 900, 1000),
		BY(HOST, HOST, "a process in a cgroup that is not watched", "bash", 0, 901, 0),
		BY(RUNTIME, MANAGER, "cgroup.kill by the runtime", "runc", CG_CONTAINERD, 812, 0,
		   .flags = GRACED_SIG_INFO_NONE),
	};

	assert_all_judged(want, LEN(want), false);
}

static const struct graced_proc FAR = {.pid = 30, .comm = "sh", .exe = "dash"};
static const struct graced_proc CONTAINED_RUNC = {.pid = 31,
						  .uid = 0,
						  .watch_id = CG_B1,
						  .comm = "runc",
						  .exe = "runc"};
static const struct graced_proc USERS_RUNC = {.pid = 32,
					      .uid = 1000,
					      .watch_id = CG_USER,
					      .comm = "runc",
					      .exe = "runc"};

static const struct graced_proc SNAPPED = {.pid = 33,
					   .uid = 0,
					   .watch_id = CG_SNAP,
					   .comm = "sh",
					   .exe = "dash"};

static void test_runtimes(void **state)
{
	static const struct shooter want[] = {
		BY(RUNTIME, MANAGER, "by executable and root", "runc", CG_SYSTEM, 812, 0),
		BY(RUNTIME, MANAGER, "by an executable cut at 15 bytes", "containerd-shim-runc-v2",
		   CG_SYSTEM, 800, 0),
		BY(RUNTIME, MANAGER, "crun", "crun", 0, 813, 0),
		BY(RUNTIME, MANAGER, "conmon in the pod's own cgroup", "conmon", CG_CONMON, 814, 0),
		BY(HOST, HOST, "not by comm", "bash", CG_USER, 812, 0, .comm = "runc"),
		BY(HOST, HOST, "not by another user's executable", "runc", CG_USER, 812, 1000),
		BY(HOST, HOST, "not by part of a name", "runcible", CG_USER, 812, 0),
		BY(RUNTIME, MANAGER, "by its unit, whatever runs there", "sh", CG_CONTAINERD, 701,
		   65534),
		BY(RUNTIME, MANAGER, "by its unit, in a cgroup below it", "sh", CG_DEEPER, 702,
		   65534),
		BY(HOST, HOST, "not by a unit that only sounds like it", "sh", CG_ROOTLESS, 703,
		   1000),
		BY(HOST, HOST, "nor the kubelet", "sh", CG_HANDMADE, 704, 1000),
		BY(RUNTIME, MANAGER, "by its parent", "sh", CG_SYSTEM, 40, 0, .parent = &P_SHIM),
		BY(RUNTIME, MANAGER, "by its fourth ancestor", "sh", CG_SYSTEM, 40, 0,
		   .parent = &FAR, .fourth = &P_SHIM),
		BY(HOST, HOST, "not by ancestors of other kinds", "sh", CG_SYSTEM, 40, 0,
		   .parent = &FAR),
		BY(HOST, HOST, "not by an ancestor in a container", "sh", CG_SYSTEM, 40, 0,
		   .parent = &CONTAINED_RUNC),
		BY(HOST, HOST, "not by another user's ancestor", "sh", CG_SYSTEM, 40, 0,
		   .parent = &USERS_RUNC),
		BY(RUNTIME, MANAGER, "a copy that crun made of itself", "memfd:crun_cloned",
		   CG_SYSTEM, 812, 0, .comm = "3"),
		BY(RUNTIME, MANAGER, "a copy that runc made of itself", "memfd:runc_cloned",
		   CG_SYSTEM, 812, 0, .comm = "runc:[2:INIT]"),
		BY(RUNTIME, MANAGER, "a release's own name", "runc.amd64", CG_SYSTEM, 812, 0),
		BY(RUNTIME, MANAGER, "behind a wrapper", ".runc-wrapped", CG_SYSTEM, 812, 0),
		BY(RUNTIME, MANAGER, "a daemon behind a wrapper", ".containerd-wrapped", CG_SYSTEM,
		   812, 0),
		BY(RUNTIME, MANAGER, "a shim behind a wrapper", ".containerd-shim-runc-v2-wrapped",
		   CG_SYSTEM, 812, 0),
		BY(RUNTIME, MANAGER, "a daemon that was moved aside", "dockerd.real", CG_SYSTEM,
		   812, 0),
		BY(HOST, HOST, "a copy, but of another user", "memfd:crun_cloned", CG_USER, 812,
		   1000),
		BY(POD, OTHER_POD, "a copy in a container", "memfd:runc_cloned", CG_B1, 812, 0),
		BY(HOST, HOST, "not any copy in memory", "memfd:runcible", CG_USER, 812, 0),
		BY(HOST, HOST, "not a tool called after one", "docker-compose", CG_USER, 812, 0),
		BY(HOST, HOST, "not behind a wrapper a tool called after one", ".docker-compose",
		   CG_USER, 812, 0),
		BY(RUNTIME, MANAGER, "by the scope of a conmon", "sh", CG_PODMAN_CONMON, 812, 0,
		   .parent = &FAR),
		BY(RUNTIME, MANAGER, "by the scope of a conmon in a pod", "sh", CG_CONMON, 812, 0,
		   .parent = &FAR),
		BY(RUNTIME, MANAGER, "by the unit of an ancestor", "sh", CG_SYSTEM, 812, 0,
		   .parent = &SNAPPED),
		BY(HOST, HOST, "not below a cgroup nobody knows", "runc", 123456, 812, 0),
	};

	assert_all_judged(want, LEN(want), false);
}

/* Whatever they are, their signals are those of the host. */
static void test_oom_daemons(void **state)
{
	static const struct {
		const char *exe, *comm;
		uint64_t cgroup;
		uint32_t uid;
		bool frees;
	} want[] = {
		{"earlyoom", "earlyoom", CG_SYSTEM, 0, true},
		{"systemd-oomd", "systemd-oomd", CG_SYSTEM, 0, true},
		{"python3.11", "nohang", CG_SYSTEM, 0, true},
		{"earlyoom", "earlyoom", CG_EARLYOOM, 64000, true},
		{"python3.11", "python3", CG_EARLYOOM, 0, true},
		{"earlyoom", "earlyoom", CG_USER, 1000, false},
		{"bash", "earlyoom", CG_B1, 0, false},
		{"earlyoom", "earlyoom", CG_A1, 0, false},
		{"bash", "bash", CG_SYSTEM, 0, false},
		{"earlyoomer", "earlyoomer", CG_SYSTEM, 0, false},
		{"earlyoom", "earlyoom", 999, 0, false},
	};
	struct cgmap map;

	map_open(&map, false);
	for (size_t i = 0; i < LEN(want); i++) {
		struct obs_signal sig = {
			.sig = 9,
			.target = P_A1,
			.sender = {.pid = 999,
				   .uid = want[i].uid,
				   .cgroup_id = want[i].cgroup,
				   .watch_id = want[i].cgroup},
		};
		struct sender got = {};

		put(sig.sender.exe, want[i].exe);
		put(sig.sender.comm, want[i].comm);
		sender_judge(&map, &sig, cgmap_get(&map, CG_A1), 0, &got);
		if (sender_frees_memory(&got) != want[i].frees)
			fail_msg("%s of %u in %u", want[i].exe, want[i].uid,
				 (unsigned int)want[i].cgroup);
		sender_done(&map, &got);
	}
	cgmap_done(&map);
}

static void test_cleaning_up(void **state)
{
	static const struct {
		enum sender_kind kind;
		const char *comm, *parent;
		bool may;
	} want[] = {
		{SENDER_RUNTIME, "runc", "containerd-shim", true},
		{SENDER_SYSTEMD, "systemd", "", true},
		{SENDER_RUNTIME, "crun", "podman", false},
		{SENDER_RUNTIME, "podman", "bash", false},
		{SENDER_GRACED, "graced", "systemd", false},
		{SENDER_HOST, "kill", "bash", false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct sender s = {.kind = want[i].kind};

		put(s.proc.comm, want[i].comm);
		put(s.ancestors[1], want[i].parent);
		if (sender_may_clean_up(&s) != want[i].may)
			fail_msg("%s below %s", want[i].comm, want[i].parent);
	}
}

static void test_forged(void **state)
{
	static const struct shooter want[] = {
		BY(POD, OTHER_POD, "root called runc in another pod", "runc", CG_B1, 5000, 0),
		BY(POD, OTHER_POD, "its child, a real shim", "sh", CG_B1, 5001, 0,
		   .parent = &P_SHIM),
		BY(CONTAINER, OTHER_POD, "systemd of a container", "systemd", CG_D1, 5002, 0),
		BY(POD, SAME_POD, "the kubelet of a container", "kubelet", CG_A2, 5003, 0,
		   .parent = &P_KUBELET),
		BY(POD, SAME_CONTAINER, "containerd in the target itself", "containerd", CG_A1,
		   5004, 0, .parent = &P_CONTAINERD),
	};

	assert_all_judged(want, LEN(want), false);
}

/* With scope services units are recorded like containers, but they are none. */
static void test_services_are_no_containers(void **state)
{
	static const struct shooter want[] = {
		BY(RUNTIME, MANAGER, "the runtime", "containerd", CG_CONTAINERD, 700, 0),
		BY(KUBELET, MANAGER, "the kubelet", "kubelet", CG_KUBELET, 600, 0),
		BY(RUNTIME, MANAGER, "a runtime's tool under sshd", "runc", CG_SSHD, 812, 0),
		BY(HOST, HOST, "a shell under sshd", "sh", CG_SSHD, 501, 0, .parent = &P_SSHD),
		BY(POD, OTHER_POD, "another pod", "java", CG_B1, 4444, 0),
	};

	assert_all_judged(want, LEN(want), true);
}

static void test_service_as_target(void **state)
{
	static const struct {
		uint64_t cgroup;
		enum relation relation;
	} want[] = {
		{CG_SSHD, RELATION_SAME_CONTAINER}, {CG_KUBELET, RELATION_MANAGER},
		{CG_INIT_SCOPE, RELATION_MANAGER},  {CG_USER, RELATION_HOST},
		{CG_A1, RELATION_OTHER_POD},
	};
	struct cgmap map;

	map_open(&map, true);
	for (size_t i = 0; i < LEN(want); i++) {
		const struct obs_signal sig = {
			.sig = 15,
			.target = P_SSHD,
			.sender = {.pid = want[i].cgroup == CG_INIT_SCOPE ? 1 : 999,
				   .watch_id = want[i].cgroup},
		};
		struct sender got = {};

		sender_judge(&map, &sig, cgmap_get(&map, CG_SSHD), 0, &got);
		assert_int_equal(got.relation, want[i].relation);
		sender_done(&map, &got);
	}
	cgmap_done(&map);
}

static void test_same(void **state)
{
	static const struct {
		const char *what;
		uint64_t cgroup[2];
		uint32_t pid[2];
		uint64_t start[2];
		int32_t code[2];
		bool same;
	} want[] = {
		{"one process", {CG_B1, CG_B1}, {7, 7}, {5, 5}, {0, 0}, true},
		{"one number, two processes", {CG_B1, CG_B1}, {7, 7}, {5, 6}, {0, 0}, false},
		{"two of one container", {CG_B1, CG_B1}, {7, 8}, {5, 5}, {0, 0}, false},
		{"two of one host cgroup", {CG_USER, CG_USER}, {7, 8}, {5, 6}, {0, 0}, false},
		{"two of two host cgroups", {CG_USER, CG_SYSTEM}, {7, 8}, {5, 6}, {0, 0}, false},
		{"two of one service", {CG_SSHD, CG_SSHD}, {7, 8}, {5, 6}, {0, 0}, false},
		{"host and container", {CG_USER, CG_B1}, {7, 8}, {5, 6}, {0, 0}, false},
		{"the kernel in one's context", {CG_USER, CG_USER}, {7, 8}, {5, 6}, {0, 128}, false},
		{"cgroups nobody knows the id of", {0, 0}, {7, 8}, {5, 6}, {0, 0}, false},
	};

	for (size_t i = 0; i < 2 * LEN(want); i++) {
		struct sender s[2] = {};
		struct cgmap map;
		bool same;

		map_open(&map, i % 2);
		for (int k = 0; k < 2; k++) {
			const struct obs_signal sig = {
				.target = P_A1,
				.code = want[i / 2].code[k],
				.sender = {.pid = want[i / 2].pid[k],
					   .start_ns = want[i / 2].start[k],
					   .cgroup_id = want[i / 2].cgroup[k],
					   .watch_id = want[i / 2].cgroup[k]},
			};

			sender_judge(&map, &sig, NULL, 0, &s[k]);
		}
		same = sender_same(&s[0], &s[1]);
		if (same != want[i / 2].same || sender_same(&s[1], &s[0]) != same)
			fail_msg("%s", want[i / 2].what);
		sender_done(&map, &s[0]);
		sender_done(&map, &s[1]);
		cgmap_done(&map);
	}
}

struct hand {
	const char *exe, *parent_exe;
	uint32_t pid, parent, grandparent;
};

static void hand_judge(const struct cgmap *map, const struct hand *hand, struct sender *ret)
{
	struct obs_signal sig = {
		.target = P_A1,
		.sender = {.pid = hand->pid, .cgroup_id = CG_USER, .watch_id = CG_USER},
		.ancestors = {{.pid = hand->parent, .cgroup_id = CG_USER, .watch_id = CG_USER},
			      {.pid = hand->grandparent}},
	};

	strcpy(sig.sender.exe, hand->exe);
	strcpy(sig.ancestors[0].exe, hand->parent_exe);
	sender_judge(map, &sig, NULL, 0, ret);
}

/* None of them is root. */
static void test_hands(void **state)
{
	static const struct {
		const char *what;
		struct hand hand[2];
		bool same;
	} want[] = {
		{"kill and kill -9 of a script",
		 {{"kill", "bash", 7, 5, 0}, {"kill", "bash", 8, 5, 0}},
		 true},
		{"a script's builtin and its pkill",
		 {{"bash", "sh", 5, 4, 0}, {"pkill", "bash", 8, 5, 0}},
		 true},
		{"sudo kill and kill of a shell",
		 {{"kill", "sudo", 7, 6, 5}, {"kill", "bash", 8, 5, 4}},
		 true},
		{"two shells' kill", {{"kill", "bash", 7, 5, 0}, {"kill", "bash", 8, 6, 0}}, false},
		{"a rootless shim's runc, twice",
		 {{"runc", "containerd-shim", 7, 5, 0},
		  {"memfd:runc_clon", "containerd-shim", 8, 5, 0}},
		 true},
		{"two programs of a shell",
		 {{"app", "bash", 7, 5, 0}, {"app", "bash", 8, 5, 0}},
		 false},
		{"kill of two units",
		 {{"kill", "systemd", 7, 1, 0}, {"kill", "systemd", 8, 1, 0}},
		 false},
		{"kill of two units of a user",
		 {{"kill", "systemd", 7, 5, 0}, {"kill", "systemd", 8, 5, 0}},
		 false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct sender s[2] = {};
		struct cgmap map;

		map_open(&map, 0);
		for (int k = 0; k < 2; k++)
			hand_judge(&map, want[i].hand + k, s + k);
		if (sender_same(s, s + 1) != want[i].same)
			fail_msg("%s", want[i].what);
		sender_done(&map, s);
		sender_done(&map, s + 1);
		cgmap_done(&map);
	}
}

/* A terminal's signals are sent by who hangs it up, or by a thread of the kernel. */
static void test_terminals(void **state)
{
	static const struct {
		const char *what;
		uint32_t sig, pid;
		uint64_t watch, cgroup;
		enum relation relation;
	} want[] = {
		{"^C, by the kernel's thread", 2, 50, CG_ROOT, CG_ROOT, RELATION_TERMINAL},
		{"a process of the host", 1, 900, CG_USER, CG_USER, RELATION_TERMINAL},
		{"where nothing is watched", 1, 900, 0, 0, RELATION_TERMINAL},
		{"itself", 1, 4242, CG_A1, CG_A1, RELATION_SELF},
		{"another of its container", 1, 4243, CG_A1, CG_A1, RELATION_SAME_CONTAINER},
		{"another container", 1, 4343, CG_A2, CG_A2, RELATION_KERNEL},
		{"in a cgroup nobody knows", 1, 900, 999, 999, RELATION_KERNEL},
		{"in one that had no room", 1, 900, CG_USER, 998, RELATION_KERNEL},
		{"another signal", 24, 4242, CG_A1, CG_A1, RELATION_KERNEL},
	};
	struct cgmap map;

	map_open(&map, false);
	for (size_t i = 0; i < LEN(want); i++) {
		const struct obs_signal sig = {.id = CG_A1,
					       .sig = want[i].sig,
					       .flags = GRACED_SIG_INIT | GRACED_SIG_INFO_PRIV,
					       .target = P_A1,
					       .sender = {.pid = want[i].pid,
							  .cgroup_id = want[i].cgroup,
							  .watch_id = want[i].watch}};
		struct sender got = {};

		sender_judge(&map, &sig, cgmap_get(&map, CG_A1), P_SELF.pid, &got);
		if (got.kind != SENDER_KERNEL || got.relation != want[i].relation)
			fail_msg("%s: kind %s, relation %d", want[i].what,
				 sender_kind_name(got.kind), got.relation);
		sender_done(&map, &got);
	}
	cgmap_done(&map);
}

static void test_ancestors(void **state)
{
	const struct obs_signal sig = {
		.target = P_A1, .sender = P_RUNC, .ancestors = {P_SHIM, P_SYSTEMD}};
	struct sender got;
	struct cgmap map;

	map_open(&map, false);
	memset(&got, 0xa5, sizeof(got));
	sender_judge(&map, &sig, NULL, 0, &got);
	assert_string_equal(got.ancestors[0], "containerd-shim");
	assert_string_equal(got.ancestors[1], "systemd");
	assert_string_equal(got.ancestors[2], "");
	assert_string_equal(got.ancestors[3], "");
	/* The node outlives its cgroup for as long as the sender is kept. */
	cgmap_remove(&map, CG_SYSTEM);
	assert_string_equal(got.node->path, "/system.slice");
	sender_done(&map, &got);
	sender_done(&map, &got);
	cgmap_done(&map);
}

static void test_may_manage(void **state)
{
	static const char *const yes[] = {"runc", "crun", "containerd-shim-runc-v2", "podman",
					  "systemd"};
	static const char *const no[] = {"", "bash", "kill", "run", "systemd-run", "systemd-oomd"};

	for (size_t i = 0; i < LEN(yes); i++)
		assert_true(sender_may_manage(yes[i]));
	for (size_t i = 0; i < LEN(no); i++)
		assert_false(sender_may_manage(no[i]));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a runtime or systemd may clean up by itself, podman by a command",
		      test_cleaning_up),
		CLAIM("kind and relation are the first of their lists that match", test_lists),
		CLAIM("a runtime is known by unit, or by executable and root, up to four "
		      "ancestors away, never by comm",
		      test_runtimes),
		CLAIM("a runtime or systemd by its name gives a grace period, whoever runs it",
		      test_may_manage),
		CLAIM("what frees memory is known by unit, or by name and root, on the host alone",
		      test_oom_daemons),
		CLAIM("a sender inside a container is that container, whatever it calls itself",
		      test_forged),
		CLAIM("a service is no container, so a runtime's unit stays a runtime",
		      test_services_are_no_containers),
		CLAIM("who stops a service is judged as for a container", test_service_as_target),
		CLAIM("two senders are the same as one process", test_same),
		CLAIM("a program that sends for another process counts as that one", test_hands),
		CLAIM("a terminal's signal is of who sits at it, unless a container sends it",
		      test_terminals),
		CLAIM("a sender keeps the names of its ancestors and its cgroup", test_ancestors),
	};

	return cmocka_run_group_tests_name("core/stop/sender", tests, NULL, NULL);
}
