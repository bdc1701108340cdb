// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a connection to systemd, asks about services and ends the look-ups of them. No function of
 * sd-bus that waits is called: the socket is connected here, and all else is answered later.
 */
#include "io/sources/units/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/names/unit_facts.h"
#include "core/names/unit_name.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "io/sources/units/priv.h"

#define BUS_NAME       "org.freedesktop.systemd1"
#define OBJECT	       "/org/freedesktop/systemd1"
#define UNIT_OBJECTS   OBJECT "/unit"
#define MANAGER	       BUS_NAME ".Manager"
#define SERVICE	       BUS_NAME ".Service"
#define PROPERTIES     "org.freedesktop.DBus.Properties"
#define BUS_TIMEOUT_US UINT64_MAX /* one timer keeps the deadlines */

#define TIMEOUT_NS 5000000000ull

/* Under way at once: systemd does nothing else while it answers. */
#define ASKED_MAX 8

#define SUFFIX	 ".service"
#define PATH_LEN 4095

#define PRIVATE_SOCKET "/run/systemd/private"

#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 30000000000ull
#define GRAIN_US     1000

/* --- reading a message ------------------------------------------------------------------------ */

/* systemd 252 has 330 for a service. */
#define PROPERTIES_MAX 2048

static const struct property {
	const char *name;
	const char *type;
	size_t offset;
	uint32_t bit;
} properties[] = {
	{"ControlGroup", "s", offsetof(struct unitfacts, cgroup), UNITFACTS_CGROUP},
	{"ExecMainStartTimestamp", "t", offsetof(struct unitfacts, started_us), UNITFACTS_STARTED},
	{"KillMode", "s", offsetof(struct unitfacts, kill_mode), UNITFACTS_KILL_MODE},
	{"KillSignal", "i", offsetof(struct unitfacts, kill_signal), UNITFACTS_KILL_SIGNAL},
	{"MainPID", "u", offsetof(struct unitfacts, main_pid), UNITFACTS_MAIN_PID},
	{"SendSIGKILL", "b", offsetof(struct unitfacts, send_sigkill), UNITFACTS_SEND_SIGKILL},
	{"TimeoutStopUSec", "t", offsetof(struct unitfacts, stop_timeout_us),
	 UNITFACTS_STOP_TIMEOUT},
};

static const struct property *find(const char *name)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (strcmp(properties[i].name, name) == 0)
			return properties + i;
	return NULL;
}

/* A property of another type than it should be is skipped. */
static int read_value(sd_bus_message *m, const struct property *p, struct unitfacts *ret)
{
	const char *type = NULL;
	int r;

	if (!p)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (!type || strcmp(type, p->type) != 0)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", p->type, (char *)ret + p->offset);
	if (r > 0)
		ret->known |= p->bit;
	return r;
}

static int read_entry(sd_bus_message *m, struct unitfacts *ret)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r > 0)
		r = read_value(m, find(name), ret);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r;
}

/* Reads "a{sv}"; strings belong to the message. -EBADMSG, -errno. */
static int units_read_facts(sd_bus_message *m, struct unitfacts *ret)
{
	struct unitfacts facts = {};
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r == 0)
		return -EBADMSG;
	for (unsigned int n = 0; r >= 0; n++) {
		r = sd_bus_message_enter_container(m, 'e', "sv");
		if (r == 0)
			break;
		if (r > 0)
			r = n < PROPERTIES_MAX ? read_entry(m, &facts) : -EBADMSG;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	*ret = facts;
	return 0;
}

/* --- the timer and the text ------------------------------------------------------------------- */

static void set_text(struct podsrc_units *u, const char *prefix, const char *text)
{
	busconn_line(u->text, sizeof(u->text), prefix, text);
}

/* Sets the timer for what comes next. */
static void arm(struct podsrc_units *u)
{
	const struct unit *oldest = TAILQ_FIRST(&u->table.asked);
	uint64_t at_ns = 0;

	if (!u->bus)
		at_ns = u->retry_ns;
	else if (!u->greeted)
		at_ns = u->began_ns + u->timeout_ns;
	else if (oldest)
		at_ns = oldest->asked_ns + u->timeout_ns;
	sd_event_source_set_time(u->timer, at_ns / 1000 + 1);
	sd_event_source_set_enabled(u->timer, at_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

/* --- the end of look-ups ------------------------------------------------------------------------ */

static void tell_done(struct podsrc_units *u, const char *cgroup, enum meta_result result)
{
	u->lookups[result]++;
	u->sink.done(u->sink.userdata, META_SYSTEMD, cgroup, result);
}

static void end_finds(struct podsrc_units *u, struct unit *unit, enum meta_result result)
{
	unsigned int n = unit->finds;

	unit->finds = 0;
	u->waiting -= n;
	unit->pinned++;
	while (n-- > 0)
		tell_done(u, unit->cgroup, result);
	unit->pinned--;
}

static bool same(const struct unit_report *a, const struct unit_report *b)
{
	return a->known == b->known && a->main_pid == b->main_pid &&
	       a->stop_signal == b->stop_signal && a->grace_ns == b->grace_ns;
}

static void tell(struct podsrc_units *u, struct unit *unit, const struct meta_container *container)
{
	struct unit_report now = {container->known, container->main_pid, container->stop_signal,
				  container->grace_ns};

	if (!unit->finds && unit->reported && same(&unit->last, &now))
		return;
	unit->reported = true;
	unit->last = now;
	unit->pinned++;
	u->sink.container(u->sink.userdata, container);
	unit->pinned--;
}

/* unit may be gone afterwards. */
static void end(struct podsrc_units *u, struct unit *unit, enum meta_result result)
{
	end_finds(u, unit, result);
	if (result != META_FOUND && !unit->in)
		units_forget(&u->table, unit);
}

/* The answer about a service: what facts say, or result where there are none. */
static void answer(struct podsrc_units *u, struct unit *unit, enum meta_result result,
		   const struct unitfacts *facts)
{
	struct meta_container container;
	char name[META_NAME_MAX];

	units_put(&u->table, unit, NULL);
	unit->call = sd_bus_slot_unref(unit->call);
	if (facts)
		result = unitname_service(u->root, unit->cgroup, name)
				 ? unitfacts_judge(facts, name, unit->cgroup, &container)
				 : META_ABSENT;
	if (facts && result == META_FOUND)
		tell(u, unit, &container);
	if (unit->again && !unit->in)
		units_put(&u->table, unit, &u->table.stale);
	unit->again = false;
	end(u, unit, result);
}

/* Nothing is under way any more. */
static void recall_all(struct podsrc_units *u)
{
	for (size_t i = 0; i < u->table.n; i++) {
		struct unit *unit = u->table.list[i];

		unit->call = sd_bus_slot_unref(unit->call);
		unit->again = false;
		free(unit->object);
		unit->object = NULL;
		if (!unit->finds)
			units_put(&u->table, unit, NULL);
		else if (unit->in != &u->table.wanted)
			units_put(&u->table, unit, &u->table.wanted);
	}
}

/* All look-ups that wait have failed. */
static void fail_all(struct podsrc_units *u)
{
	/* The list may change while the sink is called. */
	while (!u->bus && !TAILQ_EMPTY(&u->table.wanted)) {
		struct unit *unit = TAILQ_FIRST(&u->table.wanted);

		units_put(&u->table, unit, NULL);
		end_finds(u, unit, META_FAILED);
	}
}

/* --- the end of the connection ------------------------------------------------------------------ */

/* Closes the connection, if any; no further attempt is made. */
static void disconnect_bus(struct podsrc_units *u)
{
	for (size_t i = 0; i < 2; i++)
		u->greeting[i] = sd_bus_slot_unref(u->greeting[i]);
	u->bus = sd_bus_close_unref(u->bus);
	free(u->root);
	free(u->owner);
	u->root = u->owner = NULL;
	u->greeted = u->reloading = false;
	u->retry_ns = 0;
}

/* systemd is away for a moment when it executes itself anew (daemon-reexec). */
static bool is_soon_back(const struct podsrc_units *u)
{
	return u->retry_ns && u->delay_ns == DELAY_MIN_NS && !u->off;
}

/* One that answered for long is tried again soon. */
void units_drop(struct podsrc_units *u, const char *why)
{
	uint64_t now_ns = clock_boot_ns();

	if (u->greeted && now_ns - u->began_ns > DELAY_MAX_NS)
		u->delay_ns = 0;
	u->delay_ns = u->delay_ns ? u->delay_ns * 2 : DELAY_MIN_NS;
	if (u->delay_ns > DELAY_MAX_NS)
		u->delay_ns = DELAY_MAX_NS;
	set_text(u, "", why);
	disconnect_bus(u);
	u->failures++;
	u->retry_ns = now_ns + u->delay_ns;
	arm(u);
	recall_all(u);
	if (!is_soon_back(u))
		fail_all(u);
}

/* --- calls -------------------------------------------------------------------------------------- */

/* An error that the end of the connection causes, or one like it. */
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

	r = sd_bus_message_new_method_call(u->bus, &m, BUS_NAME, object, interface, member);
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0 && arg1)
		r = sd_bus_message_append(m, "s", arg1);
	if (r >= 0 && arg2)
		r = sd_bus_message_append(m, "s", arg2);
	if (r >= 0)
		r = sd_bus_call_async(u->bus, ret, m, handler, userdata, BUS_TIMEOUT_US);
	return r < 0 ? r : 0;
}

static enum meta_result result_of(const sd_bus_error *error)
{
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT) ||
	    sd_bus_error_has_name(error, BUS_NAME ".NoSuchUnit"))
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

	TAILQ_FOREACH(unit, &u->table.asked, link)
		if (unit->call == slot)
			return unit;
	return NULL;
}

static void pump(struct podsrc_units *u);

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	struct unit *unit = unit_of_call(u);
	const sd_bus_error *error = sd_bus_message_get_error(m);
	struct unitfacts facts;

	if (error && is_lost(error)) {
		drop_for(u, error);
		return 0;
	}
	if (!unit)
		return 0;
	note_owner(u, m);
	if (error)
		answer(u, unit, result_of(error), NULL);
	else if (units_read_facts(m, &facts) < 0)
		answer(u, unit, META_FAILED, NULL);
	else
		answer(u, unit, META_FAILED, &facts);
	if (u->bus)
		pump(u);
	return 0;
}

/* Asks about a service; unit->object is set. -errno. */
static int ask_about(struct podsrc_units *u, struct unit *unit)
{
	return call(u, unit->object, PROPERTIES, "GetAll", SERVICE, NULL, &unit->call, on_answer,
		    u);
}

/* unit may be gone afterwards. */
static int ask(struct podsrc_units *u, struct unit *unit)
{
	char name[META_NAME_MAX];
	int r;

	units_put(&u->table, unit, NULL);
	if (!unitname_service(u->root, unit->cgroup, name)) {
		end(u, unit, META_ABSENT);
		return 0;
	}
	if (!unit->object) {
		r = sd_bus_path_encode(UNIT_OBJECTS, name, &unit->object);
		if (r < 0)
			return r;
	}
	unit->asked_ns = clock_boot_ns();
	units_put(&u->table, unit, &u->table.asked);
	return ask_about(u, unit);
}

/* Asks about as many services as may be asked about at once. */
static void pump(struct podsrc_units *u)
{
	struct unit *unit;
	int r = 0;

	while (r >= 0 && u->greeted && u->table.n_asked < ASKED_MAX) {
		unit = TAILQ_FIRST(&u->table.wanted);
		if (!unit && !u->table.n_asked)
			unit = TAILQ_FIRST(&u->table.stale);
		if (!unit)
			break;
		r = ask(u, unit);
	}
	if (r < 0)
		units_drop(u, strerror(-r));
	else
		arm(u);
}

/* --- the first answers, and signals ------------------------------------------------------------- */

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

	if (version)
		set_text(u, "systemd ", version);
	return 0;
}

/* Comes after the version. */
static int on_root(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *root = read_greeting(u, m);

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
	units_refresh_all(&u->table);
	pump(u);
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
	struct unit *unit = object ? units_by_object(&u->table, object) : NULL;
	struct unitfacts facts;

	if (!unit || !is_from_systemd(u, m) || sd_bus_message_read(m, "s", &interface) <= 0 ||
	    units_read_facts(m, &facts) < 0)
		return 0;
	if (!(facts.known & UNITFACTS_MAIN_PID) || !facts.main_pid ||
	    (unit->reported && facts.main_pid == unit->last.main_pid))
		return 0;
	units_refresh(&u->table, unit);
	pump(u);
	return 0;
}

/* While systemd reloads it says so of every unit. */
static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	const char *name, *object;
	struct unit *unit;

	if (u->reloading || !is_from_systemd(u, m) ||
	    sd_bus_message_read(m, "so", &name, &object) <= 0)
		return 0;
	unit = units_by_object(&u->table, object);
	if (unit)
		units_forget(&u->table, unit);
	arm(u);
	return 0;
}

static int on_reloading(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct podsrc_units *u = userdata;
	int begins;

	if (!is_from_systemd(u, m) || sd_bus_message_read(m, "b", &begins) <= 0)
		return 0;
	u->reloading = begins;
	if (begins)
		return 0;
	units_refresh_all(&u->table);
	pump(u);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	units_drop(userdata, "it has closed the connection");
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
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
		{"type='signal',interface='" PROPERTIES "',member='PropertiesChanged',"
		 "path_namespace='" UNIT_OBJECTS "',arg0='" SERVICE "'",
		 on_properties, false},
		{"type='signal',path='" OBJECT "',interface='" MANAGER "',member='UnitRemoved'",
		 on_removed, false},
		{"type='signal',path='" OBJECT "',interface='" MANAGER "',member='Reloading'",
		 on_reloading, false},
		{"type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
		 "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
		 "arg0='" BUS_NAME "'",
		 on_owner, true},
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(matches) / sizeof(matches[0]); i++)
		if (u->is_bus || !matches[i].bus)
			r = sd_bus_add_match_async(u->bus, NULL, matches[i].rule,
						   matches[i].handler, NULL, u);
	return r;
}

/* The first calls on a connection, and the signals that are listened for. -errno. */
static int greet(struct podsrc_units *u)
{
	int r = add_matches(u);

	if (r >= 0)
		r = call(u, OBJECT, MANAGER, "Subscribe", NULL, NULL, NULL, NULL, NULL);
	if (r >= 0)
		r = call(u, OBJECT, PROPERTIES, "Get", MANAGER, "Version", &u->greeting[0],
			 on_version, u);
	if (r >= 0)
		r = call(u, OBJECT, PROPERTIES, "Get", MANAGER, "ControlGroup", &u->greeting[1],
			 on_root, u);
	return r;
}

/* --- the connection ----------------------------------------------------------------------------- */

/* Takes over the socket. */
static int begin(struct podsrc_units *u, int fd)
{
	int r = busconn_begin(u->event, fd, u->is_bus, &u->bus);

	return r < 0 ? r : greet(u);
}

static int open_at(struct podsrc_units *u, const char *path, int *ret)
{
	const char *slash = strrchr(path, '/');

	u->is_bus = strcmp(slash, "/private") != 0;
	snprintf(u->where, sizeof(u->where), "%s", path);
	return busconn_open(path, ret);
}

static int open_any(struct podsrc_units *u, int *ret)
{
	int r = -ENOENT;

	if (u->address)
		return open_at(u, u->address, ret);
	if (geteuid() == 0)
		r = open_at(u, PRIVATE_SOCKET, ret);
	return r == -ENOENT ? open_at(u, BUSCONN_SYSTEM_BUS, ret) : r;
}

static void connect_bus(struct podsrc_units *u)
{
	int fd, r = open_any(u, &fd);

	u->off = r == -ENOENT;
	u->began_ns = clock_boot_ns();
	u->retry_ns = 0;
	if (r >= 0)
		r = begin(u, fd);
	if (r < 0)
		units_drop(u, r == -ENOENT  ? "there is no systemd"
			      : r == -EPERM ? "its socket is not root's"
					    : strerror(-r));
	else
		arm(u);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_units *u = userdata;

	if (!u->bus)
		connect_bus(u);
	else
		units_drop(u, "it does not answer");
	return 0;
}

static int add_timer(struct podsrc_units *u)
{
	int r = sd_event_add_time(u->event, &u->timer, CLOCK_BOOTTIME, 0, GRAIN_US, on_timer, u);

	return r < 0 ? r : sd_event_source_set_enabled(u->timer, SD_EVENT_OFF);
}

/* --- the source --------------------------------------------------------------------------------- */

static bool is_named_service(const char *cgroup)
{
	size_t len = strlen(cgroup), n = strlen(SUFFIX);

	return len > n && len <= PATH_LEN && strcmp(cgroup + len - n, SUFFIX) == 0;
}

void podsrc_units_find(struct podsrc_units *u, const char *cgroup)
{
	struct unit *unit;

	if (!is_named_service(cgroup)) {
		tell_done(u, cgroup, META_ABSENT);
		return;
	}
	unit = u->waiting < PODSRC_UNITS_WAITING_MAX ? units_get(&u->table, cgroup) : NULL;
	if (!unit) {
		tell_done(u, cgroup, META_SHED);
		return;
	}
	unit->used = ++u->used;
	unit->finds++;
	u->waiting++;
	if (!u->bus && !is_soon_back(u)) {
		end_finds(u, unit, META_FAILED);
		return;
	}
	if (!unit->in || unit->in == &u->table.stale)
		units_put(&u->table, unit, &u->table.wanted);
	pump(u);
}

void podsrc_units_get_state(const struct podsrc_units *u, struct podsrc_state *ret)
{
	*ret = (struct podsrc_state){.failures = u->failures, .retry_ns = u->retry_ns};
	if (u->greeted)
		ret->status = PODSRC_UP;
	else if (u->off)
		ret->status = PODSRC_OFF;
	else
		ret->status = u->failures ? PODSRC_DOWN : PODSRC_STARTING;
	memcpy(ret->where, u->where, sizeof(ret->where));
	memcpy(ret->text, u->text, sizeof(ret->text));
	memcpy(ret->lookups, u->lookups, sizeof(ret->lookups));
}

static int set_address(struct podsrc_units *u, const char *address)
{
	const char *path = address ? busconn_path(address) : NULL;

	if (!address)
		return 0;
	if (!path)
		return -EINVAL;
	u->address = strdup(path);
	return u->address ? 0 : -ENOMEM;
}

int podsrc_units_new(sd_event *event, const struct podsrc_units_options *options,
		     const struct podsrc_sink *sink, struct podsrc_units **ret)
{
	struct podsrc_units *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->event = sd_event_ref(event);
	u->sink = *sink;
	u->timeout_ns = options && options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	units_init(&u->table);
	r = set_address(u, options ? options->bus_address : NULL);
	if (r >= 0)
		r = add_timer(u);
	if (r < 0) {
		podsrc_units_free(u);
		return r;
	}
	connect_bus(u);
	*ret = u;
	return 0;
}

struct podsrc_units *podsrc_units_free(struct podsrc_units *u)
{
	if (!u)
		return NULL;
	units_done(&u->table);
	disconnect_bus(u);
	sd_event_source_disable_unref(u->timer);
	sd_event_unref(u->event);
	free(u->address);
	free(u);
	return NULL;
}
