/* SPDX-License-Identifier: Apache-2.0 */
/* An account for people: lines about each shutdown, then a row for each container. */
#ifndef WIRE_ACCOUNT_TABLE_H
#define WIRE_ACCOUNT_TABLE_H

#include "base/buf.h"
#include "core/account/account.h"
#include "wire/text/grid.h"

/* Columns of the rows. */
extern const struct grid_table account_columns;

/* Without titles the rows are written alone. 0 or buf_error(). */
int account_table(struct buf *out, const struct account *account, const struct grid_view *view);

#endif
