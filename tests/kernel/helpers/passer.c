// SPDX-License-Identifier: Apache-2.0
// Inits with children, and what they pass on to them: one manner per name.
//
//   passer MANNER [CHILDREN [SIGNAL]]
//
// Each starts its children, which note themselves in the shared page, says "ready", does as its
// manner says when SIGTERM comes, noting whom it signals, and leaves with 0. "go N" means: when the
// test has set the page's go word to N.
#include "lib/box/page.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CHILDREN_MAX 32

static struct page *page;
static pid_t children[CHILDREN_MAX];
static int n_children = 1;
static int passed = SIGTERM;

static void note_now(uint32_t kind, int number)
{
	struct note note = {.kind = kind, .pid = (int32_t)getpid(), .number = number};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
}

static void leave(void) __attribute__((noreturn));
static void leave(void)
{
	note_now(NOTE_EXIT, 0);
	_exit(0);
}

static void send_noted(pid_t pid, int sig)
{
	struct note note = {.kind = NOTE_KILL, .pid = (int32_t)pid, .number = sig};

	note.before_ns = page_clock_ns();
	note.value = kill(pid, sig);
	note.after_ns = page_clock_ns();
	page_note(page, note);
}

static sigset_t term(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	return set;
}

/* Signals have no part in what this program does before it is asked to stop: it fetches SIGTERM. */
static void await_term(void)
{
	sigset_t set = term();
	int got;

	do
		got = sigwaitinfo(&set, NULL);
	while (got != SIGTERM);
	note_now(NOTE_HEARD, got);
}

enum child {
	WAITS,
	IGNORES, /* what is passed on */
	SIGNALS, /* an earlier one, at go 1, and leaves */
	FOLLOWS, /* wants the signal when its parent ends */
	LEAVES,	 /* at once */
};

static void be_child(enum child what, pid_t earlier, int ready_fd) __attribute__((noreturn));
static void be_child(enum child what, pid_t earlier, int ready_fd)
{
	sigset_t set = term();

	close(READY_FD);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (what == FOLLOWS)
		prctl(PR_SET_PDEATHSIG, passed);
	if (what == IGNORES || what == SIGNALS)
		signal(passed, SIG_IGN);
	if (write(ready_fd, "r", 1) != 1)
		_exit(121);
	if (what == LEAVES)
		_exit(0);
	if (what == SIGNALS && earlier) {
		page_await_go(page, 1);
		send_noted(earlier, passed);
		_exit(0);
	}
	for (;;)
		pause();
}

/* Each child has its mask and its signals as it wants them when this returns. */
static void start_children(enum child what)
{
	int fds[2];
	char byte;

	if (pipe(fds) < 0)
		_exit(121);
	for (int i = 0; i < n_children; i++) {
		children[i] = fork();
		if (children[i] == 0)
			be_child(what, i ? children[i - 1] : 0, fds[1]);
		if (children[i] < 0 || read(fds[0], &byte, 1) != 1)
			_exit(121);
	}
}

static void begin(enum child what)
{
	start_children(what);
	page_ready(page);
}

/* none: leave without a word */
static void none(void)
{
	begin(WAITS);
	await_term();
}

static void pass_to_each(void)
{
	for (int i = 0; i < n_children; i++)
		send_noted(children[i], passed);
}

/* each: the signal to one child after the other, which ignore it */
static void each(void)
{
	begin(IGNORES);
	await_term();
	pass_to_each();
}

/* all: the signal to everybody at once */
static void all(void)
{
	begin(WAITS);
	await_term();
	send_noted(-1, passed);
}

/* queue: by sigqueue() */
static void queue(void)
{
	begin(IGNORES);
	await_term();
	sigqueue(children[0], passed, (union sigval){.sival_int = 7});
}

/* early: once before it is ready, and again when it is asked to stop */
static void early(void)
{
	start_children(IGNORES);
	pass_to_each();
	page_ready(page);
	await_term();
	pass_to_each();
}

/* late: to children that have ended, and whom nobody waited for */
static void late(void)
{
	siginfo_t info;

	start_children(LEAVES);
	for (int i = 0; i < n_children; i++)
		waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT);
	page_ready(page);
	await_term();
	pass_to_each();
}

/* siblings: after SIGTERM each child but the first signals the one before it, at go 1 */
static void siblings(void)
{
	begin(SIGNALS);
	await_term();
	for (int i = 1; i < n_children; i++)
		waitpid(children[i], NULL, 0);
}

/* fetch: any signal, and SIGTERM to each child then; leave */
static void fetch(void)
{
	sigset_t all;
	int got;

	sigfillset(&all);
	sigdelset(&all, SIGCHLD);
	sigprocmask(SIG_BLOCK, &all, NULL);
	begin(IGNORES);
	got = sigwaitinfo(&all, NULL);
	note_now(NOTE_HEARD, got);
	pass_to_each();
}

/* twice: pass each SIGTERM on; leave at the third */
static void twice(void)
{
	begin(IGNORES);
	for (int i = 0; i < 2; i++) {
		await_term();
		pass_to_each();
	}
	await_term();
}

static void *pass_thread(void *unused)
{
	await_term();
	pass_to_each();
	leave();
	return unused;
}

/* thread: another thread than the first fetches SIGTERM and passes it on */
static void thread(void)
{
	pthread_t other;

	start_children(IGNORES);
	if (pthread_create(&other, NULL, pass_thread, NULL))
		_exit(121);
	page_ready(page);
	for (;;)
		pause();
}

static void *parent_thread(void *unused)
{
	start_children(FOLLOWS);
	page_ready(page);
	await_term();
	return unused;
}

/* death: the thread that made the children ends; they asked for a signal then */
static void death(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, parent_thread, NULL))
		_exit(121);
	pthread_join(other, NULL);
}

/* unlike: signals that stop nobody, and then one that does */
static void unlike(void)
{
	static const int signals[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP};

	begin(IGNORES);
	await_term();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		send_noted(children[0], signals[i]);
}

static const struct {
	const char *name;
	void (*run)(void);
} manners[] = {
	{"none", none},		{"each", each},	    {"all", all},	{"queue", queue},
	{"early", early},	{"twice", twice},   {"thread", thread}, {"death", death},
	{"siblings", siblings}, {"unlike", unlike}, {"fetch", fetch},	{"late", late},
};

int main(int argc, char **argv)
{
	sigset_t set = term();

	page = page_attach();
	sigprocmask(SIG_BLOCK, &set, NULL);
	n_children = argc > 2 ? atoi(argv[2]) : 1;
	passed = argc > 3 ? atoi(argv[3]) : SIGTERM;
	if (n_children < 0 || n_children > CHILDREN_MAX)
		return 2;
	for (size_t i = 0; argc > 1 && i < sizeof(manners) / sizeof(manners[0]); i++) {
		if (strcmp(argv[1], manners[i].name))
			continue;
		manners[i].run();
		leave();
	}
	fprintf(stderr, "passer: unknown manner %s\n", argc > 1 ? argv[1] : "(none)");
	return 2;
}
