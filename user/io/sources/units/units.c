// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps a connection to systemd, queries services and ends the look-ups of them. No function of
 * sd-bus that waits is called: the socket is connected here, and all else is answered later.
 */
#include "io/sources/units/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/room.h"
#include "core/names/unit.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"

/* --- the services that were asked for --------------------------------------------------------- */

TAILQ_HEAD(unit_list, unit);

/* What was reported of a service last. */
struct unit_report {
	uint32_t known, main_pid, stop_signal;
	uint64_t grace_ns;
};

/* A service that was asked for. */
struct unit {
	TAILQ_ENTRY(unit) link;
	struct unit_list *in; /* NULL: nothing is to be done about it */
	sd_bus_slot *call;    /* while it is asked */
	uint64_t asked_ns;
	uint64_t used;	     /* higher: asked for later */
	unsigned int finds;  /* look-ups that wait for it */
	unsigned int pinned; /* its end is being reported: it may not go */
	bool again;	     /* the answer under way may be old */
	bool reported;
	struct unit_report last;
	char *object; /* its path on the bus; NULL: not asked since connected */
	char cgroup[];
};

/* The services that were asked for: by cgroup, by object, in the order they are to be asked about. */
struct unit_table {
	struct unit **list; /* sorted by cgroup */
	size_t n, room;
	/* Looked up now, to be looked up, to be looked up again when there is nothing else. */
	struct unit_list asked, wanted, stale;
	unsigned int n_asked;
};

static void units_init(struct unit_table *t)
{
	TAILQ_INIT(&t->asked);
	TAILQ_INIT(&t->wanted);
	TAILQ_INIT(&t->stale);
}

/* Moves it to the end of another list, or of none. */
static void units_put(struct unit_table *t, struct unit *unit, struct unit_list *in)
{
	if (unit->in)
		TAILQ_REMOVE(unit->in, unit, link);
	t->n_asked -= unit->in == &t->asked;
	t->n_asked += in == &t->asked;
	unit->in = in;
	if (in)
		TAILQ_INSERT_TAIL(in, unit, link);
}

/* Where the cgroup is in the list, or would be. */
static size_t position(const struct unit_table *t, const char *cgroup)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(t->list[mid]->cgroup, cgroup) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void unit_free(struct unit *unit)
{
	sd_bus_slot_unref(unit->call);
	free(unit->object);
	free(unit);
}

static void unit_remove(struct unit_table *t, struct unit *unit)
{
	size_t at = position(t, unit->cgroup);

	units_put(t, unit, NULL);
	t->n--;
	memmove(t->list + at, t->list + at + 1, (t->n - at) * sizeof(*t->list));
	unit_free(unit);
}

/* Forgets it, unless a caller waits for it. */
static void units_forget(struct unit_table *t, struct unit *unit)
{
	if (!unit->finds && !unit->pinned)
		unit_remove(t, unit);
}

static bool make_room(struct unit_table *t)
{
	struct unit *oldest = NULL;

	if (t->n >= SOURCE_UNITS_FOLLOWED_MAX) {
		for (size_t i = 0; i < t->n; i++)
			if (!t->list[i]->finds && !t->list[i]->pinned &&
			    (!oldest || t->list[i]->used < oldest->used))
				oldest = t->list[i];
		if (!oldest)
			return false;
		unit_remove(t, oldest);
	}
	return ROOM_FOR_ONE(t->list, t->n, t->room, 64);
}

/* Finds it or makes it. NULL when there is no memory, or a caller waits for each. */
static struct unit *units_get(struct unit_table *t, const char *cgroup)
{
	size_t at = position(t, cgroup), len = strlen(cgroup);
	struct unit *unit;

	if (at < t->n && strcmp(t->list[at]->cgroup, cgroup) == 0)
		return t->list[at];
	if (!make_room(t))
		return NULL;
	unit = calloc(1, sizeof(*unit) + len + 1);
	if (!unit)
		return NULL;
	memcpy(unit->cgroup, cgroup, len + 1);
	at = position(t, cgroup);
	memmove(t->list + at + 1, t->list + at, (t->n - at) * sizeof(*t->list));
	t->list[at] = unit;
	t->n++;
	return unit;
}

/* Looks it up again when there is time; what is under way may be old. */
static void units_refresh(struct unit_table *t, struct unit *unit)
{
	if (!unit->in)
		units_put(t, unit, &t->stale);
	else if (unit->in == &t->asked)
		unit->again = true;
}

static void units_refresh_all(struct unit_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		units_refresh(t, t->list[i]);
}

/* NULL for none. */
static struct unit *units_by_object(const struct unit_table *t, const char *object)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i]->object && strcmp(t->list[i]->object, object) == 0)
			return t->list[i];
	return NULL;
}

/* Frees all of them. */
static void units_done(struct unit_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		unit_free(t->list[i]);
	free(t->list);
}

/* --- the source ------------------------------------------------------------------------------- */

#define UNIT_OBJECTS SYSTEMD_OBJECT "/unit"
#define SERVICE	     SYSTEMD_NAME ".Service"

#define TIMEOUT_NS 5000000000ull

/* Under way at once: systemd does nothing else while it answers. */
#define ASKED_MAX 8

#define SUFFIX	 ".service"
#define PATH_LEN 4095

struct source_units {
	struct source_report report;
	uint64_t timeout_ns;

	struct unit_table table;
	uint64_t used;
	unsigned int waiting;

	struct busconn conn; /* has answered: version and root are known */
	sd_bus_slot *greeting[2];
	bool reloading;
	char *root;  /* its own cgroup */
	char *owner; /* its name on the bus */
	uint64_t failures;
};

/* --- reading a message ------------------------------------------------------------------------ */

static const struct busconn_property properties[] = {
	{"ControlGroup", "s", offsetof(struct unitfacts, cgroup), UNITFACTS_CGROUP},
	{"ExecMainStartTimestamp", "t", offsetof(struct unitfacts, started_us), UNITFACTS_STARTED},
	{"KillMode", "s", offsetof(struct unitfacts, kill_mode), UNITFACTS_KILL_MODE},
	{"KillSignal", "i", offsetof(struct unitfacts, kill_signal), UNITFACTS_KILL_SIGNAL},
	{"MainPID", "u", offsetof(struct unitfacts, main_pid), UNITFACTS_MAIN_PID},
	{"SendSIGKILL", "b", offsetof(struct unitfacts, send_sigkill), UNITFACTS_SEND_SIGKILL},
	{"TimeoutStopUSec", "t", offsetof(struct unitfacts, stop_timeout_us),
	 UNITFACTS_STOP_TIMEOUT},
};

static int read_facts(sd_bus_message *m, struct unitfacts *ret)
{
	struct unitfacts facts = {};
	int r = busconn_read_properties(m, properties, sizeof(properties) / sizeof(properties[0]),
					&facts, &facts.known);

	if (r >= 0)
		*ret = facts;
	return r;
}

/* --- the timer and the text ------------------------------------------------------------------- */

/* Sets the timer for what comes next. */
static void arm(struct source_units *u)
{
	const struct unit *oldest = TAILQ_FIRST(&u->table.asked);
	uint64_t at_ns = 0;

	if (!u->conn.bus)
		at_ns = u->conn.retry_ns;
	else if (!u->conn.answered)
		at_ns = u->conn.began_ns + u->timeout_ns;
	else if (oldest)
		at_ns = oldest->asked_ns + u->timeout_ns;
	busconn_wake(&u->conn, at_ns);
}

/* --- the end of look-ups ------------------------------------------------------------------------ */

static void end_finds(struct source_units *u, struct unit *unit, enum meta_result result)
{
	unsigned int n = unit->finds;

	unit->finds = 0;
	u->waiting -= n;
	unit->pinned++;
	while (n-- > 0)
		source_end_lookup(&u->report, unit->cgroup, result);
	unit->pinned--;
}

static bool same(const struct unit_report *a, const struct unit_report *b)
{
	return a->known == b->known && a->main_pid == b->main_pid &&
	       a->stop_signal == b->stop_signal && a->grace_ns == b->grace_ns;
}

static void report_container(struct source_units *u, struct unit *unit,
			     const struct meta_container *container)
{
	struct unit_report now = {container->known, container->main_pid, container->stop_signal,
				  container->grace_ns};

	if (!unit->finds && unit->reported && same(&unit->last, &now))
		return;
	unit->reported = true;
	unit->last = now;
	unit->pinned++;
	u->report.sink.container(u->report.sink.userdata, container);
	unit->pinned--;
}

/* unit may be gone afterwards. */
static void end(struct source_units *u, struct unit *unit, enum meta_result result)
{
	end_finds(u, unit, result);
	if (result != META_FOUND && !unit->in)
		units_forget(&u->table, unit);
}

/* The answer about a service: what facts say, or result where there are none. */
static void answer(struct source_units *u, struct unit *unit, enum meta_result result,
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
		report_container(u, unit, &container);
	if (unit->again && !unit->in)
		units_put(&u->table, unit, &u->table.stale);
	unit->again = false;
	end(u, unit, result);
}

/* Nothing is under way any more. */
static void recall_all(struct source_units *u)
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
static void fail_all(struct source_units *u)
{
	/* The list may change while the sink is called. */
	while (!u->conn.bus && !TAILQ_EMPTY(&u->table.wanted)) {
		struct unit *unit = TAILQ_FIRST(&u->table.wanted);

		units_put(&u->table, unit, NULL);
		end_finds(u, unit, META_FAILED);
	}
}

/* --- the end of the connection ------------------------------------------------------------------ */

/* Forgets what belongs to the connection; the caller closes it. */
static void forget_systemd(struct source_units *u)
{
	for (size_t i = 0; i < 2; i++)
		u->greeting[i] = sd_bus_slot_unref(u->greeting[i]);
	free(u->root);
	free(u->owner);
	u->root = u->owner = NULL;
	u->reloading = false;
}

/* systemd is away for a moment when it executes itself anew (daemon-reexec). */
static bool is_soon_back(const struct source_units *u)
{
	return u->conn.retry_ns && u->conn.failures == 1 && !u->conn.off;
}

/* Closes the connection, sets the text, and connects again later. */
static void lose_bus(struct source_units *u, const char *why)
{
	busconn_set_text(&u->conn, "", why);
	forget_systemd(u);
	busconn_lose(&u->conn, clock_boot_ns());
	u->failures++;
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

static void lose_bus_by(struct source_units *u, const sd_bus_error *error)
{
	lose_bus(u, error->message ? error->message : error->name);
}

static enum meta_result result_of(const sd_bus_error *error)
{
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT) ||
	    sd_bus_error_has_name(error, SYSTEMD_NAME ".NoSuchUnit"))
		return META_ABSENT;
	return META_FAILED;
}

/* The broker says who answered; only who answers may send signals. */
static void note_owner(struct source_units *u, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);

	if (!sender || (u->owner && strcmp(u->owner, sender) == 0))
		return;
	free(u->owner);
	u->owner = strdup(sender);
}

static struct unit *unit_of_call(const struct source_units *u)
{
	const sd_bus_slot *slot = sd_bus_get_current_slot(u->conn.bus);
	struct unit *unit;

	TAILQ_FOREACH(unit, &u->table.asked, link)
		if (unit->call == slot)
			return unit;
	return NULL;
}

static void pump(struct source_units *u);

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct source_units *u = userdata;
	struct unit *unit = unit_of_call(u);
	const sd_bus_error *error = sd_bus_message_get_error(m);
	struct unitfacts facts;

	if (error && is_lost(error)) {
		lose_bus_by(u, error);
		return 0;
	}
	if (!unit)
		return 0;
	note_owner(u, m);
	if (error)
		answer(u, unit, result_of(error), NULL);
	else if (read_facts(m, &facts) < 0)
		answer(u, unit, META_FAILED, NULL);
	else
		answer(u, unit, META_FAILED, &facts);
	if (u->conn.bus)
		pump(u);
	return 0;
}

/* Asks about a service; unit->object is set. -errno. */
static int query_about(struct source_units *u, struct unit *unit)
{
	const struct busconn_method get_all = {
		SYSTEMD_NAME, unit->object, BUS_PROPERTIES, "GetAll", {SERVICE}};

	return busconn_call(&u->conn, &get_all, &unit->call, on_answer, u);
}

/* unit may be gone afterwards. */
static int query(struct source_units *u, struct unit *unit)
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
	return query_about(u, unit);
}

/* Asks about as many services as may be asked about at once. */
static void pump(struct source_units *u)
{
	struct unit *unit;
	int r = 0;

	while (r >= 0 && u->conn.answered && u->table.n_asked < ASKED_MAX) {
		unit = TAILQ_FIRST(&u->table.wanted);
		if (!unit && !u->table.n_asked)
			unit = TAILQ_FIRST(&u->table.stale);
		if (!unit)
			break;
		r = query(u, unit);
	}
	if (r < 0)
		lose_bus(u, strerror(-r));
	else
		arm(u);
}

/* --- the first answers, and signals ------------------------------------------------------------- */

/* A string that a property holds; it belongs to the message. NULL when there was no such answer. */
static const char *read_greeting(struct source_units *u, sd_bus_message *m)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	const char *text;

	if (error)
		lose_bus_by(u, error);
	else if (sd_bus_message_read(m, "v", "s", &text) <= 0)
		lose_bus(u, "its answer makes no sense");
	else
		return text;
	return NULL;
}

static int on_version(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct source_units *u = userdata;
	const char *version = read_greeting(u, m);

	if (version)
		busconn_set_text(&u->conn, "systemd ", version);
	return 0;
}

/* Comes after the version. */
static int on_root(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct source_units *u = userdata;
	const char *root = read_greeting(u, m);

	if (!root)
		return 0;
	u->root = strdup(root);
	if (!u->root) {
		lose_bus(u, strerror(ENOMEM));
		return 0;
	}
	note_owner(u, m);
	u->conn.answered = true;
	u->failures = 0;
	units_refresh_all(&u->table);
	pump(u);
	return 0;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct source_units *u = userdata;
	const char *object = sd_bus_message_get_path(m), *interface;
	struct unit *unit = object ? units_by_object(&u->table, object) : NULL;
	struct unitfacts facts;

	if (!unit || !busconn_is_sent_by(&u->conn, m, u->owner) ||
	    sd_bus_message_read(m, "s", &interface) <= 0 || read_facts(m, &facts) < 0)
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
	struct source_units *u = userdata;
	const char *name, *object;
	struct unit *unit;

	if (u->reloading || !busconn_is_sent_by(&u->conn, m, u->owner) ||
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
	struct source_units *u = userdata;
	int begins;

	if (!busconn_is_sent_by(&u->conn, m, u->owner) || sd_bus_message_read(m, "b", &begins) <= 0)
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
	lose_bus(userdata, "it has closed the connection");
	return 0;
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	lose_bus(userdata, "systemd has left the bus or is new on it");
	return 0;
}

/* The first calls on a connection, and the signals that are listened for. -errno. */
static int greet(struct source_units *u)
{
	static const struct busconn_match matches[] = {
		{BUSCONN_DISCONNECTED, on_disconnected, false},
		{"type='signal',interface='" BUS_PROPERTIES "',member='PropertiesChanged',"
		 "path_namespace='" UNIT_OBJECTS "',arg0='" SERVICE "'",
		 on_properties, false},
		{"type='signal',path='" SYSTEMD_OBJECT "',interface='" SYSTEMD_MANAGER
		 "',member='UnitRemoved'",
		 on_removed, false},
		{"type='signal',path='" SYSTEMD_OBJECT "',interface='" SYSTEMD_MANAGER
		 "',member='Reloading'",
		 on_reloading, false},
		{"type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
		 "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
		 "arg0='" SYSTEMD_NAME "'",
		 on_owner, true},
	};
	static const struct busconn_method subscribe = {SYSTEMD_NAME,
							SYSTEMD_OBJECT,
							SYSTEMD_MANAGER,
							"Subscribe",
							{}},
					   version = {SYSTEMD_NAME,
						      SYSTEMD_OBJECT,
						      BUS_PROPERTIES,
						      "Get",
						      {SYSTEMD_MANAGER, "Version"}},
					   root = {SYSTEMD_NAME,
						   SYSTEMD_OBJECT,
						   BUS_PROPERTIES,
						   "Get",
						   {SYSTEMD_MANAGER, "ControlGroup"}};
	int r = busconn_match(&u->conn, matches, sizeof(matches) / sizeof(matches[0]), u);

	if (r >= 0)
		r = busconn_call(&u->conn, &subscribe, NULL, NULL, NULL);
	if (r >= 0)
		r = busconn_call(&u->conn, &version, &u->greeting[0], on_version, u);
	return r < 0 ? r : busconn_call(&u->conn, &root, &u->greeting[1], on_root, u);
}

/* --- the connection ----------------------------------------------------------------------------- */

static void connect_bus(struct source_units *u)
{
	int r = busconn_connect_systemd(&u->conn, clock_boot_ns());

	if (r >= 0)
		r = greet(u);
	if (r < 0)
		lose_bus(u, r == -ENOENT  ? "there is no systemd"
			    : r == -EPERM ? "its socket is not root's"
					  : strerror(-r));
	else
		arm(u);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_units *u = userdata;

	if (!u->conn.bus)
		connect_bus(u);
	else
		lose_bus(u, "it does not answer");
	return 0;
}

/* --- the source --------------------------------------------------------------------------------- */

static bool is_named_service(const char *cgroup)
{
	size_t len = strlen(cgroup), n = strlen(SUFFIX);

	return len > n && len <= PATH_LEN && strcmp(cgroup + len - n, SUFFIX) == 0;
}

void source_units_find(struct source_units *u, const char *cgroup)
{
	struct unit *unit;

	if (!is_named_service(cgroup)) {
		source_end_lookup(&u->report, cgroup, META_ABSENT);
		return;
	}
	unit = u->waiting < SOURCE_UNITS_WAITING_MAX ? units_get(&u->table, cgroup) : NULL;
	if (!unit) {
		source_end_lookup(&u->report, cgroup, META_SHED);
		return;
	}
	unit->used = ++u->used;
	unit->finds++;
	u->waiting++;
	if (!u->conn.bus && !is_soon_back(u)) {
		end_finds(u, unit, META_FAILED);
		return;
	}
	if (!unit->in || unit->in == &u->table.stale)
		units_put(&u->table, unit, &u->table.wanted);
	pump(u);
}

void source_units_get_state(const struct source_units *u, struct source_state *ret)
{
	*ret = (struct source_state){.failures = u->failures, .retry_ns = u->conn.retry_ns};
	if (u->conn.answered)
		ret->status = SOURCE_UP;
	else if (u->conn.off)
		ret->status = SOURCE_OFF;
	else
		ret->status = u->failures ? SOURCE_DOWN : SOURCE_STARTING;
	snprintf(ret->where, sizeof(ret->where), "%s", u->conn.path ?: "");
	memcpy(ret->text, u->conn.text, sizeof(ret->text));
	memcpy(ret->lookups, u->report.lookups, sizeof(ret->lookups));
}

int source_units_new(sd_event *event, const struct source_units_options *options,
		     const struct source_sink *sink, struct source_units **ret)
{
	struct source_units *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->report = (struct source_report){.sink = *sink, .source = META_SYSTEMD};
	u->timeout_ns = options && options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	units_init(&u->table);
	r = busconn_init(&u->conn, event, on_timer, u);
	if (r >= 0)
		r = busconn_set_address(&u->conn, options ? options->bus_address : NULL);
	if (r < 0) {
		source_units_free(u);
		return r;
	}
	connect_bus(u);
	*ret = u;
	return 0;
}

struct source_units *source_units_free(struct source_units *u)
{
	if (!u)
		return NULL;
	units_done(&u->table);
	forget_systemd(u);
	busconn_done(&u->conn);
	free(u);
	return NULL;
}
