/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a pod on this node (docs/kubelet-rules.md, "Pod states"). */
#ifndef CORE_PODS_LIFE_H
#define CORE_PODS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#define PODLIFE_MAX_PODS 8192
#define POD_UID_MAX	 64 /* with its NUL */

enum pod_stage {
	POD_STAGE_NONE,
	POD_STAGE_SYNC,
	POD_STAGE_TERMINATING,
	POD_STAGE_TERMINATED,
	POD_STAGE_FINISHED,
	POD_STAGE_FORGOTTEN, /* the UID may begin anew */
	POD_STAGE_COUNT,
};

/* Whole seconds, as the API has them; unknown unless set. */
struct pod_seconds {
	bool set;
	int64_t s;
};

/* How a pod that is followed is configured (docs/kubelet-rules.md, "Pod metrics"). */
enum pod_config {
	POD_DESIRED,
	POD_ORPHAN,
	POD_RUNTIME_ONLY, /* not split by static */
	POD_CONFIG_COUNT,
};

/* The kubelet's metrics of its pod workers; [1]: static pods. */
struct pod_counts {
	uint64_t desired[2], active[2];
	uint64_t restarted[2], orphaned; /* totals */
	/* By stage from sync to terminated, which includes finished. */
	uint64_t working[POD_STAGE_FINISHED][POD_CONFIG_COUNT][2];
};

/* "sync" to "forgotten"; NULL for POD_STAGE_NONE and what is no stage. */
const char *pod_stage_name(enum pod_stage stage);

#endif
