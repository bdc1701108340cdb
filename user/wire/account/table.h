/* SPDX-License-Identifier: Apache-2.0 */
/* An account for people: of each story its verdict, lines about it, and a row for each container. */
#ifndef WIRE_ACCOUNT_TABLE_H
#define WIRE_ACCOUNT_TABLE_H

#include "base/buf.h"
#include "core/account/account.h"
#include "wire/text/grid.h"

/* Columns of the rows: what stopped how, after how much of its time, and why. */
extern const struct grid_table account_columns;

/* The trouble stands first. Where all of it is more than a screen, the headlines are written again
 * at its end. Without titles the rows are written alone. 0 or buf_error(). */
int account_table(struct buf *out, const struct account *account, const struct grid_view *view);

#endif
