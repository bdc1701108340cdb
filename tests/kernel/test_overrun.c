// SPDX-License-Identifier: Apache-2.0
// A ring of one page and a flood it cannot hold: what falls off is counted, and told where it
// matters, and nowhere else.
#include "lib/claim.h"
#include "lib/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define FLOOD 100000
#define HALF  (FLOOD / 2)

static int setup(void **state)
{
	return fixture_open(state, "overrun", BOX_ARGV("--signals", "--ring-size", "4096"));
}

struct totals {
	int64_t emitted, lost, suppressed;
};

static struct totals totals_of(const json_t *rec)
{
	return (struct totals){
		.emitted = jrec_int(rec, "emitted.signal", -1),
		.lost = jrec_int(rec, "lost.signal", -1),
		.suppressed = jrec_int(rec, "suppressed.signal", -1),
	};
}

static int64_t produced(const struct totals *t)
{
	return t->emitted + t->lost + t->suppressed;
}

/* Wait until the tracer has told that so many signals were produced. */
static void await_produced(struct fixture *f, int64_t count)
{
	struct tracer_want want = {.type = "lost"};
	struct totals t;

	do {
		const json_t *rec = tracer_await(f->tracer, &want);

		assert_non_null(rec);
		t = totals_of(rec);
		want.nth++;
	} while (produced(&t) < count);
}

/* From two processes at once; both count what went out. */
static void flood(struct fixture *f, const struct box *box)
{
	struct proc senders[2];
	char pid[16], count[16];
	struct sent sent;

	snprintf(pid, sizeof(pid), "%d", (int)box->init_pid);
	snprintf(count, sizeof(count), "%d", HALF);
	for (size_t i = 0; i < LEN(senders); i++)
		assert_int_equal(send_start(&f->tree, SEND_HOST, NULL,
					    BOX_ARGV("flood", pid, "15", count), &senders[i]),
				 0);
	for (size_t i = 0; i < LEN(senders); i++) {
		assert_int_equal(send_collect(SEND_HOST, NULL, &senders[i], &sent, 1), 1);
		assert_int_equal(sent.result, HALF);
	}
}

/* Signals that containers of others got meanwhile, on a host that is not the test's alone. */
static int64_t foreign_signals(struct fixture *f)
{
	const char *ours = box_tree_relative(&f->tree, f->tree.root);
	int64_t n = 0;

	for (size_t i = 0; i < tracer_records(f->tracer); i++) {
		const json_t *rec = tracer_record(f->tracer, i);

		n += !strcmp(jrec_text(rec, "type"), "signal") &&
		     strncmp(jrec_text(rec, "target.container.cgroup"), ours, strlen(ours)) != 0;
	}
	return n;
}

static void stop_another(struct fixture *f)
{
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct sent sent;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "5")}, &box);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	truth.stop = &sent;
	judge_box(f, &box, truth);
}

static const json_t *last_of(struct fixture *f, const char *type)
{
	const json_t *last = NULL;

	for (size_t i = 0; i < tracer_records(f->tracer); i++)
		if (!strcmp(jrec_text(tracer_record(f->tracer, i), "type"), type))
			last = tracer_record(f->tracer, i);
	return last;
}

static void what_falls_off_is_counted_and_told_where_it_matters(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_end end;
	const json_t *rec;
	struct totals t;
	struct box box;
	int64_t sent;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	flood(f, &box);
	await_produced(f, FLOOD);

	/* Another container is none the worse for it, and is seen. */
	stop_another(f);

	page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'evidence':{'complete':false,'gaps':['events-lost']}}");
	judge_match(rec, "{'outcome':'graceful','cause':'self','exit':{'code':3,'signal':0}}");
	assert_int_equal(box_remove(&box), 0);
	stop_another(f);

	assert_int_equal(tracer_stop(f->tracer), 0);
	rec = last_of(f, "lost");
	t = totals_of(rec);
	assert_int_equal(t.suppressed, 0);
	assert_true(t.lost > 0);
	/* A program the kernel did not run is told apart; each may have been a signal's. */
	sent = FLOOD + 2 + foreign_signals(f);
	assert_in_range(sent - produced(&t), 0, jrec_int(rec, "recursion_misses", -1));
	assert_int_equal(tracer_count(f->tracer, &(struct tracer_want){.type = "signal"}),
			 t.emitted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("emitted + lost + suppressed is what was produced, and only the container "
		      "concerned has a gap",
		      what_falls_off_is_counted_and_told_where_it_matters),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
