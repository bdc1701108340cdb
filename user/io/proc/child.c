// SPDX-License-Identifier: Apache-2.0
/* Forks, and takes from the child what it does not need. */
#include "io/proc/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

#define MAPS_MAX (4 << 20)
#define STOP_MS	 2000 /* a busy machine takes its time */

_Noreturn void child_end(int status)
{
	while (true)
		syscall(SYS_exit_group, status);
}

void child_close_from(int first)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	const struct dirent *entry;

	/* A filter of system calls may be older than this one. */
	if (syscall(__NR_close_range, first, ~0U, 0) == 0)
		return;
	dir = opendir("/proc/self/fd");
	if (!dir)
		child_end(1);
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(dir))
			close(fd);
	}
}

/* Maps of BPF that the daemon had before the fork could be written through them. */
static bool unmap_shared(void)
{
	_cleanup_(cleanup_free) char *maps = NULL;
	uintptr_t from, to;
	char kind;

	if (fd_read_all(AT_FDCWD, "/proc/self/maps", MAPS_MAX, &maps) < 0)
		return false;
	for (const char *line = maps; *line; line += *line == '\n') {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &from, &to, &kind) != 3)
			return false;
		if (kind == 's' && munmap((void *)from, to - from) < 0)
			return false;
		line += strcspn(line, "\n");
	}
	return true;
}

static bool give_up_privileges(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
	       syscall(SYS_capset, &head, none) == 0;
}

bool child_confine(void)
{
	return unmap_shared() && give_up_privileges();
}

static bool open_nowhere(void)
{
	return open("/dev/null", O_WRONLY) == STDOUT_FILENO && dup(STDOUT_FILENO) == STDERR_FILENO;
}

struct start {
	const char *name;
	bool confine;
	child_fn run;
	void *userdata;
};

static _Noreturn void begin(const struct start *start, int fd, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, 0) < 0)
		child_end(1);
	/* Signals to the process group are the parent's to handle. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	child_close_from(1);
	prctl(PR_SET_NAME, start->name);
	if (!start->confine && !open_nowhere())
		child_end(1);
	start->run(start->userdata, start->confine && child_confine());
	child_end(0);
}

static int start_child(const struct start *start, struct child *ret)
{
	_cleanup_(cleanup_close) int ours = -1;
	_cleanup_(cleanup_close) int theirs = -1;
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		begin(start, theirs, parent);
	*ret = (struct child){.pid = pid, .fd = TAKE_FD(ours)};
	return 0;
}

int child_start(const char *name, child_fn run, void *userdata, struct child *ret)
{
	return start_child(&(struct start){name, true, run, userdata}, ret);
}

int child_start_privileged(const char *name, child_fn run, void *userdata, struct child *ret)
{
	return start_child(&(struct start){name, false, run, userdata}, ret);
}

void child_stop(struct child *child)
{
	_cleanup_(cleanup_close) int pidfd = -1;
	struct pollfd end;

	if (!child->pid)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	end = (struct pollfd){.fd = pidfd, .events = POLLIN};
	kill(child->pid, SIGKILL);
	if (pidfd >= 0)
		poll(&end, 1, STOP_MS);
	waitpid(child->pid, NULL, WNOHANG);
	close(child->fd);
	*child = (struct child){};
}

/* --- another program -------------------------------------------------------------------------- */

#define END_MS	   10000 /* all of its pid namespace has to end */
#define PF_EXITING 0x4
#define TEXT_MAX   (256u << 10)

enum { READ, WRITE };

struct pipes {
	int output[2], report[2];
	int gate[2]; /* the child waits here until it is in its cgroup */
};

static void close_both(int pair[2])
{
	cleanup_close(&pair[READ]);
	cleanup_close(&pair[WRITE]);
}

static void pipes_close(struct pipes *p)
{
	close_both(p->output);
	close_both(p->report);
	close_both(p->gate);
}

static int pipes_open(struct pipes *p)
{
	if (pipe2(p->output, O_CLOEXEC) < 0 || pipe2(p->report, O_CLOEXEC) < 0 ||
	    pipe2(p->gate, O_CLOEXEC) < 0)
		return -errno;
	if (fcntl(p->output[READ], F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(p->report[READ], F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

/* --- the child, which is a copy of a process that may have threads: system calls only ---------- */

static _Noreturn void give_up(const struct pipes *p, enum launch_step step)
{
	const struct launch_failure failure = {step, errno};
	ssize_t n = write(p->report[WRITE], &failure, sizeof(failure));

	child_end(n == sizeof(failure) ? 127 : 126);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_files(const struct pipes *p)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	       dup2(p->output[WRITE], STDOUT_FILENO) >= 0 &&
	       dup2(p->output[WRITE], STDERR_FILENO) >= 0;
}

static _Noreturn void execute(const struct launch_spec *spec, struct pipes *p)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cleanup_close(&p->gate[WRITE]);
	/* Nothing comes where its parent has given up, or is gone. */
	if (read(p->gate[READ], &byte, 1) != 1)
		child_end(1);
	if (setsid() < 0 || !set_files(p))
		give_up(p, LAUNCH_SETUP);
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		give_up(p, LAUNCH_PROC);
	reset_signals();
	execvp(spec->file, spec->argv);
	give_up(p, LAUNCH_EXEC);
}

/* --- the parent -------------------------------------------------------------------------------- */

static int enter_cgroup(const char *cgroup, pid_t pid)
{
	_cleanup_(cleanup_close) int fd = -1;
	char path[PATH_MAX], text[16];
	int n = snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = snprintf(text, sizeof(text), "%d", pid);
	return write(fd, text, (size_t)n) == n ? 0 : -errno;
}

static int start(const struct launch_spec *spec, struct pipes *p, struct launch *ret)
{
	/* As fork(2), without what libc does around it. */
	long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	int r;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		execute(spec, p);
	*ret = (struct launch){(pid_t)pid, -1, -1, -1};
	r = enter_cgroup(spec->cgroup, ret->pid);
	if (r >= 0 && write(p->gate[WRITE], "", 1) != 1)
		r = -errno;
	if (r < 0) {
		launch_kill(ret);
		return r;
	}
	ret->output = TAKE_FD(p->output[READ]);
	ret->report = TAKE_FD(p->report[READ]);
	return 0;
}

int launch_start(const struct launch_spec *spec, struct launch *ret)
{
	struct pipes p = {{-1, -1}, {-1, -1}, {-1, -1}};
	int r = pipes_open(&p);

	if (r >= 0)
		r = start(spec, &p, ret);
	pipes_close(&p);
	return r;
}

/* --- what it has made -------------------------------------------------------------------------- */

void launch_open_proc(struct launch *launch)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/proc", launch->pid);
	launch->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
}

/* A process that exits leaves its v1 cgroup for the root before it is gone. */
static bool is_ending(int proc, const char *pid)
{
	char path[NAME_MAX + 8], text[1024];
	struct procfs_stat stat;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stat", pid);
	n = fd_read_into(proc, path, text, sizeof(text));
	return n < 0 || procfs_parse_stat(text, (size_t)n, &stat) < 0 || stat.flags & PF_EXITING;
}

static bool is_elsewhere(int proc, const char *pid, const char *controller, const char *name)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[NAME_MAX + 8], cgroup[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup", pid);
	return fd_read_all(proc, path, TEXT_MAX, &text) >= 0 &&
	       procfs_parse_cgroup(text, controller, cgroup, sizeof(cgroup)) >= 0 &&
	       !strstr(cgroup, name) && !is_ending(proc, pid);
}

bool launch_has_elsewhere(const struct launch *launch, const char *controller, const char *name)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	const struct dirent *entry;

	if (launch->proc < 0 || fd_opendir(launch->proc, ".", &dir) < 0)
		return false;
	while ((entry = readdir(dir)))
		if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) &&
		    is_elsewhere(launch->proc, entry->d_name, controller, name))
			return true;
	return false;
}

bool launch_kill(struct launch *launch)
{
	_cleanup_(cleanup_close) int pidfd = -1;
	struct pollfd end;

	if (!launch->pid)
		return true;
	pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	end = (struct pollfd){.fd = pidfd, .events = POLLIN};
	kill(launch->pid, SIGKILL);
	if (pidfd >= 0)
		poll(&end, 1, END_MS);
	if (waitpid(launch->pid, NULL, WNOHANG) == 0)
		return false;
	launch->pid = 0;
	return true;
}
