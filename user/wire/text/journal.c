// SPDX-License-Identifier: Apache-2.0
/* Puts a record into a sentence and fields. Every value is made visible, so that none has a line
 * break, which the protocol would need another form for. */
#include "wire/text/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "core/boot/log.h"
#include "core/kubelet/pod.h"
#include "core/story/story.h"
#include "wire/json/rows.h"

/* syslog(3) */
#define JOURNAL_WARNING 4
#define JOURNAL_INFO	6

#define ID_SIGNAL  "5655f35e8c284fd5a1f70600ac7772a5"
#define ID_STOP	   "627e28794e944e4bbce2264a6a87d251"
#define ID_OOM	   "26818800ed814595beec6afdd9c1f234"
#define ID_EMPTY   "4e2781d048484c22802855a6cd033730"
#define ID_REAPED  "c6470f3a543c4a8387ac7b254e781065"
#define ID_RESTART "77432031f2e04dca9143eb548dffd427"

static void add_field(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_adds(out, name);
	buf_addc(out, '=');
	utf8_add_readable(out, value);
	buf_addc(out, '\n');
}

static void add_number(struct buf *out, const char *name, uint64_t value)
{
	buf_adds(out, name);
	buf_addc(out, '=');
	buf_add_u64(out, value);
	buf_addc(out, '\n');
}

static void add_head(struct buf *out, const struct record *record, const char *id, const char *type,
		     int priority)
{
	add_field(out, "MESSAGE_ID", id);
	add_number(out, "PRIORITY", (uint64_t)priority);
	add_field(out, "SYSLOG_IDENTIFIER", "graced");
	add_field(out, "GRACED_TYPE", type);
	add_number(out, "GRACED_BOOT_NS", record->at_ns);
	add_field(out, "GRACED_NODE", record->node);
}

static void add_subject(struct buf *out, const struct record_pod *pod,
			const struct record_container *container)
{
	add_field(out, "GRACED_NAMESPACE", record_namespace(pod, container));
	add_field(out, "GRACED_WORKLOAD", record_workload(pod, container));
	add_field(out, "GRACED_WORKLOAD_KIND", record_workload_kind(pod, container));
	if (pod->known) {
		add_field(out, "GRACED_POD", pod->name);
		add_field(out, "GRACED_POD_UID", pod->uid);
	}
	if (container->known) {
		add_field(out, "GRACED_CONTAINER", container->name);
		add_field(out, "GRACED_CONTAINER_ID", container->id);
		add_field(out, "GRACED_CGROUP", container->cgroup);
	}
}

static void add_process(struct buf *out, const struct record_process *process)
{
	if (process->pid)
		add_number(out, "GRACED_PID", process->pid);
	add_field(out, "GRACED_COMM", process->comm);
}

/* "default/web-0/nginx", as much of it as is known. */
static void say_subject(struct buf *out, const struct record_pod *pod,
			const struct record_container *container)
{
	const char *name = container->name ? container->name : container->id;

	if (pod->known && pod->name) {
		utf8_add_readable(out, pod->namespace_ ? pod->namespace_ : "");
		buf_addc(out, '/');
		utf8_add_readable(out, pod->name);
		buf_addc(out, '/');
	} else if (pod->known && pod->uid) {
		utf8_add_readable(out, pod->uid);
		buf_addc(out, '/');
	}
	if (!name)
		name = container->known && container->cgroup ? container->cgroup : "process";
	utf8_add_readable(out, name);
}

static void add_sender(struct buf *out, const char *which, const struct record_sigref *sigref)
{
	char name[SIGNAME_SIZE], key[64];

	if (!sigref->known)
		return;
	snprintf(key, sizeof(key), "GRACED_%s_SIGNAL", which);
	add_field(out, key, signame_format(sigref->number, name));
	snprintf(key, sizeof(key), "GRACED_%s_RESULT", which);
	add_field(out, key, record_result_name(sigref->result));
	snprintf(key, sizeof(key), "GRACED_%s_SENDER", which);
	add_field(out, key, sigref->sender.process.comm);
	snprintf(key, sizeof(key), "GRACED_%s_SENDER_KIND", which);
	add_field(out, key, sender_kind_name(sigref->sender.kind));
}

static void say_stop(struct buf *out, const struct record_stop *stop)
{
	buf_adds(out, "MESSAGE=");
	say_subject(out, &stop->pod, &stop->container);
	buf_printf(out, ": %s, %s: ", outcome_name(stop->outcome), cause_name(stop->cause));
	story_add_why(out, stop);
	buf_addc(out, '\n');
}

static bool went_wrong(const struct record_stop *stop)
{
	return stop->deaf || stop->reason || stop->outcome == OUTCOME_KILLED ||
	       stop->outcome == OUTCOME_OOM_KILLED || stop->outcome == OUTCOME_CRASHED;
}

static void add_stop(struct buf *out, const struct record *record)
{
	const struct record_stop *stop = &record->stop;

	add_head(out, record, ID_STOP, "stop", went_wrong(stop) ? JOURNAL_WARNING : JOURNAL_INFO);
	say_stop(out, stop);
	add_field(out, "GRACED_ID", stop->id);
	add_subject(out, &stop->pod, &stop->container);
	add_process(out, &stop->process);
	add_field(out, "GRACED_OUTCOME", outcome_name(stop->outcome));
	add_field(out, "GRACED_CAUSE", cause_name(stop->cause));
	add_sender(out, "STOP", &stop->stop_signal);
	add_sender(out, "KILL", &stop->kill_signal);
	add_sender(out, "KEEPER", &stop->keeper_signal);
}

static void add_signal(struct buf *out, const struct record *record)
{
	const struct record_signal *signal = &record->signal;
	char name[SIGNAME_SIZE];

	add_head(out, record, ID_SIGNAL, "signal", signal->deaf ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_subject(out, &signal->pod, &signal->container);
	buf_adds(out, ": ");
	story_add_signal(out, signal);
	buf_addc(out, '\n');
	add_subject(out, &signal->pod, &signal->container);
	add_process(out, &signal->target);
	add_field(out, "GRACED_SIGNAL", signame_format(signal->number, name));
	add_field(out, "GRACED_RESULT", record_result_name(signal->result));
}

/* A pod has a sandbox beside its containers, so that its limit is reached before an equal one of
 * a container. */
static void say_limits(struct buf *out, const struct record_oom *oom)
{
	if (oom->level_limit)
		buf_printf(out, ", limit %" PRIu64 " bytes", oom->level_limit);
	if (oom->limit && oom->level != OOM_LEVEL_CONTAINER)
		buf_printf(out, " (the container's limit: %" PRIu64 " bytes)", oom->limit);
}

static void add_oom(struct buf *out, const struct record *record)
{
	const struct record_oom *oom = &record->oom;

	add_head(out, record, ID_OOM, "oom", JOURNAL_WARNING);
	buf_adds(out, "MESSAGE=");
	say_subject(out, &oom->pod, &oom->container);
	buf_adds(out, ": the OOM killer took ");
	utf8_add_readable(out, oom->victim.comm ? oom->victim.comm : "");
	buf_printf(out, "[%u]%s; memory ran out: %s", oom->victim.pid,
		   oom->init ? ", its init" : "", oom_level_name(oom->level));
	say_limits(out, oom);
	buf_addc(out, '\n');
	add_subject(out, &oom->pod, &oom->container);
	add_process(out, &oom->victim);
}

static void add_empty(struct buf *out, const struct record *record)
{
	const struct record_empty *empty = &record->empty;

	add_head(out, record, ID_EMPTY, "empty", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_subject(out, &empty->pod, &empty->container);
	buf_adds(out, ": no process is left\n");
	add_field(out, "GRACED_ID", empty->id);
	add_subject(out, &empty->pod, &empty->container);
}

static void add_reaped(struct buf *out, const struct record *record)
{
	const struct record_reaped *reaped = &record->reaped;
	uint64_t from_ns = reaped->exit.at_ns;
	uint64_t held_ns = record->at_ns > from_ns ? record->at_ns - from_ns : 0;
	char held[DURATION_SIZE];

	add_head(out, record, ID_REAPED, "reaped", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_subject(out, &reaped->pod, &reaped->container);
	buf_printf(out, ": its PID 1 was held for %s, and its parent can see its exit now\n",
		   duration_format(held_ns, held));
	add_field(out, "GRACED_ID", reaped->id);
	add_subject(out, &reaped->pod, &reaped->container);
	add_number(out, "GRACED_HELD_NS", held_ns);
}

static void add_restart(struct buf *out, const struct record *record)
{
	static const char *const causes[] = {
		[TRI_UNKNOWN] = "",
		[TRI_FALSE] = "; it has no liveness or startup probe",
		[TRI_TRUE] = "; it has a liveness or startup probe",
	};
	const struct record_restart *r = &record->restart;

	add_head(out, record, ID_RESTART, "restart", JOURNAL_WARNING);
	add_subject(out, &r->pod, &r->container);
	buf_adds(out, "MESSAGE=");
	say_subject(out, &r->pod, &r->container);
	buf_printf(out, " was stopped by the runtime and made again (attempt %u)%s\n",
		   r->next_attempt, causes[r->probe]);
	add_field(out, "GRACED_ID", r->id);
}

/* Entries about the tracer itself. */

#define ID_ATTACHED "2ee2d36691384ec2adaec4c83936d66c"
#define ID_LOST	    "f484dcbcdde24f49aa67595085cfef61"

static void add_attached(struct buf *out, const struct record *record)
{
	add_head(out, record, ID_ATTACHED, "attached", JOURNAL_INFO);
	buf_printf(out, "MESSAGE=attached; %llu containers were there before\n",
		   (unsigned long long)record->attached.containers);
}

static void add_lost(struct buf *out, const struct record *record)
{
	uint64_t lost = record_events_lost(&record->lost);
	uint64_t unwatched = record_cgroups_unwatched(&record->lost);

	add_head(out, record, ID_LOST, "lost", lost || unwatched ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_printf(out,
		   "MESSAGE=events lost since graced attached: %llu; cgroups not watched: %llu\n",
		   (unsigned long long)lost, (unsigned long long)unwatched);
	add_number(out, "GRACED_LOST", lost);
}

#define ID_DROPPED "d2a0d8c64f1b4d0f9a53c7e0b6a1f5c8"

static void add_dropped(struct buf *out, const struct record *record)
{
	add_head(out, record, ID_DROPPED, "dropped", JOURNAL_WARNING);
	buf_printf(out,
		   "MESSAGE=records that the journal did not take, and that are missing: %llu\n",
		   (unsigned long long)record->dropped.records);
}

/* Entries about pods, and about what is reported of them and contradicts the kernel. */

#define ID_POD	       "3d0c9b7e51f8456ab6f2e14c8a90d7b3"
#define ID_READY       "ce4c2ba75aeb4b86a9119f0512899d50"
#define ID_DISCREPANCY "8f0b22df2095461796d913207e9b9048"

static void add_known(struct buf *out, const char *text)
{
	if (text)
		utf8_add_readable(out, text);
}

static void say_pod(struct buf *out, const struct record_pod *pod)
{
	if (pod->name) {
		add_known(out, pod->namespace_);
		buf_addc(out, '/');
	}
	add_known(out, pod->name ? pod->name : pod->uid);
}

static void add_pod_state(struct buf *out, const struct record *record)
{
	const struct record_pod_state *state = &record->pod_state;

	add_head(out, record, ID_POD, "pod", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_pod(out, &state->pod);
	buf_adds(out, ": ");
	add_known(out, pod_stage_name(state->state));
	buf_adds(out, " (");
	add_known(out, pod_trigger_name(state->trigger));
	buf_adds(out, ")\n");
	add_subject(out, &state->pod, &(struct record_container){});
}

static void add_ready(struct buf *out, const struct record_pod_ready *r)
{
	char from[DURATION_SIZE], to[DURATION_SIZE];

	buf_adds(out, ": reported to be Ready for ");
	if (r->gaps)
		buf_printf(out, "%s to %s", duration_format(record_ready_min_ns(r), from),
			   duration_format(r->heard_ns - r->stop_ns, to));
	else
		buf_adds(out, duration_format(r->until_ns - r->stop_ns, to));
	buf_printf(out, " after its stop signal%s\n", r->gone ? ", and then not at all" : "");
}

static void add_pod_ready(struct buf *out, const struct record *record)
{
	const struct record_pod_ready *r = &record->pod_ready;

	add_head(out, record, ID_READY, "pod_ready", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_pod(out, &r->pod);
	add_ready(out, r);
	add_field(out, "GRACED_ID", r->id);
	add_subject(out, &r->pod, &(struct record_container){});
}

/* --- discrepancies --------------------------------------------------------------------------- */

/* "kubelet reports Failed, Ready; 0 of its containers run" */
static void say_state(struct buf *out, const struct record_discrepancy *r)
{
	if (!r->reported.listed) {
		buf_adds(out, "does not list it");
	} else {
		buf_adds(out, "reports ");
		add_known(out, meta_phase_name(r->reported.phase));
		buf_adds(out, r->reported.ready == TRI_TRUE ? ", Ready" : "");
	}
	buf_printf(out, "; %s, containers that run: %u",
		   r->kernel.populated ? "it has processes" : "it has no process",
		   r->kernel.running);
}

/* "cri reports 0, Completed; it was 137" */
static void say_exit(struct buf *out, const struct record_discrepancy *r)
{
	buf_printf(out, "reports %d", r->reported.exit_code);
	if (r->reported.reason && r->reported.reason[0]) {
		buf_adds(out, ", ");
		utf8_add_readable(out, r->reported.reason);
	}
	buf_printf(out, "; it was %d", discrepancy_code_of(r->kernel.exit.status));
}

static void add_discrepancy(struct buf *out, const struct record *record)
{
	const struct record_discrepancy *r = &record->discrepancy;
	bool exit = r->kind >= DISCREPANCY_STATES;

	add_head(out, record, ID_DISCREPANCY, "discrepancy", JOURNAL_WARNING);
	buf_adds(out, "MESSAGE=");
	if (r->container.known)
		say_subject(out, &r->pod, &r->container);
	else
		say_pod(out, &r->pod);
	buf_adds(out, ": ");
	add_known(out, discrepancy_name(r->kind));
	buf_adds(out, ": ");
	add_known(out, meta_source_name(r->reported.source));
	buf_addc(out, ' ');
	(exit ? say_exit : say_state)(out, r);
	buf_addc(out, '\n');
	add_field(out, "GRACED_ID", r->id);
	add_subject(out, &r->pod, &r->container);
	add_field(out, "GRACED_KIND", discrepancy_name(r->kind));
	add_field(out, "GRACED_SOURCE", meta_source_name(r->reported.source));
	add_number(out, "GRACED_SINCE_BOOT_NS", r->since_ns);
}

/* Entries about a node's shutdown. */

#define ID_SHUTDOWN "a3b7e3cd2b5e4d4c9f0d8a8f4f0c6a51"

static void say_length(struct buf *out, const char *before, uint64_t ns)
{
	char text[DURATION_SIZE];

	buf_printf(out, "%s%s", before, duration_format(ns, text));
}

static void say_container(struct buf *out, const struct record_shutdown *r)
{
	buf_adds(out, ": ");
	say_subject(out, &r->pod, &r->container);
	if (r->step.what == SHUTDOWN_REPORT_KILLED)
		buf_adds(out, r->step.deaf ? " did not hear its stop signal, and was ended"
					   : " was ended");
	else if (r->step.what == SHUTDOWN_REPORT_LATE)
		buf_adds(out, " began in the shutdown, and is stopped");
}

static void say_step(struct buf *out, const struct record *record)
{
	const struct shutdown_record *step = &record->shutdown.step;

	buf_printf(out, "shutdown: %s", shutdown_report_name(step->what));
	if (step->announced_ns && step->what != SHUTDOWN_REPORT_ANNOUNCED)
		say_length(out, " after ", record->at_ns - step->announced_ns);
	if (step->what == SHUTDOWN_REPORT_ANNOUNCED)
		say_length(out, "; logind waits at most ", step->limit_ns);
	if (step->what == SHUTDOWN_REPORT_RELEASED)
		buf_printf(out, ": %s", shutdown_reason_name(step->reason));
	if (record->shutdown.container.known)
		say_container(out, &record->shutdown);
	if (step->living)
		buf_printf(out, "; %zu containers run, %zu are being stopped", step->living,
			   step->stopping);
	if (step->n_volumes)
		buf_printf(out, "; %zu mounts of volumes are left", step->n_volumes);
}

static void add_shutdown(struct buf *out, const struct record *record)
{
	const struct record_shutdown *r = &record->shutdown;
	bool trouble = r->step.what == SHUTDOWN_REPORT_OVERDUE ||
		       r->step.what == SHUTDOWN_REPORT_KILLED ||
		       r->step.what == SHUTDOWN_REPORT_SURVIVES;

	add_head(out, record, ID_SHUTDOWN, "shutdown", trouble ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_step(out, record);
	buf_addc(out, '\n');
	add_field(out, "GRACED_ID", r->id);
	add_subject(out, &r->pod, &r->container);
	add_field(out, "GRACED_EVENT", shutdown_report_name(r->step.what));
	add_field(out, "GRACED_MODE", shutdown_mode_name(r->step.mode));
	add_field(out, "GRACED_ACTION", shutdown_action_name(r->step.action));
	if (r->step.what == SHUTDOWN_REPORT_RELEASED)
		add_field(out, "GRACED_REASON", shutdown_reason_name(r->step.reason));
	add_number(out, "GRACED_CONTAINERS_LEFT", r->step.living);
}

/* Entries about the end of an earlier boot. */

#define ID_BOOT	   "80419ad67d2f49df8f6f83bdd0b82aec"
#define NAMED_PODS 16 /* in the sentence */

static void say_pods(struct buf *out, const struct bootlog_list *pods)
{
	size_t named = pods->n < NAMED_PODS ? pods->n : NAMED_PODS;

	for (size_t i = 0; i < named; i++) {
		const struct bootlog_alive *row = &pods->rows[i];

		buf_adds(out, i ? ", " : ": ");
		utf8_add_readable(out, row->namespace_);
		buf_adds(out, row->name[0] ? "/" : "");
		utf8_add_readable(out, row->name[0] ? row->name : row->id);
	}
	if (pods->total > named)
		buf_printf(out, " and %llu more", (unsigned long long)(pods->total - named));
}

const char *journal_boot_reason(enum boot_reason reason)
{
	static const char *const sentences[BOOT_REASON_COUNT] = {
		[BOOT_RELEASED] = "a shutdown was announced, and graced released its lock",
		[BOOT_EMPTY] = "a shutdown was announced, and nothing was alive at its end",
		[BOOT_STOPPED] = "graced was stopped, and no shutdown was announced",
		[BOOT_LEFT] = "graced was stopped in a shutdown before all was gone",
		[BOOT_NOT_ANNOUNCED] = "no shutdown was announced",
		[BOOT_IN_SHUTDOWN] = "in the middle of a shutdown",
		[BOOT_AFTER_RELEASE] = "after graced had released its lock, before all was gone",
		[BOOT_WENT_DOWN] = "graced no longer ran, and the journal shows an orderly end",
		[BOOT_GOING_DOWN] = "graced no longer ran, and the journal ends in the middle of a "
				    "shutdown",
	};

	return (unsigned int)reason < BOOT_REASON_COUNT ? sentences[reason] : NULL;
}

const char *journal_boot_journal(enum boot_journal journal)
{
	static const char *const sentences[BOOT_JOURNAL_COUNT] = {
		[BOOT_JOURNAL_ABSENT] = "the journal has no entries of that boot",
		[BOOT_JOURNAL_NO_END] = "the journal breaks off",
	};

	return (unsigned int)journal < BOOT_JOURNAL_COUNT ? sentences[journal] : NULL;
}

static void say_boot(struct buf *out, const struct record_boot *r)
{
	const char *journal = journal_boot_journal(r->log->journal);

	buf_printf(out,
		   "the boot %s: its end is %s: %s%s%s; alive when last looked: pods %llu, "
		   "containers outside pods %llu",
		   r->log->boot_id, boot_end_name(r->verdict.end),
		   journal_boot_reason(r->verdict.reason), journal ? "; " : "",
		   journal ? journal : "", (unsigned long long)r->log->pods.total,
		   (unsigned long long)r->log->containers.total);
	say_pods(out, &r->log->pods);
}

static void add_boot(struct buf *out, const struct record *record)
{
	const struct record_boot *r = &record->boot;
	const struct bootlog_shutdown *s = &r->log->shutdown;
	bool unclean = r->verdict.end == BOOT_END_UNCLEAN;
	char seen[RFC3339_SIZE];

	add_head(out, record, ID_BOOT, "boot_end", unclean ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_boot(out, r);
	buf_addc(out, '\n');
	add_field(out, "GRACED_ID", r->id);
	add_field(out, "GRACED_BOOT_ID", r->log->boot_id);
	add_field(out, "GRACED_END", boot_end_name(r->verdict.end));
	add_field(out, "GRACED_REASON", boot_reason_name(r->verdict.reason));
	add_field(out, "GRACED_JOURNAL", boot_journal_name(r->log->journal));
	if (r->log->saved_wall_ns)
		add_field(out, "GRACED_SEEN_AT", rfc3339_format(r->log->saved_wall_ns, seen));
	if (s->announced_ns)
		add_field(out, "GRACED_ACTION",
			  shutdown_action_name((enum shutdown_action)s->action));
	add_number(out, "GRACED_PODS_ALIVE", r->log->pods.total);
	add_number(out, "GRACED_CONTAINERS_ALIVE", r->log->containers.total);
}

/* --- fields of members ----------------------------------------------------------------------- */

static void add_exit(struct buf *out, const char *name, const struct record_exit *exit)
{
	uint32_t signal = exit->status & 0x7f;

	if (!exit->known)
		return;
	if (!signal) {
		buf_adds(out, name);
		add_number(out, "_CODE", exit->status >> 8 & 0xff);
	}
	buf_adds(out, name);
	add_number(out, "_SIGNAL", signal);
}

static void add_member(void *userdata, const struct member *m, const void *object)
{
	_cleanup_(buf_free) struct buf room = {};
	const void *place = (const char *)object + m->at;
	const struct record_sender *sender = place;
	struct buf *out = userdata;
	const char *text;

	if (!m->field)
		return;
	if (m->members == parts_exited) {
		add_exit(out, m->field, place);
	} else if (m->members == parts_sender) {
		add_field(out, m->field, sender->process.comm);
		add_field(out, "GRACED_SENDER_KIND", sender_kind_name(sender->kind));
	} else if ((text = members_text(m, object, &room)) && (*text || m->kind == MEMBER_BITS)) {
		buf_adds(out, m->field);
		buf_addc(out, '=');
		utf8_add_readable(out, text);
		buf_addc(out, '\n');
	}
}

typedef void (*add_fn)(struct buf *out, const struct record *record);

static add_fn adder(enum record_type type)
{
	switch (type) {
	case RECORD_SIGNAL:
		return add_signal;
	case RECORD_STOP:
		return add_stop;
	case RECORD_OOM:
		return add_oom;
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
	case RECORD_EMPTY:
		return add_empty;
	case RECORD_REAPED:
		return add_reaped;
	case RECORD_RESTART:
		return add_restart;
	case RECORD_ATTACHED:
		return add_attached;
	case RECORD_LOST:
		return add_lost;
	case RECORD_DROPPED:
		return add_dropped;
	case RECORD_NONE:
	case RECORD_TYPE_COUNT:
	case RECORD_RUNTIME_EXIT:
		break;
	}
	return NULL;
}

const char *const journal_story_ids[] = {ID_STOP, ID_EMPTY,    ID_POD,	   ID_SHUTDOWN,
					 ID_LOST, ID_ATTACHED, ID_DROPPED, NULL};
const char *const journal_stop_ids[] = {ID_STOP, ID_EMPTY, ID_REAPED, ID_DROPPED, NULL};
const char *const journal_signal_ids[] = {ID_STOP, ID_REAPED, ID_SIGNAL, ID_DROPPED, NULL};
const char *const journal_boot_end_ids[] = {ID_BOOT, NULL};

bool journal_has(enum record_type type)
{
	return adder(type);
}

int journal_write(struct buf *out, const struct record *record, const struct buf *line)
{
	size_t before = out->len;
	add_fn add = adder(record->type);
	const struct record_rows *rows;

	if (!add)
		return -EINVAL;
	add(out, record);
	rows = &record_rows[record->type];
	members_each(rows->members, (const char *)record + rows->at, add_member, out);
	/* The line ends with a newline, and has no other. */
	buf_adds(out, JOURNAL_RECORD "=");
	buf_add(out, buf_str(line), line->len);
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}
