// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/pods/worker: whatever comes in whatever order, what the kubelet's pod worker
 * promises holds after every step.
 *
 *   test_podworker_walk [STEPS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/claim.h"
#include "lib/pods/podwalk.h"

#define STEPS	     1000000
#define SETTLE_EVERY 5000

static uint64_t steps = STEPS, first_seed = 1;

static uint64_t scatter(void *userdata)
{
	uint64_t *seed = userdata, x;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (*seed ^ *seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

static void take(struct podwalk *walk, uint64_t seed)
{
	const char *broken = NULL;

	for (uint64_t i = 1; i <= steps; i++) {
		broken = podwalk_step(walk);
		if (!broken && i % SETTLE_EVERY == 0)
			broken = podwalk_settle(walk);
		if (broken)
			fail_msg("seed %llu, step %llu breaks: %s", (unsigned long long)seed,
				 (unsigned long long)i, broken);
	}
}

static void no_order_of_events_breaks_an_invariant(void **state)
{
	uint64_t seed = first_seed;
	struct podwalk *walk = podwalk_new(scatter, &seed);
	const struct podwalk_seen *seen;

	assert_non_null(walk);
	print_message("# %llu steps from seed %llu\n", (unsigned long long)steps,
		      (unsigned long long)first_seed);
	take(walk, first_seed);
	seen = podwalk_seen(walk);
	/* The walk came everywhere. */
	for (size_t i = 1; i < LEN(seen->calls); i++)
		assert_true(seen->calls[i] > steps / 1000);
	assert_true(seen->stopped > steps / 1000 && seen->cancelled > steps / 1000);
	assert_true(seen->finished > steps / 1000 && seen->forgotten > steps / 1000);
	assert_true(seen->waited > steps / 1000 && seen->shortened > steps / 1000);
	assert_true(seen->restarts > 0);
	podwalk_free(walk);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("no order of events breaks an invariant, and none leaves a pod stuck",
		      no_order_of_events_breaks_an_invariant),
	};

	if (argc > 1)
		steps = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
