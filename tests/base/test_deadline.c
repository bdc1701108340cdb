// SPDX-License-Identifier: Apache-2.0
/* Claims about base/deadline. */
#include "base/deadline.h"

#include "lib/claim.h"

static uint64_t scatter(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static void test_nothing_queued(void **state)
{
	struct deadline_queue q = {};
	struct deadline d = {};

	assert_null(deadline_first(&q));
	assert_int_equal(deadline_set(&q, &d, 0), 0);
	assert_int_equal(d.pos, 0);
	assert_null(deadline_first(&q));
	deadline_queue_done(&q);
	deadline_queue_done(&q);
}

static void test_soonest_first(void **state)
{
	static const uint64_t times[] = {5, 3, 9, 1, 7, 3, UINT64_MAX, 2};
	struct deadline_queue q = {};
	struct deadline d[LEN(times)] = {};
	uint64_t last = 0;

	for (size_t i = 0; i < LEN(times); i++)
		assert_int_equal(deadline_set(&q, &d[i], times[i]), 0);
	for (size_t i = 0; i < LEN(times); i++) {
		struct deadline *first = deadline_first(&q);

		assert_non_null(first);
		assert_true(first->at_ns >= last);
		last = first->at_ns;
		assert_int_equal(deadline_set(&q, first, 0), 0);
		assert_int_equal(first->pos, 0);
	}
	assert_null(deadline_first(&q));
	deadline_queue_done(&q);
}

static void test_moves(void **state)
{
	struct deadline_queue q = {};
	struct deadline a = {}, b = {};

	deadline_set(&q, &a, 10);
	deadline_set(&q, &b, 20);
	deadline_set(&q, &a, 30);
	assert_ptr_equal(deadline_first(&q), &b);
	deadline_set(&q, &a, 15);
	assert_ptr_equal(deadline_first(&q), &a);
	deadline_set(&q, &a, 15);
	assert_int_equal(q.count, 2);
	deadline_set(&q, &a, 0);
	deadline_set(&q, &a, 0);
	assert_ptr_equal(deadline_first(&q), &b);
	assert_int_equal(q.count, 1);
	deadline_queue_done(&q);
}

#define MANY 300

static const struct deadline *soonest(const struct deadline d[MANY])
{
	const struct deadline *first = NULL;

	for (int i = 0; i < MANY; i++)
		if (d[i].pos && (!first || d[i].at_ns < first->at_ns))
			first = &d[i];
	return first;
}

static void test_as_by_looking_at_all(void **state)
{
	struct deadline_queue q = {};
	struct deadline d[MANY] = {};
	uint64_t seed = 1;

	for (int i = 0; i < 50000; i++) {
		uint64_t r = scatter(&seed);
		/* Few different times, so that many are equal; one in four is taken out. */
		uint64_t at = r / MANY % 4 ? 1 + r / MANY / 4 % 50 : 0;
		const struct deadline *want;

		assert_int_equal(deadline_set(&q, &d[r % MANY], at), 0);
		assert_int_equal(!!d[r % MANY].pos, !!at);
		want = soonest(d);
		if (want)
			assert_int_equal(deadline_first(&q)->at_ns, want->at_ns);
		else
			assert_null(deadline_first(&q));
	}
	for (size_t i = 0; i < q.count; i++)
		assert_int_equal(q.heap[i]->pos, i + 1);
	deadline_queue_done(&q);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a queue without deadlines has no first one", test_nothing_queued),
		CLAIM("the soonest comes first, equal ones all come", test_soonest_first),
		CLAIM("a deadline can be moved and taken out at any time", test_moves),
		CLAIM("after any moves the first is what looking at all of them finds",
		      test_as_by_looking_at_all),
	};

	return cmocka_run_group_tests_name("base/deadline", tests, NULL, NULL);
}
