// SPDX-License-Identifier: Apache-2.0
// Inits without a pid namespace of their own that start sandboxes: processes that are PID 1 of a
// pid namespace further down and outlive them. One behaviour per name.
//
//   nester BEHAVIOUR [ARGUMENT …]
#include "lib/box/page.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NOBODY 65534

static struct page *page;
static int self_fd, exit_code;

static void note_pid(uint32_t kind, int number)
{
	struct note note = {.kind = kind, .pid = (int32_t)getpid(), .number = number};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
}

static void leave(int code) __attribute__((noreturn));
static void leave(int code)
{
	note_pid(NOTE_EXIT, code);
	_exit(code);
}

static void leave_on_signal(int sig)
{
	note_pid(NOTE_HEARD, sig);
	leave(exit_code);
}

/* exec this program again; by its descriptor, as NOBODY may not be able to walk to it. */
static void exec_linger(int step, int last)
{
	char from[16], to[16];
	char *argv[] = {(char *)"nester", (char *)"linger", from, to, NULL}, *env[] = {NULL};

	snprintf(from, sizeof(from), "%d", step);
	snprintf(to, sizeof(to), "%d", last);
	syscall(SYS_execveat, self_fd, "", argv, env, AT_EMPTY_PATH);
	_exit(122);
}

/* linger STEP LAST: note that this program runs, wait for go STEP; exec for the next step, or exit
 * with 9 after the last one */
static int linger(char **args)
{
	int step = (int)strtol(args[0], NULL, 10), last = (int)strtol(args[1], NULL, 10);

	note_pid(NOTE_CHILD, step);
	page_await_go(page, (uint32_t)step);
	if (step < last)
		exec_linger(step + 1, last);
	return 9;
}

static long clone_with(uint64_t flags)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};

	return syscall(SYS_clone3, &args, sizeof(args));
}

/* Until all that hold the other end have exec'd or exited. */
static void await_exec(int fds[2])
{
	char byte;

	close(fds[1]);
	while (read(fds[0], &byte, 1) > 0)
		;
	close(fds[0]);
}

static int serve(int code)
{
	exit_code = code;
	signal(SIGTERM, leave_on_signal);
	page_ready(page);
	page_await_go(page, 1);
	leave(code);
}

/* sandbox CODE: a child is PID 1 of a pid namespace, execs, and after this process has left (at go
 * 1 or on SIGTERM) execs again at go 2; it ends at go 3 */
static int sandbox(char **args)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return 121;
	if (clone_with(CLONE_NEWPID) == 0)
		exec_linger(2, 3);
	await_exec(fds);
	return serve((int)strtol(args[0], NULL, 10));
}

static void come_back_as_pid1(void) __attribute__((noreturn));
static void come_back_as_pid1(void)
{
	int gone[2];
	char byte;
	long pid;

	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1) < 0 || pipe2(gone, O_CLOEXEC) < 0)
		_exit(123);
	pid = clone_with(CLONE_NEWUSER | CLONE_NEWPID);
	if (pid != 0)
		_exit(pid < 0);
	/* Its parent is gone, and whoever adopted it is not in the container. */
	close(gone[1]);
	while (read(gone[0], &byte, 1) > 0)
		;
	exec_linger(3, 3);
	_exit(122);
}

/* impostor CODE: a child that has no privileges forks into a new user and pid namespace and exits;
 * its child execs; ends at go 3. This process leaves at go 1 or on SIGTERM */
static int impostor(char **args)
{
	int fds[2], status = 0;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return 121;
	child = fork();
	if (child == 0)
		come_back_as_pid1();
	if (waitpid(child, &status, 0) != child || status)
		return 124;
	await_exec(fds);
	return serve((int)strtol(args[0], NULL, 10));
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **args);
} behaviours[] = {
	{"linger", 2, linger},
	{"sandbox", 1, sandbox},
	{"impostor", 1, impostor},
};

int main(int argc, char **argv)
{
	page = page_attach();
	self_fd = open((const char *)(uintptr_t)getauxval(AT_EXECFN), O_PATH);
	if (self_fd < 0)
		self_fd = open("/proc/self/exe", O_PATH);
	for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
		if (!strcmp(argv[1], behaviours[i].name) && argc - 2 >= behaviours[i].args)
			return behaviours[i].run(argv + 2);
	fprintf(stderr, "nester: unknown behaviour or too few arguments\n");
	return 2;
}
