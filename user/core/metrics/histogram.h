/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram whose sum is exact: values are whole billionths (nanoseconds of seconds, billionths
 * of a ratio), so that nothing is rounded and no sum ever falls. */
#ifndef CORE_METRICS_HISTOGRAM_H
#define CORE_METRICS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "core/metrics/native.h"

#define HISTOGRAM_BOUNDS_MAX 12
#define HISTOGRAM_ONE	     1000000000ULL /* 1, in billionths */

/* Upper bounds, each inside its bucket, in billionths and ascending; +Inf comes of itself. */
struct histogram_bounds {
	size_t n;
	uint64_t at[HISTOGRAM_BOUNDS_MAX];
};

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
