// SPDX-License-Identifier: Apache-2.0
/* The words of a shutdown. */
#include <errno.h>
#include <string.h>

#include "core/shutdown/shutdown.h"

static const char *const modes[SHUTDOWN_MODE_COUNT] = {
	[SHUTDOWN_OBSERVE] = "observe",
	[SHUTDOWN_ASSIST] = "assist",
};

const char *shutdown_mode_name(enum shutdown_mode mode)
{
	return (unsigned int)mode < SHUTDOWN_MODE_COUNT ? modes[mode] : NULL;
}

int shutdown_mode_parse(const char *text, enum shutdown_mode *ret)
{
	for (int i = 0; i < SHUTDOWN_MODE_COUNT; i++) {
		if (strcmp(modes[i], text) != 0)
			continue;
		*ret = (enum shutdown_mode)i;
		return 0;
	}
	return -EINVAL;
}

const char *shutdown_action_name(enum shutdown_action action)
{
	static const char *const names[SHUTDOWN_ACTION_COUNT] = {
		[SHUTDOWN_UNKNOWN] = "unknown", [SHUTDOWN_POWER_OFF] = "power-off",
		[SHUTDOWN_REBOOT] = "reboot",	[SHUTDOWN_HALT] = "halt",
		[SHUTDOWN_KEXEC] = "kexec",	[SHUTDOWN_SOFT_REBOOT] = "soft-reboot",
	};

	return (unsigned int)action < SHUTDOWN_ACTION_COUNT ? names[action] : NULL;
}

enum shutdown_action shutdown_action_of(const char *type)
{
	if (strcmp(type, "poweroff") == 0)
		return SHUTDOWN_POWER_OFF;
	for (int i = SHUTDOWN_UNKNOWN + 1; i < SHUTDOWN_ACTION_COUNT; i++)
		if (strcmp(shutdown_action_name((enum shutdown_action)i), type) == 0)
			return (enum shutdown_action)i;
	return SHUTDOWN_UNKNOWN;
}

const char *shutdown_reason_name(enum shutdown_reason reason)
{
	static const char *const names[SHUTDOWN_REASON_COUNT] = {
		[SHUTDOWN_NO_OTHER_LOCK] = "no-other-lock",
		[SHUTDOWN_LOCKS_UNKNOWN] = "locks-unknown",
		[SHUTDOWN_ALL_EMPTY] = "all-empty",
		[SHUTDOWN_NOBODY_STOPS] = "nobody-stops",
		[SHUTDOWN_PODS_ENDED] = "pods-ended",
		[SHUTDOWN_STATUS_LATE] = "status-late",
		[SHUTDOWN_API_UNREACHABLE] = "api-unreachable",
		[SHUTDOWN_API_SERVER_STOPPED] = "api-server-stopped",
		[SHUTDOWN_LIMIT] = "limit",
	};

	return (unsigned int)reason < SHUTDOWN_REASON_COUNT ? names[reason] : NULL;
}

const char *shutdown_pod_state_name(enum shutdown_pod_state state)
{
	static const char *const names[SHUTDOWN_POD_STATE_COUNT] = {
		[SHUTDOWN_POD_RUNNING] = "running",
		[SHUTDOWN_POD_STOPPING] = "stopping",
		[SHUTDOWN_POD_ENDED] = "ended",
	};

	return (unsigned int)state < SHUTDOWN_POD_STATE_COUNT ? names[state] : NULL;
}

const char *shutdown_told_name(enum shutdown_told told)
{
	static const char *const names[SHUTDOWN_TOLD_COUNT] = {
		[SHUTDOWN_TOLD_ANNOUNCED] = "announced",
		[SHUTDOWN_TOLD_GROUP_STARTED] = "group-started",
		[SHUTDOWN_TOLD_GROUP_DONE] = "group-done",
		[SHUTDOWN_TOLD_OVERDUE] = "pod-overdue",
		[SHUTDOWN_TOLD_KILLED] = "container-killed",
		[SHUTDOWN_TOLD_SURVIVES] = "container-survives",
		[SHUTDOWN_TOLD_RELEASED] = "released",
		[SHUTDOWN_TOLD_HELD_UP] = "held-up",
		[SHUTDOWN_TOLD_CANCELLED] = "cancelled",
		[SHUTDOWN_TOLD_ENDED] = "ended",
	};

	return (unsigned int)told < SHUTDOWN_TOLD_COUNT ? names[told] : NULL;
}
