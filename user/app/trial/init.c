// SPDX-License-Identifier: Apache-2.0
#include "app/trial/init.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void run(char **argv, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, TRIAL_INIT ": %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Whether the child is among those that have ended, and as what status. */
static bool reap(pid_t child, int *ret_status)
{
	bool found = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != child)
			continue;
		*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		found = true;
	}
	return found;
}

int trial_init(char **argv)
{
	sigset_t all, before;
	pid_t child;
	int number, status = 1;

	prctl(PR_SET_NAME, TRIAL_INIT);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = fork();
	if (child == 0)
		run(argv + 1, &before);
	if (child < 0)
		return 1;
	while (sigwait(&all, &number) == 0) {
		if (number != SIGCHLD)
			kill(child, number);
		else if (reap(child, &status))
			break;
	}
	return status;
}
