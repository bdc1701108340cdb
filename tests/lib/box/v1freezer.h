/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The freezer controller of cgroup v1: what it holds does not even end of SIGKILL until it is let
 * out. There is one cgroup of it for each test program; box_tree_close(), and the guard of a
 * program that died, let out what is in it.
 */
#ifndef TESTS_LIB_BOX_V1FREEZER_H
#define TESTS_LIB_BOX_V1FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/box/hier.h"

/* It is mounted, may be written, and is not the hierarchy that the boxes are in. */
bool v1freezer_is_here(const struct hier *hier);

/* Holds the processes of a cgroup, such as a box's; those of several are held together. Returns
 * once they stand still. 0 or -errno. */
int v1freezer_hold(const char *cgroup);
int v1freezer_hold_process(pid_t pid);

/* Lets out what a program holds and removes its cgroup; fine if there is none. 0 or -errno. */
int v1freezer_let_out(pid_t program);

#endif
