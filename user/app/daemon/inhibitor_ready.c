// SPDX-License-Identifier: Apache-2.0
/* How shutdowns stand, for metrics: whether one that came now would be seen through. */
#include "app/daemon/daemon.h"
#include "app/daemon/inhibitor_priv.h"

static enum metrics_ready_value value_of(bool ok)
{
	return ok ? METRICS_READY_YES : METRICS_READY_NO;
}

/*
 * In observe a host without a bus, or without logind on it, has no shutdown that could be seen:
 * nothing about it is exposed, as in mode off. assist counts on logind, and a logind that was there
 * is missed.
 */
static bool has_logind(const struct inhibitor *in, enum logind_status status)
{
	bool absent = status == LOGIND_STARTING || status == LOGIND_ABSENT || status == LOGIND_OFF;

	return !absent || in->was_up || in->options->mode == SHUTDOWN_ASSIST;
}

/* Only assist has a drop-in of its own that another may overrule. What logind does has to be known.
 */
static enum metrics_ready_value unpinned(const struct inhibitor *in, uint64_t limit_ns)
{
	struct delaykeep_state state;

	if (!in->delay || !in->need_ns)
		return METRICS_READY_ABSENT;
	delaykeep_get_state(in->delay, &state);
	return value_of(limit_ns && state.status != DELAYKEEP_PINNED);
}

static void judge(const struct inhibitor *in, const struct logind_state *state,
		  enum metrics_ready_value *ret)
{
	bool cut_short = engine_count_cut_short(in->manager->engine) > 0;

	ret[METRICS_READY_LOGIND] = value_of(state->status == LOGIND_UP);
	ret[METRICS_READY_LOCK] = value_of(state->held);
	if (in->need_ns)
		ret[METRICS_READY_DELAY] =
			value_of(state->limit_ns && state->limit_ns >= in->need_ns);
	ret[METRICS_READY_UNPINNED] = unpinned(in, state->limit_ns);
	if (in->kubelet_there)
		ret[METRICS_READY_KUBELET] = value_of(!in->kubelet_bad);
	if (in->need_ns || in->kubelet_bad)
		ret[METRICS_READY_GRACE] = value_of(!in->kubelet_bad && !cut_short);
}

void inhibitor_get_metrics(const struct inhibitor *in, struct metrics_shutdown *ret)
{
	struct logind_state state;

	logind_get_state(in->logind, &state);
	*ret = (struct metrics_shutdown){
		.on = has_logind(in, state.status),
		.held = state.held,
		.delay_max_ns = state.limit_ns,
		.start_s = shutstate_seconds(in->times.started, in->times.start_wall_ns),
		.end_s = shutstate_seconds(in->times.ended, in->times.end_wall_ns),
	};
	judge(in, &state, ret->ready);
	ret->n_groups =
		engine_get_shutdown_groups(in->manager->engine, ret->groups, METRICS_GROUPS_MAX);
}
