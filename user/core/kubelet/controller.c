// SPDX-License-Identifier: Apache-2.0
/* What a pod's controller does next, by the pod's phase and the kind of controller. */
#include "core/kubelet/controller.h"

#include <string.h>

#include "core/kubelet/node_failure.h"

static enum podnext of_failed(const struct jobpolicy_match *match)
{
	static const enum podnext by_action[JOBPOLICY_ACTION_COUNT] = {
		[JOBPOLICY_COUNT] = PODNEXT_RETRIES,
		[JOBPOLICY_FAIL_JOB] = PODNEXT_FAILS_JOB,
		[JOBPOLICY_FAIL_INDEX] = PODNEXT_FAILS_INDEX,
		[JOBPOLICY_IGNORE] = PODNEXT_IGNORES,
	};

	return match ? by_action[match->action] : PODNEXT_RETRIES;
}

/* With rules for failed pods, a Job waits until it knows how the pod failed. */
static enum podnext of_job(const struct podobj_pod *pod, const char *phase,
			   const struct jobpolicy *job, const struct jobpolicy_match *match)
{
	if (strcmp(phase, "Succeeded") == 0)
		return PODNEXT_SUCCEEDS;
	if (strcmp(phase, "Failed") == 0)
		return of_failed(match);
	if (!pod->deleting)
		return PODNEXT_KEEPS;
	return job && (job->waits_for_the_failed || job->n_rules > 0) ? PODNEXT_WAITS_ENDED
								      : PODNEXT_REPLACES;
}

enum podnext podnext_of(const struct podobj_pod *pod, const char *phase,
			const struct jobpolicy *job, const struct jobpolicy_match *match)
{
	bool over = podobj_phase_is_terminal(phase);

	switch (nodefail_maker_of(pod)) {
	case NODEFAIL_BARE:
		return PODNEXT_NOBODY;
	case NODEFAIL_STATIC:
		return PODNEXT_KUBELET;
	case NODEFAIL_REPLICASET:
		return over || pod->deleting ? PODNEXT_REPLACES : PODNEXT_KEEPS;
	case NODEFAIL_STATEFULSET:
	case NODEFAIL_DAEMONSET:
		if (pod->deleting)
			return PODNEXT_WAITS;
		return over ? PODNEXT_DELETES : PODNEXT_KEEPS;
	case NODEFAIL_JOB:
		return of_job(pod, phase, job, match);
	default:
		return PODNEXT_UNKNOWN;
	}
}

/* --- a Job's podFailurePolicy ----------------------------------------------------------------- */

/* A container that ended well is no reason for anything. */
static bool code_matches(const struct jobpolicy_rule *rule, const struct podobj_status *status)
{
	bool listed = false;

	if (status->state.kind != PODOBJ_TERMINATED || status->state.exit_code == 0)
		return false;
	if (*rule->container && strcmp(rule->container, status->name) != 0)
		return false;
	for (size_t i = 0; i < rule->n_codes; i++)
		listed |= rule->codes[i] == status->state.exit_code;
	return rule->op == (listed ? PODOBJ_OP_IN : PODOBJ_OP_NOT_IN);
}

static const struct podobj_status *match_codes(const struct jobpolicy_rule *rule,
					       const struct podobj_statuses *statuses)
{
	for (size_t i = 0; i < statuses->n; i++) {
		if (code_matches(rule, &statuses->items[i]))
			return &statuses->items[i];
	}
	return NULL;
}

static const struct podobj_condition *match_conditions(const struct jobpolicy_rule *rule,
						       const struct podobj_conditions *conditions)
{
	for (size_t i = 0; i < conditions->n; i++) {
		const struct podobj_condition *condition = &conditions->items[i];

		for (size_t j = 0; j < rule->n_conditions; j++) {
			if (strcmp(rule->conditions[j].type, condition->type) == 0 &&
			    strcmp(rule->conditions[j].status, condition->status) == 0)
				return condition;
		}
	}
	return NULL;
}

/* An unknown one agrees with anything. */
static bool agree(const char *a, const char *b)
{
	return !a || !*a || !*b || strcmp(a, b) == 0;
}

bool jobpolicy_is_of(const struct jobpolicy *policy, const struct podobj_pod *pod)
{
	return nodefail_maker_of(pod) == NODEFAIL_JOB && agree(policy->uid, pod->owner.uid) &&
	       agree(policy->name, pod->owner.name) && agree(policy->namespace_, pod->namespace_);
}

struct jobpolicy_match jobpolicy_match(const struct jobpolicy *policy,
				       const struct podobj_pod_status *status)
{
	for (size_t i = 0; i < policy->n_rules; i++) {
		const struct jobpolicy_rule *rule = &policy->rules[i];
		struct jobpolicy_match match = {.any = true, .rule = i, .action = rule->action};

		if (rule->by_codes) {
			match.status = match_codes(rule, &status->containers);
			if (!match.status)
				match.status = match_codes(rule, &status->inits);
		} else {
			match.condition = match_conditions(rule, &status->conditions);
		}
		if (match.status || match.condition)
			return match;
	}
	return (struct jobpolicy_match){.action = JOBPOLICY_COUNT};
}
