// SPDX-License-Identifier: Apache-2.0
/* Claims about base/duration: every duration has the text that Go gives it. */
#include <errno.h>

#include "base/duration.h"
#include "lib/claim.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

static const struct {
	int64_t ns;
	const char *text;
} want[] = {
	{0, "0s"},
	{1, "1ns"},
	{999, "999ns"},
	{US, "1\u00b5s"},
	{1100, "1.1\u00b5s"},
	{MS, "1ms"},
	{2200 * US, "2.2ms"},
	{999999999, "999.999999ms"},
	{S, "1s"},
	{3300 * MS, "3.3s"},
	{10700 * MS, "10.7s"},
	{S + 1, "1.000000001s"},
	{30 * S, "30s"},
	{60 * S, "1m0s"},
	{330 * S, "5m30s"},
	{3600 * S, "1h0m0s"},
	{4 * 60 * S + 5001 * MS, "4m5.001s"},
	{5 * 3600 * S + 6 * 60 * S + 7001 * MS, "5h6m7.001s"},
	{-2 * S, "-2s"},
	{-1, "-1ns"},
	{INT64_MAX, "2562047h47m16.854775807s"},
	{INT64_MIN, "-2562047h47m16.854775808s"},
};

static void test_known(void **state)
{
	for (size_t i = 0; i < LEN(want); i++) {
		char text[GODURATION_SIZE];

		assert_ptr_equal(goduration_format(want[i].ns, text), text);
		assert_string_equal(text, want[i].text);
	}
}

static void test_read_back(void **state)
{
	for (size_t i = 0; i < LEN(want); i++) {
		int64_t ns = 1;

		assert_int_equal(goduration_parse(want[i].text, &ns), 0);
		assert_int_equal(ns, want[i].ns);
	}
}

static void test_read(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"0", 0},
		{"+5s", 5 * S},
		{"-0", 0},
		{".5s", S / 2},
		{"1.s", S},
		{"1s500ms", 1500 * MS},
		{"3\u03bcs", 3 * US},
		{"7us", 7 * US},
		{"30s30s", 60 * S},
		{"0.0000000019s", 1},
	};
	static const char *const bad[] = {
		"",
		"-",
		"s",
		"30",
		"1 s",
		"s1",
		"1x",
		".s",
		"1..s",
		"1e3s",
		"--1s",
		"3S",
		"1s ",
		" 1s",
		"9999999999h",
		"-1s-1s",
		"2562047h47m17s",
	};
	int64_t ns = 77;

	for (size_t i = 0; i < LEN(bad); i++) {
		assert_int_equal(goduration_parse(bad[i], &ns), -EBADMSG);
		assert_int_equal(ns, 77);
	}
	for (size_t i = 0; i < LEN(good); i++) {
		assert_int_equal(goduration_parse(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a duration is written with the units and digits that Go writes", test_known),
		CLAIM("and comes back from that text", test_read_back),
		CLAIM("what else Go reads is read, and nothing more", test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
