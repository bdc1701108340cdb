// SPDX-License-Identifier: Apache-2.0
/* Claims about core/top: which rows records, time and keys leave on the screen. */
#include "core/top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/stop/advice.h"
#include "lib/claim.h"

#define SEC(n) ((n)*NS_PER_S)

static struct top *top;

/* Before each test; what one leaves is freed by the next. */
static int make(void **state)
{
	const struct filter all = {};

	free(top);
	return top_new(&all, &top);
}

/* Stopped by runc with SIGTERM at 100 s, with a grace period of 30 s. */
static struct record stop_of(const char *pod, enum outcome outcome, enum cause cause,
			     uint64_t exit_ns)
{
	return (struct record){
		.type = RECORD_STOP,
		.at_ns = exit_ns,
		.stop =
			{
				.pod = {.known = true, .namespace_ = "shop", .name = pod},
				.container = {.known = true,
					      .name = "main",
					      .kind = CONTAINER_KIND_CONTAINER},
				.stop_signal = {.known = true,
						.number = 15,
						.at_ns = SEC(100),
						.sender = {.kind = SENDER_RUNTIME,
							   .process = {.pid = 7, .comm = "runc"}}},
				.grace = {.from = GRACE_SPEC, .ns = SEC(30)},
				.latency_known = true,
				.latency_ns = exit_ns - SEC(100),
				.outcome = outcome,
				.cause = cause,
			},
	};
}

static struct record kill_of(const char *pod, const char *comm, enum cause cause)
{
	struct record r = stop_of(pod, OUTCOME_KILLED, cause, SEC(131));

	r.stop.kill_signal = (struct record_sigref){
		.known = true,
		.number = 9,
		.sender = {.kind = SENDER_HOST, .process = {.pid = 8, .comm = comm}}};
	return r;
}

static void add_stopping(const char *pod, uint64_t asked_ns, uint64_t grace_ns)
{
	struct record r = stop_of(pod, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, asked_ns);

	r.stop.stop_signal.at_ns = asked_ns;
	r.stop.grace.ns = grace_ns;
	if (!grace_ns)
		r.stop.grace.from = GRACE_UNKNOWN;
	top_add_stopping(top, &r.stop);
}

/* The names of a section's rows in order, by their first letter after the namespace. */
static const char *order_of(enum top_section section)
{
	static char ret[TOP_ROWS_MAX + 1];
	const struct top_data *d = top_data(top);
	uint16_t rows[TOP_ROWS_MAX];
	size_t n = top_rows(top, section, rows);

	for (size_t i = 0; i < n; i++) {
		const char *name = section == TOP_STOPPING  ? d->stopping[rows[i]].name
				   : section == TOP_STOPPED ? d->stopped[rows[i]].name
				   : section == TOP_DEAF    ? d->deaf[rows[i]].name
							    : d->killers[rows[i]].who;

		ret[i] = section == TOP_KILLERS ? name[0] : name[strlen("shop/")];
	}
	ret[n] = '\0';
	return ret;
}

static void type(const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(top_press(top, (unsigned char)*keys), TOP_NOTHING);
}

static void test_stopping(void **state)
{
	const struct top_stop *row = &top->live.stopping[0];

	top_set_moment(top, SEC(110), 0, 0);
	add_stopping("a", SEC(100), SEC(30));
	add_stopping("b", SEC(101), SEC(10));
	add_stopping("c", SEC(90), 0);
	assert_int_equal(top->live.n[TOP_STOPPING], 0);
	top_end_stopping(top);
	assert_string_equal(row->name, "shop/a/main");
	assert_string_equal(row->by, "runc[7]");
	assert_int_equal(row->deadline_ns, SEC(130));
	assert_int_equal(top->live.stopping[2].deadline_ns, 0);
	assert_string_equal(order_of(TOP_STOPPING), "bac");
	type("s");
	assert_string_equal(order_of(TOP_STOPPING), "cab");
	type("r");
	assert_string_equal(order_of(TOP_STOPPING), "bac");
	type("s");
	assert_string_equal(order_of(TOP_STOPPING), "abc");
	type("s");
	assert_string_equal(top_order_name(top, TOP_STOPPING), "deadline");
	top_set_moment(top, SEC(111), 0, 0);
	assert_int_equal(top->live.n[TOP_STOPPING], 3);
	top_end_stopping(top);
	assert_int_equal(top->live.n[TOP_STOPPING], 0);
}

/* So many that there is no room: the first to be killed stay, and all are counted. */
static void test_stopping_full(void **state)
{
	top_set_moment(top, SEC(110), 0, 0);
	for (unsigned int i = 0; i < TOP_STOPPING_MAX; i++)
		add_stopping("x", SEC(100), i % 2 ? SEC(60) : 0);
	add_stopping("y", SEC(100), SEC(90));
	add_stopping("z", SEC(100), 0);
	top_end_stopping(top);
	assert_int_equal(top->live.n[TOP_STOPPING], TOP_STOPPING_MAX);
	assert_int_equal(top->live.all_stopping, TOP_STOPPING_MAX + 2);
	assert_non_null(strchr(order_of(TOP_STOPPING), 'y'));
	assert_null(strchr(order_of(TOP_STOPPING), 'z'));
}

static void test_stopped(void **state)
{
	struct record a = stop_of("a", OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, SEC(101));
	struct record b = kill_of("b", "kubelet", CAUSE_GRACE_EXPIRED);
	struct record c = stop_of("c", OUTCOME_FAILED, CAUSE_SELF, SEC(140));

	c.stop.stop_signal.known = c.stop.latency_known = false;
	top_record(top, &a);
	top_record(top, &b);
	top_record(top, &c);
	assert_string_equal(top->live.stopped[2].by, "runc[7]");
	assert_string_equal(top->live.stopped[1].by, "kubelet[8]");
	assert_string_equal(top->live.stopped[0].by, "");
	assert_true(top->live.stopped[1].margin_known);
	assert_true(top->live.stopped[1].margin_ns == -(int64_t)SEC(1));
	assert_false(top->live.stopped[0].margin_known);
	type("\t");
	assert_string_equal(order_of(TOP_STOPPED), "cba");
	type("s");
	assert_string_equal(order_of(TOP_STOPPED), "bca");
	type("s");
	assert_string_equal(top_order_name(top, TOP_STOPPED), "margin");
	assert_string_equal(order_of(TOP_STOPPED), "bac");
	type("s");
	assert_string_equal(order_of(TOP_STOPPED), "bac");
	type("s");
	assert_string_equal(order_of(TOP_STOPPED), "abc");
	for (unsigned int i = 0; i < TOP_STOPPED_MAX; i++)
		top_record(top, &a);
	assert_int_equal(top->live.n[TOP_STOPPED], TOP_STOPPED_MAX);
	assert_int_equal(top->live.all_stopped, TOP_STOPPED_MAX + 3);
	assert_int_equal(top->live.killed, 1);
}

static void test_sandbox(void **state)
{
	struct record r = kill_of("a", "containerd-shim", CAUSE_NO_GRACE);

	r.stop.container.kind = CONTAINER_KIND_SANDBOX;
	top_record(top, &r);
	top_set_moment(top, SEC(1), 0, 0);
	top_add_stopping(top, &r.stop);
	top_end_stopping(top);
	assert_int_equal(top->live.all_stopped + top->live.all_stopping + top->live.killed, 0);
	r.stop.gaps = 1u << GAP_SANDBOX_GUESSED;
	top_record(top, &r);
	assert_int_equal(top->live.all_stopped, 1);
}

static void test_deaf(void **state)
{
	struct record signal = {
		.type = RECORD_SIGNAL,
		.at_ns = SEC(100),
		.signal = {.number = 15,
			   .deaf = true,
			   .reason = UNHEARD_NO_HANDLER,
			   .target_init = true,
			   .pod = {.known = true, .namespace_ = "shop", .name = "a"},
			   .container = {.known = true, .name = "main"}},
	};
	struct record stop = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);

	top_record(top, &signal);
	assert_int_equal(top->live.n[TOP_DEAF], 1);
	assert_int_equal(top->live.deaf[0].times, 0);
	stop.stop.reason = UNHEARD_NO_HANDLER;
	top_record(top, &stop);
	top_record(top, &signal);
	top_record(top, &stop);
	assert_int_equal(top->live.n[TOP_DEAF], 1);
	assert_int_equal(top->live.deaf[0].times, 2);
	assert_false(top->live.deaf[0].now);
	signal.signal.target_init = false;
	signal.signal.pod.name = "b";
	top_record(top, &signal);
	assert_int_equal(top->live.n[TOP_DEAF], 1);
}

static void audit(const char *const *pods)
{
	struct audit_record r = {.pod = {.known = true, .namespace_ = "shop"},
				 .container = {.known = true, .name = "main"},
				 .audit = {AUDIT_DEAF, AUDIT_SHELL, 0}};
	struct top_finding finding;

	top_begin_audit(top);
	for (; *pods; pods++) {
		r.pod.name = *pods;
		assert_true(top_finding_of(&r, &finding));
		top_add_finding(top, &finding);
	}
	top_end_audit(top);
}

/* What becomes of the row of a container that the audit has found when its stop is over. */
static void test_deaf_ends(void **state)
{
	static const struct {
		enum outcome outcome;
		enum unheard reason;
		bool signalled, asked; /* a signal had no effect; it was asked to stop */
		bool listed;
		uint64_t times;
	} rows[] = {
		{OUTCOME_GRACEFUL, UNHEARD_NONE, false, true, false, 0},
		{OUTCOME_GRACEFUL, UNHEARD_NONE, true, true, false, 0},
		{OUTCOME_GRACEFUL, UNHEARD_NO_HANDLER, true, true, false, 0},
		{OUTCOME_TERMINATED, UNHEARD_IGNORED, true, true, false, 0},
		{OUTCOME_COMPLETED, UNHEARD_NONE, false, false, false, 0},
		{OUTCOME_KILLED, UNHEARD_NO_HANDLER, true, true, true, 1},
		{OUTCOME_KILLED, UNHEARD_NO_HANDLER, false, true, true, 1},
		/* Asked and killed, and why it did not act cannot be said. */
		{OUTCOME_KILLED, UNHEARD_NONE, false, true, true, 0},
		{OUTCOME_KILLED, UNHEARD_NONE, false, false, false, 0},
		{OUTCOME_OOM_KILLED, UNHEARD_NO_HANDLER, true, true, true, 1},
	};
	static const char *const a[] = {"a", NULL}, *const none[] = {NULL};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct record stop = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);
		struct record signal = {.type = RECORD_SIGNAL, .at_ns = SEC(100)};

		signal.signal.deaf = signal.signal.target_init = true;
		signal.signal.pod = stop.stop.pod;
		signal.signal.container = stop.stop.container;
		stop.stop.outcome = rows[i].outcome;
		stop.stop.reason = rows[i].reason;
		stop.stop.stop_signal.known = rows[i].asked;
		audit(a);
		if (rows[i].signalled)
			top_record(top, &signal);
		assert_true(top->live.deaf[0].now);
		top_record(top, &stop);
		if (top->live.n[TOP_DEAF] != rows[i].listed)
			fail_msg("row %zu", i);
		audit(none);
		assert_int_equal(top->live.n[TOP_DEAF], rows[i].listed);
		assert_true(!rows[i].listed ||
			    (!top->live.deaf[0].now && top->live.deaf[0].times == rows[i].times));
		/* It is made again, and hears no better. */
		audit(a);
		assert_true(top->live.deaf[0].now);
		audit(none);
		assert_int_equal(top->live.n[TOP_DEAF], rows[i].listed);
		make(state);
	}
}

static void test_deaf_order(void **state)
{
	static const char *const b[] = {"b", NULL};
	struct record stop = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);

	stop.stop.reason = UNHEARD_NO_HANDLER;
	audit(b);
	top_record(top, &stop);
	top->focus = TOP_DEAF;
	for (int i = 0; i < 3; i++, top_press(top, 's'))
		assert_string_equal(order_of(TOP_DEAF), "ba");
}

static void test_audit(void **state)
{
	static const char *const ab[] = {"a", "b", NULL}, *const c[] = {"c", NULL};
	static const char *const none[] = {NULL};
	struct record stop = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);
	struct top_finding cut = {.name = "shop/d/main", .topic = AUDIT_SHELL};

	audit(ab);
	assert_string_equal(order_of(TOP_DEAF), "ab");
	assert_int_equal(top->live.deaf[0].topic, AUDIT_SHELL);
	assert_int_equal(top->live.deaf[0].times, 0);
	stop.stop.reason = UNHEARD_NO_HANDLER;
	top_record(top, &stop);
	assert_int_equal(top->live.n[TOP_DEAF], 2);
	audit(c);
	assert_string_equal(order_of(TOP_DEAF), "ca");
	assert_int_equal(top->live.deaf[0].times, 1);
	audit(none);
	assert_string_equal(order_of(TOP_DEAF), "a");
	/* One that fails removes none. */
	audit(ab);
	top_begin_audit(top);
	top_add_finding(top, &cut);
	assert_string_equal(order_of(TOP_DEAF), "abd");
	audit(none);
	assert_string_equal(order_of(TOP_DEAF), "a");
}

static void test_audit_full(void **state)
{
	struct record stop = kill_of("z", "runc", CAUSE_GRACE_EXPIRED);

	for (int i = 0; i < 2 * TOP_DEAF_MAX; i++) {
		struct top_finding finding = {.topic = AUDIT_SHIELD};

		snprintf(finding.name, sizeof(finding.name), "shop/%d", i);
		top_add_finding(top, &finding);
	}
	assert_int_equal(top->live.n[TOP_DEAF], TOP_DEAF_MAX);
	stop.stop.reason = UNHEARD_NO_HANDLER;
	top_record(top, &stop);
	assert_int_equal(top->live.n[TOP_DEAF], TOP_DEAF_MAX);
	assert_int_equal(order_of(TOP_DEAF)[TOP_DEAF_MAX - 1], 'z');
}

static void test_was_full(void **state)
{
	struct top_finding finding = {.topic = AUDIT_SHIELD};
	char pod[16];

	for (int i = 0; i < TOP_DEAF_MAX; i++) {
		struct record stop;

		snprintf(pod, sizeof(pod), "%d", i);
		stop = kill_of(pod, "runc", CAUSE_GRACE_EXPIRED);
		stop.stop.reason = UNHEARD_NO_HANDLER;
		top_record(top, &stop);
	}
	for (int i = 0; i < TOP_DEAF_MAX; i++) {
		snprintf(finding.name, sizeof(finding.name), "shop/new-%d/main", i);
		top_add_finding(top, &finding);
		assert_int_equal(top->live.n[TOP_DEAF], TOP_DEAF_MAX);
		assert_string_equal(top->live.deaf[TOP_DEAF_MAX - 1 - i].name, finding.name);
		assert_true(top->live.deaf[TOP_DEAF_MAX - 1 - i].now);
	}
	/* All of them are deaf now. */
	strcpy(finding.name, "shop/late/main");
	top_add_finding(top, &finding);
	for (size_t i = 0; i < TOP_DEAF_MAX; i++)
		assert_string_not_equal(top->live.deaf[i].name, finding.name);
}

static void test_finding(void **state)
{
	static const struct {
		struct audit audit;
		bool is;
		const char *words;
	} cases[] = {
		{{AUDIT_HEARS, AUDIT_HANDLER, 0}, false, NULL},
		{{AUDIT_DIES, AUDIT_DEFAULT, 0}, false, NULL},
		{{AUDIT_UNKNOWN, AUDIT_BUSY, 0}, false, NULL},
		{{AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_FROZEN}, false, NULL},
		{{AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_SHELL_WAITS},
		 true,
		 "trap waits for the app"},
		{{AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_CHILD_IGNORES},
		 true,
		 "its child ignores it"},
		{{AUDIT_IGNORES, AUDIT_SIG_IGN, 0}, true, "ignores the signal"},
		{{AUDIT_IGNORES, AUDIT_DEFAULT_IGNORE, 0}, true, "has no handler for it"},
		{{AUDIT_DEAF, AUDIT_SHIELD, 0}, true, "PID 1 without a handler"},
		{{AUDIT_DEAF, AUDIT_SHELL, 1u << AUDIT_FROZEN}, true, "a shell passes nothing on"},
		{{AUDIT_DEAF, AUDIT_BLOCKED, 0}, true, "blocks it in every thread"},
		{{AUDIT_DEAF, AUDIT_SUSPENDS, 0}, true, "the signal only suspends"},
	};
	struct audit_record r = {.container = {.known = true, .name = "main"}};
	struct top_finding finding;

	for (size_t i = 0; i < LEN(cases); i++) {
		r.audit = cases[i].audit;
		assert_int_equal(top_finding_of(&r, &finding), cases[i].is);
		if (cases[i].is)
			assert_string_equal(advice_in_words(finding.topic), cases[i].words);
	}
	r.container.kind = CONTAINER_KIND_SANDBOX;
	assert_false(top_finding_of(&r, &finding));
	for (int i = UNHEARD_NONE + 1; i < UNHEARD_BEFORE_EXEC; i++)
		assert_non_null(advice_in_words(advice_of_unheard(i)));
}

static void test_killers(void **state)
{
	struct record a = kill_of("a", "alpha", CAUSE_GRACE_EXPIRED);
	struct record b = kill_of("b", "beta", CAUSE_KILLED_EARLY);
	struct record oom = stop_of("c", OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER, SEC(120));

	top_record(top, &a);
	top_record(top, &b);
	top_record(top, &b);
	top_record(top, &oom);
	assert_string_equal(order_of(TOP_KILLERS), "baO");
	assert_string_equal(top->live.killers[1].who, "beta");
	assert_string_equal(top->live.killers[1].victim, "shop/b/main");
	assert_int_equal(top->live.killers[1].kills, 2);
	assert_int_equal(top->live.killers[1].early, 2);
	assert_string_equal(top->live.killers[2].who, "OOM killer");
	assert_int_equal(top->live.killed, 4);
	assert_int_equal(top->live.early, 2);
}

/* Whoever changes its name with each kill does not drive out the one that kills most. */
static void test_killers_full(void **state)
{
	struct record most = kill_of("a", "most", CAUSE_GRACE_EXPIRED);
	uint16_t rows[TOP_ROWS_MAX];

	top_record(top, &most);
	top_record(top, &most);
	for (int i = 0; i < 10 * TOP_KILLERS_MAX; i++) {
		char comm[16];
		struct record r;

		snprintf(comm, sizeof(comm), "k%d", i);
		r = kill_of("b", comm, CAUSE_GRACE_EXPIRED);
		top_record(top, &r);
	}
	assert_int_equal(top_rows(top, TOP_KILLERS, rows), TOP_KILLERS_MAX);
	assert_string_equal(top->live.killers[rows[0]].who, "most");
}

static void test_names(void **state)
{
	struct record r = kill_of("a", "sh", CAUSE_OTHER_POD);
	char pod[400];

	r.stop.kill_signal.sender.kind = SENDER_POD;
	r.stop.kill_signal.sender.pod =
		(struct record_pod){.known = true, .namespace_ = "shop", .name = "job"};
	r.stop.kill_signal.sender.container =
		(struct record_container){.known = true, .name = "run"};
	top_record(top, &r);
	assert_string_equal(top->live.killers[0].who, "sh (shop/job/run)");
	/* A name that is too long keeps its end, and no half of a character. */
	for (size_t i = 0; i + 2 < sizeof(pod); i += 2)
		memcpy(pod + i, "\xc3\xa9", 3);
	r.stop.pod.name = pod;
	top_record(top, &r);
	assert_int_equal((unsigned char)top->live.stopped[0].name[0], 0xc3);
	assert_non_null(strstr(top->live.stopped[0].name, "/main"));
	r.stop.pod = (struct record_pod){.known = true, .uid = "12345678-9999"};
	r.stop.container = (struct record_container){.known = true, .id = "0123456789abcdef"};
	top_record(top, &r);
	assert_string_equal(top->live.stopped[0].name, "12345678/0123456789ab");
	/* Its program tells what it is, and not which one. */
	r.stop.reason = UNHEARD_NO_HANDLER;
	r.stop.process.comm = "sh";
	top_record(top, &r);
	r.stop.process.comm = "redis";
	top_record(top, &r);
	assert_int_equal(top->live.n[TOP_DEAF], 1);
	assert_string_equal(top->live.deaf[0].name, "12345678/0123456789ab (redis)");
	r.stop.process.comm = NULL;
	r.stop.pod = (struct record_pod){};
	r.stop.container = (struct record_container){.cgroup = "/system.slice/a.service"};
	top_record(top, &r);
	assert_string_equal(top->live.stopped[0].name, "a.service");
}

static void test_filter(void **state)
{
	struct record a = kill_of("alpha", "runc", CAUSE_GRACE_EXPIRED);
	struct record b = kill_of("beta", "kubelet", CAUSE_GRACE_EXPIRED);

	a.stop.reason = UNHEARD_NO_HANDLER;
	top_record(top, &a);
	top_record(top, &b);
	type("/ALQ\x7fP");
	assert_string_equal(top->filter, "ALP");
	assert_string_equal(order_of(TOP_STOPPED), "a");
	type("\n");
	assert_false(top->typing);
	assert_string_equal(order_of(TOP_KILLERS), "r");
	type("/");
	assert_int_equal(top_press(top, 'u' & 0x1f), TOP_NOTHING);
	type("kubelet");
	assert_string_equal(order_of(TOP_STOPPED), "b");
	assert_int_equal(top_press(top, 0x1b), TOP_NOTHING);
	assert_string_equal(order_of(TOP_STOPPED), "ba");
	add_stopping("x", SEC(100), SEC(30));
	top->coming.rows[0].deaf = true;
	add_stopping("y", SEC(100), SEC(30));
	top_end_stopping(top);
	type("/Deaf\n");
	assert_string_equal(order_of(TOP_STOPPING), "x");
	assert_string_equal(order_of(TOP_STOPPED), "a");
	assert_string_equal(order_of(TOP_DEAF), "a");
	/* More than there is room for, and a character of two bytes taken back. */
	type("/");
	for (int i = 0; i < 2 * TOP_FILTER_SIZE; i++)
		type("x");
	assert_int_equal(strlen(top->filter), TOP_FILTER_SIZE - 1);
	assert_int_equal(top_press(top, 'u' & 0x1f), TOP_NOTHING);
	type("a\xc3\xa9");
	assert_int_equal(top_press(top, TOP_KEY_BACKSPACE), TOP_NOTHING);
	assert_string_equal(top->filter, "a");
}

static void test_pause(void **state)
{
	struct record a = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);

	top_set_moment(top, SEC(110), 0, 0);
	add_stopping("x", SEC(100), SEC(30));
	top_end_stopping(top);
	type("p");
	top_set_moment(top, SEC(120), 0, 0);
	top_end_stopping(top);
	top_record(top, &a);
	assert_int_equal(top_data(top)->now_ns, SEC(110));
	assert_string_equal(order_of(TOP_STOPPING), "x");
	assert_string_equal(order_of(TOP_STOPPED), "");
	type(" ");
	assert_int_equal(top_data(top)->now_ns, SEC(120));
	assert_string_equal(order_of(TOP_STOPPING), "");
	assert_string_equal(order_of(TOP_STOPPED), "a");
}

static void test_quit(void **state)
{
	assert_int_equal(top_press(top, 'q'), TOP_QUIT);
	assert_int_equal(top_press(top, 'l' & 0x1f), TOP_REDRAW);
	type("h");
	assert_true(top->help);
	type("q");
	assert_false(top->help);
	/* In a filter it is a letter. */
	type("/q");
	assert_string_equal(top->filter, "q");
}

static void assert_rooms(size_t lines, const char *want)
{
	char got[64];
	size_t used = 0;

	top_fit(top, lines);
	snprintf(got, sizeof(got), "%zu %zu %zu %zu", top->room[0], top->room[1], top->room[2],
		 top->room[3]);
	assert_string_equal(got, want);
	for (unsigned int i = 0; i < TOP_SECTIONS; i++)
		used += top->room[i] ? top->room[i] + 1 : 0;
	assert_in_range(used, 0, lines);
}

static void test_fit(void **state)
{
	struct record a = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);

	assert_rooms(22, "1 1 1 1");
	assert_rooms(8, "1 1 1 1");
	assert_rooms(7, "1 0 0 0");
	assert_rooms(2, "1 0 0 0");
	assert_rooms(1, "0 0 0 0");
	assert_rooms(0, "0 0 0 0");
	top_set_moment(top, SEC(110), 0, 0);
	for (int i = 0; i < 40; i++) {
		add_stopping("x", SEC(100), SEC(30));
		top_record(top, &a);
	}
	top_end_stopping(top);
	assert_rooms(22, "8 8 1 1");
	assert_rooms(1000, "40 40 1 1");
	type("2");
	assert_rooms(22, "0 21 0 0");
	type("2");
	assert_rooms(7, "0 6 0 0");
}

static void test_scroll(void **state)
{
	struct record a = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);
	static const struct {
		int key;
		size_t from;
	} keys[] = {
		{TOP_KEY_UP, 0},
		{TOP_KEY_DOWN, 1},
		{'j', 2},
		{'k', 1},
		{TOP_KEY_PAGE_DOWN, 20},
		{TOP_KEY_PAGE_DOWN, 21},
		{TOP_KEY_PAGE_UP, 2},
		{TOP_KEY_PAGE_UP, 0},
		{TOP_KEY_END, 21},
		{TOP_KEY_DOWN, 21},
		{TOP_KEY_HOME, 0},
	};

	for (int i = 0; i < 40; i++)
		top_record(top, &a);
	type("2");
	top_fit(top, 20);
	for (size_t i = 0; i < LEN(keys); i++) {
		top_press(top, keys[i].key);
		top_fit(top, 20);
		assert_int_equal(top->from[TOP_STOPPED], keys[i].from);
	}
	type("\t");
	assert_int_equal(top->focus, TOP_DEAF);
	top_press(top, TOP_KEY_BACK_TAB);
	assert_int_equal(top->focus, TOP_STOPPED);
}

/* Whatever is pressed, it stays in its bounds. */
static void test_any_keys(void **state)
{
	struct record a = kill_of("a", "runc", CAUSE_GRACE_EXPIRED);
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		random = random * 1664525 + 1013904223;
		top_press(top, (int)(random >> 8) % 270);
		if (i % 100 == 0)
			top_record(top, &a);
		top_fit(top, (random >> 4) % 50);
		assert_in_range(top->focus, 0, TOP_SECTIONS - 1);
		assert_non_null(top_order_name(top, top->focus));
		order_of(top->focus);
	}
}

#define FRESH(sentence, function)                    \
	{                                            \
		sentence, function, make, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH("stops under way have their deadlines, and come in the order asked for",
		      test_stopping),
		FRESH("of too many those with the first deadlines are kept, and all are counted",
		      test_stopping_full),
		FRESH("a stop that is over has who killed or asked it, and its margin where known",
		      test_stopped),
		FRESH("sandboxes have no rows, but guesses have", test_sandbox),
		FRESH("a container is deaf from its signal on, and its stops are counted once",
		      test_deaf),
		FRESH("a container that was asked and killed was deaf, one that left by itself not",
		      test_deaf_ends),
		FRESH("those that are deaf come before those that were", test_deaf_order),
		FRESH("what an audit finds comes and goes with its container; what was seen stays",
		      test_audit),
		FRESH("an audit of too many containers is bounded, and hides no seen one",
		      test_audit_full),
		FRESH("of too many that were deaf the oldest make room for one that is",
		      test_was_full),
		FRESH("an audit is one of a deaf container where its signal does not end it",
		      test_finding),
		FRESH("who kills is counted, with early kills and the OOM killer", test_killers),
		FRESH("of too many killers those that killed least make room", test_killers_full),
		FRESH("names are those of pods and containers, else ids, and keep their end",
		      test_names),
		FRESH("a filter finds names, senders and outcomes in any case", test_filter),
		FRESH("what is paused stands still, and goes on with all that happened",
		      test_pause),
		FRESH("q quits, but not from the help or within a filter", test_quit),
		FRESH("lines are shared out by what sections have, never more than there are",
		      test_fit),
		FRESH("scrolling ends at the last row", test_scroll),
		FRESH("no sequence of keys leaves the bounds", test_any_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
