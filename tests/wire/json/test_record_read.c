// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/record, as a reader: what was written is read back, and nothing is read as
 * more than it says. */
#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/stop/filter.h"
#include "lib/claim.h"
#include "wire/json/record.h"
#include "wire/json/why.h"
#include "wire/text/why.h"

#define RECORDS "tests/replay/*.out"

#define STOP                                                                                   \
	"{\"type\":\"stop\",\"schema\":1,\"id\":\"b/c/1\",\"time\":\"2026-11-21T12:00:00Z\","  \
	"\"boot_ns\":5,\"node\":\"n\",\"pod\":null,\"container\":null,\"outcome\":\"killed\"," \
	"\"cause\":\"host\",\"exit\":{\"code\":null,\"signal\":9,\"core_dumped\":false,"       \
	"\"at_boot_ns\":5},\"evidence\":{\"complete\":true,\"gaps\":[]}}"

/* A record and what its strings are in. */
struct read {
	struct record record;
	struct arena arena;
};

static int read_line(const char *line, size_t len, uint32_t types, struct read *ret)
{
	*ret = (struct read){};
	return record_read(line, len, types, &ret->arena, &ret->record);
}

static int try_line(const char *line, size_t len, uint32_t types)
{
	struct read text;
	int r = read_line(line, len, types, &text);

	arena_free(&text.arena);
	return r;
}

static int try_text(const char *text)
{
	return try_line(text, strlen(text), RECORDS_STOPS);
}

/* Calls back for each line of the replays' records. */
static void each_line(void (*fn)(char *line, size_t len, size_t *count), size_t *count)
{
	_cleanup_(cleanup_free) char *line = NULL;
	size_t room = 0;
	glob_t files;

	assert_int_equal(glob(RECORDS, 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *file = fopen(files.gl_pathv[i], "r");
		ssize_t len;

		assert_non_null(file);
		while ((len = getline(&line, &room, file)) > 0)
			fn(line, (size_t)len, count);
		fclose(file);
	}
	globfree(&files);
}

static void assert_same(const char *a, const char *b)
{
	json_t *x = json_loads(a, 0, NULL), *y = json_loads(b, 0, NULL);

	assert_true(x && y && json_equal(x, y));
	json_decref(x);
	json_decref(y);
}

static void write_why(const struct record *record)
{
	_cleanup_(buf_free) struct buf out = {};
	struct story story;

	if (record->type != RECORD_STOP)
		return;
	story_of_stop(&story, record);
	assert_int_equal(why_story(&out, &story, &(struct grid_view){.width = 80}), 0);
	assert_int_equal(why_json(&out, &story), 0);
	story_done(&story);
}

static void read_and_write(char *line, size_t len, size_t *count)
{
	_cleanup_(buf_free) struct buf out = {};
	struct read text;
	int r = read_line(line, len, RECORDS_ALL, &text);

	if (r < 0)
		fail_msg("%d: %s", r, line);
	record_json(&out, &text.record);
	write_why(&text.record);
	arena_free(&text.arena);
	/* A byte that was no UTF-8 is a character by now. */
	if (!strstr(line, "\\ufffd"))
		assert_string_equal(buf_str(&out), line);
	assert_same(buf_str(&out), line);
	++*count;
}

static void test_round_trip(void **state)
{
	size_t count = 0;

	each_line(read_and_write, &count);
	assert_true(count > 150);
}

static void test_lost(void **state)
{
	struct record record = {.type = RECORD_LOST, .at_ns = 5, .node = "n"};
	struct record_lost *lost = &record.lost;
	_cleanup_(buf_free) struct buf line = {};
	struct read text;

	for (unsigned int i = GRACED_EV_NONE + 1; i < GRACED_EV_COUNT; i++)
		lost->totals[i] = (struct graced_stat){
			.emitted = 100 + i, .lost = 200 + i, .suppressed = 300 + i};
	lost->totals[GRACED_STAT_WATCH_FULL].lost = 1;
	lost->totals[GRACED_STAT_QUOTA].lost = 2;
	lost->totals[GRACED_STAT_TOO_DEEP].lost = 3;
	lost->recursion_misses = 4;
	record_json(&line, &record);
	assert_int_equal(read_line(line.data, line.len, RECORDS_ALL, &text), 0);
	assert_int_equal(text.record.type, RECORD_LOST);
	assert_memory_equal(&text.record.lost, lost, sizeof(*lost));
	arena_free(&text.arena);
	assert_int_equal(try_line(line.data, line.len, RECORDS_STOPS), -ENOMSG);
}

static void test_dropped(void **state)
{
	const struct record record = {
		.type = RECORD_DROPPED, .at_ns = 9, .node = "n", .dropped = {12, 5, 6}};
	_cleanup_(buf_free) struct buf line = {};
	struct read text;

	record_json(&line, &record);
	for (int any = 0; any < 2; any++) {
		assert_int_equal(read_line(line.data, line.len, any ? RECORDS_ALL : RECORDS_STOPS,
					   &text),
				 0);
		assert_int_equal(text.record.type, RECORD_DROPPED);
		assert_int_equal(text.record.at_ns, 9);
		assert_memory_equal(&text.record.dropped, &record.dropped, sizeof(record.dropped));
		arena_free(&text.arena);
	}
}

/* Each byte in turn is another: whatever is read then can be written, and has a story. */
static void spoil(char *line, size_t len, size_t *count)
{
	static const char others[] = {'"', '0', '9', '-', '{', ']', 'x', ',', '\x80'};

	if (++*count % 23)
		return;
	for (size_t i = 0; i < len; i++) {
		_cleanup_(buf_free) struct buf out = {};
		char kept = line[i];
		struct read text;

		line[i] = others[i % sizeof(others)];
		if (read_line(line, len, RECORDS_ALL, &text) == 0) {
			record_json(&out, &text.record);
			write_why(&text.record);
		}
		arena_free(&text.arena);
		assert_true(i == len - 1 || try_line(line, i, RECORDS_ALL) < 0);
		line[i] = kept;
	}
}

static void test_spoiled(void **state)
{
	size_t count = 0;

	each_line(spoil, &count);
}

/* One word of STOP replaced by another. */
static int read_changed(const char *from, const char *to)
{
	_cleanup_(buf_free) struct buf line = {};
	const char *at = strstr(STOP, from);

	assert_non_null(at);
	buf_add(&line, STOP, (size_t)(at - STOP));
	buf_adds(&line, to);
	buf_adds(&line, at + strlen(from));
	return try_line(buf_str(&line), line.len, RECORDS_STOPS);
}

static void test_unknown_words(void **state)
{
	static const char *const words[][2] = {
		{"\"killed\"", "\"evaporated\""},
		{"\"host\"", "\"cosmic-ray\""},
		{"true,\"gaps\":[]", "false,\"gaps\":[\"future\"]"},
		{"true,\"gaps\":[]", "false,\"gaps\":[\"shed\",\"future\"]"},
		{"\"schema\":1", "\"schema\":2"},
		/* What looks damaged beside it may be the way of a newer graced. */
		{"\"outcome\":", "\"latency_ns\":-1,\"outcome\":\"vaporized\",\"more\":"},
	};

	assert_int_equal(read_changed("\"killed\"", "\"killed\""), 0);
	for (size_t i = 0; i < LEN(words); i++)
		assert_int_equal(read_changed(words[i][0], words[i][1]), -EPROTONOSUPPORT);
}

static void test_contradictions(void **state)
{
	static const char *const words[][2] = {
		/* Not complete, and no reason why. */
		{"true,\"gaps\":[]", "false,\"gaps\":[]"},
		{",\"evidence\":{\"complete\":true,\"gaps\":[]}", ""},
		{"\"signal\":9", "\"signal\":-9"},
		{"\"signal\":9", "\"signal\":200"},
		{"\"signal\":9", "\"signal\":\"9\""},
		{"\"outcome\":\"killed\"", "\"outcome\":9"},
		{"2026-11-21T12:00:00Z", "yesterday"},
		{"\"schema\":1", "\"schema\":null"},
		{"\"boot_ns\":5", "\"boot_ns\":5,\"boot_ns\":6"},
	};

	for (size_t i = 0; i < LEN(words); i++)
		assert_int_equal(read_changed(words[i][0], words[i][1]), -EBADMSG);
}

static void test_no_record(void **state)
{
	static const char *const lines[] = {"",	    "{",	"[]",		"{}",
					    "null", "\"stop\"", "{\"type\":7}", STOP STOP};

	for (size_t i = 0; i < LEN(lines); i++)
		assert_int_equal(try_text(lines[i]), -EBADMSG);
	assert_int_equal(try_text("{\"type\":\"attached\"}"), -ENOMSG);
	assert_int_equal(try_text("{\"type\":\"later\"}"), -ENOMSG);
}

/* The filter that the subject of a line passes, if it has one, and no other. */
static void check_subject(const struct record *record, const json_t *line)
{
	bool signal = record->type == RECORD_SIGNAL;
	const json_t *of = signal ? json_object_get(line, "target") : line;
	const json_t *pod = json_object_get(of, "pod");
	const char *name = json_string_value(json_object_get(pod, "name"));
	struct filter filter = {.signals = true};

	assert_true(filter_matches(&filter, record));
	/* Any name that is known. */
	filter_names_add(&filter.pods, "*");
	if (name)
		assert_true(filter_matches(&filter, record));
	else if (json_object_get(of, "pod") && record->type != RECORD_SHUTDOWN)
		assert_false(filter_matches(&filter, record));
}

static void read_any(char *line, size_t len, size_t *count)
{
	json_t *json = json_loadb(line, len, 0, NULL);
	struct read text;

	assert_int_equal(read_line(line, len, RECORDS_ALL, &text), 0);
	check_subject(&text.record, json);
	json_decref(json);
	arena_free(&text.arena);
	(*count)++;
}

static void test_any(void **state)
{
	size_t count = 0;

	each_line(read_any, &count);
	assert_true(count > 100);
	assert_int_equal(try_line("{\"type\":\"later\"}", 16, RECORDS_ALL), -ENOMSG);
	assert_int_equal(try_line("{\"type\":\"oom\"}", 14, RECORDS_ALL), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each record is read back byte for byte", test_round_trip),
		CLAIM("of losses all totals are read back, where any record may come", test_lost),
		CLAIM("of dropped records the number and the span are read back", test_dropped),
		CLAIM("a line with any byte changed, or cut anywhere, is read or refused",
		      test_spoiled),
		CLAIM("words of a newer version are refused, not read as others",
		      test_unknown_words),
		CLAIM("what contradicts itself is no record", test_contradictions),
		CLAIM("what is no record is refused", test_no_record),
		CLAIM("of any record the subject is read, by which it is filtered", test_any),
	};

	return cmocka_run_group_tests_name("wire/json/record", tests, NULL, NULL);
}
