/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records, above all of stops and signals, read back from the JSON lines that record_json() writes.
 * All readers of records have one answer to what they do not know: a member is ignored; a record of
 * an unknown type is none of theirs; one of a known type with a word that is not known, or of a
 * later schema, is of a newer graced, and is left out and counted, as its verdict would be read as
 * another.
 */
#ifndef WIRE_JSON_RECORD_READ_H
#define WIRE_JSON_RECORD_READ_H

#include <jansson.h>
#include <stddef.h>

#include "core/stop/record.h"

#define RECORD_LINE_MAX (1u << 20) /* bytes of a record's line */

struct record_text {
	struct record record;
	json_t *json; /* owned; what the strings of the record point into */
};

/*
 * Reads stops, signals, and records that were dropped. 0; the caller calls record_text_done().
 * -ENOMSG: a record of another type. -EBADMSG: no record. -EPROTONOSUPPORT: of a newer graced.
 * Absent members are unknown; numbers count only if record_json() could have written them.
 */
int record_read(const char *line, size_t len, struct record_text *ret);
/*
 * The same, and of any other type of record what filter_matches() looks at: its type, its head, its
 * pod and container, and of one of losses its totals. The rest is zero. -ENOMSG: a type that is not
 * known here.
 */
int record_read_any(const char *line, size_t len, struct record_text *ret);
/* What record_read_any() would return of that line. */
int record_check(const json_t *line);
void record_text_done(struct record_text *text);

#endif
