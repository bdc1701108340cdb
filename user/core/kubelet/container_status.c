// SPDX-License-Identifier: Apache-2.0
/* Converts the runtime's records of containers into the statuses that the API gets. */
#include "core/kubelet/container_status.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

#define LOST_TEXT_DELETED                                                    \
	"The container could not be located when the pod was deleted.  The " \
	"container used to be Running"
#define INIT_DONE_TEXT                                                                              \
	"Unable to get init container status from container runtime and pod has been initialized, " \
	"treat it as exited normally"
#define RESTARTING	"RestartingAllContainers"
#define RESTARTING_TEXT "The container is removed because RestartAllContainers in place"

const struct ctrstatus_record *ctrstatus_newest(const struct ctrstatus_record *records, size_t n,
						const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(records[i].name, name) == 0)
			return &records[i];
	}
	return NULL;
}

static struct podobj_container_state waiting(const char *reason, const char *message)
{
	struct podobj_container_state state = podobj_no_state();

	state.kind = PODOBJ_WAITING;
	state.reason = reason;
	state.message = message;
	return state;
}

static struct podobj_container_state ended(int32_t exit_code, const char *reason,
					   const char *message)
{
	struct podobj_container_state state = podobj_no_state();

	state.kind = PODOBJ_TERMINATED;
	state.exit_code = exit_code;
	state.reason = reason;
	state.message = message;
	return state;
}

static void count_restart(struct podobj_status *status, int64_t former)
{
	status->restarts = former < INT32_MAX ? former + 1 : former;
}

/* The status of a container of which the runtime has no record. */
static struct podobj_status default_status(const struct ctrstatus_in *in,
					   const struct podobj_container *container,
					   const struct podobj_status *old)
{
	struct podobj_status status = podobj_no_status(container->name);

	if (old && old->state.kind == PODOBJ_TERMINATED)
		return *old;
	status.image = container->image;
	status.state = waiting(in->has_inits ? "PodInitializing" : "ContainerCreating", "");
	if (old) {
		status.restarts = old->restarts;
		status.last = old->last;
	}
	return status;
}

/* The same, for one that was reported before or that must have run by now. */
static void fill_missing(const struct ctrstatus_in *in, const struct podobj_container *container,
			 const struct podobj_status *old, struct podobj_status *status)
{
	if (old && in->restarting_all && old->state.kind != PODOBJ_WAITING) {
		status->state = waiting(RESTARTING, RESTARTING_TEXT);
		status->last = ended(CTRSTATUS_LOST_CODE, RESTARTING, RESTARTING_TEXT);
		count_restart(status, old->restarts);
		return;
	}
	if (status->state.kind == PODOBJ_TERMINATED)
		return;
	if (in->are_inits && in->regular_created && !podobj_is_sidecar(container)) {
		status->state = ended(0, "Completed", INIT_DONE_TEXT);
		return;
	}
	if (!old || old->state.kind != PODOBJ_RUNNING || status->last.kind == PODOBJ_TERMINATED)
		return;
	status->last = ended(CTRSTATUS_LOST_CODE, CTRSTATUS_LOST, LOST_TEXT_DELETED);
	if (!in->pod->deleting)
		count_restart(status, old->restarts);
}

static struct podobj_container_state exit_of(const struct ctrstatus_record *record)
{
	struct podobj_container_state state =
		ended(record->exit_code, record->reason, record->message);

	state.started_wall_ns = record->started_wall_ns;
	state.finished_wall_ns = record->finished_wall_ns;
	state.id = record->id;
	return state;
}

/* The state by the runtime's record. */
static void set_state(const struct ctrstatus_in *in, const struct ctrstatus_record *record,
		      const struct podobj_status *old, struct podobj_status *status)
{
	switch (record->state) {
	case CTRSTATUS_RUNNING:
		status->state.kind = PODOBJ_RUNNING;
		status->state.started_wall_ns = record->started_wall_ns;
		if (old)
			status->started = old->started;
		/* The runtime counts anew when it has lost the container before this one. */
		if (old && old->state.kind == PODOBJ_TERMINATED &&
		    old->restarts >= record->restarts)
			count_restart(status, old->restarts);
		return;
	case CTRSTATUS_EXITED:
		status->state = exit_of(record);
		return;
	case CTRSTATUS_UNKNOWN:
		if (!old || old->state.kind != PODOBJ_RUNNING)
			break;
		status->state =
			ended(CTRSTATUS_LOST_CODE, in->restarting_all ? RESTARTING : CTRSTATUS_LOST,
			      CTRSTATUS_LOST_TEXT);
		count_restart(status, old->restarts);
		return;
	case CTRSTATUS_CREATED:
		break;
	}
	status->state = waiting("", "");
}

static struct podobj_status status_of(const struct ctrstatus_in *in,
				      const struct ctrstatus_record *record,
				      const struct podobj_status *old)
{
	struct podobj_status status = podobj_no_status(record->name);

	status.image = record->image;
	status.image_id = record->image_id;
	status.id = record->id;
	status.restarts = record->restarts;
	if (old) {
		if (old->restarts > status.restarts)
			status.restarts = old->restarts;
		/* What was reported as this container's end is the end of the one before, if the
		 * runtime has another now. */
		status.last = old->last;
		if (old->state.kind == PODOBJ_TERMINATED && strcmp(old->id, record->id) != 0)
			status.last = old->state;
	}
	set_state(in, record, old, &status);
	return status;
}

/* The newest record is the state, the second newest the last state. */
static struct podobj_status from_records(const struct ctrstatus_in *in,
					 const struct ctrstatus_record *newest,
					 const struct podobj_status *old)
{
	struct podobj_status status = status_of(in, newest, old);
	size_t left = in->n_records - (size_t)(newest - in->records) - 1;
	const struct ctrstatus_record *second = ctrstatus_newest(newest + 1, left, newest->name);

	if (second)
		status.last = status_of(in, second, old).state;
	return status;
}

/* Whether the kubelet's next sync would start it. */
static bool is_due(const struct ctrstatus_in *in, const struct podobj_container *container,
		   const struct ctrstatus_record *newest)
{
	enum podphase_restart by;
	struct podobj_container_state end;

	if (in->pod->deleting)
		return false;
	if (!newest || newest->state == CTRSTATUS_UNKNOWN || newest->state == CTRSTATUS_CREATED)
		return true;
	if (newest->state == CTRSTATUS_RUNNING)
		return false;
	if (in->are_inits && newest->exit_code == 0)
		return false;
	end = exit_of(newest);
	return podphase_restarts(&in->rules, in->pod->restart_policy, container, &end, &by);
}

/* A container that is to be started again waits, with the reason why it could not be. */
static void fill_failure(const struct ctrstatus_in *in, const struct podobj_container *container,
			 const struct ctrstatus_record *newest, struct podobj_status *status)
{
	const struct ctrstatus_failure *failure = NULL;

	for (size_t i = 0; i < in->n_failures && !failure; i++) {
		if (strcmp(in->failures[i].name, container->name) == 0)
			failure = &in->failures[i];
	}
	if (!failure || !is_due(in, container, newest))
		return;
	if (status->state.kind == PODOBJ_TERMINATED)
		status->last = status->state;
	status->state = waiting(failure->reason, failure->message);
}

int ctrstatus_convert(const struct ctrstatus_in *in, struct arena *arena,
		      struct podobj_statuses *ret)
{
	struct podobj_status *items = arena_array(arena, in->containers.n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < in->containers.n; i++) {
		const struct podobj_container *container = &in->containers.items[i];
		const struct podobj_status *old = podobj_status_of(&in->previous, container->name);
		const struct ctrstatus_record *newest =
			ctrstatus_newest(in->records, in->n_records, container->name);

		if (newest) {
			items[i] = from_records(in, newest, old);
		} else {
			items[i] = default_status(in, container, old);
			fill_missing(in, container, old, &items[i]);
		}
		fill_failure(in, container, newest, &items[i]);
	}
	*ret = (struct podobj_statuses){.items = items, .n = in->containers.n};
	return 0;
}

/* Cuts at the end of a character. */
static int cut(struct podobj_container_state *state, size_t limit, struct arena *arena)
{
	char *copy;

	if (state->kind != PODOBJ_TERMINATED || strnlen(state->message, limit + 1) <= limit)
		return 0;
	copy = arena_strndup(arena, state->message, utf8_fit(state->message, limit + 1, limit));
	if (!copy)
		return -ENOMEM;
	state->message = copy;
	return 0;
}

int ctrstatus_cut_messages(struct podobj_statuses *statuses, size_t n_containers,
			   struct arena *arena)
{
	size_t limit = CTRSTATUS_MESSAGES_MAX / (n_containers ? n_containers : 1);
	struct podobj_status *items = arena_array(arena, statuses->n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < statuses->n; i++) {
		items[i] = statuses->items[i];
		if (cut(&items[i].state, limit, arena) < 0 || cut(&items[i].last, limit, arena) < 0)
			return -ENOMEM;
	}
	statuses->items = items;
	return 0;
}
