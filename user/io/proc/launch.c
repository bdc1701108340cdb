// SPDX-License-Identifier: Apache-2.0
#include "io/proc/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/proc/child.h"
#include "io/proc/proc.h"

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

static _Noreturn void begin(const struct launch_spec *spec, struct pipes *p)
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
		begin(spec, p);
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
