/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a container had to stop before it would be killed, as far as sources provide it
 * (docs/kubelet-rules.md, "Container grace period";
 * pkg/kubelet/kuberuntime/kuberuntime_container.go, killContainer).
 *
 * Deleting a pod replaces the period of its spec; nothing goes below 2 s. What a preStop hook or a
 * wait for sidecars takes is subtracted unseen, and a probe that fails brings a period of its own:
 * then it is unknown.
 */
#ifndef CORE_STOP_GRACE_H
#define CORE_STOP_GRACE_H

#include "core/names/table.h"
#include "core/words/words.h"

struct grace {
	enum grace_from from;
	uint64_t ns; /* 0 unless it is known, and then no time at all */
	bool sure;   /* the sources would know of what shortened it */
};

/* pod: NULL for a container in none, or of which nothing is known; own: what is known of the
 * container by its id, spec: by its name in the pod's spec; each may be NULL. assumed_ns 0: nothing
 * is assumed. */
struct grace grace_of(const struct podtab_pod *pod, const struct podtab_container *own,
		      const struct podtab_container *spec, uint64_t assumed_ns);

/*
 * A runtime's API takes a timeout of its own (docker stop -t) that no source shows: what happened
 * after_ns after the stop signal may contradict the container's own. A kill at a whole second shows
 * it; with anything else that is later than the container's own, the period is unknown.
 */
struct grace grace_observed(const struct grace *own, uint64_t after_ns, bool killed);

/* What happened so long after the stop signal is too late for it, by a tenth or a second. */
bool grace_is_outlived(const struct grace *grace, uint64_t after_ns);

static inline bool grace_known(const struct grace *grace)
{
	return grace->from >= GRACE_SPEC && grace->from < GRACE_FROM_COUNT;
}

#endif
