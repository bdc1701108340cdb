// SPDX-License-Identifier: Apache-2.0
/* Exponential buckets, found by whole numbers: without rounding, each value has one bucket. */
#include "core/metrics/native.h"

#include <assert.h>
#include <string.h>

#define STEPS	    (1 << NATIVE_SCHEMA) /* buckets from one power of two to the next */
#define TABLE_LOG2  33
#define INDEX_FIRST (NATIVE_ZERO_LOG2 * STEPS + 1)
/* The largest value is a little above 2^34: in the first bucket behind it. */
#define INDEX_LAST  ((TABLE_LOG2 + 1) * STEPS + 1)

/* 2^(TABLE_LOG2 + i/8) in billionths, rounded down. */
static const uint64_t bounds[STEPS] = {
	8589934592000000000ULL,	 9367390095664785123ULL,  10215211334214395865ULL,
	11139766950770582417ULL, 12148001999904198769ULL, 13247490117328543392ULL,
	14446490411353358019ULL, 15754009503455335899ULL,
};

/* The upper bound of a bucket in billionths, rounded down: no whole number is in between. */
static uint64_t bound_of(int index)
{
	int above = index - INDEX_FIRST + 1; /* than the threshold, in steps */
	int log2 = above / STEPS + NATIVE_ZERO_LOG2;

	if (index >= INDEX_LAST)
		return UINT64_MAX;
	if (log2 > TABLE_LOG2)
		return bounds[0] * 2;
	return bounds[above % STEPS] >> (TABLE_LOG2 - log2);
}

/* The finest schema's index; INDEX_FIRST - 1: zero. */
static int index_of(uint64_t billionths)
{
	int from = INDEX_FIRST - 1, to = INDEX_LAST;

	while (from < to) {
		int mid = from + (to - from) / 2;

		if (billionths <= bound_of(mid))
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

/* The bucket of the next coarser schema: half, rounded up. */
static int16_t halve(int16_t index)
{
	return (int16_t)(index > 0 ? (index + 1) / 2 : index / 2);
}

static void coarsen(struct native *native)
{
	size_t kept = 0;

	for (size_t i = 0; i < native->n; i++) {
		int16_t index = halve(native->index[i]);
		uint64_t count = native->count[i];

		if (kept && native->index[kept - 1] == index) {
			native_raise(&native->count[kept - 1], count);
		} else {
			native->index[kept] = index;
			native->count[kept++] = count;
		}
	}
	native->n = kept;
	native->coarser++;
}

static size_t place_of(const struct native *native, int16_t index)
{
	size_t at = 0;

	while (at < native->n && native->index[at] < index)
		at++;
	return at;
}

static void insert(struct native *native, size_t at, int16_t index)
{
	size_t after = native->n - at;

	memmove(native->index + at + 1, native->index + at, after * sizeof(native->index[0]));
	memmove(native->count + at + 1, native->count + at, after * sizeof(native->count[0]));
	native->index[at] = index;
	native->count[at] = 1;
	native->n++;
}

void native_observe(struct native *native, uint64_t billionths)
{
	int16_t index = (int16_t)index_of(billionths);
	size_t at;

	if (index < INDEX_FIRST) {
		native_raise(&native->zero, 1);
		return;
	}
	for (int i = 0; i < native->coarser; i++)
		index = halve(index);
	for (;;) {
		at = place_of(native, index);
		if (at < native->n && native->index[at] == index) {
			native_raise(&native->count[at], 1);
			return;
		}
		if (native->n < NATIVE_BUCKETS_MAX)
			break;
		assert(native->coarser < NATIVE_SCHEMA);
		coarsen(native);
		index = halve(index);
	}
	insert(native, at, index);
}
