/* SPDX-License-Identifier: Apache-2.0 */
/* What a node shutdown would do to the pods of a node, for people; no name is shortened. */
#ifndef WIRE_TEXT_SHUTDOWN_VIEW_H
#define WIRE_TEXT_SHUTDOWN_VIEW_H

#include "base/buf.h"
#include "core/shutdown/view.h"

/* A row for each pod, in their order, then what it all comes to. 0 or buf_error(). */
int shutview_table(struct buf *out, const struct shutview *view);

#endif
