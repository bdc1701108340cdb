// SPDX-License-Identifier: Apache-2.0
// When an init takes its stop signal is recorded, exactly, or not at all.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static int setup(void **state)
{
	return kernhalf_open(state, "stages");
}

static void start(struct kernhalf *k, const struct box_spec *spec, struct box *ret)
{
	assert_int_equal(box_start(&k->tree, spec, ret), 0);
	assert_true(ret->proc.ready);
}

static void ask(struct kernhalf *k, enum send_from from, const struct box *via,
		const struct box *box, int sig)
{
	struct sent sent;

	assert_int_equal(send_signal(&k->tree, from, via, box->init_pid, sig, &sent), 0);
}

/* Waits for the init's end and reads the records; its exit is the only one. */
static const struct graced_ev_exit *end(struct kernhalf *k, struct box *box)
{
	struct proc_end ended;

	assert_int_equal(proc_wait(&box->proc, &ended), 0);
	kernhalf_drain(k);
	assert_int_equal(k->n_exits, 1);
	assert_int_equal(k->exits[0].hdr.watch_id, kernhalf_id(box->dir));
	return &k->exits[0];
}

/* When the first signal of that number to an init was, of those read last. */
static uint64_t signal_at(const struct kernhalf *k, uint32_t sig)
{
	unsigned int i = 0;

	while (i < k->n_signals && i < KERNHALF_SEEN &&
	       (k->signals[i].sig != sig || !(k->signals[i].flags & GRACED_SIG_INIT)))
		i++;
	assert_true(i < k->n_signals && i < KERNHALF_SEEN);
	return k->signals[i].hdr.at_ns;
}

enum taken {
	NOT_TAKEN,
	HEARD, /* before it noted so */
	DIED,  /* before it exited */
};

static const struct {
	const char *prog;
	const char *argv[5];
	bool host_pidns; /* nothing shields it */
	int sig;
	uint32_t go; /* said after the signal; 0: nothing */
	enum taken taken;
} takings[] = {
	{"workload", {"graceful"}, false, SIGTERM, 0, HEARD},
	{"workload", {"graceful", "3", "50"}, true, SIGQUIT, 0, HEARD},
	{"workload", {"reraise"}, true, SIGTERM, 0, HEARD},
	{"workload", {"crash-in-handler"}, false, SIGINT, 0, HEARD},
	{"stopper", {"go"}, false, SIGTERM, 0, HEARD},
	{"stopper", {"threads", "blocked", "open", "handler"}, false, SIGTERM, 0, HEARD},
	{"workload", {"deaf"}, true, SIGTERM, 0, DIED},
	{"workload", {"deaf"}, true, SIGQUIT, 0, DIED},
	{"workload", {"deaf"}, true, 37, 0, DIED},
	{"stopper", {"threads", "open", "open", "default"}, true, SIGTERM, 0, DIED},
	{"workload", {"blocked"}, true, SIGTERM, 1, DIED},
	{"workload", {"blocked"}, false, SIGTERM, 2, NOT_TAKEN},
	{"workload", {"sigwait"}, false, SIGTERM, 0, NOT_TAKEN},
	{"workload", {"signalfd"}, false, SIGTERM, 0, NOT_TAKEN},
};

static void take(struct kernhalf *k, size_t i)
{
	const struct box_spec spec = {
		.prog = takings[i].prog,
		.argv = takings[i].argv,
		.host_pidns = takings[i].host_pidns,
	};
	const struct graced_ev_exit *ev;
	const struct note *heard;
	struct box box;
	uint64_t at;

	start(k, &spec, &box);
	kernhalf_drain(k);
	ask(k, SEND_HOST, NULL, &box, takings[i].sig);
	if (takings[i].go)
		page_go(box.proc.page, takings[i].go);
	ev = end(k, &box);
	at = signal_at(k, (uint32_t)takings[i].sig);
	assert_int_equal(ev->stop_at_ns, at);
	heard = page_find(box.proc.page, NOTE_HEARD, 0);
	if (takings[i].taken == NOT_TAKEN)
		assert_int_equal(ev->deliver_ns, 0);
	else
		assert_in_range(ev->deliver_ns, at,
				takings[i].taken == HEARD ? heard->before_ns : ev->hdr.at_ns);
	assert_int_equal(box_remove(&box), 0);
}

static void the_moment_an_init_takes_its_stop_signal_is_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);

	for (size_t i = 0; i < LEN(takings); i++)
		take(k, i);
}

/* A blocked signal stays where it is, and the SIGKILL that follows is not taken for it. */
static void a_kill_is_no_stop_signal_taken(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_exit *ev;
	struct box box;

	for (int host = 0; host < 2; host++) {
		start(k, &(struct box_spec){.argv = BOX_ARGV("blocked"), .host_pidns = host}, &box);
		kernhalf_drain(k);
		ask(k, SEND_HOST, NULL, &box, SIGTERM);
		ask(k, SEND_HOST, NULL, &box, SIGKILL);
		ev = end(k, &box);
		assert_int_equal(ev->status, SIGKILL);
		assert_int_equal(ev->stop_at_ns, signal_at(k, SIGTERM));
		assert_int_equal(ev->deliver_ns, 0);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* What is sent first is ignored, not a stop signal, or from inside; then init leaves at go 1. */
static void what_opens_no_stop_is_not_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_exit *ev;
	struct box box;

	start(k, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box);
	kernhalf_drain(k);
	ask(k, SEND_HOST, NULL, &box, SIGTERM);
	ask(k, SEND_HOST, NULL, &box, SIGUSR1);
	page_go(box.proc.page, 1);
	ev = end(k, &box);
	assert_int_equal(ev->stop_at_ns, 0);
	assert_int_equal(ev->deliver_ns, 0);
	assert_int_equal(box_remove(&box), 0);

	start(k, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	kernhalf_drain(k);
	ask(k, SEND_CONTAINER, &box, &box, SIGTERM);
	ev = end(k, &box);
	assert_int_equal(ev->stop_at_ns, 0);
	assert_int_equal(ev->deliver_ns, 0);
	assert_int_equal(box_remove(&box), 0);
}

/* When the stop was that counts for an init that both ask, one after the other. */
static void ask_twice(struct kernhalf *k, enum send_from first, enum send_from second,
		      const struct box *neighbour, bool second_counts)
{
	const struct graced_ev_exit *ev;
	uint64_t first_ns;
	struct box box;

	start(k, &(struct box_spec){.argv = BOX_ARGV("blocked")}, &box);
	kernhalf_drain(k);
	ask(k, first, neighbour, &box, SIGTERM);
	kernhalf_drain(k);
	first_ns = signal_at(k, SIGTERM);
	ask(k, second, neighbour, &box, SIGTERM);
	page_go(box.proc.page, 2);
	ev = end(k, &box);
	assert_int_equal(ev->stop_at_ns, second_counts ? signal_at(k, SIGTERM) : first_ns);
	assert_int_equal(box_remove(&box), 0);
}

static void a_neighbour_hides_no_stop(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box neighbour;

	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &neighbour);
	ask_twice(k, SEND_HOST, SEND_HOST, &neighbour, false);
	ask_twice(k, SEND_HOST, SEND_CONTAINER, &neighbour, false);
	ask_twice(k, SEND_CONTAINER, SEND_HOST, &neighbour, true);
	ask_twice(k, SEND_CONTAINER, SEND_CONTAINER, &neighbour, false);
	assert_int_equal(box_remove(&neighbour), 0);
}

/* An init that took one signal and lives on is stopped by the next, if that is another. */
static void the_stop_that_counts_is_the_one_it_had_not_taken(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_exit *ev;
	struct box box;

	start(k, &(struct box_spec){.prog = "stopper", .argv = BOX_ARGV("dumps")}, &box);
	kernhalf_drain(k);
	ask(k, SEND_HOST, NULL, &box, SIGQUIT);
	kernhalf_await_note(&box, NOTE_HEARD, 0);
	ask(k, SEND_HOST, NULL, &box, SIGTERM);
	ev = end(k, &box);
	assert_int_equal(ev->stop_at_ns, signal_at(k, SIGTERM));
	assert_in_range(ev->deliver_ns, ev->stop_at_ns,
			page_find(box.proc.page, NOTE_HEARD, 1)->before_ns);
	assert_int_equal(box_remove(&box), 0);
}

/* It takes the signal when its tracer lets it; a tracer that keeps the signal lets it take none. */
static void a_traced_init_takes_what_its_tracer_gives_it(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct graced_ev_exit *ev;
	uint64_t given_ns;
	struct box box;
	int status;

	for (int gives = 0; gives < 2; gives++) {
		start(k, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
		kernhalf_drain(k);
		assert_int_equal(ptrace(PTRACE_SEIZE, box.init_pid, NULL, NULL), 0);
		ask(k, SEND_HOST, NULL, &box, SIGTERM);
		assert_int_equal(waitpid(box.init_pid, &status, __WALL), box.init_pid);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTERM);
		given_ns = page_clock_ns();
		assert_int_equal(ptrace(PTRACE_DETACH, box.init_pid, NULL,
					(void *)(intptr_t)(gives ? SIGTERM : 0)),
				 0);
		if (!gives)
			ask(k, SEND_HOST, NULL, &box, SIGKILL);
		ev = end(k, &box);
		assert_int_equal(ev->stop_at_ns, signal_at(k, SIGTERM));
		if (gives)
			assert_in_range(ev->deliver_ns, given_ns, ev->hdr.at_ns);
		else
			assert_int_equal(ev->deliver_ns, 0);
		assert_int_equal(box_remove(&box), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the moment an init takes its stop signal, or dies of it, is recorded",
		      the_moment_an_init_takes_its_stop_signal_is_recorded),
		CLAIM("a SIGKILL is no stop signal taken", a_kill_is_no_stop_signal_taken),
		CLAIM("what opens no stop is not recorded", what_opens_no_stop_is_not_recorded),
		CLAIM("what a neighbour sends hides no stop from outside all containers",
		      a_neighbour_hides_no_stop),
		CLAIM("a stop signal it took and survived gives way to another one",
		      the_stop_that_counts_is_the_one_it_had_not_taken),
		CLAIM("a traced init takes what its tracer gives it",
		      a_traced_init_takes_what_its_tracer_gives_it),
	};

	return cmocka_run_group_tests_name("stages", tests, setup, kernhalf_close);
}
