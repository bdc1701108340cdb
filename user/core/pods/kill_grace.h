/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the kubelet gives each container of a pod that it ends (docs/kubelet-rules.md,
 * "Ending containers"; pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer, and
 * kuberuntime_termination_order.go). The pod's own grace period is core/pods/life's.
 *
 * Seconds are whole, as the API has them; waits are nanoseconds.
 */
#ifndef CORE_PODS_KILL_GRACE_H
#define CORE_PODS_KILL_GRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/pods/life.h"

#define KILLGRACE_MIN_S 2 /* no runtime is given less */

/* One container's kill. */
struct killgrace_kill {
	int64_t grace_s; /* the base, or what overrides it */
	bool has_prestop;
	uint64_t prestop_ns; /* how long its hook runs */
	uint64_t wait_ns;    /* for its turn among sidecars; 0: none */
};

struct killgrace_steps {
	bool prestop_run;
	int64_t prestop_s, wait_s; /* taken off the grace period */
	int64_t stop_s;		   /* what StopContainer is given */
};

/* docs/kubelet-rules.md, "Container kill". */
struct killgrace_steps killgrace_steps(const struct killgrace_kill *kill);

/* What the runtime is given for a container, at the least. */
static inline int64_t killgrace_stop_s(int64_t grace_s)
{
	return grace_s < KILLGRACE_MIN_S ? KILLGRACE_MIN_S : grace_s;
}

/* A container as it takes its turn (docs/kubelet-rules.md, "Sidecar order"). */
struct killgrace_turn {
	bool running;
	uint64_t exit_ns; /* how long it takes to exit from its own stop on */
};

/* How long each of the n sidecars, in the order of the spec, waits before it is stopped: for all
 * mains and for the next later sidecar, never longer than grace_ns. That of one that does not run
 * is 0. */
void killgrace_order(const struct killgrace_turn *mains, size_t n_mains,
		     const struct killgrace_turn *sidecars, size_t n, uint64_t grace_ns,
		     uint64_t *ret_wait_ns);

#endif
