/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check tells of pods whose grace period does not fit into a shutdown. */
#ifndef APP_COMMANDS_CHECK_GRACE_H
#define APP_COMMANDS_CHECK_GRACE_H

#include "app/commands/check/shutdown.h"
#include "app/commands/describe.h"

/* Of the pods that sources told of; nothing where there is none, or the kubelet has no part in
 * shutdowns. */
void check_grace(const struct describe *describe, const struct kubeletfile *file,
		 check_shutdown_fn fn, void *userdata);

#endif
