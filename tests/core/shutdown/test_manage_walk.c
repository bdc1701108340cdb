// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/shutdown in mode manage: whatever happens in whatever order, groups are ended
 * in order and within their budgets, nothing that was asked outlives its deadline, the lock goes,
 * and nothing else is touched.
 *
 *   test_manage_walk [SHUTDOWNS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/claim.h"
#include "lib/shutdown/managewalk.h"

#define SHUTDOWNS 40000
#define STEPS	  30

static uint64_t shutdowns = SHUTDOWNS, first_seed = 1;

static uint64_t scatter(void *userdata)
{
	uint64_t *seed = userdata, x;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (*seed ^ *seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* Each has a seed of its own, by which one that breaks is found. */
static void test_no_order_breaks_a_promise(void **state)
{
	struct managewalk_seen seen = {};

	print_message("# %llu shutdowns from seed %llu\n", (unsigned long long)shutdowns,
		      (unsigned long long)first_seed);
	for (uint64_t i = 0; i < shutdowns; i++) {
		uint64_t seed = first_seed + i;
		const char *broken = managewalk_once(scatter, &seed, STEPS, &seen);

		if (broken)
			fail_msg("seed %llu breaks: %s", (unsigned long long)(first_seed + i),
				 broken);
	}
	if (shutdowns < SHUTDOWNS)
		return;
	/* The walks came everywhere. */
	assert_true(seen.shutdowns >= shutdowns && seen.cancelled > shutdowns / 10);
	assert_true(seen.again > shutdowns / 10 && seen.unlocked > shutdowns / 10);
	assert_true(seen.stops > shutdowns && seen.signals > shutdowns / 10);
	assert_true(seen.kills > shutdowns / 10 && seen.survived > shutdowns / 100);
	assert_true(seen.late > shutdowns / 10 && seen.stalls > shutdowns / 10);
	assert_true(seen.sidecars > shutdowns / 10 && seen.waited > shutdowns / 100);
	assert_true(seen.hooks > shutdowns / 100 && seen.failed > shutdowns / 100);
	assert_true(seen.groups > shutdowns / 10 && seen.timed_out > shutdowns / 100);
	assert_true(seen.all_stopped > shutdowns / 10 && seen.limit > shutdowns / 100);
	assert_true(seen.restarts > shutdowns / 2);
	assert_true(seen.sandboxes > shutdowns / 2);
	assert_true(seen.lost > shutdowns / 100);
	assert_true(seen.outside > shutdowns / 10 && seen.changed > shutdowns / 100);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("no order of events breaks a promise of a shutdown that graced drives",
		      test_no_order_breaks_a_promise),
	};

	if (argc > 1)
		shutdowns = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
