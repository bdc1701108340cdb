// SPDX-License-Identifier: Apache-2.0
/* The words of graced-records(5) for outcomes, causes and gaps in the evidence. */
#include "core/stop/outcome.h"

#include <string.h>

static const char *const OUTCOMES[OUTCOME_COUNT] = {
	[OUTCOME_UNKNOWN] = "unknown",	     [OUTCOME_GRACEFUL] = "graceful",
	[OUTCOME_TERMINATED] = "terminated", [OUTCOME_KILLED] = "killed",
	[OUTCOME_OOM_KILLED] = "oom-killed", [OUTCOME_CRASHED] = "crashed",
	[OUTCOME_COMPLETED] = "completed",   [OUTCOME_FAILED] = "failed",
};

static const char *const CAUSES[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = "unknown",
	[CAUSE_STOP_SIGNAL] = "stop-signal",
	[CAUSE_GRACE_EXPIRED] = "grace-expired",
	[CAUSE_KILLED_EARLY] = "killed-early",
	[CAUSE_NO_GRACE] = "no-grace",
	[CAUSE_OOM_CONTAINER] = "oom-container",
	[CAUSE_OOM_POD] = "oom-pod",
	[CAUSE_OOM_NODE] = "oom-node",
	[CAUSE_OOM_UNKNOWN] = "oom-unknown",
	[CAUSE_OOM_USERSPACE] = "oom-userspace",
	[CAUSE_PID_NAMESPACE] = "pid-namespace",
	[CAUSE_KERNEL] = "kernel",
	[CAUSE_SELF] = "self",
	[CAUSE_SAME_CONTAINER] = "same-container",
	[CAUSE_SAME_POD] = "same-pod",
	[CAUSE_OTHER_POD] = "other-pod",
	[CAUSE_HOST] = "host",
	[CAUSE_PARENT_DEATH] = "parent-death",
	[CAUSE_DEAF_GRACE] = "deaf-grace",
	[CAUSE_RUNTIME_LOST] = "runtime-lost",
};

static const char *const GAPS[GAP_COUNT] = {
	[GAP_EVENTS_LOST] = "events-lost",
	[GAP_SUPPRESSED] = "suppressed",
	[GAP_ATTACHED_LATE] = "attached-late",
	[GAP_DAEMON_DOWN] = "daemon-down",
	[GAP_UNKNOWN_CGROUP] = "unknown-cgroup",
	[GAP_INIT_GUESSED] = "init-guessed",
	[GAP_KILL_UNSEEN] = "kill-unseen",
	[GAP_EXIT_UNSEEN] = "exit-unseen",
	[GAP_OOM_LEVEL] = "oom-level",
	[GAP_NOT_EMPTY] = "not-empty",
	[GAP_NAME_LATE] = "name-late",
	[GAP_SOURCE_FAILED] = "source-failed",
	[GAP_SHED] = "shed",
	[GAP_GRACE_UNCERTAIN] = "grace-uncertain",
	[GAP_SENDER_UNKNOWN] = "sender-unknown",
	[GAP_STOP_SIGNAL_UNKNOWN] = "stop-signal-unknown",
	[GAP_TIME_UNCERTAIN] = "time-uncertain",
	[GAP_SANDBOX_GUESSED] = "sandbox-guessed",
	[GAP_INIT_UNSEEN] = "init-unseen",
	[GAP_TAKE_UNSEEN] = "take-unseen",
	[GAP_NOT_REAPED] = "not-reaped",
	[GAP_INIT_MOVED] = "init-moved",
	[GAP_CHILD_UNCERTAIN] = "child-uncertain",
};

const char *outcome_name(enum outcome outcome)
{
	return (unsigned int)outcome < OUTCOME_COUNT ? OUTCOMES[outcome] : "unknown";
}

const char *cause_name(enum cause cause)
{
	return (unsigned int)cause < CAUSE_COUNT ? CAUSES[cause] : "unknown";
}

const char *gap_name(enum gap gap)
{
	return (unsigned int)gap < GAP_COUNT ? GAPS[gap] : "unknown";
}

enum outcome outcome_from_name(const char *name)
{
	for (unsigned int i = 0; i < OUTCOME_COUNT; i++) {
		if (strcmp(name, OUTCOMES[i]) == 0)
			return (enum outcome)i;
	}
	return OUTCOME_COUNT;
}

const char *oom_level_name(enum oom_level level)
{
	switch (level) {
	case OOM_LEVEL_CONTAINER:
		return "container";
	case OOM_LEVEL_POD:
		return "pod";
	case OOM_LEVEL_NODE:
		return "node";
	case OOM_LEVEL_NONE:
	case OOM_LEVEL_UNKNOWN:
		break;
	}
	return "unknown";
}
