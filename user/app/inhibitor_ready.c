// SPDX-License-Identifier: Apache-2.0
/* How shutdowns stand, for metrics: whether one that came now would be seen through. */
#include "app/daemon.h"
#include "app/inhibitor_priv.h"

/* What logind does has to be known. */
static bool is_unpinned(const struct inhibitor *in, uint64_t limit_ns)
{
	struct delaykeep_state state;

	if (!in->delay || !limit_ns)
		return limit_ns;
	delaykeep_get_state(in->delay, &state);
	return state.status != DELAYKEEP_PINNED;
}

void inhibitor_get_metrics(const struct inhibitor *in, struct metrics_shutdown *ret)
{
	const struct engine *engine = in->manager->engine;
	struct logind_state state;

	logind_get_state(in->logind, &state);
	*ret = (struct metrics_shutdown){
		.on = true,
		.held = state.held,
		.delay_max_ns = state.limit_ns,
		.start_s = shutstate_seconds(in->times.started, in->times.start_wall_ns),
		.end_s = shutstate_seconds(in->times.ended, in->times.end_wall_ns),
		.ready =
			{
				[METRICS_READY_LOGIND] = state.status == LOGIND_UP,
				[METRICS_READY_LOCK] = state.held,
				[METRICS_READY_DELAY] =
					state.limit_ns && state.limit_ns >= in->need_ns,
				[METRICS_READY_UNPINNED] = is_unpinned(in, state.limit_ns),
				[METRICS_READY_KUBELET] = !in->kubelet_bad,
				[METRICS_READY_GRACE] =
					!in->kubelet_bad && engine_count_cut_short(engine) == 0,
			},
	};
	ret->n_groups = engine_get_shutdown_groups(engine, ret->groups, METRICS_GROUPS_MAX);
}
