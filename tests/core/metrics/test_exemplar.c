// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/exemplar, and which one a bucket of a series has. */
#include <stdio.h>
#include <string.h>

#include "core/metrics/exemplar.h"
#include "core/metrics/series_store.h"
#include "lib/claim.h"
#include "lib/engine/serieslib.h"

#define BOOT   "4f1c8c1e-2e0a-4a5b-9d43-0e6f6f3d8a11/"
#define HEX64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DIGITS "18446744073709551615"
#define THIRTY "abcdefghijklmnopqrstuvwxyz0123"

static void test_id(void **state)
{
	static const struct {
		const char *id, *want;
	} want[] = {
		{NULL, ""},
		{"", ""},
		{"no slash", ""},
		{BOOT "ab/7", "ab/7"},
		{"/ab/7", "ab/7"},
		{BOOT HEX64 "/" DIGITS, HEX64 "/" DIGITS},
		{BOOT HEX64 "/" DIGITS "0", ""},
		{BOOT "a\x01\xff/7", "a\xef\xbf\xbd\xef\xbf\xbd/7"},
	};
	struct exemplar exemplar;

	for (size_t i = 0; i < LEN(want); i++) {
		memset(&exemplar, 'x', sizeof(exemplar));
		exemplar_set(&exemplar, 1, 2, want[i].id, NULL);
		assert_string_equal(exemplar.id, want[i].want);
		assert_string_equal(exemplar.pod, "");
	}
}

static void test_pod(void **state)
{
	static const struct {
		const char *pod, *want;
	} want[] = {
		{NULL, ""},
		{"web-0", "web-0"},
		{THIRTY "12345678", THIRTY "12345678"},
		{THIRTY "123456789", "\xe2\x80\xa6"
				     "efghijklmnopqrstuvwxyz0123123456789"},
		/* a character of three bytes where the end begins */
		{THIRTY "\xe4\xb8\xad" THIRTY "1234", "\xe2\x80\xa6" THIRTY "1234"},
		{"a\n\"b", "a\n\"b"},
	};
	struct exemplar exemplar;

	for (size_t i = 0; i < LEN(want); i++) {
		exemplar_set(&exemplar, 1, 2, NULL, want[i].pod);
		assert_string_equal(exemplar.pod, want[i].want);
	}
}

static void take(void *userdata, const struct series_point *point)
{
	*(struct series_point *)userdata = *point;
}

/* Stops of 1.5 s and 0.05 s, of 2 s and then 2.5 s. */
static void test_last(void **state)
{
	static const uint64_t latencies[] = {1500 * MS, 50 * MS, 2 * S, 2500 * MS};
	_series_ struct series *series = serieslib_new(0, 0);
	struct series_point point = {};

	for (size_t i = 0; i < LEN(latencies); i++) {
		struct record record = serieslib_stop("shop", "cart");

		record.wall_ns = (int64_t)(1700 + i);
		record.stop.latency_ns = latencies[i];
		snprintf(record.stop.id, sizeof(record.stop.id), BOOT "ab/%zu", i);
		series_record(series, &record);
	}
	series_each(series, SERIES_STOP_DURATION, take, &point);
	assert_string_equal(point.exemplars[0].id, "ab/1");
	assert_string_equal(point.exemplars[2].id, "ab/3");
	assert_string_equal(point.exemplars[2].pod, "web-0");
	assert_true(point.exemplars[2].billionths == 2500 * MS);
	assert_int_equal(point.exemplars[2].wall_ns, 1703);
	for (size_t i = 0; i <= point.bounds->n; i++)
		assert_int_equal(point.exemplars[i].id[0] != '\0', i == 0 || i == 2);
}

/* Whatever the names are. */
static void test_other(void **state)
{
	_series_ struct series *series = serieslib_new(1, 0);
	struct record record = serieslib_stop("shop", "cart");
	struct series_point point = {};

	strcpy(record.stop.id, BOOT "ab/9");
	series_record(series, &record);
	series_each(series, SERIES_GRACE_USED, take, &point);
	assert_string_equal(point.namespace_, "_other");
	assert_string_equal(point.exemplars[0].id, "ab/9");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an id is whole but for its boot, or left out", test_id),
		CLAIM("of a long name of a pod the end stays", test_pod),
		CLAIM("each bucket has the exemplar of its last observation", test_last),
		CLAIM("what is counted under _other has exemplars, too", test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
