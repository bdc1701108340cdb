// SPDX-License-Identifier: Apache-2.0
/* Records of a node shutdown, and what one would do to a pod. */
#include "wire/json/shutdown.h"

#include "base/signame.h"
#include "wire/json/parts.h"
#include "wire/json/writer.h"

static bool of_group(const struct record_shutdown *r)
{
	return r->told.told == SHUTDOWN_TOLD_GROUP_STARTED ||
	       r->told.told == SHUTDOWN_TOLD_GROUP_DONE;
}

static void add_group(struct buf *out, const struct record_shutdown *r)
{
	if (!of_group(r) && !r->container.known) {
		jsonw_null(out, "group");
		return;
	}
	jsonw_object(out, "group");
	jsonw_u64(out, "index", r->told.group);
	if (r->group_known)
		jsonw_i64(out, "priority", r->group_priority);
	else
		jsonw_null(out, "priority");
	record_parts_time(out, "length_ns", of_group(r) ? r->told.group_ns : 0);
	if (r->told.told == SHUTDOWN_TOLD_GROUP_DONE)
		jsonw_bool(out, "timed_out", r->told.timed_out);
	else
		jsonw_null(out, "timed_out");
	jsonw_object_end(out);
}

/* What is known of a container that is overdue, or was ended. */
static void add_stop(struct buf *out, const struct record_shutdown *r)
{
	const struct shutdown_container *c = &r->told.container;
	char name[SIGNAME_SIZE];

	if (!r->container.known) {
		jsonw_null(out, "stop");
		return;
	}
	jsonw_object(out, "stop");
	if (c->signal) {
		jsonw_object(out, "signal");
		jsonw_u64(out, "number", c->signal);
		jsonw_str(out, "name", signame_format(c->signal, name));
		jsonw_object_end(out);
	} else {
		jsonw_null(out, "signal");
	}
	record_parts_time(out, "asked_boot_ns", c->asked_ns);
	record_parts_time(out, "timeout_ns", c->timeout_known ? c->timeout_ns : 0);
	record_parts_time(out, "kill_boot_ns", c->kill_ns);
	jsonw_bool(out, "deaf", r->told.deaf);
	jsonw_object_end(out);
}

static void add_holders(struct buf *out, const struct shutdown_record *told)
{
	jsonw_u64(out, "others", told->n_holders);
	jsonw_array(out, "holders");
	for (size_t i = 0; i < told->n_listed; i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "who", told->holders[i].who);
		jsonw_u64(out, "uid", told->holders[i].uid);
		jsonw_u64(out, "pid", told->holders[i].pid);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

void shutdown_json(struct buf *out, const struct record_shutdown *r)
{
	const struct shutdown_record *told = &r->told;

	jsonw_str(out, "event", shutdown_told_name(told->told));
	jsonw_str(out, "mode", shutdown_mode_name(told->mode));
	jsonw_str(out, "action", shutdown_action_name(told->action));
	jsonw_bool(out, "lock_held", told->locked);
	record_parts_time(out, "announced_boot_ns", told->announced_ns);
	record_parts_time(out, "limit_ns", told->limit_ns);
	jsonw_u64(out, "containers_left", told->living);
	jsonw_u64(out, "containers_stopping", told->stopping);
	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
	add_group(out, r);
	add_stop(out, r);
	if (told->told == SHUTDOWN_TOLD_RELEASED)
		jsonw_str(out, "reason", shutdown_reason_name(told->reason));
	else
		jsonw_null(out, "reason");
	add_holders(out, told);
}

/* The members of a pod in a shutdown: whose it is, its group and when that ends, what it is given,
 * who of it is deaf, and what the whole shutdown comes to. */

static void add_ns(struct buf *out, const char *key, uint64_t ns)
{
	jsonw_i64(out, key, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
}

static void add_seconds(struct buf *out, const char *key, bool known, int64_t seconds)
{
	if (known)
		podobj_json_seconds(out, key, seconds);
	else
		jsonw_null(out, key);
}

static void add_asked(struct buf *out, const struct podobj_pod *pod)
{
	if (pod->has_priority)
		jsonw_i64(out, "priority", pod->priority);
	else
		jsonw_null(out, "priority");
	jsonw_bool(out, "mirror", pod->mirror);
	add_seconds(out, "grace_ns", pod->has_grace, pod->grace_s);
	add_seconds(out, "deletion_grace_ns", pod->has_deletion_grace, pod->deletion_grace_s);
}

static void add_view_group(struct buf *out, const struct shutview *view,
			   const struct shutview_pod *pod)
{
	const struct shutplan_group *group = &view->rules->plan.groups[pod->group];
	const struct shutview_group *when = &view->groups[pod->group];

	jsonw_object(out, "group");
	jsonw_u64(out, "index", pod->group);
	jsonw_i64(out, "priority", group->priority);
	podobj_json_seconds(out, "given_ns", group->seconds);
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
	add_seconds(out, "override_ns", !pod->over, pod->override_s);
	add_seconds(out, "stop_ns", !pod->over, pod->stop_s);
	if (pod->over || pod->cut == SHUTVIEW_CUT_UNKNOWN)
		jsonw_null(out, "cut_short");
	else
		jsonw_bool(out, "cut_short", pod->cut == SHUTVIEW_CUT_SHORT);
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
	add_ns(out, "end_ns", view->end_ns);
	add_all_deaf(out, view);
	add_ns(out, "requested_ns", view->requested_ns);
	if (has_limit)
		add_ns(out, "host_limit_ns", view->rules->limit_ns);
	else
		jsonw_null(out, "host_limit_ns");
	if (has_limit)
		jsonw_bool(out, "suffices", shutview_suffices(view));
	else
		jsonw_null(out, "suffices");
	jsonw_object_end(out);
}

int shutview_json(struct buf *out, const char *input, const struct shutview *view,
		  const struct shutview_pod *pod)
{
	podobj_json_begin(out, "plan", input, view->rules->minor, pod->pod);
	jsonw_str(out, "if", "node-shuts-down");
	podobj_json_text(out, "node", pod->pod->node);
	jsonw_object(out, "owner");
	podobj_json_owner(out, pod->pod);
	jsonw_object_end(out);
	jsonw_bool(out, "over", pod->over);
	add_asked(out, pod->pod);
	add_end(out, view, pod);
	add_deaf(out, pod);
	add_shutdown(out, view);
	return podobj_json_end(out);
}
