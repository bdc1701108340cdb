// SPDX-License-Identifier: Apache-2.0
// Inits that run one application and say by their own end how that ended, or something else.
//
//   wrapper MANNER N LEVELS APP CODE
//
// The application is LEVELS processes below the init; those between pass its end on as tini does.
// It notes itself (NOTE_CHILD) and says "ready"; at go 1 it does what it is to do: pause, exit
// CODE, kill, term, abort, segv, strict (seccomp; all of itself), or oom.
#include "lib/box/page.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct page *page;

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

static void nap(long ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&left, &left) < 0)
		;
}

/* --- the application --- */

static void crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void take_memory(void)
{
	FILE *adjust = fopen("/proc/self/oom_score_adj", "we");
	const size_t bytes = 4096UL << 20;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (adjust) {
		fputs("1000", adjust);
		fclose(adjust);
	}
	for (size_t i = 0; at != MAP_FAILED && i < bytes; i += 4096)
		at[i] = 1;
}

static void act(const char *what, int code) __attribute__((noreturn));
static void act(const char *what, int code)
{
	if (!strcmp(what, "exit"))
		_exit(code);
	if (!strcmp(what, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "term"))
		raise(SIGTERM);
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "strict")) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		syscall(SYS_getpid);
	}
	if (!strcmp(what, "segv"))
		crash();
	if (!strcmp(what, "oom"))
		take_memory();
	pause_forever();
}

/* What it is sent when its parent ends; 0: nothing. */
static int death_signal;

/* orphan is killed just before, and has ended. */
static void app(const char *what, int code, pid_t orphan) __attribute__((noreturn));
static void app(const char *what, int code, pid_t orphan)
{
	prctl(PR_SET_PDEATHSIG, death_signal);
	page_note(page, (struct note){.kind = NOTE_CHILD, .pid = (int32_t)getpid()});
	page_ready(page);
	page_await_go(page, 1);
	if (orphan) {
		kill(orphan, SIGKILL);
		while (kill(orphan, 0) == 0)
			nap(1);
	}
	act(what, code);
}

/* --- what is around it --- */

static int wait_for(pid_t child)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid(-1, &status, 0);
	while (got != child && !(got < 0 && errno == ECHILD));
	return status;
}

static int passed(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t start(int levels, const char *what, int code, pid_t orphan)
{
	pid_t child = fork();

	if (child)
		return child;
	if (levels <= 1)
		app(what, code, orphan);
	_exit(passed(wait_for(start(levels - 1, what, code, orphan))));
}

/* Its parent leaves at once. */
static pid_t start_orphan(void)
{
	volatile pid_t *orphan = mmap(NULL, sizeof(*orphan), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = fork();

	if (parent == 0) {
		pid_t child = fork();

		if (child == 0)
			pause_forever();
		*orphan = child;
		_exit(0);
	}
	waitpid(parent, NULL, 0);
	return *orphan;
}

/* It dies as its application did, where the kernel lets it. */
static void raise_same(int status)
{
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	pause_forever();
}

static volatile int leave_code;

static void leave(int sig)
{
	(void)sig;
	_exit(leave_code);
}

static pid_t forward_to;

static void *start_and_end(void *what)
{
	forward_to = start(1, what, 0, 0);
	page_await_go(page, 1);
	return NULL;
}

static void start_by_thread(const char *what, int sig)
{
	pthread_t thread;

	death_signal = sig;
	if (pthread_create(&thread, NULL, start_and_end, (void *)(uintptr_t)what))
		_exit(121);
	pthread_join(thread, NULL);
}

static void forward(int sig)
{
	kill(forward_to, sig);
}

/*
 * pass:    it passes the application's status on
 * orphan:  likewise, and has an orphan that is killed just before the application ends
 * thread N: likewise; a thread of it starts the application, and ends at go 1, for which that has
 *          signal N
 * code N:  it exits with N when the application has ended
 * late N:  it passes the status on N ms later
 * raise:   it sends itself the signal that the application died of
 * fault:   it faults when the application has ended
 * handler N: it has no child, and exits with N when it is asked to stop
 */
static int wrap(const char *manner, int n, int levels, const char *what, int code)
{
	pid_t orphan = strcmp(manner, "orphan") ? 0 : start_orphan();
	int status;

	leave_code = n;
	if (!strcmp(manner, "handler")) {
		signal(SIGTERM, leave);
		page_ready(page);
		pause_forever();
	}
	if (!strcmp(manner, "thread"))
		start_by_thread(what, n);
	else
		forward_to = start(levels, what, code, orphan);
	signal(SIGTERM, forward);
	status = wait_for(forward_to);
	if (!strcmp(manner, "late"))
		nap(n);
	if (!strcmp(manner, "fault"))
		crash();
	if (!strcmp(manner, "raise"))
		raise_same(status);
	return !strcmp(manner, "code") ? n : passed(status);
}

int main(int argc, char **argv)
{
	page = page_attach();
	if (argc < 6)
		return 2;
	return wrap(argv[1], (int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10),
		    argv[4], (int)strtol(argv[5], NULL, 10));
}
