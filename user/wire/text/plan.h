/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the pods of a node that dies or shuts down, for people. */
#ifndef WIRE_TEXT_PLAN_H
#define WIRE_TEXT_PLAN_H

#include "base/buf.h"
#include "core/kubelet/node_failure.h"
#include "core/shutdown/drain.h"
#include "core/shutdown/view.h"
#include "wire/text/grid.h"

/* Columns of the three tables. */
extern const struct grid_table plan_columns, shutview_columns, drain_columns;

/* Each adds a row for each pod, in their order unless the view sorts them, then what it all comes
 * to, if there are titles. 0 or buf_error(). */

/* What happens to them when the node dies. */
int plan_table(struct buf *out, const struct nodeplan_rules *rules, const struct nodeplan_pod *pods,
	       size_t n, const struct grid_view *view);

/* What a node shutdown would do to them. */
int shutview_table(struct buf *out, const struct shutview *view, const struct grid_view *how);

/* In which order to delete them before a deadline. */
int drain_table(struct buf *out, const struct drain *drain, const struct grid_view *view);

#endif
