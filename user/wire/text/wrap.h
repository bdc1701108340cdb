/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences as lines of a terminal. */
#ifndef WIRE_TEXT_WRAP_H
#define WIRE_TEXT_WRAP_H

#include "base/buf.h"

/* How much further right than its beginning a line goes on. */
#define WRAP_INDENT 2

/* Adds a line that begins at column indent and is wrapped at width columns; 0: it is not. Each byte
 * of the text takes one column. */
void wrap_line(struct buf *out, unsigned int indent, const char *text, unsigned int width);

#endif
