/* SPDX-License-Identifier: Apache-2.0 */
/* The groups in which pods are ended in a shutdown of the node: in mode manage graced's own
 * settings have them, where there are any, else the kubelet's configuration. */
#ifndef APP_CONFIG_GROUPS_H
#define APP_CONFIG_GROUPS_H

#include "app/config/config.h"
#include "app/config/kubelet_file.h"

/* True: they are wrong together, and why is added, in the kubelet's words. */
bool groups_refuse(const struct config_groups *groups, struct buf *ret_why);

/* Any are given. */
bool groups_are_given(const struct config_groups *groups);

/* Whether it is graced's own that count. */
bool groups_are_own(const struct config_shutdown *options);

/* Those that count: as kubeletfile_plan(), and graced's own by the rules of the newest kubelet. */
int groups_plan(const struct config_shutdown *options, const struct kubeletfile *file,
		struct arena *arena, struct shutplan *ret, struct kubeletfile_why *ret_why);

/* How long logind has to wait for it all, shutdown.extra included; 0: it need not wait. */
uint64_t groups_need_ns(const struct config_shutdown *options, const struct shutplan *plan);

#endif
