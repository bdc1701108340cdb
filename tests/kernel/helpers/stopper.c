// SPDX-License-Identifier: Apache-2.0
// Inits as common programs set them up for their stop signal: one manner per name.
//
//   stopper MANNER [ARGUMENT …]
//
// Each says "ready" once it is set up, notes SIGTERM in the shared page when it hears it, and
// leaves with 0.
#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 12

static struct page *page;
static pthread_barrier_t set_up;

static void heard(int sig) __attribute__((noreturn));

static void note_heard(struct page *to, int sig)
{
	struct note note = {.kind = NOTE_HEARD, .pid = (int32_t)getpid(), .number = sig};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(to, note);
}

static void heard(int sig)
{
	note_heard(page, sig);
	_exit(0);
}

static void pause_forever(void) __attribute__((noreturn));
static void pause_forever(void)
{
	for (;;)
		pause();
}

static sigset_t set_of(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	return set;
}

static void mask(int how, int sig)
{
	sigset_t set = set_of(sig);

	pthread_sigmask(how, &set, NULL);
}

static void wait_for(int sig) __attribute__((noreturn));
static void wait_for(int sig)
{
	sigset_t set = set_of(sig);
	int got;

	for (;;) {
		got = sigwaitinfo(&set, NULL);
		if (got == SIGTERM)
			heard(got);
	}
}

static void *pause_thread(void *unused)
{
	pthread_barrier_wait(&set_up);
	pause_forever();
	return unused;
}

static void *open_thread(void *unused)
{
	mask(SIG_UNBLOCK, SIGTERM);
	return pause_thread(unused);
}

static void *wait_thread(void *unused)
{
	mask(SIG_BLOCK, SIGTERM);
	pthread_barrier_wait(&set_up);
	wait_for(SIGTERM);
	return unused;
}

/* Returns when each thread has its mask. */
static void start(unsigned int n, void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	pthread_barrier_init(&set_up, NULL, n + 1);
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, run, NULL))
			_exit(121);
	pthread_barrier_wait(&set_up);
}

/* tini: all blocked, waits of a second each for any of them */
static void tini(char **args)
{
	struct timespec second = {.tv_sec = 1};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	page_ready(page);
	while (sigtimedwait(&all, NULL, &second) != SIGTERM)
		;
	heard(SIGTERM);
}

/* go: a handler for every signal, many threads */
static void go(char **args)
{
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, heard);
	start(THREADS, pause_thread);
	page_ready(page);
	pause_forever();
}

/* named: calls itself what runc's last stage is called */
static void named(char **args)
{
	prctl(PR_SET_NAME, "runc:[2:INIT]");
	go(args);
}

static int copy_in_memory(void)
{
	int memory = memfd_create("runc_cloned:/proc/self/exe", MFD_CLOEXEC),
	    self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (sendfile(memory, self, NULL, 1 << 20) > 0)
		;
	return memory;
}

/* stage memory|mount: as runc's last stage is, before it execs: a program in memory, or one on a
 * mount of its own that is under no root */
static void stage(char **args)
{
	char *argv[] = {"stopper", "named", NULL};
	int exe = strcmp(args[0], "memory")
			  ? (int)syscall(SYS_open_tree, AT_FDCWD, "/proc/self/exe",
					 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)
			  : copy_in_memory();

	fexecve(exe, argv, environ);
}

/* spins: SIGTERM blocked, and never asleep */
static void spins(char **args)
{
	mask(SIG_BLOCK, SIGTERM);
	page_ready(page);
	for (;;)
		sched_yield();
}

/* polls sigtimedwait|sigpending|pselect [handler]: SIGTERM blocked, and looks for it each second */
static void polls(char **args)
{
	sigset_t set = set_of(SIGTERM), none;

	sigemptyset(&none);
	mask(SIG_BLOCK, SIGTERM);
	if (args[1])
		signal(SIGTERM, heard);
	page_ready(page);
	for (;;) {
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
		if (!strcmp(args[0], "pselect"))
			pselect(0, NULL, NULL, NULL, &(struct timespec){}, &none);
		else if (!strcmp(args[0], "sigpending"))
			sigpending(&none);
		else if (sigtimedwait(&set, NULL, &(struct timespec){}) == SIGTERM)
			heard(SIGTERM);
		if (!strcmp(args[0], "sigpending") && sigismember(&none, SIGTERM))
			heard(SIGTERM);
	}
}

/* vforks blocked|handler: SIGTERM blocked or handled, and waits for a child to exec that does not */
static void vforks(char **args)
{
	if (!strcmp(args[0], "handler"))
		signal(SIGTERM, heard);
	else
		mask(SIG_BLOCK, SIGTERM);
	if (!vfork()) {
		page_ready(page);
		pause_forever();
	}
}

/* java: handlers for the signals that stop, many threads, the first waits for another one */
static void java(char **args)
{
	pthread_t thread;

	signal(SIGHUP, heard);
	signal(SIGINT, heard);
	signal(SIGTERM, heard);
	signal(SIGPIPE, SIG_IGN);
	mask(SIG_BLOCK, SIGQUIT);
	start(THREADS, pause_thread);
	pthread_barrier_init(&set_up, NULL, 1);
	pthread_create(&thread, NULL, pause_thread, NULL);
	page_ready(page);
	pthread_join(thread, NULL);
}

static void heard_only(int sig)
{
	note_heard(page, sig);
}

/* dumps: goes on after SIGQUIT, as what prints its state then does */
static void dumps(char **args)
{
	signal(SIGQUIT, heard_only);
	signal(SIGTERM, heard);
	page_ready(page);
	pause_forever();
}

/* python: a handler for SIGINT, the default for SIGTERM */
static void python(char **args)
{
	signal(SIGINT, heard);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	page_ready(page);
	pause_forever();
}

/* threads LEADER OTHER handler|default|ignore: the first thread and another one, each open
 * (SIGTERM not blocked), blocked or waiting */
static void threads(char **args)
{
	bool waits = !strcmp(args[1], "waiting");

	if (!strcmp(args[2], "handler"))
		signal(SIGTERM, heard);
	else if (!strcmp(args[2], "ignore"))
		signal(SIGTERM, SIG_IGN);
	if (strcmp(args[0], "open"))
		mask(SIG_BLOCK, SIGTERM);
	start(1, waits ? wait_thread : !strcmp(args[1], "open") ? open_thread : pause_thread);
	page_ready(page);
	if (!strcmp(args[0], "waiting"))
		wait_for(SIGTERM);
	pause_forever();
}

/* wait-other open|blocked: waits for SIGUSR1 alone */
static void wait_other(char **args)
{
	if (strcmp(args[0], "open"))
		mask(SIG_BLOCK, SIGTERM);
	mask(SIG_BLOCK, SIGUSR1);
	page_ready(page);
	wait_for(SIGUSR1);
}

/* signalfd-other: SIGTERM blocked, a signalfd for SIGUSR1 alone */
static void signalfd_other(char **args)
{
	sigset_t set = set_of(SIGUSR1);
	struct signalfd_siginfo info;
	int fd = signalfd(-1, &set, SFD_CLOEXEC);

	mask(SIG_BLOCK, SIGTERM);
	mask(SIG_BLOCK, SIGUSR1);
	page_ready(page);
	while (read(fd, &info, sizeof(info)) > 0 || errno == EINTR)
		;
}

/* takes sigwait|signalfd: fetches one SIGTERM and makes nothing of it */
static void takes(char **args)
{
	struct signalfd_siginfo info;
	sigset_t set = set_of(SIGTERM);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);

	mask(SIG_BLOCK, SIGTERM);
	page_ready(page);
	if (!strcmp(args[0], "sigwait"))
		sigwaitinfo(&set, NULL);
	else if (read(fd, &info, sizeof(info)) < 0)
		_exit(121);
	pause_forever();
}

static void await_pending(int sig)
{
	sigset_t set;

	do
		sigpending(&set);
	while (!sigismember(&set, sig));
}

/* unblocks default|ignore|handler: once SIGTERM is pending, changes what it does with it, and lets
 * it come; goes on, or with a handler ends */
static void unblocks(char **args)
{
	mask(SIG_BLOCK, SIGTERM);
	page_ready(page);
	await_pending(SIGTERM);
	if (!strcmp(args[0], "ignore"))
		signal(SIGTERM, SIG_IGN);
	else if (!strcmp(args[0], "handler"))
		signal(SIGTERM, heard);
	mask(SIG_UNBLOCK, SIGTERM);
	note_heard(page, 0);
	page_await_go(page, 1);
	_exit(0);
}

/* deafens: unblocks for nothing, and hears the next one */
static void deafens(char **args)
{
	mask(SIG_BLOCK, SIGTERM);
	page_ready(page);
	await_pending(SIGTERM);
	mask(SIG_UNBLOCK, SIGTERM);
	signal(SIGTERM, heard);
	note_heard(page, 0);
	pause_forever();
}

/* learns: hears SIGTERM only once it may go on */
static void learns(char **args)
{
	page_ready(page);
	page_await_go(page, 1);
	signal(SIGTERM, heard);
	note_heard(page, 0);
	pause_forever();
}

static volatile sig_atomic_t caught;

static void catch (int sig)
{
	caught = sig;
}

static void raise_again(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	caught = sig;
}

static void raise_unblocked(int sig)
{
	signal(sig, SIG_DFL);
	mask(SIG_UNBLOCK, sig);
	kill(getpid(), sig);
	caught = sig;
}

static void await_caught(void (*handler)(int sig))
{
	sigset_t none;

	sigemptyset(&none);
	mask(SIG_BLOCK, SIGTERM);
	signal(SIGTERM, handler);
	page_ready(page);
	while (!caught)
		sigsuspend(&none);
}

/* Passes SIGTERM on to a child that ignores it, and dies of nothing: SIGINT is dropped when it is
 * unblocked. */
static void raise_unheard(void)
{
	pid_t child;

	signal(SIGTERM, SIG_IGN);
	child = fork();
	if (!child)
		pause_forever();
	await_caught(catch);
	kill(child, SIGTERM);
	mask(SIG_BLOCK, SIGINT);
	raise(SIGINT);
	mask(SIG_UNBLOCK, SIGINT);
}

/* reraises inside|unblocked|after|waited|other|passed: takes SIGTERM, restores the default action,
 * and sends it to itself, to die of it as others do: in its handler, after it, or after sigwait().
 * other: SIGINT instead, after it; passed: the same, behind what it passes on */
static void reraises(char **args)
{
	sigset_t set = set_of(SIGTERM);
	int got;

	if (!strcmp(args[0], "waited")) {
		mask(SIG_BLOCK, SIGTERM);
		page_ready(page);
		sigwait(&set, &got);
		raise(SIGTERM);
		mask(SIG_UNBLOCK, SIGTERM);
	} else if (!strcmp(args[0], "other")) {
		await_caught(catch);
		raise(SIGINT);
	} else if (!strcmp(args[0], "passed")) {
		raise_unheard();
	} else if (!strcmp(args[0], "after")) {
		await_caught(catch);
		signal(SIGTERM, SIG_DFL);
		mask(SIG_UNBLOCK, SIGTERM);
		raise(SIGTERM);
	} else {
		await_caught(strcmp(args[0], "inside") ? raise_unblocked : raise_again);
		mask(SIG_UNBLOCK, SIGTERM);
	}
	note_heard(page, 0);
	pause_forever();
}

/* waits-raises raise|queue: takes SIGTERM by sigwait(), and runs its handler by raise() or
 * sigqueue() later */
static void waits_raises(char **args)
{
	sigset_t set = set_of(SIGTERM);
	int got;

	mask(SIG_BLOCK, SIGTERM);
	signal(SIGTERM, catch);
	page_ready(page);
	sigwait(&set, &got);
	page_await_go(page, 1);
	if (strcmp(args[0], "queue"))
		raise(SIGTERM);
	else
		sigqueue(getpid(), SIGTERM, (union sigval){});
	mask(SIG_UNBLOCK, SIGTERM);
	heard(SIGTERM);
}

static void *vfork_thread(void *unused)
{
	mask(SIG_UNBLOCK, SIGTERM);
	if (!vfork()) {
		page_ready(page);
		pause_forever();
	}
	return unused;
}

/* held-open: the first thread blocks SIGTERM; the one that does not waits for a child to exec */
static void held_open(char **args)
{
	pthread_t thread;

	signal(SIGTERM, heard);
	mask(SIG_BLOCK, SIGTERM);
	pthread_create(&thread, NULL, vfork_thread, NULL);
	pause_forever();
}

static void *stray_thread(void *arg)
{
	char **args = arg, path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/tasks", args[0]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(121);
	close(fd);
	page_ready(page);
	await_pending(SIGTERM);
	if (!strcmp(args[1], "handler"))
		signal(SIGTERM, catch);
	mask(SIG_UNBLOCK, SIGTERM);
	note_heard(page, 0);
	page_await_go(page, 1);
	_exit(7);
}

/* strays DIR default|handler stays|leaves: a thread in that cgroup of a v1 hierarchy takes SIGTERM
 * and exits with 7 once it may; the first thread stays or leaves, and so a child stays */
static void strays(char **args)
{
	pthread_t thread;

	mask(SIG_BLOCK, SIGTERM);
	if (!fork())
		pause_forever();
	pthread_create(&thread, NULL, stray_thread, args);
	if (!strcmp(args[2], "leaves"))
		pthread_exit(NULL);
	pause_forever();
}

/* execs MANNER default|ignore: that one of its own, once it may go on; until then it does that with
 * SIGTERM */
static void execs(char **args)
{
	char *argv[] = {"stopper", args[0], NULL};

	if (!strcmp(args[1], "ignore"))
		signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_NAME, "entrypoint");
	page_ready(page);
	page_await_go(page, 1);
	execv("/proc/self/exe", argv);
}

/* kills: SIGKILL to itself, as PID 1 */
static void kills(char **args)
{
	kill(getpid(), SIGKILL);
	page_ready(page);
	pause_forever();
}

/*
 * reboots self|child asked|go: its pid namespace, by itself or a child, when asked by SIGTERM or
 * once it may go on. Only as PID 1, which no test is on the host.
 */
static void reboots(char **args)
{
	sigset_t term = set_of(SIGTERM);
	int got;

	mask(SIG_BLOCK, SIGTERM);
	page_ready(page);
	if (getpid() != 1)
		_exit(1);
	if (!strcmp(args[1], "asked"))
		sigwait(&term, &got);
	else
		page_await_go(page, 1);
	if (!strcmp(args[0], "self") || (!fork() && getppid() == 1))
		reboot(!strcmp(args[0], "self") ? RB_AUTOBOOT : RB_POWER_OFF);
	pause_forever();
}

/* orphaned NUMBER: gets that signal when its parent dies */
static void orphaned(char **args)
{
	prctl(PR_SET_PDEATHSIG, atoi(args[0]));
	signal(SIGTERM, heard);
	page_ready(page);
	pause_forever();
}

/* exit-signal NUMBER: a child of that exit signal ends at go 1 */
static void exit_signal(char **args)
{
	if (!syscall(SYS_clone, (unsigned long)atoi(args[0]), 0, 0, 0, 0)) {
		page_await_go(page, 1);
		_exit(0);
	}
	page_ready(page);
	pause_forever();
}

/* seated TERMINAL: it is its own; who opened that has the other end */
static void seated(char **args)
{
	int slave;

	setsid();
	slave = open(args[0], O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(122);
	page_ready(page);
	pause_forever();
}

/* terminal KEY: that character is typed at its own terminal at go 1; "": the terminal hangs up */
static void terminal(char **args)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;

	setsid();
	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(122);
	page_ready(page);
	page_await_go(page, 1);
	if (*args[0] && write(master, args[0], 1) != 1)
		_exit(123);
	if (!*args[0])
		close(master);
	pause_forever();
}

/* run PROGRAM [ARGUMENT ...]: another program, which says ready itself (a byte to READY_FD) */
static void run(char **args)
{
	execv(args[0], args);
}

static const struct {
	const char *name;
	void (*run)(char **args);
	int args;
} manners[] = {
	{"tini", tini, 0},
	{"go", go, 0},
	{"java", java, 0},
	{"named", named, 0},
	{"stage", stage, 1},
	{"spins", spins, 0},
	{"vforks", vforks, 1},
	{"polls", polls, 1},
	{"python", python, 0},
	{"dumps", dumps, 0},
	{"threads", threads, 3},
	{"wait-other", wait_other, 1},
	{"signalfd-other", signalfd_other, 0},
	{"takes", takes, 1},
	{"unblocks", unblocks, 1},
	{"deafens", deafens, 0},
	{"learns", learns, 0},
	{"reraises", reraises, 1},
	{"waits-raises", waits_raises, 1},
	{"held-open", held_open, 0},
	{"strays", strays, 3},
	{"execs", execs, 2},
	{"kills", kills, 0},
	{"reboots", reboots, 2},
	{"orphaned", orphaned, 1},
	{"exit-signal", exit_signal, 1},
	{"terminal", terminal, 1},
	{"seated", seated, 1},
	{"run", run, 1},
};

int main(int argc, char **argv)
{
	page = page_attach();
	for (size_t i = 0; argc > 1 && i < sizeof(manners) / sizeof(manners[0]); i++) {
		if (strcmp(argv[1], manners[i].name) || argc < manners[i].args + 2)
			continue;
		manners[i].run(argv + 2);
		return 1;
	}
	fprintf(stderr, "stopper: unknown manner %s\n", argc > 1 ? argv[1] : "(none)");
	return 2;
}
