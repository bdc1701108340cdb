/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase the kubelet gives a pod, and why (docs/kubelet-rules.md, "Pod phase";
 * pkg/kubelet/kubelet_pods.go, getPhase). Each container counts for something; the counts decide,
 * by the first rule that fits.
 */
#ifndef CORE_KUBELET_PHASE_H
#define CORE_KUBELET_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kubelet/pod.h"
#include "core/words/words.h"

/* What a kubelet knows of: by its version, and by its feature gates. */
struct podphase_rules {
	bool failed_unready;  /* what failed is not ready, for that reason alone (1.25) */
	bool terminal;	      /* a pod that was killed ends (1.27) */
	bool sidecars;	      /* init containers may run on (1.29; alpha in 1.28) */
	bool container_rules; /* gate ContainerRestartRules (on since 1.35) */
	bool restart_all;     /* gate RestartAllContainersOnContainerExits (on since 1.36) */
};

/* The rules of a kubelet 1.<minor> with default gates. */
struct podphase_rules podphase_rules_of(unsigned int minor);

struct podphase_in {
	struct podphase_rules rules;
	const struct podobj_pod *pod; /* its spec alone, and whether it is static */
	/* Found by name; may be one and the same list. */
	struct podobj_statuses inits, containers;
	bool killed;	  /* podIsTerminal: asked after the pod was killed, or is cleaned up */
	bool initialized; /* podHasInitialized: the present sandbox has a regular container */
};

struct podphase_view {
	uint32_t counts; /* bits 1 << enum podphase_count */
	enum podphase_restart by;
	bool restarts;
	const struct podobj_container_state *end; /* how it ended; NULL: it did not */
};

/* What one container counts for; ref must be one of the pod's init or regular containers. */
struct podphase_view podphase_view(const struct podphase_in *in, struct podobj_ref ref);

struct podphase {
	enum meta_phase phase;
	enum podphase_rule rule;
	struct podobj_ref because; /* the first container the rule is about; may be none */
	size_t counts[PODPHASE_COUNT_COUNT];
};

struct podphase podphase_of(const struct podphase_in *in);

/* Whether the kubelet would start a container again that ended so (docs/kubelet-rules.md,
 * "Container restarts"); *ret_by says by what. */
bool podphase_restarts(const struct podphase_rules *rules, enum meta_restart_policy pod_policy,
		       const struct podobj_container *container,
		       const struct podobj_container_state *end, enum podphase_restart *ret_by);

/* The first rule of the container's whose exit codes fit, whatever it asks for; NULL: none. */
const struct podobj_rule *podphase_rule_for(const struct podobj_container *container,
					    int32_t exit_code);

#endif
