// SPDX-License-Identifier: Apache-2.0
/* Order and sameness of pods, and what follows from what is known of them. */
#include "wire/json/pods_record.h"

#include <string.h>

const char *pods_record_state(const struct pods_record *record)
{
	return record->gone ? "gone" : podworker_stage_name(record->view.stage);
}

bool pods_record_is_orphan(const struct pods_record *record)
{
	const struct podview *v = &record->view;

	return !record->gone && record->desired_known && !v->desired &&
	       (v->running || v->sandbox_running);
}

bool pods_record_left(const struct pods_record *record, int64_t *ret_ns)
{
	if (!record->view.deadline_ns || record->view.stage != PODWORKER_STAGE_TERMINATING)
		return false;
	*ret_ns = (int64_t)(record->view.deadline_ns - record->at_ns);
	return true;
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

/* What goes away is what is looked for. */
static int rank_of(const struct pods_record *record)
{
	switch (record->view.stage) {
	case PODWORKER_STAGE_TERMINATING:
		return 0;
	case PODWORKER_STAGE_TERMINATED:
		return 1;
	case PODWORKER_STAGE_FINISHED:
	case PODWORKER_STAGE_FORGOTTEN:
		return 3;
	default:
		return 2;
	}
}

int pods_record_order(const struct pods_record *a, const struct pods_record *b)
{
	int order = rank_of(a) - rank_of(b);

	if (order == 0)
		order = compare_text(a->view.namespace_, b->view.namespace_);
	if (order == 0)
		order = compare_text(a->view.name, b->view.name);
	return order ? order : compare_text(a->view.uid, b->view.uid);
}

static bool same_names(const struct podview *a, const struct podview *b)
{
	return compare_text(a->uid, b->uid) == 0 && compare_text(a->name, b->name) == 0 &&
	       compare_text(a->namespace_, b->namespace_) == 0 &&
	       compare_text(a->workload, b->workload) == 0 && a->qos == b->qos;
}

bool pods_record_same(const struct pods_record *first, const struct pods_record *second)
{
	const struct podview *a = &first->view, *b = &second->view;

	return first->gone == second->gone && first->desired_known == second->desired_known &&
	       same_names(a, b) && a->stage == b->stage && a->first_ns == b->first_ns &&
	       a->since_ns == b->since_ns && a->grace_ns == b->grace_ns &&
	       a->deadline_ns == b->deadline_ns && a->containers == b->containers &&
	       a->running == b->running && a->sandbox_running == b->sandbox_running &&
	       a->desired == b->desired && a->is_static == b->is_static &&
	       a->deleting == b->deleting && a->ready_known == b->ready_known &&
	       a->ready == b->ready && a->ready_stop_ns == b->ready_stop_ns &&
	       a->discrepancies == b->discrepancies;
}
