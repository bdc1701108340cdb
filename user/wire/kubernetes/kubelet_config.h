/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kubelet's configuration file (KubeletConfiguration, YAML or JSON) says of a node
 * shutdown (docs/kubelet-rules.md, "Shutdown settings"). Other members are ignored.
 */
#ifndef WIRE_KUBERNETES_KUBELET_CONFIG_H
#define WIRE_KUBERNETES_KUBELET_CONFIG_H

#include "core/shutdown/plan.h"

#define KUBELETCONF_SIZE_MAX   ((size_t)1 << 20)
#define KUBELETCONF_RANGES_MAX 64

enum kubeletconf_gate { KUBELETCONF_DEFAULT, KUBELETCONF_OFF, KUBELETCONF_ON };

struct kubeletconf {
	int64_t total_ns, critical_ns; /* 0: not said */
	struct shutplan_range list[KUBELETCONF_RANGES_MAX];
	size_t n_list;
	enum kubeletconf_gate gate, priority_gate;
};

/* What is wrong, for a person, without a full stop: "line 3: shutdownGracePeriod …". */
struct kubeletconf_why {
	char text[160];
};

/*
 * 0; -EBADMSG for what is no such file, or says something of a shutdown that the kubelet would not
 * take or that people and the kubelet read differently (a key twice, a number like 010); -E2BIG for
 * too large a file or too many priorities; -ENOMEM. On failure *ret is as if nothing was said, and
 * *ret_why is filled.
 */
int kubeletconf_read(const char *text, size_t size, struct kubeletconf *ret,
		     struct kubeletconf_why *ret_why);

/* As the manager of a kubelet 1.<minor> takes it, its gates' defaults filled in. The list is
 * conf's. */
struct shutplan_config kubeletconf_plan(const struct kubeletconf *conf, unsigned int minor);

#endif
