// SPDX-License-Identifier: Apache-2.0
/* Adds up what the containers count for and takes the first rule that fits. */
#include "core/kubelet/phase.h"

#include <string.h>

#define BIT(count) (1u << (count))

struct podphase_rules podphase_rules_of(unsigned int minor)
{
	return (struct podphase_rules){
		.failed_unready = minor >= 25,
		.terminal = minor >= 27,
		.sidecars = minor >= 29,
		.container_rules = minor >= 35,
		.restart_all = minor >= 36,
	};
}

const struct podobj_rule *podphase_rule_for(const struct podobj_container *container,
					    int32_t exit_code)
{
	for (size_t i = 0; i < container->n_rules; i++) {
		const struct podobj_rule *rule = &container->rules[i];
		bool listed = false;

		for (size_t j = 0; j < rule->n_codes; j++)
			listed |= rule->codes[j] == exit_code;
		if (rule->op == (listed ? PODOBJ_OP_IN : PODOBJ_OP_NOT_IN))
			return rule;
	}
	return NULL;
}

static bool by_policy(enum meta_restart_policy policy, int32_t exit_code)
{
	if (policy == META_RESTART_ON_FAILURE)
		return exit_code != 0;
	return policy != META_RESTART_NEVER;
}

static bool rule_restarts(const struct podphase_rules *rules, const struct podobj_rule *rule)
{
	return rule && (rule->action == PODOBJ_RESTART ||
			(rule->action == PODOBJ_RESTART_ALL && rules->restart_all));
}

bool podphase_restarts(const struct podphase_rules *rules, enum meta_restart_policy pod_policy,
		       const struct podobj_container *container,
		       const struct podobj_container_state *end, enum podphase_restart *ret_by)
{
	if (rules->container_rules && strcmp(end->reason, "RestartingAllContainers") == 0) {
		*ret_by = PODPHASE_BY_RESTARTED_ALL;
		return true;
	}
	if (!rules->container_rules || !container->restart_policy) {
		*ret_by = PODPHASE_BY_POD;
		return by_policy(pod_policy, end->exit_code);
	}
	if (rule_restarts(rules, podphase_rule_for(container, end->exit_code))) {
		*ret_by = PODPHASE_BY_RULE;
		return true;
	}
	*ret_by = PODPHASE_BY_CONTAINER;
	return by_policy(container->restart_policy, end->exit_code);
}

static const struct podobj_container_state *end_of(const struct podobj_status *status)
{
	if (status->state.kind == PODOBJ_TERMINATED)
		return &status->state;
	if (status->state.kind == PODOBJ_WAITING && status->last.kind == PODOBJ_TERMINATED)
		return &status->last;
	return NULL;
}

static void check_restart(const struct kubelet_in *in, const struct podobj_container *container,
			  struct podphase_view *view)
{
	view->restarts = podphase_restarts(&in->rules, in->pod->restart_policy, container,
					   view->end, &view->by);
}

/* One that ended with 0 is done and counts for nothing. */
static void view_init(const struct kubelet_in *in, const struct podobj_container *container,
		      struct podphase_view *view)
{
	if (!view->end) {
		view->counts = BIT(PODPHASE_INIT_PENDING);
		return;
	}
	if (view->end->exit_code == 0)
		return;
	check_restart(in, container, view);
	if (!view->restarts)
		view->counts = BIT(PODPHASE_INIT_FAILED);
}

/* One that ended counts for nothing, it is always started again. */
static void view_sidecar(const struct podobj_status *status, struct podphase_view *view)
{
	if (!status)
		view->counts = BIT(PODPHASE_UNKNOWN);
	else if (status->state.kind == PODOBJ_RUNNING)
		view->counts = BIT(PODPHASE_RUNNING) |
			       (podobj_is_started(status) ? 0 : BIT(PODPHASE_SIDECAR_PENDING));
	else if (status->state.kind == PODOBJ_WAITING && !view->end)
		view->counts = BIT(PODPHASE_WAITING) | BIT(PODPHASE_SIDECAR_PENDING);
	else if (status->state.kind == PODOBJ_NONE)
		view->counts = BIT(PODPHASE_UNKNOWN) | BIT(PODPHASE_SIDECAR_PENDING);
}

/* Only an end that is the present state is a success. */
static void view_regular(const struct kubelet_in *in, const struct podobj_container *container,
			 const struct podobj_status *status, struct podphase_view *view)
{
	if (!status || status->state.kind == PODOBJ_NONE) {
		view->counts = BIT(PODPHASE_UNKNOWN);
	} else if (status->state.kind == PODOBJ_RUNNING) {
		view->counts = BIT(PODPHASE_RUNNING);
	} else if (!view->end) {
		view->counts = BIT(PODPHASE_WAITING);
	} else {
		view->counts = BIT(PODPHASE_STOPPED);
		if (view->end != &status->state || view->end->exit_code != 0)
			view->counts |= BIT(PODPHASE_UNSUCCESSFUL);
		check_restart(in, container, view);
		if (view->restarts)
			view->counts |= BIT(PODPHASE_RESTARTABLE);
	}
}

struct podphase_view podphase_view(const struct kubelet_in *in, struct podobj_ref ref)
{
	const struct podobj_container *container = podobj_container_at(in->pod, ref);
	bool is_init = ref.list == PODOBJ_INITS;
	const struct podobj_status *status =
		podobj_status_of(is_init ? &in->inits : &in->containers, container->name);
	struct podphase_view view = {.end = status ? end_of(status) : NULL};

	if (is_init && in->rules.sidecars && podobj_is_sidecar(container))
		view_sidecar(status, &view);
	else if (is_init)
		view_init(in, container, &view);
	else
		view_regular(in, container, status, &view);
	return view;
}

struct tally {
	struct podphase *out;
	struct podobj_ref first[PODPHASE_COUNT_COUNT];
};

static void add_up(const struct kubelet_in *in, enum podobj_list list, size_t n,
		   struct tally *tally)
{
	for (size_t i = 0; i < n; i++) {
		struct podobj_ref ref = {.list = list, .index = i};
		struct podphase_view view = podphase_view(in, ref);

		for (size_t c = 0; c < PODPHASE_COUNT_COUNT; c++) {
			if ((view.counts & BIT(c)) && tally->out->counts[c]++ == 0)
				tally->first[c] = ref;
		}
	}
}

/* Whether a pod whose containers have all stopped goes on. Before there were rules of containers,
 * the pod's policy alone decided, of the containers together. */
static bool goes_on(const struct kubelet_in *in, const struct podphase *phase)
{
	if (in->rules.container_rules)
		return phase->counts[PODPHASE_RESTARTABLE] > 0;
	if (in->pod->restart_policy == META_RESTART_ON_FAILURE)
		return phase->counts[PODPHASE_UNSUCCESSFUL] > 0;
	return in->pod->restart_policy != META_RESTART_NEVER;
}

/* docs/kubelet-rules.md, "Killed pods": a static pod is never given a phase that it could not
 * leave. */
static enum podphase_rule rule_of_stopped(const struct kubelet_in *in, const struct podphase *phase)
{
	bool succeeded = phase->counts[PODPHASE_UNSUCCESSFUL] == 0;

	if (in->rules.terminal && in->killed && !in->pod->is_static)
		return succeeded ? PODPHASE_RULE_KILLED_SUCCEEDED : PODPHASE_RULE_KILLED_FAILED;
	if (goes_on(in, phase))
		return PODPHASE_RULE_RESTARTS;
	return succeeded ? PODPHASE_RULE_SUCCEEDED : PODPHASE_RULE_FAILED;
}

static enum podphase_rule rule_of(const struct kubelet_in *in, const struct podphase *phase)
{
	const size_t *n = phase->counts;

	if (n[PODPHASE_INIT_FAILED])
		return PODPHASE_RULE_INIT_FAILED;
	if (n[PODPHASE_INIT_PENDING])
		return PODPHASE_RULE_INIT_PENDING;
	if (n[PODPHASE_SIDECAR_PENDING] && !in->initialized)
		return PODPHASE_RULE_SIDECAR_PENDING;
	if (n[PODPHASE_WAITING])
		return PODPHASE_RULE_WAITING;
	if (n[PODPHASE_UNKNOWN])
		return PODPHASE_RULE_UNKNOWN;
	if (n[PODPHASE_RUNNING])
		return PODPHASE_RULE_RUNNING;
	return n[PODPHASE_STOPPED] ? rule_of_stopped(in, phase) : PODPHASE_RULE_UNKNOWN;
}

/* What a rule gives, and which container it is about. */
static const struct {
	enum meta_phase phase;
	enum podphase_count about;
} rules[PODPHASE_RULE_COUNT] = {
	[PODPHASE_RULE_INIT_FAILED] = {META_PHASE_FAILED, PODPHASE_INIT_FAILED},
	[PODPHASE_RULE_INIT_PENDING] = {META_PHASE_PENDING, PODPHASE_INIT_PENDING},
	[PODPHASE_RULE_SIDECAR_PENDING] = {META_PHASE_PENDING, PODPHASE_SIDECAR_PENDING},
	[PODPHASE_RULE_WAITING] = {META_PHASE_PENDING, PODPHASE_WAITING},
	[PODPHASE_RULE_RUNNING] = {META_PHASE_RUNNING, PODPHASE_RUNNING},
	[PODPHASE_RULE_KILLED_SUCCEEDED] = {META_PHASE_SUCCEEDED, PODPHASE_STOPPED},
	[PODPHASE_RULE_KILLED_FAILED] = {META_PHASE_FAILED, PODPHASE_UNSUCCESSFUL},
	[PODPHASE_RULE_RESTARTS] = {META_PHASE_RUNNING, PODPHASE_RESTARTABLE},
	[PODPHASE_RULE_SUCCEEDED] = {META_PHASE_SUCCEEDED, PODPHASE_STOPPED},
	[PODPHASE_RULE_FAILED] = {META_PHASE_FAILED, PODPHASE_UNSUCCESSFUL},
	[PODPHASE_RULE_UNKNOWN] = {META_PHASE_PENDING, PODPHASE_UNKNOWN},
};

struct podphase podphase_of(const struct kubelet_in *in)
{
	struct podphase phase = {};
	struct tally tally = {.out = &phase};

	add_up(in, PODOBJ_INITS, in->pod->inits.n, &tally);
	add_up(in, PODOBJ_CONTAINERS, in->pod->containers.n, &tally);
	phase.rule = rule_of(in, &phase);
	phase.phase = rules[phase.rule].phase;
	phase.because = tally.first[rules[phase.rule].about];
	return phase;
}
