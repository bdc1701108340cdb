/* SPDX-License-Identifier: Apache-2.0 */
/* The container that this program itself runs in. */
#ifndef APP_LIVE_OWN_H
#define APP_LIVE_OWN_H

#include "core/cgroup/path.h"
#include "io/cgroup/fs.h"

/* What the path of its cgroup says, from the hierarchy's root on: /proc/self/cgroup does not show
 * that in a cgroup namespace of its own. -ENOENT where it is in no cgroup of this hierarchy. */
int own_path(struct cgfs *cgfs, struct cgpath *ret);
/* The path itself. Likewise. */
int own_cgroup(struct cgfs *cgfs, char ret[static CGPATH_MAX]);

/* Whether it runs in a pod, by that hierarchy (NULL: the default) or any in /proc/self/cgroup. */
bool own_is_in_pod(const char *hierarchy);

#endif
