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

static void add_list(const struct kubelet_in *in, enum podobj_list list,
		     const struct podobj_containers *containers,
		     const struct podobj_statuses *statuses, struct explain_container *items,
		     size_t *n)
{
	for (size_t i = 0; i < containers->n; i++) {
		struct explain_container *c = &items[(*n)++];

		c->ref = (struct podobj_ref){.list = list, .index = i};
		c->container = &containers->items[i];
		c->status = podobj_status_of(statuses, c->container->name);
		c->sidecar = list == PODOBJ_INITS && in->rules.sidecars &&
			     podobj_is_sidecar(c->container);
		if (list != PODOBJ_EPHEMERALS)
			c->view = podphase_view(in, c->ref);
	}
}

static int view_containers(const struct kubelet_in *in, struct arena *arena, struct explain *ret)
{
	const struct podobj_pod *pod = in->pod;
	size_t n = 0;
	struct explain_container *items = arena_array(
		arena, pod->inits.n + pod->containers.n + pod->ephemerals.n, sizeof(*items));

	if (!items)
		return -ENOMEM;
	add_list(in, PODOBJ_INITS, &pod->inits, &pod->status.inits, items, &n);
	add_list(in, PODOBJ_CONTAINERS, &pod->containers, &pod->status.containers, items, &n);
	add_list(in, PODOBJ_EPHEMERALS, &pod->ephemerals, &pod->status.ephemerals, items, &n);
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

static int make_status(const struct kubelet_in *in, struct arena *arena, struct explain *ret)
{
	const struct podobj_pod *pod = in->pod;
	int r = podstatus_compose(in, arena, &ret->status, &ret->by_containers);

	if (r < 0)
		return r;
	podstatus_keep_sandbox(pod, &ret->status.conditions);
	if (has_no_node(pod)) {
		ret->from = EXPLAIN_NO_NODE;
		ret->status = pod->status;
	} else if (podobj_phase_is_terminal(pod->status.phase)) {
		ret->from = EXPLAIN_API;
	} else if (in->deadline_passed) {
		ret->from = EXPLAIN_DEADLINE;
	}
	return 0;
}

/* A pod whose containers do not make it over, and which is, was killed: evicted, or shut down. */
static bool must_be_killed(const struct kubelet_in *in)
{
	const char *phase = meta_phase_name(podphase_of(in).phase);

	return in->killed || (podobj_phase_is_terminal(in->pod->status.phase) &&
			      !podobj_phase_is_terminal(phase));
}

/* --- notes ------------------------------------------------------------------------------------- */

static void note(struct explain *e, struct explain_note note)
{
	((struct explain_note *)e->notes)[e->n_notes++] = note;
}

/* The controller of nodes marks the pods of a node that went silent unready, and nothing else; a
 * readiness gate, which could, is not met by itself. */
static bool marked_silent(const struct podobj_pod *pod)
{
	const struct podobj_conditions *conditions = &pod->status.conditions;
	const struct podobj_condition *ready = podobj_condition_of(conditions, PODCOND_READY);

	return strcmp(pod->status.reason, "NodeLost") == 0 ||
	       (ready && strcmp(ready->status, "False") == 0 && !*ready->reason &&
		podobj_condition_is_true(conditions, PODCOND_CONTAINERS_READY));
}

static void note_deletion(struct explain *e, int64_t now_wall_ns)
{
	const struct podobj_pod *pod = e->pod;
	/* The API waits for no kubelet to confirm a deletion with a period of 0 s. */
	bool confirmed = !*pod->node || (pod->deletion_grace.set && pod->deletion_grace.s == 0);
	int64_t late;

	if (!pod->deleting)
		return;
	for (size_t i = 0; i < pod->n_finalizers; i++)
		note(e, (struct explain_note){.topic = EXPLAIN_FINALIZER,
					      .about = pod->finalizers[i]});
	if (confirmed || pod->deleted_wall_ns == 0 ||
	    __builtin_sub_overflow(now_wall_ns, pod->deleted_wall_ns, &late) ||
	    late < EXPLAIN_OVERDUE_NS)
		return;
	e->overdue_ns = late;
	note(e,
	     (struct explain_note){.topic = marked_silent(pod) ? EXPLAIN_SILENT : EXPLAIN_OVERDUE,
				   .about = ""});
}

/* In a pod that is to end by itself: its first regular container that is done for good. */
static const struct explain_container *find_done(const struct explain *e)
{
	for (size_t i = 0; i < e->n_containers; i++) {
		const struct explain_container *c = &e->containers[i];

		if (c->ref.list == PODOBJ_CONTAINERS && c->view.end && !c->view.restarts)
			return c;
	}
	return NULL;
}

static bool is_running(const struct explain_container *c)
{
	return c->status && c->status->state.kind == PODOBJ_RUNNING;
}

bool explain_runs(const struct explain *e)
{
	for (size_t i = 0; i < e->n_containers; i++)
		if (is_running(&e->containers[i]))
			return true;
	return false;
}

static void note_beside(struct explain *e)
{
	const struct explain_container *done = find_done(e);

	if (!done || e->pod->deleting || podobj_phase_is_terminal(e->status.phase))
		return;
	for (size_t i = 0; i < e->n_containers; i++) {
		const struct explain_container *c = &e->containers[i];

		if (c->ref.list == PODOBJ_CONTAINERS && is_running(c))
			note(e, (struct explain_note){.topic = EXPLAIN_BESIDE,
						      .about = c->container->name,
						      .end = done->view.end,
						      .done = done->container->name});
	}
}

/* The OOM killer ends by SIGKILL, and so does memory.oom.group: an init with another end was not
 * its victim. The present state says more than the last one. */
static void note_oom(struct explain *e, const struct explain_container *c)
{
	const struct podobj_status *status = c->status;
	const struct podobj_container_state *end;

	if (!status)
		return;
	end = status->state.kind == PODOBJ_TERMINATED ? &status->state : &status->last;
	if (end->kind == PODOBJ_TERMINATED && strcmp(end->reason, "OOMKilled") == 0 &&
	    end->exit_code != 137)
		note(e, (struct explain_note){.topic = EXPLAIN_OOM_CHILD,
					      .about = c->container->name,
					      .end = end});
}

/* generateAPIPodStatus() in pkg/kubelet/kubelet_pods.go writes it of each pod that a kubelet has.
 * Nothing schedules a static pod. */
static void note_scheduled(struct explain *e)
{
	const struct podobj_pod *pod = e->pod;

	if (e->from != EXPLAIN_NO_NODE &&
	    (pod->is_static ||
	     !podobj_condition_is_true(&pod->status.conditions, PODCOND_SCHEDULED)))
		note(e, (struct explain_note){.topic = EXPLAIN_SCHEDULED, .about = ""});
}

/* 0, -ENOMEM. */
static int add_notes(struct explain *e, struct arena *arena, int64_t now_wall_ns)
{
	e->notes = arena_array(arena, e->pod->n_finalizers + 2 * e->n_containers + 2,
			       sizeof(*e->notes));
	if (!e->notes)
		return -ENOMEM;
	note_deletion(e, now_wall_ns);
	note_beside(e);
	for (size_t i = 0; i < e->n_containers; i++)
		note_oom(e, &e->containers[i]);
	note_scheduled(e);
	return 0;
}

/* --- all of it --------------------------------------------------------------------------------- */

int explain_pod(const struct explain_in *in, struct arena *arena, struct explain *ret)
{
	const struct podobj_pod *pod = in->pod;
	struct kubelet_in kubelet = {
		.rules = podphase_rules_of(in->minor),
		.pod = pod,
		.inits = pod->status.inits,
		.containers = pod->status.containers,
		.ephemerals = pod->status.ephemerals,
		.killed = pod->deleting,
		.initialized = is_initialized(pod),
		.deadline_passed = podstatus_deadline_passed(pod, in->now_wall_ns),
		.now_wall_ns = in->now_wall_ns,
	};
	struct explain e = {.minor = in->minor, .pod = pod};
	int r;

	if (in->job)
		*(jobpolicy_is_of(in->job, pod) ? &e.job : &e.other_job) = in->job;

	/* A pod that has no status at all yet is not one whose statuses are missing. */
	kubelet.inits.absent = kubelet.containers.absent = false;
	e.killed = kubelet.killed = must_be_killed(&kubelet);
	r = view_containers(&kubelet, arena, &e);
	if (r == 0)
		r = make_status(&kubelet, arena, &e);
	if (r < 0)
		return r;
	if (e.job && strcmp(e.status.phase, "Failed") == 0)
		e.match = jobpolicy_match(e.job, &e.status);
	e.next = podnext_of(pod, e.status.phase, e.job, e.job ? &e.match : NULL);
	r = add_notes(&e, arena, in->now_wall_ns);
	if (r == 0)
		*ret = e;
	return r;
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
