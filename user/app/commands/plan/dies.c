// SPDX-License-Identifier: Apache-2.0
/* graced plan --if-node-dies: what becomes of a node's pods when it goes silent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/commands/plan/plans.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "wire/json/plan.h"
#include "wire/text/plan.h"

static struct nodeplan_rules rules_of(const struct options *o)
{
	struct nodeplan_rules rules = {
		.minor = o->kubernetes_minor,
		.nodefail = nodefail_rules_of(o->kubernetes_minor),
	};

	if (o->monitor_grace_ns)
		rules.nodefail.grace_s = (int64_t)(o->monitor_grace_ns / NS_PER_S);
	rules.taint_s = rules.nodefail.grace_s + NODEFAIL_MONITOR_PERIOD_S;
	if (o->taint_after_given)
		rules.taint_s = (int64_t)(o->taint_after_ns / NS_PER_S);
	if (o->out_of_service)
		rules.taint = o->taint_no_execute ? NODEFAIL_TAINT_NO_EXECUTE : NODEFAIL_TAINT;
	return rules;
}

static int print_json(const struct options *options, const struct nodeplan_rules *rules,
		      const struct nodeplan_pod *pods, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		_cleanup_(buf_free) struct buf out = {};

		r = plan_json(&out, options->pods, rules, &pods[i]);
		fputs(buf_str(&out), stdout);
	}
	return r;
}

static int print_table(const struct nodeplan_rules *rules, const struct nodeplan_pod *pods,
		       size_t n)
{
	_cleanup_(buf_free) struct buf out = {};
	int r = plan_table(&out, rules, pods, n);

	fputs(buf_str(&out), stdout);
	return r;
}

int plans_dies(const struct options *options, const struct nodepods *pods)
{
	_cleanup_(cleanup_free) struct nodeplan_pod *plans = calloc(pods->n + 1, sizeof(*plans));
	struct nodeplan_rules rules = rules_of(options);

	if (!plans)
		return -ENOMEM;
	for (size_t i = 0; i < pods->n; i++)
		plans[i] = nodeplan_of(&rules, pods->list[i]);
	nodeplan_sort(plans, pods->n);
	return options->json ? print_json(options, &rules, plans, pods->n)
			     : print_table(&rules, plans, pods->n);
}
