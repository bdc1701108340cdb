/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of containers as a table for people, at most 120 columns wide. */
#ifndef WIRE_AUDIT_TABLE_H
#define WIRE_AUDIT_TABLE_H

#include "wire/audit_json.h"

/* Each adds one line. Errors stick in out. */
void audit_table_title(struct buf *out);
int audit_table_row(struct buf *out, const struct audit_record *record, bool colour);

#endif
