// SPDX-License-Identifier: Apache-2.0
// Processes that come into a container in unusual ways, or leave something unusual behind: one
// behaviour per name.
//
//   tenant BEHAVIOUR [ARGUMENT …]
#include "lib/box/page.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>

static struct page *page;
static int exit_code;

static long number_or(char **args, int n, long otherwise)
{
	for (int i = 0; i < n; i++)
		if (!args[i])
			return otherwise;
	return args[n] ? strtol(args[n], NULL, 10) : otherwise;
}

static void leave_on_signal(int sig)
{
	_exit(exit_code);
}

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

/* Safe in a vforked child: the calling process moves into the cgroup. */
static int enter(const char *dir)
{
	char path[PATH_MAX];
	int fd, r;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 || write(fd, "0", 1) != 1;
	close(fd);
	return r;
}

static void sibling(const char *name, char path[PATH_MAX])
{
	const char *self = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	const char *slash = strrchr(self, '/');

	snprintf(path, PATH_MAX, "%.*s%s", slash ? (int)(slash - self + 1) : 0, self, name);
}

static int exit_as(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* vfork DIR BEHAVIOUR …: a vforked child moves into DIR and execs the workload; exit as it does */
static int vfork_into(char **args)
{
	char path[PATH_MAX];
	pid_t child;

	sibling("workload", path);
	child = vfork();
	if (child == 0) {
		if (enter(args[0]))
			_exit(121);
		execv(path, args);
		_exit(122);
	}
	close(READY_FD);
	return exit_as(child);
}

/* visit DIR: a child moves into DIR, forks there, both end; nobody execs */
static int visit(char **args)
{
	pid_t child = fork();

	if (child == 0) {
		if (enter(args[0]))
			_exit(121);
		child = fork();
		_exit(child ? exit_as(child) : 0);
	}
	return exit_as(child);
}

/* lodge DIR: a child moves into DIR and stays there until SIGTERM; says ready then */
static int lodge(char **args)
{
	pid_t child = fork();
	sigset_t term;
	int sig;

	if (child == 0) {
		sigemptyset(&term);
		sigaddset(&term, SIGTERM);
		sigprocmask(SIG_BLOCK, &term, NULL);
		if (enter(args[0]))
			_exit(121);
		page_ready(page);
		sigwait(&term, &sig);
		_exit(0);
	}
	close(READY_FD);
	return exit_as(child);
}

static void *idle(void *unused)
{
	pause_forever();
	return unused;
}

static void start_child(long threads, int said)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (fork())
		return;
	signal(SIGTERM, SIG_DFL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (long i = 1; i < threads; i++)
		pthread_create(&thread, &attr, idle, NULL);
	if (write(said, "r", 1) != 1)
		_exit(1);
	pause_forever();
}

/* Make children of so many threads each; returns once all of them run. */
static void start_children(long count, long threads)
{
	char byte;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		_exit(121);
	for (long i = 0; i < count; i++)
		start_child(threads, fds[1]);
	for (long i = 0; i < count; i++)
		if (read(fds[0], &byte, 1) != 1)
			_exit(122);
	close(fds[0]);
	close(fds[1]);
}

/* family CHILDREN THREADS ZOMBIES [CODE]: that many children, of that many threads each, and that
 * many dead ones nobody waited for; exit on SIGTERM */
static int family(char **args)
{
	exit_code = (int)number_or(args, 3, 0);
	start_children(number_or(args, 0, 1), number_or(args, 1, 1));
	for (long i = 0; i < number_or(args, 2, 0); i++) {
		siginfo_t info;
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	}
	signal(SIGTERM, leave_on_signal);
	page_ready(page);
	pause_forever();
}

/* nested CHILDREN [CODE]: a child is PID 1 of a further pid namespace and ends, with that many
 * children in it, before this process is ready; exit on SIGTERM */
static int nested(char **args)
{
	struct clone_args clone = {.flags = CLONE_NEWPID, .exit_signal = SIGCHLD};
	long child = syscall(SYS_clone3, &clone, sizeof(clone));

	if (child == 0) {
		start_children(number_or(args, 0, 1), 1);
		_exit(0);
	}
	if (child < 0 || exit_as((pid_t)child))
		return 123;
	exit_code = (int)number_or(args, 1, 0);
	signal(SIGTERM, leave_on_signal);
	page_ready(page);
	pause_forever();
}

/* inner CHILDREN [CODE]: a child is PID 1 of a further pid namespace with that many children; all
 * stay until SIGTERM comes, and then it ends first with those if CODE is not 0; exit with 0 */
static int inner(char **args)
{
	struct clone_args clone = {.flags = CLONE_NEWPID, .exit_signal = SIGCHLD};
	int fds[2], status;
	sigset_t term;
	long child;
	char byte;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (pipe2(fds, O_CLOEXEC) < 0)
		_exit(121);
	child = syscall(SYS_clone3, &clone, sizeof(clone));
	if (child == 0) {
		start_children(number_or(args, 0, 1), 1);
		if (write(fds[1], "r", 1) != 1)
			_exit(1);
		pause_forever();
	}
	if (child < 0 || read(fds[0], &byte, 1) != 1)
		return 123;
	page_ready(page);
	sigwaitinfo(&term, NULL);
	if (number_or(args, 1, 0)) {
		kill((pid_t)child, SIGKILL);
		waitpid((pid_t)child, &status, 0);
	}
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **args);
} behaviours[] = {
	{"vfork", 2, vfork_into}, {"visit", 1, visit},	 {"lodge", 1, lodge},
	{"family", 3, family},	  {"nested", 1, nested}, {"inner", 1, inner},
};

int main(int argc, char **argv)
{
	page = page_attach();
	for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
		if (!strcmp(argv[1], behaviours[i].name) && argc - 2 >= behaviours[i].args)
			return behaviours[i].run(argv + 2);
	fprintf(stderr, "tenant: unknown behaviour or too few arguments\n");
	return 2;
}
