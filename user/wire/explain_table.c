// SPDX-License-Identifier: Apache-2.0
/* A table of facts, then one each of rules, containers and conditions. */
#include "wire/explain_table.h"

#include <string.h>

#include "base/cleanup.h"
#include "wire/explain_words.h"
#include "wire/rows.h"

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
	{"CONTAINER", 16, true},  {"KIND", 9, false},		{"STATE", 46, false},
	{"COUNTS AS", 24, false}, {"STARTED AGAIN", 21, false},
};

static const struct rows_column conditions[] = {
	{"CONDITION", 26, true},
	{"STATUS", 7, false},
	{"API", 7, false},
	{"WHY", 77, false},
};

static void add_title(struct buf *out, const struct rows_column *columns, size_t n)
{
	buf_addc(out, '\n');
	rows_title(out, columns, n, NULL);
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
	add_title(out, rules, N(rules));
	for (enum podphase_rule rule = 0; rule <= e->by_containers.rule; rule++) {
		_cleanup_(rows_free) struct rows_row row = {};
		_cleanup_(buf_free) struct buf why = {};

		explain_words_rule(&why, e, rule);
		rows_text(&row, podphase_rule_name(rule));
		rows_text(&row, rule == e->by_containers.rule ? "yes" : "no");
		rows_text(&row, buf_str(&why));
		rows_add(out, &row, rules, false);
	}
}

static void add_container(struct buf *out, const struct explain *e,
			  const struct explain_container *c)
{
	bool restarts;
	const char *by = explain_restart(e, c, &restarts);
	_cleanup_(rows_free) struct rows_row row = {};
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
	rows_add(out, &row, containers, false);
}

static void add_condition(struct buf *out, const struct explain *e,
			  const struct podobj_condition *condition)
{
	const struct podobj_condition *api =
		podobj_condition_of(&e->pod->status.conditions, condition->type);
	_cleanup_(rows_free) struct rows_row row = {};
	_cleanup_(buf_free) struct buf why = {};

	buf_printf(&why, "%s%s%s", condition->reason,
		   *condition->reason && *condition->message ? ": " : "", condition->message);
	rows_text(&row, condition->type);
	rows_text(&row, condition->status);
	rows_text(&row, api ? api->status : "");
	rows_text(&row, buf_str(&why));
	rows_add(out, &row, conditions, false);
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

int explain_table(struct buf *out, const struct explain *e)
{
	add_facts(out, e);
	add_rules(out, e);
	add_title(out, containers, N(containers));
	for (size_t i = 0; i < e->n_containers; i++)
		add_container(out, e, &e->containers[i]);
	add_title(out, conditions, N(conditions));
	for (size_t i = 0; i < e->status.conditions.n; i++)
		add_condition(out, e, &e->status.conditions.items[i]);
	add_next(out, e);
	return buf_error(out);
}
