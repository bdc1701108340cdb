// SPDX-License-Identifier: Apache-2.0
/* The members of a report, in the order of graced-records(5). */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/signame.h"
#include "wire/account/account.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

#define NS_DECIMALS 9

static void add_span(struct buf *out, const char *key, uint64_t from, uint64_t to)
{
	jsonw_u64_if(out, key, from && to && to >= from, to - from);
}

static void add_holders(struct buf *out, const struct account_story *story)
{
	jsonw_array(out, "holders");
	for (size_t i = 0; i < story->n_holders; i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "who", story->holders[i].who);
		jsonw_u64(out, "uid", story->holders[i].uid);
		jsonw_u64(out, "pid", story->holders[i].pid);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_groups(struct buf *out, const struct account_story *story)
{
	jsonw_array(out, "groups");
	for (size_t i = 0; i < story->n_groups; i++) {
		const struct account_group *g = &story->groups[i];

		jsonw_object(out, NULL);
		jsonw_u64(out, "index", g->index);
		jsonw_i64_if(out, "priority", g->priority_known, g->priority);
		jsonw_time(out, "begin_boot_ns", g->begin_ns);
		jsonw_time(out, "done_boot_ns", g->done_ns);
		jsonw_time(out, "length_ns", g->length_ns);
		jsonw_time(out, "planned_boot_ns", g->planned_ns);
		jsonw_bool_if(out, "timed_out", g->done_ns, g->timed_out);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_shutdown(struct buf *out, const struct account_story *story)
{
	if (!jsonw_object_if(out, "shutdown", story->shutdown))
		return;
	jsonw_str(out, "mode", story->mode);
	jsonw_str(out, "action", story->action);
	jsonw_time(out, "announced_boot_ns", story->announced_ns);
	jsonw_time(out, "limit_ns", story->limit_ns);
	jsonw_time(out, "released_boot_ns", story->released_ns);
	jsonw_time(out, "cancelled_boot_ns", story->cancelled_ns);
	jsonw_str(out, "reason", story->reason);
	jsonw_bool(out, "lock_held", story->lock_held);
	add_span(out, "lock_held_ns", story->announced_ns, account_lock_end(story));
	jsonw_u64_if(out, "containers_left", story->released_ns, story->left);
	jsonw_u64_if(out, "volumes_left", story->volumes_known, story->volumes);
	jsonw_u64_if(out, "others", story->released_ns, story->others);
	add_holders(out, story);
	add_groups(out, story);
	jsonw_object_end(out);
}

/* --- the end of the boot --------------------------------------------------------------------- */

static void add_alive(struct buf *out, const struct account_alive *row, bool pod)
{
	const struct bootlog_alive *of = row->of;

	jsonw_object(out, NULL);
	if (pod)
		jsonw_str(out, "namespace", *of->namespace_ ? of->namespace_ : NULL);
	jsonw_str(out, "name", *of->name ? of->name : NULL);
	jsonw_str(out, pod ? "uid" : "id", *of->id ? of->id : NULL);
	if (pod)
		jsonw_u64(out, "containers", row->containers);
	jsonw_u64(out, "ended", row->ended);
	jsonw_object_end(out);
}

static void add_alive_list(struct buf *out, const struct account_alive_list *list, bool pods)
{
	jsonw_u64(out, pods ? "pods_alive" : "containers_alive", list->total);
	jsonw_array(out, pods ? "pods" : "containers");
	for (size_t i = 0; i < list->n; i++)
		add_alive(out, &list->rows[i], pods);
	jsonw_array_end(out);
}

static void add_boot_end(struct buf *out, const struct account_boot_end *end)
{
	char time[RFC3339_SIZE];

	if (!jsonw_object_if(out, "boot_end", end))
		return;
	jsonw_str(out, "end", boot_end_name(end->end));
	jsonw_str(out, "reason", boot_reason_name(end->reason));
	jsonw_str(out, "journal", boot_journal_name(end->journal));
	jsonw_str(out, "seen", rfc3339_format(end->seen_wall_ns, time));
	jsonw_time(out, "seen_boot_ns", end->seen_ns);
	jsonw_time(out, "stopped_boot_ns", end->stopped_ns);
	jsonw_time(out, "announced_boot_ns", end->announced_ns);
	jsonw_time(out, "released_boot_ns", end->released_ns);
	add_alive_list(out, &end->pods, true);
	add_alive_list(out, &end->containers, false);
	jsonw_object_end(out);
}

static void add_pod_names(struct buf *out, const struct record_pod *s)
{
	jsonw_str(out, "namespace", s->namespace_);
	jsonw_str(out, "name", s->name);
	jsonw_str(out, "uid", s->uid);
	jsonw_str(out, "workload", s->workload);
}

/* A container that is only in steps of a shutdown has no stop record, and so no senders. */
static void add_signal(struct buf *out, const char *key, const struct record_sigref *signal)
{
	const struct record_sender *sender = &signal->sender;
	char name[SIGNAME_SIZE];

	if (!jsonw_object_if(out, key, signal->at_ns))
		return;
	jsonw_str(out, "name", signal->number ? signame_format(signal->number, name) : NULL);
	jsonw_str(out, "result", signal->result < 0 ? NULL : record_result_name(signal->result));
	jsonw_u64(out, "at_boot_ns", signal->at_ns);
	jsonw_str(out, "sender", sender->process.comm);
	jsonw_u64_if(out, "sender_pid", sender->process.comm, sender->process.pid);
	jsonw_str(out, "sender_kind", sender_kind_name(sender->kind));
	jsonw_object_end(out);
}

static void add_exit(struct buf *out, const struct record_exit *exit)
{
	jsonw_object(out, "exit");
	jsonw_i64_if(out, "code", account_code(exit) >= 0, account_code(exit));
	jsonw_u64_if(out, "signal", exit->known, exit->status & 0x7f);
	jsonw_time(out, "at_boot_ns", exit->at_ns);
	jsonw_object_end(out);
}

static void add_grace(struct buf *out, const struct account_stop *stop)
{
	const struct grace *grace = &stop->of->grace;

	if (!jsonw_object_if(out, "grace", grace_known(grace)))
		return;
	jsonw_decimal(out, "seconds", grace->ns, NS_DECIMALS);
	jsonw_str(out, "from", stop->unrecorded ? NULL : grace_from_name(grace->from));
	jsonw_time(out, "deadline_boot_ns", stop->deadline_ns);
	jsonw_i64_if(out, "margin_ns", stop->margin_known, stop->margin_ns);
	jsonw_object_end(out);
}

static void add_gaps(struct buf *out, uint32_t gaps)
{
	jsonw_array(out, "gaps");
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++)
		if (gaps >> gap & 1)
			jsonw_str(out, NULL, gap_name((enum gap)gap));
	jsonw_array_end(out);
}

static void add_stop(struct buf *out, const struct account_stop *stop)
{
	const struct record_stop *of = stop->of;
	uint64_t took = 0;
	bool known;

	jsonw_object(out, NULL);
	jsonw_str(out, "name", of->container.name);
	jsonw_str(out, "id", of->container.id);
	jsonw_str(out, "cgroup", of->container.cgroup);
	jsonw_u64_if(out, "group", stop->group_known, stop->group);
	add_signal(out, "stop_signal", &of->stop_signal);
	add_signal(out, "kill_signal", &of->kill_signal);
	add_exit(out, &of->exit);
	jsonw_time(out, "empty_boot_ns", of->empty_ns);
	known = account_took(stop, &took);
	jsonw_u64_if(out, "latency_ns", known, took);
	add_grace(out, stop);
	jsonw_str(out, "outcome", outcome_name(of->outcome));
	jsonw_str(out, "cause", stop->unrecorded ? NULL : cause_name(of->cause));
	jsonw_str(out, "reason", unheard_name(of->reason));
	jsonw_bool(out, "deaf", of->deaf);
	jsonw_time(out, "overdue_boot_ns", stop->overdue_ns);
	jsonw_bool(out, "left", stop->left);
	jsonw_bool(out, "recorded", !stop->unrecorded);
	add_gaps(out, of->gaps);
	jsonw_object_end(out);
}

static void add_pod(struct buf *out, const struct account_story *story,
		    const struct account_pod *pod)
{
	jsonw_object(out, NULL);
	add_pod_names(out, &pod->names);
	jsonw_time(out, "asked_boot_ns", pod->asked_ns);
	jsonw_time(out, "terminating_boot_ns", pod->terminating_ns);
	jsonw_time(out, "empty_boot_ns", pod->empty_ns);
	jsonw_time(out, "finished_boot_ns", pod->finished_ns);
	jsonw_time(out, "deadline_boot_ns", pod->deadline_ns);
	jsonw_str(out, "trigger", pod_trigger_name(pod->trigger));
	jsonw_array(out, "containers");
	for (size_t i = 0; i < pod->n; i++)
		add_stop(out, story->stops[pod->first + i]);
	jsonw_array_end(out);
	jsonw_object_end(out);
}

/* What only shutdowns have. */
static void add_seen(struct buf *out, const char *key, const struct account_story *story, bool seen)
{
	jsonw_bool_if(out, key, story->shutdown, seen);
}

static void add_evidence(struct buf *out, const struct account_story *story)
{
	const struct account_partial *p = &story->partial;

	jsonw_object(out, "evidence");
	jsonw_bool(out, "complete", !account_is_partial(story));
	add_seen(out, "announcement_seen", story, !p->begin_unseen);
	add_seen(out, "end_seen", story, !p->end_unseen && !p->ended);
	if (story->end)
		jsonw_bool(out, "boot_end_clean", story->end->end == BOOT_END_CLEAN);
	else
		jsonw_null(out, "boot_end_clean");
	jsonw_time(out, "graced_stopped_boot_ns", p->ended ? story->ended_ns : 0);
	jsonw_u64(out, "graced_restarts", p->restarts);
	jsonw_u64_if(out, "events_lost", !p->lost_somewhere, p->lost.events);
	jsonw_u64_if(out, "cgroups_unwatched", !p->lost_somewhere, p->lost.cgroups);
	jsonw_u64(out, "stops_with_gaps", p->gaps);
	jsonw_u64(out, "stops_without_record", p->unrecorded);
	jsonw_u64(out, "records_left_out", p->cut);
	jsonw_u64(out, "lines_unreadable", p->unreadable);
	jsonw_u64(out, "records_dropped", p->dropped);
	jsonw_u64(out, "records_newer", p->newer);
	jsonw_object_end(out);
}

static void add_story(struct buf *out, const struct account_story *story)
{
	char time[RFC3339_SIZE];
	int64_t begin = (int64_t)(story->begin_ns + (uint64_t)story->wall_offset_ns);

	jsonw_object(out, NULL);
	jsonw_str(out, "type", "report");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "time", rfc3339_format(begin, time));
	jsonw_u64(out, "boot_ns", story->begin_ns);
	jsonw_str(out, "node", story->node);
	jsonw_str(out, "boot", story->boot);
	jsonw_u64(out, "end_boot_ns", story->end_ns);
	add_shutdown(out, story);
	add_boot_end(out, story->end);
	jsonw_array(out, "pods");
	for (size_t i = 0; i < story->n_pods; i++)
		add_pod(out, story, &story->pods[i]);
	jsonw_array_end(out);
	add_evidence(out, story);
	jsonw_object_end(out);
	buf_addc(out, '\n');
}

int account_json(struct buf *out, const struct account *account)
{
	for (size_t i = 0; i < account->n; i++)
		add_story(out, account->stories[i]);
	return buf_error(out);
}

/* --- records ---------------------------------------------------------------------------------- */

void account_read(struct account_log *log, const struct account_query *query, const char *line,
		  size_t size, const char *boot)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	int r = size ? record_read(line, size, RECORDS_ALL, &arena, &record) : -ENOMSG;

	if (r == 0 && account_log_wants(query, &record, boot))
		account_log_add(log, record_copy(&record, log->arena), boot);
	else if (r == -EPROTONOSUPPORT)
		log->newer++;
	else if (r < 0 && r != -ENOMSG)
		log->unreadable++;
}
