// SPDX-License-Identifier: Apache-2.0
/* The members of each type of record, in the order of graced-records(5). */
#include "wire/json/rows.h"

#include <errno.h>
#include <string.h>

#include "core/boot/log.h"
#include "wire/json/writer.h"
#include "wire/kernel/event.h"

#define RATIO_DECIMALS 6
/* For a container that began in a shutdown: the kubelet's reason for a pod that it refuses then. */
#define LATE_REASON    "NodeShutdown"

/* --- words ------------------------------------------------------------------------------------- */

WORDS(outcome, outcome, enum outcome, OUTCOME_COUNT)
WORDS(cause, cause, enum cause, CAUSE_COUNT)
WORDS(unheard, unheard, enum unheard, UNHEARD_COUNT)
WORDS(sender_kind, sender_kind, enum sender_kind, SENDER_UNKNOWN)
WORDS(result, record_result, int32_t, RESULT_UNKNOWN + 1)
WORDS(oom_level, oom_level, enum oom_level, OOM_LEVEL_UNKNOWN + 1)
WORDS(stage, pod_stage, enum pod_stage, POD_STAGE_COUNT)
WORDS(trigger, pod_trigger, enum pod_trigger, POD_TRIGGER_COUNT)
WORDS(discrepancy, discrepancy, enum discrepancy, DISCREPANCY_COUNT)
WORDS(source, meta_source, enum meta_source, META_SOURCE_COUNT)
WORDS(event, shutdown_report, enum shutdown_report, SHUTDOWN_REPORT_COUNT)
WORDS(mode, shutdown_mode, enum shutdown_mode, SHUTDOWN_MODE_COUNT)
WORDS(action, shutdown_action, enum shutdown_action, SHUTDOWN_ACTION_COUNT)
WORDS(released, shutdown_reason, enum shutdown_reason, SHUTDOWN_REASON_COUNT)
WORDS(written, shutdown_write, enum shutdown_write, SHUTDOWN_WRITE_COUNT)
WORDS(withheld, shutdown_withheld, enum shutdown_withheld, SHUTDOWN_WITHHELD_COUNT)
WORDS(boot_end, boot_end, enum boot_end, BOOT_END_COUNT)
WORDS(boot_reason, boot_reason, enum boot_reason, BOOT_REASON_COUNT)
WORDS(journal, boot_journal, enum boot_journal, BOOT_JOURNAL_COUNT)
WORDS(ended_by, ended_by, enum ended_by, ENDED_COUNT)
WORDS(via, via_how, enum via_how, VIA_COUNT)
WORDS(disposition, disposition, enum disposition, DISPOSITION_COUNT)
WORDS(list_gap, list_gap, enum list_gap, LIST_GAP_COUNT)

static const char *phase_word(unsigned int phase)
{
	const char *name = meta_phase_name((enum meta_phase)phase);

	return *name ? name : NULL;
}

static const struct member_words phase_words = {phase_word, META_PHASE_UNKNOWN + 1};

static const char *counted_word(unsigned int type)
{
	return evname(GRACED_EV_NONE + 1 + type);
}

static const struct member_words counted_words = {counted_word, GRACED_EV_COUNT - 1};

/* --- attached, signal -------------------------------------------------------------------------- */

static const struct member attached[] = {
	TEXT(struct record_attached, "hierarchy", hierarchy),
	UINT(struct record_attached, "programs", programs),
	UINT(struct record_attached, "containers", containers),
	MEMBERS_END,
};

static const struct member signal_sent[] = {
	SIGNAL(struct record_signal, number),		RESULT(struct record_signal, result),
	BOOL(struct record_signal, "group", group),	INT(struct record_signal, "si_code", code),
	BOOL(struct record_signal, "blocked", blocked), MEMBERS_END,
};

static const struct member signal_target[] = {
	INLINE(struct record_signal, target, parts_process),
	BOOL(struct record_signal, "init", target_init),
	POD(struct record_signal, pod),
	CONTAINER(struct record_signal, container),
	MEMBERS_END,
};

static const struct member signals[] = {
	WITHIN("signal", signal_sent),
	BOOL(struct record_signal, "deaf", deaf, FIELD("GRACED_DEAF")),
	WORD(struct record_signal, "reason", reason, unheard, FIELD("GRACED_REASON")),
	SENDER(struct record_signal, sender, FIELD("GRACED_SENDER")),
	WITHIN("target", signal_target),
	MEMBERS_END,
};

/* --- stop -------------------------------------------------------------------------------------- */

static const struct member stop_signal[] = {
	SIGNAL(struct record_stop, stop_signal.number),
	RESULT(struct record_stop, stop_signal.result),
	UINT(struct record_stop, "at_boot_ns", stop_signal.at_ns, OPTIONAL),
	BOOL(struct record_stop, "inferred", inferred),
	SENDER(struct record_stop, stop_signal.sender),
	MEMBERS_END,
};

static const struct member requester[] = {
	INLINE(struct record_request, process, parts_sending),
	WORD(struct record_request, "kind", sender, sender_kind, .none = SENDER_UNPLACED),
	BOOL(struct record_request, "inside", inside),
	MEMBERS_END,
};

static const struct member asker[] = {
	INLINE(struct record_asked, process, parts_process),
	WORD(struct record_asked, "kind", sender, sender_kind, .none = SENDER_UNPLACED),
	BOOL(struct record_asked, "inside", inside),
	MEMBERS_END,
};

static const struct member request[] = {
	SIGNAL(struct record_request, number),
	RESULT(struct record_request, result),
	UINT(struct record_request, "at_boot_ns", at_ns, OPTIONAL),
	UINT(struct record_request, "taken_boot_ns", taken_ns, OPTIONAL),
	UINT(struct record_request, "dropped_boot_ns", dropped_ns, OPTIONAL),
	WORD(struct record_request, "reason", reason, unheard),
	TEXT(struct record_request, "target_comm", target_comm),
	WITHIN("sender", requester),
	MEMBERS_END,
};

/* What init passed on, to which process first, and how long after its stop signal. */
static const struct member forwarded[] = {
	SIGNAL(struct record_forward, number),
	RESULT(struct record_forward, result),
	UINT(struct record_forward, "after_ns", after_ns),
	OBJECT(struct record_forward, "target", to, parts_process),
	UINT(struct record_forward, "count", count),
	MEMBERS_END,
};

/* A signal of a process that is listed; how long after the stop signal is the reader's to say. */
static const struct member sent_to[] = {
	SIGNAL(struct record_asked, number),
	RESULT(struct record_asked, result),
	UINT(struct record_asked, "at_boot_ns", at_ns, OPTIONAL),
	WITHIN("sender", asker),
	MEMBERS_END,
};

static const struct member listed[] = {
	INLINE(struct record_member, process, parts_init),
	TEXT(struct record_member, "exe", exe),
	UINT(struct record_member, "parent_pid", parent_pid, OPTIONAL),
	WORD(struct record_member, "disposition", disposition, disposition),
	OBJECT(struct record_member, "asked", asked, sent_to,
	       UNLESS(struct record_member, asked.number, 0)),
	OBJECT(struct record_member, "fatal", fatal, sent_to,
	       UNLESS(struct record_member, fatal.number, 0)),
	EXIT(struct record_member, exit),
	WORD(struct record_member, "ended_by", by, ended_by),
	BOOL(struct record_member, "entered", entered),
	BOOL(struct record_member, "helper", helper),
	BOOL(struct record_member, "cut", cut),
	MEMBERS_END,
};

static const struct member passed_on[] = {
	INLINE(struct record_via, process, parts_process),
	WORD(struct record_via, "how", how, via),
	MEMBERS_END,
};

static const struct member held_by[] = {
	INLINE(struct record_holder, process, parts_named),
	OBJECT(struct record_holder, "parent", parent, parts_named),
	MEMBERS_END,
};

static void write_used_ratio(struct buf *out, const struct member *m, const void *object)
{
	const struct record_stop *stop = object;
	double units = (double)stop->latency_ns / (double)stop->grace.ns * 1e6 + 0.5;

	jsonw_decimal(out, m->key, units < 0x1p63 ? (uint64_t)units : INT64_MAX, RATIO_DECIMALS);
}

static void write_margin(struct buf *out, const struct member *m, const void *object)
{
	const struct record_stop *stop = object;

	jsonw_i64(out, m->key, (int64_t)(stop->grace.ns - stop->latency_ns));
}

static bool stop_has_grace(const struct member *m, const void *object)
{
	return grace_known(&((const struct record_stop *)object)->grace);
}

/* A grace period of 0 has no used share. */
static const struct member stop_grace[] = {
	INLINE(struct record_stop, grace, parts_grace),
	DERIVED(struct record_stop, "used_ratio", grace.ns, write_used_ratio,
		KNOWN(struct record_stop, latency_known), OPTIONAL),
	DERIVED(struct record_stop, "margin_ns", grace.ns, write_margin,
		KNOWN(struct record_stop, latency_known)),
	MEMBERS_END,
};

#define EXITED KNOWN(struct record_stop, exit.known)

static const struct member stages[] = {
	SPAN(struct record_stop, "deliver_ns", stop_signal.at_ns, deliver_ns),
	SPAN(struct record_stop, "exit_ns", deliver_ns, exit.at_ns, EXITED),
	SPAN(struct record_stop, "reap_ns", exit.at_ns, reap_ns, EXITED),
	SPAN(struct record_stop, "empty_ns", exit.at_ns, empty_ns, EXITED),
	MEMBERS_END,
};

static const struct member stopped[] = {
	POD(struct record_stop, pod),
	CONTAINER(struct record_stop, container),
	OBJECT(struct record_stop, "process", process, parts_init),
	WITHIN("stop_signal", stop_signal, KNOWN(struct record_stop, stop_signal.known)),
	SIGREF(struct record_stop, "kill_signal", kill_signal),
	SIGREF(struct record_stop, "keeper_signal", keeper_signal),
	LIST(struct record_stop, "requests", requests, request, .n = RECORD_REQUESTS,
	     .stride = sizeof(struct record_request)),
	UINT(struct record_stop, "requests_total", n_requests),
	BOOL(struct record_stop, "deaf", deaf, FIELD("GRACED_DEAF")),
	WORD(struct record_stop, "reason", reason, unheard, FIELD("GRACED_REASON"),
	     ATTRIBUTE("graced.reason")),
	EXIT(struct record_stop, exit, FIELD("GRACED_EXIT")),
	UINT(struct record_stop, "abort_ns", abort_ns, OPTIONAL),
	UINT(struct record_stop, "latency_ns", latency_ns, KNOWN(struct record_stop, latency_known),
	     FIELD("GRACED_LATENCY_NS")),
	WITHIN("grace", stop_grace, THERE(stop_has_grace)),
	WORD(struct record_stop, "outcome", outcome, outcome, .none = OUTCOME_UNKNOWN),
	WORD(struct record_stop, "cause", cause, cause, .none = CAUSE_UNKNOWN),
	OBJECT(struct record_stop, "via", via, passed_on,
	       UNLESS(struct record_stop, via.process.pid, 0)),
	UINT(struct record_stop, "cut", cut, FIELD("GRACED_CUT")),
	UINT(struct record_stop, "collateral_kills", collateral_kills,
	     FIELD("GRACED_COLLATERAL_KILLS")),
	UINT(struct record_stop, "oom_kills", oom_kills,
	     UNKNOWN(struct record_stop, oom_kills_unknown), FIELD("GRACED_OOM_KILLS")),
	TRI(struct record_stop, "pod_terminating", pod_terminating, OPTIONAL),
	UINT(struct record_stop, "empty_boot_ns", empty_ns, OPTIONAL),
	OBJECT(struct record_stop, "forwarded", forward, forwarded,
	       UNLESS(struct record_stop, forward.count, 0)),
	OBJECT(struct record_stop, "held_by", held_by, held_by,
	       UNLESS(struct record_stop, held_by.process.pid, 0)),
	LIST(struct record_stop, "processes", processes, listed,
	     COUNTED(struct record_stop, n_processes), .n = RECORD_MEMBERS,
	     POINTED(struct record_member)),
	UINT(struct record_stop, "processes_other", processes_other),
	BITS(struct record_stop, "processes_gaps", processes_gaps, list_gap),
	UINT(struct record_stop, "looks", looks),
	LIST(struct record_stop, "waited_for", waited_for, parts_wait,
	     COUNTED(struct record_stop, n_waited_for), .n = WAITS_MAX, POINTED(struct wait)),
	WITHIN("stages", stages),
	EVIDENCE(struct record_stop, gaps),
	MEMBERS_END,
};

/* --- what follows a stop ----------------------------------------------------------------------- */

static const struct member empty[] = {
	POD(struct record_empty, pod),
	CONTAINER(struct record_empty, container),
	UINT(struct record_empty, "empty_boot_ns", empty_ns, OPTIONAL),
	MEMBERS_END,
};

/* Until the record. */
static void write_held(struct buf *out, const struct member *m, const void *object)
{
	const char *record = (const char *)object - offsetof(struct record, reaped);
	uint64_t from = ((const struct record_reaped *)object)->exit.at_ns;
	uint64_t to = ((const struct record *)record)->at_ns;

	jsonw_u64_if(out, m->key, from && to && to >= from, to - from);
}

static const struct member reaped[] = {
	POD(struct record_reaped, pod),
	CONTAINER(struct record_reaped, container),
	EXIT(struct record_reaped, exit),
	UINT(struct record_reaped, "reaped_boot_ns", reap_ns, OPTIONAL),
	DERIVED(struct record_reaped, "held_ns", exit.at_ns, write_held),
	MEMBERS_END,
};

static const struct member runtime_says[] = {
	INT(struct record_runtime_exit, "code", exit_code),
	TEXT(struct record_runtime_exit, "reason", reason, OPTIONAL),
	WALL(struct record_runtime_exit, "finished_at", finished_wall_ns, OPTIONAL),
	MEMBERS_END,
};

static int64_t wall_behind(int64_t finished_ns, int64_t kernel_ns)
{
	return (int64_t)((uint64_t)finished_ns - (uint64_t)kernel_ns);
}

static void write_behind(struct buf *out, const struct member *m, const void *object)
{
	const struct record_runtime_exit *r = object;

	jsonw_i64(out, m->key, wall_behind(r->finished_wall_ns, r->kernel_wall_ns));
}

static int read_behind(const struct member *m, const json_t *value, void *object)
{
	struct record_runtime_exit *r = object;

	r->kernel_wall_ns = wall_behind(r->finished_wall_ns, json_integer_value(value));
	return 0;
}

static bool was_finished(const struct member *m, const void *object)
{
	return ((const struct record_runtime_exit *)object)->finished_wall_ns;
}

static const struct member runtime_exit[] = {
	POD(struct record_runtime_exit, pod),
	CONTAINER(struct record_runtime_exit, container),
	WITHIN("runtime", runtime_says),
	EXIT(struct record_runtime_exit, kernel),
	TRI(struct record_runtime_exit, "agrees", agrees, OPTIONAL),
	DERIVED(struct record_runtime_exit, "behind_ns", kernel_wall_ns, write_behind,
		KNOWN(struct record_runtime_exit, kernel.known), THERE(was_finished),
		READ(read_behind)),
	MEMBERS_END,
};

static const struct member next[] = {
	TEXT(struct record_restart, "id", next_id),
	UINT(struct record_restart, "attempt", next_attempt, FIELD("GRACED_ATTEMPT")),
	MEMBERS_END,
};

static const struct member restart[] = {
	POD(struct record_restart, pod),
	CONTAINER(struct record_restart, container),
	WITHIN("next", next),
	TRI(struct record_restart, "probe", probe, OPTIONAL, FIELD("GRACED_PROBE")),
	EXIT(struct record_restart, exit),
	MEMBERS_END,
};

static const struct member oom[] = {
	POD(struct record_oom, pod),
	CONTAINER(struct record_oom, container),
	OBJECT(struct record_oom, "victim", victim, parts_process),
	BOOL(struct record_oom, "init", init, FIELD("GRACED_INIT")),
	WORD(struct record_oom, "level", level, oom_level, .none = OOM_LEVEL_UNKNOWN,
	     FIELD("GRACED_LEVEL")),
	UINT(struct record_oom, "limit_bytes", limit, OPTIONAL),
	UINT(struct record_oom, "level_limit_bytes", level_limit, OPTIONAL),
	MEMBERS_END,
};

/* --- pods -------------------------------------------------------------------------------------- */

static const struct member durations[] = {
	SPAN(struct record_pod_state, "terminating_ns", terminating_ns, empty_ns),
	SPAN(struct record_pod_state, "empty_ns", exit_ns, empty_ns),
	SPAN(struct record_pod_state, "removed_ns", empty_ns, removed_ns),
	MEMBERS_END,
};

/* The state comes after the pod, as the outcome of a stop does. */
static const struct member pod_state[] = {
	POD(struct record_pod_state, pod),
	ALWAYS_NULL("container"),
	WORD(struct record_pod_state, "state", state, stage, FIELD("GRACED_STATE")),
	WORD(struct record_pod_state, "previous", previous, stage, FIELD("GRACED_PREVIOUS")),
	WORD(struct record_pod_state, "trigger", trigger, trigger, FIELD("GRACED_TRIGGER")),
	UINT(struct record_pod_state, "at_boot_ns", at_ns, OPTIONAL),
	OBJECT(struct record_pod_state, "grace", grace, parts_grace, THERE(parts_has_grace)),
	UINT(struct record_pod_state, "deadline_boot_ns", deadline_ns, OPTIONAL,
	     FIELD("GRACED_DEADLINE_BOOT_NS")),
	UINT(struct record_pod_state, "pod_empty_boot_ns", empty_ns, OPTIONAL),
	WITHIN("durations", durations),
	EVIDENCE(struct record_pod_state, gaps),
	MEMBERS_END,
};

static void write_ready_min(struct buf *out, const struct member *m, const void *object)
{
	jsonw_u64(out, m->key, record_ready_min_ns(object));
}

static int read_ready_min(const struct member *m, const json_t *value, void *object)
{
	struct record_pod_ready *r = object;

	r->last_ns = r->stop_ns + (uint64_t)json_integer_value(value);
	return 0;
}

static bool is_figure(const struct member *m, const void *object)
{
	return !((const struct record_pod_ready *)object)->gaps;
}

static const struct member bounds[] = {
	DERIVED(struct record_pod_ready, "min_ns", last_ns, write_ready_min, READ(read_ready_min)),
	SPAN(struct record_pod_ready, "max_ns", stop_ns, heard_ns),
	MEMBERS_END,
};

static const struct member pod_ready[] = {
	POD(struct record_pod_ready, pod),
	ALWAYS_NULL("container"),
	UINT(struct record_pod_ready, "stop_boot_ns", stop_ns, OPTIONAL,
	     FIELD("GRACED_STOP_BOOT_NS")),
	UINT(struct record_pod_ready, "until_boot_ns", until_ns, OPTIONAL,
	     FIELD("GRACED_UNTIL_BOOT_NS")),
	SPAN(struct record_pod_ready, "ready_ns", stop_ns, until_ns, THERE(is_figure),
	     FIELD("GRACED_READY_NS")),
	WITHIN("bounds", bounds),
	BOOL(struct record_pod_ready, "gone", gone, FIELD("GRACED_GONE")),
	EVIDENCE(struct record_pod_ready, gaps),
	MEMBERS_END,
};

/* --- discrepancies ----------------------------------------------------------------------------- */

static bool of_exit(const struct member *m, const void *object)
{
	return ((const struct record_discrepancy *)object)->kind >= DISCREPANCY_STATES;
}

static bool of_state(const struct member *m, const void *object)
{
	return !of_exit(m, object);
}

static const struct member reported_exit[] = {
	INT(struct record_discrepancy, "code", reported.exit_code,
	    FIELD("GRACED_REPORTED_EXIT_CODE")),
	TEXT(struct record_discrepancy, "reason", reported.reason, OPTIONAL,
	     FIELD("GRACED_REPORTED_REASON")),
	WALL(struct record_discrepancy, "finished_at", reported.finished_wall_ns, OPTIONAL,
	     FIELD("GRACED_REPORTED_FINISHED_AT")),
	MEMBERS_END,
};

static const struct member reported_state[] = {
	BOOL(struct record_discrepancy, "listed", reported.listed, FIELD("GRACED_REPORTED_LISTED")),
	WORD(struct record_discrepancy, "phase", reported.phase, phase,
	     FIELD("GRACED_REPORTED_PHASE")),
	TRI(struct record_discrepancy, "ready", reported.ready, OPTIONAL,
	    FIELD("GRACED_REPORTED_READY")),
	MEMBERS_END,
};

static const struct member reported[] = {
	WORD(struct record_discrepancy, "source", reported.source, source),
	WITHIN("exit", reported_exit, OMITTED(of_exit)),
	AMONG(reported_state, OMITTED(of_state)),
	MEMBERS_END,
};

static void write_reported_behind(struct buf *out, const struct member *m, const void *object)
{
	const struct record_discrepancy *r = object;

	jsonw_i64(out, m->key, wall_behind(r->reported.finished_wall_ns, r->kernel.exit_wall_ns));
}

static const struct member kernel_exit[] = {
	EXIT(struct record_discrepancy, kernel.exit, FIELD("GRACED_EXIT")),
	WALL(struct record_discrepancy, "finished_at", kernel.exit_wall_ns,
	     FIELD("GRACED_FINISHED_AT")),
	DERIVED(struct record_discrepancy, "reported_behind_ns", reported.finished_wall_ns,
		write_reported_behind, OPTIONAL),
	TRI(struct record_discrepancy, "oom_killed", kernel.oom, OPTIONAL,
	    FIELD("GRACED_OOM_KILLED")),
	MEMBERS_END,
};

static const struct member kernel_state[] = {
	BOOL(struct record_discrepancy, "populated", kernel.populated, FIELD("GRACED_POPULATED")),
	UINT(struct record_discrepancy, "running", kernel.running, FIELD("GRACED_RUNNING")),
	MEMBERS_END,
};

static const struct member kernel_saw[] = {
	AMONG(kernel_exit, OMITTED(of_exit)),
	AMONG(kernel_state, OMITTED(of_state)),
	MEMBERS_END,
};

static const struct member discrepancy[] = {
	POD(struct record_discrepancy, pod),
	CONTAINER(struct record_discrepancy, container),
	WORD(struct record_discrepancy, "kind", kind, discrepancy),
	UINT(struct record_discrepancy, "since_boot_ns", since_ns, OPTIONAL),
	WITHIN("reported", reported),
	WITHIN("kernel", kernel_saw),
	MEMBERS_END,
};

/* --- losses ------------------------------------------------------------------------------------ */

#define EVENTS(counter)                                                        \
	{                                                                      \
		COUNTS(struct record_lost, totals[GRACED_EV_NONE + 1].counter, \
		       sizeof(struct graced_stat), counted),                   \
			MEMBERS_END                                            \
	}
static const struct member emitted[] = EVENTS(emitted);
static const struct member lost_events[] = EVENTS(lost);
static const struct member suppressed[] = EVENTS(suppressed);

static const struct member lost[] = {
	WITHIN("emitted", emitted),
	WITHIN("lost", lost_events),
	WITHIN("suppressed", suppressed),
	UINT(struct record_lost, "recursion_misses", recursion_misses),
	UINT(struct record_lost, "watch_full", totals[GRACED_STAT_WATCH_FULL].lost),
	UINT(struct record_lost, "quota", totals[GRACED_STAT_QUOTA].lost),
	UINT(struct record_lost, "too_deep", totals[GRACED_STAT_TOO_DEEP].lost),
	MEMBERS_END,
};

static const struct member dropped[] = {
	UINT(struct record_dropped, "records", records, FIELD("GRACED_DROPPED")),
	UINT(struct record_dropped, "since_boot_ns", since_ns, OPTIONAL),
	UINT(struct record_dropped, "until_boot_ns", until_ns, OPTIONAL),
	MEMBERS_END,
};

/* --- a node's shutdown ------------------------------------------------------------------------- */

static enum shutdown_report step_of(const void *object)
{
	return ((const struct record_shutdown *)object)->step.what;
}

static bool of_group(const struct member *m, const void *object)
{
	return step_of(object) == SHUTDOWN_REPORT_GROUP_STARTED ||
	       step_of(object) == SHUTDOWN_REPORT_GROUP_DONE;
}

static bool is_done(const struct member *m, const void *object)
{
	return step_of(object) == SHUTDOWN_REPORT_GROUP_DONE;
}

static bool has_group(const struct member *m, const void *object)
{
	return of_group(m, object) || ((const struct record_shutdown *)object)->container.known;
}

static const struct member group[] = {
	UINT(struct record_shutdown, "index", step.group),
	INT(struct record_shutdown, "priority", group_priority,
	    KNOWN(struct record_shutdown, group_known)),
	UINT(struct record_shutdown, "length_ns", step.group_ns, THERE(of_group), OPTIONAL),
	UINT(struct record_shutdown, "planned_boot_ns", step.planned_ns, OPTIONAL),
	BOOL(struct record_shutdown, "timed_out", step.timed_out, THERE(is_done)),
	MEMBERS_END,
};

static const struct member asked_signal[] = {
	SIGNAL(struct record_shutdown, step.container.signal),
	MEMBERS_END,
};

/* The stop of a container that is overdue, or was ended. */
static const struct member asked[] = {
	WITHIN("signal", asked_signal, UNLESS(struct record_shutdown, step.container.signal, 0)),
	UINT(struct record_shutdown, "asked_boot_ns", step.container.asked_ns, OPTIONAL),
	UINT(struct record_shutdown, "timeout_ns", step.container.timeout_ns,
	     KNOWN(struct record_shutdown, step.container.timeout_known), OPTIONAL),
	UINT(struct record_shutdown, "kill_boot_ns", step.container.kill_ns, OPTIONAL),
	BOOL(struct record_shutdown, "deaf", step.deaf),
	MEMBERS_END,
};

static void write_reason(struct buf *out, const struct member *m, const void *object)
{
	const struct record_shutdown *r = object;
	const char *reason = NULL;

	if (r->step.what == SHUTDOWN_REPORT_RELEASED)
		reason = shutdown_reason_name(r->step.reason);
	else if (r->step.what == SHUTDOWN_REPORT_LATE)
		reason = LATE_REASON;
	jsonw_str(out, m->key, reason);
}

static int read_reason(const struct member *m, const json_t *value, void *object)
{
	struct record_shutdown *r = object;
	const char *text = json_string_value(value);
	unsigned int reason = 0;

	if (r->step.what != SHUTDOWN_REPORT_RELEASED)
		return 0;
	while (text && reason < SHUTDOWN_REASON_COUNT && strcmp(text, released_word(reason)) != 0)
		reason++;
	if (!text || reason == SHUTDOWN_REASON_COUNT)
		return text ? -EPROTONOSUPPORT : -EBADMSG;
	r->step.reason = (enum shutdown_reason)reason;
	return 0;
}

static const struct member holder[] = {
	TEXT(struct shutdown_holder, "who", who),
	UINT(struct shutdown_holder, "uid", uid),
	UINT(struct shutdown_holder, "pid", pid),
	MEMBERS_END,
};

static const struct member volume_pod[] = {
	TEXT(struct record_volume, "namespace", namespace_),
	TEXT(struct record_volume, "name", pod),
	TEXT(struct record_volume, "uid", uid),
	MEMBERS_END,
};

static bool has_pod(const struct member *m, const void *object)
{
	const struct record_volume *volume = object;

	return volume->uid && *volume->uid;
}

static const struct member volume[] = {
	WITHIN("pod", volume_pod, THERE(has_pod)),
	TEXT(struct record_volume, "plugin", plugin),
	TEXT(struct record_volume, "driver", driver, OPTIONAL),
	TEXT(struct record_volume, "name", name),
	MEMBERS_END,
};

static bool has_volumes(const struct member *m, const void *object)
{
	return ((const struct record_shutdown *)object)->step.volumes_known;
}

static const struct member withheld[] = {
	COUNTS(struct record_shutdown, step.statuses.withheld, sizeof(uint64_t), withheld),
	MEMBERS_END,
};

static const struct member statuses[] = {
	COUNTS(struct record_shutdown, step.statuses.writes, sizeof(uint64_t), written),
	WITHIN("withheld", withheld),
	MEMBERS_END,
};

static const struct member shutdown[] = {
	WORD(struct record_shutdown, "event", step.what, event, REQUIRED),
	WORD(struct record_shutdown, "mode", step.mode, mode),
	WORD(struct record_shutdown, "action", step.action, action),
	BOOL(struct record_shutdown, "lock_held", step.locked),
	UINT(struct record_shutdown, "announced_boot_ns", step.announced_ns, OPTIONAL),
	UINT(struct record_shutdown, "limit_ns", step.limit_ns),
	UINT(struct record_shutdown, "containers_left", step.living),
	UINT(struct record_shutdown, "containers_stopping", step.stopping),
	POD(struct record_shutdown, pod),
	CONTAINER(struct record_shutdown, container),
	WITHIN("group", group, THERE(has_group)),
	WITHIN("stop", asked, KNOWN(struct record_shutdown, container.known)),
	DERIVED(struct record_shutdown, "reason", step.reason, write_reason, READ(read_reason)),
	UINT(struct record_shutdown, "others", step.n_holders),
	LIST(struct record_shutdown, "holders", step.holders, holder,
	     COUNTED(struct record_shutdown, step.n_listed), .n = SHUTDOWN_MAX_HOLDERS,
	     POINTED(struct shutdown_holder)),
	UINT(struct record_shutdown, "volumes_left", step.n_volumes,
	     KNOWN(struct record_shutdown, step.volumes_known)),
	LIST(struct record_shutdown, "volumes", volumes, volume, THERE(has_volumes),
	     COUNTED(struct record_shutdown, step.n_volumes_listed), .n = SHUTDOWN_LIST_VOLUMES,
	     .stride = sizeof(struct record_volume)),
	WITHIN("statuses", statuses, KNOWN(struct record_shutdown, step.statuses_known)),
	MEMBERS_END,
};

/* --- the end of an earlier boot ---------------------------------------------------------------- */

static const struct member pod_alive[] = {
	CHARS(struct bootlog_alive, "namespace", namespace_, OPTIONAL),
	CHARS(struct bootlog_alive, "name", name, OPTIONAL),
	CHARS(struct bootlog_alive, "uid", id, OPTIONAL),
	UINT(struct bootlog_alive, "containers", containers),
	MEMBERS_END,
};

static const struct member container_alive[] = {
	CHARS(struct bootlog_alive, "name", name, OPTIONAL),
	CHARS(struct bootlog_alive, "id", id, OPTIONAL),
	MEMBERS_END,
};

static bool was_released(const struct member *m, const void *object)
{
	return ((const struct bootlog_shutdown *)object)->released_ns;
}

static const struct member boot_outcomes[] = {
	COUNTS(struct bootlog_shutdown, outcomes, sizeof(uint64_t), outcome),
	MEMBERS_END,
};

static const struct member boot_shutdown[] = {
	WORD(struct bootlog_shutdown, "mode", mode, mode),
	WORD(struct bootlog_shutdown, "action", action, action),
	UINT(struct bootlog_shutdown, "announced_boot_ns", announced_ns, OPTIONAL),
	UINT(struct bootlog_shutdown, "released_boot_ns", released_ns, OPTIONAL),
	WORD(struct bootlog_shutdown, "reason", reason, released, THERE(was_released)),
	WITHIN("outcomes", boot_outcomes),
	MEMBERS_END,
};

static bool was_announced(const struct member *m, const void *object)
{
	return ((const struct bootlog *)object)->shutdown.announced_ns;
}

#define ALIVE(key, list, row)                                                      \
	LIST(struct bootlog, key, list.rows, row, COUNTED(struct bootlog, list.n), \
	     .n = BOOTLOG_LISTED_MAX, POINTED(struct bootlog_alive))

static const struct member boot_log_id[] = {
	CHARS(struct bootlog, "boot_id", boot_id),
	MEMBERS_END,
};

static const struct member boot_log[] = {
	WORD(struct bootlog, "journal", journal, journal),
	UINT(struct bootlog, "watched_boot_ns", watched_ns, OPTIONAL),
	UINT(struct bootlog, "stopped_boot_ns", stopped_ns, OPTIONAL),
	OBJECT(struct bootlog, "shutdown", shutdown, boot_shutdown, THERE(was_announced)),
	UINT(struct bootlog, "pods_alive", pods.total),
	ALIVE("pods", pods, pod_alive),
	UINT(struct bootlog, "containers_alive", containers.total),
	ALIVE("containers", containers, container_alive),
	MEMBERS_END,
};

static const struct member boot[] = {
	INLINE(struct record_boot, log, boot_log_id, POINTED(struct bootlog)),
	WORD(struct record_boot, "end", verdict.end, boot_end, REQUIRED),
	WORD(struct record_boot, "reason", verdict.reason, boot_reason),
	INLINE(struct record_boot, log, boot_log, POINTED(struct bootlog)),
	MEMBERS_END,
};

/* --- records ----------------------------------------------------------------------------------- */

#define TYPE(name, member, rows, ...)                                                            \
	{                                                                                        \
		name, rows, offsetof(struct record, member), MEMBER_SIZE(struct record, member), \
			__VA_ARGS__                                                              \
	}
#define TYPE_ID(name, member, rows) TYPE(name, member, rows, true)

const struct record_rows record_rows[RECORD_TYPE_COUNT] = {
	[RECORD_ATTACHED] = TYPE("attached", attached, attached),
	[RECORD_SIGNAL] = TYPE("signal", signal, signals),
	[RECORD_STOP] = TYPE_ID("stop", stop, stopped),
	[RECORD_EMPTY] = TYPE_ID("empty", empty, empty),
	[RECORD_OOM] = TYPE("oom", oom, oom),
	[RECORD_LOST] = TYPE("lost", lost, lost),
	[RECORD_RUNTIME_EXIT] = TYPE_ID("runtime_exit", runtime_exit, runtime_exit),
	[RECORD_RESTART] = TYPE_ID("restart", restart, restart),
	[RECORD_POD] = TYPE_ID("pod", pod_state, pod_state),
	[RECORD_POD_READY] = TYPE_ID("pod_ready", pod_ready, pod_ready),
	[RECORD_DISCREPANCY] = TYPE_ID("discrepancy", discrepancy, discrepancy),
	[RECORD_SHUTDOWN] = TYPE_ID("shutdown", shutdown, shutdown),
	[RECORD_BOOT] = TYPE_ID("boot_end", boot, boot),
	[RECORD_DROPPED] = TYPE("dropped", dropped, dropped),
	[RECORD_REAPED] = TYPE_ID("reaped", reaped, reaped),
};
