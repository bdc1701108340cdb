// SPDX-License-Identifier: Apache-2.0
/* Tells by phase and controller what happens to a pod next. */
#include "core/kubelet/controller.h"

#include <string.h>

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

const char *podnext_name(enum podnext next)
{
	static const char *const names[PODNEXT_COUNT] = {
		[PODNEXT_NOBODY] = "nobody",
		[PODNEXT_KUBELET] = "kubelet",
		[PODNEXT_KEEPS] = "keeps",
		[PODNEXT_REPLACES] = "replaces",
		[PODNEXT_DELETES] = "deletes",
		[PODNEXT_WAITS] = "waits",
		[PODNEXT_WAITS_ENDED] = "waits-for-end",
		[PODNEXT_SUCCEEDS] = "succeeds",
		[PODNEXT_RETRIES] = "retries",
		[PODNEXT_IGNORES] = "ignores",
		[PODNEXT_FAILS_INDEX] = "fails-index",
		[PODNEXT_FAILS_JOB] = "fails-job",
		[PODNEXT_UNKNOWN] = "unknown",
	};

	return (unsigned int)next < PODNEXT_COUNT ? names[next] : NULL;
}
