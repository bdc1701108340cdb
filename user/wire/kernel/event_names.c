// SPDX-License-Identifier: Apache-2.0
/* Names of event types. */
#include "wire/kernel/event_names.h"

#include <stddef.h>

#include <linux/types.h>

#include "graced/event.h"

const char *evname(unsigned int type)
{
	static const char *const names[GRACED_EV_COUNT] = {
		[GRACED_EV_CGROUP_NEW] = "cgroup_new",
		[GRACED_EV_CGROUP_GONE] = "cgroup_gone",
		[GRACED_EV_CGROUP_EMPTY] = "cgroup_empty",
		[GRACED_EV_INIT] = "init",
		[GRACED_EV_SIGNAL] = "signal",
		[GRACED_EV_EXIT] = "exit",
		[GRACED_EV_OOM] = "oom",
		[GRACED_EV_REAPED] = "reaped",
	};

	return type < GRACED_EV_COUNT ? names[type] : NULL;
}
