// SPDX-License-Identifier: Apache-2.0
/* Claims about core/metrics/histogram: exact sums and ratios at their ends. */
#include "core/metrics/histogram.h"
#include "lib/claim.h"

#define S HISTOGRAM_ONE

static void test_exact_sum(void **state)
{
	static const struct histogram_bounds bounds = {.n = 1, .at = {10}};
	struct histogram h = {};

	for (int i = 0; i < 3; i++)
		histogram_observe(&h, &bounds, 999999999);
	histogram_observe(&h, &bounds, 10);
	histogram_observe(&h, &bounds, 11);
	assert_int_equal(h.sum_whole, 3);
	assert_int_equal(h.sum_billionths, 18);
	assert_int_equal(h.buckets[0], 1);
	assert_int_equal(h.buckets[1], 4);
	assert_int_equal(h.count, 5);
	h.sum_whole = UINT64_MAX;
	histogram_observe(&h, &bounds, UINT64_MAX);
	assert_true(h.sum_whole == UINT64_MAX);
}

static void test_ratio(void **state)
{
	static const struct {
		uint64_t part, whole, want;
	} want[] = {
		{0, 1, 0},
		{1, 1, S},
		{15 * S, 30 * S, S / 2},
		{30 * S + 1, 30 * S, S},
		{1, 3, 333333333},
		{2, 3, 666666666},
		{UINT64_MAX, UINT64_MAX, S},
		{UINT64_MAX / 2, UINT64_MAX, 499999999},
		{UINT64_MAX - 1, UINT64_MAX, 999999999},
		{UINT64_MAX, 1, UINT64_MAX},
		{18446744072999999999ULL, S, 18446744072999999999ULL},
		{18446744073ULL, 1, UINT64_MAX},
	};

	for (size_t i = 0; i < LEN(want); i++)
		assert_true(histogram_ratio(want[i].part, want[i].whole) == want[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a sum is exact to the billionth and never falls", test_exact_sum),
		CLAIM("a ratio is rounded down and never overflows", test_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
