// SPDX-License-Identifier: Apache-2.0
/* The table of reasons: what is wrong with a stop, what that makes of the verdict, and its words. */
#include "core/trial/trial.h"

#include "base/duration.h"
#include "core/stop/outcome.h"
#include "core/story/phrase.h"

typedef const struct trial_facts *facts_ptr;

/* Behind these gaps a process that was cut, or an end, may hide. */
#define BLINDING                                                                                 \
	(1u << GAP_EVENTS_LOST | 1u << GAP_SUPPRESSED | 1u << GAP_SHED | 1u << GAP_DAEMON_DOWN | \
	 1u << GAP_EXIT_UNSEEN | 1u << GAP_INIT_GUESSED | 1u << GAP_INIT_UNSEEN |                \
	 1u << GAP_INIT_MOVED | 1u << GAP_NOT_EMPTY | 1u << GAP_TAKE_UNSEEN)

/* It took the signal. */
static bool is_in_vain(facts_ptr f)
{
	return f->stop->reason == UNHEARD_RERAISED || f->stop->reason == UNHEARD_CHILD_IGNORED;
}

static bool is_unheard(facts_ptr f)
{
	return !is_in_vain(f) && (f->stop->deaf || f->stop->reason);
}

static bool is_killed(facts_ptr f)
{
	return f->stop->outcome == OUTCOME_KILLED || f->stop->outcome == OUTCOME_OOM_KILLED;
}

static bool is_unasked(facts_ptr f)
{
	return !f->stop->stop_signal.known &&
	       (f->stop->outcome == OUTCOME_COMPLETED || f->stop->outcome == OUTCOME_FAILED);
}

/* The first process beside init that died of a fault of its own in the stop; NULL: none did. */
static const struct record_member *crashed(facts_ptr f)
{
	const struct record_stop *stop = f->stop;

	for (size_t i = 1; stop->stop_signal.known && i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->exit.known && outcome_is_fault(m->exit.status & 0x7f) && !m->entered &&
		    !m->helper && m->exit.at_ns >= stop->stop_signal.at_ns &&
		    (m->by == ENDED_ITSELF || m->by == ENDED_KERNEL))
			return m;
	}
	return NULL;
}

static bool is_failed(facts_ptr f)
{
	return f->stop->outcome == OUTCOME_CRASHED || crashed(f) ||
	       (f->stop->outcome == OUTCOME_FAILED && !is_unasked(f));
}

static bool is_cut(facts_ptr f)
{
	return f->stop->cut;
}

static bool is_slow(facts_ptr f)
{
	return f->within_ns && f->stop->latency_known && f->stop->latency_ns > f->within_ns;
}

static bool is_refusing(facts_ptr f)
{
	return f->refused_ns;
}

static bool is_unseen(facts_ptr f)
{
	return f->unlooked || f->elsewhere || f->stop->outcome == OUTCOME_UNKNOWN ||
	       f->stop->gaps & BLINDING || f->stop->processes_gaps;
}

static void add_reason(struct buf *out, facts_ptr f)
{
	buf_adds(out, "it ");
	phrase_add_reason(out, f->stop);
}

static void add_killed(struct buf *out, facts_ptr f)
{
	buf_adds(out,
		 f->stop->outcome == OUTCOME_KILLED ? "it was killed" : "the OOM killer ended it");
}

static void add_failed(struct buf *out, facts_ptr f)
{
	const struct record_member *m = crashed(f);

	if (f->stop->outcome == OUTCOME_CRASHED) {
		uint32_t sig = record_died_of(&f->stop->exit);

		buf_adds(out, sig && !phrase_dumps_core(sig) ? "a signal ended it" : "it crashed");
	} else if (m) {
		phrase_add_process(out, &m->process);
		buf_adds(out, ", one of its processes, crashed");
	} else {
		buf_adds(out, "it failed");
	}
}

static void add_cut(struct buf *out, facts_ptr f)
{
	buf_printf(out, "%u of its processes %s killed before %s had ended", f->stop->cut,
		   f->stop->cut == 1 ? "was" : "were", f->stop->cut == 1 ? "it" : "they");
}

static void add_slow(struct buf *out, facts_ptr f)
{
	char took[DURATION_SIZE], within[DURATION_SIZE];

	buf_printf(out, "it took %s, longer than %s", duration_format(f->stop->latency_ns, took),
		   duration_format(f->within_ns, within));
}

static void add_refused(struct buf *out, facts_ptr f)
{
	char text[DURATION_SIZE];

	buf_printf(out, "it refused connections for %s while it ran",
		   duration_format(f->refused_ns, text));
}

static void add_unasked(struct buf *out, facts_ptr f)
{
	buf_adds(out, record_beside(f->stop) ? "it ended after a signal that is not its stop signal"
					     : "it ended by itself, and was not asked to stop");
}

static void add_unseen(struct buf *out, facts_ptr f)
{
	buf_adds(out, "not all of it was seen");
	if (f->elsewhere)
		buf_adds(out, ", as a process of it was in another cgroup");
	else if (f->unlooked)
		buf_adds(out, ", as where its processes were is not known");
}

static const struct row {
	bool (*holds)(facts_ptr f);
	enum trial_verdict verdict;
	void (*add)(struct buf *out, facts_ptr f);
	const char *remedy;
} rows[TRIAL_REASON_COUNT] = {
	[TRIAL_UNHEARD] = {is_unheard, TRIAL_NOT_WELL, add_reason, NULL},
	[TRIAL_IN_VAIN] = {is_in_vain, TRIAL_NOT_WELL, add_reason, NULL},
	[TRIAL_KILLED] = {is_killed, TRIAL_NOT_WELL, add_killed, NULL},
	[TRIAL_FAILED] = {is_failed, TRIAL_NOT_WELL, add_failed, NULL},
	[TRIAL_CUT] = {is_cut, TRIAL_NOT_WELL, add_cut, NULL},
	[TRIAL_SLOW] = {is_slow, TRIAL_NOT_WELL, add_slow,
			"See what it waits for after the signal (a client, a lock, a queue), and end "
			"that; or allow it more time."},
	[TRIAL_REFUSED] = {is_refusing, TRIAL_NOT_WELL, add_refused,
			   "Accept connections until nothing sends new ones any more: close the "
			   "listening socket some seconds after the signal, or wait in a preStop "
			   "hook."},
	[TRIAL_UNASKED] = {is_unasked, TRIAL_UNKNOWN, add_unasked, NULL},
	[TRIAL_UNSEEN] = {is_unseen, TRIAL_UNKNOWN, add_unseen, NULL},
};

struct trial trial_judge(const struct trial_facts *facts)
{
	struct trial ret = {.verdict = TRIAL_WELL};

	for (unsigned int i = 0; i < TRIAL_REASON_COUNT; i++) {
		if (!rows[i].holds(facts))
			continue;
		ret.reasons |= 1u << i;
		if (rows[i].verdict > ret.verdict)
			ret.verdict = rows[i].verdict;
	}
	return ret;
}

static const char *const heads[] = {
	[TRIAL_WELL] = "It stops well",
	[TRIAL_UNKNOWN] = "Whether it stops well is not known",
	[TRIAL_NOT_WELL] = "It does not stop well",
};

void trial_add_verdict(struct buf *out, const struct trial *trial, const struct trial_facts *facts)
{
	const char *before = ": ";

	buf_adds(out, heads[trial->verdict]);
	for (unsigned int i = 0; i < TRIAL_REASON_COUNT; i++) {
		if (!(trial->reasons >> i & 1))
			continue;
		buf_adds(out, before);
		rows[i].add(out, facts);
		before = "; ";
	}
	buf_addc(out, '.');
}

const char *trial_remedy(enum trial_reason reason)
{
	return rows[reason].remedy;
}
