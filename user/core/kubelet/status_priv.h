/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of podstatus alone. */
#ifndef CORE_KUBELET_STATUS_PRIV_H
#define CORE_KUBELET_STATUS_PRIV_H

#include "core/kubelet/status.h"

/* Conditions while they are made: room for max of them. */
struct podstatus_list {
	struct podobj_condition *items;
	size_t n, max;
};

/* 0, -ENOMEM. */
int podstatus_list_new(struct arena *arena, size_t max, struct podstatus_list *ret);
/* Beyond max it is left out: callers make the room they need. */
void podstatus_list_add(struct podstatus_list *list, const struct podobj_condition *condition);
/* In the place of the first of its type, or at the end. */
void podstatus_list_put(struct podstatus_list *list, const struct podobj_condition *condition);
struct podobj_conditions podstatus_list_done(const struct podstatus_list *list);

/* The time of transition: the former one's while the status is the same. */
void podstatus_stamp(struct podobj_condition *condition, const struct podobj_conditions *former,
		     int64_t now_wall_ns);

/* docs/kubelet-rules.md, "Terminal pods are not ready". list has room for two more. */
void podstatus_settle(struct podstatus_list *list, const char *phase,
		      const struct podobj_conditions *former, int64_t now_wall_ns);

#endif
