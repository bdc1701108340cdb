// SPDX-License-Identifier: Apache-2.0
/* What becomes of a pod's status when the pod is over, and of the pod's object. */
#include <errno.h>
#include <string.h>

#include "core/kubelet/status_priv.h"

static bool ended_well(const struct podobj_container_state *state)
{
	return state->kind == PODOBJ_TERMINATED && state->exit_code == 0;
}

/* Whether the last init container is through: over with success, or, a sidecar, up and started. */
static bool last_init_is_through(const struct podobj_pod *pod)
{
	const struct podobj_statuses *statuses = &pod->status.inits;
	const struct podobj_container *init;
	const struct podobj_status *last;

	if (statuses->n == 0 || statuses->n > pod->inits.n)
		return false;
	last = &statuses->items[statuses->n - 1];
	init = &pod->inits.items[statuses->n - 1];
	if (strcmp(last->name, init->name) != 0)
		return false;
	if (podobj_is_sidecar(init))
		return last->state.kind == PODOBJ_RUNNING && podobj_is_started(last);
	return ended_well(&last->last) || ended_well(&last->state);
}

static bool ever_started(const struct podobj_status *status)
{
	return status->state.kind != PODOBJ_WAITING || status->last.kind == PODOBJ_TERMINATED;
}

static bool was_initialized(const struct podobj_pod *pod)
{
	if (pod->inits.n == 0)
		return true;
	for (size_t i = 0; i < pod->status.containers.n; i++) {
		if (ever_started(&pod->status.containers.items[i]))
			return true;
	}
	return last_init_is_through(pod);
}

/* How many init containers were ever tried: all up to the last one that shows it, or the first. */
static size_t tried(const struct podobj_statuses *inits)
{
	size_t n = inits->n;

	while (n > 1 && !ever_started(&inits->items[n - 1]))
		n--;
	return n;
}

/* Gives the first n an end that nobody saw, if they have none. */
static int end_first(struct podobj_statuses *statuses, size_t n, struct arena *arena)
{
	struct podobj_status *items = arena_array(arena, statuses->n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < statuses->n; i++) {
		items[i] = statuses->items[i];
		if (i >= n || items[i].state.kind == PODOBJ_TERMINATED)
			continue;
		items[i].state = podobj_no_state();
		items[i].state.kind = PODOBJ_TERMINATED;
		items[i].state.exit_code = CTRSTATUS_LOST_CODE;
		items[i].state.reason = CTRSTATUS_LOST;
		items[i].state.message = CTRSTATUS_LOST_TEXT;
	}
	statuses->items = items;
	return 0;
}

/* A static pod's phase stays, terminal or not (docs/kubelet-rules.md, "Killed pods"). */
static int end_phase(const struct podobj_pod *pod, struct arena *arena,
		     struct podobj_pod_status *status)
{
	struct podstatus_list list;
	int r = podstatus_list_new(arena, status->conditions.n + 2, &list);

	if (r < 0)
		return r;
	if (!pod->is_static && !podobj_phase_is_terminal(status->phase))
		status->phase = "Failed";
	for (size_t i = 0; i < status->conditions.n; i++)
		podstatus_list_add(&list, &status->conditions.items[i]);
	podstatus_settle(&list, status->phase, &status->conditions, 0);
	status->conditions = podstatus_list_done(&list);
	return 0;
}

int podstatus_terminate(const struct podobj_pod *pod, const struct podobj_pod_status *cached,
			struct arena *arena, struct podobj_pod_status *ret)
{
	struct podobj_pod_status status = cached ? *cached : pod->status;
	int r = 0;

	if (was_initialized(pod))
		r = end_first(&status.containers, status.containers.n, arena);
	if (r == 0)
		r = end_first(&status.inits, tried(&status.inits), arena);
	if (r == 0)
		r = end_phase(pod, arena, &status);
	if (r == 0)
		*ret = status;
	return r;
}

bool podstatus_may_delete(const struct podobj_pod *pod, bool finished)
{
	return pod->deleting && !pod->mirror && podobj_phase_is_terminal(pod->status.phase) &&
	       finished;
}

bool podstatus_has_ended(const struct podobj_status *former, const struct podobj_status *status)
{
	return status->state.kind == PODOBJ_TERMINATED &&
	       (!former || former->state.kind != PODOBJ_TERMINATED);
}

struct follow {
	const struct podphase_rules *rules;
	enum meta_restart_policy policy;
	const struct podobj_containers *containers;
	const struct podobj_statuses *former, *next;
	bool are_inits;
};

/* Whether the container of this name is back from an end for good. */
static bool came_back(const struct follow *f, const struct podobj_container *container)
{
	const struct podobj_status *former = podobj_status_of(f->former, container->name);
	const struct podobj_status *next = podobj_status_of(f->next, container->name);
	enum podphase_restart by;

	if (!former || former->state.kind != PODOBJ_TERMINATED || !next ||
	    next->state.kind == PODOBJ_TERMINATED)
		return false;
	if (f->are_inits && f->rules->sidecars && podobj_is_sidecar(container))
		return false;
	return !podphase_restarts(f->rules, f->policy, container, &former->state, &by);
}

bool podstatus_may_follow(const struct podphase_rules *rules, const struct podobj_pod *pod,
			  const struct podobj_pod_status *former,
			  const struct podobj_pod_status *next, struct podobj_ref *ret_because)
{
	const struct follow lists[] = {
		{rules, pod->restart_policy, &pod->inits, &former->inits, &next->inits, true},
		{rules, pod->restart_policy, &pod->containers, &former->containers,
		 &next->containers, false},
	};

	/* A restart in place starts them all, whatever their policies say. */
	if (rules->restart_all &&
	    podobj_condition_is_true(&next->conditions, PODCOND_RESTARTING_ALL))
		return true;
	for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
		for (size_t i = 0; i < lists[l].containers->n; i++) {
			if (!came_back(&lists[l], &lists[l].containers->items[i]))
				continue;
			*ret_because = (struct podobj_ref){
				.list = lists[l].are_inits ? PODOBJ_INITS : PODOBJ_CONTAINERS,
				.index = i,
			};
			return false;
		}
	}
	return true;
}
