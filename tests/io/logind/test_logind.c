// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind on a bus with logind: the lock, announcements, the limit, the holders. */
#include "io/logind/logind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/shutdown/logindscene.h"

#define LOGIN1	"org.freedesktop.login1"
#define OBJECT	"/org/freedesktop/login1"
#define MANAGER LOGIN1 ".Manager"

static const struct logind_options plain = {.lock = -1};

static void test_order(void **state)
{
	struct logindscene *s = logindscene_of(state);
	long inhibit, preparing;

	/* What logind signals while it is asked for the lock is heard: the match was there first. */
	logindmock_run(
		&s->mock,
		"c = type(self)\n"
		"c.first = c.__dict__['Inhibit']\n"
		"self.AddMethod(Manager, 'Inhibit', 'ssss', 'h', "
		"\"self.props['org.freedesktop.login1.Manager']['PreparingForShutdown'] = "
		"True\\nself.EmitSignal('org.freedesktop.login1.Manager', 'PrepareForShutdown', "
		"'b', [True])\\nimport os\\nret = os.open('/dev/null', os.O_RDONLY)\")");
	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 announced=5000: ");
	assert_int_equal(strncmp(s->events, "up announced=?: taken ", 22), 0);
	inhibit = logindmock_logged_at(
		&s->mock,
		" Inhibit \"shutdown\" \"graced\" \"It sees the shutdown through\" \"delay\"\n");
	preparing = logindmock_logged_at(&s->mock, "Manager.PreparingForShutdown");
	assert_true(inhibit >= 0);
	assert_true(preparing > inhibit);
	assert_int_equal(logindmock_logged(&s->mock, " Inhibit "), 1);
}

static void test_taken(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	assert_int_equal(logindscene_state(s).status, LOGIND_STARTING);
	logindscene_await(s, "limit=5000 ");
	assert_string_equal(s->events, "up taken cancelled limit=5000 ");
	assert_int_equal(logindscene_state(s).status, LOGIND_UP);
	assert_true(logindscene_state(s).held);
	assert_int_equal(logindmock_locks(&s->mock), 1);
	logind_drop(s->logind);
	assert_false(logindscene_state(s).held);
	logindscene_await_locks(s, 0);
}

static void test_preparing(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindmock_set_preparing(&s->mock, true);
	logindscene_open(s, &plain);
	logindscene_await(s, "announced=5000:");
	assert_string_equal(s->events, "up taken announced=?: limit=5000 announced=5000: ");
	assert_true(logindscene_state(s).preparing);
	/* What for comes later, if at all. */
	logindmock_announce(&s->mock, true, "reboot");
	logindscene_await(s, "announced=5000:reboot ");
}

static void test_actions(void **state)
{
	static const char *const actions[] = {"poweroff", "reboot", "halt", "kexec", "soft-reboot"};
	struct logindscene *s = logindscene_of(state);
	char want[80];

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	for (size_t i = 0; i < LEN(actions); i++) {
		logindscene_forget(s);
		logindmock_announce(&s->mock, true, actions[i]);
		snprintf(want, sizeof(want), "announced=5000:%s ", actions[i]);
		logindscene_await(s, "limit=5000 announced");
		/* Once from the signals, once with the limit that was read anew. */
		assert_int_equal(logindscene_count(s, "announced"), 2);
		assert_int_equal(logindscene_count(s, want), 2);
		assert_string_equal(logindscene_state(s).action, actions[i]);
		logindmock_announce(&s->mock, false, actions[i]);
		logindscene_await(s, "cancelled ");
		logindscene_settle(s);
		assert_int_equal(logindscene_count(s, "cancelled "), 1);
		assert_string_equal(logindscene_state(s).action, "");
	}
	assert_int_equal(logindscene_state(s).counts.signals, 4 * LEN(actions));
}

static void test_plain_alone(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindscene_forget(s);
	logindmock_emit(&s->mock, "PrepareForShutdown", "b", "True");
	logindscene_await(s, "announced=5000: ");
	logindmock_emit(&s->mock, "PrepareForShutdown", "b", "True");
	logindscene_settle(s);
	/* Told again with each limit that was read, and for nothing else. */
	assert_int_equal(logindscene_count(s, "announced"),
			 logindscene_count(s, "limit=5000 announced") + 1);
	assert_int_equal(logindscene_state(s).counts.signals, 2);
}

static void forge(struct logindscene *s, const char *destination)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(s->mock.ctl, &m, OBJECT, MANAGER,
					      "PrepareForShutdown") >= 0);
	assert_true(sd_bus_message_append(m, "b", true) >= 0);
	assert_true(sd_bus_send_to(s->mock.ctl, m, destination, NULL) >= 0);
	sd_bus_message_unref(m);
}

/* To all on the bus, one by one: what is sent so no match keeps away. */
static void forge_to_each(struct logindscene *s)
{
	sd_bus_message *names = NULL;
	const char *name;

	assert_true(sd_bus_call_method(s->mock.ctl, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "ListNames", NULL, &names, "") >= 0);
	assert_true(sd_bus_message_enter_container(names, 'a', "s") > 0);
	while (sd_bus_message_read(names, "s", &name) > 0)
		if (name[0] == ':')
			forge(s, name);
	sd_bus_message_unref(names);
	assert_true(sd_bus_flush(s->mock.ctl) >= 0);
}

static void test_foreign(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	forge(s, NULL);
	forge_to_each(s);
	for (int i = 0; i < 500 && logindscene_state(s).counts.foreign == 0; i++)
		logindscene_run_for(s, 20000000);
	logindscene_settle(s);
	assert_int_equal(logindscene_count(s, "announced"), 0);
	assert_int_equal(logindscene_state(s).counts.signals, 0);
	assert_int_equal(logindscene_state(s).counts.foreign, 1);
	logindmock_announce(&s->mock, true, "reboot");
	logindscene_await(s, "announced=5000:reboot ");
}

static void test_malformed(void **state)
{
	static const struct {
		const char *member, *signature, *args;
	} bodies[] = {
		{"PrepareForShutdown", "", ""},
		{"PrepareForShutdown", "s", "'True'"},
		{"PrepareForShutdown", "u", "1"},
		{"PrepareForShutdown", "ab", "[True]"},
		{"PrepareForShutdownWithMetadata", "", ""},
		{"PrepareForShutdownWithMetadata", "bs", "True, 'type'"},
		{"PrepareForShutdownWithMetadata", "ba{ss}", "True, {'type': 'reboot'}"},
		{"PrepareForShutdownWithMetadata", "bas", "True, ['type']"},
	};
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	for (size_t i = 0; i < LEN(bodies); i++) {
		logindmock_emit(&s->mock, bodies[i].member, bodies[i].signature, bodies[i].args);
		logindscene_settle(s);
		assert_int_equal(logindscene_state(s).counts.malformed, i + 1);
	}
	assert_int_equal(logindscene_count(s, "announced"), 0);
	/* An invalid name, or no text, is no name. */
	logindmock_emit(&s->mock, "PrepareForShutdownWithMetadata", "ba{sv}",
			"True, dbus.Dictionary({'type': 'Re\\\"boot'}, signature='sv')");
	logindmock_emit(&s->mock, "PrepareForShutdownWithMetadata", "ba{sv}",
			"True, dbus.Dictionary({'type': 7}, signature='sv')");
	logindscene_await(s, "announced=5000: ");
	assert_int_equal(logindscene_state(s).counts.malformed, LEN(bodies));
}

static void test_limit(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindmock_set_limit(&s->mock, 40000000);
	logind_query_limit(s->logind);
	logindscene_await(s, "limit=40000 ");
	/* One that is asked while an answer is under way is answered anew. */
	logind_query_limit(s->logind);
	logindmock_set_limit(&s->mock, 50000000);
	logind_query_limit(s->logind);
	logindscene_await(s, "limit=50000 ");
	/* And at an announcement by itself. */
	logindmock_set_limit(&s->mock, 60000000);
	logindmock_announce(&s->mock, true, "kexec");
	logindscene_await(s, "announced=60000:kexec ");
	/* Its timer runs on when it reads another one. */
	logindscene_forget(s);
	logindmock_set_limit(&s->mock, 90000000);
	logind_query_limit(s->logind);
	logindscene_await(s, "limit=90000 ");
	logindscene_settle(s);
	assert_int_equal(logindscene_count(s, "announced"), 0);
	logindmock_announce(&s->mock, false, "kexec");
	logindmock_set_limit(&s->mock, 0);
	logindmock_announce(&s->mock, true, "kexec");
	logindscene_await(s, "announced=90000:kexec limit=0 announced=0:kexec ");
	/* It may be more by the next one, which must not be taken for one that waits for no lock. */
	logindmock_announce(&s->mock, false, "kexec");
	logindmock_set_limit(&s->mock, 60000000);
	logindmock_announce(&s->mock, true, "kexec");
	logindscene_await(s, "announced=?:kexec limit=60000 announced=60000:kexec ");
	logindmock_run(&s->mock,
		       "self.props[Manager]['InhibitDelayMaxUSec'] = dbus.UInt64(2**64 - 1)");
	logind_query_limit(s->logind);
	logindscene_await(s, "limit=18446744073709 ");
	assert_true(logindscene_state(s).limit_ns == UINT64_MAX);
}

static void test_limit_type(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindmock_run(&s->mock, "self.props[Manager]['InhibitDelayMaxUSec'] = dbus.UInt32(7)");
	logindscene_open(s, &plain);
	logindscene_await(s, "taken cancelled ");
	for (int i = 0; i < 500 && logindscene_state(s).counts.malformed < 2; i++)
		logindscene_run_for(s, 20000000);
	assert_false(logindscene_state(s).limit_known);
	assert_string_equal(logindscene_state(s).text, "its answer makes no sense");
	logindmock_set_limit(&s->mock, 7000000);
	logindscene_await(s, "limit=7000 ");
}

static void test_wrong_answers(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindmock_run(&s->mock,
		       "self.AddMethod(Manager, 'Inhibit', 'ssss', 's', 'ret = \"x\"')\n"
		       "self.AddMethod(Manager, 'ListInhibitors', '', 'as', 'ret = [\"x\"]')\n"
		       "self.props[Manager]['PreparingForShutdown'] = 'yes'");
	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=failed ");
	assert_int_equal(
		logindscene_count(s, "refused=org.freedesktop.DBus.Error.InvalidSignature "), 1);
	assert_int_equal(logindscene_count(s, "announced"), 0);
	assert_int_equal(logindscene_count(s, "cancelled"), 0);
	assert_false(logindscene_state(s).held);
	assert_true(logindscene_state(s).counts.malformed >= 3);
	/* What matters is asked again. */
	logindmock_set_preparing(&s->mock, true);
	logindscene_await(s, "announced=5000: ");
}

static void test_holders(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', 'pods', 'delay', 0, 7), "
				 "('sleep:shutdown:idle', 'a b', '', 'delay', 1, 8), "
				 "('shutdown', 'x', '', 'block', 1, 8), "
				 "('sleep', 'y', '', 'delay', 1, 8), "
				 "('shutdowns:', 'z', '', 'delay', 1, 8)]");
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=");
	assert_non_null(strstr(s->events, "holders=3 own:graced/It sees the shutdown "
					  "through kubelet/pods a b/ "));
	logindmock_run(&s->mock, "global inhibitors\ninhibitors += "
				 "[('shutdown', 'm', '', 'delay', 1, 8)] * 100");
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=103 ");
	/* Those of others do not hide one of root's. */
	logindmock_run(&s->mock, "global inhibitors\ninhibitors += "
				 "[('shutdown', 'late', '', 'delay', 0, 9)]");
	logindscene_forget(s);
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=104 ");
	assert_non_null(strstr(s->events, "kubelet/pods late/ "));
	/* Those of root do not hide its own. */
	logindmock_run(&s->mock, "global inhibitors\ninhibitors[:0] = "
				 "[('shutdown', 'm', '', 'delay', 0, 8)] * 100");
	logindscene_forget(s);
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=204 ");
	assert_int_equal(strncmp(s->events, "holders=204 own:graced/", 23), 0);
	assert_int_equal(logindscene_count(s, "own:"), 1);
	assert_int_equal(logindscene_count(s, "m/ "), LOGIND_HOLDERS_MAX - 1);
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {"",
					  "bus",
					  "unix:",
					  "unix:abstract=/a",
					  "unix:path=/a;unix:path=/b",
					  "tcp:host=localhost,port=1",
					  "unixexec:path=/bin/sh"};
	struct logind *l = NULL;
	sd_event *event = NULL;

	assert_int_equal(sd_event_new(&event), 0);
	for (size_t i = 0; i < LEN(bad); i++) {
		struct logind_options options = {.bus_address = bad[i], .lock = dup(0)};

		assert_int_equal(logind_new(event, &options, &(struct logind_sink){}, &l), -EINVAL);
		assert_int_equal(fcntl(options.lock, F_GETFD), -1);
	}
	assert_null(l);
	sd_event_unref(event);
}

#define TEST(sentence, function)                                                  \
	{                                                                         \
		sentence, function, logindscene_setup, logindscene_teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the match comes before the lock, the lock before the property", test_order),
		TEST("the lock is taken, and released", test_taken),
		TEST("a shutdown that was announced before is known", test_preparing),
		TEST("both signals are one announcement, with its action", test_actions),
		TEST("the plain signal will do", test_plain_alone),
		TEST("a signal from anybody else is none", test_foreign),
		TEST("a body that makes no sense is left alone and counted", test_malformed),
		TEST("the limit is read anew whenever it is asked for", test_limit),
		TEST("a limit of another type is none", test_limit_type),
		TEST("answers that make no sense are none", test_wrong_answers),
		TEST("delay locks on shutdown are listed, no others", test_holders),
		CLAIM("no address makes it run a program or go by the network", test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
