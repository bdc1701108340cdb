/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about a pod of the API as JSON lines: how they begin and end, and whose they are. */
#ifndef WIRE_JSON_POD_H
#define WIRE_JSON_POD_H

#include "base/buf.h"
#include "core/kubelet/pod.h"

/* A text that may be unknown: NULL and "" are null. */
void podobj_json_text(struct buf *out, const char *key, const char *text);

/* Whole seconds, as nanoseconds: INT64_MAX or INT64_MIN for what these do not hold. */
void podobj_json_seconds(struct buf *out, const char *key, int64_t seconds);

/* Begins a line of that type by the rules of Kubernetes 1.<minor>, with whose pod it is about;
 * input is what the pod was read from. */
void podobj_json_begin(struct buf *out, const char *type, const char *input, unsigned int minor,
		       const struct podobj_pod *pod);
/* 0 or buf_error(). */
int podobj_json_end(struct buf *out);

/* The members controller (one of core/kubelet/node_failure's makers), kind and name, into an open
 * object. */
void podobj_json_owner(struct buf *out, const struct podobj_pod *pod);

#endif
