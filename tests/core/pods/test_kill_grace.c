// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/kill_grace beyond tests/vectors/grace.json. */
#include "core/pods/kill_grace.h"
#include "lib/claim.h"

#define S 1000000000ULL

static void test_steps(void **state)
{
	static const struct {
		struct killgrace_kill kill;
		struct killgrace_steps want;
	} rows[] = {
		{{-3, true, 5 * S, 5 * S}, {false, 0, 0, 2}},
		{{1, true, S, S}, {true, 1, 0, 2}},
		{{30, false, 5 * S, UINT64_MAX}, {false, 0, 30, 2}},
		{{INT64_MAX, true, UINT64_MAX, 0}, {true, 18446744073, 0, INT64_MAX - 18446744073}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct killgrace_steps got = killgrace_steps(&rows[i].kill);

		assert_int_equal(got.prestop_run, rows[i].want.prestop_run);
		assert_int_equal(got.prestop_s, rows[i].want.prestop_s);
		assert_int_equal(got.wait_s, rows[i].want.wait_s);
		assert_int_equal(got.stop_s, rows[i].want.stop_s);
	}
}

static void test_turns(void **state)
{
	const struct killgrace_turn main = {true, S};
	const struct killgrace_turn forever[] = {{true, UINT64_MAX}, {true, UINT64_MAX}};
	const struct killgrace_turn idle[] = {{false, 9 * S}, {true, S}};
	uint64_t waits[2];

	killgrace_order(&main, 1, forever, 2, 30 * S, waits);
	assert_int_equal(waits[1], S);
	assert_int_equal(waits[0], 30 * S);
	killgrace_order(NULL, 0, idle, 2, 30 * S, waits);
	assert_int_equal(waits[1], 0);
	assert_int_equal(waits[0], 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("no wait takes more than the grace period has, and two seconds are left",
		      test_steps),
		CLAIM("a sidecar's turn is bounded by the grace period and waits for nothing idle",
		      test_turns),
	};

	return cmocka_run_group_tests_name("core/pods/kill_grace", tests, NULL, NULL);
}
