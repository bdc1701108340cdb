/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of one container as a JSON line: the members that all records have (graced-records(5),
 * "Common members"), then what was found and why. */
#ifndef WIRE_JSON_AUDIT_H
#define WIRE_JSON_AUDIT_H

#include "base/buf.h"
#include "core/stop/audit_record.h"

/* Adds the line with its newline. 0 or buf_error(). */
int audit_json(struct buf *out, const struct audit_record *record);

#endif
