// SPDX-License-Identifier: Apache-2.0
/* Drives core/kubelet/condition from conditions.json: a case's kind names the condition that is
 * asked for. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/condition.h"
#include "kubelet/vectors.h"
#include "kubelet/pod.h"
#include "lib/pods/podmake.h"

static json_t *write_condition(const struct podobj_condition *c, bool whole)
{
	json_t *json = json_pack("{s:s, s:s}", "type", c->type, "status", c->status);

	if (whole || *c->reason)
		json_object_set_new(json, "reason", json_string(c->reason));
	if (whole || *c->message)
		json_object_set_new(json, "message", json_string(c->message));
	return json;
}

static int read_gates(const json_t *list, struct arena *arena, struct podobj_pod *pod)
{
	const char **gates = arena_array(arena, json_array_size(list), sizeof(*gates));

	if (!gates)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		gates[i] = json_string_value(json_array_get(list, i));
		if (!gates[i])
			return -EINVAL;
	}
	pod->gates = gates;
	pod->n_gates = json_array_size(list);
	return 0;
}

/* "old_condition" is the status of the same condition before, or null. */
static int read_former(json_t *json, const char *type, struct podobj_condition *former,
		       struct kubelet_in *in)
{
	if (!json || json_is_null(json))
		return 0;
	if (!json_is_string(json))
		return -EINVAL;
	*former = (struct podobj_condition){
		.type = type, .status = json_string_value(json), .reason = "", .message = ""};
	in->former = (struct podobj_conditions){.items = former, .n = 1};
	return 0;
}

struct parts {
	json_t *inits, *containers, *statuses, *gates, *conditions, *former, *runtime;
};

static int of_containers(json_t *input, const char *type,
			 int (*make)(const struct kubelet_in *, struct arena *,
				     struct podobj_condition *),
			 json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podobj_condition former, got;
	struct podobj_pod pod;
	struct kubelet_in in = {.pod = &pod, .rules = podphase_rules_of(36)};
	struct parts p = {};
	int r;

	podobj_init(&pod);
	if (json_unpack(input, "{s:o, s:o, s:o, s:s, s?o, s?o, s?o!}", "initContainers", &p.inits,
			"containers", &p.containers, "statuses", &p.statuses, "phase", &in.phase,
			"readinessGates", &p.gates, "conditions", &p.conditions, "old_condition",
			&p.former) < 0)
		return -EINVAL;
	if ((r = vectors_read_containers(p.inits, &arena, &pod.inits)) < 0 ||
	    (r = vectors_read_containers(p.containers, &arena, &pod.containers)) < 0 ||
	    (r = vectors_read_statuses(p.statuses, &arena, &in.containers)) < 0 ||
	    (r = vectors_read_conditions(p.conditions, &arena, &in.gates)) < 0 ||
	    (r = read_former(p.former, type, &former, &in)) < 0 ||
	    (r = read_gates(p.gates, &arena, &pod)) < 0)
		return r;
	in.inits = in.containers;
	r = make(&in, &arena, &got);
	if (r == 0)
		*ret_got = write_condition(&got, true);
	return r;
}

static int run_containers_ready(json_t *input, json_t **ret_got)
{
	return of_containers(input, PODCOND_CONTAINERS_READY, podcond_containers_ready, ret_got);
}

static int run_ready(json_t *input, json_t **ret_got)
{
	return of_containers(input, PODCOND_READY, podcond_ready, ret_got);
}

static int run_initialized(json_t *input, json_t **ret_got)
{
	return of_containers(input, PODCOND_INITIALIZED, podcond_initialized, ret_got);
}

static int run_ready_to_start(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podcond_sandbox *sandboxes;
	struct podobj_condition got;
	json_t *list;
	int host_network;

	if (json_unpack(input, "{s:o, s:b!}", "sandboxes", &list, "hostNetwork", &host_network) < 0)
		return -EINVAL;
	sandboxes = arena_array(&arena, json_array_size(list), sizeof(*sandboxes));
	if (!sandboxes)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *state, *ip = "";
		int attempt;

		if (json_unpack(json_array_get(list, i), "{s:i, s:s, s?s!}", "attempt", &attempt,
				"state", &state, "ip", &ip) < 0)
			return -EINVAL;
		sandboxes[i] = (struct podcond_sandbox){
			.attempt = (uint32_t)attempt,
			.ready = strcmp(state, "READY") == 0,
			.has_ip = *ip,
		};
	}
	got = podcond_ready_to_start(sandboxes, json_array_size(list), host_network);
	*ret_got = write_condition(&got, false);
	return 0;
}

static int read_records(const json_t *list, struct arena *arena, struct ctrstatus_record **ret)
{
	struct ctrstatus_record *records =
		arena_array(arena, json_array_size(list), sizeof(*records));

	if (!records)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *state;

		if (json_unpack(json_array_get(list, i), "{s:s, s:s, s?i!}", "name",
				&records[i].name, "state", &state, "exit_code",
				&records[i].exit_code) < 0)
			return -EINVAL;
		records[i].state = strcmp(state, "running") == 0   ? CTRSTATUS_RUNNING
				   : strcmp(state, "exited") == 0  ? CTRSTATUS_EXITED
				   : strcmp(state, "created") == 0 ? CTRSTATUS_CREATED
								   : CTRSTATUS_UNKNOWN;
	}
	*ret = records;
	return 0;
}

static int run_restarting_all(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct ctrstatus_record *records;
	struct podobj_condition former, got;
	struct podobj_pod pod;
	struct kubelet_in in = {.pod = &pod, .rules = podphase_rules_of(36)};
	struct parts p = {};
	int r;

	podobj_init(&pod);
	if (json_unpack(input, "{s?o, s:o, s:s, s:o, s:o!}", "initContainers", &p.inits,
			"containers", &p.containers, "phase", &in.phase, "runtime_statuses",
			&p.runtime, "old_condition", &p.former) < 0)
		return -EINVAL;
	if ((r = vectors_read_containers(p.inits, &arena, &pod.inits)) < 0 ||
	    (r = vectors_read_containers(p.containers, &arena, &pod.containers)) < 0 ||
	    (r = read_former(p.former, PODCOND_RESTARTING_ALL, &former, &in)) < 0 ||
	    (r = read_records(p.runtime, &arena, &records)) < 0)
		return r;
	got = podcond_restarting_all(&in, records, json_array_size(p.runtime));
	*ret_got = write_condition(&got, true);
	return 0;
}

int vectors_run_conditions(json_t *vector, json_t **ret_got)
{
	static const struct vectors_kind kinds[] = {
		{"condition_ContainersReady", run_containers_ready},
		{"condition_Ready", run_ready},
		{"condition_Initialized", run_initialized},
		{"condition_PodReadyToStartContainers", run_ready_to_start},
		{"condition_AllContainersRestarting", run_restarting_all},
		{},
	};

	return vectors_run_kind(kinds, vector, ret_got);
}
