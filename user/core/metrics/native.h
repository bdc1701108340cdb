/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buckets of Prometheus's native histograms: bucket i of schema s holds what is above
 * 2^((i-1)/2^s) and at most 2^(i/2^s), and only buckets with observations are stored.
 *
 * Memory is bounded: where one bucket more finds no room, the schema falls by one, and each two
 * neighbours become one. A schema never rises again. That is no reset of the counters for
 * Prometheus.
 */
#ifndef CORE_METRICS_NATIVE_H
#define CORE_METRICS_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#define NATIVE_SCHEMA	   3   /* the finest: each bound is 9 % above the one before */
#define NATIVE_ZERO_LOG2   -10 /* up to 2^-10, 1 ms or 0.1 %, counts as zero */
/* From there to the largest value there are 45 buckets of schema 0: it always has room. */
#define NATIVE_BUCKETS_MAX 64

/* All zero is an empty one. Counts that would wrap stay at their maximum instead. */
struct native {
	int coarser; /* the schema is NATIVE_SCHEMA less that */
	size_t n;
	uint64_t zero;			   /* observations up to the threshold */
	int16_t index[NATIVE_BUCKETS_MAX]; /* of the buckets, ascending */
	uint64_t count[NATIVE_BUCKETS_MAX];
};

void native_observe(struct native *native, uint64_t billionths);

static inline void native_raise(uint64_t *counter, uint64_t by)
{
	if (__builtin_add_overflow(*counter, by, counter))
		*counter = UINT64_MAX;
}

static inline int native_schema(const struct native *native)
{
	return NATIVE_SCHEMA - native->coarser;
}

#endif
