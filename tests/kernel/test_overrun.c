// SPDX-License-Identifier: Apache-2.0
// A ring of one page and a flood it cannot hold: what falls off is counted, and told where it
// matters, and nowhere else.
#include "lib/claim.h"
#include "lib/judge.h"
#include "lib/kernhalf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "io/kern_priv.h"

#define FLOOD		  100000
#define HALF		  (FLOOD / 2)
#define RING		  4096
#define TEXT(number)	  #number
#define RING_TEXT(number) TEXT(number)

/*
 * Such a ring has no room for what happens to containers of others. So the tracer follows a
 * hierarchy in which there are none, where this host has one.
 */
static int setup(void **state)
{
	static const char *const others[] = {"devices", "blkio", "cpuset"};
	struct hier hier;

	for (size_t i = 0; i < LEN(others); i++) {
		setenv("GRACED_TEST_HIERARCHY", others[i], 1);
		if (!hier_detect(&hier))
			break;
		unsetenv("GRACED_TEST_HIERARCHY");
	}
	return fixture_open(state, "overrun",
			    BOX_ARGV("--signals", "--ring-size", RING_TEXT(RING)));
}

static int teardown(void **state)
{
	unsetenv("GRACED_TEST_HIERARCHY");
	return fixture_close(state);
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
static void flood(struct box_tree *tree, const struct box *box)
{
	struct proc senders[2];
	char pid[16], count[16];
	struct sent sent;

	snprintf(pid, sizeof(pid), "%d", (int)box->init_pid);
	snprintf(count, sizeof(count), "%d", HALF);
	for (size_t i = 0; i < LEN(senders); i++)
		assert_int_equal(send_start(tree, SEND_HOST, NULL,
					    BOX_ARGV("flood", pid, "15", count), &senders[i]),
				 0);
	for (size_t i = 0; i < LEN(senders); i++) {
		assert_int_equal(send_collect(SEND_HOST, NULL, &senders[i], &sent, 1), 1);
		assert_int_equal(sent.result, HALF);
	}
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

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	flood(&f->tree, &box);
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
	assert_true(t.lost > 0);
	assert_int_equal(tracer_count(f->tracer, &(struct tracer_want){.type = "signal"}),
			 t.emitted);
}

static int setup_half(void **state)
{
	return kernhalf_open_ring(state, "overrun-half", RING);
}

/* Only the test's own tree is watched here. */
static void each_signal_is_emitted_lost_or_suppressed(void **state)
{
	struct graced_stat stats[GRACED_STAT_COUNT], *t = &stats[GRACED_EV_SIGNAL];
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts counts;
	struct box box;

	assert_int_equal(box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box),
			 0);
	kernhalf_drain(k);
	flood(&k->tree, &box);
	kernhalf_drain(k);
	counts = kernhalf_counts(k, box.dir);
	assert_int_equal(kern_read_stats(k->kern, stats), 0);
	assert_int_equal(t->suppressed, 0);
	assert_int_equal(t->emitted, k->n_signals);
	assert_int_equal(t->lost, counts.lost);
	assert_true(t->lost > 0);
	/* A program that the kernel did not run is counted apart; each may have been a signal's. */
	assert_in_range(FLOOD - t->emitted - t->lost, 0, kern_recursion_misses(k->kern));
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest half[] = {
		CLAIM("emitted + lost + suppressed is what was produced",
		      each_signal_is_emitted_lost_or_suppressed),
	};
	const struct CMUnitTest traced[] = {
		CLAIM("what is lost is counted, and only the container concerned has a gap",
		      what_falls_off_is_counted_and_told_where_it_matters),
	};

	return cmocka_run_group_tests_name("overrun, kernel half", half, setup_half,
					   kernhalf_close) +
	       cmocka_run_group_tests_name("overrun", traced, setup, teardown);
}
