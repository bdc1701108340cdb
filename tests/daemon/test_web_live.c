// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon beside a crowd of bad clients: whoever scrapes is served, whatever stops
 * is reported, and nothing is left of the crowd when it leaves.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/net/exporead.h"
#include "lib/net/webcrowd.h"
#include "lib/patience.h"

#define BOXES	 50
#define WAVES	 2
#define SERVICES 400 /* for a page of its full length */

/* 256 connections have their buffers, and the heap keeps what they had; but a second crowd takes
 * no more than the first did. */
#define BOUND_BYTES (12 << 20)
#define FLAT_BYTES  (2 << 20)

struct stage {
	struct box_tree tree;
	struct service *service;
	char path[96];
	FILE *records; /* what it writes */
	struct webcrowd crowd;
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (box_tree_open(&stage.tree, "web") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	webcrowd_leave(&stage->crowd);
	service_free(stage->service);
	return box_tree_close(&stage->tree);
}

static void start(struct stage *stage)
{
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.file", stage->path, "--sinks.journal=false",
				 "--names.enabled=false", "--scope", "services"),
		.tree = &stage->tree,
	};

	/* With what else is the tree's own. */
	snprintf(stage->path, sizeof(stage->path), "%s/records", stage->tree.tmp);
	assert_int_equal(service_start(&spec, &stage->service), 0);
	stage->records = fopen(stage->path, "re");
	assert_non_null(stage->records);
}

/* A scrape that must succeed; the sum of a metric. */
static double scrape(struct stage *stage, const char *metric, const char *label)
{
	struct buf page = {};
	double sum;

	assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
	exporead_page(buf_str(&page), false, NULL, NULL);
	sum = service_sum(buf_str(&page), metric, label);
	buf_free(&page);
	return sum;
}

static void name_life(void *userdata, uint32_t number, struct many_life *ret)
{
	snprintf(ret->leaf, sizeof(ret->leaf),
		 "a-service-of-many-that-have-their-own-series-%u.service", number);
}

static void fill_page(struct stage *stage)
{
	char workload[HIER_PATH_MAX + 16];
	const struct many_spec spec = {
		.root = stage->tree.root,
		.workload = workload,
		.n = SERVICES,
		.fn = name_life,
	};
	struct many many;

	snprintf(workload, sizeof(workload), "%s/workload", stage->tree.helpers);
	assert_int_equal(many_start(&spec, &many), 0);
	assert_int_equal(many_wait(&many), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 SERVICES) >= SERVICES);
}

static void stop_box(struct stage *stage, char ret_id[65])
{
	struct proc_end end;
	struct box box;

	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
	memcpy(ret_id, box.id, sizeof(box.id));
}

/* Its stop records so far, each with a complete verdict. */
static int stops_of(struct stage *stage, const char *id)
{
	char *line = NULL;
	size_t size = 0;
	int n = 0;

	rewind(stage->records);
	while (getline(&line, &size, stage->records) > 0) {
		json_t *record;

		if (!strstr(line, "\"type\":\"stop\"") || !strstr(line, id))
			continue;
		record = json_loads(line, 0, NULL);
		assert_non_null(record);
		n++;
		if (strcmp(jrec_text(record, "outcome"), "graceful") != 0 ||
		    !json_is_true(jrec_get(record, "evidence.complete")))
			print_message("%s", line);
		assert_string_equal(jrec_text(record, "container.id"), id);
		assert_string_equal(jrec_text(record, "outcome"), "graceful");
		assert_string_equal(jrec_text(record, "cause"), "stop-signal");
		assert_true(json_is_true(jrec_get(record, "evidence.complete")));
		json_decref(record);
	}
	free(line);
	return n;
}

static void await_stop(struct stage *stage, const char *id)
{
	for (int i = 0; i < 300 && stops_of(stage, id) == 0; i++)
		usleep(100000);
	assert_int_equal(stops_of(stage, id), 1);
}

static double await_at_most(struct stage *stage, const char *metric, double most)
{
	double value = -1;

	for (int i = 0; i < PATIENCE_S * 3; i++) {
		value = scrape(stage, metric, NULL);
		if (value <= most)
			break;
		usleep(300000); /* longer than a page is kept */
	}
	return value;
}

static void gather(struct stage *stage)
{
	assert_int_equal(webcrowd_start(service_port(stage->service), "/metrics", &stage->crowd),
			 0);
}

/* The crowd was there, and not only at the door. */
static void check_crowd(struct stage *stage)
{
	assert_true(service_await_metric(stage->service, "graced_http_connections", NULL, 100) >=
		    100);
	assert_true(service_await_metric(stage->service, "graced_http_connections_refused_total",
					 NULL, WEBCROWD_IDLE / 2) >= WEBCROWD_IDLE / 2);
	/* Each of these is held back for a moment before it comes again. */
	for (int i = 0; i < 300 && (stage->crowd.seen->garbage <= WEBCROWD_GARBAGE ||
				    stage->crowd.seen->headers <= WEBCROWD_HEADERS);
	     i++)
		usleep(100000);
	assert_true(stage->crowd.seen->idle > 0);
	assert_true(stage->crowd.seen->garbage > WEBCROWD_GARBAGE);
	assert_true(stage->crowd.seen->headers > WEBCROWD_HEADERS);
}

/* One crowd comes and goes; returns the memory after it. */
static double bear(struct stage *stage, double files)
{
	char ids[BOXES / WAVES][65];
	double during, after;

	gather(stage);
	for (size_t i = 0; i < LEN(ids); i++) {
		stop_box(stage, ids[i]);
		scrape(stage, "graced_build_info", NULL);
	}
	for (size_t i = 0; i < LEN(ids); i++)
		await_stop(stage, ids[i]);
	check_crowd(stage);
	during = scrape(stage, "process_resident_memory_bytes", NULL);
	assert_int_equal(webcrowd_leave(&stage->crowd), 0);
	assert_true(await_at_most(stage, "process_open_fds", files) <= files);
	after = scrape(stage, "process_resident_memory_bytes", NULL);
	print_message("%.1f MiB with the crowd, %.1f MiB after it\n", during / (1 << 20),
		      after / (1 << 20));
	return during > after ? during : after;
}

static void test_crowd(void **state)
{
	struct stage *stage = *state;
	double files, before, first, lost;
	struct buf page = {};

	if (!stage)
		skip();
	start(stage);
	fill_page(stage);
	files = scrape(stage, "process_open_fds", NULL);
	before = scrape(stage, "process_resident_memory_bytes", NULL);
	lost = scrape(stage, "graced_events_lost_total", NULL);
	print_message("%.1f MiB before\n", before / (1 << 20));
	first = bear(stage, files);
	assert_true(first <= before + BOUND_BYTES);
	for (int wave = 1; wave < WAVES; wave++)
		assert_true(bear(stage, files) <= first + FLAT_BYTES);
	assert_int_equal(scrape(stage, "graced_events_lost_total", NULL), lost);
	assert_int_equal(service_get(stage->service, "/readyz", NULL, &page), 200);
	buf_free(&page);
}

static void test_end(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		skip();
	gather(stage);
	assert_int_equal(service_stop(stage->service), 0);
	assert_int_equal(webcrowd_leave(&stage->crowd), 0);
	stage->service = service_free(stage->service);
	fclose(stage->records);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("beside a crowd of bad clients each scrape is served, each stop is reported, and "
		      "they leave nothing behind",
		      test_crowd),
		CLAIM("it ends when asked to, whoever is connected", test_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
