/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's budget: a share of one CPU over a sliding window. Each time the daemon exceeds it,
 * one more kind of work is shed, in this order; what was shed before stays shed:
 *
 *   noisy    the containers that cause most of the work are marked: what their processes other than
 *            init do is no longer counted (collateral_kills, oom_kills), and of the signals to
 *            their init only stop signals and SIGKILL are recorded. Verdicts of other containers
 *            lose nothing; those of the marked ones have the gap `shed`.
 *   signals  signal records are not written any more, stop records are. At most 256 signals to one
 *            init at once and 100 a second are recorded, SIGKILL excepted. A verdict that this
 *            affects has the gap `suppressed`.
 *   names    no source is queried; records have ids, and the gap `shed`. Not while a shutdown of
 *            the node is announced: that needs names, and the status of pods.
 *
 * What a step has brought is seen over a whole window before the next one is taken.
 *
 * The offered load is known whatever is shed: programs run as often. Work is resumed at once when
 * the load fell to less than half, and so far that what it cost before a step, in proportion, is
 * below half of the budget, or what it cost before anything was shed is within the budget.
 * Otherwise work is resumed one kind at a time, the last one shed first, after a delay within the
 * budget; if that was too early, the next delay is twice as long.
 */
#ifndef CORE_LOAD_BUDGET_H
#define CORE_LOAD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/words/words.h"

#define BUDGET_WINDOW_NS   10000000000ULL
#define BUDGET_SAMPLES	   16
#define BUDGET_CALM_NS	   6000000000ULL   /* how long the load has to be gone */
#define BUDGET_HOLD_NS	   30000000000ULL  /* before something comes back, at first */
#define BUDGET_HOLD_MAX_NS 600000000000ULL /* ... and after many attempts */

struct budget_sample {
	uint64_t at_ns;
	uint64_t cost_ns;  /* CPU time since the start, BPF programs and daemon together */
	uint64_t apart_ns; /* ... and what shedding cannot lower: it is reported, and decides
			      nothing */
	uint64_t load;	   /* what is offered since the start: runs of programs; 0: not known */
};

struct budget_rates {
	uint64_t cost_ppm;
	uint64_t load; /* a second */
};

/* All zero and a limit is a budget that has seen nothing. */
struct budget {
	uint32_t limit_ppm; /* of one CPU; 0: no budget. A new one sheds nothing at first */
	enum shed level;
	struct budget_sample samples[BUDGET_SAMPLES]; /* oldest first */
	size_t n;
	uint32_t judged_ppm; /* the limit that level is about */
	bool raised_last;    /* the last change of the level was to shed more */
	/* When a level was raised, of the level below; the cost is at least the limit. */
	struct budget_rates before[SHED_COUNT];
	struct budget_rates calm; /* over the last window in which nothing was, or had to be, shed */
	uint64_t raised_ns, lowered_ns; /* lowered while the load went on; 0: never */
	uint64_t hold_ns;
	uint32_t ratio_ppm; /* what it cost over the last window, of one CPU; 0: not known yet */
	uint64_t changes;   /* of the level */
};

/*
 * Takes a sample, about one a second. True when the level changed, or when it stays at the last one
 * and is not enough: then the noisiest are to be chosen again. Samples that go back in time are
 * ignored.
 */
bool budget_sample(struct budget *budget, const struct budget_sample *sample);

/* The last thing that is shed at that level, all before it included. */
enum shed shed_of(enum shed level, bool shutdown);

#endif
