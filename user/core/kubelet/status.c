// SPDX-License-Identifier: Apache-2.0
/*
 * Composes a pod's status from its containers', what was reported before and what the API has;
 * merges it with the API's; and says what becomes of it when the pod is over.
 */
#include "core/kubelet/status.h"

#include <errno.h>
#include <string.h>

#include "base/time.h"

/* Conditions the kubelet adds by itself, and what settle() may. */
#define OWN_CONDITIONS 8

/* Conditions while they are made: room for max of them. */
struct list {
	struct podobj_condition *items;
	size_t n, max;
};

/* 0, -ENOMEM. */
static int list_new(struct arena *arena, size_t max, struct list *ret)
{
	struct podobj_condition *items = arena_array(arena, max, sizeof(*items));

	if (!items)
		return -ENOMEM;
	*ret = (struct list){.items = items, .max = max};
	return 0;
}

/* Beyond max it is left out: callers make the room they need. */
static void list_add(struct list *list, const struct podobj_condition *condition)
{
	if (list->n < list->max)
		list->items[list->n++] = *condition;
}

/* In the place of the first of its type, or at the end. */
static void list_put(struct list *list, const struct podobj_condition *condition)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, condition->type) == 0) {
			list->items[i] = *condition;
			return;
		}
	}
	list_add(list, condition);
}

static struct podobj_conditions list_done(const struct list *list)
{
	return (struct podobj_conditions){.items = list->items, .n = list->n};
}

/* The time of transition: the former one's while the status is the same. */
static void stamp(struct podobj_condition *condition, const struct podobj_conditions *former,
		  int64_t now_wall_ns)
{
	const struct podobj_condition *before = podobj_condition_of(former, condition->type);

	if (before && strcmp(before->status, condition->status) == 0)
		condition->transition_wall_ns = before->transition_wall_ns;
	else
		condition->transition_wall_ns = now_wall_ns;
}

static bool says_ready(const struct podobj_condition *condition)
{
	return strcmp(condition->status, "True") == 0 &&
	       (strcmp(condition->type, PODCOND_READY) == 0 ||
		strcmp(condition->type, PODCOND_CONTAINERS_READY) == 0);
}

/* docs/kubelet-rules.md, "Terminal pods are not ready". list has room for two more. */
static void settle(struct list *list, const char *phase, const struct podobj_conditions *former,
		   int64_t now_wall_ns)
{
	static const char *const types[] = {PODCOND_CONTAINERS_READY, PODCOND_READY};
	bool any = false;

	if (!podobj_phase_is_terminal(phase))
		return;
	for (size_t i = 0; i < list->n; i++)
		any |= says_ready(&list->items[i]);
	for (size_t i = 0; any && i < sizeof(types) / sizeof(types[0]); i++) {
		struct podobj_condition over = podcond_over(types[i], phase);

		stamp(&over, former, now_wall_ns);
		list_put(list, &over);
		/* A list that somebody made may have a type more than once. */
		for (size_t j = 0; j < list->n; j++) {
			if (strcmp(list->items[j].type, types[i]) == 0 &&
			    says_ready(&list->items[j]))
				list->items[j] = over;
		}
	}
}

/* What the API has from others, then what is the kubelet's; the disruption that the kubelet itself
 * is about to carry out goes with the phase (docs/kubelet-rules.md, "Status merge"). */
static void merge_conditions(const struct podobj_conditions *api,
			     const struct podobj_conditions *kubelet, bool ends,
			     int64_t now_wall_ns, struct list *list)
{
	for (size_t i = 0; i < api->n; i++) {
		if (!podcond_is_kubelets(api->items[i].type))
			list_add(list, &api->items[i]);
	}
	for (size_t i = 0; i < kubelet->n; i++) {
		struct podobj_condition condition = kubelet->items[i];

		if (podcond_is_kubelets(condition.type)) {
			list_add(list, &condition);
		} else if (ends && strcmp(condition.type, PODCOND_DISRUPTION) == 0) {
			stamp(&condition, api, now_wall_ns);
			list_put(list, &condition);
		}
	}
}

int podstatus_merge(const struct podobj_pod_status *api, const struct podobj_pod_status *kubelet,
		    bool may_run, int64_t now_wall_ns, struct arena *arena,
		    struct podobj_pod_status *ret)
{
	bool ends =
		!podobj_phase_is_terminal(api->phase) && podobj_phase_is_terminal(kubelet->phase);
	struct podobj_pod_status merged = *kubelet;
	struct list list;
	int r = list_new(arena, api->conditions.n + kubelet->conditions.n + 2, &list);

	if (r < 0)
		return r;
	merge_conditions(&api->conditions, &kubelet->conditions, ends && !may_run, now_wall_ns,
			 &list);
	if (ends && may_run) {
		merged.phase = api->phase;
		merged.reason = api->reason;
		merged.message = api->message;
	}
	settle(&list, merged.phase, &api->conditions, now_wall_ns);
	merged.conditions = list_done(&list);
	*ret = merged;
	return 0;
}

/* --- composing -------------------------------------------------------------------------------- */

bool podstatus_deadline_passed(const struct podobj_pod *pod, int64_t now_wall_ns)
{
	int64_t deadline;

	if (!pod->deadline.set || pod->start_wall_ns == 0)
		return false;
	if (__builtin_mul_overflow(pod->deadline.s, NS_PER_S, &deadline) ||
	    __builtin_add_overflow(pod->start_wall_ns, deadline, &deadline))
		return pod->deadline.s < 0;
	return now_wall_ns >= deadline;
}

static const char *first_given(const char *a, const char *b)
{
	return *a ? a : b;
}

/* The phase, its reason and message (docs/kubelet-rules.md, "Status composition"). */
static void compose_phase(const struct kubelet_in *in, const struct podobj_pod_status *former,
			  const struct podphase *phase, struct podobj_pod_status *ret)
{
	const struct podobj_pod_status *api = &in->pod->status;

	ret->phase = meta_phase_name(phase->phase);
	if (!podobj_phase_is_terminal(ret->phase)) {
		if (podobj_phase_is_terminal(former->phase))
			ret->phase = former->phase;
		else if (podobj_phase_is_terminal(api->phase))
			ret->phase = api->phase;
	}
	if (strcmp(ret->phase, former->phase) == 0) {
		ret->reason = first_given(former->reason, api->reason);
		ret->message = first_given(former->message, api->message);
	}
	if (in->deadline_passed) {
		ret->phase = "Failed";
		ret->reason = "DeadlineExceeded";
		ret->message = "Pod was active on the node longer than the specified deadline";
	}
	if (podobj_phase_is_terminal(api->phase))
		ret->phase = api->phase;
}

static void add_stamped(const struct kubelet_in *in, struct podobj_condition *condition,
			struct list *list)
{
	stamp(condition, &in->former, in->now_wall_ns);
	list_add(list, condition);
}

static void add_foreign(const struct kubelet_in *in, struct list *list)
{
	const struct podobj_conditions *api = &in->pod->status.conditions;
	const struct podobj_condition *disruption =
		podobj_condition_of(&in->former, PODCOND_DISRUPTION);

	for (size_t i = 0; i < api->n; i++) {
		if (!podcond_is_kubelets(api->items[i].type))
			list_add(list, &api->items[i]);
	}
	if (disruption)
		list_put(list, disruption);
}

/* Those that containers decide on. The gates may be any condition that is there already. */
static int add_own(struct kubelet_in *in, struct arena *arena, struct list *list)
{
	static int (*const make[])(const struct kubelet_in *, struct arena *,
				   struct podobj_condition *) = {
		podcond_initialized,
		podcond_ready,
		podcond_containers_ready,
	};

	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		struct podobj_condition condition;
		int r;

		in->gates = list_done(list);
		r = make[i](in, arena, &condition);
		if (r < 0)
			return r;
		add_stamped(in, &condition, list);
	}
	return 0;
}

/* Foreign conditions, then the kubelet's own. */
static int compose_conditions(struct kubelet_in *in, struct arena *arena,
			      struct podobj_conditions *ret)
{
	struct podobj_condition ready_to_start =
		podcond_ready_to_start(in->sandboxes, in->n_sandboxes, in->pod->host_network);
	struct podobj_condition scheduled = {
		.type = PODCOND_SCHEDULED, .status = "True", .reason = "", .message = ""};
	struct list list;
	int r = list_new(arena, in->pod->status.conditions.n + OWN_CONDITIONS, &list);

	if (r < 0)
		return r;
	add_foreign(in, &list);
	add_stamped(in, &ready_to_start, &list);
	r = add_own(in, arena, &list);
	if (r < 0)
		return r;
	add_stamped(in, &scheduled, &list);
	if (in->rules.restart_all && podcond_may_restart_all(in->pod)) {
		struct podobj_condition restarting =
			podcond_restarting_all(in, in->records, in->n_records);

		add_stamped(in, &restarting, &list);
	}
	settle(&list, in->phase, &in->former, in->now_wall_ns);
	*ret = list_done(&list);
	return 0;
}

int podstatus_compose(const struct kubelet_in *in, struct arena *arena,
		      struct podobj_pod_status *ret, struct podphase *ret_phase)
{
	const struct podobj_pod_status *former = in->cached ? in->cached : &in->pod->status;
	struct podphase phase = podphase_of(in);
	struct podobj_pod_status status = {
		.reason = "",
		.message = "",
		.inits = in->inits,
		.containers = in->containers,
		.ephemerals = in->ephemerals,
	};
	struct kubelet_in own = *in;
	int r;

	compose_phase(in, former, &phase, &status);
	own.phase = status.phase;
	own.former = former->conditions;
	r = compose_conditions(&own, arena, &status.conditions);
	if (r < 0)
		return r;
	*ret = status;
	if (ret_phase)
		*ret_phase = phase;
	return 0;
}

void podstatus_keep_sandbox(const struct podobj_pod *pod, struct podobj_conditions *made)
{
	struct podobj_condition *items = (struct podobj_condition *)made->items;
	const struct podobj_condition *former =
		podobj_condition_of(&pod->status.conditions, PODCOND_READY_TO_START);
	size_t n = 0;

	for (size_t i = 0; i < made->n; i++) {
		if (strcmp(items[i].type, PODCOND_READY_TO_START) != 0)
			items[n++] = items[i];
		else if (former)
			items[n++] = *former;
	}
	made->n = n;
}

/* --- when the pod is over --------------------------------------------------------------------- */

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

/* Gives the first n an end that was not seen, if they have no end. */
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
	struct list list;
	int r = list_new(arena, status->conditions.n + 2, &list);

	if (r < 0)
		return r;
	if (!pod->is_static && !podobj_phase_is_terminal(status->phase))
		status->phase = "Failed";
	for (size_t i = 0; i < status->conditions.n; i++)
		list_add(&list, &status->conditions.items[i]);
	settle(&list, status->phase, &status->conditions, 0);
	status->conditions = list_done(&list);
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
