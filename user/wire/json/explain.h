/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod was explained by, as a JSON line. */
#ifndef WIRE_JSON_EXPLAIN_H
#define WIRE_JSON_EXPLAIN_H

#include "base/buf.h"
#include "core/kubelet/explain.h"

/* Adds the line with its newline; input is what the pod was read from. 0 or buf_error(). */
int explain_json(struct buf *out, const char *input, const struct explain *e);

#endif
