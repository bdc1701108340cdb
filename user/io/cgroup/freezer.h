/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process is frozen by its cgroup: v2's cgroup.freeze or v1's freezer controller, on
 * hybrid hosts either. */
#ifndef IO_CGROUP_FREEZER_H
#define IO_CGROUP_FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

#include "io/cgroup/hierarchy.h"

struct freezer {
	bool has_v1, has_v2;
	struct hierarchy v1, v2;
};

/* What is mounted here; a host without either freezes nothing. */
void freezer_find(struct freezer *ret);

bool freezer_holds(const struct freezer *freezer, pid_t pid);

#endif
