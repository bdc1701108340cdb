/* SPDX-License-Identifier: Apache-2.0 */
/* A pod as `graced pods` tells it: what the daemon knows of it, and when it was asked. */
#ifndef WIRE_JSON_PODS_RECORD_H
#define WIRE_JSON_PODS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/pods/view.h"

/* Strings are borrowed. */
struct pods_record {
	uint64_t at_ns;	    /* CLOCK_BOOTTIME */
	int64_t wall_ns;    /* since 1970, UTC */
	const char *node;   /* NULL: not known */
	bool desired_known; /* the source that lists such pods has answered */
	bool gone;	    /* the daemon knows it no longer; the rest is what it knew last */
	struct podview view;
};

/* "gone", or the name of its stage; NULL before the first. */
const char *pods_record_state(const struct pods_record *record);

/* A process of it lives, and the kubelet, which has answered, does not list it. */
bool pods_record_is_orphan(const struct pods_record *record);

/* Of its grace period, negative once that is over. False: not known. */
bool pods_record_left(const struct pods_record *record, int64_t *ret_ns);

/* As they are listed: who is terminating first, then by namespace, name and uid. */
int pods_record_order(const struct pods_record *a, const struct pods_record *b);

/* Whether all that is told of the same pod is the same, but for when it was told. */
bool pods_record_same(const struct pods_record *a, const struct pods_record *b);

#endif
