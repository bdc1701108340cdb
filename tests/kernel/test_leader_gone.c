// SPDX-License-Identifier: Apache-2.0
// Inits whose main thread has ended (pthread_exit() in main) while another thread goes on: with the
// tracer attached before and after, on the hierarchies that this host has.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <signal.h>

static int setup(void **state)
{
	return attach_open(state, "leaderless");
}

/* The init ends with this code. */
#define CODE "3"

static const struct {
	bool host_pidns;
	int sig; /* 0: it exits by itself */
	const char *outcome, *cause;
} rows[] = {
	{true, SIGTERM, "graceful", "stop-signal"},
	{false, SIGTERM, "graceful", "stop-signal"},
	{true, SIGKILL, "killed", "no-grace"},
	{false, SIGKILL, "killed", "no-grace"},
	{true, 0, "failed", "self"},
	{false, 0, "failed", "self"},
};

static const char *gaps_of(enum attach when, bool host_pidns)
{
	if (when == BEFORE)
		return NULL;
	return host_pidns ? "['attached-late','init-guessed']" : "['attached-late']";
}

static void play(struct fixture *f, enum attach when, size_t i)
{
	const struct box_spec spec = {.prog = "crowd",
				      .argv = BOX_ARGV("leader-gone", CODE),
				      .host_pidns = rows[i].host_pidns};
	struct truth truth = {
		.outcome = rows[i].outcome,
		.cause = rows[i].cause,
		.gaps = gaps_of(when, rows[i].host_pidns),
	};
	struct sent sent;
	struct box box;

	print_message("attached %s: row %zu\n", when == BEFORE ? "before" : "after", i);
	attach_if(f, when, BEFORE);
	judge_start(f, &spec, &box);
	assert_int_equal(peek_await_leader_gone(box.init_pid), 0);
	attach_if(f, when, AFTER);
	if (!rows[i].sig)
		page_go(box.proc.page, 1);
	else
		judge_send(f, SEND_RUNTIME, &box, rows[i].sig, &sent);
	if (rows[i].sig == SIGKILL)
		truth.kill = &sent;
	else if (rows[i].sig)
		truth.stop = &sent;
	judge_box(f, &box, truth);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(judge_count(f, &box, "signal"), rows[i].sig != 0);
	attach_end(f);
}

static void its_signals_and_its_exit_are_recorded(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(rows); i++)
		play(f, BEFORE, i);
}

static void the_same_of_one_that_was_there_before(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(rows); i++)
		play(f, AFTER, i);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("of an init without a main thread signals, stop and exit are recorded",
		      its_signals_and_its_exit_are_recorded),
		CLAIM("the same of one whose main thread ended before the tracer was attached",
		      the_same_of_one_that_was_there_before),
	};

	return attach_run(tests, setup);
}
