/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet's configuration file (KubeletConfiguration, YAML or JSON) says of a node
 * shutdown (docs/kubelet-rules.md, "Shutdown settings"). Other members are ignored.
 */
#ifndef WIRE_KUBERNETES_KUBELET_FILES_H
#define WIRE_KUBERNETES_KUBELET_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/shutdown/plan.h"

#define KUBELETCONF_SIZE_MAX   ((size_t)1 << 20)
#define KUBELETCONF_RANGES_MAX 64

enum kubeletconf_gate { KUBELETCONF_DEFAULT, KUBELETCONF_OFF, KUBELETCONF_ON };

struct kubeletconf {
	int64_t total_ns, critical_ns; /* 0: not said */
	struct shutplan_range list[KUBELETCONF_RANGES_MAX];
	size_t n_list;
	enum kubeletconf_gate gate, priority_gate;
};

/* What is wrong, for a person, without a full stop: "line 3: shutdownGracePeriod …". */
struct kubeletconf_why {
	char text[160];
};

/*
 * 0; -EBADMSG for what is no such file, or says something of a shutdown that the kubelet would not
 * take or that people and the kubelet read differently (a key twice, a number like 010); -E2BIG for
 * too large a file or too many priorities; -ENOMEM. On failure *ret is as if nothing was said, and
 * *ret_why is filled.
 */
int kubeletconf_read(const char *text, size_t size, struct kubeletconf *ret,
		     struct kubeletconf_why *ret_why);

/* As the manager of a kubelet 1.<minor> takes it, its gates' defaults filled in. The list is
 * conf's. */
struct shutplan_config kubeletconf_plan(const struct kubeletconf *conf, unsigned int minor);

/*
 * The file that says when the last node shutdown began and was over, in the kubelet's form: one
 * JSON object, two times in RFC 3339, no newline (docs/kubelet-rules.md, "Shutdown state file";
 * pkg/kubelet/nodeshutdown/storage.go).
 */

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
