// SPDX-License-Identifier: Apache-2.0
/* Claims about base/rfc3339: every instant has its one text. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/rfc3339.h"
#include "base/time.h"
#include "lib/claim.h"

static void test_known_instants(void **state)
{
	static const struct {
		int64_t wall_ns;
		const char *text;
	} want[] = {
		{0, "1970-01-01T00:00:00.000000000Z"},
		{1, "1970-01-01T00:00:00.000000001Z"},
		{-1, "1969-12-31T23:59:59.999999999Z"},
		{-NS_PER_S, "1969-12-31T23:59:59.000000000Z"},
		{1795273445123456789, "2026-11-21T15:04:05.123456789Z"},
		{951782399 * NS_PER_S, "2000-02-28T23:59:59.000000000Z"},
		{951782400 * NS_PER_S, "2000-02-29T00:00:00.000000000Z"},
		{951868800 * NS_PER_S, "2000-03-01T00:00:00.000000000Z"},
		{4107542400 * NS_PER_S, "2100-03-01T00:00:00.000000000Z"},
		{INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
		{INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		char text[RFC3339_SIZE];

		assert_ptr_equal(rfc3339_format(want[i].wall_ns, text), text);
		assert_string_equal(text, want[i].text);
	}
}

/* libc's own calendar is the reference; less than a day apart, so that every day is met. */
static void test_against_libc(void **state)
{
	int64_t last = INT64_MAX / NS_PER_S;

	for (int64_t s = -last; s <= last; s += 86400 - 3599) {
		char text[RFC3339_SIZE], want[64];
		time_t at = (time_t)s;
		struct tm tm;

		gmtime_r(&at, &tm);
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000000000Z", &tm);
		rfc3339_format(s * NS_PER_S, text);
		if (strcmp(text, want) != 0)
			fail_msg("%lld: %s, not %s", (long long)s, text, want);
	}
}

static void test_reads(void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t wall_ns;
	} want[] = {
		{"1970-01-01T00:00:00Z", 0, 0},
		{"2026-11-21t15:04:05.123456789z", 0, 1795273445123456789},
		{"2026-11-21T17:04:05.1234567899+02:00", 0, 1795273445123456789},
		{"2000-02-28T20:00:00.5-04:00", 0, 951782400 * NS_PER_S + NS_PER_S / 2},
		{"2262-04-11T23:47:16.854775807Z", 0, INT64_MAX},
		{"2262-04-11T23:47:16.854775808Z", -ERANGE, 7},
		{"0001-01-01T00:00:00Z", -ERANGE, 7},
		{"2001-02-29T00:00:00Z", -EINVAL, 7},
		{"2001-02-28T00:00:00", -EINVAL, 7},
		{"2001-02-28T00:00:00.Z", -EINVAL, 7},
		{"2001-02-28T00:00:00Z ", -EINVAL, 7},
		{"2001-02-28 00:00:00Z", -EINVAL, 7},
		{"", -EINVAL, 7},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		int64_t wall_ns = 7;

		assert_int_equal(rfc3339_parse(want[i].text, &wall_ns), want[i].r);
		assert_int_equal(wall_ns, want[i].wall_ns);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("known instants, leap days and both ends of the range", test_known_instants),
		CLAIM("every day of the range is the day libc says it is", test_against_libc),
		CLAIM("any offset and fraction is read, and nothing that is no time", test_reads),
	};

	return cmocka_run_group_tests_name("base/rfc3339", tests, NULL, NULL);
}
