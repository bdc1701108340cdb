// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the dice of walks through a node shutdown: none breaks a promise of it. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "lib/shutdown/managewalk.h"
#include "lib/shutdown/shutwalk.h"

#define STEPS_MAX 200

struct dice {
	const uint8_t *data;
	size_t left;
};

static uint64_t throw_dice(void *userdata)
{
	struct dice *dice = userdata;

	if (dice->left == 0)
		return 0;
	dice->left--;
	return *dice->data++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice dice = {data, size}, again = {data, size};
	unsigned int steps = size < STEPS_MAX ? (unsigned int)size : STEPS_MAX;
	struct shutwalk_seen seen = {};
	struct managewalk_seen managed = {};
	const char *broken = shutwalk_once(throw_dice, &dice, steps, &seen);

	if (!broken)
		broken = managewalk_once(throw_dice, &again, steps, &managed);
	if (broken) {
		fprintf(stderr, "broken: %s\n", broken);
		abort();
	}
	return 0;
}
