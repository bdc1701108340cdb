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

/* What the kubelet makes a pod's phase, its conditions and its status of. */
struct kubelet_in {
	struct podphase_rules rules;
	/* Its spec, and whether it is static; for a status, with the status that the API has. */
	const struct podobj_pod *pod;
	/* Found by name; may be one and the same list. For a status: what the API is to have of
	 * them, ready and started as probes have it. */
	struct podobj_statuses inits, containers, ephemerals;
	bool killed;	  /* podIsTerminal: asked after the pod was killed, or is cleaned up */
	bool initialized; /* podHasInitialized: the present sandbox has a regular container */
	/* For conditions alone, those of a status apart. */
	const char *phase;
	struct podobj_conditions gates;	 /* where readiness gates are looked up */
	struct podobj_conditions former; /* what the conditions were */
	/* For a status alone. */
	const struct podobj_pod_status *cached; /* what was made last; NULL: nothing yet */
	const struct podcond_sandbox *sandboxes;
	size_t n_sandboxes;
	const struct ctrstatus_record *records; /* what the runtime has, of each the newest first */
	size_t n_records;
	bool deadline_passed; /* podstatus_deadline_passed() */
	int64_t now_wall_ns;
};

struct podphase_view {
	uint32_t counts; /* bits 1 << enum podphase_count */
	enum podphase_restart by;
	bool restarts;
	const struct podobj_container_state *end; /* how it ended; NULL: it did not */
};

/* What one container counts for; ref must be one of the pod's init or regular containers. */
struct podphase_view podphase_view(const struct kubelet_in *in, struct podobj_ref ref);

struct podphase {
	enum meta_phase phase;
	enum podphase_rule rule;
	struct podobj_ref because; /* the first container the rule is about; may be none */
	size_t counts[PODPHASE_COUNT_COUNT];
};

struct podphase podphase_of(const struct kubelet_in *in);

/* Whether the kubelet would start a container again that ended so (docs/kubelet-rules.md,
 * "Container restarts"); *ret_by says by what. */
bool podphase_restarts(const struct podphase_rules *rules, enum meta_restart_policy pod_policy,
		       const struct podobj_container *container,
		       const struct podobj_container_state *end, enum podphase_restart *ret_by);

/* The first rule of the container's whose exit codes fit, whatever it asks for; NULL: none. */
const struct podobj_rule *podphase_rule_for(const struct podobj_container *container,
					    int32_t exit_code);

#endif
