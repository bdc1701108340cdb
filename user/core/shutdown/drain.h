/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order to delete the pods of a node that ends at a deadline, so that as many as can end
 * properly do, and which ones cannot.
 *
 * Groups of priorities are those of a shutdown (core/shutdown/plan). Pods are deleted group by
 * group, the lowest priority first, as those of a higher one may serve the others (DNS, networks).
 * In a group, the pod that needs longest comes first. A pod needs its grace period, or no time
 * where each of its containers is deaf: whatever it gets, it is killed in the end.
 *
 * The first group is deleted at once; each further one when the groups before it have ended, or at
 * the latest when its own longest need and those of the groups after it are all that is left until
 * the deadline. Where that is too short for all of them one after another, groups overlap. So a pod
 * is cut short only if it needs more than the whole time.
 *
 * Times are since the question was asked, when no pod has been deleted yet.
 */
#ifndef CORE_SHUTDOWN_DRAIN_H
#define CORE_SHUTDOWN_DRAIN_H

#include "core/shutdown/view.h"

struct drain_group {
	size_t n_pods;	  /* to delete */
	uint64_t need_ns; /* by the pod that needs longest, the deadline at the most */
	uint64_t by_ns;	  /* when it is deleted at the latest; 0: at once */
};

struct drain {
	uint64_t deadline_ns;
	unsigned int minor; /* of the kubelet 1.<minor> */
	const struct shutplan *plan;
	const struct shutview_pod *pods; /* in the order of drain_sort() */
	size_t n;
	const struct drain_group *groups; /* of the plan's */
	size_t n_groups;		  /* those with pods to delete */
	size_t parts[DRAIN_PARTS];	  /* pods */
	size_t cut_short, unknown;	  /* of those to delete or being deleted */
	size_t deaf, unheard;		  /* of those to delete */
};

/* The groups of a shutdown's plan, each with the whole time; a plan without groups: critical pods
 * and all others. 0 or -ENOMEM; the groups are the arena's. */
int drain_plan_of(const struct shutplan *plan, uint64_t deadline_ns, struct arena *arena,
		  struct shutplan *ret);

/* view: shutview_pod_of() such a plan, after shutview_listen(). Then cut is by the deadline and the
 * need. */
struct shutview_pod drain_pod_of(const struct shutview_pod *view, uint64_t deadline_ns);

void drain_sort(struct shutview_pod *pods, size_t n);

/* Adds up what was sorted. 0 or -ENOMEM. The groups are the arena's; the plan and the pods are only
 * pointed to. */
int drain_of(const struct shutplan *plan, uint64_t deadline_ns, const struct shutview_pod *pods,
	     size_t n, struct arena *arena, struct drain *ret);

#endif
