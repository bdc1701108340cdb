// SPDX-License-Identifier: Apache-2.0
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
