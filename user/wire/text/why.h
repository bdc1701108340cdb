/* SPDX-License-Identifier: Apache-2.0 */
/* The story of a stop for a terminal: what graced why prints. */
#ifndef WIRE_TEXT_WHY_H
#define WIRE_TEXT_WHY_H

#include "base/buf.h"
#include "core/story/story.h"
#include "wire/text/grid.h"

/* Adds whom it is about, the sentence, what happened, and what to do. Of the view its
 * width, at which lines are wrapped, and its zone count. 0 or buf_error(). */
int why_story(struct buf *out, const struct story *story, const struct grid_view *view);

/* Adds one line: its number in a list (0: none), when, who, and the sentence, cut at the width. 0
 * or buf_error(). */
int why_line(struct buf *out, const struct record *record, size_t number,
	     const struct grid_view *view);

/* Adds the name of a container: "shop/cart-0 web". */
void why_add_subject(struct buf *out, const struct record_pod *pod,
		     const struct record_container *container);

#endif
