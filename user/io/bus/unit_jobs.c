// SPDX-License-Identifier: Apache-2.0
/* One task at a time: a list of the units, a job for each that runs, and the end of each job. */
#include "io/bus/unit_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bus/connection.h"
#include "io/proc/clock.h"

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
static void take_unit(struct unitjobs *j, const char *name, const char *state)
{
	if (strcmp(state, "inactive") == 0 || strcmp(state, "failed") == 0 ||
	    j->n_running == UNITJOBS_MAX || strlen(name) >= UNITJOBS_NAME_MAX)
		return;
	strcpy(j->running[j->n_running++], name);
	if (strcmp(state, "deactivating") != 0)
		unitjobs_remember(j, name);
}

static int read_units(struct unitjobs *j, sd_bus_message *m)
{
	const char *name, *state, *text;
	uint32_t id;
	int r = sd_bus_message_enter_container(m, 'a', "(ssssssouso)");

	j->n_running = 0;
	while (r > 0) {
		r = sd_bus_message_read(m, "(ssssssouso)", &name, &text, &text, &state, &text,
					&text, &text, &id, &text, &text);
		if (r > 0)
			take_unit(j, name, state);
	}
	return r;
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
	else if (read_units(j, m) < 0)
		note_error(j, "systemd", "the answer makes no sense");
	else
		stop_running(j);
	end_if_done(j);
	return 0;
}

static int request_units(struct unitjobs *j)
{
	static const struct busconn_method list = {
		SYSTEMD_NAME, SYSTEMD_OBJECT, SYSTEMD_MANAGER, "ListUnitsByNames", {}};
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char *names[UNITJOBS_MAX + 1] = {};
	int r = busconn_new_call(&j->conn, &list, &m);

	for (size_t i = 0; i < j->n_names; i++)
		names[i] = j->names[i];
	if (r >= 0)
		r = sd_bus_message_append_strv(m, names);
	return r < 0 ? r : busconn_send(&j->conn, m, &j->call, on_units, j);
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
