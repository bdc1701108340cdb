// SPDX-License-Identifier: Apache-2.0
/* The members of an audit record, in the order a reader takes them in. */
#include "wire/json/audit.h"

#include "base/rfc3339.h"
#include "base/cleanup.h"
#include "base/signame.h"
#include "core/stop/advice.h"
#include "wire/json/parts.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

static void add_head(struct buf *out, const struct audit_record *r)
{
	char time[RFC3339_SIZE];

	jsonw_str(out, "type", "audit");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "time", rfc3339_format(r->wall_ns, time));
	jsonw_u64(out, "boot_ns", r->at_ns);
	jsonw_str(out, "node", r->node);
	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
}

static void add_process(struct buf *out, const char *key, bool known,
			const struct record_process *process)
{
	if (!known) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	record_parts_process(out, process);
	jsonw_object_end(out);
}

static void add_signal(struct buf *out, uint32_t number)
{
	char name[SIGNAME_SIZE];

	jsonw_object(out, "signal");
	jsonw_u64(out, "number", number);
	jsonw_str(out, "name", signame_format(number, name));
	jsonw_object_end(out);
}

static void add_verdict(struct buf *out, const struct audit *audit)
{
	jsonw_str(out, "verdict", audit_verdict_name(audit->verdict));
	jsonw_str(out, "reason", audit_reason_name(audit->reason));
	jsonw_array(out, "warnings");
	for (unsigned int i = 0; i < AUDIT_WARNING_COUNT; i++)
		if (audit->warnings >> i & 1)
			jsonw_str(out, NULL, audit_warning_name(i));
	jsonw_array_end(out);
}

/* The reason first, then each warning. */
static void add_advice(struct buf *out, const struct audit_record *r)
{
	jsonw_array(out, "advice");
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

/* A thread of unknown state may make it true or false, and one more. */
static void add_threads(struct buf *out, const struct audit_facts *f)
{
	bool sure = !f->threads[AUDIT_UNSURE];

	if (sure || f->threads[AUDIT_OPEN])
		jsonw_bool(out, "blocked", !f->threads[AUDIT_OPEN]);
	else
		jsonw_null(out, "blocked");
	if (sure)
		jsonw_u64(out, "waiters", f->threads[AUDIT_WAITS]);
	else
		jsonw_null(out, "waiters");
}

static void add_unseen(struct buf *out)
{
	static const char *const members[] = {"shielded", "disposition", "blocked",
					      "waiters",  "shell",	 "worker"};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		jsonw_null(out, members[i]);
}

static void add_shell(struct buf *out, const struct audit_record *r, bool has_app)
{
	if (!r->shell) {
		jsonw_null(out, "shell");
		return;
	}
	jsonw_object(out, "shell");
	jsonw_str(out, "name", r->shell);
	jsonw_bool(out, "waits", r->facts.shell.waits);
	add_process(out, "app", has_app, &r->app);
	jsonw_object_end(out);
}

static void add_facts(struct buf *out, const struct audit_record *r)
{
	bool beside = r->facts.workers > 0;

	jsonw_bool(out, "shielded", r->facts.shielded);
	jsonw_str(out, "disposition", audit_disposition_name(r->facts.disposition));
	add_threads(out, &r->facts);
	add_shell(out, r, r->has_app && !beside);
	add_process(out, "worker", r->has_app && beside, &r->app);
}

int audit_json(struct buf *out, const struct audit_record *r)
{
	jsonw_object(out, NULL);
	add_head(out, r);
	add_process(out, "process", r->seen, &r->process);
	add_signal(out, r->facts.signal);
	add_verdict(out, &r->audit);
	if (r->seen)
		add_facts(out, r);
	else
		add_unseen(out);
	add_advice(out, r);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}
