// SPDX-License-Identifier: Apache-2.0
/* Claims about base/map, most of them against an array that does the same by looking at
 * everything. */
#include "base/map.h"

#include <errno.h>
#include <string.h>

#include "lib/claim.h"

/* Slots are chosen by these bits of the product, so multiples of 2^k collide or do not. */
static uint64_t scatter(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static void test_empty(void **state)
{
	struct map map = {};
	size_t pos = 0;

	assert_null(map_get(&map, 1));
	assert_null(map_get(&map, 0));
	assert_null(map_remove(&map, 1));
	assert_null(map_remove(&map, 0));
	assert_null(map_next(&map, &pos));
	map_done(&map);
	map_done(&map);
}

static void test_refused(void **state)
{
	struct map map = {};
	int value;

	assert_int_equal(map_put(&map, 0, &value), -EINVAL);
	assert_int_equal(map_put(&map, 1, NULL), -EINVAL);
	assert_int_equal(map.count, 0);
	assert_int_equal(map_put(&map, UINT64_MAX, &value), 0);
	assert_ptr_equal(map_get(&map, UINT64_MAX), &value);
	assert_null(map_get(&map, 0));
	map_done(&map);
}

static void test_replaces(void **state)
{
	struct map map = {};
	int a, b;

	assert_int_equal(map_put(&map, 7, &a), 0);
	assert_int_equal(map_put(&map, 7, &b), 0);
	assert_int_equal(map.count, 1);
	assert_ptr_equal(map_get(&map, 7), &b);
	assert_ptr_equal(map_remove(&map, 7), &b);
	assert_null(map_get(&map, 7));
	assert_int_equal(map.count, 0);
	map_done(&map);
}

static void test_usable_after_done(void **state)
{
	struct map map = {};
	int value;

	for (uint64_t key = 1; key <= 100; key++)
		assert_int_equal(map_put(&map, key, &value), 0);
	map_done(&map);
	assert_int_equal(map.count, 0);
	assert_null(map_get(&map, 50));
	assert_int_equal(map_put(&map, 50, &value), 0);
	assert_ptr_equal(map_get(&map, 50), &value);
	map_done(&map);
}

#define KEYS 512

struct twin {
	struct map map;
	void *value[KEYS]; /* by number of the key; NULL: not there */
	size_t count;
};

static void assert_equal(const struct twin *t, uint64_t stride)
{
	char seen[KEYS] = {};
	size_t pos = 0, walked = 0;
	void **value;

	assert_int_equal(t->map.count, t->count);
	for (size_t i = 0; i < KEYS; i++)
		assert_ptr_equal(map_get(&t->map, (i + 1) * stride), t->value[i]);
	while ((value = map_next(&t->map, &pos))) {
		size_t i = (size_t)(value - (void **)t->value);

		assert_true(i < KEYS && !seen[i]);
		seen[i] = 1;
		walked++;
	}
	assert_int_equal(walked, t->count);
}

/* The value of a key is the place of its twin, so that a walk knows what it meets. */
static void step(struct twin *t, uint64_t stride, uint64_t random)
{
	size_t i = random % KEYS;
	uint64_t key = (i + 1) * stride;

	if (random / KEYS % 5 < 3) {
		assert_int_equal(map_put(&t->map, key, &t->value[i]), 0);
		t->count += !t->value[i];
		t->value[i] = &t->value[i];
	} else {
		assert_ptr_equal(map_remove(&t->map, key), t->value[i]);
		t->count -= !!t->value[i];
		t->value[i] = NULL;
	}
}

static void test_as_an_array(void **state)
{
	/* Neighbours, far apart, and numbers whose products share the bits that choose a slot. */
	static const uint64_t strides[] = {
		1, 2, 16, 4096, 1ULL << 32, 1ULL << 40, 1ULL << 54, 0x9e3779b97f4a7c15ULL};

	for (size_t s = 0; s < LEN(strides); s++) {
		struct twin t = {};
		uint64_t seed = s + 1;

		for (int i = 0; i < 20000; i++) {
			step(&t, strides[s], scatter(&seed));
			if (i % 500 == 0)
				assert_equal(&t, strides[s]);
		}
		assert_equal(&t, strides[s]);
		map_done(&t.map);
	}
}

static void test_emptied_one_by_one(void **state)
{
	for (uint64_t start = 0; start < KEYS; start += 37) {
		struct twin t = {};

		for (size_t i = 0; i < KEYS; i++) {
			t.value[i] = &t.value[i];
			assert_int_equal(map_put(&t.map, i + 1, t.value[i]), 0);
		}
		for (t.count = KEYS; t.count;) {
			size_t i = (start + KEYS - t.count) % KEYS;

			assert_ptr_equal(map_remove(&t.map, i + 1), t.value[i]);
			t.value[i] = NULL;
			t.count--;
		}
		assert_equal(&t, 1);
		map_done(&t.map);
	}
}

static void test_never_full(void **state)
{
	struct map map = {};
	int value;

	for (uint64_t key = 1; key <= 100000; key++) {
		assert_int_equal(map_put(&map, key, &value), 0);
		assert_true(map.count * 4 <= map.n_slots * 3 + 4);
	}
	/* A table that comes and goes does not grow for it. */
	for (uint64_t key = 1; key <= 100000; key++)
		assert_ptr_equal(map_remove(&map, key), &value);
	for (uint64_t key = 1; key <= 1000000; key++) {
		size_t before = map.n_slots;

		assert_int_equal(map_put(&map, key, &value), 0);
		assert_ptr_equal(map_remove(&map, key), &value);
		assert_int_equal(map.n_slots, before);
	}
	assert_int_equal(map.count, 0);
	map_done(&map);
}

/* Text of `length` bytes, at an address that the key may not depend on. */
static uint64_t key_of(const char *text, size_t length, size_t offset)
{
	char copy[96];

	memcpy(copy + offset, text, length);
	copy[offset + length] = '\0';
	return map_key(copy + offset);
}

static void test_key(void **state)
{
	char text[65];

	memset(text, 'a', sizeof(text));
	for (size_t length = 0; length < sizeof(text); length++) {
		uint64_t key = key_of(text, length, 0);

		assert_int_not_equal(key, 0);
		for (size_t offset = 1; offset < 8; offset++)
			assert_true(key_of(text, length, offset) == key);
		assert_true(length == 0 || key_of(text, length - 1, 0) != key);
		for (size_t i = 0; i < length; i++) {
			text[i] ^= 1;
			assert_true(key_of(text, length, 0) != key);
			text[i] ^= 1;
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an empty map knows nothing and can be ended twice", test_empty),
		CLAIM("key 0 and a NULL value are refused", test_refused),
		CLAIM("a second put of a key replaces its value", test_replaces),
		CLAIM("a map can be used again after its end", test_usable_after_done),
		CLAIM("random puts and removes do what an array does", test_as_an_array),
		CLAIM("removing in any order leaves the others to be found",
		      test_emptied_one_by_one),
		CLAIM("a quarter of the slots stays free, and removal leaves nothing behind",
		      test_never_full),
		CLAIM("a text has one key, and each byte and the length count", test_key),
	};

	return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
