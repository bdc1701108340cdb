/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet reports to the API of a pod's containers, from what the runtime has and what it
 * reported before (docs/kubelet-rules.md, "Container statuses"; pkg/kubelet/kubelet_pods.go,
 * convertToAPIContainerStatuses).
 */
#ifndef CORE_KUBELET_CONTAINER_STATUS_H
#define CORE_KUBELET_CONTAINER_STATUS_H

#include "base/arena.h"
#include "core/kubelet/phase.h"
#include "core/kubelet/pod.h"

/* The reason of an end that was not seen, and its exit code. */
#define CTRSTATUS_LOST	    "ContainerStatusUnknown"
#define CTRSTATUS_LOST_CODE 137
#define CTRSTATUS_LOST_TEXT "The container could not be located when the pod was terminated"

/* Bytes of all termination messages of a pod (docs/kubelet-rules.md, "Termination messages"). */
#define CTRSTATUS_MESSAGES_MAX 12288

enum ctrstatus_state {
	CTRSTATUS_UNKNOWN,
	CTRSTATUS_CREATED,
	CTRSTATUS_RUNNING,
	CTRSTATUS_EXITED,
};

/* A container as the runtime has it. */
struct ctrstatus_record {
	const char *name;
	const char *id; /* "containerd://..." */
	const char *image, *image_id;
	enum ctrstatus_state state;
	int32_t restarts;
	int32_t exit_code;
	const char *reason, *message;
	int64_t started_wall_ns, finished_wall_ns;
};

/* Why the kubelet could not start a container when it tried last. */
struct ctrstatus_failure {
	const char *name;
	const char *reason, *message; /* "CrashLoopBackOff", ... */
};

struct ctrstatus_in {
	struct podphase_rules rules;
	const struct podobj_pod *pod;	     /* its spec, and whether it is being deleted */
	struct podobj_containers containers; /* those to report */
	struct podobj_statuses previous;     /* what was reported of them before */
	bool are_inits;
	bool has_inits;	      /* the pod has init containers */
	bool restarting_all;  /* all of its containers are restarted in place */
	bool regular_created; /* the runtime has a record of a regular container */
	const struct ctrstatus_record *records; /* of any containers, of each the newest first */
	size_t n_records;
	const struct ctrstatus_failure *failures;
	size_t n_failures;
};

/*
 * One status for each container, in their order; not ready, and started as was reported before: the
 * caller adds what probes have found. 0, -ENOMEM. Strings are those of the input.
 */
int ctrstatus_convert(const struct ctrstatus_in *in, struct arena *arena,
		      struct podobj_statuses *ret);

/* The container's newest record; NULL: none. */
const struct ctrstatus_record *ctrstatus_newest(const struct ctrstatus_record *records, size_t n,
						const char *name);

/* Cuts the messages of ends to their part of CTRSTATUS_MESSAGES_MAX, n_containers being how many
 * containers the pod has of all kinds. 0, -ENOMEM. */
int ctrstatus_cut_messages(struct podobj_statuses *statuses, size_t n_containers,
			   struct arena *arena);

#endif
