// SPDX-License-Identifier: Apache-2.0
/* The members of a pod's plan: whose it is, what it comes to, when what happens, what stays stuck,
 * and what the out-of-service taint has to do with it. */
#include "wire/json/plan.h"

#include "wire/json/parts.h"
#include "wire/json/writer.h"

static void add_span(struct buf *out, const char *key, struct nodefail_span span)
{
	if (span.never) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	podobj_json_seconds(out, "from_ns", span.from_s);
	podobj_json_seconds(out, "to_ns", span.to_s);
	jsonw_object_end(out);
}

static void add_stuck(struct buf *out, const char *key, uint32_t stuck)
{
	jsonw_array(out, key);
	for (unsigned int i = 0; i < NODEFAIL_STUCK_COUNT; i++) {
		if (stuck >> i & 1)
			jsonw_str(out, NULL, nodefail_stuck_name(i));
	}
	jsonw_array_end(out);
}

static void add_spans(struct buf *out, const struct nodefail *dies)
{
	add_span(out, "unready", dies->unready);
	add_span(out, "tainted", dies->tainted);
	if (dies->toleration.kind == TOLERATION_FOREVER)
		jsonw_null(out, "tolerated_ns");
	else
		podobj_json_seconds(out, "tolerated_ns", dies->toleration.seconds);
	add_span(out, "deleted", dies->deleted);
	add_span(out, "gone", dies->gone);
	add_span(out, "replaced", dies->replaced);
	add_span(out, "detached", dies->detached);
}

static void add_taint(struct buf *out, const struct nodeplan_rules *rules,
		      const struct nodefail *untainted)
{
	if (rules->taint == NODEFAIL_NO_TAINT) {
		jsonw_null(out, "out_of_service");
		return;
	}
	jsonw_object(out, "out_of_service");
	podobj_json_seconds(out, "at_ns", rules->taint_s);
	jsonw_bool(out, "no_execute", rules->taint == NODEFAIL_TAINT_NO_EXECUTE);
	jsonw_bool(out, "known", rules->nodefail.out_of_service);
	add_stuck(out, "stuck_without", untainted->stuck);
	jsonw_object_end(out);
}

int plan_json(struct buf *out, const char *input, const struct nodeplan_rules *rules,
	      const struct nodeplan_pod *pod)
{
	podobj_json_begin(out, "plan", input, rules->minor, pod->pod);
	jsonw_str(out, "if", "node-dies");
	podobj_json_text(out, "node", pod->pod->node);
	jsonw_object(out, "owner");
	podobj_json_owner(out, pod->pod);
	jsonw_object_end(out);
	jsonw_str(out, "fate", nodeplan_fate_name(pod->fate));
	add_spans(out, &pod->dies);
	add_stuck(out, "stuck", pod->dies.stuck);
	add_taint(out, rules, &pod->untainted);
	return podobj_json_end(out);
}
