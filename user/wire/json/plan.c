// SPDX-License-Identifier: Apache-2.0
/* What would become of a pod of the API, as JSON lines: when its node dies, and in a node shutdown.
 */
#include "wire/json/plan.h"

#include <stdio.h>

#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

void podobj_json_text(struct buf *out, const char *key, const char *text)
{
	jsonw_str(out, key, text && *text ? text : NULL);
}

/* Whole seconds, as nanoseconds: INT64_MAX or INT64_MIN for what these do not hold. */
static void add_whole_seconds(struct buf *out, const char *key, int64_t seconds)
{
	int64_t ns;

	if (__builtin_mul_overflow(seconds, NS_PER_S, &ns))
		ns = seconds < 0 ? INT64_MIN : INT64_MAX;
	jsonw_i64(out, key, ns);
}

static void add_pod(struct buf *out, const struct podobj_pod *pod)
{
	jsonw_object(out, "pod");
	podobj_json_text(out, "namespace", pod->namespace_);
	podobj_json_text(out, "name", pod->name);
	podobj_json_text(out, "uid", pod->uid);
	jsonw_bool(out, "static", pod->is_static);
	jsonw_bool(out, "deleting", pod->deleting);
	jsonw_object_end(out);
}

void podobj_json_begin(struct buf *out, const char *type, const char *input, unsigned int minor,
		       const struct podobj_pod *pod)
{
	char version[16];

	snprintf(version, sizeof(version), "1.%u", minor);
	jsonw_object(out, NULL);
	jsonw_str(out, "type", type);
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "input", input);
	jsonw_str(out, "kubernetes", version);
	add_pod(out, pod);
}

int podobj_json_end(struct buf *out)
{
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

void podobj_json_owner(struct buf *out, const struct podobj_pod *pod)
{
	jsonw_str(out, "controller", nodefail_maker_name(nodefail_maker_of(pod)));
	podobj_json_text(out, "kind", pod->owner.kind);
	podobj_json_text(out, "name", pod->owner.name);
}

static void add_span(struct buf *out, const char *key, struct nodefail_span span)
{
	if (!jsonw_object_if(out, key, !span.never))
		return;
	add_whole_seconds(out, "from_ns", span.from_s);
	add_whole_seconds(out, "to_ns", span.to_s);
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
		add_whole_seconds(out, "tolerated_ns", dies->toleration.seconds);
	add_span(out, "deleted", dies->deleted);
	add_span(out, "gone", dies->gone);
	add_span(out, "replaced", dies->replaced);
	add_span(out, "detached", dies->detached);
}

static void add_taint(struct buf *out, const struct nodeplan_rules *rules,
		      const struct nodefail *untainted)
{
	if (!jsonw_object_if(out, "out_of_service", rules->taint != NODEFAIL_NO_TAINT))
		return;
	add_whole_seconds(out, "at_ns", rules->taint_s);
	jsonw_bool(out, "no_execute", rules->taint == NODEFAIL_TAINT_NO_EXECUTE);
	jsonw_bool(out, "known", rules->nodefail.out_of_service);
	add_stuck(out, "stuck_without", untainted->stuck);
	jsonw_object_end(out);
}

static void add_if(struct buf *out, const char *what, const struct podobj_pod *pod)
{
	jsonw_str(out, "if", what);
	podobj_json_text(out, "node", pod->node);
	jsonw_object(out, "owner");
	podobj_json_owner(out, pod);
	jsonw_object_end(out);
}

int plan_json(struct buf *out, const char *input, const struct nodeplan_rules *rules,
	      const struct nodeplan_pod *pod)
{
	podobj_json_begin(out, "plan", input, rules->minor, pod->pod);
	add_if(out, "node-dies", pod->pod);
	jsonw_str(out, "fate", nodeplan_fate_name(pod->fate));
	add_spans(out, &pod->dies);
	add_stuck(out, "stuck", pod->dies.stuck);
	add_taint(out, rules, &pod->untainted);
	return podobj_json_end(out);
}

/* The members of a pod in a shutdown: whose it is, its group and when that ends, what it is given,
 * who of it is deaf, and what the whole shutdown comes to. */

static void add_ns(struct buf *out, const char *key, uint64_t ns)
{
	jsonw_i64(out, key, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
}

static void add_seconds(struct buf *out, const char *key, struct seconds seconds)
{
	if (seconds.set)
		add_whole_seconds(out, key, seconds.s);
	else
		jsonw_null(out, key);
}

static void add_asked(struct buf *out, const struct podobj_pod *pod)
{
	jsonw_i64_if(out, "priority", pod->has_priority, pod->priority);
	jsonw_bool(out, "mirror", pod->mirror);
	add_seconds(out, "grace_ns", pod->grace);
	add_seconds(out, "deletion_grace_ns", pod->deletion_grace);
}

static void add_view_group(struct buf *out, const struct shutview *view,
			   const struct shutview_pod *pod)
{
	const struct shutplan_group *group = &view->rules->plan.groups[pod->group];
	const struct shutview_group *when = &view->groups[pod->group];

	jsonw_object(out, "group");
	jsonw_u64(out, "index", pod->group);
	jsonw_i64(out, "priority", group->priority);
	add_whole_seconds(out, "given_ns", group->seconds);
	add_ns(out, "earliest_ns", when->earliest_ns);
	add_ns(out, "latest_ns", when->latest_ns);
	add_ns(out, "deadline_ns", when->deadline_ns);
	jsonw_object_end(out);
}

static void add_end(struct buf *out, const struct shutview *view, const struct shutview_pod *pod)
{
	if (pod->over)
		jsonw_null(out, "group");
	else
		add_view_group(out, view, pod);
	add_seconds(out, "override_ns", (struct seconds){!pod->over, pod->override_s});
	add_seconds(out, "stop_ns", (struct seconds){!pod->over, pod->stop_s});
	jsonw_bool_if(out, "cut_short", !(pod->over || pod->cut == SHUTVIEW_CUT_UNKNOWN),
		      pod->cut == SHUTVIEW_CUT_SHORT);
}

static void add_deaf(struct buf *out, const struct shutview_pod *pod)
{
	if (pod->over || pod->hearing == SHUTVIEW_HEARING_UNKNOWN) {
		jsonw_null(out, "deaf");
		jsonw_null(out, "deaf_containers");
		jsonw_null(out, "wasted_ns");
		return;
	}
	jsonw_bool(out, "deaf", pod->hearing == SHUTVIEW_DEAF);
	jsonw_array(out, "deaf_containers");
	for (size_t i = 0; i < pod->n_deaf; i++)
		jsonw_str(out, NULL, pod->deaf[i]);
	jsonw_array_end(out);
	add_ns(out, "wasted_ns", pod->wasted_ns);
}

static void add_early(struct buf *out, const struct shutview_pod *pod)
{
	if (!jsonw_array_if(out, "early_drivers", pod->n_early))
		return;
	for (size_t i = 0; i < pod->n_early; i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "driver", pod->early[i].driver);
		jsonw_str(out, "namespace", pod->early[i].pod->namespace_);
		jsonw_str(out, "pod", pod->early[i].pod->name);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_all_deaf(struct buf *out, const struct shutview *view)
{
	if (view->unheard > 0 && view->unheard == view->n - view->over) {
		jsonw_null(out, "deaf");
		jsonw_null(out, "wasted_ns");
	} else {
		jsonw_u64(out, "deaf", view->deaf);
		add_ns(out, "wasted_ns", view->wasted_ns);
	}
	jsonw_u64(out, "deaf_unknown", view->unheard);
}

static void add_shutdown(struct buf *out, const struct shutview *view)
{
	bool has_limit = view->rules->has_limit;

	jsonw_object(out, "shutdown");
	jsonw_bool(out, "two_phases", view->rules->plan.rules == SHUTPLAN_TWO_PHASES);
	jsonw_str(out, "stopped_by", view->rules->managed ? "graced" : "kubelet");
	add_ns(out, "end_ns", view->end_ns);
	add_all_deaf(out, view);
	add_ns(out, "requested_ns", view->requested_ns);
	if (has_limit)
		add_ns(out, "host_limit_ns", view->rules->limit_ns);
	else
		jsonw_null(out, "host_limit_ns");
	jsonw_bool_if(out, "suffices", has_limit, shutview_suffices(view));
	jsonw_object_end(out);
}

int shutview_json(struct buf *out, const char *input, const struct shutview *view,
		  const struct shutview_pod *pod)
{
	podobj_json_begin(out, "plan", input, view->rules->minor, pod->pod);
	add_if(out, "node-shuts-down", pod->pod);
	jsonw_bool(out, "over", pod->over);
	add_asked(out, pod->pod);
	add_end(out, view, pod);
	add_deaf(out, pod);
	add_early(out, pod);
	add_shutdown(out, view);
	return podobj_json_end(out);
}

/* The members of a pod that is deleted before a deadline. */

static void add_drain_group(struct buf *out, const struct drain *drain,
			    const struct shutview_pod *pod)
{
	if (!jsonw_object_if(out, "group", pod->part == DRAIN_DELETE))
		return;
	jsonw_u64(out, "index", pod->group);
	jsonw_i64(out, "priority", drain->plan->groups[pod->group].priority);
	add_ns(out, "needs_ns", drain->groups[pod->group].need_ns);
	add_ns(out, "by_ns", drain->groups[pod->group].by_ns);
	jsonw_object_end(out);
}

static void add_drain_need(struct buf *out, const struct shutview_pod *pod)
{
	bool ends = pod->part <= DRAIN_DELETING;

	if (ends && pod->need_known)
		add_ns(out, "needs_ns", pod->need_ns);
	else
		jsonw_null(out, "needs_ns");
	jsonw_bool_if(out, "cut_short", ends && pod->cut != SHUTVIEW_CUT_UNKNOWN,
		      pod->cut == SHUTVIEW_CUT_SHORT);
}

static void add_deadline(struct buf *out, const struct drain *drain)
{
	jsonw_object(out, "deadline");
	add_ns(out, "at_ns", drain->deadline_ns);
	jsonw_u64(out, "delete", drain->parts[DRAIN_DELETE]);
	jsonw_u64(out, "deleting", drain->parts[DRAIN_DELETING]);
	jsonw_u64(out, "stays", drain->parts[DRAIN_STAYS]);
	jsonw_u64(out, "over", drain->parts[DRAIN_OVER]);
	jsonw_u64(out, "cut_short", drain->cut_short);
	jsonw_u64(out, "cut_short_unknown", drain->unknown);
	jsonw_u64(out, "deaf", drain->deaf);
	jsonw_u64(out, "deaf_unknown", drain->unheard);
	jsonw_object_end(out);
}

int drain_json(struct buf *out, const char *input, const struct drain *drain,
	       const struct shutview_pod *pod)
{
	podobj_json_begin(out, "plan", input, drain->minor, pod->pod);
	add_if(out, "node-ends", pod->pod);
	jsonw_str(out, "part", drain_part_name(pod->part));
	add_asked(out, pod->pod);
	add_drain_group(out, drain, pod);
	add_drain_need(out, pod);
	add_deaf(out, pod);
	add_deadline(out, drain);
	return podobj_json_end(out);
}
