// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/series: what is counted, and under which labels. */
#include <stdio.h>
#include <string.h>

#include "core/metrics/label.h"
#include "core/metrics/series.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"

static void test_stop(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");

	series_record(series, &record);
	series_record(series, &record);
	record.stop.deaf = true;
	record.stop.collateral_kills = 5;
	record.stop.outcome = OUTCOME_KILLED;
	record.stop.cause = CAUSE_GRACE_EXPIRED;
	series_record(series, &record);
	record = serieslib_oom("shop", "cart", OOM_LEVEL_POD);
	series_record(series, &record);
	serieslib_assert(series,
			 "graced_container_stop_duration_seconds|shop||cart|graceful|-|- 2\n"
			 "graced_container_stop_duration_seconds|shop||cart|killed|-|- 1\n"
			 "graced_container_stops_total|shop||cart|graceful|stop-signal|- 2\n"
			 "graced_container_stops_total|shop||cart|killed|grace-expired|- 1\n"
			 "graced_container_grace_used_ratio|shop||cart|-|-|- 3\n"
			 "graced_container_deaf_stops_total|shop||cart|-|-|- 1\n"
			 "graced_collateral_kills_total|shop||cart|-|-|- 5\n"
			 "graced_oom_kills_total|shop||cart|-|-|pod 1\n");
}

static void test_unasked(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "job");

	record.stop.latency_known = false;
	record.stop.outcome = OUTCOME_COMPLETED;
	record.stop.cause = CAUSE_SELF;
	series_record(series, &record);
	serieslib_assert(series, "graced_container_stops_total|shop||job|completed|self|- 1\n");
}

static void test_no_grace(void **state)
{
	static const struct {
		bool known;
		uint64_t grace_ns;
	} want[] = {{false, 0}, {false, 30 * S}, {true, 0}};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(0, 0);
		struct record record = serieslib_stop("shop", "cart");

		record.stop.grace.from = want[i].known ? GRACE_SPEC : GRACE_UNKNOWN;
		record.stop.grace.ns = want[i].grace_ns;
		series_record(series, &record);
		assert_int_equal(serieslib_sum(series, SERIES_STOP_DURATION), 1);
		assert_int_equal(serieslib_sum(series, SERIES_GRACE_USED), 0);
	}
}

static void test_kinds(void **state)
{
	static const struct {
		enum record_container_kind kind;
		uint64_t stops, ooms;
	} want[] = {
		{CONTAINER_KIND_UNKNOWN, 1, 1}, {CONTAINER_KIND_CONTAINER, 1, 1},
		{CONTAINER_KIND_SANDBOX, 0, 1}, {CONTAINER_KIND_SERVICE, 1, 1},
		{CONTAINER_KIND_PROCESS, 0, 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(0, 0);
		struct record stop = serieslib_stop("shop", "cart");
		struct record oom = serieslib_oom("shop", "cart", OOM_LEVEL_NODE);

		stop.stop.container.kind = want[i].kind;
		oom.oom.container.kind = want[i].kind;
		series_record(series, &stop);
		series_record(series, &oom);
		assert_int_equal(serieslib_sum(series, SERIES_STOPS), want[i].stops);
		assert_int_equal(serieslib_sum(series, SERIES_OOM_KILLS), want[i].ooms);
	}
}

/* What may have been an application's is counted all the same. */
static void test_guessed_sandbox(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record stop = serieslib_stop("shop", "cart");
	struct series_stats stats;

	stop.stop.container.kind = CONTAINER_KIND_SANDBOX;
	stop.stop.gaps = 1u << GAP_SANDBOX_GUESSED | 1u << GAP_NAME_LATE;
	series_record(series, &stop);
	assert_int_equal(serieslib_sum(series, SERIES_STOPS), 0);
	series_get_stats(series, &stats);
	for (int gap = 0; gap < GAP_COUNT; gap++)
		assert_int_equal(stats.incomplete[gap], gap == GAP_SANDBOX_GUESSED);
}

static void test_restarts(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = {
		.type = RECORD_RESTART,
		.at_ns = 100 * S,
		.restart = {.pod = {.known = true, .namespace_ = "shop", .workload = "web"},
			    .container = {.known = true,
					  .name = "cart",
					  .kind = CONTAINER_KIND_CONTAINER}},
	};

	for (int probe = TRI_UNKNOWN; probe <= TRI_TRUE; probe++)
		for (int n = 0; n <= probe; n++) {
			record.restart.probe = (enum record_tri)probe;
			series_record(series, &record);
		}
	serieslib_assert(series,
			 "graced_container_requested_restarts_total|shop|web|cart|-|-|unknown 1\n"
			 "graced_container_requested_restarts_total|shop|web|cart|-|-|absent 2\n"
			 "graced_container_requested_restarts_total|shop|web|cart|-|-|present 3\n");
}

static void test_other_records(void **state)
{
	static const enum record_type types[] = {RECORD_NONE,	RECORD_ATTACHED,
						 RECORD_SIGNAL, RECORD_EMPTY,
						 RECORD_LOST,	(enum record_type)99};
	_series_ struct series *series = serieslib_new(0, 0);

	for (size_t i = 0; i < LEN(types); i++) {
		struct record record = {.type = types[i]};

		series_record(series, &record);
	}
	serieslib_assert(series, "");
}

static void test_pods(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = {
		.type = RECORD_POD,
		.pod_state = {.pod = {.known = true, .namespace_ = "shop", .workload = "cart"},
			      .exit_ns = 5 * S,
			      .empty_ns = 6 * S},
	};

	for (int stage = 0; stage < POD_STAGE_COUNT; stage++) {
		record.pod_state.state = (enum pod_stage)stage;
		series_record(series, &record);
	}
	/* What was not seen takes no time. */
	record.pod_state.state = POD_STAGE_TERMINATED;
	record.pod_state.empty_ns = 0;
	series_record(series, &record);
	record.pod_state.empty_ns = 6 * S;
	record.pod_state.exit_ns = 0;
	series_record(series, &record);
	serieslib_assert(series, "graced_pod_empty_duration_seconds|shop|cart|-|-|-|- 1\n");
}

static void test_pods_ready(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = {
		.type = RECORD_POD_READY,
		.pod_ready = {.pod = {.known = true, .namespace_ = "shop", .workload = "cart"},
			      .stop_ns = 5 * S,
			      .until_ns = 7 * S},
	};

	series_record(series, &record);
	record.pod_ready.until_ns = 4 * S;
	series_record(series, &record);
	/* What is no figure is not in a histogram. */
	record.pod_ready.until_ns = 8 * S;
	record.pod_ready.gaps = 1u << GAP_TIME_UNCERTAIN;
	series_record(series, &record);
	serieslib_assert(series,
			 "graced_pod_ready_while_terminating_seconds|shop|cart|-|-|-|- 1\n");
}

static void test_names(void **state)
{
	static const struct {
		struct record_pod pod;
		struct record_container container;
		const char *want;
	} want[] = {
		{{.known = true, .namespace_ = "shop", .name = "p", .uid = "u"},
		 {.known = true, .name = "cart", .id = "i", .cgroup = "/x"},
		 "graced_oom_kills_total|shop||cart|-|-|node 1\n"},
		{{.known = true, .name = "p", .uid = "u"},
		 {.known = true, .id = "i", .cgroup = "/x"},
		 "graced_oom_kills_total||||-|-|node 1\n"},
		{{.namespace_ = "stale"},
		 {.name = "stale", .kind = CONTAINER_KIND_SERVICE, .cgroup = "/stale"},
		 "graced_oom_kills_total||||-|-|node 1\n"},
		{{},
		 {.known = true, .kind = CONTAINER_KIND_SERVICE, .cgroup = "/a.slice/b.service"},
		 "graced_oom_kills_total|||b.service|-|-|node 1\n"},
		{{},
		 {.known = true, .kind = CONTAINER_KIND_SERVICE, .name = "n", .cgroup = "/a"},
		 "graced_oom_kills_total|||n|-|-|node 1\n"},
		{{},
		 {.known = true, .name = "shop-web-1", .namespace_ = "shop", .workload = "web"},
		 "graced_oom_kills_total|shop|web|shop-web-1|-|-|node 1\n"},
		{{.known = true, .namespace_ = "a", .uid = "u"},
		 {.known = true, .name = "main", .namespace_ = "shop", .workload = "web"},
		 "graced_oom_kills_total|a||main|-|-|node 1\n"},
		{{},
		 {.namespace_ = "stale", .workload = "stale"},
		 "graced_oom_kills_total||||-|-|node 1\n"},
		{{},
		 {.known = true, .kind = CONTAINER_KIND_SERVICE},
		 "graced_oom_kills_total||||-|-|node 1\n"},
		{{},
		 {.known = true, .name = "e\x1b[31m\xff\"\n"},
		 "graced_oom_kills_total|||e\xef\xbf\xbd[31m\xef\xbf\xbd\"\n|-|-|node 1\n"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(0, 0);
		struct record record = serieslib_oom(NULL, NULL, OOM_LEVEL_NODE);

		record.oom.pod = want[i].pod;
		record.oom.container = want[i].container;
		series_record(series, &record);
		serieslib_assert(series, want[i].want);
	}
}

static void test_levels(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);

	for (int level = OOM_LEVEL_NONE; level <= OOM_LEVEL_UNKNOWN + 1; level++) {
		struct record record = serieslib_oom(NULL, "c", (enum oom_level)level);

		series_record(series, &record);
	}
	serieslib_assert(series, "graced_oom_kills_total|||c|-|-|container 1\n"
				 "graced_oom_kills_total|||c|-|-|pod 1\n"
				 "graced_oom_kills_total|||c|-|-|node 1\n"
				 "graced_oom_kills_total|||c|-|-|unknown 3\n");
}

static void test_odd_enums(void **state)
{
	static const struct {
		int outcome, cause;
	} odd[] = {{OUTCOME_GRACEFUL, CAUSE_HOST},
		   {OUTCOME_COUNT, CAUSE_SELF},
		   {OUTCOME_FAILED, CAUSE_COUNT},
		   {-1, -1}};
	_series_ struct series *series = serieslib_new(0, 0);

	for (size_t i = 0; i < LEN(odd); i++) {
		struct record record = serieslib_stop(NULL, "c");

		record.stop.outcome = (enum outcome)odd[i].outcome;
		record.stop.cause = (enum cause)odd[i].cause;
		record.stop.latency_known = false;
		series_record(series, &record);
	}
	serieslib_assert(series, "graced_container_stops_total|||c|unknown|unknown|- 4\n");
}

static void assert_own_series(const struct outcome_verdict *verdict)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop(NULL, "c");
	char want[128];

	record.stop.outcome = verdict->outcome;
	record.stop.cause = verdict->cause;
	record.stop.latency_known = false;
	series_record(series, &record);
	snprintf(want, sizeof(want), "graced_container_stops_total|||c|%s|%s|- 1\n",
		 outcome_name(verdict->outcome), cause_name(verdict->cause));
	serieslib_assert(series, want);
}

static void test_pairs(void **state)
{
	struct outcome_verdict row;
	size_t n = 0;

	while (outcome_row(n, &row)) {
		assert_own_series(&row);
		n++;
	}
	assert_true(n >= 31);
}

/* Whatever the judge makes of facts, which may contradict each other. */
static void test_judged_pairs(void **state)
{
	bool seen[OUTCOME_COUNT][CAUSE_COUNT] = {};
	uint64_t seed = 12, bits, words[2];
	struct outcome_verdict got;

	for (int i = 0; i < 200000; i++) {
		for (int j = 0; j < 2; j++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			words[j] = seed >> 24;
		}
		bits = words[0];
		got = outcome_decide(&(struct outcome_facts){
			.status_seen = bits & 15,
			.status = bits >> 4 & 1 ? (uint32_t)words[1] & 0x7f : (bits >> 5 & 1) << 8,
			.oom = (enum oom_level)(words[1] >> 8 & 7),
			.kill_seen = bits >> 6 & 1,
			.kill_from = (enum relation)(bits >> 7 & 15),
			.kill_ns_teardown = (bits >> 11 & 7) == 0,
			.kill_escalates = bits >> 14 & 1,
			.kill_early = bits >> 15 & 1,
			.request_open = bits >> 16 & 1,
			.request_heard = bits >> 17 & 1,
			.request_sigs = words[1] >> 11,
			.stopped_inside = bits >> 18 & 1,
			.fatal_from = (enum relation)(bits >> 19 & 15),
			.window_complete = bits >> 23 & 1,
		});
		if (!seen[got.outcome][got.cause])
			assert_own_series(&got);
		seen[got.outcome][got.cause] = true;
	}
	assert_true(seen[OUTCOME_COMPLETED][CAUSE_SAME_CONTAINER]);
}

static void test_order(void **state)
{
	static const char *const names[] = {"b", "", "a\xc3\xa9", "a", "aa", "B", "\x7f", "ab"};
	static struct serieslib_page one, other;
	_series_ struct series *forth = serieslib_new(0, 0);
	_series_ struct series *back = serieslib_new(0, 0);

	for (size_t i = 0; i < LEN(names); i++) {
		struct record first = serieslib_stop(names[i], names[LEN(names) - 1 - i]);
		struct record last = serieslib_stop(names[LEN(names) - 1 - i], names[i]);

		series_record(forth, &first);
		series_record(back, &last);
	}
	serieslib_read(forth, &one);
	serieslib_read(back, &other);
	assert_string_equal(one.text, other.text);
}

struct walk {
	char last[16];
	uint64_t value;
};

static void check_point(void *userdata, const struct series_point *point)
{
	struct walk *walk = userdata;

	assert_true(strcmp(walk->last, point->container) < 0);
	assert_int_equal(point->value, walk->value);
	strcpy(walk->last, point->container);
}

static void test_many(void **state)
{
	_series_ struct series *series = serieslib_new(50000, 0);
	struct walk walk = {.value = 3};
	struct series_stats stats;

	/* 7 and 11 do not divide 500: every name three times, each time in another order. */
	for (unsigned int i = 0; i < 1500; i++) {
		unsigned int step = i < 500 ? 7 : i < 1000 ? 11 : 1;
		struct record record;
		char name[16];

		snprintf(name, sizeof(name), "c%u", i * step % 500);
		record = serieslib_stop("shop", name);
		series_record(series, &record);
	}
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 500);
	series_each(series, SERIES_STOPS, check_point, &walk);
}

static void test_cut_labels(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	char long_one[LABEL_MAX + 20], other[LABEL_MAX + 20];
	struct series_stats stats;
	struct record record;

	memset(long_one, 'x', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = '\0';
	memcpy(other, long_one, sizeof(other));
	other[LABEL_MAX] = 'y';
	for (int i = 0; i < 2; i++) {
		record = serieslib_stop("shop", i ? other : long_one);
		series_record(series, &record);
	}
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 1);
	other[LABEL_MAX - 1] = 'y';
	record = serieslib_stop("shop", other);
	series_record(series, &record);
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 2);
}

static void take_histogram(void *userdata, const struct series_point *point)
{
	*(struct series_point *)userdata = *point;
}

static size_t bucket_of(uint64_t latency_ns)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_point point = {};
	size_t i = 0;

	record.stop.latency_ns = latency_ns;
	series_record(series, &record);
	series_each(series, SERIES_STOP_DURATION, take_histogram, &point);
	while (i < point.bounds->n && !point.histogram->buckets[i])
		i++;
	return i;
}

/* What some milliseconds after a whole second ended is in another bucket than what any other of
 * these periods ended, so that no two of them share a quantile. */
static void test_grace_periods(void **state)
{
	static const uint64_t periods[] = {2, 3, 4, 10, 15, 20, 30, 45, 60};

	for (size_t i = 0; i < LEN(periods); i++) {
		uint64_t period = periods[i] * S;

		assert_int_equal(bucket_of(period + MS), bucket_of(period + 400 * MS));
		if (i)
			assert_true(bucket_of(period + MS) > bucket_of(periods[i - 1] * S + MS));
	}
	/* The default of Kubernetes has a bucket of its own. */
	assert_true(bucket_of(30 * S + MS) > bucket_of(28 * S));
	assert_true(bucket_of(30 * S + MS) < bucket_of(32 * S));
}

static void test_bounds(void **state)
{
	static const uint64_t wanted[] = {3, 15, 20, 45};

	for (size_t i = 0; i < LEN(wanted); i++)
		assert_int_equal(bucket_of(wanted[i] * S) + 1, bucket_of(wanted[i] * S + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each stop counts once in each family that can know it", test_stop),
		CLAIM("a stop nobody asked for has no duration", test_unasked),
		CLAIM("a grace period of 0 has no used share", test_no_grace),
		CLAIM("a guessed sandbox has no stops, and is counted as a guess",
		      test_guessed_sandbox),
		CLAIM("sandboxes and processes have no stops, and processes no series", test_kinds),
		CLAIM("restarts count by whether there is a probe", test_restarts),
		CLAIM("records of other types count nothing", test_other_records),
		CLAIM("a pod counts once, when it is empty", test_pods),
		CLAIM("of a pod that stops, how long it was Ready is counted", test_pods_ready),
		CLAIM("labels are names as far as they are known, and never ids", test_names),
		CLAIM("an OOM kill counts under its level", test_levels),
		CLAIM("a pair that is not documented counts as unknown", test_odd_enums),
		CLAIM("every row of the table counts under its own pair", test_pairs),
		CLAIM("so does whatever is judged of any facts", test_judged_pairs),
		CLAIM("the order is that of the labels, whoever came first", test_order),
		CLAIM("of 500 label sets each is found again", test_many),
		CLAIM("labels that are the same after cutting are one series", test_cut_labels),
		CLAIM("kills after 2, 3, 4, 10, 15, 20, 30, 45 and 60 seconds share no bucket",
		      test_grace_periods),
		CLAIM("3, 15, 20 and 45 seconds are bounds", test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
