/* SPDX-License-Identifier: Apache-2.0 */
/* How long a pod stays on a node that has a taint (docs/kubelet-rules.md, "Taints and eviction"). */
#ifndef CORE_KUBELET_TOLERATION_H
#define CORE_KUBELET_TOLERATION_H

#include "core/kubelet/pod.h"

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

#endif
