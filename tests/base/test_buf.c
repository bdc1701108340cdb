// SPDX-License-Identifier: Apache-2.0
/* Claims about base/buf: what is added stays, grows, is bounded, and fails once for all. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"

static void test_empty(void **state)
{
	struct buf buf = {};

	assert_string_equal(buf_str(&buf), "");
	buf_reset(&buf);
	buf_truncate(&buf, 0);
	buf_add(&buf, NULL, 0);
	assert_int_equal(buf.len, 0);
	assert_int_equal(buf_error(&buf), 0);
	buf_free(&buf);
	buf_free(&buf);
}

static void test_mixed_additions(void **state)
{
	_cleanup_(buf_free) struct buf buf = {};

	buf_adds(&buf, "a string, ");
	buf_add(&buf, "bytes\0", 6);
	buf_addc(&buf, '!');
	buf_printf(&buf, " %s %d ", "printed", -7);
	buf_add_u64(&buf, 0);
	buf_addc(&buf, ' ');
	buf_add_u64(&buf, UINT64_MAX);
	buf_addc(&buf, ' ');
	buf_add_i64(&buf, INT64_MIN);
	assert_int_equal(buf_error(&buf), 0);
	assert_memory_equal(buf.data,
			    "a string, bytes\0! printed -7 0 18446744073709551615 "
			    "-9223372036854775808",
			    buf.len + 1);
}

static void test_growth(void **state)
{
	_cleanup_(buf_free) struct buf buf = {};

	for (unsigned int i = 0; i < 3000; i++) {
		buf_printf(&buf, "%05u", i);
		assert_int_equal(buf.len, 5 * (i + 1));
		assert_int_equal(buf.data[buf.len], 0);
	}
	for (unsigned int i = 0; i < 3000; i++) {
		char want[6];

		snprintf(want, sizeof(want), "%05u", i);
		assert_memory_equal(buf.data + 5 * i, want, 5);
	}
}

/* Every printed length around the first room, so that both ways of printing meet the edge. */
static void test_printf_at_the_edge(void **state)
{
	char text[600];

	memset(text, 'x', sizeof(text));
	for (size_t before = 240; before <= 260; before++) {
		for (int n = 0; n < 20; n++) {
			_cleanup_(buf_free) struct buf buf = {};

			buf_add(&buf, text, before);
			buf_printf(&buf, "%.*s", n, "yyyyyyyyyyyyyyyyyyyyy");
			assert_int_equal(buf.len, before + (size_t)n);
			assert_int_equal(strlen(buf.data), buf.len);
			assert_int_equal(strspn(buf.data, "x"), before);
		}
	}
}

static void test_reset(void **state)
{
	_cleanup_(buf_free) struct buf buf = {.limit = 10};
	const char *data;

	buf_adds(&buf, "0123456789");
	data = buf.data;
	buf_addc(&buf, 'x');
	assert_int_equal(buf_error(&buf), -ENOBUFS);

	buf_reset(&buf);
	assert_int_equal(buf_error(&buf), 0);
	assert_string_equal(buf_str(&buf), "");
	buf_adds(&buf, "abc");
	assert_ptr_equal(buf.data, data);
	assert_string_equal(buf_str(&buf), "abc");
}

static void test_limit(void **state)
{
	static const size_t limits[] = {1, 2, 255, 256, 257, 511, 512, 1000};
	char text[1001];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < LEN(limits); i++) {
		_cleanup_(buf_free) struct buf buf = {.limit = limits[i]};
		_cleanup_(buf_free) struct buf printed = {.limit = limits[i]};

		buf_add(&buf, text, limits[i]);
		assert_int_equal(buf_error(&buf), 0);
		buf_addc(&buf, 'y');
		assert_int_equal(buf_error(&buf), -ENOBUFS);
		assert_int_equal(buf.len, limits[i]);
		assert_true(buf.room <= limits[i] + 1);

		buf_printf(&printed, "%.*s", (int)limits[i] + 1, text);
		assert_int_equal(buf_error(&printed), -ENOBUFS);
		assert_string_equal(buf_str(&printed), "");
	}
}

static void test_error_sticks(void **state)
{
	_cleanup_(buf_free) struct buf buf = {.limit = 8};

	buf_adds(&buf, "before");
	buf_adds(&buf, "too long");
	buf_addc(&buf, 'x');
	buf_printf(&buf, "x");
	buf_add_u64(&buf, 1);
	assert_null(buf_reserve(&buf, 0));
	assert_int_equal(buf_error(&buf), -ENOBUFS);
	assert_string_equal(buf_str(&buf), "before");
	buf_truncate(&buf, 2);
	assert_string_equal(buf_str(&buf), "be");
	assert_int_equal(buf_error(&buf), -ENOBUFS);
}

static void test_huge_sizes(void **state)
{
	static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1};

	for (size_t i = 0; i < LEN(sizes); i++) {
		_cleanup_(buf_free) struct buf buf = {};
		_cleanup_(buf_free) struct buf wide = {.limit = sizes[i]};

		buf_addc(&buf, 'x');
		assert_null(buf_reserve(&buf, sizes[i]));
		assert_int_equal(buf_error(&buf), -ENOBUFS);
		buf_addc(&wide, 'x');
		assert_int_equal(buf_error(&wide), 0);
		assert_null(buf_reserve(&wide, SIZE_MAX));
	}
}

static void test_reserve(void **state)
{
	_cleanup_(buf_free) struct buf buf = {};
	char *at = buf_reserve(&buf, 1000);

	assert_non_null(at);
	memset(at, 'z', 1000);
	buf_commit(&buf, 3);
	assert_string_equal(buf_str(&buf), "zzz");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a buffer of zeros is empty and may be reset, cut and freed", test_empty),
		CLAIM("strings, bytes, numbers and printed text follow each other",
		      test_mixed_additions),
		CLAIM("growing moves the content unharmed and keeps it ended by a NUL",
		      test_growth),
		CLAIM("printed text that just fits or just does not is whole",
		      test_printf_at_the_edge),
		CLAIM("a reset keeps the memory and forgets the error", test_reset),
		CLAIM("the content reaches the limit and never passes it", test_limit),
		CLAIM("after a failure nothing is added and what was there stays",
		      test_error_sticks),
		CLAIM("sizes near the end of the address space are refused", test_huge_sizes),
		CLAIM("what is reserved may be written and only the committed part counts",
		      test_reserve),
	};

	return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
