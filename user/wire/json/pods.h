/* SPDX-License-Identifier: Apache-2.0 */
/* A pod that the daemon knows as a JSON line, both ways: the members that all records have
 * (graced-records(5), "Common members"), then its state. */
#ifndef WIRE_JSON_PODS_H
#define WIRE_JSON_PODS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "wire/json/pods_record.h"

/* Adds the line with its newline. 0 or buf_error(). */
int pods_json(struct buf *out, const struct pods_record *record);

/* Reads such a line, without its newline; the strings are put into the arena. -EBADMSG: it is none,
 * whatever else it is; -ENOMEM. */
int pods_json_read(const char *line, size_t size, struct arena *arena, struct pods_record *ret);

#endif
