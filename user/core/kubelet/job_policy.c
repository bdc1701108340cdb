// SPDX-License-Identifier: Apache-2.0
/* Finds the rule of a Job's that a failed pod matches. */
#include "core/kubelet/job_policy.h"

#include <string.h>

#include "core/kubelet/node_failure.h"

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

/* One of them not told agrees with anything. */
static bool agree(const char *a, const char *b)
{
	return !a || !*a || !*b || strcmp(a, b) == 0;
}

bool jobpolicy_is_of(const struct jobpolicy *policy, const struct podobj_pod *pod)
{
	return nodefail_maker_of(pod) == NODEFAIL_JOB && agree(policy->uid, pod->owner_uid) &&
	       agree(policy->name, pod->owner) && agree(policy->namespace_, pod->namespace_);
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

const char *jobpolicy_action_name(enum jobpolicy_action action)
{
	static const char *const names[JOBPOLICY_ACTION_COUNT] = {
		[JOBPOLICY_COUNT] = "Count",
		[JOBPOLICY_FAIL_JOB] = "FailJob",
		[JOBPOLICY_FAIL_INDEX] = "FailIndex",
		[JOBPOLICY_IGNORE] = "Ignore",
	};

	return (unsigned int)action < JOBPOLICY_ACTION_COUNT ? names[action] : NULL;
}
