/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Job's podFailurePolicy makes of a pod that failed: the first rule that matches decides
 * (pkg/controller/job/pod_failure_policy.go).
 */
#ifndef CORE_KUBELET_JOB_POLICY_H
#define CORE_KUBELET_JOB_POLICY_H

#include "core/kubelet/pod.h"

enum jobpolicy_action {
	JOBPOLICY_COUNT,      /* "Count": against the back-off limit, as without a rule */
	JOBPOLICY_FAIL_JOB,   /* "FailJob" */
	JOBPOLICY_FAIL_INDEX, /* "FailIndex" */
	JOBPOLICY_IGNORE,     /* "Ignore" */
	JOBPOLICY_ACTION_COUNT,
};

/* Matches by exit codes, or else by conditions. */
struct jobpolicy_rule {
	enum jobpolicy_action action;
	bool by_codes;
	const char *container; /* "": any */
	enum podobj_op op;
	const int32_t *codes;
	size_t n_codes;
	const struct podobj_condition *conditions; /* type and status of each, any of them */
	size_t n_conditions;
};

struct jobpolicy {
	const char *namespace_, *name, *uid; /* NULL or "": not told */
	const struct jobpolicy_rule *rules;
	size_t n_rules;
	int64_t backoff_limit;
	int64_t failed;		   /* pods that have failed so far */
	bool waits_for_the_failed; /* podReplacementPolicy Failed */
};

struct jobpolicy_match {
	bool any;
	size_t rule;
	enum jobpolicy_action action;
	const struct podobj_status *status;	  /* the container that matched; may be NULL */
	const struct podobj_condition *condition; /* the condition that did; may be NULL */
};

/* Whether the pod's controller is this Job, as far as both tell who they are. */
bool jobpolicy_is_of(const struct jobpolicy *policy, const struct podobj_pod *pod);

/* Of a pod that has failed. Without a match the action is JOBPOLICY_COUNT. */
struct jobpolicy_match jobpolicy_match(const struct jobpolicy *policy,
				       const struct podobj_pod_status *status);

/* The word in quotes; NULL for a number that is none. */
const char *jobpolicy_action_name(enum jobpolicy_action action);

#endif
