// SPDX-License-Identifier: Apache-2.0
/* Composes a pod's status from its containers', what was told before and what the API has. */
#include "core/kubelet/status.h"

#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "core/kubelet/status_priv.h"

/* Conditions the kubelet adds by itself, and what podstatus_settle() may. */
#define OWN_CONDITIONS 8

bool podstatus_deadline_passed(const struct podobj_pod *pod, int64_t now_wall_ns)
{
	int64_t deadline;

	if (!pod->has_deadline || pod->start_wall_ns == 0)
		return false;
	if (__builtin_mul_overflow(pod->deadline_s, NS_PER_S, &deadline) ||
	    __builtin_add_overflow(pod->start_wall_ns, deadline, &deadline))
		return pod->deadline_s < 0;
	return now_wall_ns >= deadline;
}

static const char *first_told(const char *a, const char *b)
{
	return *a ? a : b;
}

/* The phase, its reason and message (docs/kubelet-rules.md, "Status composition"). */
static void compose_phase(const struct podstatus_in *in, const struct podobj_pod_status *former,
			  const struct podphase *phase, struct podobj_pod_status *ret)
{
	const struct podobj_pod_status *api = &in->pod->status;

	ret->phase = podobj_phase_name(phase->phase);
	if (!podobj_phase_is_terminal(ret->phase)) {
		if (podobj_phase_is_terminal(former->phase))
			ret->phase = former->phase;
		else if (podobj_phase_is_terminal(api->phase))
			ret->phase = api->phase;
	}
	if (strcmp(ret->phase, former->phase) == 0) {
		ret->reason = first_told(former->reason, api->reason);
		ret->message = first_told(former->message, api->message);
	}
	if (in->deadline_passed) {
		ret->phase = "Failed";
		ret->reason = "DeadlineExceeded";
		ret->message = "Pod was active on the node longer than the specified deadline";
	}
	if (podobj_phase_is_terminal(api->phase))
		ret->phase = api->phase;
}

static void add_stamped(const struct podstatus_in *in, const struct podobj_conditions *former,
			struct podobj_condition *condition, struct podstatus_list *list)
{
	podstatus_stamp(condition, former, in->now_wall_ns);
	podstatus_list_add(list, condition);
}

static void add_foreign(const struct podstatus_in *in, const struct podobj_conditions *former,
			struct podstatus_list *list)
{
	const struct podobj_conditions *api = &in->pod->status.conditions;
	const struct podobj_condition *disruption = podobj_condition_of(former, PODCOND_DISRUPTION);

	for (size_t i = 0; i < api->n; i++) {
		if (!podcond_is_kubelets(api->items[i].type))
			podstatus_list_add(list, &api->items[i]);
	}
	if (disruption)
		podstatus_list_put(list, disruption);
}

/* Those that containers decide on. The gates may be any condition that is there already. */
static int add_own(const struct podstatus_in *in, struct podcond_in *cond, struct arena *arena,
		   struct podstatus_list *list)
{
	static int (*const make[])(const struct podcond_in *, struct arena *,
				   struct podobj_condition *) = {
		podcond_initialized,
		podcond_ready,
		podcond_containers_ready,
	};

	for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
		struct podobj_condition condition;
		int r;

		cond->gates = podstatus_list_done(list);
		r = make[i](cond, arena, &condition);
		if (r < 0)
			return r;
		add_stamped(in, &cond->former, &condition, list);
	}
	return 0;
}

/* Foreign conditions, then the kubelet's own. */
static int compose_conditions(const struct podstatus_in *in, struct podcond_in *cond,
			      struct arena *arena, struct podobj_conditions *ret)
{
	struct podobj_condition ready_to_start =
		podcond_ready_to_start(in->sandboxes, in->n_sandboxes, in->pod->host_network);
	struct podobj_condition scheduled = {
		.type = PODCOND_SCHEDULED, .status = "True", .reason = "", .message = ""};
	struct podstatus_list list;
	int r = podstatus_list_new(arena, in->pod->status.conditions.n + OWN_CONDITIONS, &list);

	if (r < 0)
		return r;
	add_foreign(in, &cond->former, &list);
	add_stamped(in, &cond->former, &ready_to_start, &list);
	r = add_own(in, cond, arena, &list);
	if (r < 0)
		return r;
	add_stamped(in, &cond->former, &scheduled, &list);
	if (in->rules.restart_all && podcond_may_restart_all(in->pod)) {
		struct podobj_condition restarting =
			podcond_restarting_all(cond, in->records, in->n_records);

		add_stamped(in, &cond->former, &restarting, &list);
	}
	podstatus_settle(&list, cond->phase, &cond->former, in->now_wall_ns);
	*ret = podstatus_list_done(&list);
	return 0;
}

int podstatus_compose(const struct podstatus_in *in, struct arena *arena,
		      struct podobj_pod_status *ret, struct podphase *ret_phase)
{
	const struct podobj_pod_status *former = in->cached ? in->cached : &in->pod->status;
	struct podphase phase = podphase_of(&(struct podphase_in){
		.rules = in->rules,
		.pod = in->pod,
		.inits = in->inits,
		.containers = in->containers,
		.killed = in->killed,
		.initialized = in->initialized,
	});
	struct podobj_pod_status status = {
		.reason = "",
		.message = "",
		.inits = in->inits,
		.containers = in->containers,
		.ephemerals = in->ephemerals,
	};
	struct podcond_in cond = {
		.rules = in->rules,
		.pod = in->pod,
		.inits = in->inits,
		.containers = in->containers,
		.former = former->conditions,
	};
	int r;

	compose_phase(in, former, &phase, &status);
	cond.phase = status.phase;
	r = compose_conditions(in, &cond, arena, &status.conditions);
	if (r < 0)
		return r;
	*ret = status;
	if (ret_phase)
		*ret_phase = phase;
	return 0;
}
