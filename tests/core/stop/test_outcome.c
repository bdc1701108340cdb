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

/* One set of facts for every row that meets its condition and no earlier one's. */
static const struct {
	enum outcome_row row;
	enum outcome outcome;
	enum cause cause;
	struct outcome_facts facts;
} table[] = {
	{AT(1), OUTCOME_UNKNOWN, CAUSE_UNKNOWN, {.status_seen = false}},
	{AT(2),
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_CONTAINER,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_CONTAINER}},
	{AT(3),
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_POD,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_POD}},
	{AT(4),
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_NODE,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_NODE}},
	{AT(5),
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_UNKNOWN,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_UNKNOWN}},
	{AT(5A),
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_USERSPACE,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_HOST,
	  .kill_by_oomd = true}},
	{AT(6), OUTCOME_KILLED, CAUSE_UNKNOWN, {.status_seen = true, .status = 9}},
	{AT(7),
	 OUTCOME_KILLED,
	 CAUSE_PID_NAMESPACE,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_KERNEL,
	  .kill_ns_teardown = true}},
	{AT(7A),
	 OUTCOME_KILLED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_PARENT}},
	{AT(8),
	 OUTCOME_KILLED,
	 CAUSE_KERNEL,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_KERNEL}},
	{AT(8D),
	 OUTCOME_KILLED,
	 CAUSE_DEAF_GRACE,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_MANAGER,
	  .kill_escalates = true,
	  .kill_early = true,
	  .kill_deaf = true,
	  .request_open = true}},
	{AT(8A),
	 OUTCOME_KILLED,
	 CAUSE_RUNTIME_LOST,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_MANAGER,
	  .kill_cleans_up = true}},
	{AT(9),
	 OUTCOME_KILLED,
	 CAUSE_KILLED_EARLY,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_MANAGER,
	  .kill_escalates = true,
	  .kill_early = true,
	  .request_open = true}},
	{AT(10),
	 OUTCOME_KILLED,
	 CAUSE_GRACE_EXPIRED,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_HOST,
	  .kill_escalates = true,
	  .request_open = true}},
	{AT(11),
	 OUTCOME_KILLED,
	 CAUSE_NO_GRACE,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_MANAGER}},
	{AT(12),
	 OUTCOME_KILLED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_SELF}},
	{AT(12A),
	 OUTCOME_KILLED,
	 CAUSE_SUPERVISOR,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_SAME_CONTAINER,
	  .by_supervisor = true}},
	{AT(13),
	 OUTCOME_KILLED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_SAME_CONTAINER}},
	{AT(14),
	 OUTCOME_KILLED,
	 CAUSE_SAME_POD,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_SAME_POD}},
	{AT(15),
	 OUTCOME_KILLED,
	 CAUSE_OTHER_POD,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_OTHER_POD}},
	{AT(16),
	 OUTCOME_KILLED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_HOST}},
	{AT(16A),
	 OUTCOME_TERMINATED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true,
	  .status = 15,
	  .request_open = true,
	  .request_parent = true,
	  .request_sigs = SIG_BIT(15)}},
	{AT(17),
	 OUTCOME_TERMINATED,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = 15, .request_open = true, .request_sigs = SIG_BIT(15)}},
	{AT(17A),
	 OUTCOME_TERMINATED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 2, .fatal_from = RELATION_TERMINAL}},
	{AT(17B),
	 OUTCOME_TERMINATED,
	 CAUSE_SUPERVISOR,
	 {.status_seen = true,
	  .status = 15,
	  .fatal_from = RELATION_SAME_CONTAINER,
	  .by_supervisor = true}},
	{AT(17C),
	 OUTCOME_TERMINATED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = 1, .fatal_from = RELATION_SAME_CONTAINER}},
	{AT(17D),
	 OUTCOME_TERMINATED,
	 CAUSE_SAME_POD,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_SAME_POD}},
	{AT(17E),
	 OUTCOME_TERMINATED,
	 CAUSE_OTHER_POD,
	 {.status_seen = true, .status = 12, .fatal_from = RELATION_OTHER_POD}},
	{AT(17F),
	 OUTCOME_TERMINATED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 3 | CORE, .fatal_from = RELATION_HOST}},
	{AT(17F),
	 OUTCOME_TERMINATED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 64, .fatal_from = RELATION_MANAGER}},
	{AT(18),
	 OUTCOME_CRASHED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 31, .window_complete = true}},
	{AT(19), OUTCOME_CRASHED, CAUSE_UNKNOWN, {.status_seen = true, .status = 31}},
	{AT(20),
	 OUTCOME_CRASHED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 6 | CORE, .fatal_from = RELATION_SELF}},
	{AT(20A),
	 OUTCOME_TERMINATED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_PARENT}},
	{AT(21),
	 OUTCOME_CRASHED,
	 CAUSE_KERNEL,
	 {.status_seen = true, .status = 14, .fatal_from = RELATION_KERNEL}},
	{AT(21A),
	 OUTCOME_CRASHED,
	 CAUSE_SUPERVISOR,
	 {.status_seen = true,
	  .status = 6 | CORE,
	  .fatal_from = RELATION_SAME_CONTAINER,
	  .by_supervisor = true}},
	{AT(22),
	 OUTCOME_CRASHED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = 11, .fatal_from = RELATION_SAME_CONTAINER}},
	{AT(23),
	 OUTCOME_CRASHED,
	 CAUSE_SAME_POD,
	 {.status_seen = true, .status = 24, .fatal_from = RELATION_SAME_POD}},
	{AT(24),
	 OUTCOME_CRASHED,
	 CAUSE_OTHER_POD,
	 {.status_seen = true, .status = 31, .fatal_from = RELATION_OTHER_POD}},
	{AT(25),
	 OUTCOME_CRASHED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 6 | CORE, .fatal_from = RELATION_MANAGER}},
	{AT(25),
	 OUTCOME_CRASHED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 6, .fatal_from = RELATION_HOST}},
	{AT(25A),
	 OUTCOME_GRACEFUL,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .request_open = true, .request_heard = true, .request_parent = true}},
	{AT(26),
	 OUTCOME_GRACEFUL,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = EXITED(0), .request_open = true, .request_heard = true}},
	{AT(26),
	 OUTCOME_GRACEFUL,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = EXITED(143), .request_open = true, .request_heard = true}},
	{AT(27),
	 OUTCOME_GRACEFUL,
	 CAUSE_SELF,
	 {.status_seen = true, .status = EXITED(1), .request_open = true}},
	{AT(27A),
	 OUTCOME_COMPLETED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = EXITED(0), .stopped_inside = true}},
	{AT(27B),
	 OUTCOME_FAILED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = EXITED(143), .stopped_inside = true}},
	{AT(27C),
	 OUTCOME_FAILED,
	 CAUSE_SUPERVISOR,
	 {.status_seen = true, .status = EXITED(124), .timed_out = true}},
	{AT(28), OUTCOME_COMPLETED, CAUSE_SELF, {.status_seen = true, .status = EXITED(0)}},
	{AT(29), OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(1)}},
	{AT(29), OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(137)}},
	{AT(29), OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(143)}},
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
		{AT(1),
		 "exit unseen, and everything else",
		 {.status = 9,
		  .oom = OOM_LEVEL_CONTAINER,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .request_open = true}},
		{AT(2),
		 "an OOM victim whose kill is the kernel's",
		 {.status_seen = true,
		  .status = 9,
		  .oom = OOM_LEVEL_CONTAINER,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL}},
		{AT(3),
		 "an OOM victim while a stop was under way",
		 {.status_seen = true,
		  .status = 9,
		  .oom = OOM_LEVEL_POD,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_escalates = true,
		  .request_open = true}},
		{AT(5),
		 "an OOM victim whose kill was not seen",
		 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_UNKNOWN}},
		{AT(5A),
		 "a daemon's kill that its own request went before",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_HOST,
		  .kill_by_oomd = true,
		  .kill_escalates = true,
		  .kill_early = true,
		  .request_by_oomd = true,
		  .request_open = true}},
		{AT(5A),
		 "a daemon's request that it died of",
		 {.status_seen = true,
		  .status = 15,
		  .request_open = true,
		  .request_by_oomd = true,
		  .request_sigs = SIG_BIT(15)}},
		{AT(5A),
		 "a daemon's request that it heard",
		 {.status_seen = true,
		  .request_open = true,
		  .request_by_oomd = true,
		  .request_heard = true}},
		{AT(27),
		 "a daemon's request that it did not hear",
		 {.status_seen = true, .request_open = true, .request_by_oomd = true}},
		{AT(11),
		 "a manager's kill after a daemon's request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .request_open = true,
		  .request_by_oomd = true}},
		{AT(6),
		 "a kill unseen in an open request",
		 {.status_seen = true, .status = 9, .request_open = true, .request_heard = true}},
		{AT(7),
		 "a namespace torn down in an open request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .kill_ns_teardown = true,
		  .kill_escalates = true,
		  .kill_early = true,
		  .request_open = true}},
		{AT(8),
		 "the kernel's kill in an open request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .kill_escalates = true,
		  .request_open = true}},
		{AT(8A),
		 "a keeper lost before a request's time was over",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .kill_escalates = true,
		  .kill_early = true,
		  .request_open = true}},
		{AT(8A),
		 "a keeper lost after the request of another",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .request_open = true}},
		{AT(10),
		 "a keeper lost, and the request's time was over",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .kill_escalates = true,
		  .request_open = true}},
		{AT(10),
		 "an escalation by the other pod that asked",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_OTHER_POD,
		  .kill_escalates = true,
		  .request_open = true}},
		{AT(11),
		 "a manager's kill that would be early, had anybody asked",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_escalates = true,
		  .kill_early = true}},
		{AT(11),
		 "a manager's kill after somebody else's request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_early = true,
		  .request_open = true,
		  .request_heard = true}},
		{AT(15),
		 "another pod's kill in a request it did not open",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_OTHER_POD,
		  .kill_early = true,
		  .request_open = true}},
		{AT(17),
		 "the stop signal raised again by the process itself",
		 {.status_seen = true,
		  .status = 15,
		  .request_open = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF,
		  .window_complete = true}},
		{AT(17),
		 "a real-time stop signal",
		 {.status_seen = true,
		  .status = 37,
		  .request_open = true,
		  .request_sigs = SIG_BIT(37)}},
		{AT(20),
		 "a crash in the stop signal's handler",
		 {.status_seen = true,
		  .status = 11 | CORE,
		  .request_open = true,
		  .request_heard = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF}},
		{AT(20),
		 "the signals of a request that is no longer open",
		 {.status_seen = true,
		  .status = 15,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF}},
		{AT(17C),
		 "another stop signal than was asked with",
		 {.status_seen = true,
		  .status = 2,
		  .request_open = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SAME_CONTAINER}},
		{AT(17),
		 "a request that its parent passed on",
		 {.status_seen = true,
		  .status = 15,
		  .request_open = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SAME_CONTAINER,
		  .by_supervisor = true}},
		{AT(12A),
		 "its parent kills it before its time is over",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_SAME_CONTAINER,
		  .by_supervisor = true,
		  .request_open = true,
		  .request_heard = true}},
		{AT(26),
		 "a time limit that is over in a stop",
		 {.status_seen = true,
		  .status = EXITED(124),
		  .timed_out = true,
		  .request_open = true,
		  .request_heard = true}},
		{AT(26),
		 "an exit of a process that had been an OOM victim",
		 {.status_seen = true,
		  .status = EXITED(0),
		  .oom = OOM_LEVEL_CONTAINER,
		  .request_open = true,
		  .request_heard = true}},
		{AT(28),
		 "a clean exit after a kill that came too late",
		 {.status_seen = true,
		  .status = EXITED(0),
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER}},
		{AT(29),
		 "a code that looks like a signal",
		 {.status_seen = true, .status = EXITED(137), .oom = OOM_LEVEL_CONTAINER}},
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
