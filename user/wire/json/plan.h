/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about a pod of the API as JSON lines: how they begin and end, what becomes of the pod
 * when its node dies, and what a node shutdown would do to it. */
#ifndef WIRE_JSON_PLAN_H
#define WIRE_JSON_PLAN_H

#include "base/buf.h"
#include "core/kubelet/node_failure.h"
#include "core/kubelet/pod.h"
#include "core/shutdown/drain.h"
#include "core/shutdown/view.h"

/* A text that may be unknown: NULL and "" are null. */
void podobj_json_text(struct buf *out, const char *key, const char *text);

/* Begins a line of that type by the rules of Kubernetes 1.<minor>, with whose pod it is about;
 * input is what the pod was read from. */
void podobj_json_begin(struct buf *out, const char *type, const char *input, unsigned int minor,
		       const struct podobj_pod *pod);
/* 0 or buf_error(). */
int podobj_json_end(struct buf *out);

/* The members controller (one of core/kubelet/node_failure's makers), kind and name, into an open
 * object. */
void podobj_json_owner(struct buf *out, const struct podobj_pod *pod);

/* Adds the line with its newline; input is what the pod was read from. Spans are nanoseconds since
 * the last heartbeat, INT64_MAX for what is beyond it. 0 or buf_error(). */
int plan_json(struct buf *out, const char *input, const struct nodeplan_rules *rules,
	      const struct nodeplan_pod *pod);

/* Adds the line with its newline; input is what the pod was read from. Times are nanoseconds since
 * the announcement, INT64_MAX for what is beyond it. 0 or buf_error(). */
int shutview_json(struct buf *out, const char *input, const struct shutview *view,
		  const struct shutview_pod *pod);

/* The same of a pod's deletion before a deadline; times are since the question. */
int drain_json(struct buf *out, const char *input, const struct drain *drain,
	       const struct shutview_pod *pod);

#endif
