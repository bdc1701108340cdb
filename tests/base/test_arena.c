// SPDX-License-Identifier: Apache-2.0
/* Claims about base/arena and base/room. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "lib/claim.h"

static void test_keeps(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	char *texts[1000];

	for (size_t i = 0; i < LEN(texts); i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %zu", i);
		texts[i] = arena_strdup(&arena, text);
		assert_non_null(texts[i]);
	}
	for (size_t i = 0; i < LEN(texts); i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %zu", i);
		assert_string_equal(texts[i], text);
	}
}

static void test_zeroed(void **state)
{
	static const size_t sizes[] = {1, 7, 16, 4095, 4096, 4097, 100000};
	_cleanup_(arena_free) struct arena arena = {};

	for (size_t i = 0; i < LEN(sizes); i++) {
		char *at = arena_alloc(&arena, sizes[i]);

		assert_non_null(at);
		assert_int_equal((uintptr_t)at % alignof(max_align_t), 0);
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(at[j], 0);
		memset(at, 0xff, sizes[i]);
	}
}

static void test_limit(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = 64};

	assert_non_null(arena_alloc(&arena, 33));
	assert_null(arena_alloc(&arena, 17));
	assert_non_null(arena_alloc(&arena, 16));
	assert_null(arena_alloc(&arena, 1));
	arena_free(&arena);
	assert_non_null(arena_alloc(&arena, 64));
}

static void test_shares(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = 65536};
	char text[16];

	for (int i = 0; i < 1000; i++) {
		const char *shared;
		size_t used;

		snprintf(text, sizeof(text), "%d", i);
		shared = arena_share(&arena, text);
		assert_string_equal(shared, text);
		assert_ptr_not_equal(shared, text);
		used = arena.used;
		assert_ptr_equal(arena_share(&arena, text), shared);
		assert_int_equal(arena.used, used);
	}
	arena_free(&arena);
	assert_string_equal(arena_share(&arena, "999"), "999");
	assert_true(arena.used > 0);
	while (arena_alloc(&arena, 16)) {}
	for (int i = 0; i < 2; i++)
		assert_null(arena_share(&arena, "998"));
}

static void test_overflow(void **state)
{
	_cleanup_(arena_free) struct arena arena = {.limit = SIZE_MAX};

	assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_null(arena_strndup(&arena, "", SIZE_MAX));
	assert_non_null(arena_array(&arena, 0, 8));
}

static void test_room(void **state)
{
	volatile size_t many = SIZE_MAX / sizeof(uint64_t);
	uint64_t *list = NULL, *before;
	size_t n = 0, room = 0;

	for (; n < 40; list[n] = n, n++) {
		assert_true(ROOM_FOR_ONE(list, n, room, 16));
		assert_int_equal(room, n < 16 ? 16 : n < 32 ? 32 : 64);
	}
	before = list;
	room = many;
	assert_true(!ROOM_FOR_ONE(list, many, room, 16) && list == before && room == many);
	assert_int_equal(list[15], 15);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what was put in stays as it was", test_keeps),
		CLAIM("memory is zeroed and aligned, whatever its size", test_zeroed),
		CLAIM("the limit holds, and is there again after all was freed", test_limit),
		CLAIM("a text that was given lately is given again, and no other", test_shares),
		CLAIM("sizes that overflow are refused", test_overflow),
		CLAIM("a list grows by twice its room, and stays as it was where it cannot",
		      test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
