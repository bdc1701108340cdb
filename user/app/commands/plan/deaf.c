// SPDX-License-Identifier: Apache-2.0
/* Who of the pods in a plan would not hear the stop signal, by a look at those that run here. */
#include <errno.h>
#include <stdlib.h>

#include "app/commands/audit_scan.h"
#include "app/commands/plan/plans.h"
#include "base/cleanup.h"

struct listed {
	const struct shutview_pod *pods;
	size_t n;
};

static bool is_listed(void *userdata, const struct cgpath *path)
{
	const struct listed *listed = userdata;

	for (size_t i = 0; i < listed->n; i++)
		if (shutview_runs(&listed->pods[i], path->container_id))
			return true;
	return false;
}

static enum shutview_hearing hearing_of(const struct audit *audit)
{
	if (audit->verdict == AUDIT_UNKNOWN)
		return SHUTVIEW_HEARING_UNKNOWN;
	return audit_is_deaf(audit) ? SHUTVIEW_DEAF : SHUTVIEW_HEARS;
}

int plans_listen(const struct options *options, const struct shutplan *plan,
		 struct shutview_pod *pods, size_t n, struct arena *arena)
{
	const struct audit_wanted wanted = {is_listed, &(struct listed){pods, n}};
	_cleanup_(cleanup_free) struct shutview_look *looks = NULL;
	struct audit_list list = {};
	int r = 0;

	/* What was met before it failed counts; without any, nothing is known. */
	audit_scan_wanted(options, &wanted, &list);
	looks = calloc(list.n + 1, sizeof(*looks));
	if (!looks)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < list.n; i++)
		looks[i] = (struct shutview_look){list.list[i].path.container_id,
						  hearing_of(&list.list[i].audit)};
	for (size_t i = 0; r == 0 && i < n; i++)
		r = shutview_listen(plan, &pods[i], looks, list.n, arena);
	audit_list_free(&list);
	return r;
}
