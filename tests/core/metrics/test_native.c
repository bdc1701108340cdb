// SPDX-License-Identifier: Apache-2.0
/* Claims about the native buckets of core/metrics/histogram, held against long double arithmetic. */
#include <stdbool.h>
#include <string.h>

#include "core/metrics/histogram.h"
#include "lib/claim.h"

#define S HISTOGRAM_ONE
#define N 3000

static const struct histogram_bounds bounds = {.n = 4, .at = {S / 10, S, 10 * S, 60 * S}};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static long double exp2_of(int log2)
{
	long double power = 1;

	for (; log2 > 0; log2--)
		power *= 2;
	for (; log2 < 0; log2++)
		power /= 2;
	return power;
}

/* 2^(index/2^schema); what is behind a power of two by steps of the finest schema. */
static long double bound(int index, int schema)
{
	int steps = index * (1 << (NATIVE_SCHEMA - schema));
	int log2 = (steps - (steps & 7)) / 8;
	long double power = exp2_of(log2);

	for (int i = 0; i < (steps & 7); i++)
		power *= 1.09050773266525765920L;
	return power;
}

/* The index in the next coarser schema, of the one that ends where it ends, or a step later. */
static int coarser(int index)
{
	return (index + (index & 1)) / 2;
}

static bool is_zero(uint64_t value)
{
	return value / 1e9L <= exp2_of(NATIVE_ZERO_LOG2);
}

/* What is in a bucket, by its definition. */
static uint64_t count_between(const uint64_t *values, size_t n, int index, int schema)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !is_zero(values[i]) && values[i] / 1e9L > bound(index - 1, schema) &&
			 values[i] / 1e9L <= bound(index, schema);
	return count;
}

static void check_model(const struct histogram *h, const uint64_t *values, size_t n)
{
	const struct native *native = &h->native;
	uint64_t sum = native->zero, zeros = 0;

	assert_true(native->n <= NATIVE_BUCKETS_MAX && native_schema(native) >= 0);
	for (size_t i = 0; i < native->n; i++) {
		assert_true(i == 0 || native->index[i] > native->index[i - 1]);
		assert_true(native->count[i] > 0);
		assert_int_equal(native->count[i],
				 count_between(values, n, native->index[i], native_schema(native)));
		sum += native->count[i];
	}
	for (size_t i = 0; i < n; i++)
		zeros += is_zero(values[i]);
	assert_int_equal(native->zero, zeros);
	assert_int_equal(sum, h->count);
	assert_int_equal(sum, n);
}

/* bits: how wide the values are spread, up to all that there are. */
static void check_spread(unsigned int bits, uint64_t seed)
{
	static uint64_t values[N];
	struct histogram h = {};

	for (size_t i = 0; i < N; i++) {
		values[i] = next(&seed) >> (64 - bits) >> next(&seed) % bits;
		histogram_observe(&h, &bounds, values[i]);
		if (i % 500 == 0 || i == N - 1)
			check_model(&h, values, i + 1);
	}
}

static void test_model(void **state)
{
	static const unsigned int bits[] = {1, 20, 30, 33, 36, 44, 64};

	for (size_t i = 0; i < LEN(bits); i++)
		for (uint64_t seed = 1; seed < 4; seed++)
			check_spread(bits[i], seed * 0x9e3779b97f4a7c15);
}

static void test_bounds(void **state)
{
	static const struct {
		uint64_t value;
		int index;
	} want[] = {
		{976563, -79},
		{S / 2, -8},
		{S / 2 + 1, -7},
		{S - 1, 0},
		{S, 0},
		{S + 1, 1},
		{1090507732, 1}, /* 2^(1/8) is 1.0905077326... */
		{1090507733, 2},
		{1024 * S, 80},
		{UINT64_C(17179869184) * S, 272},
		{UINT64_C(17179869184) * S + 1, 273},
		{UINT64_MAX, 273},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct native native = {};

		native_observe(&native, want[i].value);
		assert_int_equal(native.n, 1);
		assert_int_equal(native.index[0], want[i].index);
	}
	for (uint64_t value = 0; value <= 976562; value += 976562 / 2) {
		struct native native = {};

		native_observe(&native, value);
		assert_int_equal(native.n, 0);
		assert_int_equal(native.zero, 1);
	}
}

/* What Prometheus takes for a reset: fewer in a bucket of the coarser schema of two. */
static void test_monotonic(void **state)
{
	struct native native = {}, before;
	uint64_t seed = 7;

	for (size_t i = 0; i < N; i++) {
		before = native;
		native_observe(&native, next(&seed) >> next(&seed) % 64);
		assert_true(native_schema(&native) <= native_schema(&before));
		for (size_t k = 0; k < before.n; k++) {
			int index = before.index[k];
			uint64_t was = 0, now = 0;

			for (int c = before.coarser; c < native.coarser; c++)
				index = coarser(index);
			for (size_t j = 0; j < before.n; j++) {
				int other = before.index[j];

				for (int c = before.coarser; c < native.coarser; c++)
					other = coarser(other);
				was += other == index ? before.count[j] : 0;
			}
			for (size_t j = 0; j < native.n; j++)
				now += native.index[j] == index ? native.count[j] : 0;
			assert_true(now >= was);
		}
	}
	assert_int_equal(native_schema(&native), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("every observation is in the bucket of its definition, and in one alone",
		      test_model),
		CLAIM("bounds are exact to the billionth", test_bounds),
		CLAIM("no bucket loses, also when the schema falls", test_monotonic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
