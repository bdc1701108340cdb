// SPDX-License-Identifier: Apache-2.0
/* Claims about core/ratelimit. */
#include "core/ratelimit.h"
#include "lib/claim.h"

#define S 1000000000ull

static const struct step {
	uint64_t at_ns;
	bool pass;
	uint64_t held;
} steps[] = {
	{0, true, 0},	       {1, true, 0},	   {2, false, 0},      {59 * S, false, 0},
	{60 * S, true, 2},     {61 * S, true, 0},  {62 * S, false, 0}, {61 * S, false, 0},
	{5, false, 0},	       {400 * S, true, 3}, {459 * S, true, 0}, {460 * S - 1, false, 0},
	{UINT64_MAX, true, 1},
};

static void test_minutes(void **state)
{
	struct ratelimit limit = {};

	(void)state;
	for (size_t i = 0; i < LEN(steps); i++) {
		uint64_t held = 0;

		print_message("# step %zu\n", i);
		assert_int_equal(ratelimit_pass(&limit, steps[i].at_ns, 2, &held), steps[i].pass);
		assert_int_equal(held, steps[i].held);
	}
}

static void test_never(void **state)
{
	struct ratelimit limit = {};
	uint64_t held = 7;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_false(ratelimit_pass(&limit, i * 100 * S, 0, &held));
	assert_int_equal(held, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("two a minute pass, and the next tells what was held back", test_minutes),
		CLAIM("none a minute never passes", test_never),
	};

	return cmocka_run_group_tests_name("ratelimit", tests, NULL, NULL);
}
