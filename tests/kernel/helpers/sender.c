// SPDX-License-Identifier: Apache-2.0
// Send signals to a process in a chosen way, noting the clock around each call in the shared page.
//
//   sender kill PID SIG [SIG …]      each once, in this order
//   sender stop PID SIG GRACE_MS     SIG, then SIGKILL unless the process is gone within the grace
//   sender flood PID SIG COUNT       COUNT times; one note, its value the number that went out
//   sender rain PID SIG STEP         until go 1, and a NOTE_CHILD after each STEP; one note as
//   above sender queue PID SIG VALUE       sigqueue(3) sender forge PID SIG CODE [SI_PID]
//   rt_sigqueueinfo(2) with these sender pidfd PID SIG  pidfd_send_signal(2) sender thread PID TID
//   SIG        tgkill(2) sender cgkill DIR                write 1 to DIR/cgroup.kill sender
//   exitkill PID              trace the process with PTRACE_O_EXITKILL, then leave sender keep DIR
//   ADOPTS           start sleep(1) in the cgroup, note that, go on until go 1; ADOPTS: 1
//                                    adopts what its children leave, as a shim does; a higher one
//                                    does, too, and has that signal for the death of its parent
#include "lib/box/page.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

static struct page *page;

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static struct note begin(int sig)
{
	return (struct note){.kind = NOTE_KILL,
			     .pid = (int32_t)getpid(),
			     .number = sig,
			     .before_ns = page_clock_ns()};
}

static int end(struct note note, long result)
{
	int error = errno;

	note.after_ns = page_clock_ns();
	note.value = result < 0 ? -error : (int32_t)result;
	page_note(page, note);
	return result < 0;
}

static int do_kill(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		struct note note = begin(number(argv[i]));

		failed |= end(note, kill(number(argv[0]), note.number));
	}
	return failed;
}

static int do_stop(int argc, char **argv)
{
	int fd = (int)syscall(SYS_pidfd_open, number(argv[0]), 0);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	struct note note;

	if (fd < 0)
		return 1;
	note = begin(number(argv[1]));
	end(note, kill(number(argv[0]), note.number));
	if (poll(&poll_fd, 1, number(argv[2])) != 0)
		return 0;
	note = begin(SIGKILL);
	return end(note, kill(number(argv[0]), SIGKILL));
}

static int do_flood(int argc, char **argv)
{
	long count = strtol(argv[2], NULL, 10), sent = 0;
	int pid = number(argv[0]), sig = number(argv[1]);
	struct note note = begin(sig);

	for (long i = 0; i < count; i++)
		sent += kill(pid, sig) == 0;
	end(note, sent);
	return sent != count;
}

static int do_rain(int argc, char **argv)
{
	long step = strtol(argv[2], NULL, 10), tried = 0, sent = 0;
	int pid = number(argv[0]), sig = number(argv[1]);
	struct note note = begin(sig);

	while (!__atomic_load_n(&page->go, __ATOMIC_ACQUIRE)) {
		sent += kill(pid, sig) == 0;
		if (++tried % step == 0)
			page_note(page, (struct note){.kind = NOTE_CHILD, .value = (int32_t)sent});
	}
	end(note, sent);
	return sent != tried;
}

static int do_queue(int argc, char **argv)
{
	struct note note = begin(number(argv[1]));

	return end(note, sigqueue(number(argv[0]), note.number,
				  (union sigval){.sival_int = number(argv[2])}));
}

static int do_forge(int argc, char **argv)
{
	struct note note = begin(number(argv[1]));
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = number(argv[2]);
	info.si_pid = argc > 3 ? number(argv[3]) : 0;
	return end(note, syscall(SYS_rt_sigqueueinfo, number(argv[0]), note.number, &info));
}

static int do_pidfd(int argc, char **argv)
{
	int fd = (int)syscall(SYS_pidfd_open, number(argv[0]), 0);
	struct note note = begin(number(argv[1]));

	return end(note, syscall(SYS_pidfd_send_signal, fd, note.number, NULL, 0));
}

static int do_thread(int argc, char **argv)
{
	struct note note = begin(number(argv[2]));

	return end(note, syscall(SYS_tgkill, number(argv[0]), number(argv[1]), note.number));
}

/* astray PID SIG DIR: by a thread that is in another cgroup of a v1 hierarchy than its process */
static void *stray(void *arg)
{
	char **argv = arg, path[4096];
	struct note note;
	int fd;

	snprintf(path, sizeof(path), "%s/tasks", argv[2]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		return NULL;
	note = begin(number(argv[1]));
	end(note, kill(number(argv[0]), note.number));
	return argv;
}

static int do_astray(int argc, char **argv)
{
	void *sent = NULL;
	pthread_t thread;

	return pthread_create(&thread, NULL, stray, argv) || pthread_join(thread, &sent) || !sent;
}

static int do_cgkill(int argc, char **argv)
{
	char path[4096];
	struct note note;
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.kill", argv[0]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	note = begin(SIGKILL);
	return end(note, write(fd, "1", 1) == 1 ? 0 : -1);
}

static int do_exitkill(int argc, char **argv)
{
	long r = ptrace(PTRACE_SEIZE, number(argv[0]), NULL, PTRACE_O_EXITKILL);

	return end(begin(SIGKILL), r);
}

/* "0" is who writes. */
static void sleep_in(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (write(fd, "0", 1) == 1)
		execl("/bin/sleep", "sleep", "600", NULL);
	_exit(1);
}

/* vfork() returns once the child has exec'd. */
static int do_keep(int argc, char **argv)
{
	int adopts = number(argv[1]);
	pid_t child;

	if (prctl(PR_SET_CHILD_SUBREAPER, adopts) < 0 ||
	    prctl(PR_SET_PDEATHSIG, adopts > 1 ? adopts : 0) < 0)
		return 1;
	child = vfork();
	if (!child)
		sleep_in(argv[0]);
	page_note(page, (struct note){.kind = NOTE_CHILD, .pid = child});
	page_await_go(page, 1);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(int argc, char **argv);
} modes[] = {
	{"kill", 2, do_kill},	      {"stop", 3, do_stop},	{"flood", 3, do_flood},
	{"rain", 3, do_rain},	      {"queue", 3, do_queue},	{"forge", 3, do_forge},
	{"pidfd", 2, do_pidfd},	      {"thread", 3, do_thread}, {"cgkill", 1, do_cgkill},
	{"exitkill", 1, do_exitkill}, {"astray", 3, do_astray}, {"keep", 2, do_keep},
};

int main(int argc, char **argv)
{
	page = page_attach();
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name) && argc - 2 >= modes[i].args)
			return modes[i].run(argc - 2, argv + 2);
	fprintf(stderr, "sender: unknown mode or too few arguments\n");
	return 2;
}
