// SPDX-License-Identifier: Apache-2.0
/* First the own unit, then what comes after it; then the others, while the own one is not up. */
#include "io/bus/unit_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/bus/connection.h"
#include "io/proc/clock.h"

#define UNIT SYSTEMD_NAME ".Unit"

struct unitorder {
	struct busconn conn;
	const char *const *names;
	size_t n_names;
	unitorder_fn fn;
	void *userdata;
	sd_bus_slot *call;
	struct proof_order order;
	bool seen[PROOF_UNITS_MAX];
};

static void finish(struct unitorder *u, const char *error)
{
	unitorder_fn fn = u->fn;

	u->call = sd_bus_slot_unref(u->call);
	busconn_wake(&u->conn, 0);
	u->fn = NULL;
	if (fn)
		fn(u->userdata, error ? NULL : &u->order, error);
}

/* True: the answer can be read. */
static bool is_answer(struct unitorder *u, sd_bus_message *m)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);

	u->call = sd_bus_slot_unref(u->call);
	if (!error)
		return true;
	busconn_set_text(&u->conn, "", error->message ? error->message : error->name);
	finish(u, u->conn.text);
	return false;
}

static size_t place_of(const struct unitorder *u, const char *name)
{
	size_t i = 0;

	while (i < u->n_names && strcmp(u->names[i], name) != 0)
		i++;
	return i;
}

/* --- the units that are asked about ------------------------------------------------------------- */

static void take_unit(struct unitorder *u, const char *name, const char *active, uint32_t job,
		      const char *job_type)
{
	size_t i = place_of(u, name);

	if (i == u->n_names)
		return;
	u->seen[i] = true;
	u->order.units[i].idle = strcmp(active, "inactive") == 0;
	u->order.units[i].queued = job && strcmp(job_type, "start") == 0;
}

static int read_units(struct unitorder *u, sd_bus_message *m)
{
	const char *name, *active, *type, *text;
	uint32_t job;
	int r = sd_bus_message_enter_container(m, 'a', "(ssssssouso)");

	while (r > 0) {
		r = sd_bus_message_read(m, "(ssssssouso)", &name, &text, &text, &active, &text,
					&text, &text, &job, &type, &text);
		if (r > 0)
			take_unit(u, name, active, job, type);
	}
	for (size_t i = 0; r >= 0 && i < u->n_names; i++)
		if (!u->seen[i])
			return -EBADMSG;
	return r;
}

static int on_units(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitorder *u = userdata;

	if (is_answer(u, m))
		finish(u, read_units(u, m) < 0 ? "the list of units makes no sense" : NULL);
	return 0;
}

static int query_units(struct unitorder *u)
{
	static const struct busconn_method list = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, "ListUnitsByNames", {}};
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char *names[PROOF_UNITS_MAX + 1] = {};
	int r = busconn_new_call(&u->conn, &list, &m);

	for (size_t i = 0; i < u->n_names; i++)
		names[i] = (char *)u->names[i];
	if (r >= 0)
		r = sd_bus_message_append_strv(m, names);
	return r < 0 ? r : busconn_send(&u->conn, m, &u->call, on_units, u);
}

/* --- the own unit ------------------------------------------------------------------------------- */

static int read_before(struct unitorder *u, sd_bus_message *m)
{
	const char *name;
	int r = sd_bus_message_enter_container(m, 'v', "as");

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "s");
	while (r >= 0 && (r = sd_bus_message_read(m, "s", &name)) > 0)
		if (place_of(u, name) < u->n_names)
			u->order.units[place_of(u, name)].after = true;
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_property(struct unitorder *u, sd_bus_message *m)
{
	const char *key, *state;
	int r = sd_bus_message_read(m, "s", &key);

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (strcmp(key, "Before") == 0)
		return read_before(u, m);
	if (strcmp(key, "ActiveState") != 0)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", "s", &state);
	u->order.starting = r > 0 && strcmp(state, "activating") == 0;
	return r;
}

static int read_properties(struct unitorder *u, sd_bus_message *m)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_property(u, m);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitorder *u = userdata;

	if (!is_answer(u, m))
		return 0;
	if (read_properties(u, m) < 0 || query_units(u) < 0)
		finish(u, "the properties of the own unit make no sense");
	return 0;
}

static int query_properties(struct unitorder *u, const char *object)
{
	const struct busconn_method get = {SYSTEMD_NAME, object, BUS_PROPERTIES, "GetAll", {UNIT}};

	return busconn_call(&u->conn, &get, &u->call, on_properties, u);
}

static int on_own(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitorder *u = userdata;
	const char *object;

	if (!is_answer(u, m))
		return 0;
	if (sd_bus_message_read(m, "o", &object) <= 0 || query_properties(u, object) < 0)
		finish(u, "the answer about the own unit makes no sense");
	return 0;
}

static int query_own(struct unitorder *u)
{
	static const struct busconn_method get = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, "GetUnitByPID", {}};
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r = busconn_new_call(&u->conn, &get, &m);

	if (r >= 0)
		r = sd_bus_message_append(m, "u", (uint32_t)getpid());
	return r < 0 ? r : busconn_send(&u->conn, m, &u->call, on_own, u);
}

/* --- the connection ----------------------------------------------------------------------------- */

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	finish(userdata, "systemd has closed the connection");
	return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	finish(userdata, "systemd does not answer");
	return 0;
}

static int begin(struct unitorder *u, sd_event *event, const char *address)
{
	static const struct busconn_match match = {BUSCONN_DISCONNECTED, on_disconnected, false};
	int r = busconn_init(&u->conn, event, on_limit, u);

	if (r >= 0)
		r = busconn_set_address(&u->conn, address);
	if (r >= 0)
		r = busconn_connect_systemd(&u->conn, clock_boot_ns());
	if (r >= 0)
		r = busconn_match(&u->conn, &match, 1, u);
	if (r >= 0)
		r = query_own(u);
	if (r >= 0)
		busconn_wake(&u->conn, clock_boot_ns() + UNITORDER_LIMIT_NS);
	return r;
}

int unitorder_query(sd_event *event, const char *bus_address, const char *const *names,
		    unitorder_fn fn, void *userdata, struct unitorder **ret)
{
	struct unitorder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->names = names;
	while (u->n_names < PROOF_UNITS_MAX && names[u->n_names])
		u->n_names++;
	u->order.n = u->n_names;
	u->fn = fn;
	u->userdata = userdata;
	r = begin(u, event, bus_address);
	if (r < 0) {
		unitorder_free(u);
		return r;
	}
	*ret = u;
	return 0;
}

struct unitorder *unitorder_free(struct unitorder *u)
{
	if (!u)
		return NULL;
	u->call = sd_bus_slot_unref(u->call);
	busconn_done(&u->conn);
	free(u);
	return NULL;
}
