// SPDX-License-Identifier: Apache-2.0
/* Claims about the record of an earlier boot's end, in JSON and the journal. */
#include <string.h>

#include "base/cleanup.h"
#include "core/boot/log.h"
#include "lib/claim.h"
#include "wire/json/record.h"
#include "wire/text/journal.h"

#define BOOT "11111111-2222-3333-4444-555555555555"
#define HEAD                                                                  \
	"{\"type\":\"boot_end\",\"schema\":1,\"id\":\"" BOOT "/end\","        \
	"\"time\":\"2023-11-14T22:13:20.000000000Z\",\"boot_ns\":2000000000," \
	"\"node\":\"n\",\"boot_id\":\"" BOOT "\","

/* As a daemon does it: the line is encoded first. */
static int write_entry(struct buf *entry, const struct record *record)
{
	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(record_json(&line, record), 0);
	return journal_write(entry, record, &line);
}

static struct bootlog a_log(void)
{
	struct bootlog log = {.watched_ns = 1000000000};

	strcpy(log.boot_id, BOOT);
	strcpy(log.node, "n");
	bootlog_look(&log, 2000000000, 1700000000000000000);
	return log;
}

static void assert_json(const struct bootlog *log, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record;

	bootlog_record(log, &record);
	assert_int_equal(record_json(&out, &record), 0);
	assert_string_equal(buf_str(&out), want);
}

static void assert_entry(const struct bootlog *log, const char *const *want)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record;

	bootlog_record(log, &record);
	assert_int_equal(write_entry(&out, &record), 0);
	for (; *want; want++)
		if (!strstr(buf_str(&out), *want))
			fail_msg("no %s in %s", *want, buf_str(&out));
}

static void test_unclean(void **state)
{
	static const char *const entry[] = {
		"MESSAGE=the boot " BOOT ": its end is unclean: no shutdown was announced; alive "
		"when last looked: pods 19, containers outside pods 1: default/web\\x0a, uid-2 and "
		"17 more\n",
		"PRIORITY=4\n",
		"GRACED_TYPE=boot_end\n",
		"GRACED_END=unclean\n",
		"GRACED_REASON=not-announced\n",
		"GRACED_SEEN_AT=2023-11-14T22:13:20.000000000Z\n",
		"GRACED_PODS_ALIVE=19\n",
		NULL,
	};
	struct bootlog log = a_log();

	bootlog_add(&log.pods, "uid-1", "default", "web\n", 2);
	bootlog_add(&log.pods, "uid-2", NULL, NULL, 1);
	log.pods.total = 19;
	bootlog_add(&log.containers, "c1", NULL, "redis", 1);
	assert_json(&log,
		    HEAD "\"end\":\"unclean\",\"reason\":\"not-announced\",\"journal\":null,"
			 "\"watched_boot_ns\":1000000000,\"stopped_boot_ns\":null,"
			 "\"shutdown\":null,\"pods_alive\":19,\"pods\":["
			 "{\"namespace\":\"default\",\"name\":\"web\\n\",\"uid\":\"uid-1\","
			 "\"containers\":2},{\"namespace\":null,\"name\":null,\"uid\":\"uid-2\","
			 "\"containers\":1}],\"containers_alive\":1,\"containers\":["
			 "{\"name\":\"redis\",\"id\":\"c1\"}]}\n");
	assert_entry(&log, entry);
	bootlog_done(&log);
}

static void test_clean(void **state)
{
	static const char *const entry[] = {"PRIORITY=6\n", "GRACED_END=clean\n",
					    "GRACED_REASON=released\n", "GRACED_ACTION=reboot\n",
					    NULL};
	struct bootlog log = a_log();

	log.stopped_ns = 2000000000;
	log.shutdown = (struct bootlog_shutdown){
		.announced_ns = 1500000000,
		.released_ns = 1600000000,
		.mode = SHUTDOWN_ASSIST,
		.action = SHUTDOWN_REBOOT,
		.reason = SHUTDOWN_PODS_ENDED,
		.outcomes = {[OUTCOME_GRACEFUL] = 4, [OUTCOME_OOM_KILLED] = 1},
	};
	assert_json(&log, HEAD
		    "\"end\":\"clean\",\"reason\":\"released\",\"journal\":null,"
		    "\"watched_boot_ns\":1000000000,"
		    "\"stopped_boot_ns\":2000000000,\"shutdown\":{\"mode\":\"assist\","
		    "\"action\":\"reboot\",\"announced_boot_ns\":1500000000,"
		    "\"released_boot_ns\":1600000000,\"reason\":\"pods-ended\",\"outcomes\":{"
		    "\"unknown\":0,\"graceful\":4,\"terminated\":0,\"killed\":0,\"oom-killed\":1,"
		    "\"crashed\":0,\"completed\":0,\"failed\":0}},\"pods_alive\":0,\"pods\":[],"
		    "\"containers_alive\":0,\"containers\":[]}\n");
	assert_entry(&log, entry);
}

/* What the journal of that boot shows is a word, and a part of the sentence where it adds to it. */
static void test_journal(void **state)
{
	static const char *const broken[] = {
		"its end is unclean: no shutdown was announced; the journal breaks off; alive ",
		"GRACED_END=unclean\n", "GRACED_JOURNAL=no-end\n", NULL};
	static const char *const absent[] = {
		"no shutdown was announced; the journal has no entries of that boot; alive ",
		"GRACED_JOURNAL=absent\n", NULL};
	static const char *const down[] = {
		"its end is clean: graced no longer ran, and the journal shows an orderly end; "
		"alive when last looked: pods 0,",
		"PRIORITY=6\n", "GRACED_REASON=went-down\n", "GRACED_JOURNAL=went-down\n", NULL};
	static const char *const going[] = {
		"its end is unknown: graced no longer ran, and the journal ends in the middle of a "
		"shutdown; alive ",
		"GRACED_REASON=going-down\n", "GRACED_JOURNAL=going-down\n", NULL};
	static const struct {
		enum boot_journal journal;
		const char *const *entry;
	} rows[] = {
		{BOOT_JOURNAL_NO_END, broken},
		{BOOT_JOURNAL_ABSENT, absent},
		{BOOT_JOURNAL_WENT_DOWN, down},
		{BOOT_JOURNAL_GOING_DOWN, going},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct bootlog log = a_log();

		log.journal = rows[i].journal;
		assert_entry(&log, rows[i].entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an unclean end names what was alive", test_unclean),
		CLAIM("what the journal shows of an end is named", test_journal),
		CLAIM("a clean end has the shutdown's times, reason and outcomes", test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
