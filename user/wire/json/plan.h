/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a pod when its node dies, as a JSON line. */
#ifndef WIRE_JSON_PLAN_H
#define WIRE_JSON_PLAN_H

#include "base/buf.h"
#include "core/kubelet/node_failure.h"

/* Adds the line with its newline; input is what the pod was read from. Spans are nanoseconds since
 * the last heartbeat, INT64_MAX for what is beyond it. 0 or buf_error(). */
int plan_json(struct buf *out, const char *input, const struct nodeplan_rules *rules,
	      const struct nodeplan_pod *pod);

#endif
