// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind while the bus or logind is away, new, slow, or says no. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/logind/logind.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/shutdown/logindscene.h"

#define MS	1000000ull
#define SOON_NS (1000 * MS) /* a busy machine answers sooner */

static const struct logind_options plain = {.lock = -1};
static const struct logind_options hasty = {.lock = -1, .timeout_ns = SOON_NS};

static void up(struct logindscene *s, const struct logind_options *options)
{
	logindscene_open(s, options);
	logindscene_await(s, "taken cancelled limit=5000 ");
	logindscene_forget(s);
}

static void test_bus_restarts(void **state)
{
	struct logindscene *s = logindscene_of(state);
	struct logind_state got;

	up(s, &plain);
	logindmock_kill_bus(&s->mock);
	logindscene_await(s, "down ");
	got = logindscene_state(s);
	assert_true(got.held);
	assert_true(got.status == LOGIND_DOWN || got.status == LOGIND_OFF);
	assert_true(got.retry_ns > 0);
	/* Attempts grow rare: after 100, 200, 400 ms. */
	logindscene_run_for(s, 600 * MS);
	assert_true(logindscene_state(s).counts.connections <= 4);
	assert_true(logindscene_state(s).held);
	logindmock_start_bus(&s->mock);
	logindmock_start(&s->mock);
	logindscene_await(s, "taken ");
	logindscene_settle(s);
	assert_int_equal(logindmock_locks(&s->mock), 1);
	assert_int_equal(logindscene_count(s, "down "), 1);
	assert_int_equal(logindscene_count(s, "lost "), 1);
	assert_int_equal(logindscene_count(s, "up "), 1);
	assert_int_equal(logindscene_state(s).status, LOGIND_UP);
	/* One call of each kind, and no more while time goes by. */
	logindscene_run_for(s, 500 * MS);
	assert_int_equal(logindmock_logged(&s->mock, " Inhibit "), 1);
	assert_int_equal(logindmock_logged(&s->mock, " ListInhibitors"), 1);
	assert_int_equal(logindmock_logged(&s->mock, "Manager.PreparingForShutdown"), 1);
	assert_true(logindmock_logged(&s->mock, "Manager.InhibitDelayMaxUSec") <= 4);
	logindmock_announce(&s->mock, true, "reboot");
	logindscene_await(s, ":reboot ");
}

static void test_bus_absent(void **state)
{
	struct logindscene *s = logindscene_of(state);

	logindscene_open(s, &plain);
	assert_int_equal(logindscene_state(s).status, LOGIND_OFF);
	assert_string_equal(logindscene_state(s).text, "there is no system bus");
	logind_take(s->logind);
	assert_string_equal(s->events, "refused=org.freedesktop.DBus.Error.ServiceUnknown ");
	logind_list_holders(s->logind);
	logind_reload(s->logind);
	logind_query_limit(s->logind);
	logind_drop(s->logind);
	assert_int_equal(logindscene_count(s, "holders=failed "), 1);
	assert_int_equal(
		logindscene_count(s, "reloaded=org.freedesktop.DBus.Error.ServiceUnknown "), 1);
	logindmock_start_bus(&s->mock);
	logindscene_await_status(s, LOGIND_ABSENT);
	assert_string_equal(logindscene_state(s).text, "logind is not on the bus");
	assert_int_equal(logindscene_state(s).retry_ns, 0);
	logindmock_start(&s->mock);
	logindscene_await(s, "taken ");
	assert_int_equal(logindscene_state(s).status, LOGIND_UP);
}

static void test_logind_restarts(void **state)
{
	struct logindscene *s = logindscene_of(state);

	up(s, &plain);
	logindmock_kill(&s->mock);
	logindscene_await(s, "down ");
	assert_int_equal(logindscene_state(s).status, LOGIND_ABSENT);
	assert_true(logindscene_state(s).held);
	/* Without logind nothing is asked. */
	logindscene_run_for(s, 300 * MS);
	assert_int_equal(logindscene_state(s).counts.inhibits, 1);
	assert_int_equal(logindscene_state(s).counts.connections, 1);
	logindmock_start(&s->mock);
	logindscene_await(s, "taken ");
	assert_string_equal(logindscene_state(s).text, "logind has left the bus");
	logindscene_settle(s);
	assert_int_equal(logindmock_locks(&s->mock), 1);
	assert_int_equal(logindmock_logged(&s->mock, " Inhibit "), 1);
	logindmock_announce(&s->mock, true, "kexec");
	logindscene_await(s, ":kexec ");
}

static void test_restarts_mid_shutdown(void **state)
{
	struct logindscene *s = logindscene_of(state);

	up(s, &plain);
	logindmock_announce(&s->mock, true, "reboot");
	logindscene_await(s, ":reboot ");
	logindmock_kill(&s->mock);
	logindscene_await(s, "down ");
	assert_true(logindscene_state(s).preparing);
	/* The new one knows of no shutdown. */
	logindmock_start(&s->mock);
	logindscene_await(s, "cancelled ");
	assert_false(logindscene_state(s).preparing);
}

static void test_refused(void **state)
{
	static const char *const errors[] = {
		"org.freedesktop.login1.OperationInProgress",
		"org.freedesktop.DBus.Error.AccessDenied",
	};
	struct logindscene *s = logindscene_of(state);
	char want[80];

	logindmock_refuse(&s->mock, errors[0]);
	logindscene_open(s, &plain);
	for (size_t i = 0; i < LEN(errors); i++) {
		logindmock_refuse(&s->mock, errors[i]);
		logindscene_forget(s);
		logind_take(s->logind);
		snprintf(want, sizeof(want), "refused=%s ", errors[i]);
		logindscene_await(s, i == 0 ? "refused=" : want);
		logindscene_settle(s);
	}
	/* It asks when it is called, not by itself. */
	logindscene_run_for(s, 300 * MS);
	assert_true(logindscene_state(s).counts.inhibits <= 3);
	assert_false(logindscene_state(s).held);
	assert_int_equal(logindscene_state(s).status, LOGIND_UP);
	assert_string_equal(logindscene_state(s).text, "no");
	logindmock_refuse(&s->mock, NULL);
	logind_take(s->logind);
	logindscene_await(s, "taken ");
	/* Refused, it keeps what it has. */
	logindmock_refuse(&s->mock, errors[0]);
	logindscene_forget(s);
	logind_take(s->logind);
	logindscene_await(s, "refused=org.freedesktop.login1.OperationInProgress ");
	assert_true(logindscene_state(s).held);
	assert_int_equal(logindmock_locks(&s->mock), 1);
}

static void test_slow(void **state)
{
	struct logindscene *s = logindscene_of(state);
	uint64_t connections;

	up(s, &hasty);
	logind_drop(s->logind);
	logindscene_settle(s);
	logindscene_forget(s);
	logindmock_pause(&s->mock);
	logind_take(s->logind);
	logind_list_holders(s->logind);
	logind_query_limit(s->logind);
	logindscene_await(s, "refused=org.freedesktop.DBus.Error.NoReply ");
	logindscene_await(s, "holders=failed ");
	assert_int_equal(logindscene_state(s).status, LOGIND_SLOW);
	assert_string_equal(logindscene_state(s).text, "logind does not answer");
	connections = logindscene_state(s).counts.connections;
	logindscene_run_for(s, 2 * SOON_NS);
	/* The bus is not to blame, and logind may signal any time. */
	assert_int_equal(logindscene_state(s).counts.connections, connections);
	assert_int_equal(logindscene_count(s, "down "), 0);
	assert_true(logindscene_state(s).counts.timeouts <= 6);
	/* The lock that comes too late is not held by anybody. */
	logindmock_go_on(&s->mock);
	logindscene_await(s, "limit=5000 ");
	assert_int_equal(logindscene_state(s).status, LOGIND_UP);
	logindscene_await_locks(s, 0);
	assert_int_equal(logindscene_count(s, "taken "), 0);
	logind_take(s->logind);
	logindscene_await(s, "taken ");
	assert_int_equal(logindmock_locks(&s->mock), 1);
}

/* Listens where the bus would, and answers nothing; takes no connection in either, if deaf. */
static int listen_mute(struct logindscene *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bus", s->mock.dir);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 64), 0);
	return fd;
}

static void test_mute_bus(void **state)
{
	struct logindscene *s = logindscene_of(state);
	char path[64];
	int fd = listen_mute(s);

	logindscene_open(s, &hasty);
	assert_int_equal(logindscene_state(s).status, LOGIND_STARTING);
	logindscene_await_status(s, LOGIND_DOWN);
	assert_string_equal(logindscene_state(s).text, "the bus does not answer");
	logindscene_run_for(s, 4 * SOON_NS);
	assert_true(logindscene_state(s).counts.connections <= 5);
	close(fd);
	snprintf(path, sizeof(path), "%s/bus", s->mock.dir);
	unlink(path);
	logindmock_start_bus(&s->mock);
	logindmock_start(&s->mock);
	logindscene_await(s, "taken ");
}

static void test_closing_bus(void **state)
{
	struct logindscene *s = logindscene_of(state);
	uint64_t began_ns = clock_boot_ns(), n;
	int fd = listen_mute(s), peer;

	logindscene_open(s, &plain);
	/* It takes everybody in and throws them out. */
	for (n = 0; clock_boot_ns() - began_ns < 2000 * MS;) {
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		assert_true(peer >= 0);
		close(peer);
		n++;
		logindscene_await_status(s, LOGIND_DOWN);
		while (logindscene_state(s).counts.connections == n)
			logindscene_run_for(s, 10 * MS);
	}
	/* After 0.1, 0.2, 0.4, 0.8 and 1.6 s. */
	assert_true(logindscene_state(s).counts.connections <= 6);
	close(fd);
}

static void test_freed(void **state)
{
	struct logindscene *s = logindscene_of(state);

	/* At any moment, with anything under way. */
	for (int turns = 0; turns < 20; turns++) {
		logindscene_open(s, &plain);
		for (int i = 0; i < turns; i++)
			assert_true(sd_event_run(s->event, 1000) >= 0);
		logind_list_holders(s->logind);
		s->logind = logind_free(s->logind);
		logindscene_forget(s);
		logindscene_run_for(s, MS);
		assert_string_equal(s->events, "");
	}
	logindscene_await_locks(s, 0);
}

#define TEST(sentence, function, begins)                               \
	{                                                              \
		sentence, function, begins, logindscene_teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a bus that is new is asked for the lock once, and not in a spin",
		     test_bus_restarts, logindscene_setup),
		TEST("a bus and a logind may come later", test_bus_absent, logindscene_setup_dark),
		TEST("a logind that is new is asked for the lock once", test_logind_restarts,
		     logindscene_setup),
		TEST("a shutdown that a new logind knows nothing of is none",
		     test_restarts_mid_shutdown, logindscene_setup),
		TEST("a refusal is reported, and what is held is kept", test_refused,
		     logindscene_setup),
		TEST("a logind that does not answer in time has its answer dropped", test_slow,
		     logindscene_setup),
		TEST("a bus that does not answer is tried again", test_mute_bus,
		     logindscene_setup_dark),
		TEST("a bus that closes each connection is asked ever more rarely",
		     test_closing_bus, logindscene_setup_dark),
		TEST("it may be freed at any moment", test_freed, logindscene_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
