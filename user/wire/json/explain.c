// SPDX-License-Identifier: Apache-2.0
/* The members of an explanation: the pod, its phase and the rules, containers, conditions, and what
 * comes next. */
#include "wire/json/explain.h"

#include <string.h>

#include "base/cleanup.h"
#include "wire/json/explain_words.h"
#include "wire/json/pod.h"
#include "wire/json/writer.h"

static void add_rules(struct buf *out, const struct explain *e)
{
	jsonw_array(out, "rules");
	for (enum podphase_rule rule = 0; rule <= e->by_containers.rule; rule++) {
		_cleanup_(buf_free) struct buf why = {};

		explain_words_rule(&why, e, rule);
		jsonw_object(out, NULL);
		jsonw_str(out, "rule", podphase_rule_name(rule));
		jsonw_bool(out, "holds", rule == e->by_containers.rule);
		jsonw_str(out, "why", buf_str(&why));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_phase(struct buf *out, const struct explain *e)
{
	const struct explain_container *because = explain_because(e);

	jsonw_object(out, "phase");
	jsonw_str(out, "value", e->status.phase);
	podobj_json_text(out, "reason", e->status.reason);
	podobj_json_text(out, "message", e->status.message);
	podobj_json_text(out, "api", e->pod->status.phase);
	jsonw_str(out, "from", explain_from_name(e->from));
	jsonw_str(out, "by_containers", podobj_phase_name(e->by_containers.phase));
	jsonw_str(out, "rule", podphase_rule_name(e->by_containers.rule));
	jsonw_str(out, "container", because ? because->container->name : NULL);
	add_rules(out, e);
	jsonw_object_end(out);
}

static void add_counts(struct buf *out, uint32_t counts)
{
	jsonw_array(out, "counts_as");
	for (unsigned int i = 0; i < PODPHASE_COUNT_COUNT; i++) {
		if (counts >> i & 1)
			jsonw_str(out, NULL, podphase_count_name(i));
	}
	jsonw_array_end(out);
}

static void add_container(struct buf *out, const struct explain *e,
			  const struct explain_container *c)
{
	_cleanup_(buf_free) struct buf state = {};
	bool restarts;
	const char *by = explain_restart(e, c, &restarts);

	explain_words_state(&state, c);
	jsonw_object(out, NULL);
	jsonw_str(out, "name", c->container->name);
	jsonw_str(out, "kind", explain_words_kind(c));
	jsonw_str(out, "state", buf_str(&state));
	if (c->view.end)
		jsonw_i64(out, "exit_code", c->view.end->exit_code);
	else
		jsonw_null(out, "exit_code");
	add_counts(out, c->view.counts);
	if (by)
		jsonw_bool(out, "restarts", restarts);
	else
		jsonw_null(out, "restarts");
	jsonw_str(out, "restarts_by", by);
	jsonw_object_end(out);
}

static void add_condition(struct buf *out, const struct explain *e,
			  const struct podobj_condition *condition)
{
	const struct podobj_condition *api =
		podobj_condition_of(&e->pod->status.conditions, condition->type);

	jsonw_object(out, NULL);
	jsonw_str(out, "type", condition->type);
	jsonw_str(out, "status", condition->status);
	podobj_json_text(out, "reason", condition->reason);
	podobj_json_text(out, "message", condition->message);
	jsonw_str(out, "api", api ? api->status : NULL);
	jsonw_object_end(out);
}

static void add_next(struct buf *out, const struct explain *e)
{
	_cleanup_(buf_free) struct buf does = {};

	explain_words_next(&does, e);
	jsonw_object(out, "next");
	podobj_json_owner(out, e->pod);
	jsonw_str(out, "action", podnext_name(e->next));
	jsonw_str(out, "what", buf_str(&does));
	jsonw_object_end(out);
}

static void add_match(struct buf *out, const struct explain *e)
{
	if (!e->match.any) {
		jsonw_null(out, "job_rule");
		return;
	}
	jsonw_object(out, "job_rule");
	jsonw_u64(out, "index", e->match.rule);
	jsonw_str(out, "action", jobpolicy_action_name(e->match.action));
	jsonw_str(out, "container", e->match.status ? e->match.status->name : NULL);
	jsonw_str(out, "condition", e->match.condition ? e->match.condition->type : NULL);
	jsonw_object_end(out);
}

int explain_json(struct buf *out, const char *input, const struct explain *e)
{
	podobj_json_begin(out, "explain", input, e->minor, e->pod);
	add_phase(out, e);
	jsonw_array(out, "containers");
	for (size_t i = 0; i < e->n_containers; i++)
		add_container(out, e, &e->containers[i]);
	jsonw_array_end(out);
	jsonw_array(out, "conditions");
	for (size_t i = 0; i < e->status.conditions.n; i++)
		add_condition(out, e, &e->status.conditions.items[i]);
	jsonw_array_end(out);
	add_next(out, e);
	if (e->job || e->other_job)
		jsonw_bool(out, "job_applies", e->job != NULL);
	else
		jsonw_null(out, "job_applies");
	add_match(out, e);
	return podobj_json_end(out);
}
