// SPDX-License-Identifier: Apache-2.0
/* Tells whose disruption a pod is the target of. */
#include "core/kubelet/disruption.h"

#include <string.h>

const char *disruption_reason(enum disruption_cause cause)
{
	static const char *const reasons[DISRUPTION_CAUSE_COUNT] = {
		[DISRUPTION_NODE_PRESSURE] = "TerminationByKubelet",
		[DISRUPTION_NODE_SHUTDOWN] = "TerminationByKubelet",
		[DISRUPTION_KUBELET_PREEMPTS] = "TerminationByKubelet",
		[DISRUPTION_SCHEDULER_PREEMPTS] = "PreemptionByScheduler",
		[DISRUPTION_TAINT] = "DeletionByTaintManager",
		[DISRUPTION_DEVICE_TAINT] = "DeletionByDeviceTaintManager",
		[DISRUPTION_EVICTION_API] = "EvictionByEvictionAPI",
		[DISRUPTION_POD_GC] = "DeletionByPodGC",
	};

	return (unsigned int)cause < DISRUPTION_CAUSE_COUNT ? reasons[cause] : NULL;
}

bool disruption_is_stale(const struct podobj_pod *pod, int64_t now_wall_ns)
{
	const struct podobj_condition *condition =
		podobj_condition_of(&pod->status.conditions, "DisruptionTarget");
	int64_t age;

	if (!condition || strcmp(condition->status, "True") != 0 || pod->deleting ||
	    podobj_phase_is_terminal(pod->status.phase))
		return false;
	return !__builtin_sub_overflow(now_wall_ns, condition->transition_wall_ns, &age) &&
	       age >= DISRUPTION_STALE_NS;
}
