/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through the pod worker: updates, calls and their ends, syncs, restarts and clock steps as
 * dice say, checked after every step against docs/kubelet-rules.md, "Pod worker invariants".
 */
#ifndef TESTS_LIB_PODS_PODWALK_H
#define TESTS_LIB_PODS_PODWALK_H

#include <stdint.h>

struct podwalk;

/* Any number; a walk is as good as its dice. */
typedef uint64_t (*podwalk_roll_fn)(void *userdata);

/* NULL: out of memory. */
struct podwalk *podwalk_new(podwalk_roll_fn roll, void *userdata);
struct podwalk *podwalk_free(struct podwalk *walk);

/* One step. NULL, or the sentence that it broke. */
const char *podwalk_step(struct podwalk *walk);

/* Everything ends well from here on: NULL when no pod is left over, or the sentence. */
const char *podwalk_settle(struct podwalk *walk);

/* How often the walk came by: a walk that never gets anywhere shows nothing. */
struct podwalk_seen {
	uint64_t calls[5]; /* by enum podworker_call_kind */
	uint64_t stopped, cancelled, waited, finished, forgotten, restarts, shortened;
};

const struct podwalk_seen *podwalk_seen(const struct podwalk *walk);

#endif
