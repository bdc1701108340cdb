/* SPDX-License-Identifier: Apache-2.0 */
/* Records, above all of stops and signals, read back from the JSON lines that record_json() writes.
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
 * 0; the caller calls record_text_done(). -ENOMSG: a record of another type. -EBADMSG: no record.
 * -EPROTONOSUPPORT: one with words that this version does not know, so that its verdict would be
 * read as another. Members that are absent are not known; of numbers those count that
 * record_json() could have written.
 */
int record_read(const char *line, size_t len, struct record_text *ret);
/*
 * The same, and of any other type of record what filter_matches() looks at: its type, its head, its
 * pod and container, and of one of losses its totals. The rest is zero. -ENOMSG: a type that is not
 * known here.
 */
int record_read_any(const char *line, size_t len, struct record_text *ret);
void record_text_done(struct record_text *text);

#endif
