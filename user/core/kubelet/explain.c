// SPDX-License-Identifier: Apache-2.0
/* Runs the kubelet's rules on a pod of the API's and keeps what they went by. */
#include "core/kubelet/explain.h"

#include <errno.h>
#include <string.h>

#include "core/kubelet/status.h"

static bool ever_ran(const struct podobj_status *status)
{
	return status &&
	       (status->state.kind == PODOBJ_RUNNING || status->state.kind == PODOBJ_TERMINATED ||
		status->last.kind == PODOBJ_TERMINATED || *status->id);
}

static bool is_initialized(const struct podobj_pod *pod)
{
	for (size_t i = 0; i < pod->containers.n; i++) {
		const char *name = pod->containers.items[i].name;

		if (ever_ran(podobj_status_of(&pod->status.containers, name)))
			return true;
	}
	return false;
}

static void add_list(const struct podphase_in *phase_in, enum podobj_list list,
		     const struct podobj_containers *containers,
		     const struct podobj_statuses *statuses, struct explain_container *items,
		     size_t *n)
{
	for (size_t i = 0; i < containers->n; i++) {
		struct explain_container *c = &items[(*n)++];

		c->ref = (struct podobj_ref){.list = list, .index = i};
		c->container = &containers->items[i];
		c->status = podobj_status_of(statuses, c->container->name);
		c->sidecar = list == PODOBJ_INITS && phase_in->rules.sidecars &&
			     podobj_is_sidecar(c->container);
		if (list != PODOBJ_EPHEMERALS)
			c->view = podphase_view(phase_in, c->ref);
	}
}

static int view_containers(const struct podphase_in *phase_in, struct arena *arena,
			   struct explain *ret)
{
	const struct podobj_pod *pod = phase_in->pod;
	size_t n = 0;
	struct explain_container *items = arena_array(
		arena, pod->inits.n + pod->containers.n + pod->ephemerals.n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	add_list(phase_in, PODOBJ_INITS, &pod->inits, &pod->status.inits, items, &n);
	add_list(phase_in, PODOBJ_CONTAINERS, &pod->containers, &pod->status.containers, items, &n);
	add_list(phase_in, PODOBJ_EPHEMERALS, &pod->ephemerals, &pod->status.ephemerals, items, &n);
	ret->containers = items;
	ret->n_containers = n;
	return 0;
}

/* Not scheduled, by all that the object has. */
static bool has_no_node(const struct podobj_pod *pod)
{
	const struct podobj_pod_status *status = &pod->status;

	return !*pod->node && status->inits.n == 0 && status->containers.n == 0 &&
	       !podobj_phase_is_terminal(status->phase) &&
	       !podobj_condition_is_true(&status->conditions, PODCOND_SCHEDULED);
}

static int make_status(const struct explain_in *in, const struct podphase_in *phase_in,
		       struct arena *arena, struct explain *ret)
{
	const struct podobj_pod *pod = in->pod;
	struct podstatus_in status_in = {
		.rules = phase_in->rules,
		.pod = pod,
		.inits = phase_in->inits,
		.containers = phase_in->containers,
		.ephemerals = pod->status.ephemerals,
		.killed = phase_in->killed,
		.initialized = phase_in->initialized,
		.deadline_passed = podstatus_deadline_passed(pod, in->now_wall_ns),
		.now_wall_ns = in->now_wall_ns,
	};
	int r = podstatus_compose(&status_in, arena, &ret->status, &ret->by_containers);

	if (r < 0)
		return r;
	podstatus_keep_sandbox(pod, &ret->status.conditions);
	if (has_no_node(pod)) {
		ret->from = EXPLAIN_NO_NODE;
		ret->status = pod->status;
	} else if (podobj_phase_is_terminal(pod->status.phase)) {
		ret->from = EXPLAIN_API;
	} else if (status_in.deadline_passed) {
		ret->from = EXPLAIN_DEADLINE;
	}
	return 0;
}

/* A pod whose containers do not make it over, and which is, was killed: evicted, or shut down. */
static bool must_be_killed(const struct podphase_in *in)
{
	const char *phase = podobj_phase_name(podphase_of(in).phase);

	return in->killed || (podobj_phase_is_terminal(in->pod->status.phase) &&
			      !podobj_phase_is_terminal(phase));
}

int explain_pod(const struct explain_in *in, struct arena *arena, struct explain *ret)
{
	const struct podobj_pod *pod = in->pod;
	struct podphase_in phase_in = {
		.rules = podphase_rules_of(in->minor),
		.pod = pod,
		.inits = pod->status.inits,
		.containers = pod->status.containers,
		.killed = pod->deleting,
		.initialized = is_initialized(pod),
	};
	struct explain e = {.minor = in->minor, .pod = pod};
	int r;

	if (in->job)
		*(jobpolicy_is_of(in->job, pod) ? &e.job : &e.other_job) = in->job;

	/* A pod that has no status at all yet is not one whose statuses are missing. */
	phase_in.inits.absent = phase_in.containers.absent = false;
	e.killed = phase_in.killed = must_be_killed(&phase_in);
	r = view_containers(&phase_in, arena, &e);
	if (r == 0)
		r = make_status(in, &phase_in, arena, &e);
	if (r < 0)
		return r;
	if (e.job && strcmp(e.status.phase, "Failed") == 0)
		e.match = jobpolicy_match(e.job, &e.status);
	e.next = podnext_of(pod, e.status.phase, e.job, e.job ? &e.match : NULL);
	*ret = e;
	return 0;
}

const char *explain_restart(const struct explain *e, const struct explain_container *c,
			    bool *ret_restarts)
{
	const char *by = podphase_restart_name(c->view.by);

	if (!by)
		return NULL;
	*ret_restarts = false;
	if (e->pod->deleting)
		return "pod-deleted";
	if (podobj_phase_is_terminal(e->status.phase) && c->view.restarts)
		return "pod-over";
	*ret_restarts = c->view.restarts;
	return by;
}

const struct explain_container *explain_because(const struct explain *e)
{
	struct podobj_ref ref = e->by_containers.because;

	for (size_t i = 0; i < e->n_containers; i++) {
		if (e->containers[i].ref.list == ref.list &&
		    e->containers[i].ref.index == ref.index)
			return &e->containers[i];
	}
	return NULL;
}

const char *explain_from_name(enum explain_from from)
{
	static const char *const names[EXPLAIN_FROM_COUNT] = {
		[EXPLAIN_CONTAINERS] = "containers",
		[EXPLAIN_API] = "api",
		[EXPLAIN_DEADLINE] = "deadline",
		[EXPLAIN_NO_NODE] = "no-node",
	};

	return (unsigned int)from < EXPLAIN_FROM_COUNT ? names[from] : NULL;
}
