/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kubelet would make of a pod as the API has it, and why: container by container, rule by
 * rule; and what the pod's controller does next.
 *
 * A kubelet knows more than the API's object has. Assumed are: the kubelet has
 * heard of a deletion; a regular container that ever ran belongs to the present sandbox; a sandbox
 * is ready if the condition says so.
 */
#ifndef CORE_KUBELET_EXPLAIN_H
#define CORE_KUBELET_EXPLAIN_H

#include "base/arena.h"
#include "base/time.h"
#include "core/kubelet/controller.h"
#include "core/kubelet/phase.h"
#include "core/kubelet/pod.h"
#include "core/words/words.h"

#define EXPLAIN_MINOR_MIN 20
#define EXPLAIN_MINOR_MAX 36

struct explain_in {
	unsigned int minor; /* of the kubelet's version 1.<minor> */
	const struct podobj_pod *pod;
	const struct jobpolicy *job; /* of any pod's; NULL: not given */
	int64_t now_wall_ns;
};

struct explain_container {
	struct podobj_ref ref;
	const struct podobj_container *container;
	const struct podobj_status *status; /* NULL: none */
	bool sidecar;
	struct podphase_view view; /* empty for an ephemeral one, which counts for nothing */
};

/* A deletion is overdue by then: the grace period is over at its timestamp, and a kubelet that
 * answers confirms within seconds. */
#define EXPLAIN_OVERDUE_NS (60 * NS_PER_S)

struct explain_note {
	enum explain_topic topic;
	const char *about; /* the finalizer, or the container; "": the pod */
	/* A container's: how it ended, or the one that is done. */
	const struct podobj_container_state *end;
	const char *done;
};

struct explain {
	unsigned int minor;
	const struct podobj_pod *pod;
	bool killed; /* it is being deleted, or is over though its containers alone would not be */
	struct podphase by_containers;
	enum explain_from from;
	struct podobj_pod_status status; /* as the kubelet would have it */
	const struct explain_container *containers;
	size_t n_containers;
	const struct jobpolicy *job;	   /* the pod's own; NULL: not given */
	const struct jobpolicy *other_job; /* given, but not the pod's: without effect; or NULL */
	struct jobpolicy_match match;	   /* of a failed pod and its Job */
	enum podnext next;
	const struct explain_note *notes;
	size_t n_notes;
	int64_t overdue_ns; /* since its deletionTimestamp; 0: not overdue */
};

/* 0, -ENOMEM. The result points into the input and the arena. */
int explain_pod(const struct explain_in *in, struct arena *arena, struct explain *ret);

/*
 * Whether the container is to be started again, and by what: a word of podphase_restart_name(), or
 * "pod-deleted", "pod-over", which stand above all policies. NULL: it did not end.
 */
const char *explain_restart(const struct explain *e, const struct explain_container *c,
			    bool *ret_restarts);

/* The container that the rule was about; NULL: none. */
const struct explain_container *explain_because(const struct explain *e);

/* Whether a container runs, as the API has it. */
bool explain_runs(const struct explain *e);

#endif
