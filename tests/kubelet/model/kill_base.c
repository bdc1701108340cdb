// SPDX-License-Identifier: Apache-2.0
/* Grace periods before hooks and turns are taken off. */
#include "kubelet/model/kill_base.h"

#include <string.h>

#include "core/pods/kill_grace.h"

enum killgrace_why killgrace_why_of(const char *reason)
{
	if (strcmp(reason, "StartupProbe") == 0)
		return KILLGRACE_STARTUP_PROBE;
	if (strcmp(reason, "LivenessProbe") == 0)
		return KILLGRACE_LIVENESS_PROBE;
	return KILLGRACE_OTHER;
}

int64_t killgrace_base(struct pod_seconds deletion, struct pod_seconds spec,
		       struct pod_seconds probe)
{
	if (deletion.set)
		return deletion.s;
	if (!spec.set)
		return KILLGRACE_MIN_S;
	return probe.set ? probe.s : spec.s;
}

int killgrace_trigger_of(const char *word)
{
	static const char *const words[KILLGRACE_TRIGGER_COUNT] = {
		[KILLGRACE_HARD] = "hard",
		[KILLGRACE_SOFT] = "soft",
		[KILLGRACE_LOCAL_STORAGE] = "local_storage",
		[KILLGRACE_PREEMPTION] = "preemption",
	};

	for (int i = 0; i < KILLGRACE_TRIGGER_COUNT; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

struct pod_seconds killgrace_eviction(enum killgrace_trigger trigger, int64_t max_s,
				      struct pod_seconds spec)
{
	switch (trigger) {
	case KILLGRACE_HARD:
	case KILLGRACE_LOCAL_STORAGE:
		return (struct pod_seconds){.set = true, .s = 1};
	case KILLGRACE_SOFT:
		if (spec.set && spec.s < max_s)
			return spec;
		return (struct pod_seconds){.set = true, .s = max_s};
	default:
		return (struct pod_seconds){};
	}
}
