// SPDX-License-Identifier: Apache-2.0
/* Claims about core/load/noisy: who is marked for making most of the work, and who is let go. */
#include "core/load/noisy.h"

#include "lib/claim.h"

#define FLOOR 100

static void test_busiest(void **state)
{
	struct noisy_work before[] = {{5, 0}, {2, 1000000}, {1, 0}};
	struct noisy_work after[] = {{1, 50}, {2, 1009000}, {3, 1500}, {4, 900}, {5, 0}};
	struct noisy noisy = {};

	assert_int_equal(noisy_look(&noisy, before, LEN(before)), 0);
	assert_int_equal(noisy_choose(&noisy, after, LEN(after), FLOOR), 2);
	assert_int_equal(after[0].id, 2);
	assert_int_equal(after[0].events, 9000);
	assert_int_equal(after[1].id, 3);
	assert_int_equal(noisy.n_marked, 2);
	noisy_done(&noisy);
}

static void test_floor(void **state)
{
	struct noisy_work after[] = {{1, FLOOR - 1}};
	struct noisy noisy = {};

	assert_int_equal(noisy_look(&noisy, NULL, 0), 0);
	assert_int_equal(noisy_choose(&noisy, after, LEN(after), FLOOR), 0);
	noisy_done(&noisy);
}

static void test_once(void **state)
{
	struct noisy_work work[] = {{1, 5000}}, more[] = {{1, 5000}, {2, 4000}};
	struct noisy noisy = {};

	noisy_look(&noisy, NULL, 0);
	assert_int_equal(noisy_choose(&noisy, work, 1, FLOOR), 1);
	noisy_look(&noisy, NULL, 0);
	assert_int_equal(noisy_choose(&noisy, more, 2, FLOOR), 1);
	assert_int_equal(more[0].id, 2);
	assert_int_equal(noisy.n_marked, 2);
	noisy_done(&noisy);
}

/* A bomb that comes back under another id again and again. */
static void test_gone(void **state)
{
	struct noisy noisy = {};

	for (uint64_t id = 1; id <= 100; id++) {
		struct noisy_work work[] = {{id, 5000}};

		assert_int_equal(noisy_look(&noisy, NULL, 0), 0);
		assert_int_equal(noisy_choose(&noisy, work, 1, FLOOR), 1);
		assert_int_equal(noisy.n_marked, 1);
	}
	noisy_done(&noisy);
}

static void test_bound(void **state)
{
	struct noisy_work work[NOISY_MAX * 2];
	struct noisy noisy = {};
	uint64_t id;

	for (int round = 0; round < 10; round++) {
		for (uint64_t i = 0; i < LEN(work); i++)
			work[i] = (struct noisy_work){i + 1, i / 4 == (uint64_t)round ? 5000 : 0};
		assert_int_equal(noisy_look(&noisy, NULL, 0), 0);
		noisy_choose(&noisy, work, LEN(work), FLOOR);
	}
	assert_int_equal(noisy.n_marked, NOISY_MAX);
	for (int i = 0; i < NOISY_MAX; i++)
		assert_true(noisy_release(&noisy, &id));
	assert_false(noisy_release(&noisy, &id));
	noisy_done(&noisy);
}

static void test_no_look(void **state)
{
	struct noisy_work work[] = {{1, 5000}};
	struct noisy noisy = {};

	assert_false(noisy_is_looking(&noisy));
	assert_int_equal(noisy_choose(&noisy, work, 1, FLOOR), 0);
	assert_int_equal(noisy.n_marked, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("those with a tenth of the work between two looks are marked", test_busiest),
		CLAIM("little work marks nobody", test_floor),
		CLAIM("a container is marked once", test_once),
		CLAIM("a marked container that is gone makes room for the next", test_gone),
		CLAIM("no more are marked than there is room for, and all can be let go",
		      test_bound),
		CLAIM("without a first look nobody is marked", test_no_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
