// SPDX-License-Identifier: Apache-2.0
/* Judges graced's own groups by the kubelet's rules (core/shutdown/plan), and chooses between both.
 */
#include "app/config/groups.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

static struct shutplan_config config_of(const struct config_groups *groups)
{
	return (struct shutplan_config){
		.gate = true,
		.priority_gate = true,
		.total_ns = (int64_t)groups->total_ns,
		.critical_ns = (int64_t)groups->critical_ns,
		.list = groups->list,
		.n_list = groups->n_list,
	};
}

static void add_error(void *userdata, const char *error)
{
	struct buf *errors = userdata;

	buf_printf(errors, "%s%s", errors->len ? "; " : "", error);
}

bool groups_refuse(const struct config_groups *groups, struct buf *ret_why)
{
	const struct shutplan_config config = config_of(groups);

	return shutplan_validate(&config, add_error, ret_why) > 0;
}

bool groups_are_given(const struct config_groups *groups)
{
	return groups->total_ns || groups->critical_ns || groups->n_list;
}

bool groups_are_own(const struct config_shutdown *options)
{
	return config_manages(options) && groups_are_given(&options->groups);
}

int groups_plan(const struct config_shutdown *options, const struct kubeletfile *file,
		struct arena *arena, struct shutplan *ret, struct kubeletfile_why *ret_why)
{
	const struct shutplan_config config = config_of(&options->groups);
	int r;

	if (!groups_are_own(options))
		return kubeletfile_plan(file, arena, ret, ret_why);
	r = shutplan_of_config(&config, SHUTPLAN_RANGES, arena, ret);
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text), "%s", strerror(-r));
	return r;
}

/* A kubelet that does nothing in a shutdown needs no time in it. Where graced has no groups, each
 * container has its own grace period, which is the API's default as a rule. */
uint64_t groups_need_ns(const struct config_shutdown *options, const struct shutplan *plan)
{
	uint64_t need_ns = shutplan_requested_ns(plan), sum;

	if (config_manages(options) && plan->n == 0)
		need_ns = SHUTPLAN_GRACE_DEFAULT_S * NS_PER_S;
	if (!need_ns || options->mode == SHUTDOWN_OBSERVE)
		return need_ns;
	return __builtin_add_overflow(need_ns, options->extra_ns, &sum) ? UINT64_MAX : sum;
}
