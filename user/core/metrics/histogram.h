/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram whose sum is exact: values are whole billionths (nanoseconds of seconds, billionths
 * of a ratio), so that nothing is rounded and no sum ever falls. */
#ifndef CORE_METRICS_HISTOGRAM_H
#define CORE_METRICS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BOUNDS_MAX 12
#define HISTOGRAM_ONE	     1000000000ULL /* 1, in billionths */

/* Upper bounds, each inside its bucket, in billionths and ascending; +Inf comes of itself. */
struct histogram_bounds {
	size_t n;
	uint64_t at[HISTOGRAM_BOUNDS_MAX];
};

/*
 * The buckets of Prometheus's native histograms: bucket i of schema s holds what is above
 * 2^((i-1)/2^s) and at most 2^(i/2^s), and only buckets with observations are stored.
 *
 * Memory is bounded: where one bucket more finds no room, the schema falls by one, and each two
 * neighbours become one. A schema never rises again. That is no reset of the counters for
 * Prometheus.
 */
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

static inline int native_schema(const struct native *native)
{
	return NATIVE_SCHEMA - native->coarser;
}

/* All zero is an empty histogram. Counts that would wrap stay at their maximum instead. */
struct histogram {
	uint64_t buckets[HISTOGRAM_BOUNDS_MAX + 1]; /* not cumulative; bounds->n is +Inf's */
	uint64_t count;
	uint64_t sum_whole;
	uint32_t sum_billionths; /* beside the whole ones, below HISTOGRAM_ONE */
	struct native native;	 /* the same observations in finer buckets */
};

/* Always with the same bounds. Returns the index of the bucket. */
size_t histogram_observe(struct histogram *histogram, const struct histogram_bounds *bounds,
			 uint64_t billionths);

/* part / whole in billionths, rounded down; UINT64_MAX for what is more. whole is not 0. */
uint64_t histogram_ratio(uint64_t part, uint64_t whole);

#endif
