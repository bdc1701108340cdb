// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon's metrics, with a real Prometheus that scrapes them for a minute while
 * 997 containers stop in four ways.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/prom.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"

#define STOPS	  997
#define SECONDS	  60
#define SPACES	  3
#define ALIVE	  16		      /* containers at a time, so that each lives for a second */
#define OURS	  "namespace=\"prom-" /* other containers of the host are none of this test's */
#define SECOND_NS 1000000000ull

/* How a container ends, and what the metrics call it. */
static const struct way {
	const char *container, *outcome, *cause;
	const char *argv[4];
	bool host_pidns, ends_itself, is_killed;
} ways[] = {
	{"web", "graceful", "stop-signal", {"graceful"}, false, false, false},
	{"queue", "terminated", "stop-signal", {"reraise"}, true, false, false},
	{"job", "failed", "self", {"wait", "exit", "3"}, false, true, false},
	{"stuck", "killed", "grace-expired", {"deaf"}, false, false, true},
};

static const char *const spaces[SPACES] = {"prom-shop", "prom-bank", "prom-system"};

struct stage {
	struct box_tree tree;
	struct service *service;
	struct prom *prom;
	struct lognames names;
	unsigned int made[SPACES][LEN(ways)];
};

static int setup(void **state)
{
	static struct stage stage;
	const char *const args[] = {"--names.log-directory", stage.names.dir,
				    "--sinks.journal=false", "--budget.cpu=off", NULL};
	const char *why = tracer_unavailable() ? tracer_unavailable() : prom_unavailable();

	*state = NULL;
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	*state = &stage;
	if (lognames_open(&stage.names) < 0 || box_tree_open(&stage.tree, "prometheus") < 0)
		return -1;
	if (service_start(&(struct service_spec){.args = args, .tree = &stage.tree},
			  &stage.service) < 0)
		return -1;
	return prom_start(service_port(stage.service), &stage.prom);
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	prom_free(stage->prom);
	service_free(stage->service);
	lognames_close(&stage->names);
	return box_tree_close(&stage->tree);
}

static void end_life(struct box *box, const struct way *way)
{
	struct proc_end end;

	if (way->ends_itself)
		page_go(box->proc.page, 1);
	if (!way->ends_itself)
		assert_int_equal(kill(box->init_pid, SIGTERM), 0);
	if (way->is_killed)
		assert_int_equal(kill(box->init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
}

static const struct way *way_of(int number)
{
	return ways + (unsigned int)number * 7 % LEN(ways);
}

static void begin_life(struct stage *stage, int number, struct box *box)
{
	const struct way *way = way_of(number);
	unsigned int space = (unsigned int)number * 5 % SPACES;
	char pod[32];
	struct lognames_of of = {&stage->names, spaces[space], pod, way->container};
	const struct box_spec spec = {
		.argv = way->argv,
		.host_pidns = way->host_pidns,
		.named = lognames_of,
		.userdata = &of,
	};

	snprintf(pod, sizeof(pod), "pod-%d", number);
	assert_int_equal(box_start(&stage->tree, &spec, box), 0);
	stage->made[space][way - ways]++;
}

static void await_turn(uint64_t begin_ns, int number)
{
	uint64_t due = begin_ns + SECONDS * SECOND_NS * (uint64_t)number / STOPS;
	struct timespec at = {(time_t)(due / SECOND_NS), (long)(due % SECOND_NS)};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL);
}

static void test_a_minute(void **state)
{
	uint64_t begin_ns = page_clock_ns();
	struct stage *stage = *state;
	struct box boxes[ALIVE];

	if (!stage)
		skip();
	for (int i = 0; i < STOPS + ALIVE; i++) {
		await_turn(begin_ns, i);
		if (i >= ALIVE)
			end_life(&boxes[i % ALIVE], way_of(i - ALIVE));
		if (i < STOPS)
			begin_life(stage, i, &boxes[i % ALIVE]);
	}
	assert_int_equal(service_await_metric(stage->service, "graced_container_stops_total", OURS,
					      STOPS),
			 STOPS);
}

static void test_each_once(void **state)
{
	struct stage *stage = *state;
	struct buf page = {};
	char labels[256];
	double counted;

	if (!stage)
		skip();
	assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
	for (unsigned int s = 0; s < SPACES; s++) {
		for (unsigned int w = 0; w < LEN(ways); w++) {
			snprintf(labels, sizeof(labels),
				 "{namespace=\"%s\",workload=\"\",container=\"%s\",outcome=\"%s\","
				 "cause=\"%s\"}",
				 spaces[s], ways[w].container, ways[w].outcome, ways[w].cause);
			counted =
				service_sum(buf_str(&page), "graced_container_stops_total", labels);
			if (counted != stage->made[s][w]) {
				fprintf(stderr, "%s", buf_str(&page));
				fail_msg("%g instead of %u of %s", counted, stage->made[s][w],
					 labels);
			}
		}
	}
	assert_int_equal(service_sum(buf_str(&page), "graced_container_stops_total", OURS), STOPS);
	assert_int_equal(service_sum(buf_str(&page), "graced_container_deaf_stops_total", OURS),
			 service_sum(buf_str(&page), "graced_container_stops_total",
				     "container=\"stuck\""));
	assert_int_equal(service_sum(buf_str(&page), "graced_events_lost_total", NULL), 0);
	buf_free(&page);
}

static void test_promtool(void **state)
{
	struct stage *stage = *state;
	struct buf page = {};

	if (!stage)
		skip();
	assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
	assert_true(prom_check(buf_str(&page)));
	buf_free(&page);
}

/* One sample of `up` for each scrape; what is between two of them is how long one took to come. */
static void test_no_gap(void **state)
{
	struct stage *stage = *state;
	const json_t *values;
	json_t *result;
	double before = 0;

	if (!stage)
		skip();
	result = prom_query(stage->prom, "up{job=\"graced\"}[1h]");
	assert_int_equal(json_array_size(result), 1);
	values = json_object_get(json_array_get(result, 0), "values");
	assert_true(json_array_size(values) >= SECONDS / 2 * 9 / 10);
	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *pair = json_array_get(values, i);
		double time = json_number_value(json_array_get(pair, 0));

		if (strcmp(json_string_value(json_array_get(pair, 1)), "1") != 0)
			fail_msg("scrape %zu of %zu failed", i + 1, json_array_size(values));
		assert_true(time > before);
		before = time;
	}
	json_decref(result);
}

static void test_no_duplicate(void **state)
{
	static const char *const refusals[] = {
		"prometheus_target_scrapes_sample_duplicate_timestamp_total",
		"prometheus_target_scrapes_sample_out_of_order_total",
		"prometheus_target_scrapes_sample_out_of_bounds_total",
	};
	struct stage *stage = *state;

	if (!stage)
		skip();
	for (size_t i = 0; i < LEN(refusals); i++)
		assert_int_equal(prom_value(stage->prom, refusals[i]), 0);
}

/* Every counter and every histogram, by what their names end in. */
static void test_monotonic(void **state)
{
	static const char counted[] = "sum(graced_container_stops_total{namespace=~\"prom-.+\"})";
	struct stage *stage = *state;
	size_t counters;
	json_t *names;

	if (!stage)
		skip();
	names = prom_query(stage->prom, "count by (__name__) ({job=\"graced\",__name__=~"
					"\".+_(total|bucket|count|sum)\"})");
	counters = json_array_size(names);
	assert_true(counters > 20);
	for (size_t i = 0; i < counters; i++) {
		const json_t *labels = json_object_get(json_array_get(names, i), "metric");
		char query[256];

		snprintf(query, sizeof(query), "sum(resets(%s{job=\"graced\"}[1h]))",
			 json_string_value(json_object_get(labels, "__name__")));
		assert_int_equal(prom_value(stage->prom, query), 0);
	}
	json_decref(names);
	/* The last of them comes with the next scrape. */
	for (int i = 0; i < 100 && prom_value(stage->prom, counted) < STOPS; i++)
		usleep(100000);
	assert_int_equal(prom_value(stage->prom, counted), STOPS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a minute of 997 stops is counted while Prometheus scrapes", test_a_minute),
		CLAIM("every stop is counted once, under its own labels", test_each_once),
		CLAIM("promtool has nothing to say about the page", test_promtool),
		CLAIM("no scrape failed", test_no_gap),
		CLAIM("Prometheus refused no sample as a duplicate or out of order",
		      test_no_duplicate),
		CLAIM("no counter ever went back", test_monotonic),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
