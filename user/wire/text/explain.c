// SPDX-License-Identifier: Apache-2.0
/* A table of facts, then one each of rules, containers and conditions. */
#include "wire/text/explain.h"

#include <string.h>

#include "base/cleanup.h"
#include "wire/json/explain.h"
#include "wire/text/rows.h"

#define N(columns) (sizeof(columns) / sizeof(*(columns)))

static const struct rows_column facts[] = {
	{"", 10, false},
	{"", 109, false},
};

static const struct rows_column rules[] = {
	{"RULE", 21, false},
	{"HOLDS", 5, false},
	{"WHY", 92, false},
};

static const struct rows_column containers[] = {
	{"CONTAINER", 9, false}, {"KIND", 9, false},	       {"STATE", 5, false},
	{"COUNTS AS", 9, false}, {"STARTED AGAIN", 21, false},
};

static const struct rows_column conditions[] = {
	{"CONDITION", 9, false},
	{"STATUS", 7, false},
	{"API", 7, false},
	{"WHY", 77, false},
};

static void put(struct buf *out, const struct rows *rows, const struct rows_column *columns,
		size_t n)
{
	buf_addc(out, '\n');
	rows_put(out, rows, columns, n, false);
}

static void add_fact(struct buf *out, const char *name, const char *text)
{
	_cleanup_(rows_free) struct rows_row row = {};

	rows_text(&row, name);
	rows_text(&row, text);
	rows_add(out, &row, facts, false);
}

static void add_facts(struct buf *out, const struct explain *e)
{
	_cleanup_(buf_free) struct buf pod = {}, phase = {};

	buf_printf(&pod, "%s%s%s%s, by the rules of Kubernetes 1.%u", e->pod->namespace_,
		   *e->pod->namespace_ ? "/" : "", e->pod->name,
		   e->pod->deleting ? ", being deleted" : "", e->minor);
	add_fact(out, "POD", buf_str(&pod));
	buf_adds(&phase, e->status.phase);
	if (*e->status.reason)
		buf_printf(&phase, ", %s", e->status.reason);
	if (e->from == EXPLAIN_API)
		buf_printf(&phase, ": the API has it, and nothing follows it (by containers %s)",
			   podobj_phase_name(e->by_containers.phase));
	else if (e->from == EXPLAIN_NO_NODE)
		buf_adds(&phase, ": it is on no node, and no kubelet has it yet");
	else if (e->from == EXPLAIN_DEADLINE)
		buf_adds(&phase, ": activeDeadlineSeconds have passed");
	else if (strcmp(e->status.phase, e->pod->status.phase) != 0)
		buf_printf(&phase, "; the API has %s",
			   *e->pod->status.phase ? e->pod->status.phase : "none");
	add_fact(out, "PHASE", buf_str(&phase));
}

static void add_rules(struct buf *out, const struct explain *e)
{
	_cleanup_(rows_free_kept) struct rows kept = {};

	rows_keep_title(&kept, rules, N(rules));
	for (enum podphase_rule rule = 0; rule <= e->by_containers.rule; rule++) {
		_cleanup_(buf_free) struct buf why = {};

		struct rows_row row = {};

		explain_words_rule(&why, e, rule);
		rows_text(&row, podphase_rule_name(rule));
		rows_text(&row, rule == e->by_containers.rule ? "yes" : "no");
		rows_text(&row, buf_str(&why));
		rows_keep(&kept, &row);
	}
	put(out, &kept, rules, N(rules));
}

static void add_container(struct rows *kept, const struct explain *e,
			  const struct explain_container *c)
{
	bool restarts;
	const char *by = explain_restart(e, c, &restarts);
	struct rows_row row = {};
	_cleanup_(buf_free) struct buf state = {}, counts = {}, again = {};

	explain_words_state(&state, c);
	for (unsigned int i = 0; i < PODPHASE_COUNT_COUNT; i++) {
		/* How it ended and whether it is started again is in the columns beside. */
		if (i != PODPHASE_RESTARTABLE && (c->view.counts >> i & 1))
			buf_printf(&counts, "%s%s", counts.len ? ", " : "", podphase_count_name(i));
	}
	if (by)
		buf_printf(&again, "%s, %s", restarts ? "yes" : "no", by);
	rows_text(&row, c->container->name);
	rows_text(&row, explain_words_kind(c));
	rows_text(&row, buf_str(&state));
	rows_text(&row, buf_str(&counts));
	rows_text(&row, buf_str(&again));
	rows_keep(kept, &row);
}

static void add_condition(struct rows *kept, const struct explain *e,
			  const struct podobj_condition *condition)
{
	const struct podobj_condition *api =
		podobj_condition_of(&e->pod->status.conditions, condition->type);
	struct rows_row row = {};
	_cleanup_(buf_free) struct buf why = {};

	buf_printf(&why, "%s%s%s", condition->reason,
		   *condition->reason && *condition->message ? ": " : "", condition->message);
	rows_text(&row, condition->type);
	rows_text(&row, condition->status);
	rows_text(&row, api ? api->status : "");
	rows_text(&row, buf_str(&why));
	rows_keep(kept, &row);
}

static void add_next(struct buf *out, const struct explain *e)
{
	_cleanup_(buf_free) struct buf next = {}, match = {};

	buf_addc(out, '\n');
	explain_words_next(&next, e);
	add_fact(out, "NEXT", buf_str(&next));
	explain_words_match(&match, e);
	if (match.len > 0)
		add_fact(out, "JOB RULE", buf_str(&match));
}

static void add_containers(struct buf *out, const struct explain *e)
{
	_cleanup_(rows_free_kept) struct rows kept = {};

	rows_keep_title(&kept, containers, N(containers));
	for (size_t i = 0; i < e->n_containers; i++)
		add_container(&kept, e, &e->containers[i]);
	put(out, &kept, containers, N(containers));
}

static void add_conditions(struct buf *out, const struct explain *e)
{
	_cleanup_(rows_free_kept) struct rows kept = {};

	rows_keep_title(&kept, conditions, N(conditions));
	for (size_t i = 0; i < e->status.conditions.n; i++)
		add_condition(&kept, e, &e->status.conditions.items[i]);
	put(out, &kept, conditions, N(conditions));
}

int explain_table(struct buf *out, const struct explain *e)
{
	add_facts(out, e);
	add_rules(out, e);
	add_containers(out, e);
	add_conditions(out, e);
	add_next(out, e);
	return buf_error(out);
}
