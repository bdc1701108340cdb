/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as the JSON lines of graced-records(5): the same members in the same order in every
 * record of a type, null for what is not known. Written and read by the rows of wire/json/rows.
 */
#ifndef WIRE_JSON_RECORD_H
#define WIRE_JSON_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/stop/record.h"

#define RECORD_SCHEMA	1
#define RECORD_LINE_MAX (1u << 20) /* bytes of a record's line */

/* Adds the record's line with its newline. 0, -EINVAL for an unknown type, or buf_error(); on
 * failure out holds what it held. Equal records give equal bytes. */
int record_json(struct buf *out, const struct record *record);

/* Bits 1 << enum record_type. */
#define RECORDS_ALL UINT32_MAX
#define RECORDS_STOPS \
	(1u << RECORD_STOP | 1u << RECORD_SIGNAL | 1u << RECORD_REAPED | 1u << RECORD_DROPPED)

/*
 * Reads a line of one of those types; texts and lists of *ret are in the arena. All readers of
 * records have one answer to what they do not know: a member is ignored; a record of another type
 * is skipped (-ENOMSG); one with a word that is not known, or of a later schema, is of a
 * newer graced (-EPROTONOSUPPORT), as its verdict would be read as another; what record_json()
 * could not have written is no record (-EBADMSG). Absent members are unknown. -ENOMEM.
 */
int record_read(const char *line, size_t len, uint32_t types, struct arena *arena,
		struct record *ret);

/* A copy in the arena with all that it points to, of no more than its type has; NULL: no room. */
struct record *record_copy(const struct record *record, struct arena *arena);

#endif
