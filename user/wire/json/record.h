/* SPDX-License-Identifier: Apache-2.0 */
/* Records as the JSON lines of graced-records(5): the same members in the same order in
 * every record of a type, null for what is not known. */
#ifndef WIRE_JSON_RECORD_H
#define WIRE_JSON_RECORD_H

#include "base/buf.h"
#include "core/stop/record.h"

#define RECORD_SCHEMA 1

/* Adds the record's line with its newline. 0, -EINVAL for an unknown type, or buf_error(); on
 * failure out holds what it held. Equal records give equal bytes. */
int record_json(struct buf *out, const struct record *record);

#endif
