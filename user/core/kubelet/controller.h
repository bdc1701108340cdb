/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod's controller does next with it (docs/kubelet-rules.md, "Replacement";
 * pkg/controller/controller_utils.go, IsPodActive, and the controllers beside it).
 */
#ifndef CORE_KUBELET_CONTROLLER_H
#define CORE_KUBELET_CONTROLLER_H

#include "core/kubelet/node_failure.h"
#include "core/kubelet/pod.h"
#include "core/words/words.h"

/*
 * What a Job's podFailurePolicy makes of a pod that failed: the first rule that matches decides
 * (pkg/controller/job/pod_failure_policy.go).
 */

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
	const char *namespace_, *name, *uid; /* NULL or "": not known */
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

/* Whether the pod's controller is this Job, as far as both are known. */
bool jobpolicy_is_of(const struct jobpolicy *policy, const struct podobj_pod *pod);

/* The rule that a failed pod matches. The default action is JOBPOLICY_COUNT. */
struct jobpolicy_match jobpolicy_match(const struct jobpolicy *policy,
				       const struct podobj_pod_status *status);

/* By what the pod's phase is to be. job NULL: nothing is known of it but that there is one; match
 * (may be NULL) says which of its rules matched. */
enum podnext podnext_of(const struct podobj_pod *pod, const char *phase,
			const struct jobpolicy *job, const struct jobpolicy_match *match);

#endif
