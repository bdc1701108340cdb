/* SPDX-License-Identifier: Apache-2.0 */
/* Which CSI drivers the volumes that are mounted on this host are of. */
#ifndef APP_COMMANDS_PLAN_VOLUMES_H
#define APP_COMMANDS_PLAN_VOLUMES_H

#include "core/shutdown/view.h"

/* By the mounts of this process's namespace and the kubelet's files beside them; root is the
 * kubelet's root directory. What cannot be read is left out. 0 or -ENOMEM; the list is the arena's.
 */
int planvolumes_read(const char *root, struct arena *arena, struct shutview_use **ret,
		     size_t *ret_n);

#endif
