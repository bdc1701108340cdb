/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private cgroup subtree that a test's boxes are made in, and its end: everything in it goes
 * away with box_tree_close(), processes included; when the program dies before, a guard process
 * does the same.
 */
#ifndef TESTS_LIB_BOX_BOX_TREE_H
#define TESTS_LIB_BOX_BOX_TREE_H

#include "lib/box/hier.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct box_tree {
	struct hier hier;
	char root[HIER_PATH_MAX];      /* the tree's directory in the hierarchy */
	char twin_root[HIER_PATH_MAX]; /* the same in the cgroup2 tree of a hybrid host, or "" */
	char tmp[64];		       /* private directory: cwd of boxes, the program named runc */
	char helpers[HIER_PATH_MAX];   /* where the helper programs are: $HELPERS */
	uint64_t seed;		       /* of pod uids and container ids */
	bool delegated_root;
	pid_t program; /* that made it */
	int guard_fd;
	pid_t guard_pid;
};

/* Why boxes cannot be made here (not root, no helpers, no hierarchy), or NULL. */
const char *box_unavailable(void);

/* Make a private subtree; what is a short word for its name. 0 or -errno. */
int box_tree_open(struct box_tree *ret, const char *what);

/* End and remove everything in the tree. 0 or what would not go away. NULL and twice are fine. */
int box_tree_close(struct box_tree *tree);

/* The next deterministic 64-bit number of a tree. */
uint64_t box_tree_random(struct box_tree *tree);

/* The path of a directory of the hierarchy from its root. */
const char *box_tree_relative(const struct box_tree *tree, const char *dir);

#endif
