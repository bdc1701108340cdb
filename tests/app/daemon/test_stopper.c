// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/stopper: what is requested of whom for each effect, and which answers the
 * engine gets. The edges to containers are played here; units are stopped by a played systemd. */
#include "app/daemon/stopper.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "io/bus/connection.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/units/unitpeer.h"

#define MANAGER "org.freedesktop.systemd1.Manager"

static struct site {
	sd_event *event;
	struct hierarchy hierarchy;
	char dir[40], address[64];
	struct stopper *stopper;
	/* The runtime. */
	struct source_cri_stop stop;
	char id[META_ID_MAX];
	unsigned int stops;
	int stop_result;
	bool skips_hooks;
	/* The kernel. */
	struct cgfs_process process;
	uint64_t signal_id;
	char controller[32];
	int signal;
	unsigned int signals;
	/* systemd, with one unit that runs. */
	struct unitpeer peer;
	char calls[256];
	bool file_there; /* when the unit was stopped */
	/* The engine. */
	struct obs_shutdown fed;
	unsigned int n_fed;
	/* The operator. */
	unsigned int warnings;
	char warning[256];
} site;

/* --- what is played ----------------------------------------------------------------------------- */

sd_event *__wrap_monitor_event(const struct monitor *m);
struct lookup *__wrap_monitor_lookup(const struct monitor *m);
struct feed *__wrap_monitor_feed(const struct monitor *m);
const struct hierarchy *__wrap_monitor_hierarchy(const struct monitor *m);
struct cgfs *__wrap_monitor_cgfs(const struct monitor *m);
int __wrap_lookup_stop(struct lookup *l, const struct source_cri_stop *stop);
int __wrap_cgfs_signal(struct cgfs *cgfs, const char *controller, uint64_t id,
		       const struct cgfs_process *process, int signal);
void __wrap_feed_obs(struct feed *f, const struct obs *obs);
void __wrap_log_at(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

sd_event *__wrap_monitor_event(const struct monitor *m)
{
	return site.event;
}

struct lookup *__wrap_monitor_lookup(const struct monitor *m)
{
	return NULL;
}

struct feed *__wrap_monitor_feed(const struct monitor *m)
{
	return NULL;
}

const struct hierarchy *__wrap_monitor_hierarchy(const struct monitor *m)
{
	return &site.hierarchy;
}

struct cgfs *__wrap_monitor_cgfs(const struct monitor *m)
{
	return NULL;
}

int __wrap_lookup_stop(struct lookup *l, const struct source_cri_stop *stop)
{
	site.stops++;
	site.stop = *stop;
	snprintf(site.id, sizeof(site.id), "%s", stop->container_id);
	return site.stop_result;
}

int __wrap_cgfs_signal(struct cgfs *cgfs, const char *controller, uint64_t id,
		       const struct cgfs_process *process, int signal)
{
	site.signals++;
	site.signal_id = id;
	site.process = *process;
	site.signal = signal;
	snprintf(site.controller, sizeof(site.controller), "%s", controller ? controller : "none");
	return -ESRCH;
}

void __wrap_feed_obs(struct feed *f, const struct obs *obs)
{
	assert_int_equal(obs->type, OBS_SHUTDOWN);
	site.fed = obs->shutdown;
	site.n_fed++;
}

void __wrap_log_at(int level, const char *format, ...)
{
	va_list args;

	if (level > LOG_WARNING)
		return;
	site.warnings++;
	va_start(args, format);
	vsnprintf(site.warning, sizeof(site.warning), format, args);
	va_end(args);
}

static void units_file(char ret[static 64])
{
	snprintf(ret, 64, "%s/stopped-units", site.dir);
}

static bool has_file(void)
{
	char path[64];
	struct stat st;

	units_file(path);
	return stat(path, &st) == 0;
}

static void end_job(void)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(site.peer.own.bus, &m, "/org/freedesktop/systemd1",
					      MANAGER, "JobRemoved") >= 0);
	sd_bus_message_append(m, "uoss", 1, "/job/1", "kubelet.service", "done");
	sd_bus_message_set_sender(m, UNITPEER_OWNER);
	assert_true(sd_bus_send(site.peer.own.bus, m, NULL) >= 0);
}

static int on_call(struct unitpeer *peer, sd_bus_message *m)
{
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	const char *member = sd_bus_message_get_member(m), *name, *mode;
	bool stops = strcmp(member, "StopUnit") == 0;

	if (strcmp(sd_bus_message_get_interface(m), MANAGER) != 0 ||
	    strcmp(member, "Subscribe") == 0)
		return 0;
	assert_true(sd_bus_message_new_method_return(m, &reply) >= 0);
	if (strcmp(member, "ListUnitsByNames") == 0) {
		sd_bus_message_append(reply, "a(ssssssouso)", 1, "kubelet.service", "", "loaded",
				      "active", "running", "", "/unit", 0, "", "/");
	} else {
		assert_true(sd_bus_message_read(m, "ss", &name, &mode) > 0);
		snprintf(site.calls + strlen(site.calls), sizeof(site.calls) - strlen(site.calls),
			 "%s %s;", member, name);
		site.file_there = has_file();
		sd_bus_message_append(reply, "o", "/job/1");
	}
	sd_bus_message_set_sender(reply, UNITPEER_OWNER);
	assert_true(sd_bus_send(peer->own.bus, reply, NULL) >= 0);
	if (stops)
		end_job();
	return 1;
}

/* --- the stage ---------------------------------------------------------------------------------- */

static const char *const one_unit[] = {"kubelet.service", NULL};
static const char *const no_unit[] = {NULL};

static int set_up(void **state)
{
	site = (struct site){.dir = "/tmp/graced-stopper-XXXXXX", .hierarchy.name = "memory"};
	site.peer.on_call = on_call;
	if (!mkdtemp(site.dir) || sd_event_new(&site.event) < 0)
		return -1;
	setenv("RUNTIME_DIRECTORY", site.dir, 1);
	snprintf(site.address, sizeof(site.address), "%s/private", site.dir);
	return unitpeer_listen(&site.peer, site.event, site.dir, "private");
}

static int tear_down(void **state)
{
	stopper_free(site.stopper);
	unitpeer_done(&site.peer);
	sd_event_unref(site.event);
	return rmdir(site.dir);
}

static void open_stopper(const char *const *units)
{
	stopper_free(site.stopper);
	assert_int_equal(stopper_new(NULL, units, !site.skips_hooks, site.address, &site.stopper),
			 0);
}

static void until_fed(unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (site.n_fed < n) {
		assert_true(clock_boot_ns() < end_ns);
		assert_true(sd_event_run(site.event, 20000) >= 0);
	}
	assert_int_equal(site.n_fed, n);
}

static void until_called(const char *calls)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (strcmp(site.calls, calls) != 0) {
		assert_true(clock_boot_ns() < end_ns);
		assert_true(sd_event_run(site.event, 20000) >= 0);
	}
}

static void expect_fed(enum shutdown_event_type event, uint64_t id, bool failed)
{
	assert_int_equal(site.fed.event, event);
	assert_int_equal(site.fed.id, id);
	assert_int_equal(site.fed.failed, failed);
}

static void play(const struct effect *effect)
{
	stopper_effect(site.stopper, effect);
}

/* --- claims ------------------------------------------------------------------------------------- */

static void test_stop(void **state)
{
	struct effect effect = {.type = EFFECT_STOP,
				.id = 77,
				.at_ns = 30000000000,
				.container_id = "c1",
				.pod_uid = "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"};

	open_stopper(no_unit);
	play(&effect);
	assert_string_equal(site.id, "c1");
	assert_int_equal(site.stop.timeout_s, 30);
	assert_int_equal(site.stop.tag, 77);
	effect.at_ns++;
	play(&effect);
	assert_int_equal(site.stop.timeout_s, 31);
	effect.at_ns = 0;
	play(&effect);
	assert_int_equal(site.stop.timeout_s, 0);
	/* A container that has ended is the kernel half's to see. */
	site.stop.done(site.stop.userdata, 77, NULL);
	assert_int_equal(site.n_fed, 0);
	site.stop.done(site.stop.userdata, 77, "it hung up");
	assert_int_equal(site.n_fed, 1);
	expect_fed(SHUTDOWN_EV_STOP_FAILED, 77, true);
	assert_int_equal(site.stops, 3);
}

static void test_hook(void **state)
{
	struct effect effect = {.type = EFFECT_STOP,
				.id = 80,
				.at_ns = 2000000000,
				.hook_ns = 1000000000,
				.container_id = "c1",
				.pod_uid = "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"};

	open_stopper(no_unit);
	play(&effect);
	assert_int_equal(site.stop.timeout_s, 2);
	assert_int_equal(site.stop.hook_s, 1);
	site.stop.hook(site.stop.userdata, 80, SOURCE_CRI_HOOK_BEGUN, "n/p/c", NULL);
	assert_int_equal(site.n_fed, 1);
	expect_fed(SHUTDOWN_EV_HOOK_BEGUN, 80, false);
	site.stop.hook(site.stop.userdata, 80, SOURCE_CRI_HOOK_ENDED, "n/p/c", NULL);
	assert_int_equal(site.n_fed, 2);
	expect_fed(SHUTDOWN_EV_HOOK_ENDED, 80, false);
	site.stop.hook(site.stop.userdata, 80, SOURCE_CRI_HOOK_ENDED, "n/p/c", "exit code 1");
	assert_int_equal(site.n_fed, 3);
	expect_fed(SHUTDOWN_EV_HOOK_ENDED, 80, true);
	/* The engine waits for no answer about one that does not run. */
	site.stop.hook(site.stop.userdata, 80, SOURCE_CRI_HOOK_NOT_RUN, "n/p/c", "it is httpGet");
	assert_int_equal(site.n_fed, 3);
	site.skips_hooks = true;
	open_stopper(no_unit);
	play(&effect);
	assert_int_equal(site.stop.hook_s, 0);
	assert_int_equal(site.stop.timeout_s, 2);
	assert_int_equal(site.n_fed, 3);
}

static void test_no_runtime(void **state)
{
	struct effect effect = {.type = EFFECT_STOP,
				.id = 78,
				.container_id = "c1",
				.pod_uid = "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"};

	open_stopper(no_unit);
	site.stop_result = -ENOTCONN;
	play(&effect);
	assert_int_equal(site.n_fed, 1);
	expect_fed(SHUTDOWN_EV_STOP_FAILED, 78, true);
	site.stop_result = 0;
	effect.id++;
	effect.pod_uid[0] = 0;
	play(&effect);
	assert_int_equal(site.n_fed, 2);
	expect_fed(SHUTDOWN_EV_STOP_FAILED, 79, true);
	assert_int_equal(site.stops, 1);
}

/* The log names it by what is known here. */
static void test_hook_not_run(void **state)
{
	static const struct {
		int error;
		const char *warning;
	} rows[] = {
		{-ENOTCONN, "the preStop hook of container 0123456789ab of pod "
			    "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6 is not run: no runtime with CRI "
			    "answers; the container is stopped without it"},
		{-ENOBUFS,
		 "the preStop hook of container 0123456789ab of pod "
		 "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6 is not run: it is stopping too many "
		 "already; the container is stopped without it"},
	};
	struct effect effect = {.type = EFFECT_STOP,
				.id = 81,
				.at_ns = 2000000000,
				.hook_ns = 1000000000,
				.container_id = "0123456789abcdef",
				.pod_uid = "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"};

	open_stopper(no_unit);
	for (unsigned int i = 0; i < LEN(rows); i++) {
		site.stop_result = rows[i].error;
		play(&effect);
		assert_int_equal(site.warnings, i + 1);
		assert_string_equal(site.warning, rows[i].warning);
		assert_int_equal(site.n_fed, i + 1);
		expect_fed(SHUTDOWN_EV_STOP_FAILED, 81, true);
	}
	effect.hook_ns = 0;
	play(&effect);
	assert_int_equal(site.warnings, LEN(rows));
}

static void expect_sandbox(unsigned int n, bool failed)
{
	assert_int_equal(site.n_fed, n);
	assert_int_equal(site.fed.event, SHUTDOWN_EV_SANDBOX_STOPPED);
	assert_string_equal(site.fed.pod_uid, "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6");
	assert_int_equal(site.fed.failed, failed);
}

static void test_sandbox(void **state)
{
	struct effect effect = {.type = EFFECT_STOP_SANDBOX,
				.id = 90,
				.container_id = "s1",
				.pod_uid = "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"};
	struct source_cri_stop first;

	open_stopper(no_unit);
	play(&effect);
	assert_string_equal(site.id, "s1");
	assert_true(site.stop.sandbox);
	assert_int_equal(site.n_fed, 0);
	first = site.stop;
	play(&effect);
	site.stop.done(site.stop.userdata, site.stop.tag, "it hung up");
	expect_sandbox(1, true);
	first.done(first.userdata, first.tag, NULL);
	expect_sandbox(2, false);
	/* Nothing that could be requested is answered at once. */
	site.stop_result = -ENOTCONN;
	play(&effect);
	expect_sandbox(3, true);
	site.stop_result = 0;
	effect.container_id[0] = 0;
	play(&effect);
	expect_sandbox(4, true);
	assert_int_equal(site.stops, 3);
	/* One that is under way is freed. */
	effect.container_id[0] = 's';
	play(&effect);
	site.stopper = stopper_free(site.stopper);
	assert_int_equal(site.n_fed, 4);
}

static void test_signal(void **state)
{
	struct effect effect = {.type = EFFECT_SIGNAL,
				.id = 5,
				.signal = SIGQUIT,
				.pid = 4711,
				.start_ns = 123456789};

	open_stopper(no_unit);
	play(&effect);
	assert_int_equal(site.signals, 1);
	assert_int_equal(site.signal_id, 5);
	assert_int_equal(site.signal, SIGQUIT);
	assert_int_equal(site.process.pid, 4711);
	assert_int_equal(site.process.start_ns, 123456789);
	assert_string_equal(site.controller, "memory");
	site.hierarchy.unified = true;
	play(&effect);
	assert_string_equal(site.controller, "none");
	effect.pid = 0;
	play(&effect);
	assert_int_equal(site.signals, 2);
	assert_int_equal(site.n_fed, 0);
}

static void test_no_units(void **state)
{
	open_stopper(no_unit);
	play(&(struct effect){.type = EFFECT_STOP_UNITS});
	assert_int_equal(site.n_fed, 1);
	expect_fed(SHUTDOWN_EV_UNITS_STOPPED, 0, false);
	play(&(struct effect){.type = EFFECT_START_UNITS});
	assert_int_equal(site.peer.connected, 0);
}

static void test_units(void **state)
{
	open_stopper(one_unit);
	play(&(struct effect){.type = EFFECT_STOP_UNITS});
	until_fed(1);
	expect_fed(SHUTDOWN_EV_UNITS_STOPPED, 0, false);
	assert_string_equal(site.calls, "StopUnit kubelet.service;");
	assert_true(site.file_there);
	/* SIGKILL, and another process. */
	open_stopper(one_unit);
	assert_true(has_file());
	play(&(struct effect){.type = EFFECT_START_UNITS});
	until_called("StopUnit kubelet.service;StartUnit kubelet.service;");
	for (uint64_t end_ns = clock_boot_ns() + PATIENCE_NS; has_file();) {
		assert_true(clock_boot_ns() < end_ns);
		assert_true(sd_event_run(site.event, 20000) >= 0);
	}
	open_stopper(one_unit);
	stopper_start_units(site.stopper);
	for (int i = 0; i < 5; i++)
		assert_true(sd_event_run(site.event, 20000) >= 0);
	assert_string_equal(site.calls, "StopUnit kubelet.service;StartUnit kubelet.service;");
}

static void test_failed_units(void **state)
{
	open_stopper(one_unit);
	unitpeer_stop(&site.peer);
	play(&(struct effect){.type = EFFECT_STOP_UNITS});
	until_fed(1);
	expect_fed(SHUTDOWN_EV_UNITS_STOPPED, 0, true);
	assert_false(has_file());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"a container of a pod is given to the runtime; only a failure is answered",
		 test_stop, set_up, tear_down, NULL},
		{"a preStop hook is run unless that is off, and the engine learns when", test_hook,
		 set_up, tear_down, NULL},
		{"a preStop hook that the runtime is not requested to run is logged",
		 test_hook_not_run, set_up, tear_down, NULL},
		{"without a runtime, or without a pod, the failure is answered at once",
		 test_no_runtime, set_up, tear_down, NULL},
		{"a sandbox is stopped by the runtime, and each answer names its pod", test_sandbox,
		 set_up, tear_down, NULL},
		{"the signal goes to the init that the engine knows", test_signal, set_up,
		 tear_down, NULL},
		{"without units the answer comes at once", test_no_units, set_up, tear_down, NULL},
		{"units that were stopped are started again, by another process, too, and once",
		 test_units, set_up, tear_down, NULL},
		{"units that cannot be stopped are answered, too", test_failed_units, set_up,
		 tear_down, NULL},
	};

	return cmocka_run_group_tests_name("app/daemon/stopper", tests, NULL, NULL);
}
