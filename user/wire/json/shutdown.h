/* SPDX-License-Identifier: Apache-2.0 */
/* Node shutdowns as JSON: the members of a record (graced-records(5), "shutdown") after those that
 * every record begins with, and what a shutdown would do to a pod. */
#ifndef WIRE_JSON_SHUTDOWN_H
#define WIRE_JSON_SHUTDOWN_H

#include "base/buf.h"
#include "core/shutdown/view.h"
#include "core/stop/record.h"

void shutdown_json(struct buf *out, const struct record_shutdown *record);

/* Adds the line with its newline; input is what the pod was read from. Times are nanoseconds since
 * the announcement, INT64_MAX for what is beyond it. 0 or buf_error(). */
int shutview_json(struct buf *out, const char *input, const struct shutview *view,
		  const struct shutview_pod *pod);

#endif
