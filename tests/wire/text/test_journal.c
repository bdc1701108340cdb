// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/text/journal: one sentence and fields of our own, whatever the names hold. */
#include "wire/text/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/record.h"

/* As a daemon does it: the line is encoded first. */
static int write_entry(struct buf *entry, const struct record *record)
{
	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(record_json(&line, record), 0);
	return journal_write(entry, record, &line);
}

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
	stop->stop_signal.at_ns = 1000000000;
	stop->kill_signal.number = 9;
	stop->kill_signal.at_ns = 31000000000;
	stop->kill_signal.result = 0;
	stop->deaf = true;
	stop->reason = UNHEARD_NO_HANDLER;
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
		"MESSAGE=shop/web-0/nginx: killed, grace-expired: sleep[42 on the host] has no handler for "
		"SIGTERM and never heard it; runc[7] (the runtime) killed it 30.0s later.",
		"GRACED_TYPE=stop",
		"GRACED_REASON=no-handler",
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

	assert_int_equal(write_entry(&entry, &record), 0);
	for (size_t i = 0; i < LEN(lines); i++) {
		if (!has(&entry, lines[i]))
			fail_msg("no line '%s' in:\n%s", lines[i], buf_str(&entry));
	}
	assert_null(strstr(buf_str(&entry), "GRACED_EXIT_CODE"));
}

/* Where a fact is missing, nothing is said of it. */
static void before_exec(void **state)
{
	static const struct {
		uint64_t start_ns, at_ns;
		const char *comm, *says;
	} want[] = {
		{4000000000, 4700000000, "bash",
		 " before it had executed its program (it was still bash, 700ms after its start); "},
		{4000000000, 4700000000, "\x1b[2J",
		 " before it had executed its program (it was still \"\\x1b[2J\", 700ms after its start); "},
		{4000000000, 4700000000, "", " before it had executed its program; "},
		{4000000000, 4700000000, NULL, " before it had executed its program; "},
		{0, 4700000000, "bash", " before it had executed its program; "},
		{4800000000, 4700000000, "bash", " before it had executed its program; "},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf entry = {};
		struct record record = a_stop();

		record.stop.reason = UNHEARD_BEFORE_EXEC;
		record.stop.process.start_ns = want[i].start_ns;
		record.stop.stop_signal.at_ns = want[i].at_ns;
		record.stop.requests[0] = (struct record_request){
			.number = 15, .at_ns = want[i].at_ns - 1, .target_comm = "runc"};
		record.stop.requests[1] = (struct record_request){
			.number = 15, .at_ns = want[i].at_ns, .target_comm = want[i].comm};
		assert_int_equal(write_entry(&entry, &record), 0);
		if (!strstr(buf_str(&entry), want[i].says))
			fail_msg("%zu: %s", i, buf_str(&entry));
	}
}

static void unknown_senders(void **state)
{
	_cleanup_(buf_free) struct buf entry = {};
	struct record record = a_stop();

	record.stop.stop_signal.sender.kind = SENDER_UNPLACED;
	record.stop.kill_signal.sender = (struct record_sender){.kind = SENDER_UNKNOWN};
	assert_int_equal(write_entry(&entry, &record), 0);
	assert_true(
		has(&entry,
		    "MESSAGE=shop/web-0/nginx: killed, grace-expired: sleep[42 on the host] has no "
		    "handler for SIGTERM and never heard it; an unknown sender killed it "
		    "30.0s later."));
	assert_true(has(&entry, "GRACED_STOP_SENDER=runc"));
	assert_null(strstr(buf_str(&entry), "GRACED_STOP_SENDER_KIND"));
	assert_null(strstr(buf_str(&entry), "GRACED_KILL_SENDER"));
}

static void hostile_names(void **state)
{
	struct record record = a_stop();
	_cleanup_(buf_free) struct buf entry = {};

	record.stop.container.name = "a\nPRIORITY=0\nGRACED_POD=other";
	record.stop.process.comm = "\xff\x1b[2J";
	assert_int_equal(write_entry(&entry, &record), 0);
	assert_false(has(&entry, "PRIORITY=0"));
	assert_false(has(&entry, "GRACED_POD=other"));
	assert_true(has(&entry, "GRACED_COMM=\\xff\\x1b[2J"));
	/* Every line is a field. */
	for (const char *at = buf_str(&entry); *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "=") < strcspn(at, "\n"));
}

static void restart_entry(void **state)
{
	static const char *const probes[] = {
		[TRI_UNKNOWN] = NULL, [TRI_FALSE] = "GRACED_PROBE=0", [TRI_TRUE] = "GRACED_PROBE=1"};

	for (int probe = TRI_UNKNOWN; probe <= TRI_TRUE; probe++) {
		_cleanup_(buf_free) struct buf entry = {};
		struct record record = {
			.type = RECORD_RESTART,
			.restart = {.id = "b/c/1",
				    .pod = {.known = true, .namespace_ = "shop", .name = "web-0"},
				    .container = {.known = true, .name = "nginx"},
				    .next_attempt = 3,
				    .probe = (enum record_tri)probe}};

		assert_int_equal(write_entry(&entry, &record), 0);
		assert_true(has(&entry, "PRIORITY=4") && has(&entry, "GRACED_ID=b/c/1") &&
			    has(&entry, "GRACED_ATTEMPT=3"));
		assert_int_equal(strstr(buf_str(&entry), "GRACED_PROBE=") != NULL,
				 probes[probe] != NULL);
		if (probes[probe])
			assert_true(has(&entry, probes[probe]));
		assert_int_equal(has(&entry, "MESSAGE=shop/web-0/nginx was stopped by the runtime "
					     "and made again (attempt 3); it has a liveness or "
					     "startup probe"),
				 probe == TRI_TRUE);
	}
}

static void only_some(void **state)
{
	_cleanup_(buf_free) struct buf entry = {};
	struct record record = {.type = RECORD_RUNTIME_EXIT};

	assert_false(journal_has(RECORD_RUNTIME_EXIT));
	assert_true(journal_has(RECORD_STOP) && journal_has(RECORD_OOM) &&
		    journal_has(RECORD_SIGNAL) && journal_has(RECORD_POD) &&
		    journal_has(RECORD_POD_READY) && journal_has(RECORD_DISCREPANCY));
	assert_int_equal(write_entry(&entry, &record), -EINVAL);
	assert_int_equal(entry.len, 0);
}

/* The last field is the record, whatever its type, even with names that would end a line. */
static void whole_record(void **state)
{
	struct record records[] = {a_stop(),
				   {.type = RECORD_EMPTY},
				   {.type = RECORD_LOST},
				   {.type = RECORD_ATTACHED},
				   {.type = RECORD_SHUTDOWN},
				   {.type = RECORD_DROPPED}};

	records[0].stop.container.name = "a\nGRACED_RECORD={}\x80";
	for (size_t i = 0; i < LEN(records); i++) {
		_cleanup_(buf_free) struct buf entry = {}, line = {};
		const char *field;

		assert_int_equal(write_entry(&entry, &records[i]), 0);
		assert_int_equal(record_json(&line, &records[i]), 0);
		field = strstr(buf_str(&entry), "\n" JOURNAL_RECORD "=");
		assert_non_null(field);
		assert_string_equal(field + strlen("\n" JOURNAL_RECORD "="), buf_str(&line));
	}
}

static void bare(void **state)
{
	struct record stop = {.type = RECORD_STOP}, oom = {.type = RECORD_OOM};
	struct record signal = {.type = RECORD_SIGNAL}, pod = {.type = RECORD_POD};
	struct record ready = {.type = RECORD_POD_READY}, differs = {.type = RECORD_DISCREPANCY};
	_cleanup_(buf_free) struct buf entry = {};

	assert_int_equal(write_entry(&entry, &stop), 0);
	assert_int_equal(write_entry(&entry, &oom), 0);
	assert_int_equal(write_entry(&entry, &signal), 0);
	assert_int_equal(write_entry(&entry, &pod), 0);
	assert_int_equal(write_entry(&entry, &ready), 0);
	for (int kind = 0; kind <= DISCREPANCY_COUNT; kind++) {
		differs.discrepancy.kind = (enum discrepancy)kind;
		assert_int_equal(write_entry(&entry, &differs), 0);
	}
}

static void has_all(const struct record *record, const char *const *lines)
{
	_cleanup_(buf_free) struct buf entry = {};

	assert_int_equal(write_entry(&entry, record), 0);
	for (; *lines; lines++)
		if (!has(&entry, *lines))
			fail_msg("no line '%s' in:\n%s", *lines, buf_str(&entry));
	/* Every line is a field. */
	for (const char *at = buf_str(&entry); *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "=") < strcspn(at, "\n"));
}

static void has_no_line(const struct record *record, const char *name)
{
	_cleanup_(buf_free) struct buf entry = {};

	assert_int_equal(write_entry(&entry, record), 0);
	assert_null(strstr(buf_str(&entry), name));
}

static void pod_ready_entry(void **state)
{
	struct record record = {
		.type = RECORD_POD_READY,
		.at_ns = 7,
		.pod_ready =
			{.pod = {.known = true, .namespace_ = "shop", .name = "cart-7", .uid = "u"},
			 .id = "b/u/ready/5000000000",
			 .stop_ns = 5000000000,
			 .last_ns = 6010000000,
			 .until_ns = 7010000000,
			 .heard_ns = 7020000000},
	};

	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7: reported to be Ready for 2.01s after its stop "
			"signal",
			"PRIORITY=6", "GRACED_TYPE=pod_ready", "GRACED_POD_UID=u",
			"GRACED_ID=b/u/ready/5000000000", "GRACED_STOP_BOOT_NS=5000000000",
			"GRACED_UNTIL_BOOT_NS=7010000000", "GRACED_READY_NS=2010000000",
			"GRACED_GONE=0", NULL});
	record.pod_ready.gone = true;
	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7: reported to be Ready for 2.01s after its stop "
			"signal, and then not at all",
			"GRACED_GONE=1", "GRACED_GAPS=", NULL});
	/* Between two answers that are far apart there is no figure. */
	record.pod_ready.gaps = 1u << GAP_TIME_UNCERTAIN;
	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7: reported to be Ready for 1.01s to 2.02s after "
			"its stop signal, and then not at all",
			"GRACED_GAPS=time-uncertain", NULL});
	has_no_line(&record, "GRACED_READY_NS");
}

static struct record a_discrepancy(enum discrepancy kind)
{
	struct record record = {.type = RECORD_DISCREPANCY};
	struct record_discrepancy *r = &record.discrepancy;

	*r = (struct record_discrepancy){
		.id = "b/u/kind/3",
		.pod = {.known = true, .namespace_ = "shop", .name = "cart-7", .uid = "u"},
		.kind = kind,
		.since_ns = 3,
	};
	r->reported.source = META_KUBELET;
	return record;
}

static void discrepancy_entries(void **state)
{
	struct record record = a_discrepancy(DISCREPANCY_READY_WHILE_TERMINAL);
	struct record_discrepancy *r = &record.discrepancy;

	r->reported.listed = true;
	r->reported.phase = META_PHASE_FAILED;
	r->reported.ready = TRI_TRUE;
	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7: ready-while-terminal: kubelet reports Failed, Ready; "
			"it has no process, containers that run: 0",
			"PRIORITY=4", "GRACED_TYPE=discrepancy", "GRACED_ID=b/u/kind/3",
			"GRACED_POD=cart-7", "GRACED_KIND=ready-while-terminal",
			"GRACED_SOURCE=kubelet", "GRACED_SINCE_BOOT_NS=3",
			"GRACED_REPORTED_LISTED=1", "GRACED_REPORTED_PHASE=Failed",
			"GRACED_REPORTED_READY=1", "GRACED_POPULATED=0", "GRACED_RUNNING=0", NULL});
	record = a_discrepancy(DISCREPANCY_OBJECT_GONE);
	r->kernel.populated = true;
	r->kernel.running = 2;
	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7: object-gone-processes-live: kubelet does not list it; "
			"it has processes, containers that run: 2",
			"GRACED_REPORTED_LISTED=0", "GRACED_POPULATED=1", "GRACED_RUNNING=2",
			NULL});
}

static void discrepancy_of_exit_entry(void **state)
{
	struct record record = a_discrepancy(DISCREPANCY_EXIT_CODE);
	struct record_discrepancy *r = &record.discrepancy;

	r->container = (struct record_container){.known = true, .name = "main", .id = "1"};
	r->reported.source = META_CRI;
	r->reported.reason = "Comp\nleted";
	r->reported.finished_wall_ns = 1795262461000000000;
	r->kernel.exit = (struct record_exit){.known = true, .status = 9};
	r->kernel.exit_wall_ns = 1795262462000000000;
	r->kernel.oom = TRI_FALSE;
	has_all(&record,
		(const char *const[]){
			"MESSAGE=shop/cart-7/main: exit-code: cri reports 0, Comp\\x0aleted; it was 137",
			"GRACED_CONTAINER=main", "GRACED_SOURCE=cri", "GRACED_REPORTED_EXIT_CODE=0",
			"GRACED_REPORTED_REASON=Comp\\x0aleted",
			"GRACED_REPORTED_FINISHED_AT=2026-11-21T12:01:01.000000000Z",
			"GRACED_EXIT_SIGNAL=9", "GRACED_FINISHED_AT=2026-11-21T12:01:02.000000000Z",
			"GRACED_OOM_KILLED=0", NULL});
}

static void pod_entry(void **state)
{
	const struct record record = {
		.type = RECORD_POD,
		.at_ns = 7,
		.pod_state =
			{.pod = {.known = true, .namespace_ = "shop", .name = "cart-7", .uid = "u"},
			 .state = POD_STAGE_TERMINATING,
			 .previous = POD_STAGE_SYNC,
			 .trigger = POD_DELETION,
			 .deadline_ns = 9},
	};
	_cleanup_(buf_free) struct buf entry = {};

	assert_int_equal(write_entry(&entry, &record), 0);
	assert_true(has(&entry, "MESSAGE=shop/cart-7: terminating (deletion)"));
	assert_true(has(&entry, "GRACED_STATE=terminating"));
	assert_true(has(&entry, "GRACED_PREVIOUS=sync"));
	assert_true(has(&entry, "GRACED_TRIGGER=deletion"));
	assert_true(has(&entry, "GRACED_DEADLINE_BOOT_NS=9"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a signal before the last exec is said to have come when, and to what",
		      before_exec),
		CLAIM("the last field of each entry is the record as a line of a file",
		      whole_record),
		CLAIM("a stop is one sentence and a field for each member", stop_entry),
		CLAIM("a sender that is not known is said to be unknown", unknown_senders),
		CLAIM("a name with line breaks and escapes makes no field of its own",
		      hostile_names),
		CLAIM("stops, signals, OOM kills, pods and what differs have entries, nothing else",
		      only_some),
		CLAIM("a pod says what it has come to, and why", pod_entry),
		CLAIM("a container that was made again is reported with whether it has a probe",
		      restart_entry),
		CLAIM("how long a pod was Ready is said, and until when", pod_ready_entry),
		CLAIM("what differs about a pod is said with both words", discrepancy_entries),
		CLAIM("what differs about an exit is said with both words",
		      discrepancy_of_exit_entry),
		CLAIM("a record of which nothing is known has an entry all the same", bare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
