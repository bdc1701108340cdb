// SPDX-License-Identifier: Apache-2.0
/* Claims about base/duration: what people may write, and what they are shown. */
#include <errno.h>

#include "base/duration.h"
#include "lib/claim.h"

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

static void test_readable(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} want[] = {
		{"0", 0},
		{"0s", 0},
		{"5", 5 * S},
		{"10s", 10 * S},
		{"250ms", 250 * MS},
		{"2m", 120 * S},
		{"1h30m", 5400 * S},
		{"30m1h", 5400 * S},
		{"1m1m", 120 * S},
		{"1.5s", 1500 * MS},
		{"0.25", 250 * MS},
		{"1.5h", 5400 * S},
		{"1.000000001s", S + 1},
		{"1.0000000019s", S + 1},
		{"0.1ns", 0},
		{"1.9ns", 1},
		{"007s", 7 * S},
		{"1us1µs1\u03bcs", 3 * US},
		{"3ns", 3},
		{"1h2m3s4ms5us6ns", 3723 * S + 4005006},
		{"9223372036854775807ns", INT64_MAX},
		{"9223372036s854775807ns", INT64_MAX},
		{"0.00000000000000000000000000000000000000000000000000000000001s", 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint64_t ns = 42;

		if (duration_parse(want[i].text, &ns) != 0 || ns != want[i].ns)
			fail_msg("%s: %llu", want[i].text, (unsigned long long)ns);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"s",
		"-1",
		"-1s",
		"+1",
		"1 s",
		" 1s",
		"1s ",
		"1d",
		"1S",
		"1sec",
		"1,5s",
		"1.s",
		".5s",
		"1.",
		"1..5s",
		"1.5.5s",
		"1h30",
		"30 1h",
		"1e3",
		"0x10",
		"5s5",
		"inf",
		"nan",
		"1m\n",
		"9223372036854775808ns",
		"9223372036s854775808ns",
		"9223372037",
		"18446744073709551615s",
		"18446744073709551616ns",
		"99999999999999999999999h",
		"9223372036854775807ns9223372036854775807ns",
		"1\xc2",
		"1\xff",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		uint64_t ns = 42;

		if (duration_parse(texts[i], &ns) != -EINVAL || ns != 42)
			fail_msg("\"%s\" is read as %llu", texts[i], (unsigned long long)ns);
	}
}

static void test_shown(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} want[] = {
		{0, "0ns"},
		{1, "1ns"},
		{999, "999ns"},
		{US, "1.00µs"},
		{1234, "1.23µs"},
		{1235, "1.24µs"},
		{9994, "9.99µs"},
		{9995, "10.0µs"},
		{812 * US, "812µs"},
		{999499, "999µs"},
		{999500, "1.00ms"},
		{12345 * US, "12.3ms"},
		{999 * MS, "999ms"},
		{999500 * US, "1.00s"},
		{1234567890, "1.23s"},
		{30 * S, "30.0s"},
		{59949 * MS, "59.9s"},
		{59950 * MS, "1m00s"},
		{60 * S, "1m00s"},
		{90 * S, "1m30s"},
		{3599 * S + 499 * MS, "59m59s"},
		{3599 * S + 500 * MS, "1h00m"},
		{3600 * S, "1h00m"},
		{7500 * S, "2h05m"},
		{99 * 3600 * S, "99h00m"},
		{100 * 3600 * S, "4d04h"},
		{UINT64_MAX, "213504d00h"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		char text[DURATION_SIZE];

		assert_ptr_equal(duration_format(want[i].ns, text), text);
		assert_string_equal(text, want[i].text);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("numbers with units add up, a bare number is seconds", test_readable),
		CLAIM("anything else, and anything out of range, is refused", test_refused),
		CLAIM("three digits below a minute, then two units", test_shown),
	};

	return cmocka_run_group_tests_name("base/duration", tests, NULL, NULL);
}
