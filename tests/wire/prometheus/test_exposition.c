// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/prometheus/exposition: the bytes of both formats. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/prometheus/exposition.h"

#define _buf_ _cleanup_(buf_free) struct buf

static void test_types(void **state)
{
	static const struct {
		struct expo_family family;
		const char *text, *openmetrics;
	} want[] = {
		{{"stops", EXPO_COUNTER, NULL, "Stops."},
		 "# HELP stops_total Stops.\n# TYPE stops_total counter\nstops_total 7\n",
		 "# HELP stops Stops.\n# TYPE stops counter\nstops_total 7\n"},
		{{"cpu_seconds", EXPO_COUNTER, "seconds", "Time."},
		 "# HELP cpu_seconds_total Time.\n# TYPE cpu_seconds_total counter\n"
		 "cpu_seconds_total 7\n",
		 "# HELP cpu_seconds Time.\n# TYPE cpu_seconds counter\n"
		 "# UNIT cpu_seconds seconds\ncpu_seconds_total 7\n"},
		{{"rss_bytes", EXPO_GAUGE, "bytes", "Memory."},
		 "# HELP rss_bytes Memory.\n# TYPE rss_bytes gauge\nrss_bytes 7\n",
		 "# HELP rss_bytes Memory.\n# TYPE rss_bytes gauge\n# UNIT rss_bytes bytes\n"
		 "rss_bytes 7\n"},
		{{"build", EXPO_INFO, NULL, "Version."},
		 "# HELP build_info Version.\n# TYPE build_info gauge\nbuild_info 7\n",
		 "# HELP build Version.\n# TYPE build info\nbuild_info 7\n"},
		{{"what", EXPO_UNKNOWN, NULL, "A \"thing\" with \\ and\nnewline."},
		 "# HELP what A \"thing\" with \\\\ and\\nnewline.\n# TYPE what untyped\nwhat 7\n",
		 "# HELP what A \"thing\" with \\\\ and\\nnewline.\n# TYPE what unknown\nwhat 7\n"},
	};

	for (size_t i = 0; i < LEN(want) * 2; i++) {
		_buf_ out = {};
		struct expo expo;

		expo_begin(&expo, &out, i % 2 ? EXPO_OPENMETRICS : EXPO_TEXT);
		expo_family(&expo, &want[i / 2].family);
		expo_u64(&expo, NULL, 0, 7);
		assert_string_equal(buf_str(&out),
				    i % 2 ? want[i / 2].openmetrics : want[i / 2].text);
		assert_int_equal(expo.samples, 1);
	}
}

static void test_once(void **state)
{
	static const struct expo_family none = {"none", EXPO_GAUGE, NULL, "Never seen."};
	static const struct expo_family two = {"two", EXPO_GAUGE, NULL, "Seen."};
	static const struct expo_label a = {"a", "1"}, b = {"a", "2"};
	_buf_ out = {};
	struct expo expo;

	expo_begin(&expo, &out, EXPO_OPENMETRICS);
	expo_family(&expo, &none);
	expo_family(&expo, &two);
	expo_u64(&expo, &a, 1, 0);
	expo_u64(&expo, &b, 1, 1);
	expo_family(&expo, &none);
	assert_int_equal(expo_end(&expo), 0);
	assert_string_equal(buf_str(&out), "# HELP two Seen.\n# TYPE two gauge\n"
					   "two{a=\"1\"} 0\ntwo{a=\"2\"} 1\n# EOF\n");
}

static void test_empty(void **state)
{
	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ out = {};
		struct expo expo;

		expo_begin(&expo, &out, (enum expo_format)format);
		assert_int_equal(expo_end(&expo), 0);
		assert_string_equal(buf_str(&out), format == EXPO_OPENMETRICS ? "# EOF\n" : "");
	}
}

static void assert_ends(const struct buf *out, const char *want)
{
	const char *last = strstr(buf_str(out), " gauge\n");

	assert_non_null(last);
	assert_string_equal(last + strlen(" gauge\n"), want);
}

static void test_labels(void **state)
{
	static const struct {
		const char *value, *want;
	} want[] = {
		{NULL, "g{l=\"\",m=\"x\"} 1\n"},
		{"", "g{l=\"\",m=\"x\"} 1\n"},
		{"plain", "g{l=\"plain\",m=\"x\"} 1\n"},
		{"a\\b\"c\nd", "g{l=\"a\\\\b\\\"c\\nd\",m=\"x\"} 1\n"},
		{"\",evil=\"1", "g{l=\"\\\",evil=\\\"1\",m=\"x\"} 1\n"},
		{"\\n", "g{l=\"\\\\n\",m=\"x\"} 1\n"},
		{"}", "g{l=\"}\",m=\"x\"} 1\n"},
		{"\r\x01\x7f\xff",
		 "g{l=\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",m=\"x\"}"
		 " 1\n"},
		{"\xe4\xb8\xad", "g{l=\"\xe4\xb8\xad\",m=\"x\"} 1\n"},
	};
	static const struct expo_family gauge = {"g", EXPO_GAUGE, NULL, "G."};

	for (size_t i = 0; i < LEN(want); i++) {
		struct expo_label labels[] = {{"l", want[i].value}, {"m", "x"}};
		_buf_ out = {};
		struct expo expo;

		expo_begin(&expo, &out, EXPO_TEXT);
		expo_family(&expo, &gauge);
		expo_u64(&expo, labels, LEN(labels), 1);
		assert_ends(&out, want[i].want);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		uint64_t units;
		unsigned int decimals;
		const char *want;
	} want[] = {
		{0, 0, "g 0\n"},
		{0, 9, "g 0\n"},
		{10, 0, "g 10\n"},
		{UINT64_MAX, 0, "g 18446744073709551615\n"},
		{UINT64_MAX, 9, "g 18446744073.709551615\n"},
		{1, 9, "g 0.000000001\n"},
		{1500000000, 9, "g 1.5\n"},
		{30000000000, 9, "g 30\n"},
		{1000000010, 9, "g 1.00000001\n"},
		{100000000000, 9, "g 100\n"},
		{20000, 6, "g 0.02\n"},
		/* A double has no such second. */
		{1700000000123456789, 9, "g 1700000000.123456789\n"},
	};
	static const struct expo_family gauge = {"g", EXPO_GAUGE, NULL, "G."};

	for (size_t i = 0; i < LEN(want); i++) {
		_buf_ out = {};
		struct expo expo;

		expo_begin(&expo, &out, EXPO_TEXT);
		expo_family(&expo, &gauge);
		expo_decimal(&expo, NULL, 0, want[i].units, want[i].decimals);
		assert_ends(&out, want[i].want);
	}
}

static void test_histogram(void **state)
{
	static const struct expo_family family = {"h_seconds", EXPO_HISTOGRAM, "seconds", "H."};
	static const struct histogram_bounds bounds = {
		.n = 3, .at = {HISTOGRAM_ONE / 100, HISTOGRAM_ONE, 95 * HISTOGRAM_ONE / 10}};
	static const struct expo_label label = {"l", "x"};
	static const uint64_t values[] = {1, 10000000, 10000001, 9500000001, 1ULL << 40};
	static const char *const want[] = {
		"# HELP h_seconds H.\n# TYPE h_seconds histogram\n"
		"h_seconds_bucket{l=\"x\",le=\"0.01\"} 2\nh_seconds_bucket{l=\"x\",le=\"1\"} 3\n"
		"h_seconds_bucket{l=\"x\",le=\"9.5\"} 3\nh_seconds_bucket{l=\"x\",le=\"+Inf\"} 5\n"
		"h_seconds_sum{l=\"x\"} 1109.031627779\nh_seconds_count{l=\"x\"} 5\n",
		"# HELP h_seconds H.\n# TYPE h_seconds histogram\n# UNIT h_seconds seconds\n"
		"h_seconds_bucket{le=\"0.01\"} 2\nh_seconds_bucket{le=\"1.0\"} 3\n"
		"h_seconds_bucket{le=\"9.5\"} 3\nh_seconds_bucket{le=\"+Inf\"} 5\n"
		"h_seconds_sum 1109.031627779\nh_seconds_count 5\n",
	};
	struct histogram h = {};

	for (size_t i = 0; i < LEN(values); i++)
		histogram_observe(&h, &bounds, values[i]);
	for (int format = EXPO_TEXT; format <= EXPO_OPENMETRICS; format++) {
		_buf_ out = {};
		struct expo expo;

		expo_begin(&expo, &out, (enum expo_format)format);
		expo_family(&expo, &family);
		expo_histogram(&expo, &label, format == EXPO_TEXT,
			       &(struct expo_histogram){&h, &bounds, NULL, 0});
		assert_string_equal(buf_str(&out), want[format]);
		assert_int_equal(expo.samples, 6);
	}
}

static void test_exemplars(void **state)
{
	static const struct expo_family family = {"h", EXPO_HISTOGRAM, NULL, "H."};
	static const struct histogram_bounds bounds = {.n = 3, .at = {1, 2, 3}};
	static const struct exemplar exemplars[] = {
		{.billionths = 1, .wall_ns = 1700000000500000000, .id = "ab/7", .pod = "web-0"},
		{.billionths = 2, .pod = "a\"} 1\n#\\"},
		{.billionths = 3, .wall_ns = 5},
		{.billionths = 5000000000, .wall_ns = -1, .id = "x"},
	};
	struct expo_histogram h = {&(struct histogram){.buckets = {1, 1, 1, 1}, .count = 4},
				   &bounds, exemplars, 0};
	static const char want[] =
		"h_bucket{le=\"0.000000001\"} 1 # {id=\"ab/7\",pod=\"web-0\"} 0.000000001"
		" 1700000000.5\n"
		"h_bucket{le=\"0.000000002\"} 2 # {pod=\"a\\\"} 1\\n#\\\\\"} 0.000000002\n"
		"h_bucket{le=\"0.000000003\"} 3\n"
		"h_bucket{le=\"+Inf\"} 4 # {id=\"x\"} 5\n";
	_buf_ openmetrics = {}, text = {};
	struct expo expo;

	expo_begin(&expo, &openmetrics, EXPO_OPENMETRICS);
	expo_family(&expo, &family);
	expo_histogram(&expo, NULL, 0, &h);
	assert_non_null(strstr(buf_str(&openmetrics), want));
	expo_begin(&expo, &text, EXPO_TEXT);
	expo_family(&expo, &family);
	expo_histogram(&expo, NULL, 0, &h);
	assert_null(strstr(buf_str(&text), " # {"));
}

static void test_limit(void **state)
{
	static const struct expo_family gauge = {"g", EXPO_GAUGE, NULL, "G."};
	_buf_ out = {.limit = 40};
	struct expo expo;

	expo_begin(&expo, &out, EXPO_OPENMETRICS);
	expo_family(&expo, &gauge);
	for (uint64_t i = 0; i < 10; i++)
		expo_u64(&expo, NULL, 0, i);
	assert_int_equal(expo_end(&expo), -ENOBUFS);
	assert_true(out.len <= 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a family is announced as its format wants it", test_types),
		CLAIM("a family is announced once, and only if it has a sample", test_once),
		CLAIM("OpenMetrics ends with EOF, text with nothing", test_empty),
		CLAIM("a label's value stays inside its quotes", test_labels),
		CLAIM("numbers are exact and have no superfluous zeros", test_numbers),
		CLAIM("buckets are cumulative, and floats in OpenMetrics", test_histogram),
		CLAIM("exemplars stay on their line, and out of the text format", test_exemplars),
		CLAIM("a full buffer ends the page with an error", test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
