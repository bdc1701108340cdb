// SPDX-License-Identifier: Apache-2.0
// Inits whose SIGTERM the kernel raises, or looks as if it did: one manner per name.
//
//   raiser MANNER ANSWER
//
// At go 1 ("go N": the test has set the page's go word to N) SIGTERM is raised as the manner says:
//
//   none      not at all
//   timer     by a POSIX timer of the init (SI_TIMER)
//   mesgq     by a message queue that the init itself writes to (SI_MESGQ)
//   aio       by the C library when an asynchronous read is done (SI_ASYNCIO)
//   sigio     by a pipe with F_SETSIG that the init itself writes to (POLL_IN)
//   child     by a pipe with F_SETSIG that a child of the init writes to (POLL_IN)
//   beyond    by one that a child of that child writes to
//   queue:N   by rt_sigqueueinfo(2) to itself with si_code N
//
// and answered: "exit" with exit code 0, "live" with a note, "die" by its default action.
#include "lib/box/page.h"

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct page *page;

static void note_heard(int sig, siginfo_t *info)
{
	struct note note = {.kind = NOTE_HEARD, .number = sig, .value = info->si_code};

	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
}

static void hear_and_exit(int sig, siginfo_t *info, void *context)
{
	note_heard(sig, info);
	_exit(0);
}

static void hear_and_live(int sig, siginfo_t *info, void *context)
{
	note_heard(sig, info);
}

static const struct sigevent term_event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};

static int by_timer(void)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 1000000};
	struct sigevent event = term_event;
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return -1;
	return timer_settime(timer, 0, &soon, NULL);
}

static int by_message_queue(void)
{
	struct sigevent event = term_event;
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/graced-test-%d-%llu", (int)getpid(),
		 (unsigned long long)page_clock_ns());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
	if (queue < 0 || mq_unlink(name) < 0 || mq_notify(queue, &event) < 0)
		return -1;
	return mq_send(queue, "x", 1, 0);
}

static int by_aio(void)
{
	static struct aiocb read_one;
	static char byte;

	read_one.aio_fildes = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	read_one.aio_buf = &byte;
	read_one.aio_nbytes = 1;
	read_one.aio_sigevent = term_event;
	return read_one.aio_fildes < 0 ? -1 : aio_read(&read_one);
}

/* who: how many generations below the init the process is that writes. */
static int by_sigio(int who)
{
	int fds[2];

	if (pipe(fds) < 0 || fcntl(fds[0], F_SETOWN, getpid()) < 0 ||
	    fcntl(fds[0], F_SETSIG, SIGTERM) < 0 || fcntl(fds[0], F_SETFL, O_ASYNC) < 0)
		return -1;
	if (who && fork())
		return 0;
	if (who > 1 && fork()) {
		wait(NULL);
		_exit(0);
	}
	if (write(fds[1], "x", 1) != 1)
		return -1;
	if (who)
		_exit(0);
	return 0;
}

static int by_queue(int code)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = code;
	return (int)syscall(SYS_rt_sigqueueinfo, getpid(), SIGTERM, &info);
}

static int raise_by(const char *manner)
{
	if (!strcmp(manner, "none"))
		return 0;
	if (!strcmp(manner, "timer"))
		return by_timer();
	if (!strcmp(manner, "mesgq"))
		return by_message_queue();
	if (!strcmp(manner, "aio"))
		return by_aio();
	if (!strcmp(manner, "sigio"))
		return by_sigio(0);
	if (!strcmp(manner, "child"))
		return by_sigio(1);
	if (!strcmp(manner, "beyond"))
		return by_sigio(2);
	if (!strncmp(manner, "queue:", 6))
		return by_queue((int)strtol(manner + 6, NULL, 10));
	return -1;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};

	page = page_attach();
	if (argc != 3)
		return 2;
	action.sa_sigaction = strcmp(argv[2], "live") ? hear_and_exit : hear_and_live;
	if (strcmp(argv[2], "die"))
		sigaction(SIGTERM, &action, NULL);
	page_ready(page);
	page_await_go(page, 1);
	if (raise_by(argv[1]) < 0)
		return 3;
	for (;;)
		pause();
}
