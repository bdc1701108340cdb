// SPDX-License-Identifier: Apache-2.0
// Start one process the way a container runtime does, and see it end.
#include "lib/box/proc.h"

#include "lib/box/hier.h"
#include "lib/box/peek.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HIGH_FD 100

/* What parent and child share while the child is being set up; all close on exec. */
struct launch {
	const struct proc_spec *spec;
	const char *argv[64];
	int page_fd;
	int ready[2];
	int gate[2];  /* the child waits here until it is in its cgroup */
	int stage[2]; /* a stage tells the pid of the init it made */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int raise_fd(int fd)
{
	int high;

	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	high = high < 0 ? -errno : high;
	close(fd);
	return high;
}

/* The child moves two of these to fixed low numbers, so none of them may have a low one. */
static int high_pipe(int ret[2])
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	ret[0] = raise_fd(fds[0]);
	ret[1] = raise_fd(fds[1]);
	return ret[0] < 0 ? ret[0] : ret[1] < 0 ? ret[1] : 0;
}

static void launch_close(struct launch *launch)
{
	close_fd(&launch->page_fd);
	for (int i = 0; i < 2; i++) {
		close_fd(&launch->ready[i]);
		close_fd(&launch->gate[i]);
		close_fd(&launch->stage[i]);
	}
}

static int launch_open(struct launch *launch, const struct proc_spec *spec)
{
	const char *base = strrchr(spec->exe, '/');
	size_t n = 0;
	int r;

	*launch = (struct launch){.spec = spec,
				  .page_fd = -1,
				  .ready = {-1, -1},
				  .gate = {-1, -1},
				  .stage = {-1, -1}};
	launch->argv[n++] = base ? base + 1 : spec->exe;
	for (size_t i = 0; spec->argv && spec->argv[i]; i++) {
		if (n + 1 >= sizeof(launch->argv) / sizeof(launch->argv[0]))
			return -E2BIG;
		launch->argv[n++] = spec->argv[i];
	}
	launch->page_fd = raise_fd(memfd_create("page", MFD_CLOEXEC));
	if (launch->page_fd < 0)
		return launch->page_fd;
	if (ftruncate(launch->page_fd, PAGE_BYTES) < 0)
		return -errno;
	r = high_pipe(launch->ready);
	if (!r)
		r = high_pipe(launch->gate);
	if (!r && spec->stages)
		r = high_pipe(launch->stage);
	return r;
}

/* From here to the exec the child may be a fork of a threaded program: system calls only. */
static void child_exec(const struct launch *launch) __attribute__((noreturn));
static void child_exec(const struct launch *launch)
{
	const struct proc_spec *spec = launch->spec;
	struct rlimit core = {spec->core ? RLIM_INFINITY : 0, spec->core ? RLIM_INFINITY : 0};
	char *env[] = {"PATH=/usr/bin:/bin", NULL};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &core);
	for (int sig = 1; sig < 65; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir(spec->cwd ? spec->cwd : "/") < 0 || dup2(launch->page_fd, PAGE_FD) < 0 ||
	    dup2(launch->ready[1], READY_FD) < 0)
		_exit(126);
	if (spec->run)
		spec->run(page_attach());
	execve(spec->exe, (char *const *)launch->argv, env);
	_exit(127);
}

static void child_stage(const struct launch *launch) __attribute__((noreturn));
static void child_stage(const struct launch *launch)
{
	struct clone_args args = {.flags = CLONE_PARENT};
	long pid;

	if (launch->spec->new_pidns && unshare(CLONE_NEWPID) < 0)
		_exit(125);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		child_exec(launch);
	if (pid < 0 || write(launch->stage[1], &pid, sizeof(pid)) != sizeof(pid))
		_exit(124);
	_exit(0);
}

static void child_main(struct launch *launch) __attribute__((noreturn));
static void child_main(struct launch *launch)
{
	char byte;

	close(launch->gate[1]);
	if (read(launch->gate[0], &byte, 1) != 1)
		_exit(123);
	if (launch->spec->stages)
		child_stage(launch);
	child_exec(launch);
}

/* Clone with the namespace wishes of the spec; returns the pid (0 in the child) or -errno. */
static int clone_child(const struct proc_spec *spec, int *pidfd)
{
	bool own = spec->new_pidns && !spec->stages;
	struct clone_args args = {
		.flags = CLONE_PIDFD | (own ? CLONE_NEWPID : 0),
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};
	pid_t set[2] = {own ? 1 : spec->want_pid, spec->want_pid};
	long pid;

	if (spec->want_pid) {
		args.set_tid = (uint64_t)(uintptr_t)set;
		args.set_tid_size = own ? 2 : 1;
	}
	pid = syscall(SYS_clone3, &args, sizeof(args));
	return pid < 0 ? -errno : (int)pid;
}

/* The same, as a member of another process's pid namespace. */
static int clone_into(const struct proc_spec *spec, int *pidfd)
{
	char path[64];
	int own, other, pid;

	if (!spec->pidns_of)
		return clone_child(spec, pidfd);
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)spec->pidns_of);
	own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	other = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || other < 0 || setns(other, CLONE_NEWPID) < 0)
		pid = -errno;
	else
		pid = clone_child(spec, pidfd);
	if (pid != 0 && own >= 0)
		setns(own, CLONE_NEWPID);
	if (own >= 0)
		close(own);
	if (other >= 0)
		close(other);
	return pid;
}

/* The stage made the init and leaves; the init takes the stage's place in proc. */
static int adopt_init(struct launch *launch, struct proc *proc)
{
	long pid = 0;
	int status, fd;

	close_fd(&launch->stage[1]);
	if (read(launch->stage[0], &pid, sizeof(pid)) != sizeof(pid))
		return -ECHILD;
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	waitpid(proc->pid, &status, 0);
	close(proc->pidfd);
	proc->pid = (pid_t)pid;
	proc->pidfd = fd;
	return fd < 0 ? -errno : 0;
}

static int let_loose(struct launch *launch, struct proc *proc)
{
	const struct proc_spec *spec = launch->spec;
	int r;

	for (int i = 0; i < PROC_CGROUPS; i++) {
		r = spec->cgroups[i] ? cg_enter(spec->cgroups[i], proc->pid) : 0;
		if (r)
			return r;
	}
	proc->ns_pid = peek_ns_pid(proc->pid);
	if (write(launch->gate[1], "g", 1) != 1)
		return -errno;
	r = spec->stages ? adopt_init(launch, proc) : 0;
	if (spec->stages)
		proc->ns_pid = spec->new_pidns ? 1 : proc->pid;
	return r;
}

int proc_start(const struct proc_spec *spec, struct proc *ret)
{
	struct proc proc = {.pidfd = -1, .ready_fd = -1};
	struct launch launch;
	int r = launch_open(&launch, spec);

	if (!r)
		proc.page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
				 launch.page_fd, 0);
	if (!r && proc.page == MAP_FAILED)
		r = -errno;
	if (r) {
		launch_close(&launch);
		return r;
	}
	proc.before_clone_ns = page_clock_ns();
	r = clone_into(spec, &proc.pidfd);
	if (r == 0)
		child_main(&launch);
	if (r > 0) {
		proc.pid = r;
		r = let_loose(&launch, &proc);
		proc.after_clone_ns = page_clock_ns();
		proc.ready_fd = launch.ready[0];
		launch.ready[0] = -1;
	}
	launch_close(&launch);
	if (!r && !spec->no_wait)
		r = proc_await_ready(&proc);
	if (r)
		proc_free(&proc);
	else
		*ret = proc;
	return r;
}

int proc_await_ready(struct proc *proc)
{
	struct pollfd poll_fd = {.fd = proc->ready_fd, .events = POLLIN};
	char byte;
	int n;

	do
		n = poll(&poll_fd, 1, PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	proc->ready = read(proc->ready_fd, &byte, 1) == 1;
	close_fd(&proc->ready_fd);
	return 0;
}

int proc_wait(struct proc *proc, struct proc_end *ret)
{
	struct pollfd poll_fd = {.fd = proc->pidfd, .events = POLLIN};
	struct proc_end end = {0};
	siginfo_t info;
	int n;

	if (proc->pid <= 0)
		return -ECHILD;
	do
		n = poll(&poll_fd, 1, PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ETIMEDOUT;
	if (waitid(P_PID, (id_t)proc->pid, &info, WEXITED | WNOWAIT) < 0)
		return -errno;
	end.waited_ns = page_clock_ns();
	if (waitpid(proc->pid, &end.status, 0) < 0)
		return -errno;
	proc->pid = 0;
	*ret = end;
	return 0;
}

void proc_free(struct proc *proc)
{
	struct proc_end end;

	if (!proc)
		return;
	/* No signal to what has ended: a tracer would tell of it. */
	if (proc->pid > 0 && waitpid(proc->pid, NULL, WNOHANG) == 0) {
		kill(proc->pid, SIGKILL);
		proc_wait(proc, &end);
	}
	close_fd(&proc->pidfd);
	close_fd(&proc->ready_fd);
	if (proc->page)
		munmap(proc->page, PAGE_BYTES);
	proc->page = NULL;
	proc->pid = 0;
}
