// SPDX-License-Identifier: Apache-2.0
/* Claims about core/pods/discrepancy. */
#include "core/pods/discrepancy.h"

#include "core/names/meta.h"
#include "lib/claim.h"

#define S	  1000000000LL
#define WALL	  (1700000000 * S + 123456789)
#define CODE	  DISCREPANCY_BIT(DISCREPANCY_EXIT_CODE)
#define REASON	  DISCREPANCY_BIT(DISCREPANCY_EXIT_REASON)
#define TIME	  DISCREPANCY_BIT(DISCREPANCY_EXIT_TIME)
#define LATE	  DISCREPANCY_BIT(DISCREPANCY_EXIT_LATE)
#define EXITED(n) ((uint32_t)(n) << 8)

static void test_grace(void **state)
{
	assert_int_equal(discrepancy_grace_ns(DISCREPANCY_OBJECT_GONE), 5 * S);
	assert_int_equal(discrepancy_grace_ns(DISCREPANCY_TERMINAL_POPULATED), 5 * S);
	assert_int_equal(discrepancy_grace_ns(DISCREPANCY_READY_WHILE_TERMINAL), 0);
}

static void test_codes(void **state)
{
	static const struct {
		uint32_t status;
		int32_t code;
		uint32_t want;
	} want[] = {
		{EXITED(0), 0, 0},   {EXITED(7), 7, 0},	   {9, 137, 0},
		{15 | 0x80, 143, 0}, {9, 9, CODE},	   {EXITED(137), 137, 0},
		{0, 1, CODE},	     {EXITED(1), 0, CODE}, {EXITED(255), -1, CODE},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct exit_seen exit = {.status = want[i].status};
		const struct discrepancy_reported reported = {.code = want[i].code, .reason = ""};

		assert_int_equal(discrepancy_of_exit(&exit, &reported), want[i].want);
	}
}

static void test_reasons(void **state)
{
	static const struct {
		uint32_t status;
		bool victim, beside, sure;
		const char *reason;
		uint32_t want;
	} want[] = {
		{EXITED(0), false, false, true, "Completed", 0},
		{EXITED(1), false, false, true, "Error", 0},
		{9, false, false, true, "Error", 0},
		{9, true, true, true, "OOMKilled", 0},
		{9, true, true, true, "Error", REASON},
		{9, false, false, true, "OOMKilled", REASON},
		/* A child was killed, and its parent left on its own. */
		{EXITED(1), false, true, true, "OOMKilled", 0},
		{EXITED(1), false, true, true, "Error", 0},
		{EXITED(0), false, true, true, "OOMKilled", 0},
		/* It may have gone unseen. */
		{9, false, false, false, "OOMKilled", 0},
		{EXITED(1), false, false, true, "Completed", REASON},
		{EXITED(0), false, false, true, "Error", REASON},
		/* Words of which nothing follows. */
		{EXITED(0), false, false, true, "ContainerCannotRun", 0},
		{EXITED(1), false, false, true, "", 0},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct exit_seen exit = {.status = want[i].status,
					       .oom_victim = want[i].victim,
					       .oom_beside = want[i].beside,
					       .oom_sure = want[i].sure};
		const struct discrepancy_reported reported = {
			.code = discrepancy_code_of(want[i].status), .reason = want[i].reason};

		assert_int_equal(discrepancy_of_exit(&exit, &reported), want[i].want);
	}
}

static void test_times(void **state)
{
	static const struct {
		int64_t finished;
		uint32_t want;
	} want[] = {
		{0, 0},
		{WALL, 0},
		{WALL / S * S, 0},
		{WALL + S, 0},
		{WALL - S, 0},
		{WALL + S + 1, TIME},
		{WALL - S - 1, TIME},
		{INT64_MAX, TIME},
		{INT64_MIN, TIME},
	};
	const struct exit_seen exit = {.wall_ns = WALL}, unknown = {};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct discrepancy_reported reported = {.reason = "",
							      .finished_ns = want[i].finished};

		assert_int_equal(discrepancy_of_exit(&exit, &reported), want[i].want);
		assert_int_equal(discrepancy_of_exit(&unknown, &reported), 0);
	}
}

/* What a source learned late it has by the time at which it learned of it. */
static void test_late(void **state)
{
	static const struct {
		int64_t finished, heard;
		uint32_t want;
	} want[] = {
		{WALL + S, WALL + 9 * S, 0},
		{WALL + S + 1, WALL + 9 * S, LATE},
		{WALL + 8 * S, WALL + 8 * S, LATE},
		{WALL + 3600 * S, WALL + 3601 * S, LATE},
		/* It cannot have learned of it after it said so, nor before it happened. */
		{WALL + 8 * S, WALL + 7 * S, TIME},
		{WALL - 2 * S, WALL + 9 * S, TIME},
		{WALL + 8 * S, 0, TIME},
		{0, WALL + 9 * S, 0},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct exit_seen exit = {.wall_ns = WALL};
		const struct discrepancy_reported reported = {
			.reason = "", .finished_ns = want[i].finished, .heard_ns = want[i].heard};

		assert_int_equal(discrepancy_of_exit(&exit, &reported), want[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what may be a moment's gets a grace", test_grace),
		CLAIM("a code that is not the kernel's differs", test_codes),
		CLAIM("a reason differs where the kernel knows better", test_reasons),
		CLAIM("a time differs by more than a second", test_times),
		CLAIM("a source that learned of an exit late has its own kind", test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
