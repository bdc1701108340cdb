// SPDX-License-Identifier: Apache-2.0
/* Writes a pod's status, member by member. */
#include "wire/kubernetes/pod_write.h"

#include <string.h>

#include "base/rfc3339.h"
#include "wire/json/writer.h"

static void add_text(struct buf *out, const char *key, const char *text)
{
	if (*text)
		jsonw_str(out, key, text);
}

static void add_time(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[RFC3339_SIZE];
	char *fraction;

	if (wall_ns == 0)
		return;
	rfc3339_format(wall_ns, text);
	fraction = strchr(text, '.');
	if (fraction)
		memcpy(fraction, "Z", 2);
	jsonw_str(out, key, text);
}

static void add_condition(struct buf *out, const char *key,
			  const struct podobj_condition *condition)
{
	jsonw_object(out, key);
	jsonw_str(out, "type", condition->type);
	jsonw_str(out, "status", condition->status);
	add_time(out, "lastTransitionTime", condition->transition_wall_ns);
	add_text(out, "reason", condition->reason);
	add_text(out, "message", condition->message);
	jsonw_object_end(out);
}

static void add_terminated(struct buf *out, const struct podobj_container_state *state)
{
	jsonw_object(out, "terminated");
	jsonw_i64(out, "exitCode", state->exit_code);
	if (state->signal)
		jsonw_i64(out, "signal", state->signal);
	add_text(out, "reason", state->reason);
	add_text(out, "message", state->message);
	add_time(out, "startedAt", state->started_wall_ns);
	add_time(out, "finishedAt", state->finished_wall_ns);
	add_text(out, "containerID", state->id);
	jsonw_object_end(out);
}

static void add_state(struct buf *out, const char *key, const struct podobj_container_state *state)
{
	jsonw_object(out, key);
	switch (state->kind) {
	case PODOBJ_WAITING:
		jsonw_object(out, "waiting");
		add_text(out, "reason", state->reason);
		add_text(out, "message", state->message);
		jsonw_object_end(out);
		break;
	case PODOBJ_RUNNING:
		jsonw_object(out, "running");
		add_time(out, "startedAt", state->started_wall_ns);
		jsonw_object_end(out);
		break;
	case PODOBJ_TERMINATED:
		add_terminated(out, state);
		break;
	case PODOBJ_NONE:
		break;
	}
	jsonw_object_end(out);
}

static void add_container(struct buf *out, const struct podobj_status *status)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "name", status->name);
	add_state(out, "state", &status->state);
	add_state(out, "lastState", &status->last);
	jsonw_bool(out, "ready", status->ready);
	jsonw_i64(out, "restartCount", status->restarts);
	jsonw_str(out, "image", status->image);
	jsonw_str(out, "imageID", status->image_id);
	add_text(out, "containerID", status->id);
	if (status->started != PODOBJ_STARTED_UNKNOWN)
		jsonw_bool(out, "started", podobj_is_started(status));
	jsonw_object_end(out);
}

static void add_containers(struct buf *out, const char *key, const struct podobj_statuses *statuses)
{
	if (statuses->n == 0)
		return;
	jsonw_array(out, key);
	for (size_t i = 0; i < statuses->n; i++)
		add_container(out, &statuses->items[i]);
	jsonw_array_end(out);
}

void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status)
{
	jsonw_object(out, key);
	add_text(out, "phase", status->phase);
	if (status->conditions.n > 0) {
		jsonw_array(out, "conditions");
		for (size_t i = 0; i < status->conditions.n; i++)
			add_condition(out, NULL, &status->conditions.items[i]);
		jsonw_array_end(out);
	}
	add_text(out, "message", status->message);
	add_text(out, "reason", status->reason);
	add_containers(out, "initContainerStatuses", &status->inits);
	add_containers(out, "containerStatuses", &status->containers);
	add_containers(out, "ephemeralContainerStatuses", &status->ephemerals);
	jsonw_object_end(out);
}
