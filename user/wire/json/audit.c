// SPDX-License-Identifier: Apache-2.0
/* The members of an audit record, in the order a reader takes them in. */
#include "wire/json/audit.h"

#include "base/cleanup.h"
#include "base/signame.h"
#include "core/stop/advice.h"
#include "core/tree/tree.h"
#include "wire/json/record.h"
#include "wire/json/rows.h"
#include "wire/json/writer.h"

WORDS(verdict, audit_verdict, enum audit_verdict, AUDIT_VERDICT_COUNT)
WORDS(reason, audit_reason, enum audit_reason, AUDIT_REASON_COUNT)
WORDS(warning, audit_warning, enum audit_warning, AUDIT_WARNING_COUNT)
WORDS(disposition, audit_disposition, enum audit_disposition, AUDIT_DISPOSITION_COUNT)

#define SEEN KNOWN(struct audit_record, seen)

static const struct member asked_signal[] = {
	SIGNAL(struct audit_record, facts.signal),
	MEMBERS_END,
};

/* A thread of unknown state may make it true or false, and one more. */
static void write_blocked(struct buf *out, const struct member *m, const void *object)
{
	const uint32_t *threads = ((const struct audit_record *)object)->facts.threads;

	jsonw_bool_if(out, m->key, !threads[AUDIT_UNSURE] || threads[AUDIT_OPEN],
		      !threads[AUDIT_OPEN]);
}

static bool is_sure(const struct member *m, const void *object)
{
	return !((const struct audit_record *)object)->facts.threads[AUDIT_UNSURE];
}

static bool has_child(const struct member *m, const void *object)
{
	const struct audit_record *r = object;

	return r->has_app && !r->facts.workers;
}

static bool has_worker(const struct member *m, const void *object)
{
	const struct audit_record *r = object;

	return r->has_app && r->facts.workers;
}

static bool has_shell(const struct member *m, const void *object)
{
	return ((const struct audit_record *)object)->shell;
}

static const struct member shell[] = {
	TEXT(struct audit_record, "name", shell),
	BOOL(struct audit_record, "waits", facts.shell.waits),
	OBJECT(struct audit_record, "app", app, parts_process, THERE(has_child)),
	MEMBERS_END,
};

/* The reason first, then each warning. */
static void write_advice(struct buf *out, const struct member *m, const void *object)
{
	const struct audit_record *r = object;

	jsonw_array(out, m->key);
	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++) {
		_cleanup_(buf_free) struct buf why = {};

		if (!advice_applies(topic, r))
			continue;
		advice_add_why(&why, topic, r);
		jsonw_object(out, NULL);
		jsonw_str(out, "about", advice_name(topic));
		jsonw_str(out, "why", buf_str(&why));
		jsonw_str(out, "remedy", advice_remedy(topic));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void write_named(struct buf *out, const char *key, const struct tree *t, size_t i)
{
	members_write_object(out, key, parts_process, i == TREE_NONE ? NULL : &t->list[i].process);
}

static void write_signal(struct buf *out, const char *key, uint32_t signal)
{
	char name[SIGNAME_SIZE];

	if (!jsonw_object_if(out, key, signal))
		return;
	jsonw_u64(out, "number", signal);
	jsonw_str(out, "name", signame_format(signal, name));
	jsonw_object_end(out);
}

static void write_wrapper(struct buf *out, const struct tree_process *p)
{
	if (!jsonw_object_if(out, "wrapper", p->wraps))
		return;
	jsonw_str(out, "name", p->wrapper.name);
	jsonw_str(out, "passes_to", wrapper_pass_name(p->wrapper.pass));
	jsonw_object_end(out);
}

static void write_ns_pid(struct buf *out, const char *key, const struct tree *t, size_t i)
{
	if (i == TREE_NONE || !t->list[i].process.ns_pid)
		jsonw_null(out, key);
	else
		jsonw_u64(out, key, t->list[i].process.ns_pid);
}

static void write_process(struct buf *out, const struct tree *t, size_t i)
{
	const struct tree_process *p = t->list + i;

	jsonw_object(out, NULL);
	jsonw_u64(out, "pid", p->process.pid);
	write_ns_pid(out, "ns_pid", t, i);
	write_ns_pid(out, "parent_ns_pid", t, p->parent);
	jsonw_str(out, "comm", p->process.comm);
	jsonw_str(out, "exe", p->exe[0] ? p->exe : NULL);
	jsonw_str(out, "fate", tree_fate_name(p->fate));
	jsonw_str(out, "reason", tree_reason_name(p->reason));
	write_signal(out, "signal", p->signal);
	write_named(out, "from", t, p->from);
	write_named(out, "by", t, p->by);
	write_wrapper(out, p);
	write_signal(out, "then_signal", p->then);
	jsonw_u64_if(out, "killed_after_ns", p->killed_ms, p->killed_ms * 1000000ull);
	jsonw_bool_if(out, "waited_for", p->waited != TRI_UNKNOWN, p->waited == TRI_TRUE);
	jsonw_bool(out, "if_default", p->assumed);
	jsonw_object_end(out);
}

static void write_processes(struct buf *out, const struct member *m, const void *object)
{
	const struct tree *t = ((const struct audit_record *)object)->tree;

	if (!jsonw_array_if(out, m->key, t))
		return;
	for (size_t i = 0; i < t->n; i++)
		write_process(out, t, i);
	jsonw_array_end(out);
}

static void write_others(struct buf *out, const struct member *m, const void *object)
{
	const struct tree *t = ((const struct audit_record *)object)->tree;

	if (t)
		jsonw_u64(out, m->key, t->others);
	else
		jsonw_null(out, m->key);
}

static const struct member members[] = {
	WALL(struct audit_record, "time", wall_ns),
	UINT(struct audit_record, "boot_ns", at_ns),
	TEXT(struct audit_record, "node", node),
	POD(struct audit_record, pod),
	CONTAINER(struct audit_record, container),
	OBJECT(struct audit_record, "process", process, parts_process, SEEN),
	WITHIN("signal", asked_signal),
	WORD(struct audit_record, "verdict", audit.verdict, verdict),
	WORD(struct audit_record, "reason", audit.reason, reason),
	BITS(struct audit_record, "warnings", audit.warnings, warning),
	BOOL(struct audit_record, "shielded", facts.shielded, SEEN),
	WORD(struct audit_record, "disposition", facts.disposition, disposition, SEEN),
	DERIVED(struct audit_record, "blocked", facts.threads, write_blocked, SEEN),
	UINT(struct audit_record, "waiters", facts.threads[AUDIT_WAITS], SEEN, THERE(is_sure)),
	WITHIN("shell", shell, SEEN, THERE(has_shell)),
	OBJECT(struct audit_record, "worker", app, parts_process, SEEN, THERE(has_worker)),
	DERIVED(struct audit_record, "processes", tree, write_processes),
	DERIVED(struct audit_record, "processes_other", tree, write_others),
	DERIVED(struct audit_record, "advice", audit, write_advice),
	MEMBERS_END,
};

int audit_json(struct buf *out, const struct audit_record *r)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "type", "audit");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	members_write(out, members, r);
	buf_adds(out, "}\n");
	return buf_error(out);
}
