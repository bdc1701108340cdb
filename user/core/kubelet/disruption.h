/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The condition DisruptionTarget: that a pod goes for reasons that are not its own, and whose
 * (docs/kubelet-rules.md, "Disruption reasons"; KEP-3329).
 */
#ifndef CORE_KUBELET_DISRUPTION_H
#define CORE_KUBELET_DISRUPTION_H

#include "core/kubelet/pod.h"

/* How long the condition stands without anything coming of it. */
#define DISRUPTION_STALE_NS 120000000000LL

enum disruption_cause {
	DISRUPTION_NODE_PRESSURE, /* the kubelet evicts: memory, disk, pids */
	DISRUPTION_NODE_SHUTDOWN,
	DISRUPTION_KUBELET_PREEMPTS, /* for a critical pod */
	DISRUPTION_LOCAL_STORAGE,    /* over the pod's own limits, which is its own doing */
	DISRUPTION_SCHEDULER_PREEMPTS,
	DISRUPTION_TAINT, /* NoExecute */
	DISRUPTION_DEVICE_TAINT,
	DISRUPTION_EVICTION_API,
	DISRUPTION_POD_GC, /* its node is gone */
	DISRUPTION_CAUSE_COUNT,
};

/* The condition's reason; NULL where the cause brings no such condition. */
const char *disruption_reason(enum disruption_cause cause);

/* Whether the disruption controller would reset it: the pod neither goes nor is over, though it was
 * told so long ago. */
bool disruption_is_stale(const struct podobj_pod *pod, int64_t now_wall_ns);

#endif
