// SPDX-License-Identifier: Apache-2.0
/* Claims about protobuf exposition: it says what OpenMetrics says, and native histograms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"
#include "lib/net/protoread.h"
#include "wire/prometheus/metrics.h"

#define _buf_ _cleanup_(buf_free) struct buf

/* As far as the value, which may be written in another way; le is a float in OpenMetrics. */
static size_t len_of_name(const char *line)
{
	const char *at = line;

	while (*at != ' ' && *at != '\n') {
		if (*at != '"') {
			at++;
			continue;
		}
		for (at++; *at != '"'; at++)
			at += *at == '\\';
		at++;
	}
	return (size_t)(at - line);
}

static void next_sample(const char **at)
{
	while (**at == '#')
		*at = strchr(*at, '\n') + 1;
}

static void compare_numbers(const char **a, const char **b)
{
	char *end_a, *end_b;
	double x = strtod(*a, &end_a), y = strtod(*b, &end_b);

	if (end_a == *a || x != y)
		fail_msg("'%.60s' is not '%.60s'", *a, *b);
	*a = end_a;
	*b = end_b;
}

/* Names without the .0 of a bucket's bound, then the value, then an exemplar and its numbers. */
static void compare_lines(const char **want, const char **got)
{
	size_t n = len_of_name(*want), m = len_of_name(*got);
	char name[2048], other[2048];

	assert_true(n < sizeof(name) && m < sizeof(other));
	snprintf(name, sizeof(name), "%.*s", (int)n, *want);
	snprintf(other, sizeof(other), "%.*s", (int)m, *got);
	if (n > 4 && strcmp(name + n - 4, ".0\"}") == 0)
		strcpy(name + n - 4, "\"}");
	assert_string_equal(other, name);
	*want += n;
	*got += m;
	compare_numbers(want, got);
	if (strncmp(*want, " # {", 4) == 0) {
		n = 3 + len_of_name(*want + 3);
		assert_memory_equal(*got, *want, n);
		*want += n;
		*got += n;
		compare_numbers(want, got);
		if (**want == ' ')
			compare_numbers(want, got);
	}
	assert_int_equal(**want, '\n');
	assert_int_equal(**got, '\n');
	++*want;
	++*got;
}

static void add_stops(struct series *series)
{
	static const char *const names[] = {"cart", "a\\b\"c\nd", "", "\xe4\xb8\xad\x01"};

	for (unsigned int i = 0; i < 400; i++) {
		struct record record = serieslib_stop(names[i % 4], names[i / 4 % 4]);

		record.wall_ns = 1700000000123456789 + i;
		record.stop.latency_ns = (uint64_t)i * i * 997 * MS / 13;
		record.stop.pod.name = names[i % 3];
		snprintf(record.stop.id, sizeof(record.stop.id), "boot/0123/%u", i);
		series_record(series, &record);
	}
}

static void test_same(void **state)
{
	_series_ struct series *series = serieslib_new(0, METRICS_OWN_LINES);
	struct metrics m = {.series = series,
			    .version = "1",
			    .process_known = true,
			    .process_cpu_ns = 123456789,
			    .process_start_wall_ns = 1700000000123456789,
			    .reload_ok_wall_ns = 1,
			    .log_lost = 1ULL << 60};
	_buf_ openmetrics = {}, protobuf = {}, lines = {};
	const char *want, *got;
	size_t n = 0;

	add_stops(series);
	assert_int_equal(metrics_write(&openmetrics, EXPO_OPENMETRICS, &m), 0);
	assert_int_equal(metrics_write(&protobuf, EXPO_PROTOBUF, &m), 0);
	protoread_page(&protobuf, &lines);
	want = buf_str(&openmetrics);
	got = buf_str(&lines);
	for (next_sample(&want); *want; next_sample(&want), n++)
		compare_lines(&want, &got);
	assert_int_equal(*got, '\0');
	assert_true(n > 500);
}

static struct protoread_native write_native(const struct histogram *h,
					    const struct histogram_bounds *bounds)
{
	static const struct expo_family family = {"h_seconds", EXPO_HISTOGRAM, "seconds", "H."};
	_buf_ page = {}, lines = {};
	struct expo expo;

	expo_begin(&expo, &page, EXPO_PROTOBUF);
	expo_family(&expo, &family);
	expo_histogram(&expo, NULL, 0, &(struct expo_histogram){h, bounds, NULL, 0});
	assert_int_equal(expo_end(&expo), 0);
	assert_int_equal(expo.samples, bounds->n + 3);
	return protoread_page(&page, &lines);
}

/* Spans and deltas are the buckets again, at each schema. */
static void test_native(void **state)
{
	static const struct histogram_bounds bounds = {.n = 1, .at = {HISTOGRAM_ONE}};
	struct histogram h = {};
	uint64_t seed = 42;

	for (int i = 0; i < 2000; i++) {
		struct protoread_native got;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		histogram_observe(&h, &bounds, seed >> (seed >> 20 & 63));
		got = write_native(&h, &bounds);
		assert_int_equal(got.schema, native_schema(&h.native));
		assert_true(got.zero_threshold == 0.0009765625);
		assert_int_equal(got.zero, h.native.zero);
		assert_int_equal(got.count, i + 1);
		assert_int_equal(got.n, h.native.n);
		for (size_t k = 0; k < got.n; k++) {
			assert_int_equal(got.index[k], h.native.index[k]);
			assert_int_equal(got.counts[k], h.native.count[k]);
		}
	}
	assert_int_equal(native_schema(&h.native), 0);
}

static void test_limit(void **state)
{
	static const struct expo_family family = {"g", EXPO_GAUGE, NULL, "G."};

	for (size_t limit = 1; limit < 60; limit++) {
		_buf_ out = {.limit = limit};
		struct expo expo;

		expo_begin(&expo, &out, EXPO_PROTOBUF);
		expo_family(&expo, &family);
		for (uint64_t i = 0; i < 10; i++)
			expo_u64(&expo, &(struct expo_label){"l", "x"}, 1, i);
		assert_int_equal(expo_end(&expo), -ENOBUFS);
		assert_true(out.len <= limit);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("protobuf has the samples, exemplars and times of OpenMetrics", test_same),
		CLAIM("spans and deltas are the native buckets", test_native),
		CLAIM("a full buffer ends the page with an error", test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
