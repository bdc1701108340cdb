/* SPDX-License-Identifier: Apache-2.0 */
/* The story of a stop for a terminal: what graced why prints. */
#ifndef WIRE_TEXT_WHY_H
#define WIRE_TEXT_WHY_H

#include "base/buf.h"
#include "core/stop/record.h"

/* Adds whom the record is about, the sentence, what happened, and what to do. width: columns at
 * which lines are wrapped, 0: they are not. 0 or buf_error(). */
int why_story(struct buf *out, const struct record *record, bool utc, unsigned int width);

/* Adds one line: when, who, and the sentence, cut at width columns. 0 or buf_error(). */
int why_line(struct buf *out, const struct record *record, bool utc, unsigned int width);

#endif
