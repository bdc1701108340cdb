// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon in a node's shutdown: logind is python-dbusmock's on a bus of the test's
 * own, the containers are real, and what is killed is killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/clock.h"
#include "lib/box.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/logindmock.h"
#include "lib/lognames.h"
#include "lib/send.h"
#include "lib/service.h"
#include "lib/tracer.h"

#define PATIENCE_NS 30000000000ULL
#define STEP_US	    20000

struct stage {
	struct box_tree tree;
	struct logindmock mock;
	struct lognames names;
	struct service *service;
	char records[80], kubelet[80], state[80], systemd[80];
};

static int open_stage(void **state)
{
	static struct stage stage;
	const char *why = tracer_unavailable();

	*state = NULL;
	if (!why)
		why = box_unavailable();
	if (!why && !logindmock_is_here())
		why = "dbus-daemon or python3-dbusmock is not installed";
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (box_tree_open(&stage.tree, "shutdown") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int close_stage(void **state)
{
	struct stage *s = *state;

	return s ? box_tree_close(&s->tree) : 0;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void start(struct stage *s, const char *mode)
{
	const char *const env[] = {"", NULL};
	const char *const args[] = {"--sinks.journal=false",
				    "--sinks.file",
				    s->records,
				    "--names.log-directory",
				    s->names.dir,
				    "--shutdown.mode",
				    mode,
				    "--shutdown.kubelet-config",
				    s->kubelet,
				    "--shutdown.overdue-slack=1s",
				    "--shutdown.status-wait=1s",
				    NULL};
	char bus[128];
	const char *with_bus[] = {bus, env[1]};

	snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s", s->mock.address);
	assert_int_equal(service_start(&(struct service_spec){.args = args,
							      .env = with_bus,
							      .dir = s->state,
							      .systemd = s->systemd},
				       &s->service),
			 0);
}

/* The kubelet's among them, once it has one. */
static void await_locks(struct stage *s, unsigned int n)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;

	while (logindmock_locks(&s->mock) != n) {
		_cleanup_(cleanup_free) char *log = NULL;

		/* The lock's copy for systemd's store is with who reads these. */
		if (s->service)
			service_notifications(s->service);
		if (clock_boot_ns() >= until) {
			log = service_log(s->service);
			fail_msg("%u locks are held, not %u: %s", logindmock_locks(&s->mock), n,
				 log);
		}
		usleep(STEP_US);
	}
}

/* logind with a limit of 20 s, a kubelet that gives 3 s and holds a lock, and the daemon. */
static struct stage *begin(void **state, const char *mode)
{
	struct stage *s = *state;

	if (!s)
		skip();
	logindmock_begin(&s->mock);
	logindmock_start_bus(&s->mock);
	logindmock_start(&s->mock);
	logindmock_set_limit(&s->mock, 20000000);
	assert_int_equal(lognames_open(&s->names), 0);
	snprintf(s->records, sizeof(s->records), "%s/records", s->mock.dir);
	snprintf(s->kubelet, sizeof(s->kubelet), "%s/kubelet.yaml", s->mock.dir);
	snprintf(s->state, sizeof(s->state), "%s/state", s->mock.dir);
	assert_int_equal(mkdir(s->state, 0700), 0);
	snprintf(s->systemd, sizeof(s->systemd), "%s/etc", s->mock.dir);
	assert_int_equal(mkdir(s->systemd, 0755), 0);
	snprintf(s->systemd, sizeof(s->systemd), "%s/etc/systemd", s->mock.dir);
	assert_int_equal(mkdir(s->systemd, 0755), 0);
	write_file(s->kubelet, "shutdownGracePeriod: 5s\nshutdownGracePeriodCriticalPods: 2s\n");
	start(s, mode);
	await_locks(s, 1);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', 'pods', 'delay', 0, 7)]");
	return s;
}

static void end(struct stage *s)
{
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	lognames_close(&s->names);
	logindmock_end(&s->mock);
}

/* A pod of that name, whose container does not hear SIGTERM; the daemon knows it. */
static void make_box(struct stage *s, const char *pod, struct box *ret)
{
	struct lognames_of names = {&s->names, "shop", pod, "main"};
	const struct box_spec spec = {
		.argv = BOX_ARGV("deaf"), .named = lognames_of, .userdata = &names};
	double known = service_metric(s->service, "graced_known_pods", NULL);

	assert_int_equal(box_start(&s->tree, &spec, ret), 0);
	assert_true(service_await_metric(s->service, "graced_known_pods", NULL, known + 1) > known);
}

static json_t *find(const struct stage *s, const char *expected)
{
	FILE *f = fopen(s->records, "re");
	json_t *found = NULL, *rec;
	char why[256];

	while (f && !found && (rec = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL))) {
		if (jrec_match(rec, expected, why, sizeof(why)) == 0)
			found = json_incref(rec);
		json_decref(rec);
	}
	if (f)
		fclose(f);
	return found;
}

static json_t *await_record(const struct stage *s, const char *expected)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	json_t *rec;

	while (!(rec = find(s, expected))) {
		if (clock_boot_ns() >= until)
			fail_msg("no record has %s", expected);
		usleep(STEP_US);
	}
	return rec;
}

static void forget(json_t *rec)
{
	json_decref(rec);
}

/* A page is kept for a moment. */
static void await_metric(struct stage *s, const char *metric, const char *label, double value)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	double is;

	while ((is = service_metric(s->service, metric, label)) < value || is > value) {
		if (clock_boot_ns() >= until)
			fail_msg("%s{%s} is %f, not %f", metric, label ? label : "", is, value);
		usleep(STEP_US);
	}
}

static void it_is_told_how_a_shutdown_stands(void **state)
{
	struct stage *s = begin(state, "observe");
	double began = (double)(clock_wall_ns() / 1000000000);
	struct box box;

	make_box(s, "deaf", &box);
	await_metric(s, "graced_shutdown_start_time_seconds", NULL, 0);
	await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 20);
	await_metric(s, "graced_shutdown_ready", "reason=\"lock-held\"", 1);
	await_metric(s, "graced_shutdown_ready", "reason=\"delay-enough\"", 1);
	logindmock_announce(&s->mock, true, "reboot");
	forget(await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_true(service_await_metric(s->service, "graced_shutdown_start_time_seconds", NULL,
					 began) >= began);
	await_metric(s, "graced_shutdown_end_time_seconds", NULL, 0);
	logindmock_announce(&s->mock, false, "reboot");
	assert_true(service_await_metric(s->service, "graced_shutdown_end_time_seconds", NULL,
					 began) >= began);
	await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	logindmock_announce(&s->mock, true, "reboot");
	await_metric(s, "graced_shutdown_end_time_seconds", NULL, 0);
	assert_int_equal(box_remove(&box), 0);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	await_locks(s, 0);
	assert_true(service_await_metric(s->service, "graced_shutdown_end_time_seconds", NULL,
					 began) >= began);
	await_metric(s, "graced_shutdown_inhibitor_held", NULL, 0);
	await_metric(s, "graced_shutdown_ready", "reason=\"lock-held\"", 0);
	end(s);
}

/* systemd would have kept the lock; here logind, which gives none any more, is asked in vain. */
static void a_daemon_that_is_killed_carries_on(void **state)
{
	struct stage *s = begin(state, "assist");
	json_int_t announced;
	struct box box;
	json_t *rec;

	make_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "power-off");
	rec = await_record(s, "{'type':'shutdown','event':'announced','lock_held':true}");
	announced = jrec_int(rec, "announced_boot_ns", 0);
	forget(rec);
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	await_locks(s, 1);
	logindmock_refuse(&s->mock, "org.freedesktop.login1.OperationInProgress");
	start(s, "assist");
	rec = await_record(s, "{'type':'shutdown','event':'announced','lock_held':false}");
	/* The file has it by a clock that is slewed. */
	assert_true(llabs(jrec_int(rec, "announced_boot_ns", 0) - announced) < 50000000);
	forget(rec);
	forget(await_record(s, "{'type':'shutdown','event':'held-up',"
			       "'holders':[{'who':'kubelet','uid':0,'pid':7}]}"));
	assert_int_equal(box_remove(&box), 0);
	end(s);
}

/* The kubelet's groups take 5 s, and 10 s are for what it leaves. */
static void assist_keeps_the_delay_and_observe_takes_it_back(void **state)
{
	struct stage *s = begin(state, "assist");
	char path[128];

	snprintf(path, sizeof(path), "%s/logind.conf.d/zz-graced.conf", s->systemd);
	await_metric(s, "graced_shutdown_ready", "reason=\"delay-enough\"", 1);
	assert_int_equal(access(path, F_OK), -1);
	logindmock_add_systemd(&s->mock, s->mock.dir);
	write_file(s->kubelet, "shutdownGracePeriod: 35s\n");
	await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 45);
	await_metric(s, "graced_shutdown_ready", "reason=\"delay-enough\"", 1);
	await_metric(s, "graced_shutdown_ready", "reason=\"delay-not-pinned\"", 1);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	start(s, "observe");
	await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 5);
	assert_int_equal(access(path, F_OK), -1);
	await_metric(s, "graced_shutdown_ready", "reason=\"delay-enough\"", 0);
	end(s);
}

static void the_recorder_waits_for_the_last_container(void **state)
{
	struct stage *s = begin(state, "observe");
	struct box box;
	json_t *rec;

	make_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "reboot");
	rec = await_record(s, "{'type':'shutdown','event':'announced'}");
	assert_string_equal(jrec_text(rec, "action"), "reboot");
	assert_int_equal(jrec_int(rec, "limit_ns", 0), 20000000000);
	assert_int_equal(jrec_int(rec, "containers_left", 0), 1);
	forget(rec);
	assert_int_equal(logindmock_locks(&s->mock), 2);
	assert_int_equal(box_remove(&box), 0);
	forget(await_record(s, "{'type':'shutdown','event':'released','reason':'all-empty',"
			       "'holders':[{'who':'kubelet','uid':0,'pid':7}]}"));
	await_locks(s, 1);
	end(s);
}

static void a_cancelled_shutdown_is_over(void **state)
{
	struct stage *s = begin(state, "assist");
	struct sent sent;
	struct box box;

	make_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "power-off");
	forget(await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	logindmock_announce(&s->mock, false, "power-off");
	forget(await_record(s, "{'type':'shutdown','event':'cancelled'}"));
	await_locks(s, 2);
	/* Its time would have been over. */
	sleep(5);
	assert_int_equal(kill(box.init_pid, 0), 0);
	assert_null(find(s, "{'type':'shutdown','event':'container-killed'}"));
	assert_int_equal(box_remove(&box), 0);
	end(s);
}

static void what_is_overdue_is_ended_and_the_door_let_go(void **state)
{
	struct stage *s = begin(state, "assist");
	struct proc_end how;
	struct sent sent;
	struct box deaf, unasked;
	json_t *rec;

	make_box(s, "deaf", &deaf);
	make_box(s, "unasked", &unasked);
	logindmock_announce(&s->mock, true, "power-off");
	forget(await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, deaf.init_pid, SIGTERM, &sent),
			 0);

	assert_int_equal(proc_wait(&deaf.proc, &how), 0);
	rec = await_record(s, "{'type':'shutdown','event':'container-killed',"
			      "'container':{'name':'main'}}");
	assert_string_equal(jrec_text(rec, "container.id"), deaf.id);
	assert_string_equal(jrec_text(rec, "pod.name"), "deaf");
	/* 3 s of its group and 1 s of slack. */
	assert_true((uint64_t)jrec_int(rec, "boot_ns", 0) >= sent.before_ns + 4000000000ULL);
	forget(rec);
	rec = await_record(s, "{'type':'stop','outcome':'killed','pod':{'name':'deaf'}}");
	assert_string_equal(jrec_text(rec, "kill_signal.sender.comm"), "graced");
	forget(rec);
	/* The kubelet may stop others yet, until it lets go. */
	assert_null(find(s, "{'type':'shutdown','event':'released'}"));
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	forget(await_record(s, "{'type':'shutdown','event':'released'}"));
	await_locks(s, 0);
	assert_int_equal(kill(unasked.init_pid, 0), 0);
	assert_int_equal(box_remove(&deaf), 0);
	assert_int_equal(box_remove(&unasked), 0);
	end(s);
}

static void the_lack_of_logind_is_told(void **state)
{
	static const struct {
		const char *mode, *bus, *says;
		int status;
	} cases[] = {
		{"assist", "unix:path=/nowhere/bus",
		 "level=warning msg=\"shutdowns of the node are not seen: there is no system bus, at "
		 "/nowhere/bus",
		 0},
		{"observe", "unix:path=/nowhere/bus",
		 "level=info msg=\"shutdowns of the node are not seen: ", 0},
		{"observe", "unix:abstract=/bus",
		 "level=warning msg=\"shutdowns of the node are not seen: DBUS_SYSTEM_BUS_ADDRESS",
		 0},
		{"assist", "unix:abstract=/bus", "DBUS_SYSTEM_BUS_ADDRESS is not unix:path=", 1},
	};
	struct service *service;

	if (!*state)
		skip();
	for (size_t i = 0; i < LEN(cases); i++) {
		char bus[96];
		const char *env[] = {bus, NULL};
		const char *const args[] = {"--sinks.journal=false", "--shutdown.mode",
					    cases[i].mode, NULL};

		snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s", cases[i].bus);
		assert_int_equal(
			service_start(&(struct service_spec){.args = args,
							     .env = env,
							     .no_wait = cases[i].status != 0},
				      &service),
			0);
		assert_true(service_await_log(service, cases[i].says));
		assert_int_equal(cases[i].status ? service_wait(service) : service_stop(service),
				 cases[i].status);
		service_free(service);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the recorder holds the lock until the last container is empty",
		      the_recorder_waits_for_the_last_container),
		CLAIM("metrics tell of the lock, of what a shutdown needs, and when one was",
		      it_is_told_how_a_shutdown_stands),
		CLAIM("assist has logind wait as long as is needed, and observe takes that back",
		      assist_keeps_the_delay_and_observe_takes_it_back),
		CLAIM("a daemon killed in the middle of a shutdown carries on from its beginning",
		      a_daemon_that_is_killed_carries_on),
		CLAIM("a cancelled shutdown ends nobody, and the lock is held for the next one",
		      a_cancelled_shutdown_is_over),
		CLAIM("a container that is overdue is ended, no other is, and the lock goes",
		      what_is_overdue_is_ended_and_the_door_let_go),
		CLAIM("that shutdowns are not seen is told, and ends no daemon that only records",
		      the_lack_of_logind_is_told),
	};

	return cmocka_run_group_tests(tests, open_stage, close_stage);
}
