/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the pods of a node that dies or shuts down, for people; no name is shortened. */
#ifndef WIRE_TEXT_PLAN_H
#define WIRE_TEXT_PLAN_H

#include "base/buf.h"
#include "core/kubelet/node_failure.h"
#include "core/shutdown/drain.h"
#include "core/shutdown/view.h"

/* Each adds a row for each pod, in their order, then what it all comes to. 0 or buf_error(). */

/* What happens to them when the node dies. */
int plan_table(struct buf *out, const struct nodeplan_rules *rules, const struct nodeplan_pod *pods,
	       size_t n);

/* What a node shutdown would do to them. */
int shutview_table(struct buf *out, const struct shutview *view);

/* In which order to delete them before a deadline. */
int drain_table(struct buf *out, const struct drain *drain);

#endif
