/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod's controller does next with it (docs/kubelet-rules.md, "Replacement";
 * pkg/controller/controller_utils.go, IsPodActive, and the controllers beside it).
 */
#ifndef CORE_KUBELET_CONTROLLER_H
#define CORE_KUBELET_CONTROLLER_H

#include "core/kubelet/job_policy.h"
#include "core/kubelet/node_failure.h"
#include "core/kubelet/pod.h"

enum podnext {
	PODNEXT_NOBODY,	     /* "nobody": it has no controller, and is not replaced */
	PODNEXT_KUBELET,     /* "kubelet": a static pod, which its node alone looks after */
	PODNEXT_KEEPS,	     /* "keeps": it is one of those wanted */
	PODNEXT_REPLACES,    /* "replaces": another is made at once, and this one left alone */
	PODNEXT_DELETES,     /* "deletes": it is deleted, and another is made when it is gone */
	PODNEXT_WAITS,	     /* "waits": another is made when its object is gone */
	PODNEXT_WAITS_ENDED, /* "waits-for-end": another is made when it has failed */
	PODNEXT_SUCCEEDS,    /* "succeeds": it is one of a Job's completions */
	PODNEXT_RETRIES,     /* "retries": counts against a Job's back-off limit */
	PODNEXT_IGNORES,     /* "ignores": does not count, and another is made */
	PODNEXT_FAILS_INDEX, /* "fails-index": of an indexed Job's, for good */
	PODNEXT_FAILS_JOB,   /* "fails-job": and its other pods are ended */
	PODNEXT_UNKNOWN,     /* "unknown": a controller of somebody's own */
	PODNEXT_COUNT,
};

/* By what the pod's phase is to be. job NULL: nothing is known of it but that there is one; match
 * (may be NULL) says which of its rules matched. */
enum podnext podnext_of(const struct podobj_pod *pod, const char *phase,
			const struct jobpolicy *job, const struct jobpolicy_match *match);

/* The word in quotes; NULL for a number that is none. */
const char *podnext_name(enum podnext next);

#endif
