// SPDX-License-Identifier: Apache-2.0
/* Claims about core/load/credit: what is charged comes back with time, and no more than so much. */
#include "core/load/credit.h"
#include "lib/claim.h"

#define S UINT64_C(1000000000)

/* A hundredth of real time comes back, and 5 s of it are saved up. */
static const struct credit fresh = {.share = 100, .burst_ns = 5 * S};

static void test_charges(void **state)
{
	static const struct {
		const char *what;
		uint64_t at_ns, cost_ns, back_at_ns; /* 0: credit is left */
	} table[] = {
		{"what was saved up pays", 1000 * S, S / 100, 0},
		{"all but the last of it", 1000 * S, 4 * S / 100 - 1, 0},
		{"a debt is paid by time", 1000 * S, 2 * S / 100, 1002 * S - 100},
		{"debts add up", 1001 * S, S / 100, 1003 * S - 100},
		{"at its end nothing is owed", 1003 * S - 100, 0, 0},
		{"nor is anything saved up", 1003 * S - 100, 1, 1003 * S},
		{"some is after a while", 1005 * S, 2 * S / 100, 0},
		{"not more than the burst after long", 2000 * S, 5 * S / 100, 0},
		{"then it is gone", 2000 * S, 1, 2000 * S + 100},
	};
	struct credit credit = fresh;

	for (size_t i = 0; i < LEN(table); i++) {
		print_message("# %s\n", table[i].what);
		credit_charge(&credit, table[i].at_ns, table[i].cost_ns);
		assert_int_equal(credit_back_at(&credit, table[i].at_ns), table[i].back_at_ns);
	}
}

static void test_share(void **state)
{
	struct credit credit = fresh;
	uint64_t cost_ns = 0;

	for (uint64_t now_ns = 1000 * S; now_ns < 2000 * S; now_ns += S / 10) {
		while (!credit_back_at(&credit, now_ns)) {
			credit_charge(&credit, now_ns, S / 1000);
			cost_ns += S / 1000;
		}
	}
	assert_in_range(cost_ns, 1005 * S / 100 - S / 1000, 1005 * S / 100 + S / 1000);
}

/* Soon after its start a clock has not run for a burst. */
static void test_young_clock(void **state)
{
	struct credit credit = fresh;

	assert_int_equal(credit_back_at(&credit, 0), 0);
	credit_charge(&credit, S, 2 * S / 100);
	assert_int_equal(credit_back_at(&credit, S), 2 * S);
}

static void test_huge(void **state)
{
	static const struct {
		uint64_t now_ns, cost_ns;
	} table[] = {
		{1000 * S, UINT64_MAX},
		{1000 * S, UINT64_MAX / 100},
		{UINT64_MAX - S, S / 10},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct credit credit = fresh;

		credit_charge(&credit, table[i].now_ns, table[i].cost_ns);
		assert_int_equal(credit_back_at(&credit, table[i].now_ns), UINT64_MAX);
		credit_charge(&credit, table[i].now_ns, 1);
		assert_int_equal(credit_back_at(&credit, table[i].now_ns), UINT64_MAX);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("credit pays at once, and a debt is paid by time", test_charges),
		CLAIM("over long no more than the share is spent, and one burst", test_share),
		CLAIM("a clock that just began has saved up little", test_young_clock),
		CLAIM("a cost beyond all numbers is a debt for ever", test_huge),
	};

	return cmocka_run_group_tests_name("core/load/credit", tests, NULL, NULL);
}
