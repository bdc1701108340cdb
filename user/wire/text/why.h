/* SPDX-License-Identifier: Apache-2.0 */
/* The story of a stop for a terminal: what graced why prints. */
#ifndef WIRE_TEXT_WHY_H
#define WIRE_TEXT_WHY_H

#include "base/buf.h"
#include "core/stop/record.h"
#include "wire/text/grid.h"

/* Adds whom the record is about, the sentence, what happened, and what to do. Of the view its
 * width, at which lines are wrapped, and its zone count. 0 or buf_error(). */
int why_story(struct buf *out, const struct record *record, const struct grid_view *view);

/* Adds one line: when, who, and the sentence, cut at the width. 0 or buf_error(). */
int why_line(struct buf *out, const struct record *record, const struct grid_view *view);

#endif
