/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged user of the host with a cgroup that is delegated to them, as systemd delegates
 * one: they make a pod of any uid and a container of any id in it, and run a process there.
 *
 *   <tree>/app.service/kubepods/pod<uid>/<id>
 */
#ifndef TESTS_LIB_BOX_FORGER_H
#define TESTS_LIB_BOX_FORGER_H

#include "lib/box/box_tree.h"

#define FORGER_UID 65534

struct forger {
	char top[HIER_PATH_MAX]; /* root's directory that is theirs */
	char pods[HIER_PATH_MAX], pod[HIER_PATH_MAX], dir[HIER_PATH_MAX]; /* made by them */
	char path[HIER_PATH_MAX]; /* dir from the hierarchy's root */
	pid_t pid;		  /* runs in dir, has exec'd, and dies of SIGTERM */
};

/* 0 or -errno. The tree's end ends it, too. */
int forger_start(const struct box_tree *tree, const char *pod_uid, const char *container_id,
		 struct forger *ret);
/* Waits for its end, which is to come, and removes what they made. 0 or -errno. */
int forger_end(struct forger *f);

#endif
