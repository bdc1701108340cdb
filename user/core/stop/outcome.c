// SPDX-License-Identifier: Apache-2.0
/* The decision table: a row is a condition and what follows from it; the first that holds wins. */
#include "core/stop/outcome.h"

typedef const struct outcome_facts *facts_ptr;

static uint32_t died_of(facts_ptr f)
{
	return f->status & 0x7f;
}

static bool died_by(facts_ptr f, enum relation from)
{
	return died_of(f) && f->fatal_from == from;
}

static bool killed(facts_ptr f)
{
	return died_of(f) == 9;
}

static bool killed_by(facts_ptr f, enum relation from)
{
	return killed(f) && f->kill_from == from;
}

static bool oom_killed(facts_ptr f, enum oom_level level)
{
	return killed(f) && f->oom == level;
}

static bool escalated(facts_ptr f)
{
	return killed(f) && f->request_open && f->kill_escalates;
}

/* It died of a signal of the request. */
static bool stopped(facts_ptr f)
{
	uint32_t s = died_of(f);

	return s >= 1 && s <= 64 && f->request_open && f->request_sigs >> (s - 1) & 1;
}

static bool exited_as_asked(facts_ptr f)
{
	return f->request_open && f->request_heard;
}

static bool exited_zero(facts_ptr f)
{
	return (f->status >> 8 & 0xff) == 0;
}

/* By a signal that is sent in order to end a process: whose it was is the cause. */
static bool ended_by(facts_ptr f, enum relation from)
{
	return died_by(f, from) && !outcome_is_fault(died_of(f));
}

/* By its SIGKILL, or by its SIGTERM, which comes first. */
static bool oom_userspace(facts_ptr f)
{
	if (killed(f))
		return f->kill_seen && f->kill_by_oomd;
	return f->request_open && f->request_by_oomd &&
	       (died_of(f) ? stopped(f) : f->request_heard);
}

#define ROW(number, condition, outcome, cause, text) \
	static bool holds_##number(facts_ptr f)      \
	{                                            \
		return condition;                    \
	}
#include "core/stop/outcome.def"
#undef ROW

static const struct {
	bool (*holds)(facts_ptr f);
	enum outcome outcome;
	enum cause cause;
} rows[OUTCOME_ROWS] = {
#define ROW(number, condition, outcome, cause, text) \
	{holds_##number, OUTCOME_##outcome, CAUSE_##cause},
#include "core/stop/outcome.def"
#undef ROW
};

static struct outcome_verdict verdict_of(size_t row)
{
	return (struct outcome_verdict){
		.outcome = rows[row].outcome,
		.cause = rows[row].cause,
		.row = (enum outcome_row)row,
	};
}

struct outcome_verdict outcome_decide(const struct outcome_facts *facts)
{
	size_t i = 0;

	while (!rows[i].holds(facts))
		i++;
	return verdict_of(i);
}

bool outcome_row(size_t index, struct outcome_verdict *ret)
{
	if (index >= OUTCOME_ROWS)
		return false;
	*ret = verdict_of(index);
	return true;
}
