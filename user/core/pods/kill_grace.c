// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of a container's kill: base, hooks, turns, minimums. */
#include "base/time.h"
#include "core/pods/kill_grace.h"

#include <string.h>

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

/* Whole seconds of a wait that ends with the grace period at the latest. */
static int64_t taken_s(uint64_t ns, int64_t grace_s)
{
	uint64_t s = ns / NS_PER_S;

	return s < (uint64_t)grace_s ? (int64_t)s : grace_s;
}

struct killgrace_steps killgrace_steps(const struct killgrace_kill *kill)
{
	struct killgrace_steps steps = {};
	int64_t left = kill->grace_s;

	if (left > 0 && kill->has_prestop) {
		steps.prestop_run = true;
		steps.prestop_s = taken_s(kill->prestop_ns, left);
		left -= steps.prestop_s;
	}
	if (left > 0) {
		steps.wait_s = taken_s(kill->wait_ns, left);
		left -= steps.wait_s;
	}
	steps.stop_s = killgrace_stop_s(left);
	return steps;
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

static uint64_t end_of(const struct killgrace_turn *turn, uint64_t stopped_ns)
{
	uint64_t end_ns;

	if (!turn->running)
		return 0;
	return __builtin_add_overflow(stopped_ns, turn->exit_ns, &end_ns) ? UINT64_MAX : end_ns;
}

void killgrace_order(const struct killgrace_turn *mains, size_t n_mains,
		     const struct killgrace_turn *sidecars, size_t n, uint64_t grace_ns,
		     uint64_t *ret_wait_ns)
{
	uint64_t mains_ns = 0, next_ns = 0;

	for (size_t i = 0; i < n_mains; i++) {
		uint64_t end_ns = end_of(&mains[i], 0);

		if (end_ns > mains_ns)
			mains_ns = end_ns;
	}
	for (size_t i = n; i-- > 0;) {
		uint64_t wait_ns = next_ns > mains_ns ? next_ns : mains_ns;

		if (!sidecars[i].running)
			wait_ns = 0;
		if (wait_ns > grace_ns)
			wait_ns = grace_ns;
		ret_wait_ns[i] = wait_ns;
		next_ns = end_of(&sidecars[i], wait_ns);
	}
}
