// SPDX-License-Identifier: Apache-2.0
// Inits of many threads, processes or cgroups: one behaviour per name.
//
//   crowd BEHAVIOUR [ARGUMENT …]
#include "lib/box/page.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define THREADS_MAX 64

static struct page *page;
static pthread_barrier_t barrier;
static int exit_code;
static void (*end_of_thread)(void);

static long number_or(char **args, int n, long otherwise)
{
	for (int i = 0; i < n; i++)
		if (!args[i])
			return otherwise;
	return args[n] ? strtol(args[n], NULL, 10) : otherwise;
}

static int leave(int code) __attribute__((noreturn));
static int leave(int code)
{
	struct note note = {.kind = NOTE_EXIT, .pid = (int32_t)getpid(), .number = code};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
	_exit(code);
}

/* This thread alone ends. */
static void leave_thread(int code)
{
	syscall(SYS_exit, code);
}

static void end_group(void)
{
	leave(exit_code);
}

static void end_alone(void)
{
	leave_thread(exit_code);
}

static void end_killed(void)
{
	kill(getpid(), SIGKILL);
}

static void *race(void *unused)
{
	pthread_barrier_wait(&barrier);
	end_of_thread();
	return unused;
}

static void start_threads(long n, void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (long i = 0; i < n && i < THREADS_MAX; i++)
		if (pthread_create(&thread, &attr, run, NULL))
			_exit(121);
}

/* threads N group|leader|kill [CODE]: N threads (the first included) race to end the process:
 * all by exit_group; the leader alone first and then each by itself; all by SIGKILL */
static int threads(char **args)
{
	const char *how = args[0] && args[1] ? args[1] : "group";
	long n = number_or(args, 0, 9);
	bool leader_first = !strcmp(how, "leader");

	exit_code = (int)number_or(args, 2, 0);
	end_of_thread = leader_first ? end_alone : !strcmp(how, "kill") ? end_killed : end_group;
	pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	start_threads(n - 1, race);
	page_ready(page);
	pthread_barrier_wait(&barrier);
	if (leader_first)
		leave_thread(5);
	end_of_thread();
	return 1;
}

static void leave_on_signal(int sig)
{
	leave(exit_code);
}

static void *serve(void *unused)
{
	page_await_go(page, 1);
	leave(exit_code);
	return unused;
}

/* leader-gone [CODE|deaf [blocked]]: the leader thread ends alone, another serves until SIGTERM
 * (deaf: which has no handler; blocked: which it alone blocks) or go 1 */
static int leader_gone(char **args)
{
	sigset_t set;

	exit_code = (int)number_or(args, 0, 0);
	if (!args[0] || strcmp(args[0], "deaf") != 0)
		signal(SIGTERM, leave_on_signal);
	sigemptyset(&set);
	if (args[0] && args[1])
		sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start_threads(1, serve);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	page_ready(page);
	leave_thread(5);
	return 1;
}

static void *pause_thread(void *unused)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return unused;
}

/* idle N: N threads (the first included) wait, every signal at its default */
static int idle(char **args)
{
	long n = number_or(args, 0, 9);

	pthread_barrier_init(&barrier, NULL, (unsigned int)n);
	start_threads(n - 1, pause_thread);
	pthread_barrier_wait(&barrier);
	page_ready(page);
	for (;;)
		pause();
	return 1;
}

static void sibling(char path[PATH_MAX])
{
	const char *self = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	const char *slash = strrchr(self, '/');

	snprintf(path, PATH_MAX, "%.*sworkload", slash ? (int)(slash - self + 1) : 0, self);
}

static void exec_workload(char **args)
{
	char path[PATH_MAX], *argv[64] = {(char *)"workload"};

	sibling(path);
	for (int i = 0; args[i] && i < 60; i++)
		argv[i + 1] = args[i];
	execv(path, argv);
	_exit(122);
}

static void *exec_here(void *args)
{
	exec_workload(args);
	return NULL;
}

/* exec-nonleader BEHAVIOUR …: a thread that is not the leader execs the workload program */
static int exec_nonleader(char **args)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_here, args);
	pthread_join(thread, NULL);
	return 1;
}

/* vfork CODE BEHAVIOUR …: a vforked child execs the workload program; exit after it */
static int vfork_child(char **args)
{
	char path[PATH_MAX], *argv[64] = {(char *)"workload"};
	int status;
	pid_t child;

	sibling(path);
	for (int i = 1; args[0] && args[i] && i < 60; i++)
		argv[i] = args[i];
	child = vfork();
	if (child == 0) {
		execv(path, argv);
		_exit(122);
	}
	waitpid(child, &status, 0);
	return leave((int)number_or(args, 0, 0));
}

/* COUNT 0: on until go 1. */
static bool goes_on(long made, long count)
{
	return count ? made < count : !__atomic_load_n(&page->go, __ATOMIC_ACQUIRE);
}

/* forks COUNT|0 [CODE]: COUNT children one after the other, as fast as possible, then exit */
static int forks(char **args)
{
	long count = number_or(args, 0, 1000), made = 0;
	struct note note = {.kind = NOTE_CHILD, .pid = (int32_t)getpid()};

	signal(SIGCHLD, SIG_IGN);
	page_ready(page);
	while (goes_on(made, count)) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child > 0)
			made++;
		else if (errno != EAGAIN)
			break;
	}
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	note.value = (int32_t)made;
	page_note(page, note);
	return leave((int)number_or(args, 1, 0));
}

/* mkcgroups COUNT|0 DIR keep|remove [CODE]: COUNT cgroups below DIR, each removed at once or kept */
static int mkcgroups(char **args)
{
	long count = number_or(args, 0, 1000), made = 0;
	bool keep = args[0] && args[1] && args[2] && !strcmp(args[2], "keep");
	struct note note = {.kind = NOTE_CHILD, .pid = (int32_t)getpid()};
	char path[PATH_MAX];

	page_ready(page);
	for (long i = 0; goes_on(i, count); i++) {
		snprintf(path, sizeof(path), "%s/c%ld", args[1], i);
		made += mkdir(path, 0755) == 0;
		if (!keep)
			rmdir(path);
	}
	note.value = (int32_t)made;
	page_note(page, note);
	return leave((int)number_or(args, 3, 0));
}

/* daemon [CODE]: a child goes on alone in a session of its own, this process exits at once */
static int daemonize(char **args)
{
	pid_t child = fork();

	if (child == 0) {
		setsid();
		page_ready(page);
		page_await_go(page, 1);
		_exit(0);
	}
	return leave((int)number_or(args, 0, 0));
}

static const struct {
	const char *name;
	int (*run)(char **args);
} behaviours[] = {
	{"threads", threads},	  {"leader-gone", leader_gone},
	{"idle", idle},		  {"exec-nonleader", exec_nonleader},
	{"vfork", vfork_child},	  {"forks", forks},
	{"mkcgroups", mkcgroups}, {"daemon", daemonize},
};

int main(int argc, char **argv)
{
	page = page_attach();
	for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
		if (!strcmp(argv[1], behaviours[i].name))
			return behaviours[i].run(argv + 2);
	fprintf(stderr, "crowd: unknown behaviour %s\n", argc > 1 ? argv[1] : "(none)");
	return 2;
}
