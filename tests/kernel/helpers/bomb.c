// SPDX-License-Identifier: Apache-2.0
// A container whose processes die at a given rate, while its init behaves: it leaves with 0 when it
// is asked to stop.
//
//   bomb EXITS-A-SECOND
#include "lib/box/page.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define SECOND	1000000000ull
#define WORKERS 2

static void leave(int sig)
{
	_exit(0);
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = {.tv_sec = (time_t)(at_ns / SECOND),
			      .tv_nsec = (long)(at_ns % SECOND)};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL);
}

static void live_and_die(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* A hundredth of a second's worth at once; what could not be kept up with is not made up for. */
static void explode(uint64_t rate) __attribute__((noreturn));
static void explode(uint64_t rate)
{
	uint64_t next = page_clock_ns();

	for (;;) {
		for (uint64_t i = 0; i < rate / 100; i++)
			live_and_die();
		next += SECOND / 100;
		if (next > page_clock_ns())
			sleep_until(next);
		else
			next = page_clock_ns();
	}
}

int main(int argc, char **argv)
{
	uint64_t rate = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
	struct page *page = page_attach();

	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			explode(rate / WORKERS);
	signal(SIGTERM, leave);
	page_ready(page);
	for (;;)
		pause();
}
