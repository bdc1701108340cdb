// SPDX-License-Identifier: Apache-2.0
/* Storms for the benchmark: many exits, kills or signals, and how long they took in nanoseconds. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static int one_exit(pid_t pid)
{
	pid_t child = vfork();

	(void)pid;
	if (child == 0)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int one_kill(pid_t pid)
{
	pid_t child = fork();

	(void)pid;
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (child < 0 || kill(child, SIGKILL) < 0)
		return -1;
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int one_signal(pid_t pid)
{
	return kill(pid, SIGTERM);
}

static const struct {
	const char *name;
	int (*once)(pid_t pid);
} storms[] = {{"exits", one_exit}, {"kills", one_kill}, {"signals", one_signal}};

int main(int argc, char **argv)
{
	pid_t pid = argc > 3 ? atoi(argv[3]) : 0;
	long n = argc > 2 ? atol(argv[2]) : 0;
	uint64_t start;

	for (size_t i = 0; argc > 2 && i < sizeof(storms) / sizeof(*storms); i++) {
		if (strcmp(argv[1], storms[i].name) != 0)
			continue;
		start = now_ns();
		for (long k = 0; k < n; k++) {
			if (storms[i].once(pid) == 0)
				continue;
			fprintf(stderr, "storm: %s: %s\n", argv[1], strerror(errno));
			return 1;
		}
		printf("%llu\n", (unsigned long long)(now_ns() - start));
		return 0;
	}
	fprintf(stderr, "usage: storm exits|kills|signals COUNT [PID]\n");
	return 2;
}
