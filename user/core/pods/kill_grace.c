// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of a container's kill: hooks, turns, minimums. */
#include "core/pods/kill_grace.h"

#include "base/time.h"

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
