/* SPDX-License-Identifier: Apache-2.0 */
/* What a node shutdown would do to a pod, as a JSON line. */
#ifndef WIRE_JSON_SHUTDOWN_VIEW_H
#define WIRE_JSON_SHUTDOWN_VIEW_H

#include "base/buf.h"
#include "core/shutdown/view.h"

/* Adds the line with its newline; input is what the pod was read from. Times are nanoseconds since
 * the announcement, INT64_MAX for what is beyond it. 0 or buf_error(). */
int shutview_json(struct buf *out, const char *input, const struct shutview *view,
		  const struct shutview_pod *pod);

#endif
