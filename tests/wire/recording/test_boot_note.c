// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/recording/boot_note: what was written is read again, and nothing else is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/recording/boot_note.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

static void a_note(struct bootnote *ret)
{
	struct bootlog *log = &ret->boot;

	*ret = (struct bootnote){.unclean = 7};
	strcpy(log->boot_id, BOOT);
	strcpy(log->node, "n\"\\\n");
	log->watched_ns = 1;
	log->saved_ns = 2;
	log->saved_wall_ns = 1700000000000000001;
	log->stopped_ns = 3;
	log->journal = BOOT_JOURNAL_GOING_DOWN;
	log->shutdown = (struct bootlog_shutdown){
		.announced_ns = 4,
		.released_ns = 5,
		.mode = SHUTDOWN_MANAGE,
		.action = SHUTDOWN_SOFT_REBOOT,
		.reason = SHUTDOWN_ALL_STOPPED,
		.outcomes = {[OUTCOME_GRACEFUL] = 6, [OUTCOME_FAILED] = 8},
	};
	bootlog_add(&log->pods, "uid", "default", "<b>w\xc3\xa9", 3);
	log->pods.total = 600;
	bootlog_add(&log->containers, "id", NULL, NULL, 1);
	ret->previous = *log;
	ret->previous.pods = ret->previous.containers = (struct bootlog_list){.total = 9};
}

static void test_again(void **state)
{
	_cleanup_(buf_free) struct buf out = {}, again = {};
	struct bootnote note, read = {};

	a_note(&note);
	assert_int_equal(bootnote_write(&out, &note), 0);
	assert_int_equal(bootnote_read(out.data, out.len, &read), 0);
	assert_int_equal(bootnote_write(&again, &read), 0);
	assert_string_equal(buf_str(&again), buf_str(&out));
	assert_string_equal(read.boot.node, "n\"\\\n");
	assert_string_equal(read.boot.pods.rows[0].name, "<b>w\xc3\xa9");
	assert_int_equal(read.boot.journal, BOOT_JOURNAL_GOING_DOWN);
	assert_int_equal(read.boot.shutdown.reason, SHUTDOWN_ALL_STOPPED);
	assert_int_equal(read.previous.pods.total, 9);
	assert_int_equal(read.unclean, 7);
	bootnote_done(&note);
	bootnote_done(&read);
}

/* A text in which one part is another. */
static char *replaced(const char *text, const char *part, const char *by)
{
	const char *at = strstr(text, part);
	struct buf out = {};

	if (!at)
		fail_msg("no %s in %s", part, text);
	buf_add(&out, text, (size_t)(at - text));
	buf_adds(&out, by);
	buf_adds(&out, at + strlen(part));
	return out.data;
}

static void test_hostile(void **state)
{
	static const struct {
		const char *part, *by;
		int error;
	} rows[] = {
		{"\"version\":1", "\"version\":2", -EPROTONOSUPPORT},
		{"\"version\":1", "\"version\":\"1\"", -EBADMSG},
		{"\"version\":1", "\"version\":1,\"version\":1", -EBADMSG},
		{"\"unclean\":7", "\"unclean\":-7", -EBADMSG},
		{"\"unclean\":7", "\"unclean\":1e3", -EBADMSG},
		{"\"boot\":{", "\"boot\":[],\"x\":{", -EBADMSG},
		{"\"boot_id\":\"1111", "\"boot_id\":\"111", -EBADMSG},
		{"\"boot_id\":\"1111", "\"boot_id\":\"11111", -EBADMSG},
		{"\"boot_id\":\"1111", "\"boot_id\":\"../.", -EBADMSG},
		{"\"saved_ns\":2", "\"saved_ns\":9223372036854775807", -EBADMSG},
		{"\"saved_wall_ns\":", "\"saved_wall_ns\":-", -EBADMSG},
		{"\"journal\":\"going-down\"", "\"journal\":\"down\"", -EBADMSG},
		{"\"journal\":\"going-down\"", "\"journal\":1", -EBADMSG},
		{"\"mode\":\"manage\"", "\"mode\":\"off\"", -EBADMSG},
		{"\"action\":\"soft-reboot\"", "\"action\":null", -EBADMSG},
		{"\"reason\":\"all-stopped\"", "\"reason\":\"\"", -EBADMSG},
		{"\"graceful\":6", "\"grace\":6", -EBADMSG},
		{"\"total\":600", "\"total\":0", -EBADMSG},
		{"\"rows\":[{", "\"rows\":[1,{", -EBADMSG},
		{"\"containers\":3", "\"containers\":4294967296", -EBADMSG},
		{"\"uid\"", "\"u\\u0000d\"", -EBADMSG},
		{"\"previous\":{", "\"previous\":{\"y\":0},\"x\":{", -EBADMSG},
		{"\"previous\":{", "\"x\":{", -EBADMSG},
	};
	_cleanup_(buf_free) struct buf out = {};
	struct bootnote note;

	a_note(&note);
	bootnote_write(&out, &note);
	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(cleanup_free) char *text =
			replaced(buf_str(&out), rows[i].part, rows[i].by);
		struct bootnote read = {};
		int r = bootnote_read(text, strlen(text), &read);

		if (r != rows[i].error || read.boot.boot_id[0] || read.unclean)
			fail_msg("%s: %d", rows[i].by, r);
	}
	bootnote_done(&note);
}

/* A file system may lose the end of it. */
static void test_cut(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct bootnote note, read = {};

	a_note(&note);
	bootnote_write(&out, &note);
	for (size_t size = 0; size < out.len - 1; size++)
		assert_int_equal(bootnote_read(out.data, size, &read), -EBADMSG);
	memset(out.data, 0, out.len);
	assert_int_equal(bootnote_read(out.data, out.len, &read), -EBADMSG);
	assert_int_equal(bootnote_read(out.data, BOOTNOTE_MAX_SIZE + 1, &read), -EFBIG);
	bootnote_done(&note);
}

/* An earlier version has written it. */
static void test_without_journal(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(cleanup_free) char *text = NULL;
	struct bootnote note, read = {};

	a_note(&note);
	note.boot.journal = note.previous.journal = BOOT_JOURNAL_UNREAD;
	bootnote_write(&out, &note);
	text = replaced(buf_str(&out), ",\"journal\":null", "");
	assert_int_equal(bootnote_read(text, strlen(text), &read), 0);
	assert_int_equal(read.boot.journal, BOOT_JOURNAL_UNREAD);
	bootnote_done(&note);
	bootnote_done(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a note that was written is read again", test_again),
		CLAIM("a note with one member that makes no sense is void", test_hostile),
		CLAIM("a note without a word of the journal is whole", test_without_journal),
		CLAIM("a note that was cut is void", test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
