// SPDX-License-Identifier: Apache-2.0
/* Orders the pods of a node for their deletion before a deadline. */
#include "core/shutdown/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "core/pods/kill_grace.h"

int drain_plan_of(const struct shutplan *plan, uint64_t deadline_ns, struct arena *arena,
		  struct shutplan *ret)
{
	static const struct shutplan_group usual[] = {{.priority = 0},
						      {.priority = SHUTPLAN_CRITICAL}};
	const struct shutplan_group *from = plan->n > 0 ? plan->groups : usual;
	size_t n = plan->n > 0 ? plan->n : sizeof(usual) / sizeof(*usual);
	struct shutplan_group *groups = arena_array(arena, n, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		groups[i] = (struct shutplan_group){
			.priority = from[i].priority,
			.seconds = (int64_t)(deadline_ns / NS_PER_S),
			.ns = deadline_ns,
		};
	*ret = (struct shutplan){.rules = plan->rules, .groups = groups, .n = n};
	return 0;
}

static enum drain_part part_of(const struct podobj_pod *pod, bool over)
{
	if (over)
		return DRAIN_OVER;
	if (pod->is_static || pod->mirror || nodefail_maker_of(pod) == NODEFAIL_DAEMONSET)
		return DRAIN_STAYS;
	return pod->deleting ? DRAIN_DELETING : DRAIN_DELETE;
}

static size_t count_running(const struct podobj_statuses *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->items[i].state.kind == PODOBJ_RUNNING;
	return n;
}

/* A container that is not known to be deaf may use the time. */
static bool is_all_deaf(const struct shutview_pod *view)
{
	const struct podobj_pod_status *s = &view->pod->status;

	return view->n_deaf > 0 && view->n_deaf == count_running(&s->inits) +
							   count_running(&s->containers) +
							   count_running(&s->ephemerals);
}

struct shutview_pod drain_pod_of(const struct shutview_pod *view, uint64_t deadline_ns)
{
	const struct podobj_pod *pod = view->pod;
	struct shutview_pod out = *view;

	out.part = part_of(pod, view->over);
	if (out.part == DRAIN_OVER || is_all_deaf(view)) {
		out.need_known = true;
		out.cut = SHUTVIEW_FITS;
		return out;
	}
	/* What is left of a deletion's period is not in the API. */
	out.need_known = pod->grace.set && !pod->deleting;
	out.need_ns = deadline_ns;
	if (out.need_known && __builtin_mul_overflow((uint64_t)killgrace_stop_s(pod->grace.s),
						     NS_PER_S, &out.need_ns))
		out.need_ns = UINT64_MAX;
	return out;
}

static int compare(const void *x, const void *y)
{
	const struct shutview_pod *a = x, *b = y;
	int r;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->need_ns != b->need_ns)
		return a->need_ns > b->need_ns ? -1 : 1;
	r = strcmp(a->pod->namespace_, b->pod->namespace_);
	return r ? r : strcmp(a->pod->name, b->pod->name);
}

void drain_sort(struct shutview_pod *pods, size_t n)
{
	if (n > 0)
		qsort(pods, n, sizeof(*pods), compare);
}

static void count(struct drain *drain, struct drain_group *groups)
{
	for (size_t i = 0; i < drain->n; i++) {
		const struct shutview_pod *p = &drain->pods[i];
		struct drain_group *group = &groups[p->group];

		drain->parts[p->part]++;
		if (p->part > DRAIN_DELETING)
			continue;
		drain->cut_short += p->cut == SHUTVIEW_CUT_SHORT;
		drain->unknown += p->cut == SHUTVIEW_CUT_UNKNOWN;
		if (p->part != DRAIN_DELETE)
			continue;
		drain->deaf += p->hearing == SHUTVIEW_DEAF;
		drain->unheard += p->hearing == SHUTVIEW_HEARING_UNKNOWN;
		drain->n_groups += group->n_pods++ == 0;
		if (p->need_ns > group->need_ns)
			group->need_ns =
				p->need_ns < drain->deadline_ns ? p->need_ns : drain->deadline_ns;
	}
}

/* From the last group to the first, as long as there is time. */
static void set_times(const struct drain *drain, struct drain_group *groups)
{
	struct drain_group *first = NULL;
	uint64_t at_ns = drain->deadline_ns;

	for (size_t i = drain->plan->n; i-- > 0;) {
		if (groups[i].n_pods == 0)
			continue;
		at_ns -= groups[i].need_ns < at_ns ? groups[i].need_ns : at_ns;
		groups[i].by_ns = at_ns;
		first = &groups[i];
	}
	if (first)
		first->by_ns = 0;
}

int drain_of(const struct shutplan *plan, uint64_t deadline_ns, const struct shutview_pod *pods,
	     size_t n, struct arena *arena, struct drain *ret)
{
	struct drain_group *groups = arena_array(arena, plan->n, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	*ret = (struct drain){
		.deadline_ns = deadline_ns, .plan = plan, .pods = pods, .n = n, .groups = groups};
	count(ret, groups);
	set_times(ret, groups);
	return 0;
}
