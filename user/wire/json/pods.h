/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon knows of a pod, or of a container or service in none, as a JSON line, both ways:
 * the members that all records have (graced-records(5), "Common members"), then its state. */
#ifndef WIRE_JSON_PODS_H
#define WIRE_JSON_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "core/engine/engine.h"

/* Strings are borrowed. */
struct pods_record {
	uint64_t at_ns;	    /* CLOCK_BOOTTIME */
	int64_t wall_ns;    /* since 1970, UTC */
	const char *node;   /* NULL: not known */
	bool desired_known; /* the source that lists such pods has answered */
	bool gone;	    /* the daemon knows it no longer; the rest is what it knew last */
	/* Known: it is about this container, which is in no pod. Of the view there are its stage
	 * (POD_STAGE_SYNC: it runs, POD_STAGE_TERMINATING: it was asked to stop) and the times. */
	struct record_container container;
	struct podview view;
};

/* "gone", the name of its stage, or "running" and "stopping" of a container; NULL before the first.
 */
const char *pods_record_state(const struct pods_record *record);

/* A process of it lives, and the kubelet, which has answered, does not list it. */
bool pods_record_is_orphan(const struct pods_record *record);

/* What remains of its grace period, negative once it is over. False: unknown. */
bool pods_record_left(const struct pods_record *record, int64_t *ret_ns);

/* As they are listed: who is terminating first, pods before containers, then by namespace, name and
 * pods_record_key(). */
int pods_record_order(const struct pods_record *a, const struct pods_record *b);

/* What tells it from all others: the uid of a pod, the cgroup of a container. */
const char *pods_record_key(const struct pods_record *record);

/* Whether two lines about the same pod or container are equal but for their time. */
bool pods_record_same(const struct pods_record *a, const struct pods_record *b);

/* Adds the line with its newline. 0 or buf_error(). */
int pods_json(struct buf *out, const struct pods_record *record);

/* Reads such a line, without its newline; the strings are put into the arena. -EBADMSG: it is none,
 * whatever else it is; -ENOMEM. */
int pods_json_read(const char *line, size_t size, struct arena *arena, struct pods_record *ret);

#endif
