// SPDX-License-Identifier: Apache-2.0
/* Which series a label set can have, and how long they are. */
#include "core/outcome.h"
#include "core/series_store.h"

#define LEVELS (OOM_LEVEL_UNKNOWN + 1)
#define MS     1000000ULL
#define S      HISTOGRAM_ONE

/*
 * A process that stops when told does so within milliseconds, or within a second or two when it has
 * something to finish: five bounds for those. One that does not is killed when its grace period is
 * over, which is 30 s unless somebody says otherwise, and 5, 10 and 60 s are what they say most. A
 * bound at exactly 30 s would have the killed, who take some milliseconds more, in the same bucket
 * as whatever takes up to a minute; so each of these periods has a bucket of its own around it,
 * wide enough for a busy runtime's timer. 120 s is what databases ask for.
 */
static const struct histogram_bounds duration_bounds = {
	.n = 14,
	.at = {10 * MS, 100 * MS, 500 * MS, 1 * S, 2 * S, 4500 * MS, 5500 * MS, 9500 * MS,
	       10500 * MS, 29 * S, 31 * S, 59 * S, 61 * S, 120 * S},
};

/*
 * Above 1 the grace period was over: a kill at its end is a little late and so within 1.1; far
 * beyond it something held the process, or the runtime.
 */
static const struct histogram_bounds grace_bounds = {
	.n = 9,
	.at = {50 * MS, 100 * MS, 250 * MS, 500 * MS, 750 * MS, 900 * MS, 1 * S, 1100 * MS, 2 * S},
};

/*
 * An empty pod has lost its sandbox, too, which the kubelet stops once it has seen the containers'
 * end: it looks each second, and what is slow there is slow by seconds.
 */
static const struct histogram_bounds empty_bounds = {
	.n = 8,
	.at = {10 * MS, 100 * MS, 500 * MS, 1 * S, 2 * S, 5 * S, 10 * S, 60 * S},
};

/*
 * A kubelet says so with its next list or, where it does not know better, when the containers are
 * gone: within the grace period, which is 30 s as a rule, and some lists are a minute apart.
 */
static const struct histogram_bounds ready_bounds = {
	.n = 8,
	.at = {100 * MS, 500 * MS, 1 * S, 2 * S, 5 * S, 10 * S, 29 * S, 61 * S},
};

const struct histogram_bounds *serie_bounds(enum series_family family)
{
	switch (family) {
	case SERIES_STOP_DURATION:
		return &duration_bounds;
	case SERIES_GRACE_USED:
		return &grace_bounds;
	case SERIES_POD_EMPTY:
		return &empty_bounds;
	case SERIES_POD_READY:
		return &ready_bounds;
	default:
		return NULL;
	}
}

uint64_t serie_lines(enum series_family family)
{
	const struct histogram_bounds *bounds = serie_bounds(family);

	return bounds ? bounds->n + 3 : 1; /* +Inf, sum, count */
}

#define CAUSE(name) (1u << CAUSE_##name)

/* The pairs of outcome and cause that the contract's table has: bits 1 << enum cause. */
static const uint32_t causes_of[OUTCOME_COUNT] = {
	[OUTCOME_UNKNOWN] = CAUSE(UNKNOWN),
	[OUTCOME_GRACEFUL] = CAUSE(STOP_SIGNAL) | CAUSE(SELF),
	[OUTCOME_TERMINATED] = CAUSE(STOP_SIGNAL),
	[OUTCOME_KILLED] = CAUSE(UNKNOWN) | CAUSE(PID_NAMESPACE) | CAUSE(KERNEL) |
			   CAUSE(KILLED_EARLY) | CAUSE(GRACE_EXPIRED) | CAUSE(NO_GRACE) |
			   CAUSE(SELF) | CAUSE(SAME_CONTAINER) | CAUSE(SAME_POD) |
			   CAUSE(OTHER_POD) | CAUSE(HOST),
	[OUTCOME_OOM_KILLED] =
		CAUSE(OOM_CONTAINER) | CAUSE(OOM_POD) | CAUSE(OOM_NODE) | CAUSE(OOM_UNKNOWN),
	[OUTCOME_CRASHED] = CAUSE(SELF) | CAUSE(UNKNOWN) | CAUSE(KERNEL) | CAUSE(SAME_CONTAINER) |
			    CAUSE(SAME_POD) | CAUSE(OTHER_POD) | CAUSE(HOST),
	[OUTCOME_COMPLETED] = CAUSE(SELF),
	[OUTCOME_FAILED] = CAUSE(SELF),
};

bool serie_is_pair(unsigned int outcome, unsigned int cause)
{
	return outcome < OUTCOME_COUNT && cause < CAUSE_COUNT && causes_of[outcome] >> cause & 1;
}

bool serie_is_key(const struct serie_key *key)
{
	switch (key->family) {
	case SERIES_STOP_DURATION:
		return key->major < OUTCOME_COUNT && key->minor == 0;
	case SERIES_STOPS:
		return serie_is_pair(key->major, key->minor);
	case SERIES_OOM_KILLS:
		return key->major > OOM_LEVEL_NONE && key->major < LEVELS && key->minor == 0;
	default:
		return key->major == 0 && key->minor == 0;
	}
}
