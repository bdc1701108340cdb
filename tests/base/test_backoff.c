// SPDX-License-Identifier: Apache-2.0
/* Claims about base/retry: the wait doubles, and neither exceeds its bound nor wraps. */
#include "base/retry.h"
#include "lib/claim.h"

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
	const struct CMUnitTest tests[] = {
		CLAIM("each wait is twice the one before, up to the bound", test_waits),
	};

	return cmocka_run_group_tests_name("base/retry", tests, NULL, NULL);
}
