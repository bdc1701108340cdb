// SPDX-License-Identifier: Apache-2.0
/* Looks things up in a pod of the API's. */
#include "core/kubelet/pod.h"

#include <string.h>

const struct podobj_container *podobj_container_at(const struct podobj_pod *pod,
						   struct podobj_ref ref)
{
	const struct podobj_containers *const lists[] = {
		[PODOBJ_INITS] = &pod->inits,
		[PODOBJ_CONTAINERS] = &pod->containers,
		[PODOBJ_EPHEMERALS] = &pod->ephemerals,
	};

	if (ref.list <= PODOBJ_NO_LIST || ref.list > PODOBJ_EPHEMERALS ||
	    ref.index >= lists[ref.list]->n)
		return NULL;
	return &lists[ref.list]->items[ref.index];
}

const struct podobj_status *podobj_status_of(const struct podobj_statuses *statuses,
					     const char *name)
{
	for (size_t i = 0; i < statuses->n; i++) {
		if (strcmp(statuses->items[i].name, name) == 0)
			return &statuses->items[i];
	}
	return NULL;
}

const struct podobj_condition *podobj_condition_of(const struct podobj_conditions *conditions,
						   const char *type)
{
	for (size_t i = 0; i < conditions->n; i++) {
		if (strcmp(conditions->items[i].type, type) == 0)
			return &conditions->items[i];
	}
	return NULL;
}

bool podobj_condition_is_true(const struct podobj_conditions *conditions, const char *type)
{
	const struct podobj_condition *condition = podobj_condition_of(conditions, type);

	return condition && strcmp(condition->status, "True") == 0;
}

bool podobj_is_sidecar(const struct podobj_container *init)
{
	return init->restart_policy == META_RESTART_ALWAYS;
}

bool podobj_phase_is_terminal(const char *phase)
{
	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

struct podobj_container_state podobj_no_state(void)
{
	return (struct podobj_container_state){.reason = "", .message = "", .id = ""};
}

struct podobj_status podobj_no_status(const char *name)
{
	return (struct podobj_status){
		.name = name,
		.image = "",
		.image_id = "",
		.id = "",
		.state = podobj_no_state(),
		.last = podobj_no_state(),
	};
}
