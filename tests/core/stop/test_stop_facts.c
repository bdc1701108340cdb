// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop: the facts and the gaps in the evidence that a stop ends with. */
#include "core/stop/stop.h"

#include "core/stop/asked.h"
#include "lib/engine/stop_bench.h"

/* request + grace - min(1 s, grace / 10) is not early any more. */
static void test_early(void **state)
{
	static const struct {
		uint64_t grace, kill_after;
		bool early;
	} want[] = {
		{0, 1, false},
		{SEC(30), 0, true},
		{SEC(30), SEC(29) - 1, true},
		{SEC(30), SEC(29), false},
		{SEC(30), SEC(30), false},
		{SEC(30), SEC(300), false},
		{SEC(10), SEC(9) - 1, true},
		{SEC(10), SEC(9), false},
		{SEC(2), MSEC(1800) - 1, true},
		{SEC(2), MSEC(1800), false},
		{10, 8, true},
		{10, 9, false},
		{1, 0, true},
		{1, 1, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct outcome_facts facts;
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		b.stop->grace.ns = want[i].grace;
		bench_shoot(&b, SEC(100), 15, RELATION_MANAGER, 0, 0);
		bench_shoot(&b, SEC(100) + want[i].kill_after, 9, RELATION_MANAGER, 0, 0);
		stop_facts(b.stop, 0, &facts);
		if (facts.kill_early != want[i].early)
			fail_msg("grace %llu, kill after %llu", (unsigned long long)want[i].grace,
				 (unsigned long long)want[i].kill_after);
		bench_close(&b);
	}
}

/* A runtime asks it to stop, its shim is lost, and 5 s later the runtime kills it. */
static void test_uncertain_clean_up(void **state)
{
	static const struct {
		struct grace grace;
		enum sender_kind killer;
		bool lost, uncertain;
	} want[] = {
		{{}, SENDER_RUNTIME, true, true},
		{{.from = GRACE_HIDDEN}, SENDER_RUNTIME, true, true},
		{{.from = GRACE_HIDDEN}, SENDER_SYSTEMD, true, true},
		/* No clean-up: its time is over, as somebody who knows it decided. */
		{{}, SENDER_RUNTIME, false, false},
		{{}, SENDER_KUBELET, true, false},
		{{.from = GRACE_SPEC, .ns = SEC(5)}, SENDER_RUNTIME, true, false},
		{{.from = GRACE_ASSUMED, .ns = SEC(5)}, SENDER_RUNTIME, true, false},
		{{.from = GRACE_RUNTIME, .ns = 0}, SENDER_RUNTIME, true, false},
		/* That is known to be the clean-up. */
		{{.from = GRACE_SPEC, .ns = SEC(30)}, SENDER_RUNTIME, true, false},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint32_t flags = want[i].lost ? GRACED_SIG_KEEPER_LOST : 0;
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		b.stop->grace = want[i].grace;
		bench_shoot(&b, SEC(100), 15, RELATION_MANAGER, 0, 0);
		bench_shoot(&b, SEC(105), 9, RELATION_MANAGER, 0, flags);
		asked_want(b.stop, &b.stop->kill)->sender.kind = want[i].killer;
		b.stop->exit_seen = true;
		b.stop->status = 9;
		if (!!(stop_gaps(b.stop) & GAP(GRACE_UNCERTAIN)) != want[i].uncertain)
			fail_msg("row %zu", i);
		bench_close(&b);
	}
}

static void test_last_of_its_number(void **state)
{
	static const struct {
		int32_t result;
		bool acts;
	} results[] = {{0, true}, {1, false}, {2, false}, {3, false}, {4, true}};

	for (size_t i = 0; i < LEN(results); i++) {
		struct outcome_facts facts;
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 6, RELATION_SELF, 0, 0);
		bench_shoot(&b, SEC(6), 6, RELATION_HOST, results[i].result, 0);
		bench_shoot(&b, SEC(7), 11, RELATION_OTHER_POD, 0, 0);
		b.stop->exit_seen = true;
		b.stop->status = 6 | CORE_BIT;
		stop_facts(b.stop, 0, &facts);
		assert_int_equal(facts.fatal_from, results[i].acts ? RELATION_HOST : RELATION_SELF);
		b.stop->status = 8;
		stop_facts(b.stop, 0, &facts);
		assert_int_equal(facts.fatal_from, RELATION_NONE);
		/* Statuses no kernel writes. */
		for (uint32_t n = 65; n < 128; n++) {
			b.stop->status = n;
			stop_facts(b.stop, 0, &facts);
			assert_int_equal(facts.fatal_from, RELATION_NONE);
		}
		bench_close(&b);
	}
}

static void test_begins_anew(void **state)
{
	struct bench b;

	bench_open(&b, STOP_RUNNING);
	assert_int_equal(deadline_set(&b.queue, &b.stop->wake, SEC(50)), 0);
	bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, 1, GRACED_SIG_SHIELDED | GRACED_SIG_DFL);
	bench_shoot(&b, SEC(6), 6, RELATION_HOST, 0, 0);
	bench_shoot(&b, SEC(7), 9, RELATION_MANAGER, 0, 0);
	b.stop->counts = (struct graced_counts){.exits = 3, .oom_kills = 2, .lost = 1};
	b.stop->oom_victim = b.stop->exit_seen = b.stop->late = true;
	stop_begin(&b.map, b.stop, &P_B1, GRACED_INIT_GUESSED);

	assert_int_equal(b.stop->init.pid, P_B1.pid);
	assert_int_equal(b.stop->rank, GRACED_INIT_GUESSED);
	assert_true(b.stop->guessed);
	assert_false(b.stop->request->seen || b.stop->kill->seen || b.stop->deaf);
	assert_false(b.stop->oom_victim || b.stop->exit_seen || b.stop->late);
	assert_int_equal(stop_last_from(b.stop, 6), RELATION_NONE);
	/* What was counted so far belongs to the life before. */
	assert_int_equal(b.stop->base.oom_kills, 2);
	assert_int_equal(stop_gaps(b.stop) & (GAP(EVENTS_LOST)), 0);
	/* It is still queued. */
	assert_ptr_equal(deadline_first(&b.queue), &b.stop->wake);
	bench_close(&b);
}

/* A life whose exit was seen, and what else there was of it. */
#define ENDED(of, name, ...)                                                        \
	{                                                                           \
		.what = name, .gaps = of, .stop = {.exit_seen = true, __VA_ARGS__ } \
	}
#define SEEN(...)                         \
	&(const struct stop_signal)       \
	{                                 \
		.seen = true, __VA_ARGS__ \
	}
#define ASKED		   .request = SEEN()
#define ASKED_BY(...)	   .request = SEEN(__VA_ARGS__)
#define KILL		   .kill = SEEN()
#define KILL_BY(...)	   .kill = SEEN(__VA_ARGS__)
#define LAST(number, from) .last_from[(number)-1] = '0' + RELATION_##from

static void test_gaps(void **state)
{
	struct {
		const char *what;
		struct stop stop;
		uint32_t gaps;
	} want[] = {
		ENDED(0, "all seen"),
		{"no exit", {.exit_seen = false}, GAP(EXIT_UNSEEN)},
		ENDED(0, "lost before its life", .base = {.lost = 5}, .counts = {.lost = 5}),
		ENDED(GAP(EVENTS_LOST), "lost in its life", .base = {.lost = 5},
		      .counts = {.lost = 6}),
		ENDED(GAP(ATTACHED_LATE), "attached late", .late = true),
		ENDED(GAP(INIT_GUESSED), "init guessed", .guessed = true),
		ENDED(GAP(INIT_UNSEEN), "init not found for a while", .init_unseen = true),
		ENDED(GAP(KILL_UNSEEN), "killed by nobody", .status = 9),
		ENDED(0, "killed", .status = 9, KILL),
		ENDED(GAP(KILL_UNSEEN), "died of a signal that was not seen", .status = 15),
		ENDED(0, "died of a signal that was seen", .status = 15, LAST(15, HOST)),
		ENDED(GAP(KILL_UNSEEN), "dumped core by abort() that was not seen",
		      .status = 6 | CORE_BIT),
		ENDED(GAP(KILL_UNSEEN), "died of a real-time signal that was not seen",
		      .status = 64),
		ENDED(GAP(KILL_UNSEEN), "died of a fault whose signal was not seen", .status = 11),
		ENDED(0, "died of its own fault", .status = 11, LAST(11, SELF)),
		ENDED(0, "ended by seccomp", .status = 31),
		ENDED(0, "a status that no kernel writes", .status = 65),
		ENDED(0, "exited with 9", .status = EXIT(9)),
		ENDED(0, "OOM victim, level known", .status = 9, .oom_victim = true,
		      .oom = OOM_LEVEL_POD),
		ENDED(GAP(OOM_LEVEL), "OOM victim, level unknown", .status = 9, .oom_victim = true,
		      .oom = OOM_LEVEL_UNKNOWN),
		ENDED(0, "OOM victim that exited by itself", .oom_victim = true,
		      .oom = OOM_LEVEL_UNKNOWN),
		ENDED(0, "suppressed before its life", .base = {.suppressed = 7},
		      .counts = {.suppressed = 7}),
		ENDED(GAP(SUPPRESSED), "suppressed, and nobody asked", .base = {.suppressed = 7},
		      .counts = {.suppressed = 8}),
		ENDED(0, "suppressed before the request", ASKED, .request_suppressed = 8,
		      .counts = {.suppressed = 8}),
		ENDED(GAP(SUPPRESSED), "suppressed after the request", ASKED,
		      .request_suppressed = 8, .counts = {.suppressed = 9}),
		ENDED(GAP(UNKNOWN_CGROUP), "sent from a cgroup nobody knows",
		      ASKED_BY(.sender.proc.watch_id = 12345)),
		ENDED(GAP(UNKNOWN_CGROUP), "killed from a cgroup nobody knows",
		      KILL_BY(.sender.proc.watch_id = 12345)),
		ENDED(0, "sent by the kernel in a cgroup nobody knows",
		      ASKED_BY(.sender = {.relation = RELATION_KERNEL, .proc.watch_id = 12345})),
		ENDED(0, "sent by itself in a cgroup nobody knows",
		      KILL_BY(.sender = {.relation = RELATION_SELF, .proc.watch_id = 12345})),
		ENDED(GAP(SENDER_UNKNOWN), "asked by who cannot be placed",
		      ASKED_BY(.sender.relation = RELATION_UNPLACED)),
		ENDED(GAP(SENDER_UNKNOWN), "killed by who cannot be placed", .status = 9,
		      KILL_BY(.sender.relation = RELATION_UNPLACED)),
		ENDED(GAP(SENDER_UNKNOWN), "killed by nobody knows whom", .status = 9,
		      KILL_BY(.sender.relation = RELATION_UNKNOWN)),
		ENDED(0, "a kill of which it did not die",
		      KILL_BY(.sender.relation = RELATION_UNKNOWN)),
		ENDED(GAP(SENDER_UNKNOWN), "died of a timer", .status = 14, LAST(14, UNKNOWN)),
		ENDED(0, "a timer went off, and it died of something else", .status = 11,
		      LAST(11, SELF), LAST(14, UNKNOWN)),
		ENDED(0, "died of a timer that sent the stop signal again", .status = 15, ASKED,
		      .request_sigs = 1 << 14, LAST(15, UNKNOWN)),
		ENDED(GAP(SENDER_UNKNOWN), "left soon after a timer's stop signal",
		      .unsure_ns = SEC(1), .exit_ns = SEC(601) - 1),
		ENDED(0, "left long after it", .unsure_ns = SEC(1), .exit_ns = SEC(601)),
		ENDED(0, "left long after it, by the grace", .grace.ns = SEC(2),
		      .unsure_ns = SEC(1), .exit_ns = SEC(65)),
		ENDED(0, "left soon after it, and asked by somebody", ASKED, .unsure_ns = SEC(1),
		      .exit_ns = SEC(2)),
		ENDED(GAP(SENDER_UNKNOWN), "killed soon after it", .status = 9, KILL,
		      .unsure_ns = SEC(1), .exit_ns = SEC(2)),
		ENDED(0, "out of memory soon after it", .status = 9, .oom_victim = true,
		      .oom = OOM_LEVEL_POD, .unsure_ns = SEC(1), .exit_ns = SEC(2)),
		ENDED(0, "sent from outside of all that is watched", ASKED),
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct stop *stop = &want[i].stop;
		uint32_t gaps;

		stop->request = stop->request ?: &stop_no_signal;
		stop->kill = stop->kill ?: &stop_no_signal;
		gaps = stop_gaps(stop);
		if (gaps != want[i].gaps)
			fail_msg("%s: gaps %x, not %x", want[i].what, gaps, want[i].gaps);
	}
}

static void test_window(void **state)
{
	const uint32_t holes = GAP(EVENTS_LOST) | GAP(SUPPRESSED) | GAP(ATTACHED_LATE) |
			       GAP(DAEMON_DOWN) | GAP(SHED) | GAP(INIT_UNSEEN) | GAP(KILL_UNSEEN);
	const struct stop_signal *none = &stop_no_signal;
	const struct stop stop = {.exit_seen = true, .status = 31, .request = none, .kill = none};

	for (int gap = 0; gap < GAP_COUNT; gap++) {
		struct outcome_facts facts;

		stop_facts(&stop, 1u << gap, &facts);
		assert_int_equal(facts.window_complete, !(holes & 1u << gap));
	}
}

/* A shell in a wait for children, by what its exit and the stop signal before it were. */
static void test_trap(void **state)
{
	const uint32_t waits = GRACED_EXIT_INIT | GRACED_EXIT_AWAITS_CHILD,
		       pending = GRACED_EXIT_STOP_PENDING | GRACED_EXIT_STOP_BLOCKED;
	const uint32_t killed = 9;
	const struct {
		const char *what;
		uint32_t hearing;
		struct obs_exit exit;
		enum unheard reason;
	} rows[] = {
		{"waits", STOP_SHELL, {.flags = waits, .deliver_ns = SEC(6)}, UNHEARD_TRAP},
		{"no shell", 0, {.flags = waits, .deliver_ns = SEC(6)}, UNHEARD_NONE},
		{"does not wait", STOP_SHELL, {.deliver_ns = SEC(6)}, UNHEARD_NONE},
		{"took no signal", STOP_SHELL, {.flags = waits}, UNHEARD_NONE},
		{"blocked it", STOP_SHELL, {.flags = waits | pending}, UNHEARD_BLOCKED},
		{"a repetition is pending",
		 STOP_SHELL,
		 {.flags = waits | pending, .deliver_ns = SEC(6)},
		 UNHEARD_TRAP},
		{"of another stop signal",
		 STOP_SHELL,
		 {.flags = waits, .deliver_ns = SEC(6), .stop_at_ns = SEC(4)},
		 UNHEARD_NONE},
		{"exits by itself",
		 STOP_SHELL,
		 {.flags = waits, .deliver_ns = SEC(6), .status = EXIT(1)},
		 UNHEARD_NONE},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct obs_exit exit = rows[i].exit;
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
		b.stop->hearing = rows[i].hearing;
		bench_shoot(&b, SEC(7), 9, RELATION_MANAGER, 0, 0);
		exit.status = exit.status ? exit.status : killed;
		exit.stop_at_ns = exit.stop_at_ns ? exit.stop_at_ns : SEC(5);
		exit.proc = P_A1;
		stop_exited(b.stop, &exit, SEC(8));
		if (stop_unheard(b.stop) != rows[i].reason)
			fail_msg("%s: reason %d", rows[i].what, stop_unheard(b.stop));
		bench_close(&b);
	}
}

/* Node, before its SIGKILL. */
static void test_reraised(void **state)
{
	static const struct {
		uint32_t hearing, lost;
		enum unheard reason;
	} rows[] = {
		{STOP_RERAISED, 0, UNHEARD_RERAISED},
		{STOP_RERAISED, 1, UNHEARD_NONE},
		{STOP_RAISED_OTHER, 0, UNHEARD_NONE},
		{STOP_SHELL, 0, UNHEARD_NONE},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, 0, 0);
		b.stop->hearing |= rows[i].hearing;
		b.stop->counts.lost += rows[i].lost;
		assert_int_equal(stop_unheard(b.stop), rows[i].reason);
		bench_close(&b);
	}
}

/* By sigpending(2), or poll(2) of a signalfd, it may know of it all the same. */
static void test_left_pending(void **state)
{
	const uint32_t pending = GRACED_EXIT_STOP_PENDING | GRACED_EXIT_STOP_BLOCKED;

	for (int killed = 0; killed < 2; killed++) {
		const struct obs_exit exit = {.flags = pending,
					      .status = killed ? 9 : EXIT(1),
					      .stop_at_ns = SEC(5),
					      .proc = P_A1};
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, 0, GRACED_SIG_BLOCKED);
		if (killed)
			bench_shoot(&b, SEC(7), 9, RELATION_MANAGER, 0, 0);
		stop_exited(b.stop, &exit, SEC(8));
		assert_int_equal(stop_unheard(b.stop), killed ? UNHEARD_BLOCKED : UNHEARD_NONE);
		assert_int_equal(stop_gaps(b.stop) & GAP(TAKE_UNSEEN),
				 killed ? 0 : GAP(TAKE_UNSEEN));
		bench_close(&b);
	}
}

#define INT  (1ULL << 1)
#define TERM (1ULL << 14)

/* A request that was dropped, and what a look finds at a time of seconds, or its end. */
static void test_before_handler(void **state)
{
	static const struct {
		uint64_t look_s, caught;
		uint32_t pid;
		bool heard, later;
		uint64_t looked_at, at_end; /* signals, and those that have a handler */
		bool unknown;
	} rows[] = {
		{7, TERM, .later = true},
		{5, TERM, .later = true},
		{4, TERM, .later = false},
		{7, INT, .later = false},
		{7, TERM, .pid = 9},
		{7, TERM, .heard = true},
		{.looked_at = INT | TERM, .at_end = INT | TERM, .later = true},
		{.looked_at = INT | TERM, .at_end = INT},
		{.looked_at = INT, .at_end = INT, .unknown = true},
		{7, TERM, .looked_at = INT, .later = true},
		{},
		{.looked_at = TERM, .at_end = TERM, .heard = true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct obs_exit exit = {
			.status = 9, .looked_at = rows[i].looked_at, .caught = rows[i].at_end};
		struct obs_look look = {
			.begin_ns = SEC(rows[i].look_s), .proc = P_A1, .caught = rows[i].caught};
		struct bench b;

		print_message("row %zu\n", i);
		look.proc.pid += rows[i].pid;
		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, !rows[i].heard,
			    GRACED_SIG_SHIELDED | GRACED_SIG_DFL);
		stop_looked_at(b.stop, &look);
		bench_shoot(&b, SEC(15), 9, RELATION_MANAGER, 0, 0);
		assert_true(stop_advance(b.stop, STOP_EV_EXIT));
		stop_exited(b.stop, &exit, SEC(15));
		assert_int_equal(stop_unheard(b.stop), rows[i].later ? UNHEARD_BEFORE_HANDLER
						       : rows[i].heard || rows[i].unknown
							       ? UNHEARD_NONE
							       : UNHEARD_NO_HANDLER);
		assert_int_equal(stop_signal_reason(b.stop, b.stop->request), stop_unheard(b.stop));
		assert_int_equal(stop_is_deaf(b.stop),
				 !rows[i].heard && !rows[i].later && !rows[i].unknown);
		bench_close(&b);
	}
}

/* A request that was dropped, an exec, and what the exit shows of the program behind that. */
static void test_before_exec(void **state)
{
	const uint32_t shield = GRACED_SIG_SHIELDED, deaf = shield | GRACED_SIG_DFL, killed = 9;
	const struct {
		const char *what;
		uint32_t flags; /* of the request */
		struct obs_exit exit;
		enum unheard reason;
	} rows[] = {
		{"not known", deaf, {.status = killed}, UNHEARD_BEFORE_EXEC},
		{"has a handler",
		 deaf,
		 {.status = killed, .looked_at = TERM, .caught = TERM},
		 UNHEARD_BEFORE_EXEC},
		{"has none",
		 shield | GRACED_SIG_IGN,
		 {.status = killed, .looked_at = INT | TERM, .ignored = INT},
		 UNHEARD_NO_HANDLER},
		{"blocks it",
		 deaf,
		 {.status = killed, .looked_at = TERM, .blocked = TERM},
		 UNHEARD_BEFORE_EXEC},
		{"ignores it",
		 deaf,
		 {.status = killed, .looked_at = INT | TERM, .ignored = TERM},
		 UNHEARD_IGNORED},
		{"would have died of it",
		 GRACED_SIG_IGN,
		 {.status = killed, .looked_at = INT | TERM, .ignored = INT},
		 UNHEARD_BEFORE_EXEC},
		{"known of another signal",
		 deaf,
		 {.status = killed, .looked_at = INT, .ignored = INT},
		 UNHEARD_NONE},
		{"has a handler for another signal",
		 deaf,
		 {.status = killed, .looked_at = INT, .caught = INT},
		 UNHEARD_NONE},
		{"exits by itself, and is known of another signal",
		 deaf,
		 {.looked_at = INT},
		 UNHEARD_NONE},
		{"exits by itself, and may have had one",
		 shield | GRACED_SIG_IGN,
		 {.looked_at = INT | TERM, .ignored = INT},
		 UNHEARD_IGNORED},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct obs_exit exit = rows[i].exit;
		struct bench b;

		bench_open(&b, STOP_RUNNING);
		bench_shoot(&b, SEC(5), 15, RELATION_MANAGER, 1, rows[i].flags);
		bench_shoot(&b, SEC(7), 9, RELATION_MANAGER, 0, 0);
		exit.proc = P_A1;
		exit.exec_ns = SEC(6);
		stop_exited(b.stop, &exit, SEC(8));
		if (stop_unheard(b.stop) != rows[i].reason ||
		    stop_is_deaf(b.stop) != (rows[i].reason == UNHEARD_NO_HANDLER))
			fail_msg("%s: reason %d", rows[i].what, stop_unheard(b.stop));
		bench_close(&b);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a kill is early until a tenth of the grace, at most a second, is left",
		      test_early),
		CLAIM("a kill that may be a clean-up is uncertain where no grace is known",
		      test_uncertain_clean_up),
		CLAIM("a crash is charged to the last sender of its number that was delivered",
		      test_last_of_its_number),
		CLAIM("a new init begins with nothing but its base line", test_begins_anew),
		CLAIM("each gap follows from its facts and from nothing else", test_gaps),
		CLAIM("a signal that init raised again in vain is so before the SIGKILL, too",
		      test_reraised),
		CLAIM("a trap is the reason only of a shell that took the signal and still waits",
		      test_trap),
		CLAIM("whether it saw a blocked signal that it left pending is not known, unless it was "
		      "killed",
		      test_left_pending),
		CLAIM("a signal before the last exec is one that the program then would have heard",
		      test_before_exec),
		CLAIM("a request that came before init had its handler is told by a look after it",
		      test_before_handler),
		CLAIM("a window is incomplete by what was lost, suppressed or not watched",
		      test_window),
	};

	return cmocka_run_group_tests_name("core/stop: facts", tests, NULL, NULL);
}
