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

/* What a container may count for. */
enum podphase_count {
	PODPHASE_INIT_PENDING,	  /* "pending init" */
	PODPHASE_INIT_FAILED,	  /* "failed init", not to be started again */
	PODPHASE_SIDECAR_PENDING, /* "pending sidecar" */
	PODPHASE_UNKNOWN,	  /* "unknown" */
	PODPHASE_RUNNING,	  /* "running" */
	PODPHASE_WAITING,	  /* "waiting" */
	PODPHASE_STOPPED,	  /* "stopped" */
	PODPHASE_UNSUCCESSFUL,	  /* "unsuccessful": stopped otherwise than by an exit with 0 */
	PODPHASE_RESTARTABLE,	  /* "restartable": stopped and to be started again */
	PODPHASE_COUNT_COUNT,
};

/* What decided whether a container that ended is started again. */
enum podphase_restart {
	PODPHASE_NOT_ASKED,	   /* it did not end, or is of a kind that is not started again */
	PODPHASE_BY_POD,	   /* "pod-policy" */
	PODPHASE_BY_CONTAINER,	   /* "container-policy" */
	PODPHASE_BY_RULE,	   /* "container-rule" */
	PODPHASE_BY_RESTARTED_ALL, /* "restarting-all": ended because all were restarted */
	PODPHASE_RESTART_COUNT,
};

struct podphase_view {
	uint32_t counts; /* bits 1 << enum podphase_count */
	enum podphase_restart by;
	bool restarts;
	const struct podobj_container_state *end; /* how it ended; NULL: it did not */
};

/* What one container counts for; ref must be one of the pod's init or regular containers. */
struct podphase_view podphase_view(const struct podphase_in *in, struct podobj_ref ref);

/* In the order they are tried. */
enum podphase_rule {
	PODPHASE_RULE_INIT_FAILED,	/* "init-failed": Failed */
	PODPHASE_RULE_INIT_PENDING,	/* "init-pending": Pending */
	PODPHASE_RULE_SIDECAR_PENDING,	/* "sidecar-pending": Pending */
	PODPHASE_RULE_WAITING,		/* "container-waiting": Pending */
	PODPHASE_RULE_RUNNING,		/* "container-running": Running */
	PODPHASE_RULE_KILLED_SUCCEEDED, /* "killed-all-succeeded": Succeeded */
	PODPHASE_RULE_KILLED_FAILED,	/* "killed-some-failed": Failed */
	PODPHASE_RULE_RESTARTS,		/* "container-restarts": Running */
	PODPHASE_RULE_SUCCEEDED,	/* "all-succeeded": Succeeded */
	PODPHASE_RULE_FAILED,		/* "some-failed": Failed */
	PODPHASE_RULE_UNKNOWN,		/* "container-unknown": Pending */
	PODPHASE_RULE_COUNT,
};

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

/* The words in quotes above; NULL for a number that has none. */
const char *podphase_count_name(enum podphase_count count);
const char *podphase_restart_name(enum podphase_restart by);
const char *podphase_rule_name(enum podphase_rule rule);

#endif
