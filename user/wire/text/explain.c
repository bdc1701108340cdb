// SPDX-License-Identifier: Apache-2.0
/* A table of facts, then one each of rules, containers and conditions. */
#include "wire/text/explain.h"

#include <string.h>

#include "base/cleanup.h"
#include "wire/json/explain.h"

#define N(columns) (sizeof(columns) / sizeof(*(columns)))

/* --- facts ------------------------------------------------------------------------------------- */

struct fact {
	const char *name, *text;
};

static const struct grid_column fact_columns[] = {
	{"name", .title = "", GRID_TEXT(struct fact, name), .typical = 9},
	{"text", .title = "", GRID_TEXT(struct fact, text), .least = 40, .continues = true},
};

static void add_fact(struct buf *out, const char *name, const char *text,
		     const struct grid_view *view)
{
	static const struct grid_table table = {.columns = fact_columns, .n = N(fact_columns)};
	_cleanup_(grid_done) struct grid grid = {};
	struct grid_view own = *view;

	own.live = own.no_titles = true;
	grid_init(&grid, &table, &own);
	grid_add(&grid, &(struct fact){name, text});
	grid_flush(&grid, out);
}

static void add_facts(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf pod = {}, phase = {};

	buf_printf(&pod, "%s%s%s%s, by the rules of Kubernetes 1.%u", e->pod->namespace_,
		   *e->pod->namespace_ ? "/" : "", e->pod->name,
		   e->pod->deleting ? ", being deleted" : "", e->minor);
	add_fact(out, "POD", buf_str(&pod), view);
	buf_adds(&phase, *e->status.phase ? e->status.phase : "none");
	if (*e->status.reason)
		buf_printf(&phase, ", %s", e->status.reason);
	if (e->from == EXPLAIN_API)
		buf_printf(&phase, ": the API has it, and nothing follows it (by containers %s)",
			   meta_phase_name(e->by_containers.phase));
	else if (e->from == EXPLAIN_NO_NODE)
		buf_adds(&phase, ": it is on no node, and no kubelet has it yet");
	else if (e->from == EXPLAIN_DEADLINE)
		buf_adds(&phase, ": activeDeadlineSeconds have passed");
	else if (strcmp(e->status.phase, e->pod->status.phase) != 0)
		buf_printf(&phase, "; the API has %s",
			   *e->pod->status.phase ? e->pod->status.phase : "none");
	add_fact(out, "PHASE", buf_str(&phase), view);
}

/* --- rules ------------------------------------------------------------------------------------- */

struct rule_row {
	const struct explain *e;
	enum podphase_rule rule;
};

static void add_holds(struct grid_cell *cell, const void *row)
{
	const struct rule_row *r = row;

	buf_adds(cell->text, r->rule == r->e->by_containers.rule ? "yes" : "no");
}

static void add_why(struct grid_cell *cell, const void *row)
{
	_cleanup_(buf_free) struct buf why = {};
	const struct rule_row *r = row;

	explain_words_rule(&why, r->e, r->rule);
	grid_text(cell, buf_str(&why));
}

static const struct grid_column rule_columns[] = {
	{"rule", GRID_WORD(struct rule_row, rule, podphase_rule_name)},
	{"holds", .add = add_holds},
	{"why", .add = add_why, .least = 30, .continues = true},
};

static void add_rules(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	static const struct grid_table table = {.columns = rule_columns, .n = N(rule_columns)};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, view);
	for (enum podphase_rule rule = 0; rule <= e->by_containers.rule; rule++)
		grid_add(&grid, &(struct rule_row){e, rule});
	buf_addc(out, '\n');
	grid_flush(&grid, out);
}

/* --- containers -------------------------------------------------------------------------------- */

struct container_row {
	const struct explain *e;
	const struct explain_container *c;
};

static const void *container_of(const void *row)
{
	return ((const struct container_row *)row)->c;
}

static void add_container(struct grid_cell *cell, const void *value)
{
	grid_text(cell, ((const struct explain_container *)value)->container->name);
}

static void add_kind(struct grid_cell *cell, const void *value)
{
	grid_text(cell, explain_words_kind(value));
}

static void add_state(struct grid_cell *cell, const void *value)
{
	_cleanup_(buf_free) struct buf state = {};

	explain_words_state(&state, value);
	grid_text(cell, buf_str(&state));
}

static void add_counts(struct grid_cell *cell, const void *value)
{
	uint32_t counts = *(const uint32_t *)value;
	const char *separator = "";

	for (unsigned int i = 0; i < PODPHASE_COUNT_COUNT; i++) {
		/* How it ended and whether it is started again is in the columns beside. */
		if (i == PODPHASE_RESTARTABLE || !(counts >> i & 1))
			continue;
		buf_printf(cell->text, "%s%s", separator, podphase_count_name(i));
		separator = ", ";
	}
}

static void add_again(struct grid_cell *cell, const void *row)
{
	const struct container_row *r = row;
	bool restarts;
	const char *by = explain_restart(r->e, r->c, &restarts);

	if (!by)
		return;
	buf_adds(cell->text, restarts ? "yes, " : "no, ");
	grid_text(cell, by);
}

static const struct grid_column container_columns[] = {
	{"container", .of = container_of, .add = add_container, GRID_NAME},
	{"kind", .of = container_of, .add = add_kind},
	{"state", .of = container_of, .add = add_state, .least = 20, .keep_end = true},
	{"counts-as", .title = "COUNTS AS", .of = container_of,
	 GRID_AT(add_counts, struct explain_container, view.counts)},
	{"again", .title = "STARTED AGAIN", .add = add_again, .least = 16, .continues = true},
};

static void add_containers(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	static const struct grid_table table = {
		.columns = container_columns, .n = N(container_columns), .extras = "kind"};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, view);
	grid_add_titles(&grid);
	for (size_t i = 0; i < e->n_containers; i++)
		grid_add(&grid, &(struct container_row){e, &e->containers[i]});
	buf_addc(out, '\n');
	grid_flush(&grid, out);
}

/* --- conditions -------------------------------------------------------------------------------- */

struct condition_row {
	const struct explain *e;
	const struct podobj_condition *condition;
};

static const void *condition_of(const void *row)
{
	return ((const struct condition_row *)row)->condition;
}

static void add_api(struct grid_cell *cell, const void *row)
{
	const struct condition_row *r = row;
	const struct podobj_condition *api =
		podobj_condition_of(&r->e->pod->status.conditions, r->condition->type);

	grid_text(cell, api ? api->status : NULL);
}

static void add_reason(struct grid_cell *cell, const void *value)
{
	const struct podobj_condition *c = value;

	grid_text(cell, c->reason);
	if (*c->reason && *c->message)
		buf_adds(cell->text, ": ");
	grid_text(cell, c->message);
}

static const struct grid_column condition_columns[] = {
	{"condition", .of = condition_of, GRID_TEXT(struct podobj_condition, type)},
	{"status", .of = condition_of, GRID_TEXT(struct podobj_condition, status)},
	{"api", .add = add_api},
	{"why", .of = condition_of, .add = add_reason, .least = 30, .continues = true},
};

static void add_conditions(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	static const struct grid_table table = {.columns = condition_columns,
						.n = N(condition_columns)};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table, view);
	grid_add_titles(&grid);
	for (size_t i = 0; i < e->status.conditions.n; i++)
		grid_add(&grid, &(struct condition_row){e, &e->status.conditions.items[i]});
	buf_addc(out, '\n');
	grid_flush(&grid, out);
}

static void add_next(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf next = {}, match = {};

	buf_addc(out, '\n');
	explain_words_next(&next, e);
	add_fact(out, "NEXT", buf_str(&next), view);
	explain_words_match(&match, e);
	if (match.len > 0)
		add_fact(out, "JOB RULE", buf_str(&match), view);
}

static void add_notes(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	for (size_t i = 0; i < e->n_notes; i++) {
		_cleanup_(buf_free) struct buf what = {};

		explain_words_note(&what, e, &e->notes[i]);
		add_fact(out, "NOTE", buf_str(&what), view);
	}
}

int explain_table(struct buf *out, const struct explain *e, const struct grid_view *view)
{
	add_facts(out, e, view);
	add_rules(out, e, view);
	add_containers(out, e, view);
	add_conditions(out, e, view);
	add_next(out, e, view);
	add_notes(out, e, view);
	return buf_error(out);
}
