/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audits all running containers again and again for graced top, in a process of its own: neither a
 * slow runtime nor a node full of containers holds the screen up.
 */
#ifndef APP_COMMANDS_TOP_AUDIT_H
#define APP_COMMANDS_TOP_AUDIT_H

#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "core/top/top.h"

struct topaudit;

/* options, top and userdata are borrowed; changed is called after top was given something new. The
 * first audit begins in the loop's next turn. -errno. */
int topaudit_new(const struct options *options, struct top *top, sd_event *event,
		 void (*changed)(void *userdata), void *userdata, struct topaudit **ret);
struct topaudit *topaudit_free(struct topaudit *audit);

#endif
