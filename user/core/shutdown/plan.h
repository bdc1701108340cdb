/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet would do in a node shutdown by its configuration: which pods form which group,
 * how long each is given (docs/kubelet-rules.md, "Node shutdown";
 * pkg/kubelet/nodeshutdown/nodeshutdown_manager.go, v1.36, and nodeshutdown_manager_linux.go of
 * v1.20 to v1.22).
 */
#ifndef CORE_SHUTDOWN_PLAN_H
#define CORE_SHUTDOWN_PLAN_H

#include "base/arena.h"
#include "core/pods/life.h"

#define SHUTPLAN_CRITICAL	 2000000000 /* from this priority on a pod is system critical */
#define SHUTPLAN_GRACE_DEFAULT_S 30	    /* the API's for spec.terminationGracePeriodSeconds */

/* An entry of shutdownGracePeriodByPodPriority. */
struct shutplan_range {
	int32_t priority;
	int64_t seconds;
};

/* The kubelet's settings as it reads them (docs/kubelet-rules.md, "Shutdown settings"); any value,
 * nanoseconds. */
struct shutplan_config {
	bool gate;	    /* GracefulNodeShutdown */
	bool priority_gate; /* GracefulNodeShutdownBasedOnPodPriority */
	int64_t total_ns;   /* shutdownGracePeriod */
	int64_t critical_ns;
	const struct shutplan_range *list;
	size_t n_list;
};

/* error is valid during the call. */
typedef void (*shutplan_error_fn)(void *userdata, const char *error);

/* Reports every error of ValidateKubeletConfiguration(), in the kubelet's words, and returns how
 * many there are. */
size_t shutplan_validate(const struct shutplan_config *config, shutplan_error_fn fn,
			 void *userdata);

/* Whether the kubelet writes its state file and metrics (docs/kubelet-rules.md, "Shutdown state
 * file"). */
static inline bool shutplan_keeps_state(const struct shutplan_config *config)
{
	return config->gate && config->priority_gate;
}

/* How pods are ended. */
enum shutplan_rules {
	/* Before 1.23 (docs/kubelet-rules.md, "Two-phase shutdown"): critical pods follow at a
	 * fixed time, and static pods are critical, too. */
	SHUTPLAN_TWO_PHASES,
	SHUTPLAN_RANGES,
};

/* The rules of a kubelet 1.<minor>. */
enum shutplan_rules shutplan_rules_of(unsigned int minor);

/* Pods that are ended together. */
struct shutplan_group {
	int32_t priority; /* from this on */
	int64_t seconds;  /* what its pods are given at most */
	uint64_t ns;	  /* how long it is waited for */
};

struct shutplan {
	enum shutplan_rules rules;
	const struct shutplan_group *groups; /* ascending */
	size_t n;			     /* 0: the manager is disabled */
};

/* The plan of any ranges, in any order. 0 or -ENOMEM; the groups are the arena's. */
int shutplan_of_ranges(const struct shutplan_range *ranges, size_t n, struct arena *arena,
		       struct shutplan *ret);

/* The plan that config comes to: without groups where the feature is off. Likewise. */
int shutplan_of_config(const struct shutplan_config *config, enum shutplan_rules rules,
		       struct arena *arena, struct shutplan *ret);

/* What logind has to allow, as periodRequested() of the kubelet adds it up; a negative entry takes
 * from the others' time. */
uint64_t shutplan_requested_ns(const struct shutplan *plan);

/* The group of a pod (docs/kubelet-rules.md, "Shutdown groups" and "Two-phase shutdown"). Without a
 * priority it has 0, and a mirror is static, too. 0 where the plan has no groups. */
size_t shutplan_group_of(const struct shutplan *plan, int32_t priority, bool is_static);

/* What its kill overrides its grace period with, which is that of its spec (docs/kubelet-rules.md,
 * "Grace in a shutdown"). */
int64_t shutplan_override_s(int64_t group_s, struct seconds grace);

/*
 * What the runtime is given for each container of a pod, at the most (docs/kubelet-rules.md, "Grace
 * in a shutdown", "Container kill"): a preStop hook and sidecars that stop before it are
 * subtracted, which is not seen here. deletion is metadata.deletionGracePeriodSeconds of a pod that
 * is being deleted when the shutdown is announced: its stop is running already, with that. The
 * shutdown gives it no more, and if it gives it less, the stop that is running is not shortened. A
 * deletion of 0 s counts as unset. Not set: unknown.
 */
struct seconds shutplan_stop_s(const struct shutplan *plan, size_t group, struct seconds grace,
			       struct seconds deletion);

/*
 * Likewise, where it is not known whether the stop is the deletion's or the shutdown's: the one
 * that came first runs on, and the runtime does not kill before the longer of both could be over.
 * Where both run beside each other it may kill earlier.
 */
struct seconds shutplan_longest_stop_s(const struct shutplan *plan, size_t group,
				       struct seconds grace, struct seconds deletion);

#endif
