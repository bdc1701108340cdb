// SPDX-License-Identifier: Apache-2.0
/* Makes the last status of a pod that a node shutdown has ended. */
#include "core/kubelet/ending.h"

#include <errno.h>
#include <string.h>

#include "core/kubelet/status.h"

/* The kubelet whose rules of phases are followed, 1.36. */
#define RULES_MINOR 36

struct making {
	const struct kubelet_ending *ending;
	struct arena *arena;
	const struct podobj_pod *pod;
	struct ctrstatus_record *records;
	size_t n_records;
};

/* "containerd://0f76..." is of the container 0f76... */
static bool is_of(const char *api_id, const char *id)
{
	const char *at = strstr(api_id, "://");

	return at && *id && strcmp(at + 3, id) == 0;
}

static const struct podobj_status *find_status(const struct podobj_pod *pod, const char *id)
{
	const struct podobj_statuses *lists[] = {&pod->status.inits, &pod->status.containers,
						 &pod->status.ephemerals};

	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			if (is_of(lists[l]->items[i].id, id))
				return &lists[l]->items[i];
	return NULL;
}

static const struct podobj_container *find_container(const struct podobj_pod *pod, const char *name)
{
	const struct podobj_containers *lists[] = {&pod->inits, &pod->containers, &pod->ephemerals};

	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			if (strcmp(lists[l]->items[i].name, name) == 0)
				return &lists[l]->items[i];
	return NULL;
}

/* As a runtime has it where it has provided no reason (docs/kubelet-rules.md, "Container
 * statuses"). */
static const char *reason_of(const struct podend_exit *exit)
{
	if (*exit->reason)
		return exit->reason;
	if (exit->oom)
		return "OOMKilled";
	return exit->code == 0 ? "Completed" : "Error";
}

static char *join_id(struct arena *arena, const struct podend_exit *exit)
{
	size_t runtime = strlen(exit->runtime), id = strlen(exit->id);
	char *text = arena_alloc(arena, runtime + id + 4);

	if (!text)
		return NULL;
	memcpy(text, exit->runtime, runtime);
	memcpy(text + runtime, "://", 3);
	memcpy(text + runtime + 3, exit->id, id + 1);
	return text;
}

/* The record that the runtime would have of it. 1: it is of no container of the pod. */
static int make_record(const struct making *m, const struct podend_exit *exit,
		       struct ctrstatus_record *ret)
{
	const struct podobj_status *old = find_status(m->pod, exit->id);
	const struct podobj_container *container =
		find_container(m->pod, old ? old->name : exit->name);
	const char *id = old ? old->id : "";

	if (!container)
		return 1;
	if (!old && *exit->runtime)
		id = join_id(m->arena, exit);
	if (!id)
		return -ENOMEM;
	*ret = (struct ctrstatus_record){
		.name = container->name,
		.id = id,
		.image = old ? old->image : container->image,
		.image_id = old ? old->image_id : "",
		.state = CTRSTATUS_EXITED,
		.exit_code = exit->code,
		.reason = reason_of(exit),
		.message = "",
		.started_wall_ns = old && old->state.started_wall_ns ? old->state.started_wall_ns
								     : exit->started_wall_ns,
		.finished_wall_ns = exit->finished_wall_ns,
	};
	return 0;
}

/* The newest first, as rules of statuses want them. */
static void insert_record(struct making *m, const struct ctrstatus_record *record)
{
	size_t i = m->n_records++;

	for (; i > 0 && m->records[i - 1].finished_wall_ns < record->finished_wall_ns; i--)
		m->records[i] = m->records[i - 1];
	m->records[i] = *record;
}

static int make_records(struct making *m)
{
	m->records = arena_array(m->arena, m->ending->n_exits, sizeof(*m->records));
	if (!m->records)
		return -ENOMEM;
	for (size_t i = 0; i < m->ending->n_exits; i++) {
		struct ctrstatus_record record;
		int r = make_record(m, &m->ending->exits[i], &record);

		if (r < 0)
			return r;
		if (r == 0)
			insert_record(m, &record);
	}
	return 0;
}

/* What the kubelet's status function makes of the status when the node shuts down. */
static int mark_shutdown(const struct making *m, struct podobj_pod_status *status)
{
	const struct podobj_conditions *former = &m->pod->status.conditions;
	struct podobj_condition *items =
		arena_array(m->arena, former->n + 1, sizeof(*status->conditions.items));
	size_t n = 0;

	if (!items)
		return -ENOMEM;
	*status = m->pod->status;
	for (size_t i = 0; i < former->n; i++)
		if (strcmp(former->items[i].type, PODCOND_DISRUPTION) != 0)
			items[n++] = former->items[i];
	items[n++] = (struct podobj_condition){
		.type = PODCOND_DISRUPTION,
		.status = "True",
		.reason = disruption_cause_name(DISRUPTION_NODE_SHUTDOWN),
		.message = PODEND_MESSAGE,
		.transition_wall_ns = m->ending->now_wall_ns,
	};
	status->conditions = (struct podobj_conditions){.items = items, .n = n};
	status->phase = "Failed";
	status->reason = PODEND_REASON;
	status->message = PODEND_MESSAGE;
	return 0;
}

static bool has_run(const struct making *m)
{
	const struct podobj_pod *pod = m->pod;

	for (size_t i = 0; i < pod->containers.n; i++) {
		const char *name = pod->containers.items[i].name;
		const struct podobj_status *status =
			podobj_status_of(&pod->status.containers, name);

		if (ctrstatus_newest(m->records, m->n_records, name) ||
		    (status && status->state.kind != PODOBJ_WAITING &&
		     status->state.kind != PODOBJ_NONE))
			return true;
	}
	return false;
}

static int convert(const struct making *m, const struct podobj_containers *containers,
		   const struct podobj_statuses *previous, struct podobj_statuses *ret)
{
	const struct podobj_pod *pod = m->pod;
	const struct ctrstatus_in in = {
		.rules = podphase_rules_of(RULES_MINOR),
		.pod = pod,
		.containers = *containers,
		.previous = *previous,
		.are_inits = containers == &pod->inits,
		.has_inits = pod->inits.n > 0,
		.regular_created = has_run(m),
		.records = m->records,
		.n_records = m->n_records,
	};

	return ctrstatus_convert(&in, m->arena, ret);
}

/*
 * An end that was observed before the shutdown is in the API's status already, and one that was not
 * observed is podstatus_terminate()'s: without a record such a container is as the API has it.
 */
static void restore_unseen(const struct making *m, const struct podobj_statuses *previous,
			   struct podobj_statuses *made)
{
	struct podobj_status *items = (struct podobj_status *)made->items;

	for (size_t i = 0; i < made->n; i++) {
		const struct podobj_status *old = podobj_status_of(previous, items[i].name);

		if (!old)
			continue;
		if (!ctrstatus_newest(m->records, m->n_records, items[i].name))
			items[i] = *old;
		items[i].ready = false;
		if (old->started != PODOBJ_STARTED_UNKNOWN)
			items[i].started = PODOBJ_STARTED_NO;
	}
}

static int convert_all(const struct making *m, struct kubelet_in *ret)
{
	const struct podobj_pod_status *api = &m->pod->status;
	int r = convert(m, &m->pod->inits, &api->inits, &ret->inits);

	if (r == 0)
		r = convert(m, &m->pod->containers, &api->containers, &ret->containers);
	if (r == 0)
		r = convert(m, &m->pod->ephemerals, &api->ephemerals, &ret->ephemerals);
	if (r < 0)
		return r;
	restore_unseen(m, &api->inits, &ret->inits);
	restore_unseen(m, &api->containers, &ret->containers);
	restore_unseen(m, &api->ephemerals, &ret->ephemerals);
	return 0;
}

static int cut_messages(const struct making *m, struct podobj_pod_status *status)
{
	size_t n = m->pod->inits.n + m->pod->containers.n + m->pod->ephemerals.n;
	int r = ctrstatus_cut_messages(&status->inits, n, m->arena);

	if (r == 0)
		r = ctrstatus_cut_messages(&status->containers, n, m->arena);
	return r < 0 ? r : ctrstatus_cut_messages(&status->ephemerals, n, m->arena);
}

/* The status as the kubelet has it once every container has its end. */
static int compose(const struct making *m, struct podobj_pod_status *ret)
{
	struct podobj_pod_status marked, ends;
	struct podobj_pod shown = *m->pod;
	struct kubelet_in in = {
		.rules = podphase_rules_of(RULES_MINOR),
		.pod = m->pod,
		.cached = &marked,
		.killed = true,
		.initialized = has_run(m),
		.now_wall_ns = m->ending->now_wall_ns,
	};
	int r = mark_shutdown(m, &marked);

	if (r == 0)
		r = convert_all(m, &in);
	if (r < 0)
		return r;
	ends = marked;
	ends.inits = in.inits;
	ends.containers = in.containers;
	ends.ephemerals = in.ephemerals;
	shown.status = ends;
	r = podstatus_terminate(&shown, &ends, m->arena, &ends);
	if (r < 0)
		return r;
	in.inits = ends.inits;
	in.containers = ends.containers;
	r = podstatus_compose(&in, m->arena, ret, NULL);
	if (r < 0)
		return r;
	podstatus_keep_sandbox(m->pod, &ret->conditions);
	return cut_messages(m, ret);
}

static bool is_there(const struct podobj_pod_status *status)
{
	return podobj_phase_is_terminal(status->phase) &&
	       !podobj_condition_is_true(&status->conditions, PODCOND_READY) &&
	       !podobj_condition_is_true(&status->conditions, PODCOND_CONTAINERS_READY);
}

/* A static pod's object is its mirror, which has a UID of its own. A hash alone is a static pod's
 * UID: an annotation makes no other pod of one that the API made. */
static bool is_its(const struct podobj_pod *pod, const char *uid)
{
	if (!pod->mirror)
		return strcmp(pod->uid, uid) == 0;
	return meta_is_static_uid(uid) && strcmp(pod->static_uid, uid) == 0;
}

int podend_make(const struct kubelet_ending *ending, const struct podobj_pod *pod, const char *uid,
		struct arena *arena, struct podobj_pod_status *ret)
{
	struct making m = {.ending = ending, .arena = arena, .pod = pod};
	const struct podphase_rules rules = podphase_rules_of(RULES_MINOR);
	struct podobj_pod_status made;
	struct podobj_ref because;
	int r;

	if (!is_its(pod, uid))
		return PODEND_OTHER;
	if (is_there(&pod->status))
		return PODEND_THERE;
	r = make_records(&m);
	if (r == 0)
		r = compose(&m, &made);
	if (r < 0)
		return r;
	if (!podstatus_may_follow(&rules, pod, &pod->status, &made, &because))
		return PODEND_DROP;
	return podstatus_merge(&pod->status, &made, false, ending->now_wall_ns, arena, ret);
}
