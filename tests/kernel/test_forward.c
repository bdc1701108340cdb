// SPDX-License-Identifier: Apache-2.0
// What an init passes on of its stop is recorded: that, no more of it than four, and nothing else.
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
	return kernhalf_open(state, "forward");
}

static int setup_all(void **state)
{
	return kernhalf_open_all(state, "forward-all");
}

static void start(struct kernhalf *k, const char *prog, const char *const *argv, struct box *ret)
{
	const struct box_spec spec = {.prog = prog, .argv = argv};

	assert_int_equal(box_start(&k->tree, &spec, ret), 0);
	assert_true(ret->proc.ready);
}

static void ask(struct kernhalf *k, const struct box *box, int sig)
{
	struct sent sent;

	assert_int_equal(send_signal(&k->tree, SEND_HOST, NULL, box->init_pid, sig, &sent), 0);
}

/* Waits for its end and reads its records. */
static void end(struct kernhalf *k, struct box *box)
{
	struct proc_end ended;

	assert_int_equal(proc_wait(&box->proc, &ended), 0);
	kernhalf_drain(k);
	assert_true(k->n_signals <= KERNHALF_SEEN);
}

/* The nth signal that the init of a container passed on; NULL when there are fewer. */
static const struct graced_ev_signal *other(const struct kernhalf *k, uint64_t id, unsigned int n)
{
	for (unsigned int i = 0; i < k->n_signals; i++) {
		const struct graced_ev_signal *ev = &k->signals[i];

		if (ev->hdr.watch_id == id && ev->flags & GRACED_SIG_FORWARDED && n-- == 0)
			return ev;
	}
	return NULL;
}

static void expect_forwarded(const struct graced_ev_signal *ev, const struct box *box, int sig)
{
	assert_non_null(ev);
	assert_int_equal(ev->sig, sig);
	assert_true(ev->flags & GRACED_SIG_FORWARDED);
	assert_int_equal(ev->sender.pid, box->init_pid);
	assert_int_not_equal(ev->target.pid, box->init_pid);
	assert_int_equal(ev->target.watch_id, ev->hdr.watch_id);
}

/* Compares the record with the nth note of the init. */
static void expect_as_noted(const struct graced_ev_signal *ev, const struct box *box,
			    unsigned int nth)
{
	const struct note *note = page_find(box->proc.page, NOTE_KILL, nth);

	assert_non_null(note);
	assert_int_equal(ev->sig, note->number);
	assert_in_range(ev->hdr.at_ns, note->before_ns, note->after_ns);
	if (note->pid > 0)
		assert_int_equal(ev->target.ns_pid, note->pid);
}

/* One record for each of the first calls that the init noted. */
static const struct {
	const char *argv[4];
	unsigned int records;
	int sig;
	bool noted;
} rows[] = {
	{{"none", "3"}, 0, 0, true},
	{{"each", "1"}, 1, SIGTERM, true},
	{{"each", "3", "3"}, 3, SIGQUIT, true},
	{{"each", "4"}, 4, SIGTERM, true},
	{{"each", "9"}, 4, SIGTERM, true},
	{{"each", "2", "9"}, 2, SIGKILL, true},
	{{"each", "2", "64"}, 2, 64, true},
	{{"each", "2", "28"}, 0, 0, true},
	{{"all", "1"}, 1, SIGTERM, true},
	{{"all", "30"}, 4, SIGTERM, false},
	{{"queue", "1"}, 1, SIGTERM, false},
	{{"thread", "2"}, 2, SIGTERM, true},
	{{"death", "2", "12"}, 0, 0, true},
	{{"late", "2"}, 0, 0, true},
	{{"late", "2", "9"}, 0, 0, true},
	{{"unlike", "1"}, 1, SIGTSTP, false},
};

static void play(struct kernhalf *k, const char *const *argv, unsigned int records, int sig,
		 bool noted)
{
	struct box box;
	uint64_t id;

	start(k, "passer", argv, &box);
	id = kernhalf_id(box.dir);
	kernhalf_drain(k);
	ask(k, &box, SIGTERM);
	end(k, &box);
	for (unsigned int i = 0; i < records; i++) {
		expect_forwarded(other(k, id, i), &box, sig);
		if (noted)
			expect_as_noted(other(k, id, i), &box, i);
	}
	assert_null(other(k, id, records));
	assert_int_equal(kernhalf_counts(k, box.dir).suppressed, 0);
	assert_int_equal(box_remove(&box), 0);
}

static void four_of_what_an_init_passes_on_are_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);

	for (size_t i = 0; i < LEN(rows); i++)
		play(k, rows[i].argv, rows[i].records, rows[i].sig, rows[i].noted);
}

static void what_a_shell_traps_and_passes_on_is_recorded(void **state)
{
	static const char script[] = "trap 'kill -QUIT $c; exit 0' TERM; sleep 1000 & c=$!; "
				     "echo r >&4; wait";
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "stopper", BOX_ARGV("run", "/bin/sh", "-c", script), &box);
	id = kernhalf_id(box.dir);
	kernhalf_drain(k);
	ask(k, &box, SIGTERM);
	end(k, &box);
	expect_forwarded(other(k, id, 0), &box, SIGQUIT);
	assert_null(other(k, id, 1));
	assert_int_equal(box_remove(&box), 0);
}

/* The notes are of the early one, and of the one that is recorded. */
static void what_it_sends_before_its_stop_is_not_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("early"), &box);
	id = kernhalf_id(box.dir);
	ask(k, &box, SIGTERM);
	end(k, &box);
	expect_forwarded(other(k, id, 0), &box, SIGTERM);
	expect_as_noted(other(k, id, 0), &box, 1);
	assert_null(other(k, id, 1));
	assert_int_equal(box_remove(&box), 0);
}

static void what_children_send_one_another_is_not_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("siblings", "3"), &box);
	id = kernhalf_id(box.dir);
	ask(k, &box, SIGTERM);
	kernhalf_await_note(&box, NOTE_HEARD, 0);
	page_go(box.proc.page, 1);
	end(k, &box);
	assert_non_null(page_find(box.proc.page, NOTE_KILL, 1));
	assert_null(other(k, id, 0));
	assert_int_equal(box_remove(&box), 0);
}

static void repeating_a_stop_brings_no_further_four(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("twice", "3"), &box);
	id = kernhalf_id(box.dir);
	for (unsigned int i = 0; i < 3; i++) {
		ask(k, &box, SIGTERM);
		kernhalf_await_note(&box, NOTE_HEARD, i);
		if (i < 2)
			kernhalf_await_note(&box, NOTE_KILL, 3 * i + 2);
	}
	end(k, &box);
	for (unsigned int i = 0; i < 4; i++)
		expect_as_noted(other(k, id, i), &box, i);
	assert_null(other(k, id, 4));
	assert_int_equal(box_remove(&box), 0);
}

static void a_stop_from_inside_opens_nothing(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct sent sent;
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("each"), &box);
	id = kernhalf_id(box.dir);
	assert_int_equal(send_signal(&k->tree, SEND_CONTAINER, &box, box.init_pid, SIGTERM, &sent),
			 0);
	end(k, &box);
	assert_non_null(page_find(box.proc.page, NOTE_KILL, 0));
	assert_null(other(k, id, 0));
	assert_int_equal(box_remove(&box), 0);
}

/* Another of the stop set opens nothing any more, and SIGWINCH, never recorded else, does. */
static void its_own_stop_signal_is_what_opens_a_stop(void **state)
{
	static const struct {
		int own, sent;
		bool recorded;
	} cases[] = {
		{SIGTERM, SIGTERM, true},   {SIGWINCH, SIGTERM, true}, {SIGUSR1, SIGUSR1, true},
		{SIGWINCH, SIGWINCH, true}, {SIGTERM, SIGUSR1, false}, {SIGUSR1, SIGQUIT, false},
	};
	struct kernhalf *k = kernhalf_need(state);

	for (size_t i = 0; i < LEN(cases); i++) {
		struct box box;
		uint64_t id;

		start(k, "passer", BOX_ARGV("fetch", "1"), &box);
		id = kernhalf_id(box.dir);
		assert_int_equal(kern_watch_set_stop(k->kern, id, (unsigned int)cases[i].own), 0);
		ask(k, &box, cases[i].sent);
		end(k, &box);
		if (cases[i].recorded)
			expect_forwarded(other(k, id, 0), &box, SIGTERM);
		else
			assert_null(other(k, id, 0));
		assert_int_equal(box_remove(&box), 0);
	}
}

static void of_a_noisy_container_nothing_more_is_recorded(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("each", "3"), &box);
	id = kernhalf_id(box.dir);
	assert_int_equal(kern_noisy_set(k->kern, id, true), 0);
	ask(k, &box, SIGTERM);
	end(k, &box);
	assert_null(other(k, id, 0));
	assert_int_equal(kernhalf_counts(k, box.dir).suppressed, 0);
	assert_int_equal(box_remove(&box), 0);
}

/* All that could kill is recorded there, forwarded or not. */
static void in_scope_all_what_is_passed_on_is_marked(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box box;
	uint64_t id;

	start(k, "passer", BOX_ARGV("all", "9"), &box);
	id = kernhalf_id(box.dir);
	kernhalf_drain(k);
	ask(k, &box, SIGTERM);
	end(k, &box);
	for (unsigned int i = 0; i < 9; i++)
		expect_forwarded(other(k, id, i), &box, SIGTERM);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the first four signals that an init passes on are recorded, whichever they are",
		      four_of_what_an_init_passes_on_are_recorded),
		CLAIM("what a shell traps and passes on is recorded",
		      what_a_shell_traps_and_passes_on_is_recorded),
		CLAIM("what an init sends before its stop is not recorded",
		      what_it_sends_before_its_stop_is_not_recorded),
		CLAIM("what children send one another is not recorded",
		      what_children_send_one_another_is_not_recorded),
		CLAIM("repeating a stop brings no further four",
		      repeating_a_stop_brings_no_further_four),
		CLAIM("a stop signal from inside the container opens nothing",
		      a_stop_from_inside_opens_nothing),
		CLAIM("a container's own stop signal is what opens a stop, and is recorded",
		      its_own_stop_signal_is_what_opens_a_stop),
		CLAIM("of a noisy container nothing more is recorded, nor counted as suppressed",
		      of_a_noisy_container_nothing_more_is_recorded),
	};
	static const struct CMUnitTest all[] = {
		CLAIM("in scope all what is passed on is marked as such",
		      in_scope_all_what_is_passed_on_is_marked),
	};
	int failed = cmocka_run_group_tests_name("forward", tests, setup, kernhalf_close);

	return failed +
	       cmocka_run_group_tests_name("forward, scope all", all, setup_all, kernhalf_close);
}
