// SPDX-License-Identifier: Apache-2.0
/* Makes pods for tests. */
#include "lib/pods/podmake.h"

#include <stdlib.h>

void podobj_init(struct podobj_pod *ret)
{
	*ret = (struct podobj_pod){
		.namespace_ = "",
		.name = "",
		.uid = "",
		.node = "",
		.static_uid = "",
		.owner = {.kind = "", .api = "", .name = "", .uid = ""},
		.status = {.phase = "", .reason = "", .message = ""},
	};
}

void podmake_start(struct podmake *make, enum meta_restart_policy policy)
{
	struct podobj_pod *pod = &make->pod;

	podobj_init(pod);
	pod->restart_policy = policy;
	pod->inits.items = make->inits;
	pod->containers.items = make->containers;
	pod->tolerations = make->tolerations;
	pod->status.inits.items = make->init_statuses;
	pod->status.containers.items = make->statuses;
	pod->status.conditions.items = make->conditions;
}

static size_t take(size_t *n)
{
	if (*n >= PODMAKE_MAX)
		abort();
	return (*n)++;
}

static struct podobj_container *add(struct podobj_container *items, size_t *n, const char *name)
{
	struct podobj_container *container = &items[take(n)];

	*container = (struct podobj_container){.name = name, .image = ""};
	return container;
}

struct podobj_container *podmake_init(struct podmake *make, const char *name)
{
	return add(make->inits, &make->pod.inits.n, name);
}

struct podobj_container *podmake_sidecar(struct podmake *make, const char *name)
{
	struct podobj_container *container = podmake_init(make, name);

	container->restart_policy = META_RESTART_ALWAYS;
	return container;
}

struct podobj_container *podmake_container(struct podmake *make, const char *name)
{
	return add(make->containers, &make->pod.containers.n, name);
}

static struct podobj_status *add_status(struct podobj_status *items, size_t *n, const char *name,
					enum podobj_state state)
{
	struct podobj_status *status = &items[take(n)];

	*status = podobj_no_status(name);
	status->state.kind = state;
	return status;
}

struct podobj_status *podmake_init_status(struct podmake *make, const char *name,
					  enum podobj_state state)
{
	return add_status(make->init_statuses, &make->pod.status.inits.n, name, state);
}

struct podobj_status *podmake_status(struct podmake *make, const char *name,
				     enum podobj_state state)
{
	return add_status(make->statuses, &make->pod.status.containers.n, name, state);
}

void podmake_condition(struct podmake *make, const char *type, const char *status)
{
	make->conditions[take(&make->pod.status.conditions.n)] = (struct podobj_condition){
		.type = type, .status = status, .reason = "", .message = ""};
}

struct podobj_toleration *podmake_toleration(struct podmake *make, const char *key,
					     const char *effect)
{
	struct podobj_toleration *toleration = &make->tolerations[take(&make->pod.n_tolerations)];

	*toleration = (struct podobj_toleration){
		.key = key, .op = "Exists", .value = "", .effect = effect};
	return toleration;
}

struct podobj_container_state podmake_end(int32_t exit_code, const char *reason)
{
	struct podobj_container_state state = podobj_no_state();

	state.kind = PODOBJ_TERMINATED;
	state.exit_code = exit_code;
	state.reason = reason;
	return state;
}
