// SPDX-License-Identifier: Apache-2.0
/* Storms for the benchmark: exits, kills or signals for so many seconds. Prints how many there
 * were, how many nanoseconds they took, and how many of CPU time. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEC_NS	    1000000000ull
#define TICK_NS	    1000000ull /* a paced sender sends what is due and sleeps this long */
#define SENDERS_MAX 16

static const char usage[] = "usage: storm exits|kills SECONDS\n"
			    "       storm signals SECONDS RATE SENDERS PID...\n"
			    "RATE is signals a second of all senders together; 0: flat out\n";

/* What senders share with their parent. */
struct board {
	uint64_t sent[SENDERS_MAX];
	int error;
};

struct volley {
	uint64_t span_ns, rate; /* of one sender */
	unsigned int senders;
	char **pids;
	unsigned int n_pids;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SEC_NS + (uint64_t)ts.tv_nsec;
}

static uint64_t spent_ns(int who)
{
	struct rusage r;

	if (getrusage(who, &r) < 0)
		return 0;
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * SEC_NS +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000u;
}

static void print_storm(uint64_t count, uint64_t took_ns)
{
	uint64_t cpu_ns = spent_ns(RUSAGE_SELF) + spent_ns(RUSAGE_CHILDREN);

	printf("%llu %llu %llu\n", (unsigned long long)count, (unsigned long long)took_ns,
	       (unsigned long long)cpu_ns);
}

/* Nothing is cheaper than a vfork that exits at once, so a tracer's share of it is at its largest. */
static int one_exit(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	return child > 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int one_kill(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	if (child < 0 || kill(child, SIGKILL) < 0)
		return -1;
	return waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int repeat(int (*once)(void), uint64_t span_ns)
{
	uint64_t start = now_ns(), count = 0, now = start;

	for (; now - start < span_ns; now = now_ns(), count++) {
		if (once() == 0)
			continue;
		fprintf(stderr, "storm: %s\n", strerror(errno));
		return 1;
	}
	print_storm(count, now - start);
	return 0;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(at_ns / SEC_NS),
			      .tv_nsec = (long)(at_ns % SEC_NS)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* Sender i has the targets i, i + senders, ...; or one of them, when there are fewer. */
static void send_all(const struct volley *v, unsigned int i, struct board *board)
{
	uint64_t start = now_ns(), now = start, sent = 0, due;
	unsigned int at = i % v->n_pids;

	while (now - start < v->span_ns) {
		due = v->rate ? (uint64_t)((double)(now - start) * (double)v->rate / SEC_NS)
			      : sent + 64;
		for (; sent < due; sent++) {
			if (kill(atoi(v->pids[at]), SIGTERM) < 0) {
				board->error = errno;
				_exit(1);
			}
			at = at + v->senders < v->n_pids ? at + v->senders : i % v->n_pids;
		}
		board->sent[i] = sent;
		if (v->rate)
			sleep_until(now + TICK_NS);
		now = now_ns();
	}
	_exit(0);
}

static int send_volley(const struct volley *v)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t start = now_ns(), sent = 0, took;

	if (board == MAP_FAILED)
		return 1;
	for (unsigned int i = 0; i < v->senders; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			send_all(v, i, board);
		}
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	took = now_ns() - start;
	if (board->error) {
		fprintf(stderr, "storm: %s\n", strerror(board->error));
		return 1;
	}
	for (unsigned int i = 0; i < v->senders; i++)
		sent += board->sent[i];
	print_storm(sent, took);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t span_ns = argc > 2 ? (uint64_t)(atof(argv[2]) * SEC_NS) : 0;
	struct volley v = {.span_ns = span_ns};

	if (argc == 3 && strcmp(argv[1], "exits") == 0)
		return repeat(one_exit, span_ns);
	if (argc == 3 && strcmp(argv[1], "kills") == 0)
		return repeat(one_kill, span_ns);
	if (argc > 5 && strcmp(argv[1], "signals") == 0) {
		v.senders = (unsigned int)atoi(argv[4]);
		v.pids = argv + 5;
		v.n_pids = (unsigned int)argc - 5;
	}
	if (v.senders < 1 || v.senders > SENDERS_MAX) {
		fputs(usage, stderr);
		return 2;
	}
	v.rate = strtoull(argv[3], NULL, 10) / v.senders;
	return send_volley(&v);
}
