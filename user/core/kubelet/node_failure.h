/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a pod when its node goes silent (docs/kubelet-rules.md, "Silent node",
 * "Taints and eviction" and "Replacement"): when the cluster notices, deletes the pod, makes
 * another in its place, and what stays stuck until an operator acts.
 *
 * Times are seconds since the node's last heartbeat, as spans that take what the controllers'
 * periods may add. They hold for a single node: evictions of many nodes at once are rate limited.
 */
#ifndef CORE_KUBELET_NODE_FAILURE_H
#define CORE_KUBELET_NODE_FAILURE_H

#include "core/kubelet/pod.h"
#include "core/words/words.h"

/* How long a pod stays on a node that has a taint (docs/kubelet-rules.md, "Taints and eviction"). */

enum toleration_kind {
	TOLERATION_NONE,    /* it has to go at once */
	TOLERATION_SECONDS, /* it may stay for so long */
	TOLERATION_FOREVER,
};

struct toleration {
	enum toleration_kind kind;
	int64_t seconds; /* not negative */
};

/* By the first of its tolerations that fits the taint, as the taint manager looks at them. */
struct toleration toleration_of(const struct podobj_pod *pod, const char *key, const char *value,
				const char *effect);

#define NODEFAIL_MONITOR_PERIOD_S 5
#define NODEFAIL_GC_PERIOD_S	  20
#define NODEFAIL_GC_GRACE_S	  0   /* of a deletion by pod gc */
#define NODEFAIL_DETACH_S	  360 /* until a volume is taken from a node that does not answer */

#define NODEFAIL_UNREACHABLE	"node.kubernetes.io/unreachable"
#define NODEFAIL_OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

struct nodefail_rules {
	int64_t grace_s;     /* node-monitor-grace-period */
	bool out_of_service; /* that taint has a meaning */
};

/* The rules of a cluster 1.<minor> with its defaults. */
struct nodefail_rules nodefail_rules_of(unsigned int minor);

/* The taint by which an operator says that the node is off for good (docs/kubelet-rules.md,
 * "Out-of-service taint"). */
enum nodefail_taint { NODEFAIL_NO_TAINT, NODEFAIL_TAINT, NODEFAIL_TAINT_NO_EXECUTE };

struct nodefail_in {
	struct nodefail_rules rules;
	const struct podobj_pod *pod;
	enum nodefail_taint taint;
	int64_t taint_s; /* when it is set */
};

struct nodefail_span {
	bool never; /* not until an operator acts */
	int64_t from_s, to_s;
};

struct nodefail {
	enum nodefail_maker maker;
	struct toleration toleration;
	struct nodefail_span unready;  /* node Unknown, pod's Ready False */
	struct nodefail_span tainted;  /* unreachable:NoExecute */
	struct nodefail_span deleted;  /* the deletion request */
	struct nodefail_span gone;     /* the object */
	struct nodefail_span replaced; /* another is made */
	struct nodefail_span detached; /* its volumes can be attached elsewhere */
	uint32_t stuck;		       /* bits 1 << enum nodefail_stuck; 0: it had ended */
};

struct nodefail nodefail_of(const struct nodefail_in *in);

/* Whether the out-of-service taint, with the effect NoExecute, removes the pod from a node that is
 * away. One that has ended and is not being deleted holds nothing up. */
bool nodefail_taint_removes(const struct podobj_pod *pod);

enum nodefail_maker nodefail_maker_of(const struct podobj_pod *pod);

/*
 * What becomes of all pods of a node that goes silent (docs/kubelet-rules.md, "Silent node"):
 * core/kubelet/node_failure of each, what that means for its users, and the order in which an
 * operator has to look at them.
 */

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

#endif
