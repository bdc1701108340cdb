// SPDX-License-Identifier: Apache-2.0
/* What the kubelet will do in a shutdown, by its configuration. */
#include <errno.h>
#include <string.h>

#include "app/daemon.h"
#include "app/feed.h"
#include "app/inhibitor_priv.h"
#include "app/kubeletfile.h"
#include "app/log.h"
#include "base/cleanup.h"
#include "core/shutplan.h"

static void read_kubelet(struct inhibitor *in, struct kubeletconf *ret)
{
	const char *path = in->options->kubelet_config;
	int r = kubeletfile_read(path, ret);

	in->kubelet_bad = r < 0;
	if (r < 0)
		log_warning("the kubelet's configuration %s cannot be used: %s; its groups in a "
			    "shutdown are not known",
			    path ? path : KUBELETFILE_DEFAULT, kubeletfile_why(r));
}

static void fill_ranges(const struct shutplan *plan, struct obs_shutdown_plan *ret)
{
	size_t n = plan->n < OBS_RANGES_MAX ? plan->n : OBS_RANGES_MAX;

	for (size_t i = 0; i < n; i++) {
		ret->ranges[i].priority = plan->groups[i].priority;
		ret->ranges[i].seconds = plan->groups[i].seconds;
	}
	ret->n_ranges = (uint32_t)n;
}

/* A kubelet that does nothing in a shutdown needs no time in it. */
static uint64_t need_of(const struct inhibitor_options *o, const struct shutplan *plan)
{
	uint64_t need_ns = shutplan_requested_ns(plan), sum;

	if (!need_ns || o->mode != SHUTDOWN_ASSIST)
		return need_ns;
	return __builtin_add_overflow(need_ns, o->extra_ns, &sum) ? UINT64_MAX : sum;
}

int inhibitor_tell_plan(struct inhibitor *in)
{
	const struct inhibitor_options *o = in->options;
	enum shutplan_rules rules = shutplan_rules_of(o->kubelet_minor);
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_config config;
	struct kubeletconf conf;
	struct shutplan plan;
	struct obs obs;
	int r;

	read_kubelet(in, &conf);
	config = kubeletconf_plan(&conf, o->kubelet_minor);
	r = shutplan_of_config(&config, rules, &arena, &plan);
	if (r < 0)
		return r;
	in->need_ns = need_of(o, &plan);
	feed_begin(&obs, OBS_SHUTDOWN_PLAN);
	obs.shutdown_plan.mode = o->mode;
	obs.shutdown_plan.overdue_slack_ns = o->overdue_slack_ns;
	obs.shutdown_plan.status_wait_ns = o->status_wait_ns;
	obs.shutdown_plan.deaf_grace_ns = o->deaf_grace_ns;
	obs.shutdown_plan.two_phases = rules == SHUTPLAN_TWO_PHASES;
	fill_ranges(&plan, &obs.shutdown_plan);
	feed(in->manager, &obs);
	return 0;
}
