/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of one node, as kubectl printed them. */
#ifndef APP_COMMANDS_PLAN_NODE_PODS_H
#define APP_COMMANDS_PLAN_NODE_PODS_H

#include "base/arena.h"
#include "core/kubelet/pod.h"

struct nodepods {
	struct arena arena; /* of the pods */
	const struct podobj_pod **list;
	size_t n, room;
	size_t left_out;     /* those on no node yet */
	const char *node;    /* "" unless one is told */
	const char *refused; /* why the pods are none of one node; NULL: they are */
};

/* Reads them for graced plan, and says how many were left out. 0, or 1 when anything was wrong,
 * which was said: the exit status. Those that were not wrong are there nonetheless. */
int nodepods_read(const char *path, struct nodepods *ret);
/* Fits _cleanup_(nodepods_free); nothing was read yet when all of it is zero. */
void nodepods_free(struct nodepods *pods);

#endif
