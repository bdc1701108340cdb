// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/top/screen: which key a terminal's bytes are. */
#include "wire/top/screen.h"

#include <stdint.h>
#include <string.h>

#include "core/top/top.h"
#include "lib/claim.h"

static void test_keys(void **state)
{
	static const struct {
		const char *bytes;
		int key;
		size_t takes;
	} want[] = {
		{"q", 'q', 1},
		{"\xc3\xa9", 0xc3, 1},
		{"\033[A", TOP_KEY_UP, 3},
		{"\033OB", TOP_KEY_DOWN, 3},
		{"\033[5~q", TOP_KEY_PAGE_UP, 4},
		{"\033[6~", TOP_KEY_PAGE_DOWN, 4},
		{"\033[H", TOP_KEY_HOME, 3},
		{"\033OF", TOP_KEY_END, 3},
		{"\033[Z", TOP_KEY_BACK_TAB, 3},
		{"\033q", 0x1b, 1},
		{"\033[1;5A", -1, 6},
		{"\033[<0;10;20M", -1, 11},
		{"\033[200~", -1, 6},
		{"\033OP", -1, 3},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		int key = -2;
		size_t n = keys_read(want[i].bytes, strlen(want[i].bytes), false, &key);

		if (n != want[i].takes || key != want[i].key)
			fail_msg("line %zu: key %d, %zu bytes", i, key, n);
	}
}

static void test_incomplete(void **state)
{
	static const char *const begins[] = {"\033", "\033[", "\033O", "\033[1", "\033[1;5"};

	for (size_t i = 0; i < LEN(begins); i++) {
		int key = -2;

		assert_int_equal(keys_read(begins[i], strlen(begins[i]), false, &key), 0);
		assert_int_equal(keys_read(begins[i], strlen(begins[i]), true, &key),
				 strlen(begins[i]));
		assert_int_equal(key, i ? -1 : 0x1b);
	}
}

/* Every byte is taken in the end, however long a sequence is. */
static void test_hostile(void **state)
{
	uint32_t random = 7;

	for (int round = 0; round < 20000; round++) {
		char bytes[64];
		size_t at = 0;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = "\033[O0;~Aq\xff"[(random >> 16) % 9];
		}
		while (at < sizeof(bytes)) {
			int key;
			size_t n = keys_read(bytes + at, sizeof(bytes) - at, true, &key);

			assert_in_range(n, 1, sizeof(bytes) - at);
			at += n;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("keys are bytes or sequences, and other sequences are skipped whole",
		      test_keys),
		CLAIM("a beginning waits for its rest, and a lone escape is that key",
		      test_incomplete),
		CLAIM("no bytes hold up what follows them", test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
