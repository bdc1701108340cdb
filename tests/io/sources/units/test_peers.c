// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/units and a systemd that is slow, comes and goes, or is another's. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/units/unitasker.h"

#define A	UNITASKER_A
#define B	UNITASKER_B
#define S	1000000ull
#define SOON_NS 200000000ull

static void get_state(struct unitasker *a, struct source_state *ret)
{
	source_units_get_state(a->units, ret);
}

static bool is_over(struct unitasker *a)
{
	return a->n_done > 0;
}

static bool is_reported(struct unitasker *a)
{
	return unitasker_containers(a) > 0;
}

static void test_slow(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;

	unitasker_listen(a, "private");
	unitasker_ask(a, "private", SOON_NS);
	unitasker_until(a, unitasker_is_up);
	a->peer.silent = true;
	for (int i = 0; i < 3; i++) {
		source_units_find(a->units, A);
		source_units_find(a->units, B);
	}
	/* Others are answered all the while. */
	unitasker_settle(a);
	unitasker_until(a, is_over);
	assert_int_equal(a->n_done, 6);
	assert_int_equal(a->n, 6);
	get_state(a, &got);
	assert_int_equal(got.lookups[META_FAILED], 6);
	a->peer.silent = false;
	unitasker_until(a, is_reported);
	assert_int_equal(a->n_done, 6);
}

static void test_mute(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;

	a->peer.mute = true;
	unitasker_listen(a, "private");
	unitasker_ask(a, "private", SOON_NS);
	source_units_find(a->units, A);
	unitasker_until(a, unitasker_is_down);
	get_state(a, &got);
	assert_string_equal(got.text, "it does not answer");
	unitasker_until(a, is_over);
	assert_int_equal(a->n_done, 1);
	assert_int_equal(a->reports[0].result, META_FAILED);
	a->peer.mute = false;
	unitasker_until(a, is_reported);
}

static void test_refuses(void **state)
{
	struct unitasker *a = *state;

	a->peer.greeting_error = "org.freedesktop.DBus.Error.AccessDenied";
	unitasker_listen(a, "private");
	unitasker_ask(a, "private", 0);
	source_units_find(a->units, A);
	unitasker_until(a, is_over);
	assert_true(unitasker_is_down(a));
	assert_int_equal(a->n_done, 1);
	assert_int_equal(a->reports[0].result, META_FAILED);
	a->peer.greeting_error = NULL;
	unitasker_until(a, is_reported);
}

static bool are_both_over(struct unitasker *a)
{
	return a->n_done == 2;
}

static void test_moment(void **state)
{
	struct unitasker *a = *state;

	unitasker_listen(a, "private");
	unitasker_ask(a, "private", 0);
	unitasker_until(a, unitasker_is_up);
	a->peer.silent = true;
	source_units_find(a->units, A);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 1);
	unitpeer_hang_up(&a->peer);
	unitasker_until(a, unitasker_is_down);
	source_units_find(a->units, B);
	assert_int_equal(a->n, 0);
	a->peer.silent = false;
	unitasker_until(a, are_both_over);
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(a->reports[i].result, META_FOUND);
	assert_int_equal(unitasker_containers(a), 2);
}

static void test_absent(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;

	unitasker_ask(a, "private", 0);
	assert_true(unitasker_is_off(a));
	assert_int_equal(unitasker_find(a, A), META_FAILED);
	unitasker_listen(a, "private");
	unitasker_until(a, is_reported);
	assert_string_equal(unitasker_last(a)->unit, "a.service");
	get_state(a, &got);
	assert_int_equal(got.status, SOURCE_UP);
	assert_int_equal(got.failures, 0);
	/* The socket is there without a listener, then with another one. */
	a->peer.own.listener = sd_event_source_disable_unref(a->peer.own.listener);
	unitpeer_hang_up(&a->peer);
	unitasker_until(a, unitasker_is_down);
	get_state(a, &got);
	assert_string_equal(got.text, "it has closed the connection");
	assert_true(got.retry_ns > 0);
	assert_int_equal(unitasker_find(a, A), META_FAILED);
	a->peer.services[0].main_pid = 77;
	a->n = a->n_done = 0;
	unitasker_listen(a, "private");
	unitasker_until(a, is_reported);
	assert_int_equal(unitasker_last(a)->main_pid, 77);
}

static bool has_failed_twice(struct unitasker *a)
{
	struct source_state got;

	get_state(a, &got);
	return got.failures == 2;
}

/* Later waits: tests/io/bus/test_connection.c. */
static void test_delays(void **state)
{
	struct unitasker *a = *state;
	uint64_t before_ns = clock_boot_ns();
	struct source_state first, second;

	unitasker_ask(a, "nobody", 0);
	get_state(a, &first);
	assert_int_equal(first.failures, 1);
	assert_in_range(first.retry_ns, before_ns + 100 * S, clock_boot_ns() + 100 * S);
	unitasker_until(a, has_failed_twice);
	get_state(a, &second);
	assert_in_range(second.retry_ns, first.retry_ns + 200 * S, clock_boot_ns() + 200 * S);
}

static void test_forged(void **state)
{
	struct unitasker *a = *state;

	unitasker_listen(a, "bus");
	unitasker_ask(a, "bus", 0);
	assert_int_equal(unitasker_find(a, A), META_FOUND);
	assert_true(unitpeer_tell_pid(&a->peer, ":1.66", "a_2eservice", 50) >= 0);
	assert_true(unitpeer_tell_removed(&a->peer, ":1.66", "a_2eservice") >= 0);
	assert_true(unitpeer_tell_reloading(&a->peer, ":1.66", true) >= 0);
	assert_true(unitpeer_tell_reloading(&a->peer, ":1.66", false) >= 0);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 1);
	/* The same from systemd; what is true it says only when asked. */
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 50) >= 0);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 2);
	assert_int_equal(unitasker_last(a)->main_pid, 42);
	assert_int_equal(unitasker_containers(a), 1);
}

static void test_new_owner(void **state)
{
	struct unitasker *a = *state;

	unitasker_listen(a, "bus");
	unitasker_ask(a, "bus", 0);
	assert_int_equal(unitasker_find(a, A), META_FOUND);
	a->peer.services[0].main_pid = 99;
	a->n = a->n_done = 0;
	assert_true(unitpeer_tell_new_owner(&a->peer) >= 0);
	unitasker_until(a, is_reported);
	assert_int_equal(a->peer.connected, 2);
	assert_int_equal(unitasker_last(a)->main_pid, 99);
}

static void test_no_options(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;

	assert_int_equal(source_units_new(a->event, NULL, &a->sink, &a->units), 0);
	get_state(a, &got);
	assert_true(strncmp(got.where, "/run/", strlen("/run/")) == 0);
	source_units_find(a->units, "/a.scope");
	assert_int_equal(a->n_done, 1);
}

/* A socket of user nobody's, until killed. */
static pid_t listen_as_nobody(struct unitasker *a)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(chmod(a->dir, 0777), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* A loop does not survive fork(). */
		if (setuid(65534) < 0 || sd_event_new(&a->event) < 0 ||
		    unitpeer_listen(&a->peer, a->event, a->dir, "private") < 0)
			_exit(1);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void test_other_user(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;
	char path[64];
	pid_t pid;

	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
	}
	pid = listen_as_nobody(a);
	unitasker_ask(a, "private", 0);
	get_state(a, &got);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_string_equal(got.text, "its socket is not root's");
	assert_int_equal(unitasker_find(a, A), META_FAILED);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(path, sizeof(path), "%s/private", a->dir);
	unlink(path);
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {
		"",
		"private",
		"unix:",
		"unix:path=",
		"unix:path=private",
		"unix:abstract=/a",
		"unix:path=/a,guid=1",
		"unix:path=/a;unix:path=/b",
		"unix:path=/%61",
		"unixexec:path=/bin/sh",
		"tcp:host=localhost,port=1",
	};
	struct unitasker *a = *state;

	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(source_units_new(a->event,
						  &(struct source_units_options){bad[i], 0},
						  &a->sink, &a->units),
				 -EINVAL);
	assert_null(a->units);
}

#define TEST(sentence, function)                                              \
	{                                                                     \
		sentence, function, unitasker_setup, unitasker_teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an answer that does not come in time is none", test_slow),
		TEST("a systemd that answers nothing is down until it does", test_mute),
		TEST("a systemd that refuses is down until it does not", test_refuses),
		TEST("a look-up outlives a systemd that is away for a moment", test_moment),
		TEST("a socket may come, lose its listener, and be another's", test_absent),
		TEST("it is tried again after 100 ms, then after 200 ms", test_delays),
		TEST("on a bus only systemd's signals count", test_forged),
		TEST("a systemd that is new on the bus is asked again", test_new_owner),
		TEST("a socket of another user is left alone", test_other_user),
		TEST("with no options it asks at the known places", test_no_options),
		TEST("no address makes it run a program or go by the network", test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
