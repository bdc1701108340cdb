// SPDX-License-Identifier: Apache-2.0
/* Judges, sorts and counts the pods of a node that goes silent. */
#include "core/kubelet/node_plan.h"

#include <stdlib.h>
#include <string.h>

static enum nodeplan_fate fate_of(const struct podobj_pod *pod, const struct nodefail *dies)
{
	if (podobj_phase_is_terminal(pod->status.phase))
		return NODEPLAN_OVER;
	switch (dies->maker) {
	case NODEFAIL_DAEMONSET:
	case NODEFAIL_STATIC:
		return NODEPLAN_NODE;
	case NODEFAIL_OTHER:
		return NODEPLAN_UNKNOWN;
	default:
		break;
	}
	if (dies->replaced.never)
		return NODEPLAN_DOWN;
	return dies->stuck ? NODEPLAN_REMAINS : NODEPLAN_REPLACED;
}

struct nodeplan_pod nodeplan_of(const struct nodeplan_rules *rules, const struct podobj_pod *pod)
{
	struct nodefail_in in = {
		.rules = rules->nodefail,
		.pod = pod,
		.taint = rules->taint,
		.taint_s = rules->taint_s,
	};
	struct nodeplan_pod out = {.pod = pod, .dies = nodefail_of(&in)};

	in.taint = NODEFAIL_NO_TAINT;
	out.untainted = nodefail_of(&in);
	out.fate = fate_of(pod, &out.dies);
	return out;
}

static int compare(const void *x, const void *y)
{
	const struct nodeplan_pod *a = x, *b = y;
	int r;

	if (!a->dies.stuck != !b->dies.stuck)
		return a->dies.stuck ? -1 : 1;
	if (a->fate != b->fate)
		return a->fate < b->fate ? -1 : 1;
	r = strcmp(a->pod->namespace_, b->pod->namespace_);
	return r ? r : strcmp(a->pod->name, b->pod->name);
}

void nodeplan_sort(struct nodeplan_pod *pods, size_t n)
{
	if (n > 0)
		qsort(pods, n, sizeof(*pods), compare);
}

struct nodeplan_counts nodeplan_count(const struct nodeplan_pod *pods, size_t n)
{
	struct nodeplan_counts counts = {};

	for (size_t i = 0; i < n; i++) {
		const struct nodefail *dies = &pods[i].dies, *untainted = &pods[i].untainted;

		counts.fates[pods[i].fate]++;
		counts.freed += untainted->gone.never && !dies->gone.never;
		counts.revived += untainted->replaced.never && !dies->replaced.never;
	}
	return counts;
}

const char *nodeplan_fate_name(enum nodeplan_fate fate)
{
	static const char *const names[NODEPLAN_FATE_COUNT] = {
		[NODEPLAN_DOWN] = "down",	  [NODEPLAN_UNKNOWN] = "unknown",
		[NODEPLAN_REMAINS] = "remains",	  [NODEPLAN_NODE] = "node",
		[NODEPLAN_REPLACED] = "replaced", [NODEPLAN_OVER] = "over",
	};

	return (unsigned int)fate < NODEPLAN_FATE_COUNT ? names[fate] : NULL;
}
