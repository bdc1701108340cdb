// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the dice of a walk through the pod worker: no walk breaks an invariant, and none
 * leaves a pod stuck. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "lib/pods/podwalk.h"

struct dice {
	const uint8_t *data;
	size_t left;
};

static uint64_t throw_dice(void *userdata)
{
	struct dice *dice = userdata;
	uint64_t roll = 0;

	for (int i = 0; i < 2 && dice->left > 0; i++, dice->left--)
		roll = roll << 8 | *dice->data++;
	return roll;
}

static void must_hold(const char *broken)
{
	if (!broken)
		return;
	fprintf(stderr, "broken: %s\n", broken);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice dice = {data, size};
	struct podwalk *walk = podwalk_new(throw_dice, &dice);

	assert(walk);
	while (dice.left > 0)
		must_hold(podwalk_step(walk));
	must_hold(podwalk_settle(walk));
	podwalk_free(walk);
	return 0;
}
