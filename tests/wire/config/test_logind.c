// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/config/logind: spans, files and their order are what systemd makes of them. */
#include "wire/config/logind.h"

#include <errno.h>
#include <string.h>

#include "lib/claim.h"

#define S 1000000ull

static void test_spans(void **state)
{
	static const struct {
		const char *text;
		uint64_t us;
	} want[] = {
		{"0", 0},
		{"30", 30 * S},
		{"30s", 30 * S},
		{" 30 s ", 30 * S},
		{"5min 20s", 320 * S},
		{"5min20s", 320 * S},
		{"1h", 3600 * S},
		{"1hr 1hour 2hours", 4 * 3600 * S},
		{"1.5h", 5400 * S},
		{".5", S / 2},
		{"1.5 .5", 2 * S},
		{"5 10", 15 * S},
		{"+5", 5 * S},
		{"500ms", S / 2},
		{"500msec", S / 2},
		{"7us", 7},
		{"7µs", 7},
		{"7\u03bcs", 7},
		{"7usec", 7},
		{"0.0000019", 1},
		{"1m", 60 * S},
		{"1M", 2629800 * S},
		{"1month", 2629800 * S},
		{"1d 1day", 2 * 86400 * S},
		{"1w", 604800 * S},
		{"1y", 31557600 * S},
		{"infinity", DELAYLIMIT_INFINITY},
		{" infinity\t", DELAYLIMIT_INFINITY},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint64_t us = 42;

		if (logindconf_span(want[i].text, &us) != 0 || us != want[i].us)
			fail_msg("%s: %llu", want[i].text, (unsigned long long)us);
	}
}

static void test_no_spans(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"s",
		"x",
		"5x",
		"-1",
		"1 -1",
		"1.",
		"1. s",
		"12.34.56",
		"+",
		"+ 5",
		"5 + 5",
		"++5",
		"infinity5",
		"infinitys",
		"5ss",
		"5 infinity",
		"0x10",
		"1e3",
		"1,5",
		"18446744073",
		"9y 9x",
		"584556years",
		"9223372036854775808",
		"9223372036854775807",
		"584000y 584000y",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		uint64_t us = 42;
		int r = logindconf_span(texts[i], &us);

		/* Large, but seconds still fit. */
		if (strcmp(texts[i], "18446744073") == 0)
			assert_int_equal(r, 0);
		else if ((r != -EINVAL && r != -ERANGE) || us != 42)
			fail_msg("%s: %d", texts[i], r);
	}
}

static void test_files(void **state)
{
	static const struct {
		const char *text;
		bool said;
		uint64_t us;
		bool broken;
	} want[] = {
		{"", false, 0, false},
		{"[Login]\nInhibitDelayMaxSec=30\n", true, 30 * S, false},
		{"[Login]\r\nInhibitDelayMaxSec=30\r\n", true, 30 * S, false},
		{"\xef\xbb\xbf[Login]\nInhibitDelayMaxSec=30", true, 30 * S, false},
		{"  [Login]  \n\t InhibitDelayMaxSec \t=  1min 30s \t\n", true, 90 * S, false},
		{"[Login]\nInhibitDelayMaxSec=30\nInhibitDelayMaxSec=20\n", true, 20 * S, false},
		{"[Login]\nInhibitDelayMaxSec=30\nInhibitDelayMaxSec=x\n", true, 30 * S, false},
		{"[Login]\nInhibitDelayMaxSec=30\nInhibitDelayMaxSec=\n", true, 30 * S, false},
		{"[Login]\nInhibitDelayMaxSec=\n", false, 0, false},
		{"[Login]\n#InhibitDelayMaxSec=30\n;InhibitDelayMaxSec=30\n", false, 0, false},
		{"InhibitDelayMaxSec=30\n", false, 0, false},
		{"[login]\nInhibitDelayMaxSec=30\n", false, 0, false},
		{"[Sleep]\nInhibitDelayMaxSec=30\n[Login]\nKillUserProcesses=no\n", false, 0,
		 false},
		{"[Login]\n[Sleep]\n[Login]\nInhibitDelayMaxSec=30\n", true, 30 * S, false},
		{"[Login]\ninhibitdelaymaxsec=30\n", false, 0, false},
		{"[Login]\nInhibitDelayMaxSec 30\nInhibitDelayMaxSec=4\n", true, 4 * S, false},
		{"[Login]\nInhibitDelayMaxSec=\\\n30\n", true, 30 * S, false},
		{"[Login]\nInhibitDelayMaxSec=1min\\\n# said twice\n30s\n", true, 90 * S, false},
		{"[Login]\nInhibitDelayMaxSec=30\\", true, 30 * S, false},
		{"[Login]\nWhy=\\\\\nInhibitDelayMaxSec=30\n", true, 30 * S, false},
		{"[Login]\nWhy=\\\nInhibitDelayMaxSec=30\n", false, 0, false},
		{"[Login\nInhibitDelayMaxSec=30\n", false, 0, true},
		{"[Login]\nInhibitDelayMaxSec=30\n[Oops\nInhibitDelayMaxSec=9\n", true, 30 * S,
		 true},
		{"[", false, 0, true},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct logindconf_value got;

		assert_int_equal(logindconf_read(want[i].text, strlen(want[i].text), &got), 0);
		if (got.said != want[i].said || (got.said && got.us != want[i].us) ||
		    got.broken != want[i].broken)
			fail_msg("%s: %d %llu %d", want[i].text, got.said,
				 (unsigned long long)got.us, got.broken);
	}
}

static void test_nul(void **state)
{
	static const char text[] = "[Login]\0InhibitDelayMaxSec=30\0InhibitDelayMaxSec=31";
	struct logindconf_value got;

	assert_int_equal(logindconf_read(text, sizeof(text), &got), 0);
	assert_true(got.said);
	assert_int_equal(got.us, 31 * S);
}

static void test_large(void **state)
{
	static char text[LOGINDCONF_SIZE_MAX + 1];
	struct logindconf_value got;

	memset(text, 'x', sizeof(text));
	memcpy(text, "[Login]\nInhibitDelayMaxSec=3\n", 29);
	assert_int_equal(logindconf_read(text, sizeof(text) - 1, &got), 0);
	assert_true(got.said && !got.broken);
	assert_int_equal(logindconf_read(text, sizeof(text), &got), 0);
	assert_true(!got.said && got.broken);
}

static void test_names(void **state)
{
	assert_true(logindconf_is_dropin("a.conf"));
	assert_true(logindconf_is_dropin("zz-graced.conf"));
	assert_false(logindconf_is_dropin(".conf"));
	assert_false(logindconf_is_dropin(".a.conf"));
	assert_false(logindconf_is_dropin("a.conf~"));
	assert_false(logindconf_is_dropin("a.conf.dpkg-old"));
	assert_false(logindconf_is_dropin(""));
}

static void test_merge(void **state)
{
	struct logindconf_file files[] = {
		{"b.conf", 3, {true, false, 1}}, {"99-kubelet.conf", 0, {true, false, 2}},
		{"b.conf", 0, {true, false, 3}}, {"zz.conf", 1, {true, false, 4}},
		{"", 3, {true, false, 5}},	 {"B.conf", 2, {true, false, 6}},
		{"b.conf", 1, {true, false, 7}}, {"", 0, {true, false, 8}},
	};
	static const uint64_t want[] = {8, 2, 6, 3, 4};

	assert_int_equal(logindconf_merge(files, LEN(files)), LEN(want));
	for (size_t i = 0; i < LEN(want); i++)
		assert_int_equal(files[i].value.us, want[i]);
	assert_int_equal(logindconf_merge(NULL, 0), 0);
}

static void test_masked(void **state)
{
	struct logindconf_file files[] = {
		{"a.conf", 3, {true, false, 9}},
		{"a.conf", 0, {false, false, 0}},
	};

	assert_int_equal(logindconf_merge(files, LEN(files)), 1);
	assert_false(files[0].value.said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("spans of time are systemd's", test_spans),
		CLAIM("what is no span is none", test_no_spans),
		CLAIM("a file's last good value in its section counts", test_files),
		CLAIM("a NUL ends a line", test_nul),
		CLAIM("a huge file is a broken one", test_large),
		CLAIM("only what ends in .conf and is not hidden is read", test_names),
		CLAIM("drop-ins go by name, /etc before /run before /usr", test_merge),
		CLAIM("an empty file masks the one below it", test_masked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
