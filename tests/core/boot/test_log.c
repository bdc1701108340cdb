// SPDX-License-Identifier: Apache-2.0
/* Claims about core/boot/log: how an earlier boot ended, by what its note shows and no more. */
#include <stdio.h>
#include <string.h>

#include "core/boot/log.h"
#include "lib/claim.h"

#define S    1000000000ULL
#define BOOT "11111111-2222-3333-4444-555555555555"
#define NEXT "99999999-2222-3333-4444-555555555555"

static void step(struct bootlog *log, enum shutdown_report what, uint64_t announced_ns,
		 uint64_t at_ns)
{
	struct record record = {.type = RECORD_SHUTDOWN};

	record.shutdown.step = (struct shutdown_record){
		.what = what,
		.at_ns = at_ns,
		.mode = SHUTDOWN_ASSIST,
		.action = SHUTDOWN_REBOOT,
		.announced_ns = announced_ns,
		.reason = SHUTDOWN_LIMIT,
	};
	bootlog_take(log, &record);
}

static void stop_of(struct bootlog *log, enum record_container_kind kind, enum outcome outcome)
{
	struct record record = {.type = RECORD_STOP};

	record.stop.container.kind = kind;
	record.stop.outcome = outcome;
	bootlog_take(log, &record);
}

/* What happens in a boot, a letter each: A announced, R released, C cancelled, S graced stops, D
 * graced begins again, + a pod is alive, o a container outside pods is alive, - nothing is; two
 * shutdowns are never announced at the same time. */
static void play(struct bootlog *log, const char *story)
{
	uint64_t now_ns = 100 * S, announced_ns = 0;

	bootlog_begin(log, BOOT, "n", now_ns);
	for (; *story; story++) {
		now_ns += 10 * S;
		switch (*story) {
		case 'A':
			announced_ns = now_ns;
			step(log, SHUTDOWN_REPORT_ANNOUNCED, announced_ns, now_ns);
			break;
		case 'a':
			step(log, SHUTDOWN_REPORT_ANNOUNCED, announced_ns + S / 2, now_ns);
			break;
		case 'R':
			step(log, SHUTDOWN_REPORT_RELEASED, announced_ns, now_ns);
			break;
		case 'C':
			step(log, SHUTDOWN_REPORT_CANCELLED, announced_ns, now_ns);
			break;
		case 'S':
			log->stopped_ns = now_ns;
			break;
		case 'D':
			bootlog_begin(log, BOOT, "n", now_ns);
			break;
		default:
			bootlog_look(log, now_ns, 1700000000000000000);
			if (*story == '+')
				bootlog_add(&log->pods, "uid", "default", "web", 1);
			else if (*story == 'o')
				bootlog_add(&log->containers, "id", NULL, "redis", 1);
		}
	}
}

static void test_ends(void **state)
{
	static const struct {
		const char *story, *end, *reason;
	} rows[] = {
		/* The machine goes while graced runs. */
		{"+", "unclean", "not-announced"},
		{"-", "unclean", "not-announced"},
		{"+D+", "unclean", "not-announced"}, /* killed, started again, and lost then */
		{"+SD+", "unclean", "not-announced"},
		{"+A+", "unclean", "in-shutdown"},
		{"+A-", "unclean", "in-shutdown"},
		{"+AR+", "unclean", "after-release"},
		{"oARo", "unclean", "after-release"},
		{"+AC+", "unclean", "not-announced"},
		{"+ARC+", "unclean", "not-announced"},
		/* Nothing was left to lose. */
		{"+AR-", "clean", "released"},
		/* graced was stopped, as systemd does it last. */
		{"+AR-S", "clean", "released"},
		{"+AR+S", "clean", "released"},
		{"+A-S", "clean", "empty"},
		/* ... or before: by hand, for an upgrade, as a pod, by a forced shutdown. */
		{"+S", "unknown", "stopped"},
		{"-S", "unknown", "stopped"},
		{"+A+S", "unknown", "left"},
		{"oAoS", "unknown", "left"},
		{"+AC-S", "unknown", "stopped"},
		{"+ARC-S", "unknown", "stopped"},
		/* A soft reboot: what came after it is another story of the same boot. */
		{"+AR-SD+", "unclean", "not-announced"},
		{"+AR-SD+S", "unknown", "stopped"},
		{"+AR-SD+A+", "unclean", "in-shutdown"},
		/* A restart in the middle: logind announces it again, or it was cancelled. */
		{"+A+Da+", "unclean", "in-shutdown"},
		{"+A+DaR-S", "clean", "released"},
		{"+AR+Da-S", "clean", "released"},
		{"+A+D+", "unclean", "not-announced"},
		{"+A-D-S", "unknown", "stopped"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct bootlog log = {};
		struct record record;

		play(&log, rows[i].story);
		bootlog_record(&log, &record);
		if (strcmp(boot_end_name(record.boot.verdict.end), rows[i].end) != 0 ||
		    strcmp(boot_reason_name(record.boot.verdict.reason), rows[i].reason) != 0)
			fail_msg("%s: %s, %s", rows[i].story,
				 boot_end_name(record.boot.verdict.end),
				 boot_reason_name(record.boot.verdict.reason));
		assert_string_equal(record.boot.id, BOOT "/end");
		assert_int_equal(record.at_ns, log.saved_ns);
		bootlog_done(&log);
	}
}

/* What the journal shows decides where the note does not, and only there. */
static void test_journal(void **state)
{
	static const struct {
		const char *story;
		enum boot_journal journal;
		const char *end, *reason;
	} rows[] = {
		/* Killed, or stopped, and not started again. */
		{"+", BOOT_JOURNAL_WENT_DOWN, "clean", "went-down"},
		{"+S", BOOT_JOURNAL_WENT_DOWN, "clean", "went-down"},
		{"+A+", BOOT_JOURNAL_WENT_DOWN, "clean", "went-down"},
		{"+A+S", BOOT_JOURNAL_WENT_DOWN, "clean", "went-down"},
		{"+AR+", BOOT_JOURNAL_WENT_DOWN, "clean", "went-down"},
		{"+", BOOT_JOURNAL_GOING_DOWN, "unknown", "going-down"},
		{"+S", BOOT_JOURNAL_GOING_DOWN, "unknown", "going-down"},
		{"+", BOOT_JOURNAL_NO_END, "unclean", "not-announced"},
		{"+A+", BOOT_JOURNAL_NO_END, "unclean", "in-shutdown"},
		{"+S", BOOT_JOURNAL_NO_END, "unknown", "stopped"},
		{"+", BOOT_JOURNAL_ABSENT, "unclean", "not-announced"},
		{"+S", BOOT_JOURNAL_ABSENT, "unknown", "stopped"},
		/* It is not asked. */
		{"+AR-S", BOOT_JOURNAL_NO_END, "clean", "released"},
		{"+A-S", BOOT_JOURNAL_GOING_DOWN, "clean", "empty"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct boot_verdict verdict;
		struct bootlog log = {};

		play(&log, rows[i].story);
		assert_int_equal(bootlog_needs_journal(&log),
				 strcmp(rows[i].reason, "released") != 0 &&
					 strcmp(rows[i].reason, "empty") != 0);
		log.journal = rows[i].journal;
		verdict = bootlog_judge(&log);
		if (strcmp(boot_end_name(verdict.end), rows[i].end) != 0 ||
		    strcmp(boot_reason_name(verdict.reason), rows[i].reason) != 0)
			fail_msg("row %zu: %s, %s", i, boot_end_name(verdict.end),
				 boot_reason_name(verdict.reason));
		bootlog_done(&log);
	}
}

static void test_whose(void **state)
{
	static const struct {
		const char *boot_id, *node;
		enum bootlog_known known;
	} rows[] = {
		{"", "", BOOTLOG_NOTHING},    {"", "n", BOOTLOG_NOTHING},
		{NEXT, "n", BOOTLOG_SAME},    {NEXT, "other", BOOTLOG_SAME},
		{BOOT, "n", BOOTLOG_EARLIER}, {BOOT, "N", BOOTLOG_FOREIGN},
		{BOOT, "", BOOTLOG_FOREIGN},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct bootlog log = {};

		strcpy(log.boot_id, rows[i].boot_id);
		strcpy(log.node, rows[i].node);
		assert_int_equal(bootlog_compare(&log, NEXT, "n"), rows[i].known);
	}
}

static void test_outcomes(void **state)
{
	struct bootlog log = {};
	uint64_t *outcomes = log.shutdown.outcomes;

	bootlog_begin(&log, BOOT, "n", S);
	stop_of(&log, CONTAINER_KIND_CONTAINER, OUTCOME_KILLED);
	step(&log, SHUTDOWN_REPORT_ANNOUNCED, 2 * S, 2 * S);
	stop_of(&log, CONTAINER_KIND_CONTAINER, OUTCOME_GRACEFUL);
	stop_of(&log, CONTAINER_KIND_UNKNOWN, OUTCOME_GRACEFUL);
	stop_of(&log, CONTAINER_KIND_SANDBOX, OUTCOME_KILLED);
	stop_of(&log, CONTAINER_KIND_SERVICE, OUTCOME_KILLED);
	stop_of(&log, CONTAINER_KIND_PROCESS, OUTCOME_KILLED);
	assert_int_equal(outcomes[OUTCOME_GRACEFUL], 2);
	assert_int_equal(outcomes[OUTCOME_KILLED], 0);
	/* They are of the shutdown, whichever daemon of the boot counted them. */
	bootlog_begin(&log, BOOT, "n", 3 * S);
	assert_int_equal(outcomes[OUTCOME_GRACEFUL], 0);
	step(&log, SHUTDOWN_REPORT_ANNOUNCED, 2 * S + 1, 3 * S);
	assert_int_equal(outcomes[OUTCOME_GRACEFUL], 2);
	/* Repeated with what is known by then. */
	step(&log, SHUTDOWN_REPORT_ANNOUNCED, log.shutdown.announced_ns, 4 * S);
	assert_int_equal(outcomes[OUTCOME_GRACEFUL], 2);
	step(&log, SHUTDOWN_REPORT_CANCELLED, 2 * S, 5 * S);
	step(&log, SHUTDOWN_REPORT_ANNOUNCED, 6 * S, 6 * S);
	assert_int_equal(outcomes[OUTCOME_GRACEFUL], 0);
	bootlog_done(&log);
}

static void test_many(void **state)
{
	struct bootlog log = {};
	char uid[16];

	bootlog_look(&log, 5 * S, 1);
	for (int i = 0; i < BOOTLOG_LISTED_MAX + 3; i++) {
		snprintf(uid, sizeof(uid), "%d", i);
		assert_int_equal(bootlog_add(&log.pods, uid, NULL, NULL, 1),
				 i < BOOTLOG_LISTED_MAX);
	}
	assert_int_equal(log.pods.n, BOOTLOG_LISTED_MAX);
	assert_int_equal(log.pods.total, BOOTLOG_LISTED_MAX + 3);
	bootlog_look(&log, 6 * S, 2);
	assert_int_equal(log.pods.n + log.pods.total, 0);
	bootlog_done(&log);
}

static void test_due(void **state)
{
	struct bootlog log = {.saved_ns = 100 * S};

	assert_false(bootlog_is_due(&log, 109 * S));
	assert_true(bootlog_is_due(&log, 110 * S));
	/* The machine was set back to a snapshot. */
	assert_true(bootlog_is_due(&log, 50 * S));
	log.shutdown.announced_ns = 100 * S;
	assert_true(bootlog_is_due(&log, 101 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an end is clean, unclean or unknown by what was noted of it", test_ends),
		CLAIM("an end that the note does not show is that of the journal", test_journal),
		CLAIM("only an earlier boot of this node is judged", test_whose),
		CLAIM("the outcomes of a shutdown are those of containers that end in it",
		      test_outcomes),
		CLAIM("what is alive beyond the limit is counted", test_many),
		CLAIM("what is alive is looked at every 10 seconds, in a shutdown every second",
		      test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
