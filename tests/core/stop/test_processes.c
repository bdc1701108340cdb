// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/processes: whose end an init passed on, what ended the container then, and
 * which of its processes were cut. */
#include "core/stop/processes.h"

#include <string.h>

#include "core/stop/asked.h"
#include "lib/engine/processes_bench.h"

static void shoot_flags(struct bench *b, uint64_t at_ns, uint32_t pid, uint32_t sig, uint32_t from,
			uint32_t flags)
{
	struct graced_proc by = bench_proc(from);
	const struct obs_signal obs = {
		.sig = sig, .flags = flags, .target = bench_proc(pid), .sender = by};
	struct sender sender = {.relation = flags & GRACED_SIG_PARENT_DEATH ? RELATION_PARENT
					    : from == pid		    ? RELATION_SELF
							  : RELATION_SAME_CONTAINER,
				.kind = SENDER_CONTAINER,
				.proc = by};

	sender.proc.watch_id = 0;
	processes_signalled(&b->map, b->stop, &obs, at_ns, sig == 15, &sender);
	sender_done(&b->map, &sender);
}

static struct outcome_verdict verdict_of(const struct bench *b)
{
	struct outcome_facts facts;

	stop_facts(b->stop, stop_gaps(b->stop), &facts);
	return outcome_decide(&facts);
}

static void assert_judged(const struct bench *b, enum outcome outcome, enum cause cause)
{
	assert_int_equal(verdict_of(b).outcome, outcome);
	assert_int_equal(verdict_of(b).cause, cause);
}

/* What a process of the name "timeout" has for its name until it ends. */
static void ends_as_timeout(struct bench *b, uint64_t at_ns, uint32_t pid, uint32_t status)
{
	struct obs_exit obs = {.proc = bench_proc(pid), .parent_pid = INIT, .status = status};

	strcpy(obs.proc.comm, "timeout");
	if (pid == INIT) {
		assert_true(stop_advance(b->stop, STOP_EV_EXIT));
		stop_exited(b->stop, &obs, at_ns);
	} else {
		processes_exited(&b->map, b->stop, &obs, at_ns);
	}
}

/* --- whose end ------------------------------------------------------------------------------- */

/* A child ends with a status, and init so many tenths of a second later. */
static void test_passed_on(void **state)
{
	static const struct {
		const char *what;
		uint32_t childs, parent, inits;
		int later;
		bool passed;
	} want[] = {
		{"128 + its signal", 9, INIT, CODE(137), 1, true},
		{"... with a core", 0x8b, INIT, CODE(139), 1, true},
		{"128 + another signal", 11, INIT, CODE(137), 1, false},
		{"its code", CODE(3), INIT, CODE(3), 1, true},
		{"another code", CODE(3), INIT, CODE(4), 1, false},
		{"it left with 0, as init did", CODE(0), INIT, CODE(0), 1, false},
		{"the number of its signal", 9, INIT, CODE(9), 1, false},
		{"a second later", 9, INIT, CODE(137), 10, true},
		{"its code, more than a second later", CODE(3), INIT, CODE(3), 11, false},
		{"more than a minute later", 9, INIT, CODE(137), 601, false},
		{"another process's child", 9, INIT + 7, CODE(137), 1, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		bool sure;

		print_message("%s\n", want[i].what);
		bench_open_init(&b, STOP_RUNNING);
		bench_ends(&b, AT(0), INIT + 1, want[i].parent, want[i].childs);
		bench_init_ends(&b, AT(want[i].later), want[i].inits);
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].passed);
		/* Init may have chosen the code itself. */
		assert_int_equal(sure, !want[i].passed || want[i].childs & 0x7f);
		assert_int_equal(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN, 0);
		bench_close(&b);
	}
}

/* It goes on for so many tenths of a second: a guess, then its own code as far as known. */
static void test_passed_late(void **state)
{
	static const struct {
		int later;
		bool passed, sure;
		enum outcome outcome;
	} want[] = {
		{10, true, true, OUTCOME_KILLED},    {11, true, false, OUTCOME_KILLED},
		{100, true, false, OUTCOME_KILLED},  {101, false, false, OUTCOME_FAILED},
		{600, false, false, OUTCOME_FAILED}, {601, false, true, OUTCOME_FAILED},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct outcome_facts facts;
		struct bench b;
		bool sure;

		print_message("%d\n", want[i].later);
		bench_open_init(&b, STOP_RUNNING);
		bench_ends(&b, AT(0), INIT + 1, INIT, 9);
		bench_init_ends(&b, AT(want[i].later), CODE(137));
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].passed);
		assert_int_equal(sure, want[i].sure);
		assert_int_equal(!(stop_gaps(b.stop) >> GAP_CHILD_UNCERTAIN & 1), want[i].sure);
		stop_facts(b.stop, 0, &facts);
		assert_int_equal(outcome_decide(&facts).outcome, want[i].outcome);
		bench_close(&b);
	}
}

/* init, a shell, and what the shell runs. */
static void test_through_others(void **state)
{
	const struct process *via;
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 2, INIT + 1, 9);
	bench_ends(&b, AT(1), INIT + 1, INIT, CODE(137));
	bench_init_ends(&b, AT(2), CODE(137));
	via = processes_via(b.stop, &sure);
	assert_non_null(via);
	assert_int_equal(via->proc.pid, INIT + 2);
	assert_true(sure);
	bench_close(&b);
}

/* A script may do something first, or the machine be busy. */
static void test_late(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(11), CODE(137));
	assert_non_null(processes_via(b.stop, &sure));
	assert_false(sure);
	assert_true(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN);
	bench_close(&b);
	/* What was so before says nothing of the last one. */
	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_ends(&b, AT(100), INIT + 2, INIT, 9);
	bench_init_ends(&b, AT(101), CODE(137));
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 2);
	assert_true(sure);
	bench_close(&b);
}

/* What tini -g runs and that one's child die of the signal, and tini adopts the child. */
static void test_adopted(void **state)
{
	static const uint32_t flags[] = {GRACED_SIG_BLOCKED,
					 GRACED_SIG_BLOCKED | GRACED_SIG_WAITED};
	struct bench b;
	bool sure;

	for (size_t i = 0; i < LEN(flags); i++) {
		bench_open_init(&b, STOP_RUNNING);
		*asked_want(b.stop, &b.stop->request) = (struct stop_signal){
			.seen = true, .number = 15, .flags = flags[i], .at_ns = AT(0)};
		bench_ends(&b, AT(1), INIT + 1, INIT, 15);
		bench_ends(&b, AT(2), INIT + 2, INIT, 15);
		bench_init_ends(&b, AT(3), CODE(143));
		assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 1);
		assert_false(sure);
		bench_close(&b);
	}
}

static void test_not_sure(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_ends(&b, AT(1), INIT + 2, INIT, 9);
	bench_init_ends(&b, AT(2), CODE(137));
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 2);
	assert_false(sure);
	assert_true(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN);
	bench_close(&b);
}

/* The kernel half says with each exit how many it has left out. */
static void test_missed(void **state)
{
	static const struct {
		uint32_t at_child, at_init;
		bool named, sure;
	} want[] = {
		{3, 3, true, true}, /* all of them before its end */
		{3, 4, true, false},
		{0, 0, false, true},
		{0, 1, false, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		bool sure;

		bench_open_init(&b, STOP_RUNNING);
		processes_missed(b.stop, want[i].at_child, AT(0));
		if (want[i].named)
			bench_ends(&b, AT(0), INIT + 1, INIT, 9);
		processes_missed(b.stop, want[i].at_child, AT(0));
		bench_init_ends(&b, AT(1), CODE(137));
		processes_missed(b.stop, want[i].at_init, AT(1));
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].named);
		assert_int_equal(sure, want[i].sure);
		bench_close(&b);
	}
}

/* An init that is no PID 1 sends itself the signal that its child died of: PID 1 can only fault. */
static void test_same_signal(void **state)
{
	static const struct {
		enum relation from;
		uint32_t ns_pid;
		bool passed;
	} want[] = {{RELATION_SELF, INIT, true},
		    {RELATION_SELF, 1, false},
		    {RELATION_HOST, INIT, false},
		    {RELATION_KERNEL, INIT, false}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		bool sure;

		bench_open_init(&b, STOP_RUNNING);
		bench_signal(&b, AT(0), INIT + 1, 11, RELATION_KERNEL);
		bench_ends(&b, AT(0), INIT + 1, INIT, 11);
		bench_shoot(&b, AT(1), 11, want[i].from, 0, GRACED_SIG_DFL);
		bench_init_ends(&b, AT(1), 11);
		b.stop->init.ns_pid = want[i].ns_pid;
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].passed);
		bench_close(&b);
	}
}

/* --- what ended the container ---------------------------------------------------------------- */

static void test_verdict(void **state)
{
	static const struct {
		uint32_t sig;
		enum relation from;
		enum outcome outcome;
		enum cause cause;
	} want[] = {
		{9, RELATION_HOST, OUTCOME_KILLED, CAUSE_HOST},
		{9, RELATION_SAME_CONTAINER, OUTCOME_KILLED, CAUSE_SAME_CONTAINER},
		{9, RELATION_OTHER_POD, OUTCOME_KILLED, CAUSE_OTHER_POD},
		{9, RELATION_SELF, OUTCOME_KILLED, CAUSE_SELF},
		{11, RELATION_KERNEL, OUTCOME_CRASHED, CAUSE_KERNEL},
		{6, RELATION_SELF, OUTCOME_CRASHED, CAUSE_SELF},
		{11, RELATION_HOST, OUTCOME_CRASHED, CAUSE_HOST},
		{15, RELATION_HOST, OUTCOME_TERMINATED, CAUSE_HOST},
		{9, RELATION_PARENT, OUTCOME_KILLED, CAUSE_PARENT_DEATH},
		{15, RELATION_PARENT, OUTCOME_TERMINATED, CAUSE_PARENT_DEATH},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		bench_signal(&b, AT(0), INIT + 1, want[i].sig, want[i].from);
		bench_ends(&b, AT(0), INIT + 1, INIT, want[i].sig);
		bench_init_ends(&b, AT(1), CODE(128 + want[i].sig));
		assert_judged(&b, want[i].outcome, want[i].cause);
		assert_int_equal(stop_gaps(b.stop), 0);
		bench_close(&b);
	}
}

/* A child that its own parent ends, unasked. */
static void test_supervised(void **state)
{
	static const struct {
		const char *what;
		uint32_t sig, from, inits;
		bool timeout;
		enum outcome outcome;
		enum cause cause;
		bool via, sure;
	} want[] = {
		{"by SIGKILL, which is passed on", 9, INIT, CODE(137), false, OUTCOME_KILLED,
		 CAUSE_SUPERVISOR, true, true},
		{"by SIGTERM, which is passed on", 15, INIT, CODE(143), false, OUTCOME_TERMINATED,
		 CAUSE_SUPERVISOR, true, true},
		{"by a watchdog's SIGABRT", 6, INIT, CODE(134), false, OUTCOME_CRASHED,
		 CAUSE_SUPERVISOR, true, true},
		{"by its sibling", 9, INIT + 5, CODE(137), false, OUTCOME_KILLED,
		 CAUSE_SAME_CONTAINER, true, true},
		{"timeout, by SIGTERM", 15, INIT, CODE(124), true, OUTCOME_TERMINATED,
		 CAUSE_SUPERVISOR, true, true},
		{"timeout, by SIGHUP", 1, INIT, CODE(124), true, OUTCOME_TERMINATED,
		 CAUSE_SUPERVISOR, true, true},
		{"timeout -k, by SIGKILL", 9, INIT, CODE(137), true, OUTCOME_KILLED,
		 CAUSE_SUPERVISOR, true, true},
		{"timeout, whose child another one ended", 15, INIT + 5, CODE(124), true,
		 OUTCOME_FAILED, CAUSE_SUPERVISOR, false, false},
		{"its parent goes on, and ends by a code of its own", 15, INIT, CODE(124), false,
		 OUTCOME_FAILED, CAUSE_SELF, false, true},
		{"its parent, which ends itself by the same", 15, INIT, 15, false, OUTCOME_CRASHED,
		 CAUSE_SELF, false, false},
		{"... by SIGKILL", 9, INIT, 9, false, OUTCOME_KILLED, CAUSE_SELF, false, false},
		{"its sibling, and its parent ends itself by the same", 9, INIT + 5, 9, false,
		 OUTCOME_KILLED, CAUSE_SAME_CONTAINER, true, true},
		{"timeout -s KILL, which kills itself, too", 9, INIT, 9, true, OUTCOME_KILLED,
		 CAUSE_SUPERVISOR, true, true},
		{"timeout, by a code that says nothing of it", 15, INIT, CODE(125), true,
		 OUTCOME_FAILED, CAUSE_SELF, false, true},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		bool sure;

		print_message("%s\n", want[i].what);
		bench_open_init(&b, STOP_RUNNING);
		shoot_flags(&b, AT(0), INIT + 1, want[i].sig, want[i].from, GRACED_SIG_DFL);
		bench_ends(&b, AT(0), INIT + 1, INIT, want[i].sig);
		if (want[i].inits == want[i].sig)
			bench_shoot(&b, AT(1), want[i].sig, RELATION_SELF, 0, GRACED_SIG_DFL);
		if (want[i].timeout)
			ends_as_timeout(&b, AT(1), INIT, want[i].inits);
		else
			bench_init_ends(&b, AT(1), want[i].inits);
		b.stop->init.ns_pid = INIT;
		assert_judged(&b, want[i].outcome, want[i].cause);
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].via);
		assert_int_equal(!(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN), want[i].sure);
		bench_close(&b);
	}
}

/* Init is asked from inside, and sends its child a signal: so many tenths of a second. */
static void test_asked_inside(void **state)
{
	static const struct {
		uint32_t sig;
		int asked, sent;
		enum outcome outcome;
		enum cause cause;
	} want[] = {
		{15, 1, 2, OUTCOME_FAILED, CAUSE_SAME_CONTAINER},
		{15, 2, 1, OUTCOME_TERMINATED, CAUSE_SUPERVISOR},
		{9, 1, 2, OUTCOME_KILLED, CAUSE_SUPERVISOR},
		{9, 2, 1, OUTCOME_KILLED, CAUSE_SUPERVISOR},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		for (int tenth = 1; tenth <= 2; tenth++) {
			if (want[i].asked == tenth)
				bench_shoot(&b, AT(tenth), 15, RELATION_SAME_CONTAINER, 0, 0);
			if (want[i].sent == tenth)
				shoot_flags(&b, AT(tenth), INIT + 1, want[i].sig, INIT,
					    GRACED_SIG_DFL);
		}
		bench_ends(&b, AT(3), INIT + 1, INIT, want[i].sig);
		bench_init_ends(&b, AT(4), CODE(128 + want[i].sig));
		assert_judged(&b, want[i].outcome, want[i].cause);
		bench_close(&b);
	}
}

/* Init is sent what asks for no stop, so many tenths of a second before it sends its child that. */
static void test_passed_beside(void **state)
{
	static const struct {
		uint32_t sig;
		enum relation from;
		int before;
		int32_t result;
		enum cause cause;
	} want[] = {
		{10, RELATION_MANAGER, 1, 0, CAUSE_HOST},
		{10, RELATION_HOST, 600, 0, CAUSE_HOST},
		{10, RELATION_TERMINAL, 1, 0, CAUSE_HOST},
		{10, RELATION_OTHER_POD, 1, 0, CAUSE_OTHER_POD},
		{10, RELATION_SAME_CONTAINER, 1, 0, CAUSE_SAME_CONTAINER},
		{10, RELATION_HOST, 601, 0, CAUSE_SUPERVISOR},
		{10, RELATION_HOST, -1, 0, CAUSE_SUPERVISOR},
		{10, RELATION_HOST, 1, RESULT_IGNORED, CAUSE_SUPERVISOR},
		{12, RELATION_HOST, 1, 0, CAUSE_SUPERVISOR},
		/* A thread of init ended. */
		{10, RELATION_HOST, 1, 0, CAUSE_PARENT_DEATH},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		bool dies = want[i].cause == CAUSE_PARENT_DEATH;
		struct bench b;

		print_message("row %zu\n", i);
		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(1000 - want[i].before), want[i].sig, want[i].from,
			    want[i].result, 0);
		shoot_flags(&b, AT(1000), INIT + 1, 10, INIT,
			    GRACED_SIG_DFL | dies * GRACED_SIG_PARENT_DEATH);
		bench_ends(&b, AT(1000), INIT + 1, INIT, 10);
		bench_init_ends(&b, AT(1001), CODE(138));
		assert_judged(&b, OUTCOME_TERMINATED, want[i].cause);
		bench_close(&b);
	}
}

/* What handles its signal leaves by a code of its own, or 0, of which there may be no record. */
static void test_time_limit(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	ends_as_timeout(&b, AT(1), INIT, CODE(124));
	assert_judged(&b, OUTCOME_FAILED, CAUSE_SUPERVISOR);
	assert_true(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN);
	bench_close(&b);
	/* Its child's own 124. */
	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, CODE(124));
	ends_as_timeout(&b, AT(1), INIT, CODE(124));
	assert_int_equal(verdict_of(&b).cause, CAUSE_SELF);
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 1);
	assert_false(stop_gaps(b.stop) & 1u << GAP_CHILD_UNCERTAIN);
	bench_close(&b);
	/* Below a shell. */
	bench_open_init(&b, STOP_RUNNING);
	shoot_flags(&b, AT(0), INIT + 2, 15, INIT + 1, GRACED_SIG_DFL);
	bench_ends(&b, AT(0), INIT + 2, INIT + 1, 15);
	ends_as_timeout(&b, AT(1), INIT + 1, CODE(124));
	bench_init_ends(&b, AT(2), CODE(124));
	assert_judged(&b, OUTCOME_TERMINATED, CAUSE_SUPERVISOR);
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 2);
	assert_true(sure);
	bench_close(&b);
}

static void test_oom(void **state)
{
	const struct graced_proc victim = bench_proc(INIT + 1);
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	processes_oom(&b.map, b.stop, &victim, OOM_LEVEL_CONTAINER);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(1), CODE(137));
	assert_judged(&b, OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER);
	assert_int_equal(stop_gaps(b.stop), 0);
	bench_close(&b);
}

/* It was ending already when that was sent. */
static void test_too_late(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_signal(&b, AT(0) + 1, INIT + 1, 9, RELATION_HOST);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(1), CODE(137));
	assert_int_equal(verdict_of(&b).cause, CAUSE_UNKNOWN);
	assert_int_equal(stop_gaps(b.stop), 1u << GAP_KILL_UNSEEN);
	bench_close(&b);
}

static void test_unseen(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(1), CODE(137));
	assert_judged(&b, OUTCOME_KILLED, CAUSE_UNKNOWN);
	assert_int_equal(stop_gaps(b.stop), 1u << GAP_KILL_UNSEEN);
	bench_close(&b);
}

/* The stop signal that init passes on ends a child without a handler; init may repeat it. */
static void test_stopped(void **state)
{
	for (int repeats = 0; repeats < 2; repeats++) {
		struct bench b;
		bool sure;

		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
		shoot_flags(&b, AT(0), INIT + 1, 15, INIT, GRACED_SIG_DFL);
		bench_ends(&b, AT(0), INIT + 1, INIT, 15);
		if (repeats)
			bench_shoot(&b, AT(1), 15, RELATION_SELF, 0, GRACED_SIG_DFL);
		bench_init_ends(&b, AT(1), repeats ? 15 : CODE(143));
		b.stop->init.ns_pid = INIT;
		assert_non_null(processes_via(b.stop, &sure));
		assert_true(sure);
		assert_judged(&b, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL);
		bench_close(&b);
	}
}

/* --- what only looks so ---------------------------------------------------------------------- */

/* A child of what init was before its last exec: grep, and then exec app. */
static void test_before_exec(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, CODE(1));
	bench_init_ends(&b, AT(2), CODE(1));
	b.stop->exec_ns = AT(1);
	assert_null(processes_via(b.stop, &sure));
	assert_true(sure);
	bench_close(&b);
}

/* strace or sudo below tini sends itself the signal that the app died of. */
static void test_raised_below(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_signal(&b, AT(0), INIT + 2, 9, RELATION_HOST);
	bench_ends(&b, AT(0), INIT + 2, INIT + 1, 9);
	shoot_flags(&b, AT(1), INIT + 1, 9, INIT + 1, 0);
	bench_ends(&b, AT(1), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(2), CODE(137));
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 2);
	assert_false(sure);
	assert_int_equal(verdict_of(&b).cause, CAUSE_HOST);
	bench_close(&b);
}

/* What is missing below a child that passed a status on is a gap, too. */
static void test_missed_below(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	processes_missed(b.stop, 5, AT(0));
	bench_ends(&b, AT(1), INIT + 1, INIT, CODE(137));
	b.stop->processes->missed = 5;
	b.stop->processes->missed_ns = AT(0);
	bench_init_ends(&b, AT(2), CODE(137));
	assert_int_equal(processes_via(b.stop, &sure)->proc.pid, INIT + 1);
	assert_false(sure);
	bench_close(&b);
}

/* A shell's trap ends with 143 by itself, after what it waited for has died of SIGTERM. */
static void test_decided(void **state)
{
	static const struct {
		uint32_t flags;
		bool passed;
	} want[] = {{0, false}, {GRACED_SIG_BLOCKED, true}, {GRACED_SIG_WAITED, true}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;
		bool sure;

		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, want[i].flags);
		shoot_flags(&b, AT(0), INIT + 1, 15, INIT, GRACED_SIG_DFL);
		bench_ends(&b, AT(1), INIT + 1, INIT, 15);
		bench_init_ends(&b, AT(2), CODE(143));
		assert_int_equal(processes_via(b.stop, &sure) != NULL, want[i].passed);
		assert_int_equal(verdict_of(&b).outcome,
				 want[i].passed ? OUTCOME_TERMINATED : OUTCOME_GRACEFUL);
		bench_close(&b);
	}
}

/* dumb-init --rewrite 15:3 */
static void test_translated(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
	shoot_flags(&b, AT(0), INIT + 1, 3, INIT, GRACED_SIG_DFL);
	bench_ends(&b, AT(1), INIT + 1, INIT, 3);
	bench_init_ends(&b, AT(2), CODE(131));
	assert_judged(&b, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL);
	bench_close(&b);
}

/* The application dies in its stop of another signal than the one that it was sent. */
static void test_crashed(void **state)
{
	static const struct {
		uint32_t sig, from;
		enum relation relation;
		enum outcome outcome;
		enum cause cause;
	} want[] = {
		{11, INIT + 1, RELATION_KERNEL, OUTCOME_CRASHED, CAUSE_KERNEL},
		{6, INIT + 1, RELATION_SELF, OUTCOME_CRASHED, CAUSE_SELF},
		{15, INIT + 1, RELATION_SELF, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL},
		{6, INIT, RELATION_SAME_CONTAINER, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct graced_proc by = bench_proc(want[i].from);
		const struct obs_signal obs = {.sig = want[i].sig,
					       .flags = GRACED_SIG_DFL,
					       .target = bench_proc(INIT + 1),
					       .sender = by};
		struct sender sender = {
			.relation = want[i].relation, .kind = SENDER_CONTAINER, .proc = by};
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
		shoot_flags(&b, AT(0), INIT + 1, 15, INIT, 0);
		processes_signalled(&b.map, b.stop, &obs, AT(1), want[i].sig == 15, &sender);
		sender_done(&b.map, &sender);
		bench_ends(&b, AT(1), INIT + 1, INIT, want[i].sig);
		bench_init_ends(&b, AT(2), CODE(128 + want[i].sig));
		assert_judged(&b, want[i].outcome, want[i].cause);
		bench_close(&b);
	}
}

/* What a manager kills when the time is over need not be init first. */
static void test_escalated(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	b.stop->grace = (struct grace){.from = GRACE_SPEC, .ns = SEC(1), .sure = true};
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
	bench_signal(&b, AT(10), INIT + 1, 9, RELATION_MANAGER);
	bench_ends(&b, AT(10), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(11), CODE(137));
	assert_judged(&b, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED);
	bench_close(&b);
}

/* A shell of docker exec is killed with what it runs, whichever is first. */
static void test_entered_orphan(void **state)
{
	struct bench b;
	struct obs_exit obs = {.proc = bench_proc(INIT + 3),
			       .status = 9,
			       .parent_pid = 7,
			       .flags = GRACED_EXIT_ENTERED};

	bench_open_init(&b, STOP_RUNNING);
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
	processes_exited(&b.map, b.stop, &obs, AT(1));
	bench_ends(&b, AT(1), INIT + 4, INIT, 9);
	bench_ends(&b, AT(1), INIT + 1, INIT, 9);
	assert_false(process_is_cut(b.stop, b.stop->processes->list));
	assert_false(process_is_cut(b.stop, b.stop->processes->list + 1));
	assert_true(process_is_cut(b.stop, b.stop->processes->list + 2));
	bench_close(&b);
}

/* --- which were cut -------------------------------------------------------------------------- */

static void test_cut(void **state)
{
	static const struct {
		const char *what;
		bool asked;
		int at;
		uint32_t status;
		bool oom, cut;
		enum relation from;
	} want[] = {
		{"killed after the request", true, 1, 9, false, true, RELATION_HOST},
		{"... with its pid namespace", true, 1, 9, false, true, RELATION_NONE},
		{"... by itself", true, 1, 9, false, false, RELATION_SELF},
		{"... by the OOM killer", true, 1, 9, true, false, RELATION_NONE},
		{"killed before it", true, -1, 9, false, false, RELATION_NONE},
		{"ended by the request", true, 1, 15, false, false, RELATION_NONE},
		{"exited", true, 1, CODE(0), false, false, RELATION_NONE},
		{"killed, and nobody was asked to stop", false, 1, 9, false, false, RELATION_NONE},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct graced_proc proc = bench_proc(INIT + 1);
		struct bench b;

		print_message("%s\n", want[i].what);
		bench_open_init(&b, STOP_RUNNING);
		if (want[i].asked)
			bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
		if (want[i].oom)
			processes_oom(&b.map, b.stop, &proc, OOM_LEVEL_CONTAINER);
		if (want[i].from)
			bench_signal(&b, AT(want[i].at), INIT + 1, 9, want[i].from);
		bench_ends(&b, AT(want[i].at), INIT + 1, INIT, want[i].status);
		assert_int_equal(process_is_cut(b.stop, b.stop->processes->list), want[i].cut);
		bench_close(&b);
	}
}

/* What is brought in, and what that starts; an orphan has a parent outside without PID 1. */
static void test_entered(void **state)
{
	for (uint32_t ns_pid = 1; ns_pid <= 2; ns_pid++) {
		struct obs_exit obs = {.proc = bench_proc(INIT + 1),
				       .parent_pid = 7,
				       .flags = GRACED_EXIT_ENTERED,
				       .status = 9};
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		b.stop->init.ns_pid = ns_pid;
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
		processes_exited(&b.map, b.stop, &obs, AT(1));
		bench_ends(&b, AT(1), INIT + 2, INIT + 1, 9);
		for (size_t i = 0; i < 2; i++) {
			const struct process *p = b.stop->processes->list + i;

			assert_int_equal(process_is_entered(b.stop, p), ns_pid == 1);
			assert_int_equal(process_is_cut(b.stop, p), ns_pid != 1);
		}
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("init passes a child's end on by 128 + its signal, or by its code",
		      test_passed_on),
		CLAIM("an init that goes on for seconds may have ended by its own code",
		      test_passed_late),
		CLAIM("... also of a grandchild, through its child", test_through_others),
		CLAIM("... or by sending itself the same signal", test_same_signal),
		CLAIM("of two that may be it the last is named, and that is a gap", test_not_sure),
		CLAIM("... but of tini's children the oldest, as it adopted the others",
		      test_adopted),
		CLAIM("... and so is one that it passes on later than a second", test_late),
		CLAIM("so is a record that was left out since", test_missed),
		CLAIM("what ended that child ended the container", test_verdict),
		CLAIM("... its own parent, too, which is its supervisor", test_supervised),
		CLAIM("... also while init is asked from inside, unless it passes that on",
		      test_asked_inside),
		CLAIM("what init was sent itself shortly before ended the child that it passed that to",
		      test_passed_beside),
		CLAIM("timeout(1) that ends by 124 ended what it ran; by its name alone, as far as can be "
		      "seen",
		      test_time_limit),
		CLAIM("... the OOM killer, too", test_oom),
		CLAIM("... and if it was not seen, that is unknown", test_unseen),
		CLAIM("... nor is it what was sent later", test_too_late),
		CLAIM("a child that ends by the stop signal terminates the container",
		      test_stopped),
		CLAIM("a child of what init was before its last exec is none", test_before_exec),
		CLAIM("what sends itself the signal that its child died of may pass it on",
		      test_raised_below),
		CLAIM("what is missing below a child is a gap, too", test_missed_below),
		CLAIM("a handler that ends by 128 + its signal decides itself", test_decided),
		CLAIM("another signal that init passes on is a part of the stop", test_translated),
		CLAIM("an application that crashes in its stop has crashed", test_crashed),
		CLAIM("a manager's SIGKILL to a child escalates as one to init does",
		      test_escalated),
		CLAIM("what was brought in is not cut, nor what it left to init",
		      test_entered_orphan),
		CLAIM("what is killed after the stop signal was cut", test_cut),
		CLAIM("what was brought in, and what that started, is not cut", test_entered),
	};

	return cmocka_run_group_tests_name("core/stop/processes", tests, NULL, NULL);
}
