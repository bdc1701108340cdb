/* SPDX-License-Identifier: Apache-2.0 */
/* The live table: one row for a stop, and one for a signal, in columns that fit a terminal of 120.
 *
 * Whatever a name holds, a row is one line of printable text: names are shown as utf8_add_visible()
 * shows them, and cut where they are too long. What is not known is a dash. */
#ifndef WIRE_TEXT_TABLE_H
#define WIRE_TEXT_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/stop/record.h"

/* Adds the line of titles. 0 or buf_error(). */
int table_header(struct buf *out, bool colour);

/* Adds the row of a stop or a signal, nothing for any other record. In a signal's row the signal
 * stands under OUTCOME and its result under CAUSE; times are UTC. 0 or buf_error(); on failure out
 * holds what it held. */
int table_row(struct buf *out, const struct record *record, bool colour);

#endif
