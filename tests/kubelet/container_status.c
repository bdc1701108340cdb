// SPDX-License-Identifier: Apache-2.0
/* Drives core/kubelet/container_status and core/kubelet/status from container_status.json: what the
 * runtime has and what was reported before in, what is reported now out. The cases' probes find
 * every container ready. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/status.h"
#include "kubelet/vectors.h"
#include "kubelet/compare.h"
#include "kubelet/pod.h"
#include "lib/pods/podmake.h"
#include "wire/kubernetes/pod.h"

static json_t *write_state(const struct podobj_container_state *state)
{
	json_t *inner = json_object();

	switch (state->kind) {
	case PODOBJ_RUNNING:
		return json_pack("{s:o}", "running", inner);
	case PODOBJ_WAITING:
		json_object_set_new(inner, "reason", json_string(state->reason));
		if (*state->message)
			json_object_set_new(inner, "message", json_string(state->message));
		return json_pack("{s:o}", "waiting", inner);
	case PODOBJ_TERMINATED:
		json_object_set_new(inner, "exitCode", json_integer(state->exit_code));
		json_object_set_new(inner, "reason", json_string(state->reason));
		if (*state->message)
			json_object_set_new(inner, "message", json_string(state->message));
		return json_pack("{s:o}", "terminated", inner);
	default:
		json_decref(inner);
		return json_null();
	}
}

static json_t *write_statuses(const struct podobj_statuses *statuses)
{
	json_t *list = json_array();

	for (size_t i = 0; i < statuses->n; i++) {
		const struct podobj_status *status = &statuses->items[i];

		json_array_append_new(list, json_pack("{s:s, s:o, s:i, s:o}", "name", status->name,
						      "state", write_state(&status->state),
						      "restartCount", status->restarts, "lastState",
						      write_state(&status->last)));
	}
	return list;
}

static int read_previous(json_t *list, struct arena *arena, struct podobj_statuses *ret)
{
	json_t *around = json_pack("{s:{}, s:{}, s:{s:O}}", "metadata", "spec", "status",
				   "containerStatuses", list);
	struct podread_error error;
	struct podobj_pod pod;
	int r = podread_pod(around, arena, &pod, &error);

	json_decref(around);
	if (r == 0)
		*ret = pod.status.containers;
	return r;
}

static int read_record(json_t *json, struct ctrstatus_record *record)
{
	const char *state;

	*record = (struct ctrstatus_record){
		.id = "", .image = "", .image_id = "", .reason = "", .message = ""};
	if (json_unpack(json, "{s:s, s:s, s:i, s?i, s?s, s?s, s?s!}", "name", &record->name,
			"state", &state, "restartCount", &record->restarts, "exitCode",
			&record->exit_code, "reason", &record->reason, "message", &record->message,
			"id", &record->id) < 0)
		return -EINVAL;
	record->state = strcmp(state, "running") == 0	? CTRSTATUS_RUNNING
			: strcmp(state, "exited") == 0	? CTRSTATUS_EXITED
			: strcmp(state, "created") == 0 ? CTRSTATUS_CREATED
							: CTRSTATUS_UNKNOWN;
	return 0;
}

static int read_records(const json_t *list, struct arena *arena, struct ctrstatus_in *in)
{
	struct ctrstatus_record *records =
		arena_array(arena, json_array_size(list), sizeof(*records));

	if (!records)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_record(json_array_get(list, i), &records[i]);

		if (r < 0)
			return r;
	}
	in->records = records;
	in->n_records = json_array_size(list);
	return 0;
}

static bool has_record(const struct ctrstatus_in *in, const char *name)
{
	return name && ctrstatus_newest(in->records, in->n_records, name);
}

static int run_convert(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	json_t *containers, *previous, *runtime, *policy, *regular = NULL;
	const char *op;
	struct podobj_pod pod;
	struct podobj_statuses got;
	struct ctrstatus_in in = {.pod = &pod, .rules = podphase_rules_of(36)};
	int deleting, has_inits, are_inits, restarting, r;

	podobj_init(&pod);
	if (json_unpack(input, "{s:s, s:o, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s?o!}", "op", &op,
			"containers", &containers, "pod_has_deletionTimestamp", &deleting,
			"has_init_containers", &has_inits, "converting_init_containers", &are_inits,
			"pod_restarting_all", &restarting, "previous", &previous, "runtime",
			&runtime, "restartPolicy", &policy, "regular_containers", &regular) < 0)
		return -EINVAL;
	pod.deleting = deleting;
	in.has_inits = has_inits;
	in.are_inits = are_inits;
	in.restarting_all = restarting;
	if ((r = vectors_read_policy(policy, &pod.restart_policy)) < 0 ||
	    (r = vectors_read_containers(containers, &arena, &in.containers)) < 0 ||
	    (r = read_previous(previous, &arena, &in.previous)) < 0 ||
	    (r = read_records(runtime, &arena, &in)) < 0)
		return r;
	for (size_t i = 0; i < json_array_size(regular); i++)
		in.regular_created |=
			has_record(&in, json_string_value(json_array_get(regular, i)));
	r = ctrstatus_convert(&in, &arena, &got);
	if (r == 0)
		*ret_got = json_pack("{s:o}", "statuses", write_statuses(&got));
	return r;
}

static int read_names(const json_t *list, struct arena *arena, struct podobj_containers *ret)
{
	struct podobj_container *items = arena_array(arena, json_array_size(list), sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		items[i] = (struct podobj_container){
			.name = json_string_value(json_array_get(list, i)), .image = ""};
		if (!items[i].name)
			return -EINVAL;
	}
	*ret = (struct podobj_containers){.items = items, .n = json_array_size(list)};
	return 0;
}

static int read_pod(json_t *json, struct arena *arena, struct podobj_pod *pod, bool *ret_deadline)
{
	json_t *containers, *policy, *conditions;
	int deleting, deadline = 0, r;

	podobj_init(pod);
	if (json_unpack(json, "{s:o, s:o, s:s, s:b, s:o, s?b!}", "containers", &containers,
			"restartPolicy", &policy, "api_phase", &pod->status.phase,
			"deletionTimestamp", &deleting, "api_conditions", &conditions,
			"activeDeadlineSeconds_exceeded", &deadline) < 0)
		return -EINVAL;
	pod->deleting = deleting;
	*ret_deadline = deadline;
	if ((r = vectors_read_policy(policy, &pod->restart_policy)) < 0 ||
	    (r = read_names(containers, arena, &pod->containers)) < 0)
		return r;
	return vectors_read_conditions(conditions, arena, &pod->status.conditions);
}

static int read_cached(json_t *json, struct arena *arena, struct podobj_pod_status *cached)
{
	json_t *containers = NULL, *conditions = NULL;
	int r;

	*cached = (struct podobj_pod_status){.reason = "", .message = ""};
	if (json_unpack(json, "{s:s, s?s, s?s, s:o, s?o!}", "phase", &cached->phase, "reason",
			&cached->reason, "message", &cached->message, "containers", &containers,
			"conditions", &conditions) < 0)
		return -EINVAL;
	r = read_previous(containers, arena, &cached->containers);
	return r < 0 ? r : vectors_read_conditions(conditions, arena, &cached->conditions);
}

static json_t *condition_pair(const struct podobj_pod_status *status, const char *type)
{
	const struct podobj_condition *c = podobj_condition_of(&status->conditions, type);

	return c ? json_pack("[s, s]", c->status, c->reason) : json_null();
}

static json_t *write_status(const struct podobj_pod_status *status)
{
	const struct podobj_condition *disruption =
		podobj_condition_of(&status->conditions, PODCOND_DISRUPTION);

	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s?, s:o}", "phase", status->phase,
			 "reason", status->reason, "message", status->message, "Ready",
			 condition_pair(status, PODCOND_READY), PODCOND_CONTAINERS_READY,
			 condition_pair(status, PODCOND_CONTAINERS_READY), PODCOND_INITIALIZED,
			 condition_pair(status, PODCOND_INITIALIZED), PODCOND_READY_TO_START,
			 condition_pair(status, PODCOND_READY_TO_START), PODCOND_DISRUPTION,
			 disruption ? disruption->status : NULL, "statuses",
			 write_statuses(&status->containers));
}

static int compose(struct kubelet_in *in, struct ctrstatus_in *ctr, struct arena *arena,
		   json_t **ret_got)
{
	struct podobj_pod_status got;
	struct podobj_status *items;
	int r = ctrstatus_convert(ctr, arena, &in->containers);

	if (r < 0)
		return r;
	items = (struct podobj_status *)in->containers.items;
	for (size_t i = 0; i < in->containers.n; i++) {
		items[i].ready = true;
		in->initialized |= has_record(ctr, items[i].name);
	}
	r = podstatus_compose(in, arena, &got, NULL);
	if (r == 0)
		*ret_got = write_status(&got);
	return r;
}

static int run_generate(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podcond_sandbox sandbox = {.has_ip = true};
	struct podobj_pod pod;
	struct podobj_pod_status cached;
	struct kubelet_in in = {
		.pod = &pod,
		.rules = podphase_rules_of(36),
		.cached = &cached,
		.sandboxes = &sandbox,
		.n_sandboxes = 1,
	};
	struct ctrstatus_in ctr = {.pod = &pod, .rules = in.rules};
	json_t *pod_json, *runtime, *previous;
	const char *op;
	int sandbox_ready, killed, r;

	if (json_unpack(input, "{s:s, s:o, s:b, s:o, s:o, s:b!}", "op", &op, "pod", &pod_json,
			"sandbox_ready", &sandbox_ready, "runtime", &runtime, "previous_status",
			&previous, "podIsTerminal", &killed) < 0)
		return -EINVAL;
	sandbox.ready = sandbox_ready;
	in.killed = killed;
	if ((r = read_pod(pod_json, &arena, &pod, &in.deadline_passed)) < 0 ||
	    (r = read_cached(previous, &arena, &cached)) < 0 ||
	    (r = read_records(runtime, &arena, &ctr)) < 0)
		return r;
	ctr.containers = pod.containers;
	ctr.previous = cached.containers;
	in.records = ctr.records;
	in.n_records = ctr.n_records;
	return compose(&in, &ctr, &arena, ret_got);
}

static const char *op_of(json_t *vector)
{
	return json_string_value(json_object_get(json_object_get(vector, "input"), "op"));
}

int vectors_run_container_status(json_t *vector, json_t **ret_got)
{
	const char *op = op_of(vector);

	if (op && strcmp(op, "convert") == 0)
		return run_convert(json_object_get(vector, "input"), ret_got);
	if (op && strcmp(op, "generate") == 0)
		return run_generate(json_object_get(vector, "input"), ret_got);
	return -ENOTSUP;
}

/* A case lists only those members of a pod's status that it is about. */
void vectors_rule_container_status(json_t *vector, json_t *expected, json_t *got)
{
	const char *op = op_of(vector), *key;
	json_t *value;
	void *next;

	if (!op || strcmp(op, "generate") != 0)
		return;
	json_object_foreach_safe(got, next, key, value)
		if (!json_object_get(expected, key))
			json_object_del(got, key);
}
