// SPDX-License-Identifier: Apache-2.0
// Signals within a container are limited however many CPUs send them at once. With scope all each
// process that a signal may kill has its signals recorded: each under a lock of its own, and all
// out of the same bucket. What a storm's processes are recorded of in a stop is what their bucket
// has.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define BURST	    256 /* as in bpf/graced.bpf.h */
#define SLICE_NS    10000000ull
#define SLICES	    60000
#define SENDERS_MAX 8
#define SIGNALS	    400000 /* of each sender */
#define STORM	    500000

static int setup(void **state)
{
	return kernhalf_open(state, "bucket");
}

static int setup_all(void **state)
{
	return kernhalf_open_all(state, "bucket");
}

struct seen {
	uint64_t id, from_ns;
	uint64_t all, first, last; /* records; slices of the first and of the last one */
	uint64_t idle;		   /* in slices, while the bucket was full */
	unsigned int slices[SLICES];
};

static int on_record(void *userdata, void *data, size_t size)
{
	const struct graced_hdr *hdr = data;
	struct seen *seen = userdata;
	uint64_t slice;

	if (size < sizeof(*hdr) || hdr->watch_id != seen->id || hdr->at_ns < seen->from_ns ||
	    (hdr->type != GRACED_EV_SIGNAL && hdr->type != GRACED_EV_EXIT))
		return 0;
	slice = (hdr->at_ns - seen->from_ns) / SLICE_NS;
	if (!seen->all++)
		seen->first = seen->last = slice;
	if (slice > seen->last + BURST)
		seen->idle += slice - seen->last;
	seen->last = slice;
	if (slice < SLICES)
		seen->slices[slice]++;
	return 0;
}

/* It would be killed by them, but that it blocks them. */
static void send_to_itself(const char *dir, struct page *page, int sig, int n)
	__attribute__((noreturn));
static void send_to_itself(const char *dir, struct page *page, int sig, int n)
{
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || cg_enter(dir, getpid()) < 0)
		_exit(1);
	page_await_go(page, 1);
	for (int i = 0; i < n; i++)
		kill(getpid(), sig);
	_exit(0);
}

static unsigned int start_senders(const struct box *box, pid_t ret[static SENDERS_MAX])
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = cpus < 2 ? 2 : cpus > SENDERS_MAX ? SENDERS_MAX : (unsigned int)cpus;

	for (unsigned int i = 0; i < n; i++) {
		ret[i] = fork();
		assert_true(ret[i] >= 0);
		if (ret[i] == 0)
			send_to_itself(box->dir, box->proc.page, SIGUSR1, SIGNALS);
	}
	return n;
}

/* Reads the ring until a process has ended. */
static void read_until_end(struct ring_buffer *ring, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0)
		assert_true(ring_buffer__consume(ring) >= 0);
	assert_int_equal(status, 0);
	assert_true(ring_buffer__consume(ring) >= 0);
}

static void no_race_lifts_the_limit(void **state)
{
	static struct seen seen;
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct kernhalf *k = kernhalf_need(state);
	pid_t pids[SENDERS_MAX];
	struct ring_buffer *ring;
	unsigned int n, most = 0;
	struct box box;
	uint64_t before;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	kernhalf_drain(k);
	seen = (struct seen){.id = kernhalf_id(box.dir), .from_ns = page_clock_ns()};
	ring = ring_buffer__new(kern_ring_fd(k->kern), on_record, &seen, NULL);
	assert_non_null(ring);
	before = kernhalf_counts(k, box.dir).suppressed;
	n = start_senders(&box, pids);
	page_go(box.proc.page, 1);
	for (unsigned int i = 0; i < n; i++)
		read_until_end(ring, pids[i]);
	ring_buffer__free(ring);
	assert_true(seen.last < SLICES);
	for (uint64_t i = 0; i <= seen.last; i++)
		most = seen.slices[i] > most ? seen.slices[i] : most;
	print_message("# %u senders: %llu records in %llu slices, %u at most\n", n,
		      (unsigned long long)seen.all, (unsigned long long)seen.last + 1, most);
	/* The rest was counted: the limit has been at work. */
	assert_int_equal(kernhalf_counts(k, box.dir).lost, 0);
	assert_int_equal(kernhalf_counts(k, box.dir).suppressed - before + seen.all,
			 (uint64_t)n * SIGNALS);
	/* Each may have refilled what was empty. */
	assert_true(most <= (n + 1) * BURST);
	assert_int_equal(box_remove(&box), 0);
}

/* 256 at once and 100 a second. Its end is one record more, or one that found no room. */
static void a_storm_in_a_stop_has_what_its_bucket_has(void **state)
{
	static struct seen seen;
	const struct box_spec spec = {.argv = BOX_ARGV("hears", "15")};
	struct kernhalf *k = kernhalf_need(state);
	struct ring_buffer *ring;
	struct box box;
	uint64_t room;
	pid_t pid;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	kernhalf_await_note(&box, NOTE_HEARD, 0);
	kernhalf_drain(k);
	seen = (struct seen){.id = kernhalf_id(box.dir), .from_ns = page_clock_ns()};
	ring = ring_buffer__new(kern_ring_fd(k->kern), on_record, &seen, NULL);
	assert_non_null(ring);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		send_to_itself(box.dir, box.proc.page, SIGTERM, STORM);
	page_go(box.proc.page, 1);
	read_until_end(ring, pid);
	ring_buffer__free(ring);
	room = BURST + seen.last - seen.first - seen.idle;
	print_message("# %llu records, room for %llu\n", (unsigned long long)seen.all,
		      (unsigned long long)room);
	assert_int_equal(kernhalf_counts(k, box.dir).lost, 0);
	assert_int_equal(seen.all + kernhalf_others_missed(k, box.dir), STORM + 1);
	assert_in_range(seen.all, room - 4, room + 4 + seen.idle);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a storm in a stop has as many records as its bucket has room for",
		      a_storm_in_a_stop_has_what_its_bucket_has),
	};
	static const struct CMUnitTest of_all[] = {
		CLAIM("CPUs that race on a bucket do not lift its limit", no_race_lifts_the_limit),
	};
	int failed = cmocka_run_group_tests_name("bucket", tests, setup, kernhalf_close);

	return cmocka_run_group_tests_name("bucket_race", of_all, setup_all, kernhalf_close) ||
	       failed;
}
