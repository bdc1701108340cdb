/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that the daemon knows as a table for people, at most 120 columns wide. */
#ifndef WIRE_PODS_TABLE_H
#define WIRE_PODS_TABLE_H

#include "base/buf.h"
#include "wire/pods_record.h"

/* Each adds one line. Errors stick in out. */
void pods_table_title(struct buf *out);
int pods_table_row(struct buf *out, const struct pods_record *record, bool colour);

#endif
