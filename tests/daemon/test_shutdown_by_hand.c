// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced shutdown`: what it says of a shutdown, and who may not begin one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/run.h"
#include "lib/shutdown/shutscene.h"

static void ask(const struct shutscene *s, const char *const *options, struct run_result *ret)
{
	const char *args[8] = {"shutdown", "--control.socket"};
	char socket[128];
	size_t n = 2;

	snprintf(socket, sizeof(socket), "%s/control.sock", s->state);
	args[n++] = socket;
	while (*options)
		args[n++] = *options++;
	assert_int_equal(run(&(struct run_spec){.exe = getenv("GRACED"), .args = args}, ret), 0);
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void assert_prints(const struct shutscene *s, const char *wanted)
{
	struct run_result result;

	ask(s, OPTIONS(), &result);
	if (!strstr(result.out, wanted))
		fail_msg("it does not print '%s', but: %s", wanted, result.out);
	assert_int_equal(result.status, 0);
	run_done(&result);
}

static void assert_refused(const struct shutscene *s, const char *const *options, const char *why)
{
	struct run_result result;

	ask(s, options, &result);
	if (!strstr(result.err, why))
		fail_msg("it does not say '%s', but: %s", why, result.err);
	assert_int_equal(result.status, 1);
	run_done(&result);
}

static void it_says_how_it_is_with_a_shutdown(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	struct box box;

	shutscene_box(s, "deaf", &box);
	shutscene_await_locks(s, 2);
	assert_prints(s, "mode        observe\n");
	assert_prints(s, "shutdown    none\n");
	logindmock_announce(&s->mock, true, "reboot");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_prints(s, "state       going\ndelay lock  held\nshutdown    reboot\nannounced ");
	assert_prints(s, "containers  1 left, 0 being stopped\n");
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void none_is_begun_where_the_configuration_does_not_allow_it(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});

	assert_refused(s, OPTIONS("--begin"),
		       "shutdown.control is not true in the daemon's configuration");
	assert_refused(s, OPTIONS("--cancel"), "shutdown.control is not true");
	shutscene_end(s);
}

static void none_is_begun_where_graced_stops_nothing(void **state)
{
	static const char *const args[] = {"--shutdown.control", NULL};
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "assist", .args = args});

	assert_refused(s, OPTIONS("--begin", "--type", "reboot"),
		       "shutdown.mode is assist, and only manage stops containers by itself");
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'announced'}"));
	shutscene_end(s);
}

/* No runtime has CRI here: each container is sent its stop signal by graced itself. */
static void the_pods_are_stopped_and_the_lock_is_released(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "manage"});
	struct box deaf, graceful;

	shutscene_box(s, "deaf", &deaf);
	shutscene_box_of(s, "web", &(struct box_spec){.argv = BOX_ARGV("graceful")}, &graceful);
	shutscene_await_locks(s, 2);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'stop','pod':{'name':'web'},"
					      "'stop_signal':{'sender':{'kind':'graced'}}}"));
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'container-killed','mode':'manage',"
		   "'pod':{'name':'deaf'}}"));
	json_decref(shutscene_await_record(s, "{'type':'stop','pod':{'name':'deaf'}}"));
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-stopped'}"));
	shutscene_await_locks(s, 1);
	assert_int_equal(box_remove(&deaf), 0);
	assert_int_equal(box_remove(&graceful), 0);
	shutscene_end(s);
}

static void one_is_begun_and_cancelled_by_hand(void **state)
{
	static const char *const args[] = {"--shutdown.control", NULL};
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = args});
	struct run_result result;
	struct box box;

	shutscene_box_of(s, "web", &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	shutscene_await_locks(s, 2);
	ask(s, OPTIONS("--begin", "--type", "reboot"), &result);
	assert_int_equal(result.status, 0);
	run_done(&result);
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'announced','action':'reboot'}"));
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-stopped'}"));
	ask(s, OPTIONS("--cancel"), &result);
	assert_int_equal(result.status, 0);
	run_done(&result);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'cancelled'}"));
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* It waits for a container that does not hear its stop signal. */
static void the_next_process_goes_on(void **state)
{
	static const char *const args[] = {"--shutdown.control", NULL};
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = args});
	struct run_result result;
	struct box box;

	shutscene_box(s, "deaf", &box);
	shutscene_await_locks(s, 2);
	ask(s, OPTIONS("--begin", "--type", "reboot"), &result);
	assert_int_equal(result.status, 0);
	run_done(&result);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'group-started'}"));
	sleep(2);
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	shutscene_start(s, "manage");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					      "'action':'reboot','pod':{'name':'deaf'}}"));
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-stopped'}"));
	ask(s, OPTIONS("--cancel"), &result);
	assert_int_equal(result.status, 0);
	run_done(&result);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'cancelled'}"));
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void command(const struct shutscene *s, const char *option)
{
	struct run_result result;

	ask(s, OPTIONS(option), &result);
	assert_int_equal(result.status, 0);
	run_done(&result);
}

static void the_next_one_has_its_own_beginning(void **state)
{
	static const char *const args[] = {"--shutdown.control", NULL};
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = args});
	json_t *first, *next;
	struct box box;

	shutscene_box(s, "deaf", &box);
	shutscene_await_locks(s, 2);
	command(s, "--begin");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'group-started'}"));
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	shutscene_start(s, "manage");
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-stopped'}"));
	command(s, "--cancel");
	first = shutscene_await_record(s, "{'type':'shutdown','event':'cancelled'}");
	logindmock_announce(&s->mock, true, "reboot");
	next = shutscene_await_record(s,
				      "{'type':'shutdown','event':'announced','action':'reboot'}");
	assert_true(jrec_int(next, "announced_boot_ns", 0) > jrec_int(first, "boot_ns", 0));
	json_decref(first);
	json_decref(next);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* RUNTIME_DIRECTORY may outlive a boot. */
static void one_of_another_boot_is_over(void **state)
{
	static const char *const args[] = {"--shutdown.control", NULL};
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = args});
	char path[128];

	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	snprintf(path, sizeof(path), "%s/begun-by-hand", s->state);
	shutscene_write(path, "01234567-89ab-cdef-0123-456789abcdef reboot");
	shutscene_start(s, "manage");
	shutscene_await_locks(s, 2);
	assert_prints(s, "shutdown    none\n");
	assert_int_equal(access(path, F_OK), -1);
	shutscene_end(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("it says how it is with a shutdown",
				it_says_how_it_is_with_a_shutdown),
		SHUTSCENE_CLAIM("none is begun where the configuration does not allow it",
				none_is_begun_where_the_configuration_does_not_allow_it),
		SHUTSCENE_CLAIM("none is begun where graced stops nothing itself",
				none_is_begun_where_graced_stops_nothing),
		SHUTSCENE_CLAIM("in mode manage the pods are stopped, and the lock is released",
				the_pods_are_stopped_and_the_lock_is_released),
		SHUTSCENE_CLAIM("one is begun and cancelled by hand",
				one_is_begun_and_cancelled_by_hand),
		SHUTSCENE_CLAIM("one that was begun by hand goes on after the daemon was killed",
				the_next_process_goes_on),
		SHUTSCENE_CLAIM("after one that was cancelled the next has its own beginning, also "
				"when the daemon was killed in the first",
				the_next_one_has_its_own_beginning),
		SHUTSCENE_CLAIM("one that was begun in another boot is over",
				one_of_another_boot_is_over),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
