// SPDX-License-Identifier: Apache-2.0
/* Holds the kubelet's status against the API's. */
#include <errno.h>
#include <string.h>

#include "core/kubelet/status_priv.h"

int podstatus_list_new(struct arena *arena, size_t max, struct podstatus_list *ret)
{
	struct podobj_condition *items = arena_array(arena, max, sizeof(*items));

	if (!items)
		return -ENOMEM;
	*ret = (struct podstatus_list){.items = items, .max = max};
	return 0;
}

void podstatus_list_add(struct podstatus_list *list, const struct podobj_condition *condition)
{
	if (list->n < list->max)
		list->items[list->n++] = *condition;
}

void podstatus_list_put(struct podstatus_list *list, const struct podobj_condition *condition)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, condition->type) == 0) {
			list->items[i] = *condition;
			return;
		}
	}
	podstatus_list_add(list, condition);
}

struct podobj_conditions podstatus_list_done(const struct podstatus_list *list)
{
	return (struct podobj_conditions){.items = list->items, .n = list->n};
}

void podstatus_stamp(struct podobj_condition *condition, const struct podobj_conditions *former,
		     int64_t now_wall_ns)
{
	const struct podobj_condition *before = podobj_condition_of(former, condition->type);

	if (before && strcmp(before->status, condition->status) == 0)
		condition->transition_wall_ns = before->transition_wall_ns;
	else
		condition->transition_wall_ns = now_wall_ns;
}

static bool says_ready(const struct podobj_condition *condition)
{
	return strcmp(condition->status, "True") == 0 &&
	       (strcmp(condition->type, PODCOND_READY) == 0 ||
		strcmp(condition->type, PODCOND_CONTAINERS_READY) == 0);
}

void podstatus_settle(struct podstatus_list *list, const char *phase,
		      const struct podobj_conditions *former, int64_t now_wall_ns)
{
	static const char *const types[] = {PODCOND_CONTAINERS_READY, PODCOND_READY};
	bool any = false;

	if (!podobj_phase_is_terminal(phase))
		return;
	for (size_t i = 0; i < list->n; i++)
		any |= says_ready(&list->items[i]);
	for (size_t i = 0; any && i < sizeof(types) / sizeof(types[0]); i++) {
		struct podobj_condition over = podcond_over(types[i], phase);

		podstatus_stamp(&over, former, now_wall_ns);
		podstatus_list_put(list, &over);
		/* A list that somebody made may have a type more than once. */
		for (size_t j = 0; j < list->n; j++) {
			if (strcmp(list->items[j].type, types[i]) == 0 &&
			    says_ready(&list->items[j]))
				list->items[j] = over;
		}
	}
}

/* What the API has from others, then what is the kubelet's; the disruption that the kubelet itself
 * is about to carry out goes with the phase (docs/kubelet-rules.md, "Status merge"). */
static void merge_conditions(const struct podobj_conditions *api,
			     const struct podobj_conditions *kubelet, bool ends,
			     int64_t now_wall_ns, struct podstatus_list *list)
{
	for (size_t i = 0; i < api->n; i++) {
		if (!podcond_is_kubelets(api->items[i].type))
			podstatus_list_add(list, &api->items[i]);
	}
	for (size_t i = 0; i < kubelet->n; i++) {
		struct podobj_condition condition = kubelet->items[i];

		if (podcond_is_kubelets(condition.type)) {
			podstatus_list_add(list, &condition);
		} else if (ends && strcmp(condition.type, PODCOND_DISRUPTION) == 0) {
			podstatus_stamp(&condition, api, now_wall_ns);
			podstatus_list_put(list, &condition);
		}
	}
}

int podstatus_merge(const struct podobj_pod_status *api, const struct podobj_pod_status *kubelet,
		    bool may_run, int64_t now_wall_ns, struct arena *arena,
		    struct podobj_pod_status *ret)
{
	bool ends =
		!podobj_phase_is_terminal(api->phase) && podobj_phase_is_terminal(kubelet->phase);
	struct podobj_pod_status merged = *kubelet;
	struct podstatus_list list;
	int r = podstatus_list_new(arena, api->conditions.n + kubelet->conditions.n + 2, &list);

	if (r < 0)
		return r;
	merge_conditions(&api->conditions, &kubelet->conditions, ends && !may_run, now_wall_ns,
			 &list);
	if (ends && may_run) {
		merged.phase = api->phase;
		merged.reason = api->reason;
		merged.message = api->message;
	}
	podstatus_settle(&list, merged.phase, &api->conditions, now_wall_ns);
	merged.conditions = podstatus_list_done(&list);
	*ret = merged;
	return 0;
}
