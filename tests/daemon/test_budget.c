// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon's budget, on this kernel: a container full of processes that die at once
 * does not make it cost more than it may, and costs its neighbours no verdict.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/flood.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#define NEIGHBOURS 20
#define EXITS	   "20000" /* a second */
#define NODE	   "node-of-this-test"

/* Ignored SIGKILLs of one container: so many are recorded at once, then one in REFILL_NS. */
#define BURST	  256
#define REFILL_NS 10000000u

struct stage {
	struct box_tree tree;
	struct service *service;
	FILE *records; /* what it writes */
	char path[64];
	struct box bomb, neighbours[NEIGHBOURS];
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (box_tree_open(&stage.tree, "budget") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	return stage ? box_tree_close(&stage->tree) : 0;
}

static void start(struct stage *stage, const char *budget)
{
	const char *const args[] = {"--sinks.file",	     stage->path,   "--sinks.journal=false",
				    "--names.enabled=false", "--node-name", NODE,
				    "--budget.cpu",	     budget,	    NULL};
	int fd;

	strcpy(stage->path, "/tmp/graced-records-XXXXXX");
	fd = mkstemp(stage->path);
	stage->records = fd >= 0 ? fdopen(fd, "r") : NULL;
	assert_non_null(stage->records);
	assert_int_equal(service_start(&(struct service_spec){.args = args, .tree = &stage->tree},
				       &stage->service),
			 0);
	for (int i = 0; i < NEIGHBOURS; i++)
		assert_int_equal(box_start(&stage->tree,
					   &(struct box_spec){.argv = BOX_ARGV("graceful")},
					   &stage->neighbours[i]),
				 0);
}

static void stop(struct stage *stage)
{
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);
	fclose(stage->records);
	unlink(stage->path);
}

static void light(struct stage *stage)
{
	assert_int_equal(box_start(&stage->tree,
				   &(struct box_spec){.prog = "bomb", .argv = BOX_ARGV(EXITS)},
				   &stage->bomb),
			 0);
}

/* Counts the stop records of a box and says whether each is what is wanted. */
static int stops_of(struct stage *stage, const struct box *box, const char *gap,
		    const char *outcome)
{
	char *line = NULL;
	size_t size = 0;
	int n = 0;

	rewind(stage->records);
	while (getline(&line, &size, stage->records) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		if (record && !strcmp(jrec_text(record, "type"), "stop") &&
		    !strcmp(jrec_text(record, "container.id"), box->id)) {
			n++;
			assert_string_equal(jrec_text(record, "outcome"), outcome);
			assert_string_equal(jrec_text(record, "cause"), "stop-signal");
			assert_string_equal(jrec_text(record, "node"), NODE);
			assert_int_equal(json_is_true(jrec_get(record, "evidence.complete")), !gap);
			if (gap)
				assert_non_null(strstr(line, gap));
		}
		json_decref(record);
	}
	free(line);
	return n;
}

static void end_box(struct stage *stage, struct box *box, const char *gap)
{
	struct proc_end end;

	assert_int_equal(kill(box->init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
	for (int i = 0; i < 300 && stops_of(stage, box, gap, "graceful") == 0; i++)
		usleep(100000);
	assert_int_equal(stops_of(stage, box, gap, "graceful"), 1);
}

static void test_forced(void **state)
{
	struct stage *stage = *state;
	char *log;

	if (!stage)
		skip();
	/* Less than the daemon itself takes: all is shed that can be. */
	start(stage, "0.0001%");
	light(stage);
	assert_true(service_await_metric(stage->service, "graced_shed_containers", NULL, 1) >= 1);
	assert_int_equal(service_metric(stage->service, "graced_shed", "what=\"noisy\""), 1);
	for (int i = 0; i < NEIGHBOURS / 2; i++)
		end_box(stage, &stage->neighbours[i], NULL);
	log = service_log(stage->service);
	assert_non_null(strstr(log, "shedding: "));
	assert_non_null(strstr(log, stage->bomb.path));
	free(log);
	end_box(stage, &stage->bomb, "\"shed\"");
	for (int i = NEIGHBOURS / 2; i < NEIGHBOURS; i++)
		end_box(stage, &stage->neighbours[i], NULL);
	stop(stage);
}

/* What it costs is what the daemon itself measures, over ten seconds. */
static void test_holds(void **state)
{
	struct stage *stage = *state;
	double overhead = 1, exits;

	if (!stage)
		skip();
	start(stage, "2%");
	exits = service_metric(stage->service, "graced_bpf_runs_total", "on_exit");
	light(stage);
	/* Ten seconds' worth of the bomb. */
	assert_true(service_await_metric(stage->service, "graced_bpf_runs_total", "on_exit",
					 exits + 100000) >= exits + 100000);
	for (int i = 0; i < 60 && overhead > 0.02; i++) {
		usleep(500000);
		overhead = service_metric(stage->service, "graced_overhead_ratio", NULL);
	}
	assert_true(overhead >= 0 && overhead <= 0.02);
	for (int i = 0; i < NEIGHBOURS; i++)
		end_box(stage, &stage->neighbours[i], NULL);
	assert_int_equal(kill(stage->bomb.init_pid, SIGTERM), 0);
	assert_int_equal(box_remove(&stage->bomb), 0);
	stop(stage);
}

/* The sum of a metric, of one label where it is not NULL. */
static uint64_t count(const struct stage *stage, const char *metric, const char *label)
{
	return (uint64_t)service_metric(stage->service, metric, label);
}

/* Two containers at once: each target has a rate of its own. */
static void test_flood(void **state)
{
	struct stage *stage = *state;
	struct box sandboxes[2], apps[2];
	struct flood floods[2];
	uint64_t began_ns, took_ns, signals, lost, most;
	int64_t sent = 0;

	if (!stage)
		skip();
	start(stage, "2%");
	for (int i = 0; i < 2; i++) {
		const struct box_spec app = {.argv = BOX_ARGV("deaf"),
					     .pod_of = &sandboxes[i],
					     .pidns_of = &sandboxes[i]};

		assert_int_equal(box_start(&stage->tree,
					   &(struct box_spec){.argv = BOX_ARGV("deaf")},
					   &sandboxes[i]),
				 0);
		assert_int_equal(box_start(&stage->tree, &app, &apps[i]), 0);
	}
	began_ns = page_clock_ns();
	signals = count(stage, "graced_events_total", "type=\"signal\"");
	lost = count(stage, "graced_events_lost_total", NULL);
	for (int i = 0; i < 2; i++)
		flood_begin(&stage->tree, &apps[i], &floods[i]);
	for (int i = 0; i < 2; i++)
		flood_await(&floods[i], 6 * FLOOD_STEP);
	for (int i = 0; i < 2; i++)
		sent += flood_end(&floods[i]);
	/* The ring has been read when what came after it is counted. */
	for (int i = 0; i < NEIGHBOURS; i++)
		end_box(stage, &stage->neighbours[i], NULL);
	signals = count(stage, "graced_events_total", "type=\"signal\"") - signals;
	took_ns = page_clock_ns() - began_ns;
	/* Senders that race may take the same token of the bucket. */
	most = 2 * FLOOD_SENDERS * (BURST + 1 + took_ns / REFILL_NS) + NEIGHBOURS;
	print_message("# %lld sent, %llu recorded in %llu ms, at most %llu\n", (long long)sent,
		      (unsigned long long)signals, (unsigned long long)(took_ns / 1000000),
		      (unsigned long long)most);
	assert_in_range(signals, 2 * BURST + NEIGHBOURS, most);
	assert_int_equal(count(stage, "graced_events_lost_total", NULL), lost);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(box_remove(&apps[i]), 0);
		assert_int_equal(box_remove(&sandboxes[i]), 0);
	}
	stop(stage);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the budget holds beside a fork bomb, and its neighbours' verdicts stay "
		      "complete",
		      test_holds),
		CLAIM("ignored SIGKILLs without end are a bounded number of records a second for "
		      "each target, and no record is lost",
		      test_flood),
		CLAIM("what is shed of a fork bomb is a gap, and in no other's evidence",
		      test_forced),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
