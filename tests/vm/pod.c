// SPDX-License-Identifier: Apache-2.0
/*
 * The main process of a container that behaves as requested: prints what it hears, and leaves.
 *   pod pause           waits until it is asked to go, as a sandbox does
 *   pod until SIGNAL    ends with status 0 on the signal of this number, and ignores no other
 *   pod read SIGNAL     the same, and blocks it: a signalfd has it
 *   pod slow SECONDS    ends with status 0 so long after SIGTERM
 *   pod eat             allocates until somebody stops it
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void hear(int number)
{
}

static void await(int number)
{
	struct sigaction action = {.sa_handler = hear};
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigaction(number, &action, NULL);
	sigsuspend(&old);
}

static void read_signal(int number)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, 0);
	while (read(fd, &info, sizeof(info)) < 0)
		pause();
}

static _Noreturn void eat(void)
{
	for (;;) {
		char *more = malloc(1 << 20);

		if (more)
			memset(more, 1, 1 << 20);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pause";

	if (!strcmp(what, "until") && argc > 2) {
		await(atoi(argv[2]));
		return 0;
	}
	if (!strcmp(what, "read") && argc > 2) {
		read_signal(atoi(argv[2]));
		return 0;
	}
	if (!strcmp(what, "slow") && argc > 2) {
		await(SIGTERM);
		sleep((unsigned int)atoi(argv[2]));
		return 0;
	}
	if (!strcmp(what, "eat"))
		eat();
	if (!strcmp(what, "pause")) {
		await(SIGTERM);
		return 0;
	}
	fprintf(stderr, "usage: pod pause|until SIGNAL|read SIGNAL|slow SECONDS|eat\n");
	return 2;
}
