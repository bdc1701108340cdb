// SPDX-License-Identifier: Apache-2.0
/* Waits in a process of its own for the end of the one that changed the terminal. */
#include "io/terminal/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/proc/child.h"

enum { GUARD_TERMINAL, GUARD_PIPE, GUARD_FDS };

static bool is_same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

static void restore(const struct termios *was, const struct termios *set, const char *reset)
{
	struct termios now;
	ssize_t n;

	if (tcgetattr(GUARD_TERMINAL, &now) == 0 && is_same(&now, set))
		tcsetattr(GUARD_TERMINAL, TCSANOW, was);
	n = write(GUARD_TERMINAL, reset, strlen(reset));
	(void)n; /* a terminal that is gone needs nothing */
}

static _Noreturn void wait_for_end(int terminal_fd, int pipe_fd, const struct termios *was,
				   const struct termios *set, const char *reset)
{
	sigset_t all;
	ssize_t n;
	char byte;

	/* Ctrl-C is not for it; and only a background process with SIGTTOU blocked may write. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "graced-guard");
	/* A process that dies closes its descriptors before its parent is notified (kernel/exit.c,
	 * do_exit()): scheduled at once, the guard is mostly done when the shell prompts. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	if (dup2(pipe_fd, GUARD_FDS) < 0 || dup2(terminal_fd, GUARD_FDS + 1) < 0 ||
	    dup2(GUARD_FDS, GUARD_PIPE) < 0 || dup2(GUARD_FDS + 1, GUARD_TERMINAL) < 0)
		child_end(1);
	child_close_from(GUARD_FDS);
	do
		n = read(GUARD_PIPE, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		restore(was, set, reset);
	child_end(0);
}

int guard_start(int terminal_fd, const struct termios *was, const struct termios *set,
		const char *reset, struct guard *ret)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		wait_for_end(terminal_fd, fds[0], was, set, reset);
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return -errno;
	}
	*ret = (struct guard){.pid = pid, .fd = fds[1]};
	return 0;
}

void guard_leave(struct guard *guard)
{
	if (guard->pid)
		close(guard->fd);
	*guard = (struct guard){};
}

void guard_end(struct guard *guard)
{
	ssize_t n;

	if (!guard->pid)
		return;
	do
		n = write(guard->fd, "", 1);
	while (n < 0 && errno == EINTR);
	close(guard->fd);
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*guard = (struct guard){};
}
