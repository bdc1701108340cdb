/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of containers as a table for people; no name is shortened. */
#ifndef WIRE_TEXT_AUDIT_H
#define WIRE_TEXT_AUDIT_H

#include "wire/json/audit.h"
#include "wire/text/rows.h"

/* Each keeps one line, to be written with the others. */
void audit_table_title(struct rows *rows);
void audit_table_row(struct rows *rows, const struct audit_record *record);

/* Adds all that was kept. 0, or an error that sticks in out. */
int audit_table_put(struct buf *out, const struct rows *rows, bool colour);

#endif
