// SPDX-License-Identifier: Apache-2.0
// What a container's init may do when it is asked to stop, or instead: one behaviour per name.
//
//   workload BEHAVIOUR [ARGUMENT …]
//
// Behaviours say "ready" once they are set up and note in the shared page what they hear. "go N"
// means: when the test has set the page's go word to N.
#include "lib/box/page.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define MIB (1024u * 1024u)

static struct page *page;
static int exit_code;
static long cleanup_ms, stops_left = 1;

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

static void note_now(uint32_t kind, int number)
{
	struct note note = {.kind = kind, .pid = (int32_t)getpid(), .number = number};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
}

static int leave(int code) __attribute__((noreturn));
static int leave(int code)
{
	note_now(NOTE_EXIT, code);
	_exit(code);
}

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

static void handle_stop_set(void (*handler)(int))
{
	int stop_set[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGRTMIN + 3};

	for (size_t i = 0; i < sizeof(stop_set) / sizeof(stop_set[0]); i++)
		signal(stop_set[i], handler);
}

static void block(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(how, &set, NULL);
}

/* --- hearing a stop signal --- */

static void stop_gracefully(int sig)
{
	struct timespec nap = {.tv_sec = cleanup_ms / 1000, .tv_nsec = cleanup_ms % 1000 * 1000000};

	note_now(NOTE_HEARD, sig);
	if (--stops_left > 0)
		return;
	nanosleep(&nap, NULL);
	leave(exit_code);
}

/* graceful [CODE [CLEANUP_MS [N]]]: handle every stop signal; at the Nth clean up and exit */
static int graceful(char **args)
{
	exit_code = (int)number_or(args, 0, 0);
	cleanup_ms = number_or(args, 1, 0);
	stops_left = number_or(args, 2, 1);
	handle_stop_set(stop_gracefully);
	page_ready(page);
	pause_forever();
}

/* deaf: leave every signal at its default and wait */
static int deaf(char **args)
{
	(void)args;
	page_ready(page);
	pause_forever();
}

static void live_on(int sig)
{
	note_now(NOTE_HEARD, sig);
}

/* hears SIGNAL: handle that one and live on; leave the others at their default */
static int hears(char **args)
{
	signal((int)number_or(args, 0, SIGINT), live_on);
	page_ready(page);
	pause_forever();
}

/* sigign [CODE]: ignore SIGTERM; exit at go 1 */
static int sigign(char **args)
{
	signal(SIGTERM, SIG_IGN);
	page_ready(page);
	page_await_go(page, 1);
	return leave((int)number_or(args, 0, 0));
}

/* blocked [CODE]: SIGTERM blocked and nobody waits for it; unblocked at go 1; exit at go 2 */
static int blocked(char **args)
{
	block(SIG_BLOCK);
	page_ready(page);
	page_await_go(page, 1);
	block(SIG_UNBLOCK);
	page_await_go(page, 2);
	return leave((int)number_or(args, 0, 0));
}

static void *wait_for_term(void *unused)
{
	siginfo_t info;
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	page_ready(page);
	do
		sig = sigwaitinfo(&set, &info);
	while (sig < 0 && errno == EINTR);
	note_now(NOTE_HEARD, sig);
	leave(exit_code);
	return unused;
}

/* sigwait [CODE [main|thread]]: SIGTERM blocked, a thread waits for it */
static int sigwait_for(char **args)
{
	pthread_t thread;

	exit_code = (int)number_or(args, 0, 0);
	block(SIG_BLOCK);
	if (strcmp(arg_or(args, 1, "thread"), "thread"))
		wait_for_term(NULL);
	pthread_create(&thread, NULL, wait_for_term, NULL);
	pause_forever();
}

/* signalfd [CODE]: SIGTERM blocked, read from a signalfd */
static int by_signalfd(char **args)
{
	struct signalfd_siginfo info;
	sigset_t set;
	ssize_t n;
	int fd;

	block(SIG_BLOCK);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	page_ready(page);
	do
		n = read(fd, &info, sizeof(info));
	while (n < 0 && errno == EINTR);
	note_now(NOTE_HEARD, (int)info.ssi_signo);
	return leave((int)number_or(args, 0, 0));
}

static void raise_again(int sig)
{
	note_now(NOTE_HEARD, sig);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* reraise: clean up, then die of the same signal, as well-behaved shells do */
static int reraise(char **args)
{
	struct sigaction action = {.sa_handler = raise_again, .sa_flags = SA_NODEFER};

	(void)args;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	page_ready(page);
	pause_forever();
}

static void crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void crash_on_signal(int sig)
{
	note_now(NOTE_HEARD, sig);
	crash();
}

/* crash-in-handler: the clean-up code has a bug */
static int crash_in_handler(char **args)
{
	(void)args;
	handle_stop_set(crash_on_signal);
	page_ready(page);
	pause_forever();
}

/* exit [CODE] */
static int exit_now(char **args)
{
	return leave((int)number_or(args, 0, 0));
}

/* touch FILE [CODE]: make that file, and exit */
static int touch(char **args)
{
	FILE *file = fopen(arg_or(args, 0, "/tmp/touched"), "we");

	return file && fclose(file) == 0 ? (int)number_or(args, 1, 0) : 99;
}

/* --- memory --- */

static void fill_memory(size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (size_t i = 0; at != MAP_FAILED && i < bytes; i += 4096)
		at[i] = 1;
}

/* oom [MIB]: take memory until killed; at most MIB (4096) */
static int oom(char **args)
{
	page_ready(page);
	fill_memory((size_t)number_or(args, 0, 4096) * MIB);
	return leave(99);
}

/* child-oom [CODE]: a child takes memory until killed; then exit */
static int child_oom(char **args)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		FILE *adjust = fopen("/proc/self/oom_score_adj", "we");

		if (adjust) {
			fputs("1000", adjust);
			fclose(adjust);
		}
		fill_memory((size_t)4096 * MIB);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return leave(WIFSIGNALED(status) ? (int)number_or(args, 0, 0) : 98);
}

/* big MIB [CODE]: hold that much memory; exit at go 1 */
static int big(char **args)
{
	fill_memory((size_t)number_or(args, 0, 64) * MIB);
	page_ready(page);
	page_await_go(page, 1);
	return leave((int)number_or(args, 1, 0));
}

/* --- children --- */

/* Start a child that ignores SIGTERM and waits; returns once it does. */
static pid_t start_stubborn_child(uint32_t step)
{
	int fds[2];
	pid_t child;
	char byte;
	ssize_t n;

	if (pipe(fds) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		signal(SIGTERM, SIG_IGN);
		close(READY_FD);
		n = write(fds[1], "r", 1);
		page_await_go(page, step);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], &byte, 1);
	(void)n;
	close(fds[0]);
	return child;
}

static void leave_on_signal(int sig)
{
	note_now(NOTE_HEARD, sig);
	leave(exit_code);
}

/* shell [CHILDREN [CODE]]: leave on SIGTERM without a word to the children, which ignore it */
static int shell(char **args)
{
	long children = number_or(args, 0, 1);

	exit_code = (int)number_or(args, 1, 0);
	for (long i = 0; i < children; i++)
		start_stubborn_child(UINT32_MAX);
	handle_stop_set(leave_on_signal);
	page_ready(page);
	pause_forever();
}

/* leave-child [CODE]: exit at go 1 with a child left in the cgroup, which leaves at go 2 */
static int leave_child(char **args)
{
	start_stubborn_child(2);
	page_ready(page);
	page_await_go(page, 1);
	return leave((int)number_or(args, 0, 0));
}

/* --- wrappers --- */

static int run_behaviour(char **args);

/* wait BEHAVIOUR …: ready at once, the behaviour at go 1 */
static int wait_then(char **args)
{
	page_ready(page);
	page_await_go(page, 1);
	return run_behaviour(args);
}

/* comm NAME BEHAVIOUR …: change the name first */
static int with_comm(char **args)
{
	prctl(PR_SET_NAME, arg_or(args, 0, ""));
	return run_behaviour(args + 1);
}

/* exec COUNT BEHAVIOUR …: exec itself COUNT times first */
static int exec_again(char **args)
{
	const char *self = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	char count[24], *argv[64] = {(char *)"workload", (char *)"exec", count};
	long left = number_or(args, 0, 0);

	if (left <= 0)
		return run_behaviour(args + 1);
	snprintf(count, sizeof(count), "%ld", left - 1);
	for (int i = 1; args[i] && i < 60; i++)
		argv[i + 2] = args[i];
	execv(self, argv);
	return 1;
}

static const struct {
	const char *name;
	int (*run)(char **args);
} behaviours[] = {
	{"graceful", graceful},	  {"deaf", deaf},
	{"sigign", sigign},	  {"blocked", blocked},
	{"sigwait", sigwait_for}, {"signalfd", by_signalfd},
	{"reraise", reraise},	  {"crash-in-handler", crash_in_handler},
	{"exit", exit_now},	  {"oom", oom},
	{"child-oom", child_oom}, {"big", big},
	{"shell", shell},	  {"leave-child", leave_child},
	{"wait", wait_then},	  {"comm", with_comm},
	{"exec", exec_again},	  {"hears", hears},
	{"touch", touch},
};

static int run_behaviour(char **args)
{
	for (size_t i = 0; args[0] && i < sizeof(behaviours) / sizeof(behaviours[0]); i++)
		if (!strcmp(args[0], behaviours[i].name))
			return behaviours[i].run(args + 1);
	fprintf(stderr, "workload: unknown behaviour %s\n", args[0] ? args[0] : "(none)");
	return 2;
}

int main(int argc, char **argv)
{
	(void)argc;
	page = page_attach();
	return run_behaviour(argv + 1);
}
