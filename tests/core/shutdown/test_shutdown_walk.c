// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/shutdown: whatever happens in whatever order, it never outlasts logind's limit,
 * ends nobody that was not asked, holds while anybody is being stopped, and lets go.
 *
 *   test_shutdown_walk [SHUTDOWNS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/shutdown/shutdown.h"
#include "lib/claim.h"
#include "lib/shutdown/shutwalk.h"

#define SHUTDOWNS 100000
#define STEPS	  30

static uint64_t shutdowns = SHUTDOWNS, first_seed = 1;

static uint64_t scatter(void *userdata)
{
	uint64_t *seed = userdata, x;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (*seed ^ *seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* Each has a seed of its own, so that it names one that breaks. */
static void no_order_of_events_breaks_a_promise(void **state)
{
	struct shutwalk_seen seen = {};

	print_message("# %llu shutdowns from seed %llu\n", (unsigned long long)shutdowns,
		      (unsigned long long)first_seed);
	for (uint64_t i = 0; i < shutdowns; i++) {
		uint64_t seed = first_seed + i;
		const char *broken = shutwalk_once(scatter, &seed, STEPS, &seen);

		if (broken)
			fail_msg("seed %llu breaks: %s", (unsigned long long)(first_seed + i),
				 broken);
	}
	if (shutdowns < SHUTDOWNS)
		return;
	/* The walks came everywhere. */
	assert_true(seen.shutdowns >= shutdowns && seen.cancelled > shutdowns / 100);
	assert_true(seen.killed > shutdowns / 100 && seen.deaf > shutdowns / 1000);
	assert_true(seen.looks > seen.deaf);
	assert_true(seen.again > shutdowns / 1000 && seen.survived > shutdowns / 1000);
	assert_true(seen.stalls > shutdowns / 100 && seen.lost > shutdowns / 1000);
	assert_true(seen.refused > shutdowns / 100 && seen.late_locks > 0);
	assert_true(seen.held_on > 0 && seen.groups > shutdowns / 100);
	assert_true(seen.status_asked > shutdowns / 100 && seen.held_up > shutdowns / 1000);
	for (size_t i = 0; i <= SHUTDOWN_LIMIT; i++)
		assert_true(seen.reasons[i] > shutdowns / 10000);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("no order of events breaks a promise of a shutdown",
		      no_order_of_events_breaks_a_promise),
	};

	if (argc > 1)
		shutdowns = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
