/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod was explained by, for people: a few tables. */
#ifndef WIRE_TEXT_EXPLAIN_H
#define WIRE_TEXT_EXPLAIN_H

#include "base/buf.h"
#include "core/kubelet/explain.h"
#include "wire/text/grid.h"

/* 0 or buf_error(). */
int explain_table(struct buf *out, const struct explain *e, const struct grid_view *view);

#endif
