// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/recording: only a recording's own lines are taken for observations. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/recording/recording.h"

static struct obs *new_obs(void)
{
	struct obs *obs = calloc(1, sizeof(*obs));

	assert_non_null(obs);
	return obs;
}

static void assert_line(const char *line, int result)
{
	_cleanup_(cleanup_free) struct obs *obs = new_obs();
	size_t len = strlen(line);
	_cleanup_(cleanup_free) char *exact = malloc(len + 1);
	int r;

	/* A block of exactly the line's size: reading on is an error a sanitizer sees. */
	assert_non_null(exact);
	memcpy(exact, line, len);
	exact = realloc(exact, len ? len : 1);
	r = rec_read_line(exact, len, obs);
	if (r != result)
		fail_msg("%s: %d", line, r);
}

static void test_accepted(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"timer\",\"at_ns\":0}",
		"{\"type\":\"timer\",\"at_ns\":5}\r\n",
		" \t{ \"type\": \"timer\" ,\t\"at_ns\": 5 } \n",
		"{\"type\":\"probe\",\"at_ns\":5,\"alive\":false,\"pid\":0,\"id\":7}",
		"{\"type\": \"counts\", \"at_ns\": 5, \"populated\": true}",
		"{\"type\":\"init\",\"at_ns\":5,\"comm\":\"\\u0041\\n\\/\\ud83d\\udca9\\udcff\"}",
		"{\"type\":\"init\",\"at_ns\":5,\"comm\":\"caf\xc3\xa9\",\"exe\":\"\"}",
		"{\"type\":\"init\",\"at_ns\":5,\"comm\":\"\x7f\"}",
		"{\"type\":\"clock\",\"at_ns\":5,\"wall_offset_ns\":-9223372036854775808}",
	};

	for (size_t i = 0; i < LEN(lines); i++)
		assert_line(lines[i], 0);
}

#define TIMER  "{\"type\":\"timer\",\"at_ns\":5"
#define PROBE  "{\"type\":\"probe\",\"at_ns\":5"
#define SIGNAL "{\"type\":\"signal\",\"at_ns\":5"
#define INIT   "{\"type\":\"init\",\"at_ns\":5"

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"null",
		"[]",
		"{}",
		"{\"at_ns\":5}",
		"{\"type\":\"timer\"}",
		"{\"at_ns\":5,\"type\":\"timer\"}",
		"{\"type\":\"none\",\"at_ns\":5}",
		"{\"type\":\"Timer\",\"at_ns\":5}",
		"{\"type\":\"time\",\"at_ns\":5}",
		"{\"type\":\"timers\",\"at_ns\":5}",
		"{\"type\":7,\"at_ns\":5}",
		"{\"type\":\"graced-recording\",\"version\":1,\"abi\":1,\"graced\":\"0\"}",
		"{\"type\":\"timer\",\"at_ns\":-5}",
		"{\"type\":\"timer\",\"at_ns\":05}",
		"{\"type\":\"timer\",\"at_ns\":5.0}",
		"{\"type\":\"timer\",\"at_ns\":5e1}",
		"{\"type\":\"timer\",\"at_ns\":+5}",
		"{\"type\":\"timer\",\"at_ns\":\"5\"}",
		"{\"type\":\"timer\",\"at_ns\":null}",
		"{\"type\":\"timer\",\"at_ns\":18446744073709551616}",
		"{\"type\":\"timer\",\"at_ns\":20000000000000000000}",
		"{\"type\":\"timer\",\"at_ns\":100000000000000000000}",
		TIMER ",\"id\":1}",
		TIMER ",}",
		TIMER "}}",
		TIMER "} x",
		TIMER "}\n" TIMER "}",
		TIMER,
		TIMER " ",
		PROBE "\"id\":1}",
		PROBE ",,\"id\":1}",
		PROBE ",\"id\":1,}",
		PROBE ",\"id\":1,\"id\":1}",
		PROBE ",\"at_ns\":5}",
		PROBE ",\"type\":\"probe\"}",
		PROBE ",\"ID\":1}",
		PROBE ",\"i\\u0064\":1}",
		PROBE ",id:1}",
		PROBE ",\"id\"=1}",
		PROBE ",\"id\":}",
		PROBE ",\"id\":{}}",
		PROBE ",\"id\":[1]}",
		PROBE ",\"id\":true}",
		PROBE ",\"pid\":4294967296}",
		PROBE ",\"pid\":-1}",
		PROBE ",\"alive\":1}",
		PROBE ",\"alive\":null}",
		PROBE ",\"alive\":True}",
		PROBE ",\"alive\":truely}",
		SIGNAL ",\"result\":2147483648}",
		SIGNAL ",\"result\":-2147483649}",
		SIGNAL ",\"result\":-0}",
		SIGNAL ",\"result\":--1}",
		SIGNAL ",\"result\":-}",
		INIT ",\"comm\":5}",
		INIT ",\"comm\":null}",
		INIT ",\"comm\":\"sixteen bytes...\"}",
		INIT ",\"comm\":\"fourteen bytes\xc3\xa9\"}",
		INIT ",\"comm\":\"fourteen bytes\\u00e9\"}",
		INIT ",\"comm\":\"a\nb\"}",
		INIT ",\"comm\":\"a\x1f\"}",
		INIT ",\"comm\":\"\\u0000\"}",
		INIT ",\"comm\":\"\\ud83d\"}",
		INIT ",\"comm\":\"\\ud83dx\"}",
		INIT ",\"comm\":\"\\ud83d\\u0041\"}",
		INIT ",\"comm\":\"\\ud83d\\ud83d\"}",
		INIT ",\"comm\":\"\\udc7f\"}",
		INIT ",\"comm\":\"\\udd00\"}",
		INIT ",\"comm\":\"\\u12\"}",
		INIT ",\"comm\":\"\\u12g4\"}",
		INIT ",\"comm\":\"\\x41\"}",
		INIT ",\"comm\":\"\\",
		INIT ",\"comm\":\"\xff\"}",
		INIT ",\"comm\":\"\xc3\"}",
		INIT ",\"comm\":\"\xed\xb3\xbf\"}",
		INIT ",\"comm\":'a'}",
	};

	for (size_t i = 0; i < LEN(lines); i++)
		assert_line(lines[i], -EBADMSG);
}

static void test_long_strings(void **state)
{
	static const size_t sizes[] = {CGPATH_MAX - 1, CGPATH_MAX, CGPATH_MAX + 1, 60000};

	for (size_t i = 0; i < LEN(sizes); i++) {
		_cleanup_(cleanup_free) struct obs *obs = new_obs();
		_cleanup_(buf_free) struct buf line = {};

		buf_adds(&line, "{\"type\":\"cgroup_found\",\"at_ns\":1,\"path\":\"");
		for (size_t n = 0; n < sizes[i]; n++)
			buf_addc(&line, 'p');
		buf_adds(&line, "\"}");
		assert_int_equal(rec_read_line(line.data, line.len, obs),
				 sizes[i] < CGPATH_MAX ? 0 : -EBADMSG);
	}
}

/* A number is read in words of eight bytes: any byte at any place in them ends it, or does not. */
static void test_every_byte_in_a_number(void **state)
{
	static const char numeral[] = "12345678901234567", rest[] = ",\"pid\":12345678}";

	for (size_t at = 0; at < sizeof(numeral) - 1; at++) {
		for (int byte = 1; byte < 256; byte++) {
			bool digit = byte >= (at ? '0' : '1') && byte <= '9';
			bool space = strchr(" \t\r\n", byte);
			char line[128];

			snprintf(line, sizeof(line), PROBE ",\"id\":%s%s", numeral, rest);
			line[strlen(PROBE ",\"id\":") + at] = (char)byte;
			if (digit || (space && (at == 0 || at == sizeof(numeral) - 2)))
				assert_line(line, 0);
			else
				assert_line(line, -EBADMSG);
		}
	}
}

static void test_every_length_of_number(void **state)
{
	uint64_t power = 1;

	for (int digits = 1; digits <= 20; digits++, power *= 10) {
		_cleanup_(cleanup_free) struct obs *obs = new_obs();
		char line[128];

		for (int less = 0; less < 2; less++) {
			int n = snprintf(line, sizeof(line),
					 "{\"type\":\"timer\",\"at_ns\":%" PRIu64 "}",
					 power - (uint64_t)less);

			assert_int_equal(rec_read_line(line, (size_t)n, obs), 0);
			assert_true(obs->at_ns == power - (uint64_t)less);
		}
	}
}

static void test_every_cut(void **state)
{
	static const char line[] = SIGNAL
		",\"id\":18446744073709551615,\"result\":-1,\"target_comm\":\"a\\u00e9\xc3\xa9\","
		"\"sender_exe\":\"\\udcff\\ud83d\\udca9\"}";

	for (size_t len = 0; len < sizeof(line) - 1; len++) {
		_cleanup_(cleanup_free) struct obs *obs = new_obs();
		_cleanup_(cleanup_free) char *cut = malloc(len ? len : 1);

		memcpy(cut, line, len);
		assert_int_equal(rec_read_line(cut, len, obs), -EBADMSG);
	}
	assert_line(line, 0);
}

static void test_header(void **state)
{
	static const struct {
		const char *line;
		int result;
	} want[] = {
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":1,\"graced\":\"0.1.0\"}\n",
		 0},
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":1}", 0},
		{"{ \"abi\": 1, \"version\": 1, \"type\": \"graced-recording\", \"host\": [] }\r\n",
		 0},
		{"{\"type\":\"graced-recording\",\"version\":2,\"abi\":1}", -EPROTONOSUPPORT},
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":2}", -EPROTONOSUPPORT},
		{"{\"type\":\"graced-recording\",\"version\":9,\"abi\":9,\"new\":{\"a\":[1]}}",
		 -EPROTONOSUPPORT},
		{"{\"type\":\"graced-recording\",\"version\":0,\"abi\":1}", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":-1}", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":\"1\",\"abi\":1}", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":1}", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"abi\":1}", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":1,\"gra", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":1,\"abi\":1} x", -EBADMSG},
		{"{\"type\":\"graced-recording\",\"version\":1,\"version\":1,\"abi\":1}", -EBADMSG},
		{"{\"type\":\"graced-recording\"", -EBADMSG},
		{"{\"type\":\"graced-record", -ENOMSG},
		{"{\"type\":\"timer\",\"at_ns\":1}", -ENOMSG},
		{"{\"type\":1}", -ENOMSG},
		{"{}", -ENOMSG},
		{"[\"graced-recording\"]", -ENOMSG},
		{"null", -ENOMSG},
		{"", -ENOMSG},
		{"\x7f"
		 "ELF\x02\x01\x01",
		 -ENOMSG},
		{"graced-recording", -ENOMSG},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		int r = rec_read_header(want[i].line, strlen(want[i].line));

		if (r != want[i].result)
			fail_msg("%s: %d", want[i].line, r);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("space between tokens, any order and every escape is accepted",
		      test_accepted),
		CLAIM("anything but one flat known object in range is refused", test_refused),
		CLAIM("a number of any length is read exactly", test_every_length_of_number),
		CLAIM("nothing but digits is taken for a part of a number",
		      test_every_byte_in_a_number),
		CLAIM("a string that is a byte too long is refused", test_long_strings),
		CLAIM("a line that ends anywhere but at its end is refused", test_every_cut),
		CLAIM("foreign, damaged and newer files are distinguished by their first line",
		      test_header),
	};

	return cmocka_run_group_tests_name("wire/recording, strictly", tests, NULL, NULL);
}
