// SPDX-License-Identifier: Apache-2.0
/* Entries about a node's shutdown. */
#include "base/duration.h"
#include "wire/text/journal_priv.h"

#define ID_SHUTDOWN "a3b7e3cd2b5e4d4c9f0d8a8f4f0c6a51"

static void say_length(struct buf *out, const char *before, uint64_t ns)
{
	char text[DURATION_SIZE];

	buf_printf(out, "%s%s", before, duration_format(ns, text));
}

static void say_container(struct buf *out, const struct record_shutdown *r)
{
	buf_adds(out, ": ");
	journal_say_subject(out, &r->pod, &r->container);
	if (r->told.told == SHUTDOWN_TOLD_KILLED)
		buf_adds(out, r->told.deaf ? " did not hear its stop signal, and was ended"
					   : " was ended");
}

static void say_step(struct buf *out, const struct record *record)
{
	const struct shutdown_record *told = &record->shutdown.told;

	buf_printf(out, "shutdown: %s", shutdown_told_name(told->told));
	if (told->announced_ns && told->told != SHUTDOWN_TOLD_ANNOUNCED)
		say_length(out, " after ", record->at_ns - told->announced_ns);
	if (told->told == SHUTDOWN_TOLD_ANNOUNCED && told->limit_ns)
		say_length(out, "; logind waits at most ", told->limit_ns);
	if (told->told == SHUTDOWN_TOLD_RELEASED)
		buf_printf(out, ": %s", shutdown_reason_name(told->reason));
	if (record->shutdown.container.known)
		say_container(out, &record->shutdown);
	if (told->living)
		buf_printf(out, "; %zu containers run, %zu are being stopped", told->living,
			   told->stopping);
}

void journal_add_shutdown(struct buf *out, const struct record *record)
{
	const struct record_shutdown *r = &record->shutdown;
	bool trouble = r->told.told == SHUTDOWN_TOLD_OVERDUE ||
		       r->told.told == SHUTDOWN_TOLD_KILLED ||
		       r->told.told == SHUTDOWN_TOLD_SURVIVES;

	journal_add_head(out, record, ID_SHUTDOWN, "shutdown",
			 trouble ? JOURNAL_WARNING : JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_step(out, record);
	buf_addc(out, '\n');
	journal_add_field(out, "GRACED_ID", r->id);
	journal_add_subject(out, &r->pod, &r->container);
	journal_add_field(out, "GRACED_EVENT", shutdown_told_name(r->told.told));
	journal_add_field(out, "GRACED_MODE", shutdown_mode_name(r->told.mode));
	journal_add_field(out, "GRACED_ACTION", shutdown_action_name(r->told.action));
	if (r->told.told == SHUTDOWN_TOLD_RELEASED)
		journal_add_field(out, "GRACED_REASON", shutdown_reason_name(r->told.reason));
	journal_add_number(out, "GRACED_CONTAINERS_LEFT", r->told.living);
}
