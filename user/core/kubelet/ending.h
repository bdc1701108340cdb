/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last status of a pod that a node shutdown has ended, as the kubelet would write it
 * (docs/kubelet-rules.md, "Shutdown status", "Status merge", "Terminated pods"): made of what the
 * API has and of how the pod's containers were observed to end.
 *
 * A static pod's is its mirror's, which leaves the API as Failed unless its containers have all
 * ended with 0 and are not restarted: its phase stays the one that the shutdown gave it.
 *
 * A container whose end was not observed has the kubelet's status for that, ContainerStatusUnknown.
 * The caller knows that no container of the pod can run any more.
 */
#ifndef CORE_KUBELET_ENDING_H
#define CORE_KUBELET_ENDING_H

#include "base/arena.h"
#include "core/kubelet/pod.h"

#define PODEND_REASON  "Terminated"
#define PODEND_MESSAGE "Pod was terminated in response to imminent node shutdown."

/* The last end of a container that was observed. Strings are never NULL. */
struct podend_exit {
	const char *id;	     /* without the runtime's name */
	const char *runtime; /* "containerd", ...; "" where it is not known */
	const char *name;    /* in its pod; "" where no source has provided it */
	const char *reason;  /* the runtime's; "" where it has provided none */
	int32_t code;	     /* with 128 added to the number of a signal */
	bool oom;	     /* its init was the victim of an OOM kill */
	int64_t started_wall_ns, finished_wall_ns;
};

/* What is known of how a pod ended. */
#define ENDING_EXITS_MAX 128
struct kubelet_ending {
	const char *namespace_, *name;
	int64_t now_wall_ns;
	struct podend_exit exits[ENDING_EXITS_MAX]; /* those that were observed or reported */
	size_t n_exits;
};

enum podend {
	PODEND_WRITE, /* *ret is the status to write */
	PODEND_THERE, /* the API has a terminal phase and not Ready: it stays */
	PODEND_OTHER, /* the API has another pod of that name */
	/* A status that the kubelet would drop: a container would come back from its end. */
	PODEND_DROP,
};

/* By the pod as the API has it now, and the uid that the cgroups of the one that ended have. An
 * enum podend, or -ENOMEM. What is new in *ret is in the arena. */
int podend_make(const struct kubelet_ending *ending, const struct podobj_pod *pod, const char *uid,
		struct arena *arena, struct podobj_pod_status *ret);

#endif
