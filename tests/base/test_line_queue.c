// SPDX-License-Identifier: Apache-2.0
/* Claims about base/line_queue: it is bounded, hands on lines in order, and a gap has its size. */
#include "base/line_queue.h"

#include "lib/claim.h"

static void reads(struct line_queue *q, const char *expected)
{
	size_t size;
	const char *at = line_queue_at(q, &size);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(at, expected, size);
}

/* userdata: what the gap was, and the line of it. */
static void add_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	*(struct line_gap *)userdata = *gap;
	buf_add(out, "g\n", 2);
}

static void test_order(void **state)
{
	struct line_queue q = {.max = 8};

	assert_true(line_queue_add(&q, "ab\n", 3, 0));
	assert_true(line_queue_add(&q, "cd\n", 3, 0));
	reads(&q, "ab\ncd\n");
	line_queue_take(&q, 4);
	reads(&q, "d\n");
	assert_true(line_queue_add(&q, "efghi\n", 6, 0));
	reads(&q, "d\nefghi\n");
	line_queue_take(&q, 8);
	reads(&q, "");
	line_queue_free(&q);
}

static void test_gap(void **state)
{
	struct line_queue q = {.max = 8};
	struct line_gap gap = {};

	assert_true(line_queue_add(&q, "abcde\n", 6, 10));
	assert_false(line_queue_add(&q, "fg\n", 3, 11));
	/* This one would fit, and would make a second gap. */
	assert_false(line_queue_add(&q, "h\n", 2, 12));
	assert_false(line_queue_end_gap(&q, add_gap, &gap));
	line_queue_take(&q, 5);
	assert_false(line_queue_end_gap(&q, add_gap, &gap));
	assert_false(line_queue_add(&q, "i\n", 2, 15));
	line_queue_take(&q, 1);
	assert_int_equal(gap.lines, 0);
	assert_true(line_queue_end_gap(&q, add_gap, &gap));
	assert_int_equal(gap.lines, 3);
	assert_int_equal(gap.first_ns, 11);
	assert_int_equal(gap.last_ns, 15);
	assert_false(line_queue_end_gap(&q, add_gap, &gap));
	assert_true(line_queue_add(&q, "j\n", 2, 16));
	reads(&q, "g\nj\n");
	line_queue_free(&q);
}

static void test_discard(void **state)
{
	struct line_queue q = {.max = 8};
	struct line_gap gap = {};

	line_queue_discard(&q, 0, 20);
	assert_false(line_queue_end_gap(&q, add_gap, &gap));
	line_queue_add(&q, "too long\n", 9, 10);
	line_queue_add(&q, "a\n", 2, 11);
	assert_true(line_queue_end_gap(&q, add_gap, &gap));
	line_queue_add(&q, "b\n", 2, 12);
	/* The line of the gap, which stands for two, and one of the caller's. */
	line_queue_discard(&q, 1, 20);
	reads(&q, "");
	assert_true(line_queue_end_gap(&q, add_gap, &gap));
	assert_int_equal(gap.lines, 3);
	assert_int_equal(gap.first_ns, 10);
	assert_int_equal(gap.last_ns, 20);
	line_queue_take(&q, 2);
	line_queue_add(&q, "c\n", 2, 21);
	line_queue_discard(&q, 1, 22);
	assert_true(line_queue_end_gap(&q, add_gap, &gap));
	assert_int_equal(gap.lines, 1);
	line_queue_free(&q);
}

static void test_bound(void **state)
{
	struct line_queue q = {.max = 8};
	struct line_gap gap = {};
	size_t size, taken = 0;

	assert_false(line_queue_add(&q, "too long\n", 9, 0));
	assert_true(line_queue_end_gap(&q, add_gap, &gap));
	assert_int_equal(gap.lines, 1);
	for (int i = 0; i < 100000; i++) {
		line_queue_add(&q, "abc\n", 4, 0);
		line_queue_at(&q, &size);
		assert_true(size <= q.max);
		assert_true(q.waiting.len <= 2 * q.max);
		line_queue_take(&q, 1);
		taken++;
		line_queue_end_gap(&q, add_gap, &gap);
	}
	assert_int_equal(taken, 100000);
	line_queue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("lines are read in order, in whatever pieces", test_order),
		CLAIM("what finds no room is counted until all is read, with when it began and ended",
		      test_gap),
		CLAIM("what is discarded is a gap, with what it stood for", test_discard),
		CLAIM("no more than the bound waits, however long it goes on", test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
