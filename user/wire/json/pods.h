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

/* "gone", the name of its stage, or "running" and "stopping" of a container; NULL before the first.
 */
const char *podview_state(const struct podview *record);

/* A process of it lives, and the kubelet, which has answered, does not list it. */
bool podview_is_orphan(const struct podview *record);

/* What remains of its grace period, negative once it is over. False: unknown. */
bool podview_left(const struct podview *record, int64_t *ret_ns);

/* As they are listed: who is terminating first, pods before containers, then by namespace, name and
 * podview_key(). */
int podview_order(const struct podview *a, const struct podview *b);

/* What tells it from all others: the uid of a pod, the cgroup of a container. */
const char *podview_key(const struct podview *record);

/* Whether two lines about the same pod or container are equal but for their time. */
bool podview_same(const struct podview *a, const struct podview *b);

/* Adds the line with its newline. 0 or buf_error(). */
int pods_json(struct buf *out, const struct podview *record);

/* Reads such a line, without its newline; the strings are put into the arena. -EBADMSG: it is none,
 * whatever else it is; -ENOMEM. */
int pods_json_read(const char *line, size_t size, struct arena *arena, struct podview *ret);

#endif
