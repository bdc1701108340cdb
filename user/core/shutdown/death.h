/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof of death: whether nothing of any pod is left of a node, so that its pods may run elsewhere
 * and its volumes be attached there (the out-of-service taint of Kubernetes).
 *
 * There are two proofs. In a shutdown graced has observed the end of every process and mount, in
 * this boot and without a gap. After a boot the boot id alone is proof for the boot before: no
 * process and no mount goes through the start of a kernel.
 */
#ifndef CORE_SHUTDOWN_DEATH_H
#define CORE_SHUTDOWN_DEATH_H

#include <stdbool.h>
#include <stddef.h>

#define DEATH_BOOT_SIZE 37 /* of a boot id with its NUL */

struct death_facts {
	/* The boot whose pods are in question, and the one that runs. */
	const char *boot, *now_boot;
	/* What was observed, of the boot that runs. */
	bool complete;	   /* every cgroup that there was at the start is known */
	bool lost;	   /* a record of the kernel half was, or a fact found no room */
	size_t populated;  /* cgroups of pods with a process, sandboxes included */
	bool mounts_known; /* all of the kubelet's mounts are */
	size_t mounts;	   /* ... that are there */
	bool may_start;	   /* something that is not known to be stopped may start containers */
};

bool death_is_proven(const struct death_facts *facts);

/* The node as the API has it. */
struct death_node {
	const char *boot; /* status.nodeInfo.bootID, as the kubelet wrote it; NULL: none */
	bool ready;	  /* its condition Ready is True */
};

/*
 * Why the taint is not set for the pods of that boot; NULL: it may be. The pods that the API has on
 * the node are those of the boot that the kubelet reported last: a disk that was copied, a machine
 * of the same name or a kubelet that has started since show another one. A node that is still Ready
 * has not been missed: its pods go on where they are, and no garbage collection would remove them.
 */
const char *death_refuses(const struct death_node *node, const char *boot, const char *now_boot);

#endif
