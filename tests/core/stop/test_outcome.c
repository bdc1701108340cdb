// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/outcome: the decision table of graced-records(5), written down here a
 * second time. */
#include "core/stop/outcome.h"

#include <string.h>

#include "lib/claim.h"

#define EXITED(code) ((uint32_t)(code) << 8)
#define CORE	     0x80u
#define SIG_BIT(n)   (1ULL << ((n)-1))
#define ROW_27A	     OUTCOME_ROW_27A
#define ROW_5A	     OUTCOME_ROW_5A
#define ROW_7A	     OUTCOME_ROW_7A
#define ROW_8A	     OUTCOME_ROW_8A
#define ROW_16A	     OUTCOME_ROW_16A
#define ROW_20A	     OUTCOME_ROW_20A
#define ROW_17A	     OUTCOME_ROW_17A
#define ROW_25A	     OUTCOME_ROW_25A
#define ROW_8D	     OUTCOME_ROW_8D

/* The rows as they stand in the table. */
static const int order[] = {
	1,	 2,  3,	 4,  5,	 ROW_5A, 6,	  7,	   ROW_7A, 8,	    ROW_8D, ROW_8A, 9,
	10,	 11, 12, 13, 14, 15,	 16,	  ROW_16A, 17,	   ROW_17A, 18,	    19,	    20,
	ROW_20A, 21, 22, 23, 24, 25,	 ROW_25A, 26,	   27,	   ROW_27A, 28,	    29,
};

#define ROWS ((int)LEN(order))

/* Where a row stands in the table, from 1. */
static int place_of(int row)
{
	int place = 0;

	while (order[place] != row)
		place++;
	return place + 1;
}

/* One set of facts for every row that meets its condition and no earlier one's. */
static const struct {
	int row;
	enum outcome outcome;
	enum cause cause;
	struct outcome_facts facts;
} table[] = {
	{1, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, {.status_seen = false}},
	{2,
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_CONTAINER,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_CONTAINER}},
	{3,
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_POD,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_POD}},
	{4,
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_NODE,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_NODE}},
	{5,
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_UNKNOWN,
	 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_UNKNOWN}},
	{ROW_5A,
	 OUTCOME_OOM_KILLED,
	 CAUSE_OOM_USERSPACE,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_HOST,
	  .kill_by_oomd = true}},
	{6, OUTCOME_KILLED, CAUSE_UNKNOWN, {.status_seen = true, .status = 9}},
	{7,
	 OUTCOME_KILLED,
	 CAUSE_PID_NAMESPACE,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_KERNEL,
	  .kill_ns_teardown = true}},
	{ROW_7A,
	 OUTCOME_KILLED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_PARENT}},
	{8,
	 OUTCOME_KILLED,
	 CAUSE_KERNEL,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_KERNEL}},
	{ROW_8D,
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
	{ROW_8A,
	 OUTCOME_KILLED,
	 CAUSE_RUNTIME_LOST,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_MANAGER,
	  .kill_cleans_up = true}},
	{9,
	 OUTCOME_KILLED,
	 CAUSE_KILLED_EARLY,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_MANAGER,
	  .kill_escalates = true,
	  .kill_early = true,
	  .request_open = true}},
	{10,
	 OUTCOME_KILLED,
	 CAUSE_GRACE_EXPIRED,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_HOST,
	  .kill_escalates = true,
	  .request_open = true}},
	{11,
	 OUTCOME_KILLED,
	 CAUSE_NO_GRACE,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_MANAGER}},
	{12,
	 OUTCOME_KILLED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_SELF}},
	{13,
	 OUTCOME_KILLED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true,
	  .status = 9,
	  .kill_seen = true,
	  .kill_from = RELATION_SAME_CONTAINER}},
	{14,
	 OUTCOME_KILLED,
	 CAUSE_SAME_POD,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_SAME_POD}},
	{15,
	 OUTCOME_KILLED,
	 CAUSE_OTHER_POD,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_OTHER_POD}},
	{16,
	 OUTCOME_KILLED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 9, .kill_seen = true, .kill_from = RELATION_HOST}},
	{ROW_16A,
	 OUTCOME_TERMINATED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true,
	  .status = 15,
	  .request_open = true,
	  .request_parent = true,
	  .request_sigs = SIG_BIT(15)}},
	{17,
	 OUTCOME_TERMINATED,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = 15, .request_open = true, .request_sigs = SIG_BIT(15)}},
	{ROW_17A,
	 OUTCOME_TERMINATED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 2, .fatal_from = RELATION_TERMINAL}},
	{18,
	 OUTCOME_CRASHED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 31, .window_complete = true}},
	{19, OUTCOME_CRASHED, CAUSE_UNKNOWN, {.status_seen = true, .status = 31}},
	{20,
	 OUTCOME_CRASHED,
	 CAUSE_SELF,
	 {.status_seen = true, .status = 6 | CORE, .fatal_from = RELATION_SELF}},
	{ROW_20A,
	 OUTCOME_TERMINATED,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_PARENT}},
	{21,
	 OUTCOME_CRASHED,
	 CAUSE_KERNEL,
	 {.status_seen = true, .status = 14, .fatal_from = RELATION_KERNEL}},
	{22,
	 OUTCOME_CRASHED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_SAME_CONTAINER}},
	{23,
	 OUTCOME_CRASHED,
	 CAUSE_SAME_POD,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_SAME_POD}},
	{24,
	 OUTCOME_CRASHED,
	 CAUSE_OTHER_POD,
	 {.status_seen = true, .status = 10, .fatal_from = RELATION_OTHER_POD}},
	{25,
	 OUTCOME_CRASHED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 6 | CORE, .fatal_from = RELATION_MANAGER}},
	{25,
	 OUTCOME_CRASHED,
	 CAUSE_HOST,
	 {.status_seen = true, .status = 6, .fatal_from = RELATION_HOST}},
	{ROW_25A,
	 OUTCOME_GRACEFUL,
	 CAUSE_PARENT_DEATH,
	 {.status_seen = true, .request_open = true, .request_heard = true, .request_parent = true}},
	{26,
	 OUTCOME_GRACEFUL,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = EXITED(0), .request_open = true, .request_heard = true}},
	{26,
	 OUTCOME_GRACEFUL,
	 CAUSE_STOP_SIGNAL,
	 {.status_seen = true, .status = EXITED(143), .request_open = true, .request_heard = true}},
	{27,
	 OUTCOME_GRACEFUL,
	 CAUSE_SELF,
	 {.status_seen = true, .status = EXITED(1), .request_open = true}},
	{ROW_27A,
	 OUTCOME_COMPLETED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = EXITED(0), .stopped_inside = true}},
	{ROW_27A,
	 OUTCOME_FAILED,
	 CAUSE_SAME_CONTAINER,
	 {.status_seen = true, .status = EXITED(143), .stopped_inside = true}},
	{28, OUTCOME_COMPLETED, CAUSE_SELF, {.status_seen = true, .status = EXITED(0)}},
	{29, OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(1)}},
	{29, OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(137)}},
	{29, OUTCOME_FAILED, CAUSE_SELF, {.status_seen = true, .status = EXITED(143)}},
};

static void assert_row(const struct outcome_facts *facts, int row, enum outcome outcome,
		       enum cause cause, const char *what)
{
	struct outcome_verdict got = outcome_decide(facts);

	if (got.row != row || got.outcome != outcome || got.cause != cause)
		fail_msg("%s: row %d %s/%s, not row %d %s/%s", what, got.row,
			 outcome_name(got.outcome), cause_name(got.cause), row,
			 outcome_name(outcome), cause_name(cause));
}

static void test_every_row(void **state)
{
	int rows = 0;

	for (size_t i = 0; i < LEN(table); i++) {
		assert_row(&table[i].facts, table[i].row, table[i].outcome, table[i].cause, "row");
		/* Each row stands in the table, in order and without a hole. */
		assert_in_range(place_of(table[i].row), rows, rows + 1);
		rows = place_of(table[i].row);
	}
	assert_int_equal(rows, ROWS);
}

/* Facts that meet two conditions at once: the earlier row's, whatever else holds. */
static void test_first_match(void **state)
{
	static const struct {
		int row;
		const char *what;
		struct outcome_facts facts;
	} both[] = {
		{1,
		 "exit unseen, and everything else",
		 {.status = 9,
		  .oom = OOM_LEVEL_CONTAINER,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .request_open = true}},
		{2,
		 "an OOM victim whose kill is the kernel's",
		 {.status_seen = true,
		  .status = 9,
		  .oom = OOM_LEVEL_CONTAINER,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL}},
		{3,
		 "an OOM victim while a stop was under way",
		 {.status_seen = true,
		  .status = 9,
		  .oom = OOM_LEVEL_POD,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_escalates = true,
		  .request_open = true}},
		{5,
		 "an OOM victim whose kill was not seen",
		 {.status_seen = true, .status = 9, .oom = OOM_LEVEL_UNKNOWN}},
		{ROW_5A,
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
		{ROW_5A,
		 "a daemon's request that it died of",
		 {.status_seen = true,
		  .status = 15,
		  .request_open = true,
		  .request_by_oomd = true,
		  .request_sigs = SIG_BIT(15)}},
		{ROW_5A,
		 "a daemon's request that it heard",
		 {.status_seen = true,
		  .request_open = true,
		  .request_by_oomd = true,
		  .request_heard = true}},
		{27,
		 "a daemon's request that it did not hear",
		 {.status_seen = true, .request_open = true, .request_by_oomd = true}},
		{11,
		 "a manager's kill after a daemon's request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .request_open = true,
		  .request_by_oomd = true}},
		{6,
		 "a kill unseen in an open request",
		 {.status_seen = true, .status = 9, .request_open = true, .request_heard = true}},
		{7,
		 "a namespace torn down in an open request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .kill_ns_teardown = true,
		  .kill_escalates = true,
		  .kill_early = true,
		  .request_open = true}},
		{8,
		 "the kernel's kill in an open request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_KERNEL,
		  .kill_escalates = true,
		  .request_open = true}},
		{ROW_8A,
		 "a keeper lost before a request's time was over",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .kill_escalates = true,
		  .kill_early = true,
		  .request_open = true}},
		{ROW_8A,
		 "a keeper lost after the request of another",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .request_open = true}},
		{10,
		 "a keeper lost, and the request's time was over",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_cleans_up = true,
		  .kill_escalates = true,
		  .request_open = true}},
		{10,
		 "an escalation by the other pod that asked",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_OTHER_POD,
		  .kill_escalates = true,
		  .request_open = true}},
		{11,
		 "a manager's kill that would be early, had anybody asked",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_escalates = true,
		  .kill_early = true}},
		{11,
		 "a manager's kill after somebody else's request",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER,
		  .kill_early = true,
		  .request_open = true,
		  .request_heard = true}},
		{15,
		 "another pod's kill in a request it did not open",
		 {.status_seen = true,
		  .status = 9,
		  .kill_seen = true,
		  .kill_from = RELATION_OTHER_POD,
		  .kill_early = true,
		  .request_open = true}},
		{17,
		 "the stop signal raised again by the process itself",
		 {.status_seen = true,
		  .status = 15,
		  .request_open = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF,
		  .window_complete = true}},
		{17,
		 "a real-time stop signal",
		 {.status_seen = true,
		  .status = 37,
		  .request_open = true,
		  .request_sigs = SIG_BIT(37)}},
		{20,
		 "a crash in the stop signal's handler",
		 {.status_seen = true,
		  .status = 11 | CORE,
		  .request_open = true,
		  .request_heard = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF}},
		{20,
		 "the signals of a request that is no longer open",
		 {.status_seen = true,
		  .status = 15,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SELF}},
		{22,
		 "another stop signal than was asked with",
		 {.status_seen = true,
		  .status = 2,
		  .request_open = true,
		  .request_sigs = SIG_BIT(15),
		  .fatal_from = RELATION_SAME_CONTAINER}},
		{26,
		 "an exit of a process that had been an OOM victim",
		 {.status_seen = true,
		  .status = EXITED(0),
		  .oom = OOM_LEVEL_CONTAINER,
		  .request_open = true,
		  .request_heard = true}},
		{28,
		 "a clean exit after a kill that came too late",
		 {.status_seen = true,
		  .status = EXITED(0),
		  .kill_seen = true,
		  .kill_from = RELATION_MANAGER}},
		{29,
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
static bool holds(const struct outcome_facts *f, int row);

/* The rows that stand between those with plain numbers. */
static bool holds_between(const struct outcome_facts *f, int row)
{
	uint32_t s = f->status & 0x7f;

	switch (row) {
	case ROW_5A:
		if (s == 9)
			return f->kill_by_oomd;
		return f->request_by_oomd &&
		       (s ? s <= 64 && f->request_sigs & SIG_BIT(s) : f->request_heard);
	case ROW_7A:
		return s == 9 && f->kill_from == RELATION_PARENT;
	case ROW_8A:
		return s == 9 && f->kill_cleans_up && !(holds(f, 10) && !f->kill_early);
	case ROW_16A:
		return holds(f, 17) && f->request_parent;
	case ROW_20A:
		return s && f->fatal_from == RELATION_PARENT;
	case ROW_17A:
		return s && f->fatal_from == RELATION_TERMINAL;
	case ROW_25A:
		return holds(f, 26) && f->request_parent;
	default:
		return !s && f->stopped_inside;
	}
}

static bool holds(const struct outcome_facts *f, int row)
{
	static const enum oom_level levels[] = {OOM_LEVEL_CONTAINER, OOM_LEVEL_POD, OOM_LEVEL_NODE,
						OOM_LEVEL_UNKNOWN};
	static const enum relation killers[] = {RELATION_SELF, RELATION_SAME_CONTAINER,
						RELATION_SAME_POD, RELATION_OTHER_POD,
						RELATION_HOST};
	static const enum relation crashers[] = {RELATION_SELF, RELATION_KERNEL,
						 RELATION_SAME_CONTAINER, RELATION_SAME_POD,
						 RELATION_OTHER_POD};
	uint32_t s = f->status & 0x7f;

	if (row == 1)
		return !f->status_seen;
	if (row <= 5)
		return s == 9 && f->oom == levels[row - 2];
	if (row >= 12 && row <= 16)
		return s == 9 && (f->kill_from == killers[row - 12] ||
				  (row == 16 && f->kill_from == RELATION_TERMINAL));
	if (row >= 20 && row <= 24)
		return s && f->fatal_from == crashers[row - 20];
	switch (row) {
	case 6:
		return s == 9 &&
		       (!f->kill_seen || (is_unknown(f->kill_from) && !f->kill_escalates));
	case 7:
		return s == 9 && f->kill_ns_teardown;
	case 8:
		return s == 9 && f->kill_from == RELATION_KERNEL;
	case 9:
		return s == 9 && f->request_open && f->kill_escalates && f->kill_early;
	case 10:
		return s == 9 && f->request_open && f->kill_escalates;
	case ROW_8D:
		return s == 9 && f->kill_deaf;
	case 11:
		return s == 9 && f->kill_from == RELATION_MANAGER;
	case 17:
		return s && s <= 64 && f->request_open && f->request_sigs & SIG_BIT(s);
	case 18:
		return s && f->fatal_from == RELATION_NONE && f->window_complete;
	case 19:
		return s && (f->fatal_from == RELATION_NONE || is_unknown(f->fatal_from));
	case 25:
		return s && (f->fatal_from == RELATION_MANAGER || f->fatal_from == RELATION_HOST);
	case 26:
		return !s && f->request_open && f->request_heard;
	case 27:
		return !s && f->request_open;
	case 28:
		return !s && f->status >> 8 == 0;
	default:
		return row > 29 ? holds_between(f, row) : !s;
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
	return f;
}

static void test_sweep(void **state)
{
	uint64_t seed = 20, reached[LEN(order)] = {};

	for (uint32_t status = 0; status <= 0xffff; status++) {
		for (int i = 0; i < 60; i++) {
			struct outcome_facts f;
			struct outcome_verdict got;
			int place = 0;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			f = facts_of(i % 3 ? status & 0xff : status, seed >> 20);
			got = outcome_decide(&f);
			while (!holds(&f, order[place]))
				place++;
			if (got.row != order[place])
				fail_msg("status %x, bits %llx: row %d, not %d", f.status,
					 (unsigned long long)seed >> 20, got.row, order[place]);
			reached[place]++;
		}
	}
	for (int place = 0; place < ROWS; place++)
		if (!reached[place])
			fail_msg("no facts reach row %d", order[place]);
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
		assert_in_range(place_of(got.row), 1, ROWS);
		assert_in_range(got.outcome, 0, OUTCOME_COUNT - 1);
		assert_in_range(got.cause, 0, CAUSE_COUNT - 1);
		assert_true(strcmp(outcome_name(got.outcome), "unknown") || !f.status_seen);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each row of the table has facts that reach it", test_every_row),
		CLAIM("of two rows whose conditions hold the first wins", test_first_match),
		CLAIM("every status with any facts gets the first row of the table that holds",
		      test_sweep),
		CLAIM("facts that contradict each other still get a row", test_any_facts),
	};

	return cmocka_run_group_tests_name("core/stop/outcome", tests, NULL, NULL);
}
