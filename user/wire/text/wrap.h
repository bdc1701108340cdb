/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences as lines of a terminal. */
#ifndef WIRE_TEXT_WRAP_H
#define WIRE_TEXT_WRAP_H

#include "base/buf.h"

/* How much further right than its beginning a line goes on. */
#define WRAP_INDENT 2

/* Narrower terminals get lines that are longer than they are wide. */
#define WRAP_WIDTH_MIN 20

/* Adds a text from column column_now on, to the end of its line; where it is wrapped at width
 * columns (0: it is not) it goes on at column indent. Each byte takes one column. */
void wrap_text(struct buf *out, const char *text, unsigned int column_now, unsigned int indent,
	       unsigned int width);

/* Adds a line that begins at column indent and is wrapped at width columns; 0: it is not. */
void wrap_line(struct buf *out, unsigned int indent, const char *text, unsigned int width);

#endif
