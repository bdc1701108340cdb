/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check tells of how long logind waits in a shutdown. */
#ifndef APP_COMMANDS_CHECK_DELAY_H
#define APP_COMMANDS_CHECK_DELAY_H

#include <stdint.h>

#include "app/commands/check/shutdown.h"

/* limit_ns is what logind does now, 0: not known; need_ns what the kubelet's groups take, 0:
 * nothing. Reads logind's files. */
void check_delay(uint64_t limit_ns, uint64_t need_ns, check_shutdown_fn fn, void *userdata);

#endif
