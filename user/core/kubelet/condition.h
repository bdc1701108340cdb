/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions the kubelet gives a pod (docs/kubelet-rules.md, "Pod conditions";
 * pkg/kubelet/status/generate.go).
 * No function here sets a time of transition.
 */
#ifndef CORE_KUBELET_CONDITION_H
#define CORE_KUBELET_CONDITION_H

#include "base/arena.h"
#include "core/kubelet/container_status.h"
#include "core/kubelet/pod.h"
#include "core/words/words.h"

#define PODCOND_READY		 "Ready"
#define PODCOND_CONTAINERS_READY "ContainersReady"
#define PODCOND_INITIALIZED	 "Initialized"
#define PODCOND_SCHEDULED	 "PodScheduled"
#define PODCOND_READY_TO_START	 "PodReadyToStartContainers"
#define PODCOND_RESTARTING_ALL	 "AllContainersRestarting"
/* That a pod goes for reasons that are not its own, and whose (docs/kubelet-rules.md, "Disruption
 * reasons"; KEP-3329). */
#define PODCOND_DISRUPTION	 "DisruptionTarget"

/* 0, or -ENOMEM for a message. */
int podcond_containers_ready(const struct kubelet_in *in, struct arena *arena,
			     struct podobj_condition *ret);
int podcond_ready(const struct kubelet_in *in, struct arena *arena, struct podobj_condition *ret);
int podcond_initialized(const struct kubelet_in *in, struct arena *arena,
			struct podobj_condition *ret);

/* A sandbox of the pod's, as the runtime has it. */
struct podcond_sandbox {
	uint32_t attempt; /* the highest is the present one */
	bool ready;
	bool has_ip;
};

/* Whether containers can be started in the sandbox there is. */
struct podobj_condition podcond_ready_to_start(const struct podcond_sandbox *sandboxes, size_t n,
					       bool host_network);

/* Whether any container asks for the restart of all: else the pod has no such condition. */
bool podcond_may_restart_all(const struct podobj_pod *pod);
/* Reads pod, phase and former of in. */
struct podobj_condition podcond_restarting_all(const struct kubelet_in *in,
					       const struct ctrstatus_record *records, size_t n);

/* What a phase from which there is no return makes of Ready and ContainersReady. */
struct podobj_condition podcond_over(const char *type, const char *phase);

/* Whether the kubelet alone sets conditions of this type (docs/kubelet-rules.md, "Status merge"). */
bool podcond_is_kubelets(const char *type);

#endif
