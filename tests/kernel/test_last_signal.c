// SPDX-License-Identifier: Apache-2.0
// When a container's other processes were last asked to stop: the sender does not matter, whether
// it came through does.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <sys/wait.h>

#define WITHIN	  SEND_CONTAINER
#define RTMIN_3	  37
#define NO_SIGNAL 0

static int setup(void **state)
{
	return kernhalf_open(state, "last-signal");
}

static uint64_t signalled_at(const struct kernhalf *k, uint64_t id)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, id, &watch), 0);
	return watch.told_at_ns;
}

static void start(struct kernhalf *k, struct box *ret)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};

	assert_int_equal(box_start(&k->tree, &spec, ret), 0);
	assert_true(ret->proc.ready);
}

static void start_child(struct kernhalf *k, const struct box *box, const char *as, struct proc *ret)
{
	assert_int_equal(box_exec(&k->tree, box, "workload", true, BOX_ARGV(as), ret), 0);
	assert_true(ret->ready);
}

/* Whether that counts, and then that its time is known. */
static void expect(struct kernhalf *k, const struct box *box, enum send_from from, pid_t to,
		   int sig, bool counts)
{
	uint64_t id = kernhalf_id(box->dir), before = signalled_at(k, id);
	struct sent sent;

	assert_int_equal(send_signal(&k->tree, from, box, to, sig, &sent), 0);
	assert_int_equal(sent.result, 0);
	if (counts)
		assert_in_range(signalled_at(k, id), sent.before_ns, sent.after_ns);
	else
		assert_int_equal(signalled_at(k, id), before);
}

static const struct {
	const char *child; /* a behaviour of helpers/workload.c */
	enum send_from from;
	int sig, own; /* own: the container's stop signal */
	bool counts;
} rows[] = {
	{"graceful", SEND_HOST, SIGTERM, NO_SIGNAL, true},
	{"graceful", WITHIN, SIGTERM, NO_SIGNAL, true},
	{"graceful", SEND_HOST, SIGINT, NO_SIGNAL, true},
	{"graceful", SEND_HOST, SIGQUIT, SIGUSR2, true},
	{"graceful", SEND_HOST, RTMIN_3, NO_SIGNAL, true},
	{"blocked", SEND_HOST, SIGTERM, NO_SIGNAL, true},
	{"deaf", SEND_HOST, SIGTERM, NO_SIGNAL, true},
	{"deaf", WITHIN, SIGKILL, NO_SIGNAL, true},
	{"deaf", SEND_HOST, SIGUSR2, SIGUSR2, true},
	{"deaf", SEND_HOST, SIGWINCH, SIGWINCH, false}, /* ignored by default */
	{"deaf", SEND_HOST, SIGWINCH, NO_SIGNAL, false},
	/* What may be a request to drain. */
	{"deaf", SEND_HOST, SIGUSR2, NO_SIGNAL, true},
	{"deaf", WITHIN, SIGHUP, NO_SIGNAL, true},
	{"deaf", WITHIN, SIGUSR1, NO_SIGNAL, true},
	{"deaf", SEND_HOST, RTMIN_3 + 1, NO_SIGNAL, true},
	/* What is none. */
	{"deaf", SEND_HOST, SIGCONT, NO_SIGNAL, false},
	{"deaf", SEND_HOST, SIGURG, NO_SIGNAL, false},
	{"deaf", WITHIN, SIGCHLD, NO_SIGNAL, false},
	{"deaf", SEND_HOST, SIGALRM, NO_SIGNAL, false},
	{"sigign", SEND_HOST, SIGTERM, NO_SIGNAL, false},
	{"sigign", WITHIN, SIGTERM, NO_SIGNAL, false},
};

static void play(struct kernhalf *k, bool noisy)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		struct proc child;
		struct box box;

		start(k, &box);
		start_child(k, &box, rows[i].child, &child);
		assert_int_equal(signalled_at(k, kernhalf_id(box.dir)), 0);
		assert_int_equal(kern_watch_set_stop(k->kern, kernhalf_id(box.dir), rows[i].own),
				 0);
		if (noisy)
			assert_int_equal(kern_noisy_set(k->kern, kernhalf_id(box.dir), true), 0);
		expect(k, &box, rows[i].from, child.pid, rows[i].sig, rows[i].counts);
		proc_free(&child);
		assert_int_equal(box_remove(&box), 0);
	}
}

static void what_asks_others_to_stop_counts(void **state)
{
	play(kernhalf_need(state), false);
}

static void of_a_noisy_container_too(void **state)
{
	play(kernhalf_need(state), true);
}

/* A handler for it, after which it lives on. */
static void an_own_stop_signal_that_kills_nobody_counts(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct proc child;
	struct box box;
	uint64_t id;

	start(k, &box);
	id = kernhalf_id(box.dir);
	assert_int_equal(box_exec(&k->tree, &box, "workload", true,
				  BOX_ARGV("hears", "28" /* SIGWINCH */), &child),
			 0);
	assert_true(child.ready);
	expect(k, &box, SEND_HOST, child.pid, SIGWINCH, true);
	assert_int_equal(kern_watch_set_stop(k->kern, id, SIGWINCH), 0);
	expect(k, &box, SEND_HOST, child.pid, SIGWINCH, true);
	proc_free(&child);
	assert_int_equal(box_remove(&box), 0);
}

static void what_an_init_cannot_hear_does_not_count(void **state)
{
	static const int sigs[] = {SIGTERM, SIGINT, SIGUSR1};
	struct kernhalf *k = kernhalf_need(state);
	struct box box;

	start(k, &box);
	for (size_t i = 0; i < LEN(sigs); i++)
		expect(k, &box, SEND_HOST, box.init_pid, sigs[i], false);
	assert_int_equal(box_remove(&box), 0);
}

/* It has a handler for SIGINT, and is deaf to SIGTERM. */
static void an_init_that_hears_another_counts(void **state)
{
	const struct box_spec spec = {.argv = BOX_ARGV("hears", "2" /* SIGINT */)};
	struct kernhalf *k = kernhalf_need(state);
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	assert_true(box.proc.ready);
	expect(k, &box, SEND_HOST, box.init_pid, SIGTERM, false);
	expect(k, &box, SEND_HOST, box.init_pid, SIGINT, true);
	expect(k, &box, SEND_HOST, box.init_pid, SIGTERM, false);
	assert_int_equal(box_remove(&box), 0);
}

static void a_process_that_ended_does_not_count(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct proc child;
	struct box box;
	siginfo_t info;

	start(k, &box);
	start_child(k, &box, "deaf", &child);
	expect(k, &box, SEND_HOST, child.pid, SIGUSR1, true);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	expect(k, &box, SEND_HOST, child.pid, SIGTERM, false);
	expect(k, &box, SEND_HOST, child.pid, SIGKILL, false);
	proc_free(&child);
	assert_int_equal(box_remove(&box), 0);
}

static void the_last_time_counts_and_a_neighbour_does_not(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct proc child, other;
	struct box box, neighbour;

	start(k, &box);
	start(k, &neighbour);
	start_child(k, &box, "blocked", &child);
	start_child(k, &neighbour, "blocked", &other);
	expect(k, &box, SEND_HOST, child.pid, SIGTERM, true);
	/* It is pending already. */
	expect(k, &box, WITHIN, child.pid, SIGTERM, true);
	expect(k, &box, WITHIN, other.pid, SIGTERM, false);
	assert_true(signalled_at(k, kernhalf_id(neighbour.dir)) >
		    signalled_at(k, kernhalf_id(box.dir)));
	proc_free(&child);
	proc_free(&other);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&neighbour), 0);
}

/* No cgroup has such an id. */
#define MADE_UP (UINT64_MAX - 1000)

static void what_was_no_container_may_have_been_signalled(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_watch watch = {.kind = GRACED_WATCH_BRANCH};
	uint64_t before = page_clock_ns(), became;

	assert_int_equal(kern_watch_add(k->kern, MADE_UP, &watch), 0);
	assert_int_equal(kern_watch_set_kind(k->kern, MADE_UP, GRACED_WATCH_POD), 0);
	assert_int_equal(kern_watch_set_kind(k->kern, MADE_UP, GRACED_WATCH_CONTAINER), 0);
	became = signalled_at(k, MADE_UP);
	assert_in_range(became, before, page_clock_ns());
	assert_int_equal(kern_watch_set_kind(k->kern, MADE_UP, GRACED_WATCH_SERVICE), 0);
	assert_int_equal(signalled_at(k, MADE_UP), became);
	assert_int_equal(kern_watch_delete(k->kern, MADE_UP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop signal or SIGKILL counts, if it is not ignored",
		      what_asks_others_to_stop_counts),
		CLAIM("in a noisy container it does, too", of_a_noisy_container_too),
		CLAIM("a container's own stop signal counts even where others kill nobody",
		      an_own_stop_signal_that_kills_nobody_counts),
		CLAIM("what a container's init cannot hear does not count",
		      what_an_init_cannot_hear_does_not_count),
		CLAIM("a stop signal that an init hears counts, if it is not that of the runtime",
		      an_init_that_hears_another_counts),
		CLAIM("a signal to a process that has ended does not count",
		      a_process_that_ended_does_not_count),
		CLAIM("the last time is kept, for each container by itself",
		      the_last_time_counts_and_a_neighbour_does_not),
		CLAIM("what becomes a container begins as if signalled then",
		      what_was_no_container_may_have_been_signalled),
	};

	return cmocka_run_group_tests(tests, setup, kernhalf_close);
}
