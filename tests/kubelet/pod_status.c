// SPDX-License-Identifier: Apache-2.0
/* Drives core/kubelet/status from pod_status.json: what is sent to the API, how a pod's last status
 * becomes final. */
#include <errno.h>

#include "base/cleanup.h"
#include "core/kubelet/status.h"
#include "kubelet/vectors.h"
#include "kubelet/pod.h"
#include "lib/pods/podmake.h"

static int read_status(json_t *json, struct arena *arena, struct podobj_pod_status *ret)
{
	json_t *conditions;

	*ret = (struct podobj_pod_status){.phase = ""};
	if (json_unpack(json, "{s:s, s:s, s:s, s:o!}", "phase", &ret->phase, "reason", &ret->reason,
			"message", &ret->message, "conditions", &conditions) < 0)
		return -EINVAL;
	return vectors_read_conditions(conditions, arena, &ret->conditions);
}

static int run_merge(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podobj_pod_status api, kubelet, got;
	json_t *api_json, *kubelet_json;
	int may_run, r;

	if (json_unpack(input, "{s:o, s:o, s:b!}", "api_status", &api_json, "kubelet_status",
			&kubelet_json, "could_have_running_containers", &may_run) < 0)
		return -EINVAL;
	if ((r = read_status(api_json, &arena, &api)) < 0 ||
	    (r = read_status(kubelet_json, &arena, &kubelet)) < 0 ||
	    (r = podstatus_merge(&api, &kubelet, may_run, 0, &arena, &got)) < 0)
		return r;
	*ret_got = json_pack("{s:s, s:s, s:s, s:o}", "phase", got.phase, "reason", got.reason,
			     "message", got.message, "conditions",
			     vectors_write_conditions(&got.conditions));
	return *ret_got ? 0 : -ENOMEM;
}

struct lists {
	json_t *inits, *containers, *cached_inits, *cached, *pod_inits, *pod;
};

static int run_terminate(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podobj_pod_status cached = {.reason = "", .message = ""}, got;
	struct podobj_pod pod;
	struct lists lists;
	int is_static = 0, r;

	podobj_init(&pod);
	if (json_unpack(input, "{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s?b!}", "initContainers",
			&lists.inits, "containers", &lists.containers, "cached_phase",
			&cached.phase, "cached_initContainerStatuses", &lists.cached_inits,
			"cached_containerStatuses", &lists.cached, "pod_initContainerStatuses",
			&lists.pod_inits, "pod_containerStatuses", &lists.pod, "static",
			&is_static) < 0)
		return -EINVAL;
	pod.is_static = is_static;
	if ((r = vectors_read_containers(lists.inits, &arena, &pod.inits)) < 0 ||
	    (r = vectors_read_containers(lists.containers, &arena, &pod.containers)) < 0 ||
	    (r = vectors_read_statuses(lists.cached_inits, &arena, &cached.inits)) < 0 ||
	    (r = vectors_read_statuses(lists.cached, &arena, &cached.containers)) < 0 ||
	    (r = vectors_read_statuses(lists.pod_inits, &arena, &pod.status.inits)) < 0 ||
	    (r = vectors_read_statuses(lists.pod, &arena, &pod.status.containers)) < 0 ||
	    (r = podstatus_terminate(&pod, &cached, &arena, &got)) < 0)
		return r;
	*ret_got = json_pack("{s:s, s:o, s:o}", "phase", got.phase, "initContainerStatuses",
			     vectors_write_statuses(&got.inits), "containerStatuses",
			     vectors_write_statuses(&got.containers));
	return *ret_got ? 0 : -ENOMEM;
}

int vectors_run_pod_status(json_t *vector, json_t **ret_got)
{
	static const struct vectors_kind kinds[] = {
		{"merge", run_merge},
		{"terminate", run_terminate},
		{},
	};

	return vectors_run_kind(kinds, vector, ret_got);
}
