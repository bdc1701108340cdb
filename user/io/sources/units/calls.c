// SPDX-License-Identifier: Apache-2.0
/* What systemd is asked and what it says by itself, on a connection that stands. */
#include <errno.h>
#include <stdio.h>

#include "io/sources/units/priv.h"

/* An error that the connection's end is told by, or one like it. */
static bool is_lost(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_TIMEOUT) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN);
}

static void drop_for(struct podsrc_units *u, const sd_bus_error *error)
{
	units_drop(u, error->message ? error->message : error->name);
}

static int call(struct podsrc_units *u, const char *object, const char *interface,
		const char *member, const char *arg1, const char *arg2, sd_bus_slot **ret,
		sd_bus_message_handler_t handler, void *userdata)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(u->bus, &m, UNITS_BUS_NAME, object, interface, member);
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0 && arg1)
		r = sd_bus_message_append(m, "s", arg1);
	if (r >= 0 && arg2)
		r = sd_bus_message_append(m, "s", arg2);
	if (r >= 0)
		r = sd_bus_call_async(u->bus, ret, m, handler, userdata, UNITS_BUS_TIMEOUT_US);
	return r < 0 ? r : 0;
}

static enum meta_result result_of(const sd_bus_error *error)
{
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT) ||
	    sd_bus_error_has_name(error, UNITS_BUS_NAME ".NoSuchUnit"))
		return META_ABSENT;
	return META_FAILED;
}

/* The broker says who answered; only who answers may send signals. */
static void note_owner(struct podsrc_units *u, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);

	if (!sender || (u->owner && strcmp(u->owner, sender) == 0))
		return;
	free(u->owner);
	u->owner = strdup(sender);
}

static struct unit *unit_of_call(const struct podsrc_units *u)
{
	const sd_bus_slot *slot = sd_bus_get_current_slot(u->bus);
	struct unit *unit;

	TAILQ_FOREACH(unit, &u->asked, link)
		if (unit->call == slot)
			return unit;
	return NULL;
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	struct unit *unit = unit_of_call(u);
	const sd_bus_error *error = sd_bus_message_get_error(m);
	struct unitfacts facts;

	(void)ret_error;
	if (error && is_lost(error)) {
		drop_for(u, error);
		return 0;
	}
	if (!unit)
		return 0;
	note_owner(u, m);
	if (error)
		units_answer(u, unit, result_of(error), NULL);
	else if (units_read_facts(m, &facts) < 0)
		units_answer(u, unit, META_FAILED, NULL);
	else
		units_answer(u, unit, META_FAILED, &facts);
	if (u->bus)
		units_pump(u);
	return 0;
}

int units_ask(struct podsrc_units *u, struct unit *unit)
{
	return call(u, unit->object, UNITS_PROPERTIES, "GetAll", UNITS_SERVICE, NULL, &unit->call,
		    on_answer, u);
}

/* A string that a property holds; it belongs to the message. NULL when there was no such answer. */
static const char *read_greeting(struct podsrc_units *u, sd_bus_message *m)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	const char *text;

	if (error)
		drop_for(u, error);
	else if (sd_bus_message_read(m, "v", "s", &text) <= 0)
		units_drop(u, "its answer makes no sense");
	else
		return text;
	return NULL;
}

static int on_version(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *version = read_greeting(u, m);

	(void)ret_error;
	if (version)
		units_set_text(u, "systemd ", version);
	return 0;
}

/* Comes after the version. */
static int on_root(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *root = read_greeting(u, m);

	(void)ret_error;
	if (!root)
		return 0;
	u->root = strdup(root);
	if (!u->root) {
		units_drop(u, strerror(ENOMEM));
		return 0;
	}
	note_owner(u, m);
	u->greeted = true;
	u->failures = 0;
	units_refresh_all(u);
	units_pump(u);
	return 0;
}

static bool is_from_systemd(const struct podsrc_units *u, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);

	return !u->is_bus || (sender && u->owner && strcmp(sender, u->owner) == 0);
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *object = sd_bus_message_get_path(m), *interface;
	struct unit *unit = object ? units_by_object(u, object) : NULL;
	struct unitfacts facts;

	(void)ret_error;
	if (!unit || !is_from_systemd(u, m) || sd_bus_message_read(m, "s", &interface) <= 0 ||
	    units_read_facts(m, &facts) < 0)
		return 0;
	if (!(facts.known & UNITFACTS_MAIN_PID) || !facts.main_pid ||
	    (unit->told && facts.main_pid == unit->last.main_pid))
		return 0;
	units_refresh(u, unit);
	units_pump(u);
	return 0;
}

/* While systemd reloads it says so of every unit. */
static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *name, *object;
	struct unit *unit;

	(void)ret_error;
	if (u->reloading || !is_from_systemd(u, m) ||
	    sd_bus_message_read(m, "so", &name, &object) <= 0)
		return 0;
	unit = units_by_object(u, object);
	if (unit)
		units_forget(u, unit);
	units_arm(u);
	return 0;
}

static int on_reloading(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	int begins;

	(void)ret_error;
	if (!is_from_systemd(u, m) || sd_bus_message_read(m, "b", &begins) <= 0)
		return 0;
	u->reloading = begins;
	if (begins)
		return 0;
	units_refresh_all(u);
	units_pump(u);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	(void)m;
	(void)ret_error;
	units_drop(userdata, "it has closed the connection");
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	(void)m;
	(void)ret_error;
	units_drop(userdata, "systemd has left the bus or is new on it");
	return 0;
}

static int add_matches(struct podsrc_units *u)
{
	static const struct {
		const char *rule;
		sd_bus_message_handler_t handler;
		bool bus; /* there are such signals on a bus only */
	} matches[] = {
		{"type='signal',path='/org/freedesktop/DBus/Local',"
		 "interface='org.freedesktop.DBus.Local',member='Disconnected'",
		 on_disconnected, false},
		{"type='signal',interface='" UNITS_PROPERTIES "',member='PropertiesChanged',"
		 "path_namespace='" UNITS_UNIT_OBJECTS "',arg0='" UNITS_SERVICE "'",
		 on_properties, false},
		{"type='signal',path='" UNITS_OBJECT "',interface='" UNITS_MANAGER
		 "',member='UnitRemoved'",
		 on_removed, false},
		{"type='signal',path='" UNITS_OBJECT "',interface='" UNITS_MANAGER
		 "',member='Reloading'",
		 on_reloading, false},
		{"type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
		 "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
		 "arg0='" UNITS_BUS_NAME "'",
		 on_owner, true},
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(matches) / sizeof(matches[0]); i++)
		if (u->is_bus || !matches[i].bus)
			r = sd_bus_add_match_async(u->bus, NULL, matches[i].rule,
						   matches[i].handler, NULL, u);
	return r;
}

int units_greet(struct podsrc_units *u)
{
	int r = add_matches(u);

	if (r >= 0)
		r = call(u, UNITS_OBJECT, UNITS_MANAGER, "Subscribe", NULL, NULL, NULL, NULL, NULL);
	if (r >= 0)
		r = call(u, UNITS_OBJECT, UNITS_PROPERTIES, "Get", UNITS_MANAGER, "Version",
			 &u->greeting[0], on_version, u);
	if (r >= 0)
		r = call(u, UNITS_OBJECT, UNITS_PROPERTIES, "Get", UNITS_MANAGER, "ControlGroup",
			 &u->greeting[1], on_root, u);
	return r;
}
