// SPDX-License-Identifier: Apache-2.0
/* Claims about io/proc: hostile names do not bend the numbers, and the init is found. */
#include <limits.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/proc/proc.h"
#include "io/proc/self.h"
#include "lib/box/peek.h"
#include "lib/claim.h"

#define REST " S 7 1 1 0 -1 4194560 90 0 1 0 0 1 0 0 20 0 1 0 12345 1 1 1 4096"

static const struct stat_row {
	const char *text;
	int r;
	const char *comm;
} stats[] = {
	{"42 (sleep)" REST, 0, "sleep"},
	{"42 (a) R 1 (b)" REST, 0, "a) R 1 (b"},
	{"42 ()) S 0 0)" REST, 0, ")) S 0 0"},
	{"42 (two\nlines)" REST, 0, "two\nlines"},
	{"42 ()" REST, 0, ""},
	{"42 (a name of more than it can be)" REST, 0, "a name of more "},
	{"42 (sleep)", -EBADMSG, NULL},
	{"42 (sleep) S 7", -EBADMSG, NULL},
	{"42 sleep" REST, -EBADMSG, NULL},
	{"42 )sleep(" REST, -EBADMSG, NULL},
	{"", -EBADMSG, NULL},
	{"42 (x) S 7 1 1 0 -1 4194560 90 0 1 0 0 1 0 0 20 0 1 0 18446744073709551615 1 1 1 4096",
	 -EBADMSG, NULL},
};

static void test_stat(void **state)
{
	for (size_t i = 0; i < LEN(stats); i++) {
		struct procfs_stat got = {};

		print_message("# stat %zu\n", i);
		assert_int_equal(procfs_parse_stat(stats[i].text, strlen(stats[i].text), &got),
				 stats[i].r);
		if (stats[i].r < 0)
			continue;
		assert_string_equal(got.comm, stats[i].comm);
		assert_int_equal(got.state, 'S');
		assert_int_equal(got.ppid, 7);
		assert_int_equal(got.flags, 4194560);
		assert_int_equal(got.start_ns, 123450000000ull);
		assert_int_equal(got.code, 4096);
	}
}

static const struct status_row {
	const char *text;
	int r;
	uint32_t uid, ns_pid, depth;
} statuses[] = {
	{"Name:\tx\nUid:\t1000\t0\t0\t0\nNSpid:\t42\n", 0, 1000, 42, 1},
	{"Name:\tx\nUid:\t0\t0\t0\t0\nNSpid:\t42\t7\t1\nNSpgid:\t9\n", 0, 0, 1, 3},
	{"Name:\tUid:\\nNSpid:\nUid:\t5\t0\nNSpid:\t42", 0, 5, 42, 1},
	{"Uid:\t0\n", -EBADMSG, 0, 0, 0},
	{"NSpid:\t4\n", -EBADMSG, 0, 0, 0},
	{"Uid:\t0\nNSpid:\t\n", -EBADMSG, 0, 0, 0},
	{"Uid:\t0\nNSpid:\t1 x\n", -EBADMSG, 0, 0, 0},
	{"", -EBADMSG, 0, 0, 0},
};

static void test_status(void **state)
{
	for (size_t i = 0; i < LEN(statuses); i++) {
		const struct status_row *row = statuses + i;
		struct procfs_status got = {};

		print_message("# status %zu\n", i);
		assert_int_equal(procfs_parse_status(row->text, strlen(row->text), &got), row->r);
		assert_int_equal(got.uid, row->uid);
		assert_int_equal(got.ns_pid, row->ns_pid);
		assert_int_equal(got.ns_depth, row->depth);
	}
}

#define PROC(pid_, ppid_, ns, depth, start, exiting_)                                  \
	{                                                                              \
		.proc = {.pid = pid_, .ns_pid = ns, .start_ns = start}, .ppid = ppid_, \
		.ns_depth = depth, .exiting = exiting_                                 \
	}

#define NAMED(pid_, ppid_, ns, depth, start, exe_)                                   \
	{                                                                            \
		.proc = {.pid = pid_, .ns_pid = ns, .start_ns = start, .exe = exe_}, \
		.ppid = ppid_, .ns_depth = depth                                     \
	}

#define STAGE(pid_, ppid_, ns, depth, start)                                           \
	{                                                                              \
		.proc = {.pid = pid_, .ns_pid = ns, .start_ns = start}, .ppid = ppid_, \
		.ns_depth = depth, .stage = true                                       \
	}

static const struct init_row {
	const char *what;
	struct procfs_proc procs[4];
	size_t n;
	uint32_t pid, rank;
} inits[] = {
	{"nobody", {}, 0, 0, GRACED_INIT_NONE},
	{"PID 1 beats an older process",
	 {PROC(90, 1, 9, 2, 100, 0), PROC(20, 5, 1, 2, 300, 0)},
	 2,
	 20,
	 GRACED_INIT_PID1},
	{"PID 1 of a nested namespace is not the init",
	 {PROC(20, 5, 1, 2, 300, 0), PROC(10, 20, 1, 3, 200, 0)},
	 2,
	 20,
	 GRACED_INIT_PID1},
	{"of two from outside, the older",
	 {PROC(30, 5, 1, 2, 400, 0), PROC(20, 5, 1, 2, 300, 0)},
	 2,
	 20,
	 GRACED_INIT_PID1},
	{"PID 1 of the host's own namespace is a process like any other",
	 {PROC(1, 0, 1, 1, 500, 0), PROC(20, 1, 20, 1, 300, 0)},
	 2,
	 20,
	 GRACED_INIT_GUESSED},
	{"of one start, the lower pid",
	 {PROC(30, 5, 30, 1, 300, 0), PROC(20, 5, 20, 1, 300, 0)},
	 2,
	 20,
	 GRACED_INIT_GUESSED},
	{"a sandbox whose parent has died is not the init: that is further up, and older",
	 {PROC(90, 5, 90, 1, 100, 0), PROC(95, 5, 1, 2, 300, 0)},
	 2,
	 90,
	 GRACED_INIT_GUESSED},
	{"what came in later from further up is not the init",
	 {PROC(20, 5, 1, 2, 300, 0), PROC(90, 5, 90, 1, 400, 0)},
	 2,
	 20,
	 GRACED_INIT_PID1},
	{"a stage of a runtime is not the init",
	 {STAGE(30, 5, 30, 1, 100), PROC(40, 5, 1, 2, 300, 0)},
	 2,
	 40,
	 GRACED_INIT_PID1},
	{"nor is the only one", {STAGE(30, 5, 30, 1, 100)}, 1, 0, GRACED_INIT_NONE},
	{"a program with a runtime's name may be the init",
	 {NAMED(30, 5, 30, 1, 100, "runc")},
	 1,
	 30,
	 GRACED_INIT_GUESSED},
	{"PID 1 that has yet to exec is the init",
	 {STAGE(30, 5, 1, 2, 100)},
	 1,
	 30,
	 GRACED_INIT_PID1},
	{"one that is exiting is not an init", {PROC(20, 5, 1, 2, 300, 1)}, 1, 0, GRACED_INIT_NONE},
};

static void test_choose(void **state)
{
	for (size_t i = 0; i < LEN(inits); i++) {
		struct init_row row = inits[i];
		const struct procfs_proc *got;
		uint32_t rank = 99;

		print_message("# %s\n", row.what);
		got = procfs_choose_init(row.procs, row.n, &rank);
		assert_int_equal(got ? got->proc.pid : 0, row.pid);
		assert_int_equal(rank, row.rank);
	}
}

#define CGROUPS "9:name=systemd:/s\n8:cpu,cpuacct:/c:d\n4:memory:/m\n0::/u\n"

static void test_cgroup(void **state)
{
	char path[64] = "", tiny[3];

	assert_int_equal(procfs_parse_cgroup(CGROUPS, "memory", path, sizeof(path)), 0);
	assert_string_equal(path, "/m");
	assert_int_equal(procfs_parse_cgroup(CGROUPS, "cpuacct", path, sizeof(path)), 0);
	assert_string_equal(path, "/c:d");
	assert_int_equal(procfs_parse_cgroup(CGROUPS, NULL, path, sizeof(path)), 0);
	assert_string_equal(path, "/u");
	assert_int_equal(procfs_parse_cgroup(CGROUPS, "pids", path, sizeof(path)), -ENOENT);
	assert_int_equal(procfs_parse_cgroup("", NULL, path, sizeof(path)), -ENOENT);
	assert_int_equal(procfs_parse_cgroup(":\n::", "x", path, sizeof(path)), -ENOENT);
	assert_int_equal(procfs_parse_cgroup("0::/abc", NULL, tiny, sizeof(tiny)), -ENAMETOOLONG);
}

static void test_self(void **state)
{
	struct procfs_proc self;

	assert_int_equal(procfs_read(getpid(), 77, &self), 0);
	assert_int_equal(procfs_ns_pid(&self, 0), self.proc.ns_pid);
	assert_int_equal(procfs_ns_pid(&self, procfs_pidns(getpid())), self.proc.ns_pid);
	assert_int_equal(procfs_ns_pid(&self, procfs_pidns(getpid()) + 1), 0);
	assert_int_equal(self.proc.pid, getpid());
	assert_int_equal(self.ppid, getppid());
	assert_int_equal(self.proc.uid, getuid());
	assert_int_equal(self.proc.cgroup_id, 77);
	assert_string_equal(self.proc.comm, "test_proc");
	assert_string_equal(self.proc.exe, "all"); /* what the name is a link to */
	assert_false(self.exiting);
	assert_true(procfs_alive(getpid(), self.proc.start_ns));
	assert_true(procfs_alive(getpid(), self.proc.start_ns + 9999999));
	assert_false(procfs_alive(getpid(), self.proc.start_ns + 10000000));
}

static void test_zombie(void **state)
{
	struct procfs_proc child;
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(procfs_read(pid, 0, &child), 0);
	assert_true(child.exiting);
	assert_false(procfs_alive(pid, child.proc.start_ns));
	assert_false(procfs_ends(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(procfs_read(pid, 0, &child), -ESRCH);
	assert_false(procfs_alive(pid, child.proc.start_ns));
	assert_false(procfs_ends(pid));
}

/* Allows that many more descriptors; 0: none. */
static void limit_descriptors(struct rlimit *old, unsigned int more)
{
	int fd = dup(STDERR_FILENO);
	struct rlimit few;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, old), 0);
	few = *old;
	few.rlim_cur = (rlim_t)fd + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

#define DESCRIPTORS_ENOUGH 4

/* A process is there, and reading of it takes two descriptors at a time. */
static void see_with_few_descriptors(pid_t pid)
{
	struct procfs_proc p;
	struct rlimit old;
	uint64_t start_ns;

	assert_int_equal(procfs_read(pid, 0, &p), 0);
	assert_false(p.exiting);
	start_ns = p.proc.start_ns;
	for (unsigned int more = 0; more <= DESCRIPTORS_ENOUGH; more++) {
		bool alive, exiting = false;
		int r;

		limit_descriptors(&old, more);
		alive = procfs_alive(pid, start_ns);
		r = procfs_read(pid, 0, &p);
		exiting = r == 0 && p.exiting;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		print_message("%u descriptors: %d\n", more, r);
		assert_true(alive);
		assert_false(exiting);
		assert_true(r == 0 || r == -EMFILE);
	}
}

static void *pause_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static pid_t start_process(bool leader_leaves)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!leader_leaves)
		pause_forever(NULL);
	pthread_create(&thread, NULL, pause_forever, NULL);
	pthread_exit(NULL);
}

static void test_without_descriptors(void **state)
{
	for (int leader_leaves = 0; leader_leaves < 2; leader_leaves++) {
		pid_t pid = start_process(leader_leaves);

		assert_true(pid > 0);
		if (leader_leaves)
			assert_int_equal(peek_await_leader_gone(pid), 0);
		assert_false(procfs_ends(pid));
		see_with_few_descriptors(pid);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

/* Under v1 it is nowhere else to be seen. */
static void test_cgroup_of_a_leader_that_left(void **state)
{
	char own[PATH_MAX] = "", its[PATH_MAX] = "";
	pid_t pid = start_process(true);

	assert_true(pid > 0);
	assert_int_equal(peek_await_leader_gone(pid), 0);
	assert_int_equal(procfs_cgroup_of(getpid(), "memory", own, sizeof(own)),
			 procfs_cgroup_of(pid, "memory", its, sizeof(its)));
	assert_string_equal(its, own);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The leader and one more are read, of three. */
static void test_threads_unread(void **state)
{
	struct audit_facts facts = {.signal = SIGTERM};
	pthread_t threads[2];

	for (size_t i = 0; i < LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, pause_forever, NULL), 0);
	assert_int_equal(procfs_sig_read(getpid(), 1, &facts), 0);
	assert_true(facts.threads_unread);
	assert_int_equal(procfs_sig_read(getpid(), 2, &facts), 0);
	assert_false(facts.threads_unread);
	for (size_t i = 0; i < LEN(threads); i++) {
		pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
}

static void test_children(void **state)
{
	pid_t child;

	assert_false(procfs_has_child(getpid()));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause_forever(NULL);
	}
	assert_true(procfs_has_child(getpid()));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(procfs_has_child(getpid()));
}

static void test_code(void **state)
{
	struct selfstat before, after;

	assert_int_equal(selfstat_read(&before), 0);
	self_drop_code();
	assert_int_equal(selfstat_read(&after), 0);
	assert_in_range(after.resident_bytes, 1, before.resident_bytes - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a process's name does not bend the numbers behind it", test_stat),
		CLAIM("uid and innermost pid are read, or the text is refused", test_status),
		CLAIM("the init is PID 1 from outside, else the oldest", test_choose),
		CLAIM("a process's cgroup is found by hierarchy", test_cgroup),
		CLAIM("this very process is read as it is", test_self),
		CLAIM("a zombie is not alive", test_zombie),
		CLAIM("a process that cannot be read for lack of descriptors is alive",
		      test_without_descriptors),
		CLAIM("a process whose leader has left is in the cgroup of its threads",
		      test_cgroup_of_a_leader_that_left),
		CLAIM("threads beyond the limit are reported as unread", test_threads_unread),
		CLAIM("whether a process has a child is read", test_children),
		CLAIM("code that was needed at first is not resident for good", test_code),
	};

	return cmocka_run_group_tests_name("io/proc", tests, NULL, NULL);
}
