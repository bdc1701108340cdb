// SPDX-License-Identifier: Apache-2.0
/* Forks, and takes from the child what it does not need. */
#include "io/proc/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

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
