/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node shutdown would do now to the pods of a node, as the API has them
 * (docs/kubelet-rules.md, "Kill phase"): core/shutdown/plan of each, and what it comes to at the
 * worst, when every group takes all of its time. Times are since the announcement.
 */
#ifndef CORE_SHUTDOWN_VIEW_H
#define CORE_SHUTDOWN_VIEW_H

#include "core/kubelet/pod.h"
#include "core/shutdown/plan.h"
#include "core/words/words.h"

/* Whether a pod's group is over before its grace period is. */
enum shutview_cut {
	/* No source provides its grace period; or it is being deleted with one that is longer than
	 * the group's, and some of that has passed. */
	SHUTVIEW_CUT_UNKNOWN,
	SHUTVIEW_FITS,
	SHUTVIEW_CUT_SHORT,
};

/* Whether a container hears its stop signal (core/stop/audit); of a pod: whether all that run do. */
enum shutview_hearing {
	SHUTVIEW_HEARING_UNKNOWN, /* some were not looked at, and no other is deaf */
	SHUTVIEW_HEARS,
	SHUTVIEW_DEAF, /* one at least does not */
};

/* A running container that was looked at. */
struct shutview_look {
	const char *id; /* without the runtime's name */
	enum shutview_hearing hearing;
};

/* A volume that is mounted for a pod. */
struct shutview_use {
	const char *pod_uid, *driver; /* of CSI */
};

/* A CSI driver whose pods are all in earlier groups than a pod that uses it. */
struct shutview_early {
	const char *driver;
	const struct podobj_pod *pod; /* the one of them that is stopped last */
};

struct shutview_pod {
	const struct podobj_pod *pod;
	bool over; /* it had ended already: what follows does not hold */
	size_t group;
	int64_t override_s; /* what its kill overrides its grace period with */
	int64_t stop_s;	    /* shutplan_stop_s() */
	enum shutview_cut cut;
	enum shutview_hearing hearing; /* unknown before shutview_listen() */
	const char *const *deaf;       /* names of the deaf containers */
	size_t n_deaf;
	uint64_t wasted_ns; /* how long its group waits for the deaf ones at the most */
	const struct shutview_early *early; /* as far as is known; of shutview_find_drivers() */
	size_t n_early;
	/* Of drain_pod_of() alone (core/shutdown/drain). */
	enum drain_part part;
	bool need_known;
	uint64_t need_ns;
};

struct shutview_group {
	size_t n_pods;	      /* 0: it is passed over, and the times are 0 */
	uint64_t earliest_ns; /* when it starts */
	uint64_t latest_ns;
	uint64_t deadline_ns; /* of a group that starts at the latest */
	uint64_t wasted_ns;   /* by the pod that wastes most */
};

/* What is known of the node besides its pods. */
struct shutview_rules {
	unsigned int minor; /* of the kubelet 1.<minor> */
	struct shutplan plan;
	bool managed;	   /* by graced, in mode manage; else by the kubelet */
	uint64_t extra_ns; /* that who stops them wants logind to allow beyond the groups */
	bool has_limit;
	uint64_t limit_ns; /* how long logind lets locks hold up a shutdown, if that is known */
};

struct shutview {
	const struct shutview_rules *rules;
	const struct shutview_pod *pods; /* in their order */
	size_t n;
	const struct shutview_group *groups; /* of the plan's */
	size_t n_groups;		     /* those with pods */
	size_t cut_short, unknown, over;     /* pods */
	size_t deaf, unheard;		     /* pods; unheard: whether they are is not known */
	uint64_t wasted_ns;		     /* in all groups, each by the one that wastes most */
	uint64_t end_ns;		     /* when the last group is over at the latest */
	uint64_t requested_ns;		     /* what who stops them wants logind to allow */
};

/* The pod is only pointed to; the plan has groups. */
struct shutview_pod shutview_pod_of(const struct shutplan *plan, const struct podobj_pod *pod);

/* Whether a container of this id is said to run in the pod. */
bool shutview_runs(const struct shutview_pod *pod, const char *id);

/* Says who of a pod is deaf, by looks at containers, in any order and of other pods, too. 0 or
 * -ENOMEM; the list is the arena's, the names are the pod's. */
int shutview_listen(const struct shutplan *plan, struct shutview_pod *pod,
		    const struct shutview_look *looks, size_t n, struct arena *arena);

/* Finds the CSI drivers that a pod uses, by its own volumes and by uses, and which are stopped
 * before it. A driver's pod is known by its spec: it has the directory of the kubelet's
 * registrations, and the one below plugins/ that is named like the driver. Others are not found.
 * root is the kubelet's root directory. 0 or -ENOMEM; what it adds is the arena's, and points to
 * the pods. */
int shutview_find_drivers(struct shutview_pod *pods, size_t n, const struct shutview_use *uses,
			  size_t n_uses, const char *root, struct arena *arena);

/* In the order in which they are ended, those that are over last; then by namespace and name. */
void shutview_sort(struct shutview_pod *pods, size_t n);

/* 0 or -ENOMEM. The groups are the arena's, all else is only pointed to. */
int shutview_of(const struct shutview_rules *rules, const struct shutview_pod *pods, size_t n,
		struct arena *arena, struct shutview *ret);

/* Whether logind waits for the kubelet; true where it is not known. */
bool shutview_suffices(const struct shutview *view);

#endif
