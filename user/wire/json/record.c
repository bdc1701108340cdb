// SPDX-License-Identifier: Apache-2.0
/* The members of each type of record, in the order of graced-records(5). */
#include "wire/json/record.h"

#include <errno.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/signame.h"
#include "core/boot/log.h"
#include "wire/json/pods.h"
#include "wire/json/parts.h"
#include "wire/json/writer.h"
#include "wire/kernel/event.h"

#define NS_DECIMALS    9
#define RATIO_DECIMALS 6
/* For a container that began in a shutdown: the kubelet's reason for a pod that it refuses then. */
#define LATE_REASON    "NodeShutdown"

/* type to node, which every record begins with; id stands in some only. */
static void add_head(struct buf *out, const struct record *record, const char *type, const char *id)
{
	char time[RFC3339_SIZE];

	jsonw_str(out, "type", type);
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	if (id)
		jsonw_str(out, "id", id);
	jsonw_str(out, "time", rfc3339_format(record->wall_ns, time));
	jsonw_u64(out, "boot_ns", record->at_ns);
	jsonw_str(out, "node", record->node);
}

static void add_attached(struct buf *out, const struct record *record)
{
	const struct record_attached *attached = &record->attached;

	add_head(out, record, "attached", NULL);
	jsonw_str(out, "hierarchy", attached->hierarchy);
	jsonw_u64(out, "programs", attached->programs);
	jsonw_u64(out, "containers", attached->containers);
}

static void add_signal(struct buf *out, const struct record *record)
{
	const struct record_signal *signal = &record->signal;

	add_head(out, record, "signal", NULL);
	jsonw_object(out, "signal");
	record_parts_signal(out, signal->number, signal->result);
	jsonw_bool(out, "group", signal->group);
	jsonw_i64(out, "si_code", signal->code);
	jsonw_bool(out, "blocked", signal->blocked);
	jsonw_object_end(out);
	jsonw_bool(out, "deaf", signal->deaf);
	jsonw_str(out, "reason", unheard_name(signal->reason));
	record_parts_sender(out, "sender", &signal->sender);
	jsonw_object(out, "target");
	record_parts_process(out, &signal->target);
	jsonw_bool(out, "init", signal->target_init);
	record_parts_pod(out, "pod", &signal->pod);
	record_parts_container(out, "container", &signal->container);
	jsonw_object_end(out);
}

static uint64_t ratio_units(uint64_t part, uint64_t whole)
{
	double units = (double)part / (double)whole * 1e6 + 0.5;

	return units < 0x1p63 ? (uint64_t)units : INT64_MAX;
}

static void add_grace(struct buf *out, const struct record_stop *stop)
{
	if (!grace_known(&stop->grace)) {
		jsonw_null(out, "grace");
		return;
	}
	jsonw_object(out, "grace");
	jsonw_decimal(out, "seconds", stop->grace.ns, NS_DECIMALS);
	jsonw_str(out, "from", grace_from_name(stop->grace.from));
	/* A grace period of 0 has no used share. */
	if (stop->latency_known && stop->grace.ns)
		jsonw_decimal(out, "used_ratio", ratio_units(stop->latency_ns, stop->grace.ns),
			      RATIO_DECIMALS);
	else
		jsonw_null(out, "used_ratio");
	if (stop->latency_known)
		jsonw_i64(out, "margin_ns", (int64_t)(stop->grace.ns - stop->latency_ns));
	else
		jsonw_null(out, "margin_ns");
	jsonw_object_end(out);
}

/* What init passed on, to which process first, and how long after it was asked. */
static void add_forwarded(struct buf *out, const struct record_forward *forward)
{
	if (!forward->count) {
		jsonw_null(out, "forwarded");
		return;
	}
	jsonw_object(out, "forwarded");
	record_parts_signal(out, forward->number, forward->result);
	jsonw_u64(out, "after_ns", forward->after_ns);
	jsonw_object(out, "target");
	record_parts_process(out, &forward->to);
	jsonw_object_end(out);
	jsonw_u64(out, "count", forward->count);
	jsonw_object_end(out);
}

static void add_held_by(struct buf *out, const struct record_holder *holder)
{
	if (!holder->process.pid) {
		jsonw_null(out, "held_by");
		return;
	}
	jsonw_object(out, "held_by");
	jsonw_u64(out, "pid", holder->process.pid);
	jsonw_str(out, "comm", holder->process.comm);
	jsonw_object(out, "parent");
	jsonw_u64(out, "pid", holder->parent.pid);
	jsonw_str(out, "comm", holder->parent.comm);
	jsonw_object_end(out);
	jsonw_object_end(out);
}

/* The time between two moments, each of which may not be known. */
static void add_span(struct buf *out, const char *key, uint64_t from, uint64_t to)
{
	if (from && to && to >= from)
		jsonw_u64(out, key, to - from);
	else
		jsonw_null(out, key);
}

static void add_stages(struct buf *out, const struct record_stop *stop)
{
	uint64_t asked = stop->stop_signal.known ? stop->stop_signal.at_ns : 0;
	uint64_t exited = stop->exit.known ? stop->exit.at_ns : 0;

	jsonw_object(out, "stages");
	add_span(out, "deliver_ns", asked, stop->deliver_ns);
	add_span(out, "exit_ns", stop->deliver_ns, exited);
	add_span(out, "reap_ns", exited, stop->reap_ns);
	add_span(out, "empty_ns", exited, stop->empty_ns);
	jsonw_object_end(out);
}

static void add_evidence(struct buf *out, uint32_t gaps)
{
	jsonw_object(out, "evidence");
	jsonw_bool(out, "complete", gaps == 0);
	jsonw_array(out, "gaps");
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++) {
		if (gaps >> gap & 1)
			jsonw_str(out, NULL, gap_name((enum gap)gap));
	}
	jsonw_array_end(out);
	jsonw_object_end(out);
}

static void add_stop_signal(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *s = &stop->stop_signal;

	if (!s->known) {
		jsonw_null(out, "stop_signal");
		return;
	}
	jsonw_object(out, "stop_signal");
	record_parts_signal(out, s->number, s->result);
	record_parts_time(out, "at_boot_ns", s->at_ns);
	jsonw_bool(out, "inferred", stop->inferred);
	record_parts_sender(out, "sender", &s->sender);
	jsonw_object_end(out);
}

static void add_request(struct buf *out, const struct record_request *r)
{
	jsonw_object(out, NULL);
	record_parts_signal(out, r->number, r->result);
	record_parts_time(out, "at_boot_ns", r->at_ns);
	record_parts_time(out, "taken_boot_ns", r->taken_ns);
	record_parts_time(out, "dropped_boot_ns", r->dropped_ns);
	jsonw_str(out, "reason", unheard_name(r->reason));
	jsonw_str(out, "target_comm", r->target_comm);
	jsonw_object(out, "sender");
	jsonw_u64(out, "pid", r->process.pid);
	jsonw_str(out, "comm", r->process.comm);
	jsonw_str(out, "kind", sender_kind_name(r->sender));
	jsonw_object_end(out);
	jsonw_object_end(out);
}

static void add_requests(struct buf *out, const struct record_stop *stop)
{
	jsonw_array(out, "requests");
	for (size_t i = 0; i < RECORD_REQUESTS && stop->requests[i].number; i++)
		add_request(out, stop->requests + i);
	jsonw_array_end(out);
	jsonw_u64(out, "requests_total", stop->n_requests);
}

static void add_stop(struct buf *out, const struct record *record)
{
	const struct record_stop *stop = &record->stop;

	add_head(out, record, "stop", stop->id);
	record_parts_pod(out, "pod", &stop->pod);
	record_parts_container(out, "container", &stop->container);
	jsonw_object(out, "process");
	record_parts_process(out, &stop->process);
	record_parts_time(out, "start_boot_ns", stop->process.start_ns);
	jsonw_object_end(out);
	add_stop_signal(out, stop);
	record_parts_sigref(out, "kill_signal", &stop->kill_signal);
	record_parts_sigref(out, "keeper_signal", &stop->keeper_signal);
	add_requests(out, stop);
	jsonw_bool(out, "deaf", stop->deaf);
	jsonw_str(out, "reason", unheard_name(stop->reason));
	record_parts_exit(out, "exit", &stop->exit);
	if (stop->latency_known)
		jsonw_u64(out, "latency_ns", stop->latency_ns);
	else
		jsonw_null(out, "latency_ns");
	add_grace(out, stop);
	jsonw_str(out, "outcome", outcome_name(stop->outcome));
	jsonw_str(out, "cause", cause_name(stop->cause));
	jsonw_u64(out, "collateral_kills", stop->collateral_kills);
	if (stop->oom_kills_unknown)
		jsonw_null(out, "oom_kills");
	else
		jsonw_u64(out, "oom_kills", stop->oom_kills);
	record_parts_tri(out, "pod_terminating", stop->pod_terminating);
	record_parts_time(out, "empty_boot_ns", stop->empty_ns);
	add_forwarded(out, &stop->forward);
	add_held_by(out, &stop->held_by);
	add_stages(out, stop);
	add_evidence(out, stop->gaps);
}

static void add_runtime_exit(struct buf *out, const struct record *record)
{
	const struct record_runtime_exit *r = &record->runtime_exit;
	char time[RFC3339_SIZE];

	add_head(out, record, "runtime_exit", r->id);
	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
	jsonw_object(out, "runtime");
	jsonw_i64(out, "code", r->exit_code);
	jsonw_str(out, "reason", r->reason && r->reason[0] ? r->reason : NULL);
	jsonw_str(out, "finished_at",
		  r->finished_wall_ns ? rfc3339_format(r->finished_wall_ns, time) : NULL);
	jsonw_object_end(out);
	record_parts_exit(out, "exit", &r->kernel);
	record_parts_tri(out, "agrees", r->agrees);
	if (r->finished_wall_ns && r->kernel.known)
		jsonw_i64(out, "behind_ns",
			  (int64_t)((uint64_t)r->finished_wall_ns - (uint64_t)r->kernel_wall_ns));
	else
		jsonw_null(out, "behind_ns");
}

static void add_restart(struct buf *out, const struct record *record)
{
	const struct record_restart *r = &record->restart;

	add_head(out, record, "restart", r->id);
	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
	jsonw_object(out, "next");
	jsonw_str(out, "id", r->next_id);
	jsonw_u64(out, "attempt", r->next_attempt);
	jsonw_object_end(out);
	record_parts_tri(out, "probe", r->probe);
	record_parts_exit(out, "exit", &r->exit);
}

static void add_empty(struct buf *out, const struct record *record)
{
	const struct record_empty *empty = &record->empty;

	add_head(out, record, "empty", empty->id);
	record_parts_pod(out, "pod", &empty->pod);
	record_parts_container(out, "container", &empty->container);
	record_parts_time(out, "empty_boot_ns", empty->empty_ns);
}

static void add_reaped(struct buf *out, const struct record *record)
{
	const struct record_reaped *reaped = &record->reaped;

	add_head(out, record, "reaped", reaped->id);
	record_parts_pod(out, "pod", &reaped->pod);
	record_parts_container(out, "container", &reaped->container);
	record_parts_exit(out, "exit", &reaped->exit);
	record_parts_time(out, "reaped_boot_ns", reaped->reap_ns);
	add_span(out, "held_ns", reaped->exit.at_ns, record->at_ns);
}

static void add_pod_grace(struct buf *out, const struct grace *grace)
{
	if (!grace_known(grace)) {
		jsonw_null(out, "grace");
		return;
	}
	jsonw_object(out, "grace");
	jsonw_decimal(out, "seconds", grace->ns, NS_DECIMALS);
	jsonw_str(out, "from", grace_from_name(grace->from));
	jsonw_object_end(out);
}

/* The state comes after the pod, as the outcome of a stop does. */
static void add_pod_state(struct buf *out, const struct record *record)
{
	const struct record_pod_state *pod = &record->pod_state;

	add_head(out, record, "pod", pod->id);
	record_parts_pod(out, "pod", &pod->pod);
	jsonw_null(out, "container");
	jsonw_str(out, "state", pod_stage_name(pod->state));
	jsonw_str(out, "previous", pod_stage_name(pod->previous));
	jsonw_str(out, "trigger", pod_trigger_name(pod->trigger));
	record_parts_time(out, "at_boot_ns", pod->at_ns);
	add_pod_grace(out, &pod->grace);
	record_parts_time(out, "deadline_boot_ns", pod->deadline_ns);
	record_parts_time(out, "pod_empty_boot_ns", pod->empty_ns);
	jsonw_object(out, "durations");
	add_span(out, "terminating_ns", pod->terminating_ns, pod->empty_ns);
	add_span(out, "empty_ns", pod->exit_ns, pod->empty_ns);
	add_span(out, "removed_ns", pod->empty_ns, pod->removed_ns);
	jsonw_object_end(out);
	add_evidence(out, pod->gaps);
}

static void add_pod_ready(struct buf *out, const struct record *record)
{
	const struct record_pod_ready *r = &record->pod_ready;

	add_head(out, record, "pod_ready", r->id);
	record_parts_pod(out, "pod", &r->pod);
	jsonw_null(out, "container");
	record_parts_time(out, "stop_boot_ns", r->stop_ns);
	record_parts_time(out, "until_boot_ns", r->until_ns);
	add_span(out, "ready_ns", r->stop_ns, r->gaps ? 0 : r->until_ns);
	jsonw_object(out, "bounds");
	jsonw_u64(out, "min_ns", record_ready_min_ns(r));
	add_span(out, "max_ns", r->stop_ns, r->heard_ns);
	jsonw_object_end(out);
	jsonw_bool(out, "gone", r->gone);
	add_evidence(out, r->gaps);
}

static void add_discrepancy(struct buf *out, const struct record *record)
{
	add_head(out, record, "discrepancy", record->discrepancy.id);
	discrepancy_json(out, &record->discrepancy);
}

static void add_limit(struct buf *out, const char *key, uint64_t bytes)
{
	if (bytes)
		jsonw_u64(out, key, bytes);
	else
		jsonw_null(out, key);
}

static void add_oom(struct buf *out, const struct record *record)
{
	const struct record_oom *oom = &record->oom;

	add_head(out, record, "oom", NULL);
	record_parts_pod(out, "pod", &oom->pod);
	record_parts_container(out, "container", &oom->container);
	jsonw_object(out, "victim");
	record_parts_process(out, &oom->victim);
	jsonw_object_end(out);
	jsonw_bool(out, "init", oom->init);
	jsonw_str(out, "level", oom_level_name(oom->level));
	add_limit(out, "limit_bytes", oom->limit);
	add_limit(out, "level_limit_bytes", oom->level_limit);
}

/* counter is the offset of one of the counters in struct graced_stat. */
static void add_totals(struct buf *out, const char *key, const struct graced_stat *totals,
		       size_t counter)
{
	jsonw_object(out, key);
	for (unsigned int type = GRACED_EV_NONE + 1; type < GRACED_EV_COUNT; type++) {
		__u64 count;

		memcpy(&count, (const char *)&totals[type] + counter, sizeof(count));
		jsonw_u64(out, evname(type), count);
	}
	jsonw_object_end(out);
}

static void add_lost(struct buf *out, const struct record *record)
{
	const struct graced_stat *totals = record->lost.totals;

	add_head(out, record, "lost", NULL);
	add_totals(out, "emitted", totals, offsetof(struct graced_stat, emitted));
	add_totals(out, "lost", totals, offsetof(struct graced_stat, lost));
	add_totals(out, "suppressed", totals, offsetof(struct graced_stat, suppressed));
	jsonw_u64(out, "recursion_misses", record->lost.recursion_misses);
	jsonw_u64(out, "watch_full", totals[GRACED_STAT_WATCH_FULL].lost);
	jsonw_u64(out, "quota", totals[GRACED_STAT_QUOTA].lost);
	jsonw_u64(out, "too_deep", totals[GRACED_STAT_TOO_DEEP].lost);
}

static bool of_group(const struct record_shutdown *r)
{
	return r->step.what == SHUTDOWN_REPORT_GROUP_STARTED ||
	       r->step.what == SHUTDOWN_REPORT_GROUP_DONE;
}

static void add_group(struct buf *out, const struct record_shutdown *r)
{
	if (!of_group(r) && !r->container.known) {
		jsonw_null(out, "group");
		return;
	}
	jsonw_object(out, "group");
	jsonw_u64(out, "index", r->step.group);
	if (r->group_known)
		jsonw_i64(out, "priority", r->group_priority);
	else
		jsonw_null(out, "priority");
	record_parts_time(out, "length_ns", of_group(r) ? r->step.group_ns : 0);
	record_parts_time(out, "planned_boot_ns", r->step.planned_ns);
	if (r->step.what == SHUTDOWN_REPORT_GROUP_DONE)
		jsonw_bool(out, "timed_out", r->step.timed_out);
	else
		jsonw_null(out, "timed_out");
	jsonw_object_end(out);
}

/* What is known of a container that is overdue, or was ended. */
static void add_overdue(struct buf *out, const struct record_shutdown *r)
{
	const struct shutdown_container *c = &r->step.container;
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
	jsonw_bool(out, "deaf", r->step.deaf);
	jsonw_object_end(out);
}

static void add_holders(struct buf *out, const struct shutdown_record *step)
{
	jsonw_u64(out, "others", step->n_holders);
	jsonw_array(out, "holders");
	for (size_t i = 0; i < step->n_listed; i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "who", step->holders[i].who);
		jsonw_u64(out, "uid", step->holders[i].uid);
		jsonw_u64(out, "pid", step->holders[i].pid);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_volume(struct buf *out, const struct shutdown_volume *volume,
		       const struct record_volume_pod *pod)
{
	jsonw_object(out, NULL);
	if (*volume->pod_uid) {
		jsonw_object(out, "pod");
		jsonw_str(out, "namespace", pod->namespace_);
		jsonw_str(out, "name", pod->name);
		jsonw_str(out, "uid", volume->pod_uid);
		jsonw_object_end(out);
	} else {
		jsonw_null(out, "pod");
	}
	jsonw_str(out, "plugin", volume->plugin);
	jsonw_str(out, "driver", *volume->driver ? volume->driver : NULL);
	jsonw_str(out, "name", volume->name);
	jsonw_object_end(out);
}

static void add_volumes(struct buf *out, const struct record_shutdown *r)
{
	if (!r->step.volumes_known) {
		jsonw_null(out, "volumes_left");
		jsonw_null(out, "volumes");
		return;
	}
	jsonw_u64(out, "volumes_left", r->step.n_volumes);
	jsonw_array(out, "volumes");
	for (size_t i = 0; i < r->step.n_volumes_listed; i++)
		add_volume(out, &r->step.volumes[i], &r->volume_pods[i]);
	jsonw_array_end(out);
}

static void add_statuses(struct buf *out, const struct shutdown_record *step)
{
	const struct shutdown_statuses *s = &step->statuses;

	if (!step->statuses_known) {
		jsonw_null(out, "statuses");
		return;
	}
	jsonw_object(out, "statuses");
	for (int i = 0; i < SHUTDOWN_WRITE_COUNT; i++)
		jsonw_u64(out, shutdown_write_name((enum shutdown_write)i), s->writes[i]);
	jsonw_object(out, "withheld");
	for (int i = 0; i < SHUTDOWN_WITHHELD_COUNT; i++)
		jsonw_u64(out, shutdown_withheld_name((enum shutdown_withheld)i), s->withheld[i]);
	jsonw_object_end(out);
	jsonw_object_end(out);
}

static void add_shutdown_members(struct buf *out, const struct record_shutdown *r)
{
	const struct shutdown_record *step = &r->step;

	jsonw_str(out, "event", shutdown_report_name(step->what));
	jsonw_str(out, "mode", shutdown_mode_name(step->mode));
	jsonw_str(out, "action", shutdown_action_name(step->action));
	jsonw_bool(out, "lock_held", step->locked);
	record_parts_time(out, "announced_boot_ns", step->announced_ns);
	jsonw_u64(out, "limit_ns", step->limit_ns);
	jsonw_u64(out, "containers_left", step->living);
	jsonw_u64(out, "containers_stopping", step->stopping);
	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
	add_group(out, r);
	add_overdue(out, r);
	if (step->what == SHUTDOWN_REPORT_RELEASED)
		jsonw_str(out, "reason", shutdown_reason_name(step->reason));
	else if (step->what == SHUTDOWN_REPORT_LATE)
		jsonw_str(out, "reason", LATE_REASON);
	else
		jsonw_null(out, "reason");
	add_holders(out, step);
	add_volumes(out, r);
	add_statuses(out, step);
}

static void add_shutdown(struct buf *out, const struct record *record)
{
	add_head(out, record, "shutdown", record->shutdown.id);
	add_shutdown_members(out, &record->shutdown);
}

/* --- the end of an earlier boot ---------------------------------------------------------------- */

static void add_alive(struct buf *out, const struct bootlog_alive *row, bool pod)
{
	jsonw_object(out, NULL);
	if (pod)
		jsonw_str(out, "namespace", *row->namespace_ ? row->namespace_ : NULL);
	jsonw_str(out, "name", *row->name ? row->name : NULL);
	jsonw_str(out, pod ? "uid" : "id", *row->id ? row->id : NULL);
	if (pod)
		jsonw_u64(out, "containers", row->containers);
	jsonw_object_end(out);
}

static void add_alive_list(struct buf *out, const struct bootlog_list *list, bool pods)
{
	jsonw_u64(out, pods ? "pods_alive" : "containers_alive", list->total);
	jsonw_array(out, pods ? "pods" : "containers");
	for (size_t i = 0; i < list->n; i++)
		add_alive(out, &list->rows[i], pods);
	jsonw_array_end(out);
}

static void add_boot_shutdown(struct buf *out, const struct bootlog_shutdown *s)
{
	if (!s->announced_ns) {
		jsonw_null(out, "shutdown");
		return;
	}
	jsonw_object(out, "shutdown");
	jsonw_str(out, "mode", shutdown_mode_name((enum shutdown_mode)s->mode));
	jsonw_str(out, "action", shutdown_action_name((enum shutdown_action)s->action));
	record_parts_time(out, "announced_boot_ns", s->announced_ns);
	record_parts_time(out, "released_boot_ns", s->released_ns);
	jsonw_str(out, "reason",
		  s->released_ns ? shutdown_reason_name((enum shutdown_reason)s->reason) : NULL);
	jsonw_object(out, "outcomes");
	for (int i = 0; i < OUTCOME_COUNT; i++)
		jsonw_u64(out, outcome_name((enum outcome)i), s->outcomes[i]);
	jsonw_object_end(out);
	jsonw_object_end(out);
}

static void add_boot(struct buf *out, const struct record *record)
{
	const struct bootlog *log = record->boot.log;

	add_head(out, record, "boot_end", record->boot.id);
	jsonw_str(out, "boot_id", log->boot_id);
	jsonw_str(out, "end", boot_end_name(record->boot.verdict.end));
	jsonw_str(out, "reason", boot_reason_name(record->boot.verdict.reason));
	jsonw_str(out, "journal", boot_journal_name(log->journal));
	record_parts_time(out, "watched_boot_ns", log->watched_ns);
	record_parts_time(out, "stopped_boot_ns", log->stopped_ns);
	add_boot_shutdown(out, &log->shutdown);
	add_alive_list(out, &log->pods, true);
	add_alive_list(out, &log->containers, false);
}

static void add_dropped(struct buf *out, const struct record *record)
{
	add_head(out, record, "dropped", NULL);
	jsonw_u64(out, "records", record->dropped.records);
	record_parts_time(out, "since_boot_ns", record->dropped.since_ns);
	record_parts_time(out, "until_boot_ns", record->dropped.until_ns);
}

typedef void (*add_fn)(struct buf *out, const struct record *record);

static add_fn adder(enum record_type type)
{
	switch (type) {
	case RECORD_ATTACHED:
		return add_attached;
	case RECORD_SIGNAL:
		return add_signal;
	case RECORD_STOP:
		return add_stop;
	case RECORD_EMPTY:
		return add_empty;
	case RECORD_REAPED:
		return add_reaped;
	case RECORD_OOM:
		return add_oom;
	case RECORD_LOST:
		return add_lost;
	case RECORD_RUNTIME_EXIT:
		return add_runtime_exit;
	case RECORD_POD:
		return add_pod_state;
	case RECORD_POD_READY:
		return add_pod_ready;
	case RECORD_DISCREPANCY:
		return add_discrepancy;
	case RECORD_SHUTDOWN:
		return add_shutdown;
	case RECORD_BOOT:
		return add_boot;
	case RECORD_RESTART:
		return add_restart;
	case RECORD_DROPPED:
		return add_dropped;
	case RECORD_NONE:
		break;
	}
	return NULL;
}

int record_json(struct buf *out, const struct record *record)
{
	add_fn add = adder(record->type);
	size_t before = out->len;

	if (!add)
		return -EINVAL;
	jsonw_object(out, NULL);
	add(out, record);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}
