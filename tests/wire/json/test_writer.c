// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/writer: what it writes is JSON, in the order of the calls. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/writer.h"

static void test_structure(void **state)
{
	_cleanup_(buf_free) struct buf out = {};

	for (int line = 0; line < 2; line++) {
		jsonw_object(&out, NULL);
		jsonw_u64(&out, "max", UINT64_MAX);
		jsonw_i64(&out, "min", INT64_MIN);
		jsonw_bool(&out, "yes", true);
		jsonw_bool(&out, "no", false);
		jsonw_null(&out, "nothing");
		jsonw_str(&out, "unknown", NULL);
		jsonw_str(&out, "empty", "");
		jsonw_object(&out, "o");
		jsonw_object_end(&out);
		jsonw_array(&out, "a");
		jsonw_array_end(&out);
		jsonw_array(&out, "b");
		jsonw_u64(&out, NULL, 0);
		jsonw_str(&out, NULL, "{");
		jsonw_str(&out, NULL, "[");
		jsonw_object(&out, NULL);
		jsonw_str(&out, "k", ":");
		jsonw_object_end(&out);
		jsonw_array(&out, NULL);
		jsonw_null(&out, NULL);
		jsonw_array_end(&out);
		jsonw_array_end(&out);
		jsonw_object_end(&out);
		buf_addc(&out, '\n');
	}
#define LINE                                                                                    \
	"{\"max\":18446744073709551615,\"min\":-9223372036854775808,\"yes\":true,\"no\":false," \
	"\"nothing\":null,\"unknown\":null,\"empty\":\"\",\"o\":{},\"a\":[],"                   \
	"\"b\":[0,\"{\",\"[\",{\"k\":\":\"},[null]]}\n"
	assert_string_equal(buf_str(&out), LINE LINE);
}

static void test_strings(void **state)
{
	static const struct {
		const char *bytes;
		const char *replaced;
		const char *kept;
	} want[] = {
		{"plain ~", "plain ~", NULL},
		{"q\" b\\ s/", "q\\\" b\\\\ s/", NULL},
		{"\b\f\n\r\t", "\\b\\f\\n\\r\\t", NULL},
		{"\x01\x1b[2J\x1f\x7f", "\\u0001\\u001b[2J\\u001f\\u007f", NULL},
		{"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x92\xa9",
		 "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x92\xa9", NULL},
		{"\xc2\x9b"
		 "31m",
		 "\\u009b31m", NULL},
		{"\xe2\x80\xae", "\\u202e", NULL},
		{"\xf3\xa0\x80\x81", "\\udb40\\udc01", NULL},
		{"a\xff"
		 "b",
		 "a\\ufffdb", "a\\udcffb"},
		{"\xe2\x80", "\\ufffd\\ufffd", "\\udce2\\udc80"},
		{"\xed\xb2\x80", "\\ufffd\\ufffd\\ufffd", "\\udced\\udcb2\\udc80"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		_cleanup_(buf_free) struct buf quoted = {};

		buf_printf(&quoted, "\"%s\"", want[i].replaced);
		jsonw_quote(&out, want[i].bytes, strlen(want[i].bytes), JSONW_REPLACE);
		assert_string_equal(buf_str(&out), buf_str(&quoted));

		buf_reset(&out);
		buf_reset(&quoted);
		buf_printf(&quoted, "\"%s\"", want[i].kept ? want[i].kept : want[i].replaced);
		jsonw_quote(&out, want[i].bytes, strlen(want[i].bytes), JSONW_SURROGATE);
		assert_string_equal(buf_str(&out), buf_str(&quoted));
	}
}

/* A foreign parser is the judge, for every pair of bytes in a row of others. */
static void test_a_parser_agrees(void **state)
{
	for (unsigned int pair = 0; pair < 0x10000; pair++) {
		json_auto_t *parsed = NULL;
		_cleanup_(buf_free) struct buf out = {};
		char bytes[4] = {'a', (char)(pair >> 8), (char)pair, 'z'};

		jsonw_array(&out, NULL);
		jsonw_strn(&out, NULL, bytes, sizeof(bytes));
		jsonw_array_end(&out);
		parsed = json_loadb(out.data, out.len, JSON_ALLOW_NUL, NULL);
		if (!parsed)
			fail_msg("%04x: %s", pair, buf_str(&out));
	}
}

static void test_decimals(void **state)
{
	static const struct {
		uint64_t units;
		unsigned int decimals;
		const char *text;
	} want[] = {
		{0, 0, "0"},
		{0, 9, "0"},
		{30, 0, "30"},
		{30000000000, 9, "30"},
		{41000, 6, "0.041"},
		{333, 6, "0.000333"},
		{1, 19, "0.0000000000000000001"},
		{1500000001, 9, "1.500000001"},
		{2050, 3, "2.05"},
		{UINT64_MAX, 0, "18446744073709551615"},
		{UINT64_MAX, 9, "18446744073.709551615"},
		{UINT64_MAX, 19, "1.8446744073709551615"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};

		jsonw_decimal(&out, NULL, want[i].units, want[i].decimals);
		assert_string_equal(buf_str(&out), want[i].text);
	}
}

static void test_error(void **state)
{
	_cleanup_(buf_free) struct buf out = {.limit = 12};

	jsonw_object(&out, NULL);
	jsonw_str(&out, "name", "does not fit");
	jsonw_object_end(&out);
	assert_int_equal(buf_error(&out), -ENOBUFS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("objects, arrays and values nest with their commas, line after line",
		      test_structure),
		CLAIM("strings are escaped, broken UTF-8 is replaced or kept as surrogates",
		      test_strings),
		CLAIM("a foreign parser reads any bytes that were written", test_a_parser_agrees),
		CLAIM("a decimal number is exact and short", test_decimals),
		CLAIM("a full buffer is an error that stays", test_error),
	};

	return cmocka_run_group_tests_name("wire/json/writer", tests, NULL, NULL);
}
