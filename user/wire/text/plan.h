/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the pods of a node that dies, for people; no name is shortened. */
#ifndef WIRE_TEXT_PLAN_H
#define WIRE_TEXT_PLAN_H

#include "base/buf.h"
#include "core/kubelet/node_failure.h"

/* A row for each pod, in their order, then what it all comes to. 0 or buf_error(). */
int plan_table(struct buf *out, const struct nodeplan_rules *rules, const struct nodeplan_pod *pods,
	       size_t n);

#endif
