// SPDX-License-Identifier: Apache-2.0
/* What the kubelet will do in a shutdown, by its configuration. */
#include "app/config/kubelet_file.h"
#include "app/daemon/daemon.h"
#include "app/daemon/inhibitor_priv.h"
#include "app/live/feed.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "core/shutdown/plan.h"

/* Without groups where they are not known. */
static void read_kubelet(struct inhibitor *in, struct arena *arena, struct shutplan *ret)
{
	const struct kubeletfile file = {.path = in->options->kubelet_config,
					 .minor = in->options->kubelet_minor};
	struct kubeletfile_why why;

	in->kubelet_there = kubeletfile_is_there(&file);
	in->kubelet_bad = kubeletfile_plan(&file, arena, ret, &why) < 0;
	if (in->kubelet_bad)
		log_warning("the kubelet's configuration cannot be used: %s; its groups in a "
			    "shutdown are not known",
			    why.text);
}

/* With some of them left out, a pod would seem to be in a group that is not its own. */
static void fill_ranges(struct inhibitor *in, const struct shutplan *plan,
			struct obs_shutdown_plan *ret)
{
	if (plan->n > OBS_RANGES_MAX) {
		in->kubelet_bad = true;
		log_warning("the kubelet ends pods in %zu groups in a shutdown, and more than %d "
			    "are not followed: each container is given its own grace period",
			    plan->n, OBS_RANGES_MAX);
		return;
	}
	for (size_t i = 0; i < plan->n; i++) {
		ret->ranges[i].priority = plan->groups[i].priority;
		ret->ranges[i].seconds = plan->groups[i].seconds;
	}
	ret->n_ranges = (uint32_t)plan->n;
}

/* A kubelet that does nothing in a shutdown needs no time in it. */
static uint64_t need_of(const struct config_shutdown *o, const struct shutplan *plan)
{
	uint64_t need_ns = shutplan_requested_ns(plan), sum;

	if (!need_ns || o->mode != SHUTDOWN_ASSIST)
		return need_ns;
	return __builtin_add_overflow(need_ns, o->extra_ns, &sum) ? UINT64_MAX : sum;
}

void inhibitor_tell_plan(struct inhibitor *in)
{
	const struct config_shutdown *o = in->options;
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan plan;
	struct obs obs;

	read_kubelet(in, &arena, &plan);
	in->need_ns = need_of(o, &plan);
	feed_begin(&obs, OBS_SHUTDOWN_PLAN);
	obs.shutdown_plan.mode = o->mode;
	obs.shutdown_plan.overdue_slack_ns = o->overdue_slack_ns;
	obs.shutdown_plan.status_wait_ns = o->status_wait_ns;
	obs.shutdown_plan.deaf_grace_ns = o->deaf_grace_ns;
	obs.shutdown_plan.two_phases = plan.rules == SHUTPLAN_TWO_PHASES;
	fill_ranges(in, &plan, &obs.shutdown_plan);
	feed(in->manager, &obs);
}
