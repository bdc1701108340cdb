// SPDX-License-Identifier: Apache-2.0
/* Claims about base/utf8: what is UTF-8, and that what is shown cannot do harm. */
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "lib/claim.h"

static void test_valid(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint32_t code;
	} want[] = {
		{"\0", 1, 0},
		{"a", 1, 'a'},
		{"\x7f", 1, 0x7f},
		{"\xc2\x80", 2, 0x80},
		{"\xdf\xbf", 2, 0x7ff},
		{"\xe0\xa0\x80", 3, 0x800},
		{"\xed\x9f\xbf", 3, 0xd7ff},
		{"\xee\x80\x80", 3, 0xe000},
		{"\xef\xbf\xbf", 3, 0xffff},
		{"\xf0\x90\x80\x80", 4, 0x10000},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint32_t code = 0;
		char again[4];

		assert_int_equal(utf8_decode(want[i].bytes, want[i].len, &code), want[i].len);
		assert_int_equal(code, want[i].code);
		assert_int_equal(utf8_encode(code, again), want[i].len);
		assert_memory_equal(again, want[i].bytes, want[i].len);
	}
}

static void test_invalid(void **state)
{
	static const char *const texts[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2",
		"\xc2z",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		"\xe1\x80",
		"\xe1\x80z",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf0\x90\x80",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xfe",
		"\xff",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		uint32_t code = 4242;

		if (utf8_decode(texts[i], strlen(texts[i]), &code) != 0 || code != 4242)
			fail_msg("row %zu is read as %x", i, code);
	}
}

static void test_visible(void **state)
{
	static const struct {
		const char *bytes;
		const char *shown;
		const char *readable; /* NULL: the same */
	} want[] = {
		{"", "", NULL},
		{"nginx: worker [1]", "nginx: worker [1]", NULL},
		{"a\\x1b", "a\\\\x1b", NULL},
		{"\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07", NULL},
		{"two\nlines\r\t\b", "two\\x0alines\\x0d\\x09\\x08", NULL},
		{"del\x7f", "del\\x7f", NULL},
		{"c1\xc2\x9b"
		 "31m",
		 "c1\\u009b31m", NULL},
		{"c1 raw\x9b"
		 "31m",
		 "c1 raw\\x9b31m", NULL},
		{"\xe2\x80\xae"
		 "gnp.exe",
		 "\\u202egnp.exe", NULL},
		{"zero\xe2\x80\x8bwidth", "zero\\u200bwidth", NULL},
		{"caf\xc3\xa9", "caf\\u00e9", "caf\xc3\xa9"},
		{"\xf0\x9f\x92\xa9", "\\U0001f4a9", NULL},
		{"\xd0\x96\xd0\xb0", "\\u0416\\u0430", "\xd0\x96\xd0\xb0"},
		{"strike\xcc\xb6", "strike\\u0336", NULL},
		{"\xd7\x90[7]", "\\u05d0[7]", NULL},
		{"\xee\x80\x80\xf4\x8f\xbf\xbf", "\\ue000\\U0010ffff", NULL},
		{"\xcd\xb8\xe2\xa0\x80", "\\u0378\\u2800", NULL},
		{"\xc7\x80", "\\u01c0", NULL},
		{"cut\xf0\x9f\x92", "cut\\xf0\\x9f\\x92", NULL},
		{"\xe6\x97\xa5\xe6\x9c\xac a\\", "\\u65e5\\u672c a\\\\",
		 "\xe6\x97\xa5\xe6\x9c\xac a\\\\"},
		{"\xef\xb8\x8f", "\\ufe0f", NULL},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80", NULL},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf buf = {};

		utf8_add_visible(&buf, want[i].bytes, strlen(want[i].bytes));
		assert_string_equal(buf_str(&buf), want[i].shown);
		buf_reset(&buf);
		utf8_add_readable(&buf, want[i].bytes);
		assert_string_equal(buf_str(&buf), want[i].readable ?: want[i].shown);
	}
}

static void test_every_pair_of_bytes(void **state)
{
	_cleanup_(buf_free) struct buf buf = {};

	for (unsigned int pair = 0; pair < 0x10000; pair++) {
		char bytes[2] = {(char)(pair >> 8), (char)pair};

		buf_reset(&buf);
		utf8_add_visible(&buf, bytes, 2);
		for (size_t i = 0; i < buf.len; i++) {
			if (buf.data[i] < 0x20 || buf.data[i] > 0x7e)
				fail_msg("%04x is shown with byte %02x", pair, buf.data[i]);
		}
	}
}

static void test_treacherous(void **state)
{
	static const uint32_t yes[] = {0,      0x1b,   0x7f,   0x80,   0x9b,	0x9f,
				       0xad,   0x61c,  0x200b, 0x200e, 0x2028,	0x202a,
				       0x202e, 0x2066, 0x2069, 0xfeff, 0xe0001, 0xfe0f};
	static const uint32_t no[] = {' ',    '~',    0xa0,   0xe9,   0x2010,
				      0x2030, 0x4e2d, 0xfffd, 0x1f4a9};

	for (size_t i = 0; i < LEN(yes); i++)
		assert_true(utf8_is_treacherous(yes[i]));
	for (size_t i = 0; i < LEN(no); i++)
		assert_false(utf8_is_treacherous(no[i]));
}

/* The text is looked at in words of eight bytes: any byte at any place in them counts. */
static void test_plain(void **state)
{
	char text[20];

	for (size_t size = 0; size < sizeof(text); size++) {
		memset(text, 'a', sizeof(text));
		assert_int_equal(utf8_plain(text, size), size);
		for (size_t at = 0; at < size; at++) {
			for (int byte = 0; byte < 256; byte++) {
				bool plain =
					byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';

				text[at] = (char)byte;
				assert_int_equal(utf8_plain(text, size), plain ? size : at);
			}
			text[at] = 'a';
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("plain text ends at the first byte to be escaped", test_plain),
		CLAIM("the first and last character of each length is read and written",
		      test_valid),
		CLAIM("overlong, cut, surrogate and out of range forms are not UTF-8",
		      test_invalid),
		CLAIM("controls, directions and broken bytes are shown as escapes, letters where they may be",
		      test_visible),
		CLAIM("no two bytes are shown as anything but printable ASCII",
		      test_every_pair_of_bytes),
		CLAIM("controls, bidi and zero width are treacherous, letters are not",
		      test_treacherous),
	};

	return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
