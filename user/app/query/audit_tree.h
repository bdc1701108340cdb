/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the processes below an init, and has it judged what would become of each. */
#ifndef APP_QUERY_AUDIT_TREE_H
#define APP_QUERY_AUDIT_TREE_H

#include "core/tree/tree.h"
#include "io/proc/proc.h"

/* All zero: nothing was looked at. */
struct audit_tree {
	struct tree tree;
	struct audit_seen *seen; /* what the tree's strings are in */
};

struct audit_tree_of {
	const struct procfs_proc *init;
	const struct procfs_proc *members; /* the processes of the cgroup */
	size_t n;
	const struct audit_facts *facts; /* of the init */
	const struct audit *audit;	 /* likewise */
	bool only_below;		 /* it is not an init: the others do not concern it */
};

/* 0 or -ENOMEM. */
int audit_tree_read(const struct audit_tree_of *of, struct audit_tree *ret);

void audit_tree_free(struct audit_tree *tree);

#endif
