/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that says when the last node shutdown began and was over, in the kubelet's form: one
 * JSON object, two times in RFC 3339, no newline (docs/kubelet-rules.md, "Shutdown state file";
 * pkg/kubelet/nodeshutdown/storage.go).
 */
#ifndef WIRE_KUBERNETES_SHUTDOWN_STATE_H
#define WIRE_KUBERNETES_SHUTDOWN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SHUTSTATE_FILE	   "graceful_node_shutdown_state" /* in the kubelet's root directory */
#define SHUTSTATE_MAX_SIZE ((size_t)64 << 10)

#define SHUTSTATE_START_METRIC "kubelet_graceful_shutdown_start_time_seconds"
#define SHUTSTATE_END_METRIC   "kubelet_graceful_shutdown_end_time_seconds"

/* Nanoseconds since 1970; a time that is not set is the zero time in the file. */
struct shutstate {
	bool started, ended;
	int64_t start_wall_ns, end_wall_ns;
};

/* Adds the whole file. 0 or buf_error(). */
int shutstate_write(struct buf *out, const struct shutstate *state);

/* text is NULL for a file that is not there: nothing is set. 0; -EBADMSG for what is no such
 * object, or has a time that is malformed or outside of int64_t; -EFBIG beyond the maximum;
 * -ENOMEM. Members that are missing or null are not set, others are not looked at (as encoding/json
 * reads it). */
int shutstate_read(const char *text, size_t size, struct shutstate *ret);

/* What a time's metric shows: whole seconds, 0 for one that is not set. */
int64_t shutstate_seconds(bool set, int64_t wall_ns);

#endif
