/* SPDX-License-Identifier: Apache-2.0 */
/* What a node's shutdown gives the stop of a container in a pod. */
#ifndef CORE_ENGINE_GIVEN_H
#define CORE_ENGINE_GIVEN_H

#include "core/shutdown/plan.h"
#include "core/shutdown/shutdown.h"
#include "core/stop/stop.h"

/* The node's shutdown, as far as it bounds grace periods. All zero: no shutdown is followed. */
struct given {
	bool watched;		     /* a shutdown that is announced would be known */
	bool going;		     /* one is announced */
	uint64_t announced_ns;	     /* when, while it is going */
	const struct shutplan *plan; /* of the kubelet; NULL: none */
	bool managed; /* graced ends the pods: what is late has less than its group */
	const struct shutdown *sequencer; /* of a managed one */
};

/* The pod as the plan sees it; meta NULL: no source describes it. */
struct shutplan_pod given_pod(const struct podtab_pod *meta, bool is_static);

/* Whether what is noted in stop is what graced itself gave it. */
static inline bool given_by_graced(const struct given *given, const struct stop *stop)
{
	return given->managed && stop->given_ns && !stop->given_unknown;
}

/* Notes in stop what the shutdown that is under way gives it, if its stop was requested in that.
 * meta: of its pod, NULL when no source describes it. True: that is new. */
bool given_note(const struct given *given, const struct podtab_pod *meta, struct stop *stop);

#endif
