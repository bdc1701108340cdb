// SPDX-License-Identifier: Apache-2.0
// A container that forks for as long as it lives, up to a number of processes that the kernel
// holds it to, and hears no SIGTERM. It ends by itself after a minute.
//
//   forker PROCESSES
#include "lib/box/page.h"

#include <signal.h>
#include <sys/resource.h>

/* A user that has no other process here, since the limit is the user's. */
#define USER_MIN 3000000000u
#define LIFE_S	 60

static void limit(unsigned long n)
{
	const struct rlimit processes = {n, n};
	uid_t user = USER_MIN + (uid_t)getpid();

	if (setrlimit(RLIMIT_NPROC, &processes) < 0 || setgid(user) < 0 || setuid(user) < 0)
		_exit(1);
}

static void fork_on(uint64_t end_ns) __attribute__((noreturn));
static void fork_on(uint64_t end_ns)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (page_clock_ns() < end_ns)
		if (fork() < 0)
			nanosleep(&pause, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct page *page = page_attach();

	if (argc < 2)
		return 2;
	limit(strtoul(argv[1], NULL, 10));
	signal(SIGTERM, SIG_IGN);
	/* So that the dead make room. */
	signal(SIGCHLD, SIG_IGN);
	page_ready(page);
	fork_on(page_clock_ns() + LIFE_S * 1000000000ull);
}
