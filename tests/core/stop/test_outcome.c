// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/outcome: the decision table of graced-records(5), written down here a
 * second time. */
#include "core/stop/outcome.h"

#include <string.h>

#include "lib/claim.h"

#define EXITED(code) ((uint32_t)(code) << 8)
#define CORE	     0x80u
#define SIG_BIT(n)   (1ULL << ((n)-1))
#define AT(number)   OUTCOME_ROW_##number

/* Facts: how the init ended, who killed it, and the request before. */
#define ENDED(s)	 .status_seen = true, .status = (s)
#define ENDED_BY(s, who) ENDED(s), .fatal_from = RELATION_##who
#define KILLED_BY(who)	 ENDED(9), .kill_seen = true, .kill_from = RELATION_##who
#define OOM(level)	 ENDED(9), .oom = OOM_LEVEL_##level
#define ASKED		 .request_open = true
#define ASKED_WITH(n)	 ASKED, .request_sigs = SIG_BIT(n)
#define HEARD		 ASKED, .request_heard = true
#define ESCALATES	 ASKED, .kill_escalates = true

#define IS(number, of, by, ...)                                                             \
	{                                                                                   \
		.row = AT(number), .outcome = OUTCOME_##of, .cause = CAUSE_##by, .facts = { \
			__VA_ARGS__                                                         \
		}                                                                           \
	}
#define FIRST(number, name, ...)                                          \
	{                                                                 \
		.row = AT(number), .what = name, .facts = { __VA_ARGS__ } \
	}

/* One set of facts for every row that meets its condition and no earlier one's. */
static const struct {
	enum outcome_row row;
	enum outcome outcome;
	enum cause cause;
	struct outcome_facts facts;
} table[] = {
	IS(1, UNKNOWN, UNKNOWN, .status_seen = false),
	IS(2, OOM_KILLED, OOM_CONTAINER, OOM(CONTAINER)),
	IS(3, OOM_KILLED, OOM_POD, OOM(POD)),
	IS(4, OOM_KILLED, OOM_NODE, OOM(NODE)),
	IS(5, OOM_KILLED, OOM_UNKNOWN, OOM(UNKNOWN)),
	IS(5A, OOM_KILLED, OOM_USERSPACE, KILLED_BY(HOST), .kill_by_oomd = true),
	IS(6, KILLED, UNKNOWN, ENDED(9)),
	IS(7, KILLED, PID_NAMESPACE, KILLED_BY(KERNEL), .kill_ns_teardown = true),
	IS(7A, KILLED, PARENT_DEATH, KILLED_BY(PARENT)),
	IS(8, KILLED, KERNEL, KILLED_BY(KERNEL)),
	IS(8D, KILLED, DEAF_GRACE, KILLED_BY(MANAGER), ESCALATES, .kill_early = true,
	   .kill_deaf = true),
	IS(8A, KILLED, RUNTIME_LOST, KILLED_BY(MANAGER), .kill_cleans_up = true),
	IS(9, KILLED, KILLED_EARLY, KILLED_BY(MANAGER), ESCALATES, .kill_early = true),
	IS(10, KILLED, GRACE_EXPIRED, KILLED_BY(HOST), ESCALATES),
	IS(11, KILLED, NO_GRACE, KILLED_BY(MANAGER)),
	IS(12, KILLED, SELF, KILLED_BY(SELF)),
	IS(12A, KILLED, SUPERVISOR, KILLED_BY(SAME_CONTAINER), .by_supervisor = true),
	IS(13, KILLED, SAME_CONTAINER, KILLED_BY(SAME_CONTAINER)),
	IS(14, KILLED, SAME_POD, KILLED_BY(SAME_POD)),
	IS(15, KILLED, OTHER_POD, KILLED_BY(OTHER_POD)),
	IS(16, KILLED, HOST, KILLED_BY(HOST)),
	IS(16A, TERMINATED, PARENT_DEATH, ENDED(15), ASKED_WITH(15), .request_parent = true),
	IS(17, TERMINATED, STOP_SIGNAL, ENDED(15), ASKED_WITH(15)),
	IS(17A, TERMINATED, HOST, ENDED_BY(2, TERMINAL)),
	IS(17B, TERMINATED, SUPERVISOR, ENDED_BY(15, SAME_CONTAINER), .by_supervisor = true),
	IS(17C, TERMINATED, SAME_CONTAINER, ENDED_BY(1, SAME_CONTAINER)),
	IS(17D, TERMINATED, SAME_POD, ENDED_BY(10, SAME_POD)),
	IS(17E, TERMINATED, OTHER_POD, ENDED_BY(12, OTHER_POD)),
	IS(17F, TERMINATED, HOST, ENDED_BY(3 | CORE, HOST)),
	IS(17F, TERMINATED, HOST, ENDED_BY(64, MANAGER)),
	IS(18, CRASHED, SELF, ENDED(31), .window_complete = true),
	IS(19, CRASHED, UNKNOWN, ENDED(31)),
	IS(20, CRASHED, SELF, ENDED_BY(6 | CORE, SELF)),
	IS(20A, TERMINATED, PARENT_DEATH, ENDED_BY(10, PARENT)),
	IS(21, CRASHED, KERNEL, ENDED_BY(14, KERNEL)),
	IS(21A, CRASHED, SUPERVISOR, ENDED_BY(6 | CORE, SAME_CONTAINER), .by_supervisor = true),
	IS(22, CRASHED, SAME_CONTAINER, ENDED_BY(11, SAME_CONTAINER)),
	IS(23, CRASHED, SAME_POD, ENDED_BY(24, SAME_POD)),
	IS(24, CRASHED, OTHER_POD, ENDED_BY(31, OTHER_POD)),
	IS(25, CRASHED, HOST, ENDED_BY(6 | CORE, MANAGER)),
	IS(25, CRASHED, HOST, ENDED_BY(6, HOST)),
	IS(25A, GRACEFUL, PARENT_DEATH, ENDED(0), HEARD, .request_parent = true),
	IS(26, GRACEFUL, STOP_SIGNAL, ENDED(EXITED(0)), HEARD),
	IS(26, GRACEFUL, STOP_SIGNAL, ENDED(EXITED(143)), HEARD),
	IS(27, GRACEFUL, SELF, ENDED(EXITED(1)), ASKED),
	IS(27A, COMPLETED, SAME_CONTAINER, ENDED(EXITED(0)), .stopped_inside = true),
	IS(27B, FAILED, SAME_CONTAINER, ENDED(EXITED(143)), .stopped_inside = true),
	IS(27C, FAILED, SUPERVISOR, ENDED(EXITED(124)), .timed_out = true),
	IS(28, COMPLETED, SELF, ENDED(EXITED(0))),
	IS(29, FAILED, SELF, ENDED(EXITED(1))),
	IS(29, FAILED, SELF, ENDED(EXITED(137))),
	IS(29, FAILED, SELF, ENDED(EXITED(143))),
};

static void assert_row(const struct outcome_facts *facts, enum outcome_row row,
		       enum outcome outcome, enum cause cause, const char *what)
{
	struct outcome_verdict got = outcome_decide(facts);

	if (got.row != row || got.outcome != outcome || got.cause != cause)
		fail_msg("%s: row %d %s/%s, not row %d %s/%s", what, got.row,
			 outcome_name(got.outcome), cause_name(got.cause), row,
			 outcome_name(outcome), cause_name(cause));
}

static void test_every_row(void **state)
{
	size_t rows = 0;

	for (size_t i = 0; i < LEN(table); i++) {
		assert_row(&table[i].facts, table[i].row, table[i].outcome, table[i].cause, "row");
		/* In order and without a hole. */
		assert_true(table[i].row == rows || (rows && table[i].row == rows - 1));
		rows = table[i].row + 1;
	}
	assert_int_equal(rows, OUTCOME_ROWS);
}

/* Facts that meet two conditions at once: the earlier row's, whatever else holds. */
static void test_first_match(void **state)
{
	static const struct {
		enum outcome_row row;
		const char *what;
		struct outcome_facts facts;
	} both[] = {
		FIRST(1, "exit unseen, and everything else", .oom = OOM_LEVEL_CONTAINER, ASKED,
		      .status = 9, .kill_seen = true, .kill_from = RELATION_KERNEL),
		FIRST(2, "an OOM victim whose kill is the kernel's", KILLED_BY(KERNEL),
		      .oom = OOM_LEVEL_CONTAINER),
		FIRST(3, "an OOM victim while a stop was under way", KILLED_BY(MANAGER),
		      .oom = OOM_LEVEL_POD, ESCALATES),
		FIRST(5, "an OOM victim whose kill was not seen", OOM(UNKNOWN)),
		FIRST(5A, "a daemon's kill that its own request went before", KILLED_BY(HOST),
		      ESCALATES, .kill_by_oomd = true, .kill_early = true, .request_by_oomd = true),
		FIRST(5A, "a daemon's request that it died of", ENDED(15), ASKED_WITH(15),
		      .request_by_oomd = true),
		FIRST(5A, "a daemon's request that it heard", ENDED(0), HEARD,
		      .request_by_oomd = true),
		FIRST(27, "a daemon's request that it did not hear", ENDED(0), ASKED,
		      .request_by_oomd = true),
		FIRST(11, "a manager's kill after a daemon's request", KILLED_BY(MANAGER), ASKED,
		      .request_by_oomd = true),
		FIRST(6, "a kill unseen in an open request", ENDED(9), HEARD),
		FIRST(7, "a namespace torn down in an open request", KILLED_BY(KERNEL), ESCALATES,
		      .kill_ns_teardown = true, .kill_early = true),
		FIRST(8, "the kernel's kill in an open request", KILLED_BY(KERNEL), ESCALATES),
		FIRST(8A, "a keeper lost before a request's time was over", KILLED_BY(MANAGER),
		      ESCALATES, .kill_cleans_up = true, .kill_early = true),
		FIRST(8A, "a keeper lost after the request of another", KILLED_BY(MANAGER), ASKED,
		      .kill_cleans_up = true),
		FIRST(10, "a keeper lost, and the request's time was over", KILLED_BY(MANAGER),
		      ESCALATES, .kill_cleans_up = true),
		FIRST(10, "an escalation by the other pod that asked", KILLED_BY(OTHER_POD),
		      ESCALATES),
		FIRST(11, "a manager's kill that would be early, had anybody asked",
		      KILLED_BY(MANAGER), .kill_escalates = true, .kill_early = true),
		FIRST(11, "a manager's kill after somebody else's request", KILLED_BY(MANAGER),
		      HEARD, .kill_early = true),
		FIRST(15, "another pod's kill in a request it did not open", KILLED_BY(OTHER_POD),
		      ASKED, .kill_early = true),
		FIRST(17, "the stop signal raised again by the process itself", ENDED_BY(15, SELF),
		      ASKED_WITH(15), .window_complete = true),
		FIRST(17, "a real-time stop signal", ENDED(37), ASKED_WITH(37)),
		FIRST(20, "a crash in the stop signal's handler", ENDED_BY(11 | CORE, SELF),
		      ASKED_WITH(15), .request_heard = true),
		FIRST(20, "the signals of a request that is no longer open", ENDED_BY(15, SELF),
		      .request_sigs = SIG_BIT(15)),
		FIRST(17C, "another stop signal than was asked with", ENDED_BY(2, SAME_CONTAINER),
		      ASKED_WITH(15)),
		FIRST(17, "a request that its parent passed on", ENDED_BY(15, SAME_CONTAINER),
		      ASKED_WITH(15), .by_supervisor = true),
		FIRST(12A, "its parent kills it before its time is over", KILLED_BY(SAME_CONTAINER),
		      HEARD, .by_supervisor = true),
		FIRST(26, "a time limit that is over in a stop", ENDED(EXITED(124)), HEARD,
		      .timed_out = true),
		FIRST(26, "an exit of a process that had been an OOM victim", ENDED(EXITED(0)),
		      .oom = OOM_LEVEL_CONTAINER, HEARD),
		FIRST(28, "a clean exit after a kill that came too late", ENDED(EXITED(0)),
		      .kill_seen = true, .kill_from = RELATION_MANAGER),
		FIRST(29, "a code that looks like a signal", ENDED(EXITED(137)),
		      .oom = OOM_LEVEL_CONTAINER),
	};

	for (size_t i = 0; i < LEN(both); i++) {
		struct outcome_verdict got = outcome_decide(&both[i].facts);

		if (got.row != both[i].row)
			fail_msg("%s: row %d, not %d", both[i].what, got.row, both[i].row);
	}
}

static bool is_unknown(enum relation from)
{
	return from == RELATION_UNKNOWN || from == RELATION_UNPLACED;
}

/* The table of graced-records(5) as conditions, each on its own. */
static bool holds(const struct outcome_facts *f, enum outcome_row row);

static bool is_fault(uint32_t s)
{
	static const uint32_t faults[] = {4, 5, 6, 7, 8, 11, 24, 25, 31};

	for (size_t i = 0; i < LEN(faults); i++)
		if (s == faults[i])
			return true;
	return false;
}

/* The rows that stand between those with plain numbers. */
static bool holds_between(const struct outcome_facts *f, enum outcome_row row)
{
	uint32_t s = f->status & 0x7f;

	switch (row) {
	case AT(5A):
		if (s == 9)
			return f->kill_by_oomd;
		return f->request_by_oomd &&
		       (s ? s <= 64 && f->request_sigs & SIG_BIT(s) : f->request_heard);
	case AT(8A):
		return s == 9 && f->kill_cleans_up && !(holds(f, AT(10)) && !f->kill_early);
	case AT(12A):
		return s == 9 && f->by_supervisor;
	case AT(17B):
	case AT(21A):
		return s && f->by_supervisor && (row == AT(21A) || !is_fault(s));
	case AT(17F):
		return holds(f, AT(25)) && !is_fault(s);
	case AT(27C):
		return !s && f->timed_out;
	case AT(16A):
		return holds(f, AT(17)) && f->request_parent;
	case AT(25A):
		return holds(f, AT(26)) && f->request_parent;
	case AT(27A):
		return !s && f->stopped_inside && f->status >> 8 == 0;
	case AT(27B):
		return !s && f->stopped_inside;
	default:
		return !s;
	}
}

static bool holds(const struct outcome_facts *f, enum outcome_row row)
{
	static const enum oom_level levels[OUTCOME_ROWS] = {[AT(2)] = OOM_LEVEL_CONTAINER,
							    [AT(3)] = OOM_LEVEL_POD,
							    [AT(4)] = OOM_LEVEL_NODE,
							    [AT(5)] = OOM_LEVEL_UNKNOWN};
	static const enum relation killers[OUTCOME_ROWS] = {
		[AT(7A)] = RELATION_PARENT,	    [AT(8)] = RELATION_KERNEL,
		[AT(11)] = RELATION_MANAGER,	    [AT(12)] = RELATION_SELF,
		[AT(13)] = RELATION_SAME_CONTAINER, [AT(14)] = RELATION_SAME_POD,
		[AT(15)] = RELATION_OTHER_POD,	    [AT(16)] = RELATION_HOST,
	};
	static const enum relation enders[OUTCOME_ROWS] = {
		[AT(17A)] = RELATION_TERMINAL,	    [AT(20)] = RELATION_SELF,
		[AT(20A)] = RELATION_PARENT,	    [AT(21)] = RELATION_KERNEL,
		[AT(22)] = RELATION_SAME_CONTAINER, [AT(23)] = RELATION_SAME_POD,
		[AT(24)] = RELATION_OTHER_POD,	    [AT(17C)] = RELATION_SAME_CONTAINER,
		[AT(17D)] = RELATION_SAME_POD,	    [AT(17E)] = RELATION_OTHER_POD,
	};
	uint32_t s = f->status & 0x7f;

	if (levels[row])
		return s == 9 && f->oom == levels[row];
	if (killers[row])
		return s == 9 && (f->kill_from == killers[row] ||
				  (row == AT(16) && f->kill_from == RELATION_TERMINAL));
	if (enders[row])
		return s && f->fatal_from == enders[row] &&
		       !(row >= AT(17C) && row <= AT(17E) && is_fault(s));
	switch (row) {
	case AT(1):
		return !f->status_seen;
	case AT(6):
		return s == 9 &&
		       (!f->kill_seen || (is_unknown(f->kill_from) && !f->kill_escalates));
	case AT(7):
		return s == 9 && f->kill_ns_teardown;
	case AT(9):
		return s == 9 && f->request_open && f->kill_escalates && f->kill_early;
	case AT(10):
		return s == 9 && f->request_open && f->kill_escalates;
	case AT(8D):
		return s == 9 && f->kill_deaf;
	case AT(17):
		return s && s <= 64 && f->request_open && f->request_sigs & SIG_BIT(s);
	case AT(18):
		return s && f->fatal_from == RELATION_NONE && f->window_complete;
	case AT(19):
		return s && (f->fatal_from == RELATION_NONE || is_unknown(f->fatal_from));
	case AT(25):
		return s && (f->fatal_from == RELATION_MANAGER || f->fatal_from == RELATION_HOST);
	case AT(26):
		return !s && f->request_open && f->request_heard;
	case AT(27):
		return !s && f->request_open;
	case AT(28):
		return !s && f->status >> 8 == 0;
	default:
		return holds_between(f, row);
	}
}

/* Facts as they can occur: what a kill that was not seen would say is empty. */
static struct outcome_facts facts_of(uint32_t status, uint64_t bits)
{
	struct outcome_facts f = {
		.status_seen = bits % 16 != 0,
		.status = status,
		.kill_seen = bits >> 4 & 1,
		.request_open = bits >> 5 & 1,
		.window_complete = bits >> 6 & 1,
		.oom = (enum oom_level)(bits >> 7 & 7),
		.fatal_from = (enum relation)((bits >> 10 & 15) % RELATION_COUNT),
	};

	if (f.oom > OOM_LEVEL_UNKNOWN)
		f.oom = OOM_LEVEL_NONE;
	if (f.kill_seen) {
		f.kill_from = (enum relation)(1 + (bits >> 14 & 15) % (RELATION_COUNT - 1));
		f.kill_ns_teardown = f.kill_from == RELATION_KERNEL && bits >> 18 & 1;
		f.kill_escalates = f.request_open && bits >> 19 & 1;
		f.kill_early = f.request_open && bits >> 20 & 1;
		f.kill_cleans_up = f.kill_from == RELATION_MANAGER && bits >> 27 & 1;
		f.kill_by_oomd = f.kill_from == RELATION_HOST && bits >> 24 & 1;
		f.kill_deaf = f.kill_from == RELATION_MANAGER && bits >> 24 & 1;
	}
	if (f.request_open) {
		f.request_heard = bits >> 21 & 1;
		f.request_by_oomd = bits >> 25 & 1;
		f.request_parent = bits >> 26 & 1;
		f.request_sigs = bits >> 22 & 1 ? ~0ULL : SIG_BIT(15);
	} else {
		f.stopped_inside = bits >> 23 & 1;
	}
	f.by_supervisor = bits >> 28 & 1 && f.fatal_from == RELATION_SAME_CONTAINER &&
			  (!f.kill_seen || f.kill_from == RELATION_SAME_CONTAINER);
	f.timed_out = bits >> 29 & 1;
	return f;
}

static void test_sweep(void **state)
{
	uint64_t seed = 20, reached[OUTCOME_ROWS] = {};

	for (uint32_t status = 0; status <= 0xffff; status++) {
		for (int i = 0; i < 60; i++) {
			struct outcome_facts f;
			struct outcome_verdict got;
			enum outcome_row row = AT(1);

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			f = facts_of(i % 3 ? status & 0xff : status, seed >> 20);
			got = outcome_decide(&f);
			while (!holds(&f, row))
				row++;
			if (got.row != row)
				fail_msg("status %x, bits %llx: row %d, not %d", f.status,
					 (unsigned long long)seed >> 20, got.row, row);
			reached[row]++;
		}
	}
	for (int row = 0; row < OUTCOME_ROWS; row++)
		if (!reached[row])
			fail_msg("no facts reach row %d", row);
}

/* Contradictions, and numbers that are no member of an enum. */
static void test_any_facts(void **state)
{
	uint64_t seed = 4;

	for (int i = 0; i < 300000; i++) {
		struct outcome_facts f = {};
		struct outcome_verdict got;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		f = facts_of((uint32_t)(seed >> 32), seed >> 11);
		f.kill_from = (enum relation)(seed >> 40 & 31);
		f.fatal_from = (enum relation)(seed >> 45 & 31);
		f.oom = (enum oom_level)(seed >> 50 & 31);
		f.kill_seen = seed >> 55 & 1;
		f.kill_early = seed >> 56 & 1;
		f.kill_escalates = seed >> 57 & 1;
		got = outcome_decide(&f);
		assert_in_range(got.row, 0, OUTCOME_ROWS - 1);
		assert_in_range(got.outcome, 0, OUTCOME_COUNT - 1);
		assert_in_range(got.cause, 0, CAUSE_COUNT - 1);
		assert_true(strcmp(outcome_name(got.outcome), "unknown") || !f.status_seen);
	}
}

/* What graced-records(5) says of the pairs, and that no cause is never a verdict. */
static void test_pairs(void **state)
{
	static const char *const texts[OUTCOME_ROWS] = {
#define ROW(number, condition, outcome, cause, text) text,
#include "core/stop/outcome.def"
	};
	bool known[OUTCOME_COUNT][CAUSE_COUNT] = {}, seen[CAUSE_COUNT] = {};
	struct outcome_verdict row;

	for (size_t i = 0; outcome_row(i, &row); i++) {
		if (known[row.outcome][row.cause] == (texts[i] != NULL))
			fail_msg("%s %s is not described once", outcome_name(row.outcome),
				 cause_name(row.cause));
		known[row.outcome][row.cause] = seen[row.cause] = true;
	}
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		if (!seen[cause])
			fail_msg("no row has the cause %s", cause_name((enum cause)cause));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each row of the table has facts that reach it", test_every_row),
		CLAIM("of two rows whose conditions hold the first wins", test_first_match),
		CLAIM("every status with any facts gets the first row of the table that holds",
		      test_sweep),
		CLAIM("facts that contradict each other still get a row", test_any_facts),
		CLAIM("each pair of the table is described once, and each cause is in one",
		      test_pairs),
	};

	return cmocka_run_group_tests_name("core/stop/outcome", tests, NULL, NULL);
}
