/* SPDX-License-Identifier: Apache-2.0 */
/* The story of a stop as JSON: what graced why -o json prints. */
#ifndef WIRE_JSON_WHY_H
#define WIRE_JSON_WHY_H

#include "base/buf.h"
#include "core/story/story.h"

/* Adds one object, as the member key of another one or (NULL) by itself. */
void why_json_add(struct buf *out, const char *key, const struct story *story);
/* Adds one object and a line feed. 0 or buf_error(). */
int why_json(struct buf *out, const struct story *story);

#endif
