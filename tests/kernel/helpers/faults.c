// SPDX-License-Identifier: Apache-2.0
// Inits that end through a fault, a signal of their own or the kernel: one way per name.
//
//   faults WAY [ARGUMENT …]
#include "lib/box/page.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/time.h>

static struct page *page;

static const char *arg_or(char **args, int n, const char *otherwise)
{
	for (int i = 0; i < n; i++)
		if (!args[i])
			return otherwise;
	return args[n] ? args[n] : otherwise;
}

static long number_or(char **args, int n, long otherwise)
{
	const char *text = arg_or(args, n, NULL);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static int leave(int code) __attribute__((noreturn));
static int leave(int code)
{
	struct note note = {.kind = NOTE_EXIT, .pid = (int32_t)getpid(), .number = code};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
	_exit(code);
}

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

/* segv: a fault in its own context */
static int segv(char **args)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
	return 1;
}

/* abort */
static int abort_now(char **args)
{
	abort();
}

/* raise SIG: kill(2) itself, noting the clocks */
static int raise_now(char **args)
{
	struct note note = {.kind = NOTE_KILL, .pid = (int32_t)getpid()};

	note.number = (int32_t)number_or(args, 0, SIGKILL);
	note.before_ns = page_clock_ns();
	note.after_ns = UINT64_MAX; /* a fatal signal leaves no time for the second read */
	page_note(page, note);
	note.value = kill(getpid(), note.number);
	return leave((int)number_or(args, 1, 0));
}

static void nothing(int sig)
{
}

static void block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* selfkill COUNT|0 SIG ignore|handle|block [CODE]: kill(2) itself COUNT times, or until go 1, then
 * exit */
static int selfkill(char **args)
{
	long count = number_or(args, 0, 1), sent = 0;
	int sig = (int)number_or(args, 1, SIGTERM);
	const char *how = arg_or(args, 2, "ignore");
	struct note note = {.kind = NOTE_KILL, .pid = (int32_t)getpid(), .number = sig};

	if (!strcmp(how, "block"))
		block(sig);
	else
		signal(sig, !strcmp(how, "handle") ? nothing : SIG_IGN);
	page_ready(page);
	note.before_ns = page_clock_ns();
	for (long i = 0; count ? i < count : !__atomic_load_n(&page->go, __ATOMIC_ACQUIRE); i++)
		sent += kill(getpid(), sig) == 0;
	note.after_ns = page_clock_ns();
	note.value = (int32_t)sent;
	page_note(page, note);
	return leave((int)number_or(args, 3, 0));
}

/* seccomp-strict: the kernel ends it as by SIGKILL without ever generating a signal */
static int seccomp_strict(char **args)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	getppid();
	return 1;
}

static void burn(void) __attribute__((noreturn));
static void burn(void)
{
	volatile unsigned long spins = 0;

	for (;;)
		spins++;
}

/* rlimit-cpu: SIGKILL by the kernel after a second of processor time */
static int rlimit_cpu(char **args)
{
	struct rlimit limit = {1, 1};

	setrlimit(RLIMIT_CPU, &limit);
	burn();
}

/* rlimit-xcpu: SIGXCPU by the kernel after a second of processor time */
static int rlimit_xcpu(char **args)
{
	struct rlimit limit = {1, 60};

	setrlimit(RLIMIT_CPU, &limit);
	burn();
}

/* profile: SIGPROF by the kernel after 10 ms of processor time */
static int profile(char **args)
{
	struct itimerval soon = {.it_value = {.tv_usec = 10000}};

	setitimer(ITIMER_PROF, &soon, NULL);
	burn();
}

/* reboot restart|halt: reboot(2), which ends a pid namespace; refused outside of one */
static int reboot_namespace(char **args)
{
	bool halt = !strcmp(arg_or(args, 0, "restart"), "halt");
	pid_t child;

	if (getpid() != 1)
		return 1;
	child = fork();
	if (child == 0) {
		if (getppid() == 1 && getpid() != 1)
			reboot(halt ? RB_HALT_SYSTEM : RB_AUTOBOOT);
		_exit(1);
	}
	pause_forever();
}

/* exitkill: a child traces this process with PTRACE_O_EXITKILL and leaves */
static int exitkill(char **args)
{
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_SEIZE, getppid(), NULL, PTRACE_O_EXITKILL);
		_exit(0);
	}
	pause_forever();
}

static const struct {
	const char *name;
	int (*run)(char **args);
} ways[] = {
	{"segv", segv},
	{"abort", abort_now},
	{"raise", raise_now},
	{"selfkill", selfkill},
	{"seccomp-strict", seccomp_strict},
	{"rlimit-cpu", rlimit_cpu},
	{"rlimit-xcpu", rlimit_xcpu},
	{"profile", profile},
	{"reboot", reboot_namespace},
	{"exitkill", exitkill},
};

int main(int argc, char **argv)
{
	page = page_attach();
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].run(argv + 2);
	fprintf(stderr, "faults: unknown way %s\n", argc > 1 ? argv[1] : "(none)");
	return 2;
}
