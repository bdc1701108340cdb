// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/text/log_line: lines of the log. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/text/log_line.h"

#define AT "1970-01-01T00:00:01.000000000Z"

static void add(struct buf *out, int level, const char *text, size_t len, bool json, bool prefixed)
{
	struct logline line = {
		.level = level, .wall_ns = 1000000000, .text = text, .text_len = len};

	logline_add(out, &line, json, prefixed);
}

static const struct level {
	int level;
	const char *logfmt, *prefix;
} levels[] = {
	{-1, "error", "<0>"}, {0, "error", "<0>"}, {3, "error", "<3>"}, {4, "warning", "<4>"},
	{5, "info", "<5>"},   {6, "info", "<6>"},  {7, "debug", "<7>"}, {99, "debug", "<7>"},
};

static void test_levels(void **state)
{
	for (size_t i = 0; i < LEN(levels); i++) {
		_cleanup_(buf_free) struct buf line = {}, wanted = {};

		buf_printf(&wanted, "time=" AT " level=%s msg=\"hello\"\n", levels[i].logfmt);
		add(&line, levels[i].level, "hello", 5, false, false);
		assert_string_equal(buf_str(&line), buf_str(&wanted));
		buf_reset(&line);
		add(&line, levels[i].level, "hello", 5, false, true);
		assert_int_equal(strncmp(buf_str(&line), levels[i].prefix, 3), 0);
		assert_string_equal(buf_str(&line) + 3, buf_str(&wanted));
		buf_reset(&line);
		add(&line, levels[i].level, "hello", 5, true, true);
		assert_int_equal(strncmp(buf_str(&line), levels[i].prefix, 3), 0);
		buf_reset(&wanted);
		buf_printf(&wanted, "{\"time\":\"" AT "\",\"level\":\"%s\",\"msg\":\"hello\"}\n",
			   levels[i].logfmt);
		assert_string_equal(buf_str(&line) + 3, buf_str(&wanted));
	}
}

static const struct text {
	const char *text;
	size_t len;
	const char *logfmt, *json;
} texts[] = {
	{"", 0, "", ""},
	{"a=b c", 5, "a=b c", "a=b c"},
	{"\"\\", 2, "\\\"\\\\", "\\\"\\\\"},
	{"a\nb\tc\r", 6, "a\\nb\\tc\\r", "a\\nb\\tc\\r"},
	{"\x1b[31m", 5, "\\x1b[31m", "\\u001b[31m"},
	{"\0x", 2, "\\x00x", "\\u0000x"},
	{"\x7f", 1, "\\x7f", "\\u007f"},
	{"\xff\xc3", 2, "\\xff\\xc3", "\\ufffd\\ufffd"},
	{"é日😀", 9, "é日😀", "é日😀"},
	{"\u202e", 3, "\\u202e", "\\u202e"},
	{"\xc2\x85\u200b", 5, "\\u0085\\u200b", "\\u0085\\u200b"},
	{"\U000e0041", 4, "\\udb40\\udc41", "\\udb40\\udc41"},
	{"\xed\xa0\x80", 3, "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd"},
};

static void test_texts(void **state)
{
	for (size_t i = 0; i < LEN(texts); i++) {
		_cleanup_(buf_free) struct buf line = {}, wanted = {};

		print_message("# text %zu\n", i);
		buf_printf(&wanted, "time=" AT " level=info msg=\"%s\"\n", texts[i].logfmt);
		add(&line, 6, texts[i].text, texts[i].len, false, false);
		assert_string_equal(buf_str(&line), buf_str(&wanted));
		buf_reset(&line);
		buf_reset(&wanted);
		buf_printf(&wanted, "{\"time\":\"" AT "\",\"level\":\"info\",\"msg\":\"%s\"}\n",
			   texts[i].json);
		add(&line, 6, texts[i].text, texts[i].len, true, false);
		assert_string_equal(buf_str(&line), buf_str(&wanted));
	}
}

static const struct logline_field fields[] = {
	{"word", "/var/log:1"}, {"empty", ""}, {"spaced", "a b"}, {"equals", "a=b"},
	{"quoted", "\""},	{"wide", "é"}, {"control", "\n"},
};

static void test_fields(void **state)
{
	struct logline line = {.level = 6,
			       .wall_ns = 1000000000,
			       .text = "m",
			       .text_len = 1,
			       .fields = fields,
			       .n_fields = LEN(fields)};
	_cleanup_(buf_free) struct buf out = {};

	logline_add(&out, &line, false, false);
	assert_string_equal(buf_str(&out),
			    "time=" AT " level=info msg=\"m\" word=/var/log:1 empty=\"\" "
			    "spaced=\"a b\" equals=\"a=b\" quoted=\"\\\"\" wide=\"é\" "
			    "control=\"\\n\"\n");
	buf_reset(&out);
	logline_add(&out, &line, true, false);
	assert_string_equal(buf_str(&out),
			    "{\"time\":\"" AT "\",\"level\":\"info\",\"msg\":\"m\","
			    "\"word\":\"/var/log:1\",\"empty\":\"\",\"spaced\":\"a b\","
			    "\"equals\":\"a=b\",\"quoted\":\"\\\"\",\"wide\":\"é\","
			    "\"control\":\"\\n\"}\n");
}

/* One line of at most LOGLINE_MAX bytes whatever is in it, and JSON that a reader takes. */
static void check_long(const char *unit, bool json)
{
	json_auto_t *object = NULL;
	_cleanup_(buf_free) struct buf text = {}, out = {};
	struct logline_field many[64];
	struct logline line = {.level = 3, .fields = many, .n_fields = LEN(many)};

	while (text.len < 20000)
		buf_adds(&text, unit);
	for (size_t i = 0; i < LEN(many); i++)
		many[i] = (struct logline_field){"a_key_of_some_length", buf_str(&text)};
	line.text = buf_str(&text);
	line.text_len = text.len;
	logline_add(&out, &line, json, true);
	assert_in_range(out.len, 2000, LOGLINE_MAX);
	assert_int_equal(strcspn(buf_str(&out), "\n"), out.len - 1);
	assert_non_null(strstr(buf_str(&out), "…\""));
	if (!json)
		return;
	object = json_loads(buf_str(&out) + 3, 0, NULL);
	assert_non_null(object);
}

static void test_long(void **state)
{
	static const char *const units[] = {"x", "\n", "\x1b", "\xff", "é", "\u202e", "😀"};

	for (size_t i = 0; i < LEN(units); i++) {
		print_message("# unit %zu\n", i);
		check_long(units[i], false);
		/* JSON has no name for a key that is there twice, but jansson takes it. */
		check_long(units[i], true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each level has its name and its prefix", test_levels),
		CLAIM("what is no plain text is escaped", test_texts),
		CLAIM("fields are words, or quoted", test_fields),
		CLAIM("a line is one line and fits a pipe's buffer", test_long),
	};

	return cmocka_run_group_tests_name("logline", tests, NULL, NULL);
}
