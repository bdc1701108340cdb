// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/journal: one sentence and fields of our own, whatever the names hold. */
#include "wire/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

static struct record a_stop(void)
{
	struct record record = {.type = RECORD_STOP, .at_ns = 5000000000, .node = "node-1"};
	struct record_stop *stop = &record.stop;

	strcpy(stop->id, "boot/id/1");
	stop->pod = (struct record_pod){.known = true, .namespace_ = "shop", .name = "web-0"};
	stop->container = (struct record_container){.known = true, .name = "nginx", .id = "abc"};
	stop->process = (struct record_process){.pid = 42, .comm = "sleep"};
	stop->stop_signal = (struct record_sigref){.known = true, .number = 15, .result = 1};
	stop->stop_signal.sender.kind = SENDER_RUNTIME;
	stop->stop_signal.sender.process = (struct record_process){.pid = 7, .comm = "runc"};
	stop->kill_signal = stop->stop_signal;
	stop->kill_signal.number = 9;
	stop->kill_signal.result = 0;
	stop->deaf = true;
	stop->exit = (struct record_exit){.known = true, .status = 9, .at_ns = 5000000000};
	stop->latency_known = true;
	stop->latency_ns = 30000000000;
	stop->outcome = OUTCOME_KILLED;
	stop->cause = CAUSE_GRACE_EXPIRED;
	return record;
}

/* Whether a line of the entry is exactly that. */
static bool has(const struct buf *entry, const char *line)
{
	const char *at = buf_str(entry);
	size_t len = strlen(line);

	for (; *at; at += strcspn(at, "\n") + 1)
		if (strncmp(at, line, len) == 0 && at[len] == '\n')
			return true;
	return false;
}

static void stop_entry(void **state)
{
	static const char *const lines[] = {
		"MESSAGE_ID=627e28794e944e4bbce2264a6a87d251",
		"PRIORITY=4",
		"SYSLOG_IDENTIFIER=graced",
		"MESSAGE=shop/web-0/nginx: killed, grace-expired after 30.0s; SIGTERM from runc[7] "
		"(runtime) was not heard: PID 1 has no handler for it; SIGKILL from runc[7] "
		"(runtime)",
		"GRACED_TYPE=stop",
		"GRACED_NAMESPACE=shop",
		"GRACED_POD=web-0",
		"GRACED_CONTAINER=nginx",
		"GRACED_PID=42",
		"GRACED_OUTCOME=killed",
		"GRACED_CAUSE=grace-expired",
		"GRACED_STOP_SIGNAL=SIGTERM",
		"GRACED_STOP_RESULT=ignored",
		"GRACED_KILL_SIGNAL=SIGKILL",
		"GRACED_DEAF=1",
		"GRACED_EXIT_SIGNAL=9",
		"GRACED_LATENCY_NS=30000000000",
		"GRACED_COLLATERAL_KILLS=0",
		"GRACED_GAPS=",
	};
	struct record record = a_stop();
	_cleanup_(buf_free) struct buf entry = {};

	(void)state;
	assert_int_equal(journal_write(&entry, &record), 0);
	for (size_t i = 0; i < LEN(lines); i++) {
		if (!has(&entry, lines[i]))
			fail_msg("no line '%s' in:\n%s", lines[i], buf_str(&entry));
	}
	assert_null(strstr(buf_str(&entry), "GRACED_EXIT_CODE"));
}

static void hostile_names(void **state)
{
	struct record record = a_stop();
	_cleanup_(buf_free) struct buf entry = {};

	(void)state;
	record.stop.container.name = "a\nPRIORITY=0\nGRACED_POD=other";
	record.stop.process.comm = "\xff\x1b[2J";
	assert_int_equal(journal_write(&entry, &record), 0);
	assert_false(has(&entry, "PRIORITY=0"));
	assert_false(has(&entry, "GRACED_POD=other"));
	assert_true(has(&entry, "GRACED_COMM=\\xff\\x1b[2J"));
	/* Every line is a field. */
	for (const char *at = buf_str(&entry); *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "=") < strcspn(at, "\n"));
}

static void only_some(void **state)
{
	_cleanup_(buf_free) struct buf entry = {};
	struct record record = {.type = RECORD_ATTACHED};

	(void)state;
	assert_false(journal_has(RECORD_ATTACHED));
	assert_false(journal_has(RECORD_LOST));
	assert_true(journal_has(RECORD_STOP) && journal_has(RECORD_OOM) &&
		    journal_has(RECORD_SIGNAL));
	assert_int_equal(journal_write(&entry, &record), -EINVAL);
	assert_int_equal(entry.len, 0);
}

static void bare(void **state)
{
	struct record stop = {.type = RECORD_STOP}, oom = {.type = RECORD_OOM};
	struct record signal = {.type = RECORD_SIGNAL};
	_cleanup_(buf_free) struct buf entry = {};

	(void)state;
	assert_int_equal(journal_write(&entry, &stop), 0);
	assert_int_equal(journal_write(&entry, &oom), 0);
	assert_int_equal(journal_write(&entry, &signal), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a stop is one sentence and a field for each member", stop_entry),
		CLAIM("a name with line breaks and escapes makes no field of its own",
		      hostile_names),
		CLAIM("stops, signals and OOM kills have entries, nothing else", only_some),
		CLAIM("a record of which nothing is known has an entry all the same", bare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
