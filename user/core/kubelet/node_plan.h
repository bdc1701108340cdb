/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of all pods of a node that goes silent (docs/kubelet-rules.md, "Silent node"):
 * core/kubelet/node_failure of each, what it comes to for who needs the pod, and the order in which
 * somebody has to look at them.
 */
#ifndef CORE_KUBELET_NODE_PLAN_H
#define CORE_KUBELET_NODE_PLAN_H

#include "core/kubelet/node_failure.h"

enum nodeplan_fate {
	NODEPLAN_DOWN,	   /* "down": no other is made until somebody acts */
	NODEPLAN_UNKNOWN,  /* "unknown": its controller is somebody's own */
	NODEPLAN_REMAINS,  /* "remains": another is made, but something of it stays stuck */
	NODEPLAN_NODE,	   /* "node": a DaemonSet's or static, of use to its node alone */
	NODEPLAN_REPLACED, /* "replaced": another is made, and nothing is left */
	NODEPLAN_OVER,	   /* "over": it had ended already */
	NODEPLAN_FATE_COUNT,
};

struct nodeplan_rules {
	unsigned int minor; /* of Kubernetes 1.<minor> */
	struct nodefail_rules nodefail;
	enum nodefail_taint taint; /* of out-of-service */
	int64_t taint_s;	   /* when it is set; see core/kubelet/node_failure.h */
};

struct nodeplan_pod {
	const struct podobj_pod *pod;
	struct nodefail dies;	   /* what becomes of it */
	struct nodefail untainted; /* and what would without the out-of-service taint */
	enum nodeplan_fate fate;
};

struct nodeplan_counts {
	size_t fates[NODEPLAN_FATE_COUNT];
	/* What the taint changes: objects that go, pods of which another is made. */
	size_t freed, revived;
};

/* The pod is only pointed to. */
struct nodeplan_pod nodeplan_of(const struct nodeplan_rules *rules, const struct podobj_pod *pod);

/* Those with anything stuck first, then by fate, namespace and name. */
void nodeplan_sort(struct nodeplan_pod *pods, size_t n);

struct nodeplan_counts nodeplan_count(const struct nodeplan_pod *pods, size_t n);

/* The words in quotes above; NULL for a number that is none. */
const char *nodeplan_fate_name(enum nodeplan_fate fate);

#endif
