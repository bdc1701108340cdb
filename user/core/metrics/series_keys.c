// SPDX-License-Identifier: Apache-2.0
/* Which series a label set can have, which of them exist from the start, and how long they are. */
#include "core/metrics/series_store.h"
#include "core/stop/outcome.h"

#define LEVELS (OOM_LEVEL_UNKNOWN + 1)
#define MS     1000000ULL
#define S      HISTOGRAM_ONE

/*
 * A process that handles its stop signal exits within milliseconds or a few seconds. One that does
 * not is killed at the end of its grace period, some milliseconds after a whole number of seconds:
 * a bound at that number puts the kill into the bucket above it, and what ended in time below it.
 * The periods are those that specs name most: 3, 4, 6, 10, 15, 20, 45 and 60 s. 30 s, the default
 * of Kubernetes, has a bound on both sides, so that its kills have a bucket of their own. The last
 * bound is what histogram_quantile() reports for everything above.
 */
static const struct histogram_bounds duration_bounds = {
	.n = 12,
	.at = {100 * MS, 1 * S, 3 * S, 4 * S, 6 * S, 10 * S, 15 * S, 20 * S, 29 * S, 31 * S, 45 * S,
	       60 * S},
};

/* Above 1 the grace period was over: a kill at its end is a little late and so within 1.1; far
 * beyond it something held the process, or the runtime. */
static const struct histogram_bounds grace_bounds = {
	.n = 4,
	.at = {500 * MS, 900 * MS, 1 * S, 1100 * MS},
};

/* The kubelet stops a pod's sandbox once it has seen the containers' end, and it looks each
 * second: what is slow there is slow by seconds. */
static const struct histogram_bounds empty_bounds = {
	.n = 4,
	.at = {100 * MS, 1 * S, 5 * S, 30 * S},
};

/* The kubelet reports it with its next status or, where it does not know better, when the
 * containers are gone: within the grace period, which is 30 s by default. */
static const struct histogram_bounds ready_bounds = {
	.n = 4,
	.at = {1 * S, 5 * S, 15 * S, 31 * S},
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

/* The pairs of outcome and cause that the table of graced-records(5) has: bits 1 << enum cause. */
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

/*
 * What the alerts of graced-run(8) count. The other pairs of outcome and cause are too rare for a
 * line of each container.
 */
static const struct serie_key from_the_start[] = {
	{SERIES_STOPS, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED},
	{SERIES_STOPS, OUTCOME_KILLED, CAUSE_NO_GRACE},
	{SERIES_STOPS, OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER},
	{SERIES_STOPS, OUTCOME_CRASHED, CAUSE_SELF},
	{SERIES_STOPS, OUTCOME_FAILED, CAUSE_SELF},
	{SERIES_DEAF_STOPS, 0, 0},
	{SERIES_COLLATERAL_KILLS, 0, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_CONTAINER, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_POD, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_NODE, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_UNKNOWN, 0},
};

const struct serie_key *serie_from_the_start(size_t index)
{
	size_t n = sizeof(from_the_start) / sizeof(from_the_start[0]);

	return index < n ? from_the_start + index : NULL;
}
