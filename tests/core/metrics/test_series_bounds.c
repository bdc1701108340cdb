// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/series: how much of it there can be, and for how long. */
#include <stdio.h>

#include "core/metrics/series.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"
#include "wire/prometheus/metrics.h"

static void test_cap(void **state)
{
	const uint32_t least = (uint32_t)series_overflow_lines();
	const struct {
		uint32_t max, reserved;
		uint64_t limit;
	} want[] = {
		{0, 0, 10000},
		{0, 160, 10000},
		{2000, 0, 2000},
		{1, 0, least},
		{1, 160, 160 + least},
		{least + 1, 0, least + 1},
		{least + 33, 0, least + 33},
		{400, 100, 400},
		{5000, 0, 5000},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(want[i].max, want[i].reserved);
		struct series_stats stats;
		struct serieslib_page page;

		for (int n = 0; n < 3000; n++) {
			char name[16];
			struct record stop, oom;

			snprintf(name, sizeof(name), "c%d", n);
			stop = serieslib_stop("shop", name);
			stop.stop.deaf = n % 2;
			oom = serieslib_oom("shop", name, OOM_LEVEL_CONTAINER);
			series_seen(series, &stop.stop.pod, &stop.stop.container, 100 * S, 1);
			series_record(series, &stop);
			series_record(series, &oom);
			series_get_stats(series, &stats);
			assert_true(stats.used_ppm <= 1000000);
			assert_int_equal(stats.limit, want[i].limit);
			assert_true(stats.lines + want[i].reserved <= stats.limit);
		}
		serieslib_read(series, &page);
		assert_int_equal(page.lines, stats.lines);
		assert_int_equal(serieslib_sum(series, SERIES_STOPS), 3000);
		assert_int_equal(serieslib_sum(series, SERIES_DEAF_STOPS), 1500);
		assert_int_equal(serieslib_sum(series, SERIES_STOP_DURATION), 3000);
		assert_int_equal(serieslib_sum(series, SERIES_GRACE_USED), 3000);
		assert_int_equal(serieslib_sum(series, SERIES_OOM_KILLS), 3000);
	}
}

static void test_absorbed(void **state)
{
	_series_ struct series *series = serieslib_new(1, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	record.stop.collateral_kills = 7;
	series_record(series, &record);
	series_record(series, &record);
	serieslib_assert(
		series,
		"graced_container_stop_duration_seconds|_other|_other|_other|graceful|-|- 2\n"
		"graced_container_stops_total|_other|_other|_other|graceful|stop-signal|- 2\n"
		"graced_container_grace_used_ratio|_other|_other|_other|-|-|- 2\n"
		"graced_collateral_kills_total|_other|_other|_other|-|-|- 14\n");
	series_get_stats(series, &stats);
	assert_int_equal(stats.absorbed[SERIES_STOPS], 2);
	assert_int_equal(stats.absorbed[SERIES_COLLATERAL_KILLS], 2);
	assert_int_equal(stats.absorbed[SERIES_DEAF_STOPS], 0);
	assert_int_equal(stats.labelsets, 0);
}

static struct record numbered(const char *prefix, int n)
{
	static char names[2][16];
	static int turn;

	turn = !turn;
	snprintf(names[turn], sizeof(names[turn]), "%s%d", prefix, n);
	return serieslib_stop(names[turn], names[turn]);
}

static void test_counters_last(void **state)
{
	/* 20 of 640 lines are for counters alone; each stop takes one counter and 15 lines more. */
	_series_ struct series *series = serieslib_new((uint32_t)series_overflow_lines() + 640, 0);
	struct series_stats stats;

	for (int n = 0; n < 45; n++) {
		struct record record = numbered("c", n);

		record.stop.grace.from = GRACE_UNKNOWN;
		series_record(series, &record);
	}
	series_get_stats(series, &stats);
	assert_int_equal(stats.absorbed[SERIES_STOPS], 0);
	assert_true(stats.absorbed[SERIES_STOP_DURATION] > 0);
	assert_int_equal(stats.labelsets, 45);
}

/* What never happened to a thousand containers leaves room for what happens to others. */
static void test_zeros_last(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct series_stats stats;

	for (int n = 0; n < 1000; n++) {
		struct record record = numbered("idle", n);

		series_seen(series, &record.stop.pod, &record.stop.container, 100 * S, 1);
	}
	series_get_stats(series, &stats);
	assert_true(stats.lines <= stats.limit / SERIES_EVENTS_PART);
	for (int n = 0; n < 100; n++) {
		struct record record = numbered("c", n);

		series_record(series, &record);
	}
	series_get_stats(series, &stats);
	for (int i = 0; i < SERIES_FAMILY_COUNT; i++)
		assert_int_equal(stats.absorbed[i], 0);
}

/* A pod's own two histograms, and each container's stop in two, beside what it had before. */
static void drain(struct series *series, int n_pods, int n_containers)
{
	for (int n = 0; n < n_pods; n++) {
		struct record stop = numbered("pod", n);
		struct record empty = {.type = RECORD_POD,
				       .pod_state = {.pod = stop.stop.pod,
						     .state = POD_STAGE_TERMINATED,
						     .exit_ns = 100 * S,
						     .empty_ns = 101 * S}};
		struct record ready = {.type = RECORD_POD_READY,
				       .pod_ready = {.pod = stop.stop.pod,
						     .stop_ns = 100 * S,
						     .until_ns = 101 * S}};

		for (int i = 0; i < n_containers; i++) {
			char name[16];

			snprintf(name, sizeof(name), "container-%d", i);
			stop.stop.container.name = name;
			series_record(series, &stop);
		}
		series_record(series, &empty);
		series_record(series, &ready);
	}
}

static void see_all(struct series *series, int n_pods, int n_containers)
{
	const struct audit deaf = {AUDIT_DEAF, AUDIT_SHIELD, 0};

	for (int n = 0; n < n_pods; n++) {
		struct record stop = numbered("pod", n);

		for (int i = 0; i < n_containers; i++) {
			char name[16];

			snprintf(name, sizeof(name), "container-%d", i);
			stop.stop.container.name = name;
			series_seen(series, &stop.stop.pod, &stop.stop.container, 100 * S, 1);
			series_hears(series, &stop.stop.pod, &stop.stop.container, &deaf);
		}
	}
}

static void count_point(void *userdata, const struct series_point *point)
{
	++*(int *)userdata;
}

static int count_points(const struct series *series, enum series_family family)
{
	int n = 0;

	series_each(series, family, count_point, &n);
	return n;
}

static void test_drain(void **state)
{
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct series_stats stats;

	see_all(series, 110, 2);
	assert_int_equal(count_points(series, SERIES_HEARS), 220);
	drain(series, 110, 2);
	assert_int_equal(count_points(series, SERIES_HEARS), 0);
	series_get_stats(series, &stats);
	print_message("%llu lines, %llu.%02llu %% of the room\n", (unsigned long long)stats.lines,
		      (unsigned long long)stats.used_ppm / 10000,
		      (unsigned long long)stats.used_ppm / 100 % 100);
	for (int i = 0; i < SERIES_FAMILY_COUNT; i++)
		assert_int_equal(stats.absorbed[i], 0);
	assert_true(stats.used_ppm < 1000000);
}

/* The ratio is 1 exactly when a stop does not find room for its histogram. */
static void test_used(void **state)
{
	_series_ struct series *series = serieslib_new(1000, 0);
	struct series_stats stats;

	series_get_stats(series, &stats);
	assert_int_equal(stats.used_ppm, 0);
	for (int n = 0; n < 200; n++) {
		struct record record = numbered("c", n);
		uint64_t before;

		record.stop.grace.from = GRACE_UNKNOWN;
		series_get_stats(series, &stats);
		before = stats.absorbed[SERIES_STOP_DURATION];
		if (stats.used_ppm < 1000000)
			assert_int_equal(before, 0);
		series_record(series, &record);
		series_get_stats(series, &stats);
		if (stats.absorbed[SERIES_STOP_DURATION] > 0)
			assert_int_equal(stats.used_ppm, 1000000);
	}
	assert_true(stats.absorbed[SERIES_STOP_DURATION] > 0);
}

/* What happens to a container that stopped once, at 100 s. */
static void test_age(void **state)
{
	static const struct {
		const char *what;
		uint64_t seen_ns;
		int scrapes;
		uint64_t now_ns;
		bool there;
	} want[] = {
		{"just now", 0, 3, 100 * S, true},
		{"before the hour is over", 0, 3, 100 * S + H - 1, true},
		{"after an hour, scraped", 0, 3, 100 * S + H, false},
		{"after an hour, scraped twice", 0, 2, 100 * S + H, true},
		{"hardly a day, never scraped", 0, 0, 100 * S + 24 * H - 1, true},
		{"a day, never scraped", 0, 0, 100 * S + 24 * H, false},
		{"seen later", 200 * S, 9, 100 * S + H, true},
		{"an hour after it was seen", 200 * S, 9, 200 * S + H, false},
		{"seen before the stop", 50 * S, 9, 100 * S + H - 1, true},
		{"the clock is behind", 0, 9, 1, true},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_series_ struct series *series = serieslib_new(0, 0);
		struct record record = serieslib_stop("shop", "cart");
		struct series_stats stats;

		record.stop.container.kind = CONTAINER_KIND_UNKNOWN;
		series_record(series, &record);
		for (int n = 0; n < want[i].scrapes; n++)
			series_scraped(series);
		if (want[i].seen_ns)
			series_seen(series, &record.stop.pod, &record.stop.container,
				    want[i].seen_ns, 1);
		series_age(series, want[i].now_ns);
		series_get_stats(series, &stats);
		if (stats.labelsets != want[i].there)
			fail_msg("%s: %d label sets", want[i].what, (int)stats.labelsets);
		assert_int_equal(stats.lines, want[i].there ? 23 : 0);
		assert_int_equal(stats.aged, want[i].there ? 0 : 23);
	}
}

static void test_age_again(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	series_record(series, &record);
	for (int n = 0; n < 3; n++)
		series_scraped(series);
	record.at_ns = 50 * S; /* recorded late */
	series_record(series, &record);
	series_scraped(series);
	series_age(series, 100 * S + 2 * H);
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 1);
	series_scraped(series);
	series_scraped(series);
	series_age(series, 100 * S + 2 * H);
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 0);
	series_record(series, &record);
	assert_int_equal(serieslib_sum(series, SERIES_STOPS), 1);
}

static void test_future(void **state)
{
	_series_ struct series *series = serieslib_new(0, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_stats stats;

	record.at_ns = UINT64_MAX;
	series_record(series, &record);
	series_age(series, H);
	series_age(series, 25 * H);
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 0);
}

static void test_age_makes_room(void **state)
{
	_series_ struct series *series = serieslib_new((uint32_t)series_overflow_lines() + 30, 0);
	struct record record = serieslib_stop("shop", "first");
	struct series_stats stats;

	series_record(series, &record);
	record = serieslib_stop("shop", "second");
	series_record(series, &record);
	series_age(series, 100 * S + 24 * H);
	record = serieslib_stop("shop", "third");
	series_record(series, &record);
	series_get_stats(series, &stats);
	assert_int_equal(stats.labelsets, 1);
	assert_int_equal(serieslib_sum(series, SERIES_STOP_DURATION), 2);
	/* What is in "_other" never goes. */
	assert_int_equal(stats.absorbed[SERIES_STOP_DURATION], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the lines never exceed the limit, and nothing goes uncounted", test_cap),
		CLAIM("what has no room counts under _other, and is counted", test_absorbed),
		CLAIM("the last part of the room is for counters", test_counters_last),
		CLAIM("a series outlives its last touch by an hour and three scrapes", test_age),
		CLAIM("a change waits for three scrapes of its own", test_age_again),
		CLAIM("a record from the future does not live for ever", test_future),
		CLAIM("what aged out makes room for others", test_age_makes_room),
		CLAIM("what is still 0 takes half of the room at most", test_zeros_last),
		CLAIM("a node of 110 pods with two containers each drains with nothing absorbed",
		      test_drain),
		CLAIM("the share in use reaches 1 when a stop's histogram finds no room",
		      test_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
