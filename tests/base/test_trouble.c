// SPDX-License-Identifier: Apache-2.0
/* Claims about base/trouble: each trouble is reported once, and what it cost. */
#include "base/trouble.h"

#include "lib/claim.h"

#define SECOND 1000000000ull

static enum trouble_news look(struct trouble *t, bool failed, uint64_t dropped, uint64_t second,
			      uint64_t *cost)
{
	return trouble_look(t, failed, dropped, second * SECOND, cost);
}

static void test_once(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;

	assert_int_equal(look(&t, false, 0, 1, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, true, 3, 2, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, true, 5, 3, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, false, 5, 4, &cost), TROUBLE_NO_NEWS);
	assert_int_equal(look(&t, false, 5, 8, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 5);
	assert_int_equal(look(&t, false, 5, 100, &cost), TROUBLE_NO_NEWS);
}

static void test_slow(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;

	assert_int_equal(look(&t, false, 7, 1, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, false, 7, 6, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 7);
	assert_int_equal(look(&t, false, 9, 10, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, false, 9, 15, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 2);
}

static void test_flapping(void **state)
{
	struct trouble t = {};
	uint64_t cost = 0;
	int reported = 0;

	for (uint64_t s = 0; s < 1000; s++)
		reported += look(&t, s % 2 == 0, s / 2, 1 + s, &cost) != TROUBLE_NO_NEWS;
	assert_int_equal(reported, 1);
}

static void test_no_loss(void **state)
{
	struct trouble t = {};
	uint64_t cost = 1;

	assert_int_equal(look(&t, true, 0, 1, &cost), TROUBLE_BEGINS);
	assert_int_equal(look(&t, false, 0, 9, &cost), TROUBLE_ENDS);
	assert_int_equal(cost, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a trouble is reported when it begins and, with its cost, when it is over",
		      test_once),
		CLAIM("a reader that is merely slow is a trouble, too", test_slow),
		CLAIM("a sink that flaps is reported once", test_flapping),
		CLAIM("a failure that cost nothing is reported with that", test_no_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
