// SPDX-License-Identifier: Apache-2.0
/* Claims about io/bus/units: which units of a played systemd are stopped and started again, and
 * when that is over. */
#include "io/bus/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/units/unitpeer.h"

#define MANAGER "org.freedesktop.systemd1.Manager"

struct site {
	struct unitpeer peer;
	sd_event *event;
	struct unitjobs *jobs;
	char dir[40];
	/* The peer's. */
	const char *states[6][2]; /* unit, active state */
	bool holds;		  /* no job ends */
	const char *result;	  /* of jobs; NULL: done */
	const char *error;	  /* answers calls with it */
	bool nonsense;		  /* no list is one */
	const char *sender;	  /* of JobRemoved; NULL: the right one */
	bool hangs_up;		  /* instead of the answer to StopUnit or StartUnit */
	char calls[512];	  /* StopUnit, StartUnit, in order */
	unsigned int n_jobs;
	/* The sink's. */
	unsigned int stopped, remembered, start_failed;
	char why[BUSCONN_TEXT_MAX];
	char before[512]; /* calls when the units were remembered */
};

static struct site site;

static void on_remembered(void *userdata)
{
	struct site *t = userdata;

	t->remembered++;
	strcpy(t->before, t->calls);
}

static void on_stopped(void *userdata, const char *error)
{
	struct site *t = userdata;

	t->stopped++;
	snprintf(t->why, sizeof(t->why), "%s", error ? error : "");
}

static void on_start_failed(void *userdata, const char *error)
{
	struct site *t = userdata;

	t->start_failed++;
	snprintf(t->why, sizeof(t->why), "%s", error);
}

static int send_reply(sd_bus_message *reply)
{
	sd_bus_message_set_sender(reply, UNITPEER_OWNER);
	return sd_bus_send(sd_bus_message_get_bus(reply), reply, NULL);
}

static int answer_list(struct site *t, sd_bus_message *m)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	char **names = NULL;

	assert_true(sd_bus_message_read_strv(m, &names) > 0);
	assert_true(sd_bus_message_new_method_return(m, &reply) >= 0);
	if (t->nonsense)
		sd_bus_message_append(reply, "s", "units");
	else
		sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
	for (char **name = names; *name; name++) {
		for (size_t i = 0; !t->nonsense && i < LEN(t->states); i++)
			if (t->states[i][0] && strcmp(t->states[i][0], *name) == 0)
				sd_bus_message_append(reply, "(ssssssouso)", *name, "What it is",
						      "loaded", t->states[i][1], "sub", "",
						      "/org/freedesktop/systemd1/unit/x", 0, "",
						      "/");
		free(*name);
	}
	free(names);
	if (!t->nonsense)
		sd_bus_message_close_container(reply);
	return send_reply(reply);
}

static void end_job(struct site *t, unsigned int number)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/org/freedesktop/systemd1/job/%u", number);
	assert_true(sd_bus_message_new_signal(t->peer.own.bus, &m, "/org/freedesktop/systemd1",
					      MANAGER, "JobRemoved") >= 0);
	sd_bus_message_append(m, "uoss", number, path, "a.unit", t->result ? t->result : "done");
	sd_bus_message_set_sender(m, t->sender ? t->sender : UNITPEER_OWNER);
	assert_true(sd_bus_send(t->peer.own.bus, m, NULL) >= 0);
}

static int answer_job(struct site *t, sd_bus_message *m, const char *what)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	const char *name, *mode;
	char path[64];

	assert_true(sd_bus_message_read(m, "ss", &name, &mode) > 0);
	assert_string_equal(mode, "replace");
	snprintf(t->calls + strlen(t->calls), sizeof(t->calls) - strlen(t->calls), "%s %s;", what,
		 name);
	snprintf(path, sizeof(path), "/org/freedesktop/systemd1/job/%u", ++t->n_jobs);
	assert_true(sd_bus_message_new_method_return(m, &reply) >= 0);
	sd_bus_message_append(reply, "o", path);
	send_reply(reply);
	if (!t->holds)
		end_job(t, t->n_jobs);
	return 1;
}

static int on_call(struct unitpeer *peer, sd_bus_message *m)
{
	struct site *t = &site;
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	bool stops = sd_bus_message_is_method_call(m, MANAGER, "StopUnit");
	bool lists = sd_bus_message_is_method_call(m, MANAGER, "ListUnitsByNames");

	if (!stops && !lists && !sd_bus_message_is_method_call(m, MANAGER, "StartUnit"))
		return 0;
	if (!lists && t->hangs_up) {
		shutdown(sd_bus_get_fd(peer->own.bus), SHUT_RDWR);
		return 1;
	}
	if (t->error) {
		sd_bus_message_new_method_errorf(m, &reply, t->error, "no\n\033[1m");
		return send_reply(reply) < 0 ? -EIO : 1;
	}
	if (lists)
		return answer_list(t, m) < 0 ? -EIO : 1;
	return answer_job(t, m, stops ? "stop" : "start");
}

static int set_up(void **state)
{
	site = (struct site){.dir = "/tmp/graced-jobs-XXXXXX"};
	site.peer.on_call = on_call;
	*state = &site;
	return mkdtemp(site.dir) && sd_event_new(&site.event) >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	unitjobs_free(site.jobs);
	unitpeer_done(&site.peer);
	sd_event_unref(site.event);
	return rmdir(site.dir);
}

/* socket: "private" is systemd's own. */
static void open_jobs(struct site *t, const char *socket, uint64_t limit_ns, bool listens)
{
	char path[64];
	const struct unitjobs_options options = {.bus_address = path, .limit_ns = limit_ns};
	const struct unitjobs_sink sink = {t, on_remembered, on_stopped, on_start_failed};

	snprintf(path, sizeof(path), "%s/%s", t->dir, socket);
	if (listens)
		assert_int_equal(unitpeer_listen(&t->peer, t->event, t->dir, socket), 0);
	assert_int_equal(unitjobs_new(t->event, &options, &sink, &t->jobs), 0);
}

static void turn(struct site *t)
{
	assert_true(sd_event_run(t->event, 20000) >= 0);
}

static void until(struct site *t, const unsigned int *count, unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (*count < n) {
		assert_true(clock_boot_ns() < end_ns);
		turn(t);
	}
	assert_int_equal(*count, n);
}

static void until_called(struct site *t, const char *calls)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (strcmp(t->calls, calls) != 0) {
		assert_true(clock_boot_ns() < end_ns);
		turn(t);
	}
}

static const char *const all[] = {"a.service", "b.service", "c.timer",
				  "d.service", "e.service", NULL};

static void play(struct site *t)
{
	static const char *const states[][2] = {{"a.service", "active"},
						{"b.service", "inactive"},
						{"c.timer", "activating"},
						{"d.service", "deactivating"}};

	memcpy(t->states, states, sizeof(states));
}

static void stops_and_starts(struct site *t, const char *socket)
{
	const char *names[UNITJOBS_MAX];

	play(t);
	open_jobs(t, socket, 0, true);
	unitjobs_stop(t->jobs, all);
	until(t, &t->stopped, 1);
	assert_string_equal(t->why, "");
	assert_string_equal(t->calls, "stop a.service;stop c.timer;stop d.service;");
	assert_int_equal(t->remembered, 1);
	assert_string_equal(t->before, "");
	assert_int_equal(unitjobs_remembered(t->jobs, names), 2);
	assert_string_equal(names[0], "a.service");
	assert_string_equal(names[1], "c.timer");
	t->calls[0] = 0;
	unitjobs_start(t->jobs);
	until_called(t, "start a.service;start c.timer;");
	until(t, &t->remembered, 3);
	assert_int_equal(unitjobs_remembered(t->jobs, names), 0);
	/* Once. */
	unitjobs_start(t->jobs);
	for (int i = 0; i < 5; i++)
		turn(t);
	assert_string_equal(t->calls, "start a.service;start c.timer;");
	assert_int_equal(t->stopped, 1);
	assert_int_equal(t->start_failed, 0);
}

/* systemd may not have got the request. */
static void test_start_not_answered(void **state)
{
	struct site *t = *state;
	const char *names[UNITJOBS_MAX];

	play(t);
	open_jobs(t, "private", 0, true);
	unitjobs_stop(t->jobs, all);
	until(t, &t->stopped, 1);
	t->hangs_up = true;
	unitjobs_start(t->jobs);
	until(t, &t->start_failed, 1);
	assert_int_equal(unitjobs_remembered(t->jobs, names), 2);
	t->hangs_up = false;
	t->calls[0] = 0;
	unitjobs_start(t->jobs);
	until_called(t, "start a.service;start c.timer;");
	until(t, &t->remembered, 3);
	assert_int_equal(unitjobs_remembered(t->jobs, names), 0);
}

static void test_private(void **state)
{
	stops_and_starts(*state, "private");
}

static void test_bus(void **state)
{
	stops_and_starts(*state, "bus");
}

static void test_last_job(void **state)
{
	struct site *t = *state;

	play(t);
	t->holds = true;
	open_jobs(t, "private", 0, true);
	unitjobs_stop(t->jobs, all);
	until_called(t, "stop a.service;stop c.timer;stop d.service;");
	end_job(t, 3);
	end_job(t, 1);
	/* Another program's. */
	end_job(t, 77);
	for (int i = 0; i < 5; i++)
		turn(t);
	assert_int_equal(t->stopped, 0);
	end_job(t, 2);
	until(t, &t->stopped, 1);
	assert_string_equal(t->why, "");
}

static void test_forged(void **state)
{
	struct site *t = *state;

	play(t);
	t->holds = true;
	open_jobs(t, "bus", 0, true);
	unitjobs_stop(t->jobs, all);
	until_called(t, "stop a.service;stop c.timer;stop d.service;");
	t->sender = ":1.99";
	for (unsigned int i = 1; i <= 3; i++)
		end_job(t, i);
	for (int i = 0; i < 5; i++)
		turn(t);
	assert_int_equal(t->stopped, 0);
	t->sender = NULL;
	for (unsigned int i = 1; i <= 3; i++)
		end_job(t, i);
	until(t, &t->stopped, 1);
}

static void expect_error(struct site *t, const char *why)
{
	unitjobs_stop(t->jobs, all);
	until(t, &t->stopped, 1);
	assert_non_null(strstr(t->why, why));
	t->stopped = 0;
}

static void test_failures(void **state)
{
	struct site *t = *state;

	play(t);
	open_jobs(t, "private", 300000000, true);
	t->result = "timeout";
	expect_error(t, "a.service: its stop ended as timeout");
	t->result = NULL;
	t->error = "org.freedesktop.systemd1.Nonsense";
	expect_error(t, "systemd: no??[1m");
	t->error = NULL;
	t->nonsense = true;
	expect_error(t, "makes no sense");
	t->nonsense = false;
	t->hangs_up = true;
	expect_error(t, "a.service: Connection terminated");
	t->hangs_up = false;
	t->holds = true;
	expect_error(t, "a.service: it was not stopped in time");
	t->holds = false;
	t->peer.mute = true;
	expect_error(t, "systemd: it does not answer");
	t->peer.mute = false;
	/* And it goes on. */
	unitjobs_stop(t->jobs, all);
	until(t, &t->stopped, 1);
	assert_string_equal(t->why, "");
}

static void test_no_systemd(void **state)
{
	struct site *t = *state;

	open_jobs(t, "private", 0, false);
	unitjobs_stop(t->jobs, all);
	until(t, &t->stopped, 1);
	assert_string_equal(t->why, "systemd: it is not there");
	assert_int_equal(t->remembered, 0);
	unitjobs_remember(t->jobs, "a.service");
	unitjobs_start(t->jobs);
	until(t, &t->start_failed, 1);
	/* It is tried again with the next one. */
	assert_int_equal(unitpeer_listen(&t->peer, t->event, t->dir, "private"), 0);
	unitjobs_start(t->jobs);
	until_called(t, "start a.service;");
	for (int i = 0; i < 5; i++)
		turn(t);
	assert_int_equal(t->start_failed, 1);
}

static void test_cancelled(void **state)
{
	struct site *t = *state;

	play(t);
	t->holds = true;
	open_jobs(t, "private", 0, true);
	unitjobs_stop(t->jobs, all);
	until_called(t, "stop a.service;stop c.timer;stop d.service;");
	t->calls[0] = 0;
	unitjobs_start(t->jobs);
	until_called(t, "start a.service;start c.timer;");
	for (int i = 0; i < 5; i++)
		turn(t);
	assert_int_equal(t->stopped, 1);
	assert_non_null(strstr(t->why, "given up"));
	/* Before anything is known of the units; a further stop gives up the one before, too. */
	unitjobs_stop(t->jobs, all);
	unitjobs_start(t->jobs);
	assert_int_equal(t->stopped, 2);
	unitjobs_stop(t->jobs, all);
	unitjobs_stop(t->jobs, all);
	assert_int_equal(t->stopped, 3);
	t->holds = false;
	until(t, &t->stopped, 4);
	assert_string_equal(t->why, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"units that run are stopped, and what was running is started again", test_private,
		 set_up, tear_down, NULL},
		{"a unit is remembered until systemd has answered its start",
		 test_start_not_answered, set_up, tear_down, NULL},
		{"the same over a bus", test_bus, set_up, tear_down, NULL},
		{"the stop is over with its last job", test_last_job, set_up, tear_down, NULL},
		{"another peer on the bus does not end a job", test_forged, set_up, tear_down,
		 NULL},
		{"whatever fails, the stop is answered once", test_failures, set_up, tear_down,
		 NULL},
		{"without systemd the stop is answered, and the start tried again", test_no_systemd,
		 set_up, tear_down, NULL},
		{"a stop under way is given up for what comes next, and answered", test_cancelled,
		 set_up, tear_down, NULL},
	};

	return cmocka_run_group_tests_name("io/bus/units", tests, NULL, NULL);
}
