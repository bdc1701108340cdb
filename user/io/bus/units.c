// SPDX-License-Identifier: Apache-2.0
/* One task at a time: a list of the units, a job for each that runs, and the end of each job. */
#include "io/bus/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/bus/connection.h"
#include "io/proc/clock.h"

/* --- the list of some units --------------------------------------------------------------------- */

struct listed {
	const char *name, *state, *job_type;
	uint32_t job;
};

static int each_unit(sd_bus_message *m, void (*fn)(void *userdata, const struct listed *unit),
		     void *userdata)
{
	struct listed unit;
	const char *text;
	int r = sd_bus_message_enter_container(m, 'a', "(ssssssouso)");

	while (r > 0) {
		r = sd_bus_message_read(m, "(ssssssouso)", &unit.name, &text, &text, &unit.state,
					&text, &text, &text, &unit.job, &unit.job_type, &text);
		if (r > 0)
			fn(userdata, &unit);
	}
	return r;
}

/* At most UNITJOBS_MAX. */
static int query_units(struct busconn *conn, const char *const *names, size_t n,
		       sd_bus_slot **ret_call, sd_bus_message_handler_t handler, void *userdata)
{
	static const struct busconn_method list = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, "ListUnitsByNames", {}};
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char *all[UNITJOBS_MAX + 1] = {};
	int r = busconn_new_call(conn, &list, &m);

	for (size_t i = 0; i < n; i++)
		all[i] = (char *)names[i];
	if (r >= 0)
		r = sd_bus_message_append_strv(m, all);
	return r < 0 ? r : busconn_send(conn, m, ret_call, handler, userdata);
}

/* --- jobs of units ------------------------------------------------------------------------------ */

enum task { TASK_NONE, TASK_STOP, TASK_START };

/* A unit of the task under way. */
struct job {
	struct unitjobs *jobs;
	char name[UNITJOBS_NAME_MAX];
	sd_bus_slot *call; /* its job is being requested; NULL: answered */
	char *object;	   /* of the job; NULL: unknown, or over */
};

struct unitjobs {
	struct unitjobs_sink sink;
	struct busconn conn;
	uint64_t limit_ns;

	enum task task;
	uint64_t until_ns;
	char *owner;	   /* systemd's name on the bus; NULL: unknown, or no bus */
	sd_bus_slot *call; /* the list of units */
	struct job list[UNITJOBS_MAX];
	size_t n;
	char error[BUSCONN_TEXT_MAX]; /* the first thing that went wrong; "" */

	char names[UNITJOBS_MAX][UNITJOBS_NAME_MAX]; /* to be stopped */
	size_t n_names;
	char running[UNITJOBS_MAX][UNITJOBS_NAME_MAX]; /* of them */
	size_t n_running;
	char remembered[UNITJOBS_MAX][UNITJOBS_NAME_MAX];
	size_t n_remembered;
};

/* --- what is remembered ------------------------------------------------------------------------- */

void unitjobs_remember(struct unitjobs *j, const char *name)
{
	for (size_t i = 0; i < j->n_remembered; i++)
		if (strcmp(j->remembered[i], name) == 0)
			return;
	if (j->n_remembered < UNITJOBS_MAX && *name && strlen(name) < UNITJOBS_NAME_MAX)
		strcpy(j->remembered[j->n_remembered++], name);
}

static void forget(struct unitjobs *j, const char *name)
{
	for (size_t i = 0; i < j->n_remembered; i++) {
		if (strcmp(j->remembered[i], name) != 0)
			continue;
		j->n_remembered--;
		memmove(j->remembered[i], j->remembered[i + 1],
			(j->n_remembered - i) * sizeof(j->remembered[0]));
		j->sink.remembered(j->sink.userdata);
		return;
	}
}

size_t unitjobs_remembered(const struct unitjobs *j, const char *ret[static UNITJOBS_MAX])
{
	for (size_t i = 0; i < j->n_remembered; i++)
		ret[i] = j->remembered[i];
	return j->n_remembered;
}

/* --- the end of a task -------------------------------------------------------------------------- */

static void note_error(struct unitjobs *j, const char *what, const char *text)
{
	char prefix[UNITJOBS_NAME_MAX + 2];

	if (j->error[0])
		return;
	snprintf(prefix, sizeof(prefix), "%s: ", what);
	busconn_set_text(&j->conn, prefix, text);
	memcpy(j->error, j->conn.text, sizeof(j->error));
}

/* Without a callback. */
static void drop_task(struct unitjobs *j)
{
	for (size_t i = 0; i < j->n; i++) {
		sd_bus_slot_unref(j->list[i].call);
		free(j->list[i].object);
	}
	j->n = 0;
	j->call = sd_bus_slot_unref(j->call);
	free(j->owner);
	j->owner = NULL;
	j->task = TASK_NONE;
	j->conn.bus = sd_bus_close_unref(j->conn.bus);
	busconn_wake(&j->conn, 0);
}

static void end_task(struct unitjobs *j)
{
	enum task task = j->task;
	const char *error = j->error[0] ? j->error : NULL;

	drop_task(j);
	if (task == TASK_STOP)
		j->sink.stopped(j->sink.userdata, error);
	else if (task == TASK_START && error)
		j->sink.start_failed(j->sink.userdata, error);
}

static void end_if_done(struct unitjobs *j)
{
	if (j->task == TASK_NONE || j->call)
		return;
	for (size_t i = 0; i < j->n; i++)
		if (j->list[i].call || j->list[i].object)
			return;
	end_task(j);
}

static void fail_task(struct unitjobs *j, const char *what, const char *text)
{
	if (j->task == TASK_NONE)
		return;
	note_error(j, what, text);
	end_task(j);
}

/* For the next one. Each stop is answered. */
static void give_up(struct unitjobs *j)
{
	if (j->task == TASK_STOP)
		fail_task(j, "systemd", "the stop is given up for what was requested since");
	else
		drop_task(j);
}

/* --- jobs --------------------------------------------------------------------------------------- */

/* The broker says who answered; only who answers may send signals. */
static void note_owner(struct unitjobs *j, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);

	if (sender && !j->owner)
		j->owner = strdup(sender);
}

static int on_job(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct job *job = userdata;
	struct unitjobs *j = job->jobs;
	const sd_bus_error *error = sd_bus_message_get_error(m);
	const char *object;

	job->call = sd_bus_slot_unref(job->call);
	note_owner(j, m);
	if (error)
		note_error(j, job->name, error->message ? error->message : error->name);
	else if (sd_bus_message_read(m, "o", &object) <= 0)
		note_error(j, job->name, "the answer makes no sense");
	/* A start is only requested: a unit may take long to be up. */
	else if (j->task == TASK_STOP)
		job->object = strdup(object);
	if (j->task == TASK_START && !error)
		forget(j, job->name);
	end_if_done(j);
	return 0;
}

static void request_job(struct unitjobs *j, const char *member, const char *name)
{
	const struct busconn_method method = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, member, {name, "replace"}};
	struct job *job = &j->list[j->n];
	int r;

	*job = (struct job){.jobs = j};
	strcpy(job->name, name);
	r = busconn_call(&j->conn, &method, &job->call, on_job, job);
	if (r < 0)
		note_error(j, name, strerror(-r));
	else
		j->n++;
}

static void end_job(struct unitjobs *j, struct job *job, const char *result)
{
	char text[64];

	free(job->object);
	job->object = NULL;
	snprintf(text, sizeof(text), "its stop ended as %.40s", result);
	if (strcmp(result, "done") != 0)
		note_error(j, job->name, text);
}

static int on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitjobs *j = userdata;
	const char *object, *unit, *result;
	uint32_t id;

	if (!busconn_is_sent_by(&j->conn, m, j->owner) ||
	    sd_bus_message_read(m, "uoss", &id, &object, &unit, &result) <= 0)
		return 0;
	for (size_t i = 0; i < j->n; i++)
		if (j->list[i].object && strcmp(j->list[i].object, object) == 0)
			end_job(j, &j->list[i], result);
	end_if_done(j);
	return 0;
}

/* --- the units that run ------------------------------------------------------------------------- */

/* Only what runs, or is about to, is started again later; what is ending is waited for. */
static void take_unit(void *userdata, const struct listed *unit)
{
	struct unitjobs *j = userdata;
	const char *name = unit->name, *state = unit->state;

	if (strcmp(state, "inactive") == 0 || strcmp(state, "failed") == 0 ||
	    j->n_running == UNITJOBS_MAX || strlen(name) >= UNITJOBS_NAME_MAX)
		return;
	strcpy(j->running[j->n_running++], name);
	if (strcmp(state, "deactivating") != 0)
		unitjobs_remember(j, name);
}

static void stop_running(struct unitjobs *j)
{
	j->sink.remembered(j->sink.userdata);
	for (size_t i = 0; i < j->n_running; i++)
		request_job(j, "StopUnit", j->running[i]);
}

static int on_units(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitjobs *j = userdata;
	const sd_bus_error *error = sd_bus_message_get_error(m);

	j->call = sd_bus_slot_unref(j->call);
	note_owner(j, m);
	if (error)
		note_error(j, "systemd", error->message ? error->message : error->name);
	else if (each_unit(m, take_unit, j) < 0)
		note_error(j, "systemd", "the answer makes no sense");
	else
		stop_running(j);
	end_if_done(j);
	return 0;
}

static int request_units(struct unitjobs *j)
{
	const char *names[UNITJOBS_MAX];

	for (size_t i = 0; i < j->n_names; i++)
		names[i] = j->names[i];
	j->n_running = 0;
	return query_units(&j->conn, names, j->n_names, &j->call, on_units, j);
}

/* --- the connection ----------------------------------------------------------------------------- */

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	fail_task(userdata, "systemd", "it has closed the connection");
	return 0;
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct unitjobs *j = userdata;

	for (size_t i = 0; i < j->n; i++)
		if (j->list[i].call || j->list[i].object)
			note_error(j, j->list[i].name,
				   j->task == TASK_STOP ? "it was not stopped in time"
							: "systemd does not answer");
	fail_task(j, "systemd", "it does not answer");
	return 0;
}

/* Jobs are followed by signals, which a bus passes on to those that have asked for them. */
static int greet(struct unitjobs *j)
{
	static const struct busconn_match matches[] = {
		{BUSCONN_DISCONNECTED, on_disconnected, false},
		{"type='signal',path='" SYSTEMD_OBJECT "',interface='" SYSTEMD_MANAGER
		 "',member='JobRemoved'",
		 on_removed, false},
	};
	static const struct busconn_method subscribe = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, "Subscribe", {}};
	int r = busconn_match(&j->conn, matches, sizeof(matches) / sizeof(matches[0]), j);

	return r < 0 ? r : busconn_call(&j->conn, &subscribe, NULL, NULL, NULL);
}

/* False: it has failed already. */
static bool begin_task(struct unitjobs *j, enum task task)
{
	int r;

	give_up(j);
	j->task = task;
	j->error[0] = 0;
	busconn_wake(&j->conn, clock_boot_ns() + j->limit_ns);
	r = busconn_connect_systemd(&j->conn, clock_boot_ns());
	if (r >= 0)
		r = greet(j);
	if (r >= 0)
		return true;
	fail_task(j, "systemd",
		  r == -ENOENT	? "it is not there"
		  : r == -EPERM ? "its socket is not root's"
				: strerror(-r));
	return false;
}

/* --- tasks -------------------------------------------------------------------------------------- */

void unitjobs_stop(struct unitjobs *j, const char *const *names)
{
	int r;

	j->n_names = 0;
	for (; *names && j->n_names < UNITJOBS_MAX; names++)
		if (strlen(*names) < UNITJOBS_NAME_MAX)
			strcpy(j->names[j->n_names++], *names);
	if (!begin_task(j, TASK_STOP))
		return;
	r = request_units(j);
	if (r < 0)
		fail_task(j, "systemd", strerror(-r));
}

void unitjobs_start(struct unitjobs *j)
{
	/* A stop under way that nothing is known of yet is given up. */
	if (!j->n_remembered) {
		give_up(j);
		return;
	}
	if (!begin_task(j, TASK_START))
		return;
	for (size_t i = 0; i < j->n_remembered; i++)
		request_job(j, "StartUnit", j->remembered[i]);
	end_if_done(j);
}

int unitjobs_new(sd_event *event, const struct unitjobs_options *options,
		 const struct unitjobs_sink *sink, struct unitjobs **ret)
{
	struct unitjobs *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	j->sink = *sink;
	j->limit_ns = options && options->limit_ns ? options->limit_ns : UNITJOBS_LIMIT_NS;
	r = busconn_init(&j->conn, event, on_limit, j);
	if (r >= 0)
		r = busconn_set_address(&j->conn, options ? options->bus_address : NULL);
	if (r < 0) {
		unitjobs_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

struct unitjobs *unitjobs_free(struct unitjobs *j)
{
	if (!j)
		return NULL;
	drop_task(j);
	busconn_done(&j->conn);
	free(j);
	return NULL;
}

/* --- the order of a start --------------------------------------------------------------------- */

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

static void end_order(struct unitorder *u, const char *error)
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
	end_order(u, u->conn.text);
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

static void take_order(void *userdata, const struct listed *unit)
{
	struct unitorder *u = userdata;
	size_t i = place_of(u, unit->name);

	if (i == u->n_names)
		return;
	u->seen[i] = true;
	u->order.units[i].idle = strcmp(unit->state, "inactive") == 0;
	u->order.units[i].queued = unit->job && strcmp(unit->job_type, "start") == 0;
}

static int read_order(struct unitorder *u, sd_bus_message *m)
{
	int r = each_unit(m, take_order, u);

	for (size_t i = 0; r >= 0 && i < u->n_names; i++)
		if (!u->seen[i])
			return -EBADMSG;
	return r;
}

static int on_order(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	struct unitorder *u = userdata;

	if (is_answer(u, m))
		end_order(u, read_order(u, m) < 0 ? "the list of units makes no sense" : NULL);
	return 0;
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
	if (read_properties(u, m) < 0 ||
	    query_units(&u->conn, u->names, u->n_names, &u->call, on_order, u) < 0)
		end_order(u, "the properties of the own unit make no sense");
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
		end_order(u, "the answer about the own unit makes no sense");
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

static int on_order_lost(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
	end_order(userdata, "systemd has closed the connection");
	return 0;
}

static int on_order_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	end_order(userdata, "systemd does not answer");
	return 0;
}

static int begin_order(struct unitorder *u, sd_event *event, const char *address)
{
	static const struct busconn_match match = {BUSCONN_DISCONNECTED, on_order_lost, false};
	int r = busconn_init(&u->conn, event, on_order_limit, u);

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
	r = begin_order(u, event, bus_address);
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
