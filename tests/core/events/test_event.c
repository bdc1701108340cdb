// SPDX-License-Identifier: Apache-2.0
/* Claims about core/events/event: which records are worth an Event, and what it says. */
#include "core/events/event.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

#define UID    "94dc9966-21b6-4c9e-8b3e-000000000001"
#define SECOND UINT64_C(1000000000)

static struct record_pod pod(void)
{
	return (struct record_pod){
		.known = true, .namespace_ = "shop", .name = "web-0", .uid = UID};
}

static struct record_container container(void)
{
	return (struct record_container){
		.known = true, .name = "main", .id = "c0ffee", .kind = CONTAINER_KIND_CONTAINER};
}

static struct record_sender sender(enum sender_kind kind)
{
	struct record_sender s = {.kind = kind,
				  .process = {.pid = 812, .comm = "kill"},
				  .ancestors = {"bash", "sshd"}};

	if (kind == SENDER_POD)
		s.pod = (struct record_pod){.known = true, .namespace_ = "ops", .name = "reaper"};
	if (kind == SENDER_POD)
		s.container = (struct record_container){.known = true, .name = "job"};
	return s;
}

static struct record stop(enum outcome outcome, enum cause cause, enum sender_kind from)
{
	return (struct record){
		.type = RECORD_STOP,
		.wall_ns = 1795273445123456789,
		.stop = {.pod = pod(),
			 .container = container(),
			 .stop_signal = {true, 15, 0, SECOND, sender(SENDER_RUNTIME)},
			 .kill_signal = {true, 9, 0, 31 * SECOND, sender(from)},
			 .exit = {.known = true, .status = 9, .at_ns = 31 * SECOND},
			 .grace = {GRACE_SPEC, 30 * SECOND, true},
			 .outcome = outcome,
			 .cause = cause},
	};
}

static const struct {
	enum outcome outcome;
	enum cause cause;
	enum sender_kind from;
	const char *reason, *note; /* NULL: none */
} verdicts[] = {
	{OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, SENDER_RUNTIME, "GraceExceeded",
	 "the init was sent SIGTERM and did not end; kill[812] (the runtime) killed it when its grace "
	 "period of 30.0s was over."},
	{OUTCOME_KILLED, CAUSE_KILLED_EARLY, SENDER_KUBELET, "KilledBy",
	 "the init was sent SIGTERM and did not end; kill[812] killed it 30.0s later, before its grace "
	 "period of 30.0s was over."},
	{OUTCOME_KILLED, CAUSE_OTHER_POD, SENDER_POD, "KilledBy",
	 "the init was killed by kill[812] (in pod ops/reaper, container job; parents: bash, sshd)."},
	{OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST, "KilledBy",
	 "the init was killed by kill[812] (on the host; parents: bash, sshd)."},
	{OUTCOME_KILLED, CAUSE_KERNEL, SENDER_KERNEL, "KilledBy",
	 "the init was killed by the kernel."},
	{OUTCOME_KILLED, CAUSE_RUNTIME_LOST, SENDER_RUNTIME, "KilledBy",
	 "the init was killed by kill[812] (the runtime) because its shim had ended."},
	{OUTCOME_KILLED, CAUSE_NO_GRACE, SENDER_SYSTEMD, "KilledBy",
	 "the init was killed by kill[812], which had not asked it to stop."},
	{OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER, SENDER_KERNEL, "OOMKilledBy",
	 "the init was killed by the OOM killer: the container's memory limit was reached."},
	{OUTCOME_OOM_KILLED, CAUSE_OOM_POD, SENDER_KERNEL, "OOMKilledBy",
	 "the init was killed by the OOM killer: the pod's memory limit was reached."},
	{OUTCOME_OOM_KILLED, CAUSE_OOM_NODE, SENDER_KERNEL, "OOMKilledBy",
	 "the init was killed by the OOM killer: the node's memory, or a limit above the pod, ran out."},
	{OUTCOME_OOM_KILLED, CAUSE_OOM_UNKNOWN, SENDER_KERNEL, "OOMKilledBy",
	 "the init was killed by the OOM killer; whose memory ran out is not known."},
	{OUTCOME_OOM_KILLED, CAUSE_OOM_USERSPACE, SENDER_HOST, "OOMKilledBy",
	 "the init was killed to free memory by kill[812] (on the host; parents: bash, sshd)."},
	{OUTCOME_CRASHED, CAUSE_OTHER_POD, SENDER_POD, "KilledBy",
	 "the init died of SIGKILL, sent by kill[812] (in pod ops/reaper, container job; parents: "
	 "bash, sshd)."},
	{OUTCOME_KILLED, CAUSE_UNKNOWN, SENDER_UNKNOWN, NULL, NULL},
	{OUTCOME_CRASHED, CAUSE_SELF, SENDER_HOST, NULL, NULL},
	{OUTCOME_CRASHED, CAUSE_KERNEL, SENDER_KERNEL, NULL, NULL},
	{OUTCOME_CRASHED, CAUSE_UNKNOWN, SENDER_UNKNOWN, NULL, NULL},
	{OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, SENDER_RUNTIME, NULL, NULL},
	{OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL, SENDER_RUNTIME, NULL, NULL},
	{OUTCOME_COMPLETED, CAUSE_SELF, SENDER_RUNTIME, NULL, NULL},
	{OUTCOME_FAILED, CAUSE_SELF, SENDER_RUNTIME, NULL, NULL},
	{OUTCOME_UNKNOWN, CAUSE_UNKNOWN, SENDER_RUNTIME, NULL, NULL},
};

static void test_verdicts(void **state)
{
	for (size_t i = 0; i < LEN(verdicts); i++) {
		struct record r = stop(verdicts[i].outcome, verdicts[i].cause, verdicts[i].from);
		struct event e;
		bool worth = event_of_record(&r, "node-1", &e);

		print_message("# verdict %zu: %s\n", i, worth ? e.note : "none");
		assert_int_equal(worth, verdicts[i].reason != NULL);
		if (!worth)
			continue;
		assert_string_equal(e.reason, verdicts[i].reason);
		assert_string_equal(e.note, verdicts[i].note);
		assert_string_equal(e.cause, cause_name(verdicts[i].cause));
		assert_string_equal(e.namespace_, "shop");
		assert_string_equal(e.name, "web-0");
		assert_string_equal(e.uid, UID);
		assert_string_equal(e.container, "main");
		assert_true(e.warning && !e.of_node && e.run && e.action[0]);
		assert_true(e.wall_ns == r.wall_ns);
	}
}

static void test_kinds_of_kill(void **state)
{
	struct outcome_verdict row;
	struct event e;

	for (size_t i = 0; outcome_row(i, &row); i++) {
		struct record r = stop(row.outcome, row.cause, SENDER_HOST);

		if (row.cause == CAUSE_UNKNOWN ||
		    (row.outcome != OUTCOME_KILLED && row.outcome != OUTCOME_OOM_KILLED))
			continue;
		print_message("# row %zu: %s\n", i, cause_name(row.cause));
		assert_true(event_of_record(&r, "node-1", &e));
		assert_string_equal(e.cause, cause_name(row.cause));
		assert_null(strstr(e.note, "(null)"));
	}
}

/* A kill by a manager counts as the end of a grace period that no source provides. */
static void test_no_grace(void **state)
{
	struct record r = stop(OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, SENDER_RUNTIME);
	struct event e;

	r.stop.grace = (struct grace){GRACE_UNKNOWN, 0, false};
	r.stop.kill_signal.at_ns = r.stop.stop_signal.at_ns + 1760000;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.reason, "KilledBy");
	assert_string_equal(e.note,
			    "the init was sent SIGTERM and did not end; kill[812] (the runtime) "
			    "killed it 1.76ms later.");
	r.stop.grace.from = GRACE_HIDDEN;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.reason, "KilledBy");
}

/* Each takes away what an Event would need, or brings doubt. */
static void test_doubt(void **state)
{
	static const enum gap none[] = {GAP_UNKNOWN_CGROUP,  GAP_EXIT_UNSEEN,
					GAP_SENDER_UNKNOWN,  GAP_STOP_SIGNAL_UNKNOWN,
					GAP_SANDBOX_GUESSED, GAP_INIT_UNSEEN};
	uint32_t doubt = 0;
	struct event e;

	for (size_t i = 0; i < LEN(none); i++)
		doubt |= 1u << none[i];
	for (int gap = 0; gap < GAP_COUNT; gap++) {
		struct record r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);
		char end[96];

		r.stop.gaps = 1u << gap;
		assert_int_equal(event_of_record(&r, "node-1", &e), !(doubt >> gap & 1));
		snprintf(end, sizeof(end), "%s. Evidence is partial: %s.",
			 gap == GAP_NOT_EMPTY ? "no record has" : ", sshd)",
			 gap_name((enum gap)gap));
		if (!(doubt >> gap & 1))
			assert_string_equal(e.note + strlen(e.note) - strlen(end), end);
	}
	for (int i = 0; i < 3; i++) {
		struct record r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);

		if (i == 0)
			r.stop.kill_signal.known = false;
		else if (i == 1)
			r.stop.exit.known = false;
		else
			r.stop.outcome = OUTCOME_CRASHED, r.stop.exit.status = 0;
		assert_false(event_of_record(&r, "node-1", &e));
	}
}

static char long_label[70], long_name[300];

/* What Kubernetes would not accept, or what would lead elsewhere in a URL. */
static void test_names(void **state)
{
	static const struct {
		const char *namespace_, *name, *uid, *container;
		bool worth;
	} rows[] = {
		{"shop", "web-0.example", "0123456789abcdef0123456789abcdef", "a", true},
		{NULL, "web-0", UID, "main", false},
		{"shop", NULL, UID, "main", false},
		{"shop", "web-0", NULL, "main", false},
		{"shop", "web-0", UID, NULL, false},
		{"", "web-0", UID, "main", false},
		{"shop", "", UID, "main", false},
		{"shop", "web-0", "", "main", false},
		{"shop", "web-0", UID, "", false},
		{"..", "web-0", UID, "main", false},
		{"shop/pods", "web-0", UID, "main", false},
		{"shop?x=", "web-0", UID, "main", false},
		{"Shop", "web-0", UID, "main", false},
		{"a.b", "web-0", UID, "main", false},
		{"shop", "../x", UID, "main", false},
		{"shop", "-web", UID, "main", false},
		{"shop", "web.", UID, "main", false},
		{"shop", "web\xc3\xa4", UID, "main", false},
		{"shop", "web-0", "a/b", "main", false},
		{"shop", "web-0", UID, "a}b", false},
		{"shop", "web-0", UID, "a.b", false},
		{long_label, "web-0", UID, "main", false},
		{"shop", long_name, UID, "main", false},
		{"shop", "web-0", long_name, "main", false},
		{"shop", "web-0", UID, long_label, false},
	};

	memset(long_label, 'a', sizeof(long_label) - 1);
	memset(long_name, 'a', sizeof(long_name) - 1);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct record r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);
		struct event e;

		r.stop.pod.namespace_ = rows[i].namespace_;
		r.stop.pod.name = rows[i].name;
		r.stop.pod.uid = rows[i].uid;
		r.stop.container.name = rows[i].container;
		print_message("# name %zu\n", i);
		assert_int_equal(event_of_record(&r, "node-1", &e), rows[i].worth);
	}
}

/* A container outside pods, a sandbox, or one of which nothing says what it is. */
static void test_subjects(void **state)
{
	static const enum record_container_kind kinds[] = {CONTAINER_KIND_UNKNOWN,
							   CONTAINER_KIND_SANDBOX,
							   CONTAINER_KIND_SERVICE,
							   CONTAINER_KIND_PROCESS};
	struct record r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);
	struct event e;

	for (size_t i = 0; i < LEN(kinds); i++) {
		r.stop.container.kind = kinds[i];
		assert_false(event_of_record(&r, "node-1", &e));
	}
	r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);
	r.stop.pod.known = false;
	assert_false(event_of_record(&r, "node-1", &e));
	r = stop(OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST);
	r.stop.container.id = NULL;
	assert_false(event_of_record(&r, "node-1", &e));
}

static struct record deaf(enum sender_kind from)
{
	return (struct record){
		.type = RECORD_SIGNAL,
		.signal = {.number = 15,
			   .result = 1,
			   .deaf = true,
			   .reason = UNHEARD_NO_HANDLER,
			   .sender = sender(from),
			   .target = {.pid = 7, .comm = "node\033[31m"},
			   .target_init = true,
			   .pod = pod(),
			   .container = container()},
	};
}

static void test_deaf(void **state)
{
	struct record r = deaf(SENDER_RUNTIME);
	struct event e;

	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.reason, "ContainerDeaf");
	assert_string_equal(e.cause, "no-handler");
	assert_string_equal(
		e.note,
		"kill[812] (the runtime) sent SIGTERM to \"node\\x1b[31m\"[7 on the host], which "
		"has no handler for SIGTERM and never heard it.");
	r.signal.reason = UNHEARD_SHELL;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_non_null(strstr(e.note, "is a shell that never heard SIGTERM and passes"));
	r.signal.deaf = false;
	assert_false(event_of_record(&r, "node-1", &e));
	r = deaf(SENDER_RUNTIME);
	r.signal.target_init = false;
	assert_false(event_of_record(&r, "node-1", &e));
	/* What they send need not be a request to stop. */
	r = deaf(SENDER_HOST);
	assert_false(event_of_record(&r, "node-1", &e));
	r = deaf(SENDER_POD);
	assert_false(event_of_record(&r, "node-1", &e));
}

static struct record step_of(enum shutdown_report what)
{
	return (struct record){
		.type = RECORD_SHUTDOWN,
		.shutdown = {.id = "boot/shutdown/1/released/2",
			     .step = {.what = what,
				      .mode = SHUTDOWN_ASSIST,
				      .action = SHUTDOWN_REBOOT,
				      .reason = SHUTDOWN_PODS_ENDED},
			     .pod = pod(),
			     .container = container()},
	};
}

static void test_shutdown(void **state)
{
	struct record r = step_of(SHUTDOWN_REPORT_KILLED);
	struct event e;

	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.reason, "StoppedOverdue");
	assert_string_equal(e.note, "graced sent SIGKILL in a shutdown of the node (mode assist): "
				    "the container had its time.");
	r.shutdown.step.deaf = true;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.cause, "deaf");
	assert_non_null(strstr(e.note, "PID 1 cannot receive the stop signal."));
	r = step_of(SHUTDOWN_REPORT_RELEASED);
	assert_true(event_of_record(&r, "node-1", &e));
	assert_string_equal(e.reason, "NodeShutdownComplete");
	assert_string_equal(e.note, "No container of a pod has a process any more, for reboot "
				    "(pods-ended).");
	assert_true(e.of_node && !e.warning && e.run);
	assert_string_equal(e.name, "node-1");
	assert_string_equal(e.uid, "node-1");
	assert_string_equal(e.namespace_, "");
	assert_string_equal(e.container, "");
	assert_false(event_of_record(&r, NULL, &e));
	assert_false(event_of_record(&r, "Node_1", &e));
	r.shutdown.step.volumes_known = true;
	r.shutdown.step.n_volumes = 3;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_non_null(strstr(e.note, "still mounted: 3."));
}

static void test_incomplete(void **state)
{
	struct event e;

	for (int what = 0; what < SHUTDOWN_REPORT_COUNT; what++) {
		struct record r = step_of((enum shutdown_report)what);

		if (what != SHUTDOWN_REPORT_RELEASED && what != SHUTDOWN_REPORT_KILLED)
			assert_false(event_of_record(&r, "node-1", &e));
	}
	for (int i = 0; i < 2; i++) {
		struct record r = step_of(SHUTDOWN_REPORT_RELEASED);

		r.shutdown.step.living = i;
		r.shutdown.step.reason = i ? SHUTDOWN_PODS_ENDED : SHUTDOWN_LIMIT;
		assert_false(event_of_record(&r, "node-1", &e));
	}
}

/* The longest names there are, each byte of which takes four to print. */
static void test_bound(void **state)
{
	static char hostile[254];
	struct record r = stop(OUTCOME_KILLED, CAUSE_OTHER_POD, SENDER_POD);
	struct record_sender *s = &r.stop.kill_signal.sender;
	struct event e;

	memset(hostile, '\033', sizeof(hostile) - 1);
	s->process.comm = s->ancestors[0] = s->ancestors[1] = hostile;
	s->pod.namespace_ = s->pod.name = s->container.name = hostile;
	r.stop.gaps = 1u << GAP_EVENTS_LOST | 1u << GAP_NAME_LATE;
	assert_true(event_of_record(&r, "node-1", &e));
	assert_int_equal(strlen(e.note), EVENT_NOTE_MAX - 1);
	assert_non_null(strstr(e.note, ". Evidence is partial: events-lost, name-late."));
	for (const char *at = e.note; *at; at++)
		assert_in_range(*at, 0x20, 0x7e);
}

/* kubectl debug: its shell ignores the request, and ends with the pod or the process it looks at. */
static void test_debugging(void **state)
{
	static const struct {
		enum outcome outcome;
		enum cause cause;
		enum sender_kind from;
		bool worth;
	} rows[] = {
		{OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, SENDER_RUNTIME, false},
		{OUTCOME_KILLED, CAUSE_KILLED_EARLY, SENDER_RUNTIME, false},
		{OUTCOME_KILLED, CAUSE_NO_GRACE, SENDER_KUBELET, false},
		{OUTCOME_KILLED, CAUSE_DEAF_GRACE, SENDER_GRACED, false},
		{OUTCOME_KILLED, CAUSE_PID_NAMESPACE, SENDER_KERNEL, false},
		{OUTCOME_KILLED, CAUSE_OTHER_POD, SENDER_POD, true},
		{OUTCOME_KILLED, CAUSE_HOST, SENDER_HOST, true},
		{OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER, SENDER_KERNEL, true},
	};
	struct record request = {
		.type = RECORD_SIGNAL,
		.signal = {.number = 15,
			   .deaf = true,
			   .target_init = true,
			   .sender = sender(SENDER_RUNTIME),
			   .target = {.pid = 1, .comm = "sh"},
			   .pod = pod(),
			   .container = container()},
	};
	struct event e;

	for (size_t i = 0; i < LEN(rows); i++) {
		struct record r = stop(rows[i].outcome, rows[i].cause, rows[i].from);

		assert_true(event_of_record(&r, "node-1", &e));
		r.stop.container.ephemeral = true;
		assert_int_equal(event_of_record(&r, "node-1", &e), rows[i].worth);
	}
	assert_true(event_of_record(&request, "node-1", &e));
	request.signal.container.ephemeral = true;
	assert_false(event_of_record(&request, "node-1", &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("deaths by someone else's hand are worth an Event, others are not",
		      test_verdicts),
		CLAIM("each kill whose cause is known is, whatever the cause", test_kinds_of_kill),
		CLAIM("a grace period that is not known is not said to be exceeded", test_no_grace),
		CLAIM("a verdict in doubt makes none, and a partial one says so", test_doubt),
		CLAIM("there is none without names that Kubernetes accepts", test_names),
		CLAIM("only containers of pods have Events", test_subjects),
		CLAIM("a deaf container is reported at its stop signal", test_deaf),
		CLAIM("a shutdown's kills and its end are Events", test_shutdown),
		CLAIM("a shutdown that left containers is not complete", test_incomplete),
		CLAIM("a note has 1024 printable bytes at most, and keeps its reservation",
		      test_bound),
		CLAIM("the ordinary end of a debug container is no Event", test_debugging),
	};

	return cmocka_run_group_tests_name("core/events/event", tests, NULL, NULL);
}
