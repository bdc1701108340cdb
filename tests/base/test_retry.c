// SPDX-License-Identifier: Apache-2.0
/* Claims about base/retry: the wait doubles, and neither exceeds its bound nor wraps; each trouble
 * is reported once, and what it cost. */
#include "base/retry.h"
#include "lib/claim.h"

#define SECOND 1000000000ull

static enum trouble_news look(struct trouble *t, uint64_t dropped, uint64_t second, uint64_t *cost)
{
	return trouble_look(t, dropped, false, second * SECOND, cost);
}

static void test_once(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;

	assert_int_equal(look(&t, 0, 1, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, 3, 2, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, 5, 3, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, 5, 4, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, 5, 8, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 5);
	assert_int_equal(look(&t, 5, 100, &cost), TROUBLE_NO_NEWS);
}

static void test_next(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;

	assert_int_equal(look(&t, 7, 1, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, 7, 6, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 7);
	assert_int_equal(look(&t, 9, 10, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, 9, 15, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 2);
}

static void test_flapping(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;
	int reported = 0;

	for (uint64_t s = 0; s < 1000; s++)
		reported += look(&t, s / 2, 1 + s, &cost) != TROUBLE_NO_NEWS;
	assert_int_equal(reported, 1);
}

static void test_open(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;

	assert_int_equal(trouble_look(&t, 4, true, SECOND, &cost), TROUBLE_BEGINS);
	assert_int_equal(trouble_look(&t, 4, true, 100 * SECOND, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(trouble_look(&t, 4, false, 101 * SECOND, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 4);
}

static void test_waits(void **state)
{
	static const struct {
		uint64_t first_ns, last_ns, failures, want_ns;
	} rows[] = {
		{100, 30000, 0, 100},
		{100, 30000, 1, 200},
		{100, 30000, 8, 25600},
		{100, 30000, 9, 30000},
		{100, 30000, 63, 30000},
		{100, 30000, 64, 30000},
		{100, 30000, UINT64_MAX, 30000},
		{1, 64, 6, 64},
		{1, 64, 7, 64},
		{1, UINT64_MAX, 63, 1ull << 63},
		{3, UINT64_MAX, 63, UINT64_MAX},
		{50, 20, 0, 20},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(backoff_ns(rows[i].first_ns, rows[i].last_ns, rows[i].failures),
				 rows[i].want_ns);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a trouble is reported when it begins and, with its cost, when it is over",
		      test_once),
		CLAIM("the next trouble is reported with its own cost", test_next),
		CLAIM("it is not over while the next one would be dropped", test_open),
		CLAIM("a sink that flaps is reported once", test_flapping),
		CLAIM("each wait is twice the one before, up to the bound", test_waits),
	};

	return cmocka_run_group_tests_name("base/retry", tests, NULL, NULL);
}
