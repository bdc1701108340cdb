/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counts of a container's limits: CPU, processes, memory, I/O; and whether it is
 * frozen. On a node with hierarchies v1 each controller may have one of its own. */
#ifndef IO_CGROUP_FIGURES_H
#define IO_CGROUP_FIGURES_H

#include <sys/types.h>

#include "core/facts/look.h"
#include "io/cgroup/hierarchy.h"

/* Where the controllers are mounted. */
struct figures;

/* 0 or -ENOMEM. The hierarchy is that of the containers. */
int figures_new(const struct hierarchy *containers, struct figures **ret);
struct figures *figures_free(struct figures *figures);

/* Reads the figures of the container at path; in the other hierarchies at the path of its init, if
 * that has the same name. What cannot be read is 0. */
void figures_read(const struct figures *figures, const char *path, pid_t init,
		  struct obs_looked *ret);

#endif
