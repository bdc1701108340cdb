/* SPDX-License-Identifier: Apache-2.0 */
/* In which container a process is. */
#ifndef APP_LIVE_PLACE_H
#define APP_LIVE_PLACE_H

#include <stdint.h>
#include <sys/types.h>

#include "app/live/scan.h"
#include "core/cgroup/path.h"
#include "io/cgroup/fs.h"
#include "io/kernel/kernel.h"

/* 1 with the id of its cgroup; 0: none; -errno. */
int place_of_process(struct cgfs *cgfs, const struct kern *kern, const struct hierarchy *hierarchy,
		     pid_t pid, uint64_t *ret);

/* An init was moved: it is that of the container where it is now, if there is one without. */
void place_init(struct cgfs *cgfs, const struct kern *kern, const struct hierarchy *hierarchy,
		struct scan *scan, uint32_t pid);

/* The container that this program itself runs in. */

/* What the path of its cgroup says, from the hierarchy's root on: /proc/self/cgroup does not show
 * that in a cgroup namespace of its own. -ENOENT where it is in no cgroup of this hierarchy. */
int own_path(struct cgfs *cgfs, struct cgpath *ret);
/* The path itself. Likewise. */
int own_cgroup(struct cgfs *cgfs, char ret[static CGPATH_MAX]);

/* Whether it runs in a pod, by that hierarchy (NULL: the default) or any in /proc/self/cgroup. */
bool own_is_in_pod(const char *hierarchy);

#endif
