// SPDX-License-Identifier: Apache-2.0
/* What a pod's status says, of the pod and of its containers. */
#include <errno.h>
#include <string.h>

#include "wire/kubernetes/pod_priv.h"
#include "wire/kubernetes/pods_priv.h"

static int read_words(struct podread *r, const json_t *json, const char **reason,
		      const char **message)
{
	int e = podread_text(r, json, "reason", PODREAD_NAME_MAX, reason);

	return e < 0 ? e : podread_text(r, json, "message", PODREAD_MESSAGE_MAX, message);
}

static int read_terminated(struct podread *r, const json_t *json,
			   struct podobj_container_state *state)
{
	int e;

	state->kind = PODOBJ_TERMINATED;
	if ((e = podread_int32(r, json, "exitCode", &state->exit_code)) < 0 ||
	    (e = podread_int32(r, json, "signal", &state->signal)) < 0 ||
	    (e = read_words(r, json, &state->reason, &state->message)) < 0 ||
	    (e = podread_time(r, json, "startedAt", &state->started_wall_ns)) < 0 ||
	    (e = podread_time(r, json, "finishedAt", &state->finished_wall_ns)) < 0)
		return e;
	return podread_text(r, json, "containerID", PODREAD_NAME_MAX, &state->id);
}

static int read_running(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	state->kind = PODOBJ_RUNNING;
	return podread_time(r, json, "startedAt", &state->started_wall_ns);
}

static int read_waiting(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	state->kind = PODOBJ_WAITING;
	return read_words(r, json, &state->reason, &state->message);
}

/* One of them at most; of several the kubelet itself looks at running first, then terminated. */
static int read_one_of(struct podread *r, const json_t *json, struct podobj_container_state *state)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json,
			    struct podobj_container_state *state);
	} kinds[] = {
		{"running", read_running},
		{"terminated", read_terminated},
		{"waiting", read_waiting},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *kind;
		int e = podread_object(r, json, kinds[i].key, &kind);

		if (e == 0 && !kind)
			continue;
		if (e == 0) {
			podread_enter(r, kinds[i].key, 0);
			e = kinds[i].read(r, kind, state);
			podread_leave(r);
		}
		return e;
	}
	return 0;
}

static int read_state(struct podread *r, const json_t *status, const char *key,
		      struct podobj_container_state *state)
{
	const json_t *json;
	int e = podread_object(r, status, key, &json);

	if (e < 0 || !json)
		return e;
	podread_enter(r, key, 0);
	e = read_one_of(r, json, state);
	podread_leave(r);
	return e;
}

static int read_started(struct podread *r, const json_t *json, enum podobj_started *ret)
{
	bool started = false;
	int e = podread_bool(r, json, "started", &started);

	if (e == 0 && podjson_get(json, "started"))
		*ret = started ? PODOBJ_STARTED_YES : PODOBJ_STARTED_NO;
	return e;
}

static int read_container_status(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_status *status = ret;
	int e;

	*status = podobj_no_status("");
	if ((e = podread_text(r, json, "name", PODREAD_NAME_MAX, &status->name)) < 0 ||
	    (e = podread_text(r, json, "image", PODREAD_MESSAGE_MAX, &status->image)) < 0 ||
	    (e = podread_text(r, json, "imageID", PODREAD_MESSAGE_MAX, &status->image_id)) < 0 ||
	    (e = podread_text(r, json, "containerID", PODREAD_NAME_MAX, &status->id)) < 0 ||
	    (e = podread_int32(r, json, "restartCount", &status->restarts)) < 0 ||
	    (e = podread_bool(r, json, "ready", &status->ready)) < 0 ||
	    (e = read_started(r, json, &status->started)) < 0 ||
	    (e = read_state(r, json, "state", &status->state)) < 0)
		return e;
	return read_state(r, json, "lastState", &status->last);
}

static int read_condition(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_condition *c = ret;
	int e;

	c->type = c->status = c->reason = c->message = "";
	if ((e = podread_text(r, json, "type", PODREAD_NAME_MAX, &c->type)) < 0 ||
	    (e = podread_text(r, json, "status", PODREAD_NAME_MAX, &c->status)) < 0 ||
	    (e = read_words(r, json, &c->reason, &c->message)) < 0)
		return e;
	return podread_time(r, json, "lastTransitionTime", &c->transition_wall_ns);
}

static int read_list(struct podread *r, const json_t *status, const char *key,
		     struct podobj_statuses *ret)
{
	ret->absent = podjson_get(status, key) == NULL;
	return podread_items(r, status, key, PODREAD_CONTAINERS_MAX, read_container_status,
			     sizeof(*ret->items), &ret->items, &ret->n);
}

int podread_status_in(struct podread *r, const json_t *status, struct podobj_pod_status *ret)
{
	int e;

	*ret = (struct podobj_pod_status){.phase = "", .reason = "", .message = ""};
	if ((e = podread_text(r, status, "phase", PODREAD_NAME_MAX, &ret->phase)) < 0 ||
	    (e = read_words(r, status, &ret->reason, &ret->message)) < 0 ||
	    (e = podread_items(r, status, "conditions", PODREAD_ITEMS_MAX, read_condition,
			       sizeof(*ret->conditions.items), &ret->conditions.items,
			       &ret->conditions.n)) < 0 ||
	    (e = read_list(r, status, "initContainerStatuses", &ret->inits)) < 0 ||
	    (e = read_list(r, status, "containerStatuses", &ret->containers)) < 0)
		return e;
	return read_list(r, status, "ephemeralContainerStatuses", &ret->ephemerals);
}

int podread_status(const json_t *json, struct arena *arena, struct podobj_pod_status *ret,
		   struct podread_error *ret_error)
{
	struct podread r = {.arena = arena, .error = ret_error};

	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	return podread_status_in(&r, json, ret);
}

int podread_statuses(const json_t *json, struct arena *arena, struct podobj_statuses *ret,
		     struct podread_error *ret_error)
{
	struct podread r = {.arena = arena, .error = ret_error};
	struct podobj_statuses statuses = {};
	json_t *around = json_object();
	int e = -ENOMEM;

	/* A list of its own is read as the member that it mostly is. */
	if (around && json_object_set(around, "containerStatuses", (json_t *)json) == 0)
		e = read_list(&r, around, "containerStatuses", &statuses);
	json_decref(around);
	if (e == 0)
		*ret = statuses;
	return e;
}
