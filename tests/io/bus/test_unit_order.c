// SPDX-License-Identifier: Apache-2.0
/* Claims about io/bus/units: what is read of a played systemd, and that it answers once. */
#include "io/bus/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/units/unitpeer.h"

#define MANAGER "org.freedesktop.systemd1.Manager"

enum lie { NO_LIE, ERRORS, NO_OBJECT, NO_PROPERTIES, NO_LIST, ONE_UNIT_LESS, HANGS_UP, MUTE };

struct site {
	struct unitpeer peer;
	sd_event *event;
	struct unitorder *order;
	char dir[40];
	enum lie lie;
	const char *own;	   /* active state of the own unit */
	const char *const *before; /* it is before these */
	const char *states[3][2];  /* active state and type of a job of each; "": no job */
	unsigned int answered;
	bool known;
	struct proof_order got;
};

static struct site site;
static const char *const names[] = {"kubelet.service", "k3s.service", "other.service", NULL};

static void on_answer(void *userdata, const struct proof_order *order, const char *error)
{
	struct site *t = userdata;

	assert_true((order != NULL) != (error != NULL));
	t->answered++;
	t->known = order != NULL;
	if (order)
		t->got = *order;
}

static int reply_own(struct site *t, sd_bus_message *m, sd_bus_message *reply)
{
	uint32_t pid;

	assert_true(sd_bus_message_read(m, "u", &pid) > 0);
	assert_int_equal(pid, getpid());
	return t->lie == NO_OBJECT ? sd_bus_message_append(reply, "s", "graced")
				   : sd_bus_message_append(reply, "o", "/own");
}

static int reply_properties(struct site *t, sd_bus_message *reply)
{
	char **before = (char **)t->before;

	if (t->lie == NO_PROPERTIES)
		return sd_bus_message_append(reply, "a{sv}", 1, "Before", "s", "kubelet.service");
	sd_bus_message_open_container(reply, 'a', "{sv}");
	sd_bus_message_append(reply, "{sv}", "Id", "s", "graced.service");
	sd_bus_message_append(reply, "{sv}", "ActiveState", "s", t->own);
	sd_bus_message_open_container(reply, 'e', "sv");
	sd_bus_message_append(reply, "s", "Before");
	sd_bus_message_open_container(reply, 'v', "as");
	sd_bus_message_append_strv(reply, before);
	sd_bus_message_close_container(reply);
	sd_bus_message_close_container(reply);
	return sd_bus_message_close_container(reply);
}

static int reply_list(struct site *t, sd_bus_message *reply)
{
	size_t n = t->lie == ONE_UNIT_LESS ? 2 : 3;

	if (t->lie == NO_LIST)
		return sd_bus_message_append(reply, "s", "units");
	sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
	for (size_t i = 0; i < n; i++)
		sd_bus_message_append(reply, "(ssssssouso)", names[i], "What it is", "loaded",
				      t->states[i][0], "sub", "", "/unit",
				      t->states[i][1][0] ? 7 : 0, t->states[i][1], "/");
	sd_bus_message_append(reply, "(ssssssouso)", "unasked.service", "", "loaded", "active", "",
			      "", "/unit", 0, "", "/");
	return sd_bus_message_close_container(reply);
}

static int on_call(struct unitpeer *peer, sd_bus_message *m)
{
	struct site *t = &site;
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	bool own = sd_bus_message_is_method_call(m, MANAGER, "GetUnitByPID");
	bool lists = sd_bus_message_is_method_call(m, MANAGER, "ListUnitsByNames");

	if (!own && !lists &&
	    !sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "GetAll"))
		return 0;
	if (t->lie == MUTE)
		return 1;
	if (t->lie == HANGS_UP) {
		shutdown(sd_bus_get_fd(peer->own.bus), SHUT_RDWR);
		return 1;
	}
	if (t->lie == ERRORS)
		sd_bus_message_new_method_errorf(m, &reply, "a.b.C", "no\n\033[1m");
	else
		assert_true(sd_bus_message_new_method_return(m, &reply) >= 0);
	if (t->lie != ERRORS && own)
		reply_own(t, m, reply);
	else if (t->lie != ERRORS)
		lists ? reply_list(t, reply) : reply_properties(t, reply);
	return sd_bus_send(sd_bus_message_get_bus(reply), reply, NULL) < 0 ? -EIO : 1;
}

static int set_up(void **state)
{
	static const char *const before[] = {"shutdown.target", "kubelet.service", "k3s.service",
					     NULL};

	site = (struct site){
		.dir = "/tmp/graced-order-XXXXXX",
		.own = "activating",
		.before = before,
		.states = {{"inactive", "start"}, {"failed", ""}, {"active", "stop"}},
	};
	site.peer.on_call = on_call;
	*state = &site;
	return mkdtemp(site.dir) && sd_event_new(&site.event) >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	unitorder_free(site.order);
	unitpeer_done(&site.peer);
	sd_event_unref(site.event);
	return rmdir(site.dir);
}

/* socket: "private" is systemd's own. */
static void ask(struct site *t, const char *socket)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", t->dir, socket);
	assert_int_equal(unitpeer_listen(&t->peer, t->event, t->dir, socket), 0);
	assert_int_equal(unitorder_query(t->event, path, names, on_answer, t, &t->order), 0);
	while (!t->answered) {
		assert_true(clock_boot_ns() < end_ns);
		assert_true(sd_event_run(t->event, 20000) >= 0);
	}
	/* Nothing comes after it. */
	for (int i = 0; i < 5; i++)
		assert_true(sd_event_run(t->event, 2000) >= 0);
	assert_int_equal(t->answered, 1);
}

static void test_answer(void **state)
{
	struct site *t = *state;

	ask(t, "private");
	assert_true(t->known && t->got.starting);
	assert_int_equal(t->got.n, 3);
	assert_true(t->got.units[0].after && t->got.units[0].idle && t->got.units[0].queued);
	assert_true(t->got.units[1].after && !t->got.units[1].idle && !t->got.units[1].queued);
	assert_true(!t->got.units[2].after && !t->got.units[2].idle && !t->got.units[2].queued);
}

static void test_up(void **state)
{
	struct site *t = *state;

	t->own = "active";
	ask(t, "bus");
	assert_true(t->known && !t->got.starting);
}

static void test_lies(void **state)
{
	static const enum lie lies[] = {ERRORS,	 NO_OBJECT,	NO_PROPERTIES,
					NO_LIST, ONE_UNIT_LESS, HANGS_UP};
	struct site *t = *state;

	for (size_t i = 0; i < LEN(lies); i++) {
		t->lie = lies[i];
		t->answered = 0;
		ask(t, "private");
		if (t->known)
			fail_msg("lie %d is believed", lies[i]);
		t->order = unitorder_free(t->order);
		unitpeer_done(&t->peer);
	}
}

static void test_silent(void **state)
{
	struct site *t = *state;

	t->lie = MUTE;
	ask(t, "private");
	assert_false(t->known);
}

static void test_absent(void **state)
{
	struct site *t = *state;

	assert_int_equal(unitorder_query(t->event, "/nonexistent/private", names, on_answer, t,
					 &t->order),
			 -ENOENT);
	assert_int_equal(unitorder_query(t->event, "tcp:host=a", names, on_answer, t, &t->order),
			 -EINVAL);
	assert_null(t->order);
	assert_int_equal(t->answered, 0);
}

#define SITE(sentence, function)                            \
	{                                                   \
		sentence, function, set_up, tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE("it is read which units are after the own one, idle and to be started",
		     test_answer),
		SITE("an own unit that is up is no longer starting", test_up),
		SITE("errors, nonsense, a unit left out and a closed connection are no answer",
		     test_lies),
		SITE("a silent systemd is given up", test_silent),
		SITE("where there is no systemd nothing is asked", test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
