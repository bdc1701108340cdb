/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that the daemon knows as a table for people; no name is shortened. */
#ifndef WIRE_TEXT_PODS_H
#define WIRE_TEXT_PODS_H

#include "base/buf.h"
#include "wire/json/pods.h"
#include "wire/text/rows.h"

/* Each keeps one line, to be written with the others. */
void pods_table_title(struct rows *rows);
void pods_table_row(struct rows *rows, const struct pods_record *record);

/* Adds all that was kept. 0, or an error that sticks in out. */
int pods_table_put(struct buf *out, const struct rows *rows, bool colour);

#endif
