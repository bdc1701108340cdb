// SPDX-License-Identifier: Apache-2.0
/* Puts a record into a sentence and fields. Every value is made visible, so that none has a line
 * break, which the protocol would need another form for. */
#include "wire/text/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "wire/text/journal_priv.h"

#define ID_SIGNAL "5655f35e8c284fd5a1f70600ac7772a5"
#define ID_STOP	  "627e28794e944e4bbce2264a6a87d251"
#define ID_OOM	  "26818800ed814595beec6afdd9c1f234"

void journal_add_text(struct buf *out, const char *text)
{
	utf8_add_visible(out, text, strlen(text));
}

void journal_add_field(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_adds(out, name);
	buf_addc(out, '=');
	journal_add_text(out, value);
	buf_addc(out, '\n');
}

void journal_add_number(struct buf *out, const char *name, uint64_t value)
{
	buf_adds(out, name);
	buf_addc(out, '=');
	buf_add_u64(out, value);
	buf_addc(out, '\n');
}

void journal_add_head(struct buf *out, const struct record *record, const char *id,
		      const char *type, int priority)
{
	journal_add_field(out, "MESSAGE_ID", id);
	journal_add_number(out, "PRIORITY", (uint64_t)priority);
	journal_add_field(out, "SYSLOG_IDENTIFIER", "graced");
	journal_add_field(out, "GRACED_TYPE", type);
	journal_add_number(out, "GRACED_BOOT_NS", record->at_ns);
	journal_add_field(out, "GRACED_NODE", record->node);
}

void journal_add_subject(struct buf *out, const struct record_pod *pod,
			 const struct record_container *container)
{
	if (pod->known) {
		journal_add_field(out, "GRACED_NAMESPACE", pod->namespace_);
		journal_add_field(out, "GRACED_POD", pod->name);
		journal_add_field(out, "GRACED_POD_UID", pod->uid);
	}
	if (container->known) {
		journal_add_field(out, "GRACED_CONTAINER", container->name);
		journal_add_field(out, "GRACED_CONTAINER_ID", container->id);
		journal_add_field(out, "GRACED_CGROUP", container->cgroup);
	}
}

static void add_process(struct buf *out, const struct record_process *process)
{
	if (process->pid)
		journal_add_number(out, "GRACED_PID", process->pid);
	journal_add_field(out, "GRACED_COMM", process->comm);
}

/* "default/web-0/nginx", as much of it as is known. */
void journal_say_subject(struct buf *out, const struct record_pod *pod,
			 const struct record_container *container)
{
	const char *name = container->name ? container->name : container->id;

	if (pod->known && pod->name) {
		journal_add_text(out, pod->namespace_ ? pod->namespace_ : "");
		buf_addc(out, '/');
		journal_add_text(out, pod->name);
		buf_addc(out, '/');
	} else if (pod->known && pod->uid) {
		journal_add_text(out, pod->uid);
		buf_addc(out, '/');
	}
	if (!name)
		name = container->known && container->cgroup ? container->cgroup : "process";
	journal_add_text(out, name);
}

static void say_sender(struct buf *out, const struct record_sender *sender)
{
	const char *kind = sender_kind_name(sender->kind);

	if (sender->kind == SENDER_UNKNOWN) {
		buf_adds(out, " from an unknown sender");
		return;
	}
	buf_adds(out, " from ");
	journal_add_text(out, sender->process.comm ? sender->process.comm : "");
	buf_printf(out, "[%u] (%s)", sender->process.pid, kind ? kind : "host or container");
}

static void add_sender(struct buf *out, const char *which, const struct record_sigref *sigref)
{
	char name[SIGNAME_SIZE], key[64];

	if (!sigref->known)
		return;
	snprintf(key, sizeof(key), "GRACED_%s_SIGNAL", which);
	journal_add_field(out, key, signame_format(sigref->number, name));
	snprintf(key, sizeof(key), "GRACED_%s_RESULT", which);
	journal_add_field(out, key, record_result_name(sigref->result));
	snprintf(key, sizeof(key), "GRACED_%s_SENDER", which);
	journal_add_field(out, key, sigref->sender.process.comm);
	snprintf(key, sizeof(key), "GRACED_%s_SENDER_KIND", which);
	journal_add_field(out, key, sender_kind_name(sigref->sender.kind));
}

static void say_unheard(struct buf *out, enum unheard reason)
{
	static const char *const sentences[UNHEARD_COUNT] = {
		[UNHEARD_NO_HANDLER] = " was not heard: PID 1 has no handler for it",
		[UNHEARD_IGNORED] = " was not heard: the process ignores it",
		[UNHEARD_BLOCKED] = " was not heard: every thread blocks it",
		[UNHEARD_STOPPED] = " was not taken: the process was stopped or frozen",
		[UNHEARD_DEFAULT_IGNORE] = " was not heard: its default is to do nothing",
		[UNHEARD_SHELL] = " was not heard: a shell without a handler is PID 1",
		[UNHEARD_TRAP] = " was in vain: the shell's trap waits for its child",
		[UNHEARD_CHILD_IGNORED] = " was in vain: the child it was forwarded to ignores it",
	};

	if (sentences[reason])
		buf_adds(out, sentences[reason]);
}

static void say_stop(struct buf *out, const struct record_stop *stop)
{
	char took[DURATION_SIZE], name[SIGNAME_SIZE];

	buf_adds(out, "MESSAGE=");
	journal_say_subject(out, &stop->pod, &stop->container);
	buf_printf(out, ": %s, %s", outcome_name(stop->outcome), cause_name(stop->cause));
	if (stop->latency_known)
		buf_printf(out, " after %s", duration_format(stop->latency_ns, took));
	if (stop->stop_signal.known) {
		buf_printf(out, "; %s", signame_format(stop->stop_signal.number, name));
		say_sender(out, &stop->stop_signal.sender);
		say_unheard(out, stop->reason);
	}
	if (stop->kill_signal.known) {
		buf_adds(out, "; SIGKILL");
		say_sender(out, &stop->kill_signal.sender);
	}
	buf_addc(out, '\n');
}

void journal_add_gaps(struct buf *out, uint32_t gaps)
{
	const char *separator = "";

	buf_adds(out, "GRACED_GAPS=");
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++) {
		if (!(gaps >> gap & 1))
			continue;
		buf_adds(out, separator);
		buf_adds(out, gap_name((enum gap)gap));
		separator = ",";
	}
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
	uint32_t signal = stop->exit.status & 0x7f;

	journal_add_head(out, record, ID_STOP, "stop",
			 went_wrong(stop) ? JOURNAL_WARNING : JOURNAL_INFO);
	say_stop(out, stop);
	journal_add_field(out, "GRACED_ID", stop->id);
	journal_add_subject(out, &stop->pod, &stop->container);
	add_process(out, &stop->process);
	journal_add_field(out, "GRACED_OUTCOME", outcome_name(stop->outcome));
	journal_add_field(out, "GRACED_CAUSE", cause_name(stop->cause));
	add_sender(out, "STOP", &stop->stop_signal);
	add_sender(out, "KILL", &stop->kill_signal);
	journal_add_number(out, "GRACED_DEAF", stop->deaf);
	journal_add_field(out, "GRACED_REASON", unheard_name(stop->reason));
	if (stop->exit.known && !signal)
		journal_add_number(out, "GRACED_EXIT_CODE", stop->exit.status >> 8 & 0xff);
	if (stop->exit.known)
		journal_add_number(out, "GRACED_EXIT_SIGNAL", signal);
	if (stop->latency_known)
		journal_add_number(out, "GRACED_LATENCY_NS", stop->latency_ns);
	journal_add_number(out, "GRACED_COLLATERAL_KILLS", stop->collateral_kills);
	journal_add_number(out, "GRACED_OOM_KILLS", stop->oom_kills);
	journal_add_gaps(out, stop->gaps);
}

static void add_signal(struct buf *out, const struct record *record)
{
	const struct record_signal *signal = &record->signal;
	char name[SIGNAME_SIZE];

	journal_add_head(out, record, ID_SIGNAL, "signal",
			 signal->deaf ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	journal_say_subject(out, &signal->pod, &signal->container);
	buf_printf(out, ": %s", signame_format(signal->number, name));
	say_sender(out, &signal->sender);
	buf_printf(out, " %s%s\n", record_result_name(signal->result),
		   signal->deaf ? ": PID 1 has no handler for it" : "");
	journal_add_subject(out, &signal->pod, &signal->container);
	add_process(out, &signal->target);
	journal_add_field(out, "GRACED_SIGNAL", name);
	journal_add_field(out, "GRACED_RESULT", record_result_name(signal->result));
	journal_add_number(out, "GRACED_DEAF", signal->deaf);
	journal_add_field(out, "GRACED_REASON", unheard_name(signal->reason));
	journal_add_field(out, "GRACED_SENDER", signal->sender.process.comm);
	journal_add_field(out, "GRACED_SENDER_KIND", sender_kind_name(signal->sender.kind));
}

static void add_oom(struct buf *out, const struct record *record)
{
	const struct record_oom *oom = &record->oom;

	journal_add_head(out, record, ID_OOM, "oom", JOURNAL_WARNING);
	buf_adds(out, "MESSAGE=");
	journal_say_subject(out, &oom->pod, &oom->container);
	buf_adds(out, ": the OOM killer took ");
	journal_add_text(out, oom->victim.comm ? oom->victim.comm : "");
	buf_printf(out, "[%u]%s; memory ran out: %s\n", oom->victim.pid,
		   oom->init ? ", its init" : "", oom_level_name(oom->level));
	journal_add_subject(out, &oom->pod, &oom->container);
	add_process(out, &oom->victim);
	journal_add_number(out, "GRACED_INIT", oom->init);
	journal_add_field(out, "GRACED_LEVEL", oom_level_name(oom->level));
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
		return journal_add_pod_state;
	case RECORD_POD_READY:
		return journal_add_pod_ready;
	case RECORD_DISCREPANCY:
		return journal_add_discrepancy;
	case RECORD_SHUTDOWN:
		return journal_add_shutdown;
	case RECORD_NONE:
	case RECORD_ATTACHED:
	case RECORD_EMPTY:
	case RECORD_LOST:
	case RECORD_RUNTIME_EXIT:
		break;
	}
	return NULL;
}

bool journal_has(enum record_type type)
{
	return adder(type);
}

int journal_write(struct buf *out, const struct record *record)
{
	size_t before = out->len;
	add_fn add = adder(record->type);

	if (!add)
		return -EINVAL;
	add(out, record);
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}
