// SPDX-License-Identifier: Apache-2.0
/* The decision table: a row is a condition and what follows from it; the first that holds wins. */
#include "core/stop/outcome.h"

typedef const struct outcome_facts *facts_ptr;

static int died_of(facts_ptr f)
{
	return (int)(f->status & 0x7f);
}

static bool killed(facts_ptr f)
{
	return died_of(f) == 9;
}

static bool unseen(facts_ptr f)
{
	return !f->status_seen;
}

static bool oom_container(facts_ptr f)
{
	return killed(f) && f->oom == OOM_LEVEL_CONTAINER;
}

static bool oom_pod(facts_ptr f)
{
	return killed(f) && f->oom == OOM_LEVEL_POD;
}

static bool oom_node(facts_ptr f)
{
	return killed(f) && f->oom == OOM_LEVEL_NODE;
}

static bool oom_unknown(facts_ptr f)
{
	return killed(f) && f->oom == OOM_LEVEL_UNKNOWN;
}

static bool stopped_by_signal(facts_ptr f);

/* Also by its SIGTERM, which comes first. */
static bool oom_userspace(facts_ptr f)
{
	if (killed(f))
		return f->kill_seen && f->kill_by_oomd;
	return f->request_open && f->request_by_oomd &&
	       (died_of(f) ? stopped_by_signal(f) : f->request_heard);
}

/* The same process may have asked it to stop before, wherever that runs. */
static bool kill_unknown(facts_ptr f)
{
	return killed(f) &&
	       (!f->kill_seen || (relation_is_unknown(f->kill_from) && !f->kill_escalates));
}

static bool kill_by_namespace(facts_ptr f)
{
	return killed(f) && f->kill_ns_teardown;
}

static bool kill_by_parent(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_PARENT;
}

static bool kill_by_kernel(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_KERNEL;
}

static bool kill_for_deafness(facts_ptr f)
{
	return killed(f) && f->kill_deaf;
}

/* What a request had given time for was not over, if there was one. */
static bool kill_cleans_up(facts_ptr f)
{
	return killed(f) && f->kill_cleans_up &&
	       (!f->request_open || !f->kill_escalates || f->kill_early);
}

static bool kill_too_early(facts_ptr f)
{
	return killed(f) && f->request_open && f->kill_escalates && f->kill_early;
}

static bool kill_escalated(facts_ptr f)
{
	return killed(f) && f->request_open && f->kill_escalates;
}

/* Without a request, or after another sender's: what that one asked for is not escalated. */
static bool kill_without_grace(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_MANAGER;
}

static bool kill_by_self(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_SELF;
}

static bool kill_by_supervisor(facts_ptr f)
{
	return killed(f) && f->by_supervisor;
}

static bool kill_same_container(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_SAME_CONTAINER;
}

static bool kill_same_pod(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_SAME_POD;
}

static bool kill_other_pod(facts_ptr f)
{
	return killed(f) && f->kill_from == RELATION_OTHER_POD;
}

static bool kill_by_host(facts_ptr f)
{
	return killed(f);
}

static bool stopped_by_signal(facts_ptr f)
{
	int s = died_of(f);

	return s >= 1 && s <= 64 && f->request_open && (f->request_sigs >> (s - 1)) & 1;
}

static bool stopped_by_parent(facts_ptr f)
{
	return stopped_by_signal(f) && f->request_parent;
}

static bool ended_at_terminal(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_TERMINAL;
}

/* By a signal that is sent in order to end a process: whose it was is the cause. */
static bool ended_by(facts_ptr f, enum relation from)
{
	int s = died_of(f);

	return s && !outcome_is_fault((uint32_t)s) && f->fatal_from == from;
}

static bool ended_by_supervisor(facts_ptr f)
{
	return ended_by(f, RELATION_SAME_CONTAINER) && f->by_supervisor;
}

static bool ended_same_container(facts_ptr f)
{
	return ended_by(f, RELATION_SAME_CONTAINER);
}

static bool ended_same_pod(facts_ptr f)
{
	return ended_by(f, RELATION_SAME_POD);
}

static bool ended_other_pod(facts_ptr f)
{
	return ended_by(f, RELATION_OTHER_POD);
}

static bool ended_by_host(facts_ptr f)
{
	return ended_by(f, RELATION_HOST) || ended_by(f, RELATION_MANAGER);
}

static bool crash_no_signal(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_NONE && f->window_complete;
}

static bool crash_unknown(facts_ptr f)
{
	return died_of(f) && (f->fatal_from == RELATION_NONE || relation_is_unknown(f->fatal_from));
}

static bool crash_self(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_SELF;
}

static bool crash_parent(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_PARENT;
}

static bool crash_kernel(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_KERNEL;
}

static bool crash_supervisor(facts_ptr f)
{
	return died_of(f) && f->by_supervisor;
}

static bool crash_same_container(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_SAME_CONTAINER;
}

static bool crash_same_pod(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_SAME_POD;
}

static bool crash_other_pod(facts_ptr f)
{
	return died_of(f) && f->fatal_from == RELATION_OTHER_POD;
}

static bool crash_host(facts_ptr f)
{
	return died_of(f);
}

static bool exited_as_asked(facts_ptr f)
{
	return f->request_open && f->request_heard;
}

static bool exited_by_parent(facts_ptr f)
{
	return exited_as_asked(f) && f->request_parent;
}

static bool exited_unasked(facts_ptr f)
{
	return f->request_open;
}

static bool exited_zero_inside(facts_ptr f)
{
	return f->stopped_inside && (f->status >> 8 & 0xff) == 0;
}

static bool exited_inside(facts_ptr f)
{
	return f->stopped_inside;
}

static bool timed_out(facts_ptr f)
{
	return f->timed_out;
}

static bool exited_zero(facts_ptr f)
{
	return (f->status >> 8 & 0xff) == 0;
}

static bool always(facts_ptr f)
{
	return true;
}

static const struct {
	bool (*holds)(facts_ptr f);
	enum outcome outcome;
	enum cause cause;
} rows[OUTCOME_ROWS] = {
#define ROW(number, holds, outcome, cause, text) {holds, OUTCOME_##outcome, CAUSE_##cause},
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
