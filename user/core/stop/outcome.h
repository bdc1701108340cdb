/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision table (graced-records(5), OUTCOME AND CAUSE): facts about one stop in, one
 * row out. First match wins; nothing else decides an outcome.
 */
#ifndef CORE_STOP_OUTCOME_H
#define CORE_STOP_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/words/words.h"

/* The sender beside the target, judged by cgroup id when the signal was generated, first match. */
enum relation {
	RELATION_NONE, /* no signal was seen */
	RELATION_SELF,
	RELATION_KERNEL,
	RELATION_SAME_CONTAINER,
	RELATION_SAME_POD,
	RELATION_OTHER_POD,
	RELATION_MANAGER,
	RELATION_HOST,
	RELATION_UNKNOWN,  /* the kernel, or any process: nothing distinguishes them */
	RELATION_UNPLACED, /* a process outside the target's container, which may be in another */
	RELATION_PARENT,   /* the kernel, because the target's parent died (PR_SET_PDEATHSIG) */
	RELATION_TERMINAL, /* the kernel, for who sits at the target's terminal: ^C, or it hung up */
	RELATION_COUNT,
};

static inline bool relation_is_unknown(enum relation relation)
{
	return relation == RELATION_UNKNOWN || relation == RELATION_UNPLACED;
}

struct outcome_facts {
	bool status_seen;
	uint32_t status;	 /* raw wait status */
	enum oom_level oom;	 /* NONE unless init is an OOM victim */
	bool kill_seen;		 /* a fatal SIGKILL was seen */
	enum relation kill_from; /* its sender */
	bool kill_ns_teardown;	 /* ... is a dying PID 1 of a pid namespace that init is in */
	bool kill_escalates;	 /* by a manager as the request was, or by the request's sender */
	bool kill_early;	 /* grace known, and earlier than it allows */
	bool kill_cleans_up;	 /* by what manages containers, for init's keeper had died */
	bool kill_by_oomd;	 /* its sender is a daemon that frees memory */
	bool kill_deaf;		 /* by graced, for shutdown.deafGrace */
	bool request_open;
	bool request_by_oomd;
	bool request_heard;
	bool request_parent;	  /* it is of the kernel, as init's parent died */
	uint64_t request_sigs;	  /* stop-set signals sent in it: bit n-1 for signal n */
	bool stopped_inside;	  /* it heard a stop signal from its own container shortly before */
	enum relation fatal_from; /* who sent the last signal of the number it died of */
	bool by_supervisor;	  /* what ended it came from its parent, in its container */
	bool timed_out;		  /* it is timeout(1), and ended what it ran, unasked */
	bool window_complete;	  /* nothing that bears on the verdict was lost or suppressed */
};

enum outcome_row {
#define ROW(number, condition, outcome, cause, text) OUTCOME_ROW_##number,
#include "core/stop/outcome.def"
#undef ROW
	OUTCOME_ROWS,
};

struct outcome_verdict {
	enum outcome outcome;
	enum cause cause;
	enum outcome_row row;
};

struct outcome_verdict outcome_decide(const struct outcome_facts *facts);

/* What the rows of the table decide, in its order: 0, 1, ... False: there are no more. */
bool outcome_row(size_t index, struct outcome_verdict *ret);

/* ILL TRAP ABRT BUS FPE SEGV XCPU XFSZ SYS: what a program that goes wrong dies of. */
static inline bool outcome_is_fault(uint32_t sig)
{
	const uint32_t faults =
		1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 11 | 3u << 24 | 1u << 31;

	return sig < 32 && faults >> sig & 1;
}

#endif
