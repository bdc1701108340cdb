// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon in a node's shutdown: logind is python-dbusmock's on a bus of the test's
 * own, the containers are real, and what is killed is killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/shutdown/shutscene.h"

static void metrics_show_how_a_shutdown_stands(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	double began = (double)(clock_wall_ns() / 1000000000);
	struct box box;

	shutscene_box(s, "deaf", &box);
	shutscene_await_metric(s, "graced_shutdown_start_time_seconds", NULL, 0);
	shutscene_await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	shutscene_await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 20);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"lock-held\"", 1);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"delay-enough\"", 1);
	logindmock_announce(&s->mock, true, "reboot");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_true(service_await_metric(s->service, "graced_shutdown_start_time_seconds", NULL,
					 began) >= began);
	shutscene_await_metric(s, "graced_shutdown_end_time_seconds", NULL, 0);
	logindmock_announce(&s->mock, false, "reboot");
	assert_true(service_await_metric(s->service, "graced_shutdown_end_time_seconds", NULL,
					 began) >= began);
	shutscene_await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	logindmock_announce(&s->mock, true, "reboot");
	shutscene_await_metric(s, "graced_shutdown_end_time_seconds", NULL, 0);
	assert_int_equal(box_remove(&box), 0);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	shutscene_await_locks(s, 0);
	assert_true(service_await_metric(s->service, "graced_shutdown_end_time_seconds", NULL,
					 began) >= began);
	shutscene_await_metric(s, "graced_shutdown_inhibitor_held", NULL, 0);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"lock-held\"", 0);
	shutscene_end(s);
}

/* systemd would have kept the lock; here logind, which gives none any more, is asked in vain. */
static void a_daemon_that_is_killed_carries_on(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	json_int_t announced;
	struct box box;
	json_t *rec;

	shutscene_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "poweroff");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'announced','lock_held':true}");
	announced = jrec_int(rec, "announced_boot_ns", 0);
	json_decref(rec);
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	shutscene_await_locks(s, 1);
	logindmock_refuse(&s->mock, "org.freedesktop.login1.OperationInProgress");
	shutscene_start(s, "assist");
	rec = shutscene_await_record(s,
				     "{'type':'shutdown','event':'announced','lock_held':false}");
	/* The file has it by a clock that is slewed. */
	assert_true(llabs(jrec_int(rec, "announced_boot_ns", 0) - announced) < 500000000);
	json_decref(rec);
	/* The kubelet's lock is for its pods, and holds the node up when they are gone. */
	sleep(6);
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'held-up'}"));
	assert_int_equal(box_remove(&box), 0);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'held-up',"
					      "'holders':[{'who':'kubelet','uid':0,'pid':7}]}"));
	shutscene_end(s);
}

/* Who was not there cannot tell the two apart, and goes by the earlier one. The mock gives the lock
 * that systemd would have kept. */
static void announced_anew_behind_its_back(void **state)
{
	struct shutscene *s = shutscene_begin(
		state, &(struct shutscene_spec){.mode = "assist", .limit_us = 20000000});
	int64_t announced_ns, anew_ns;
	struct box box;
	json_t *rec;

	shutscene_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "poweroff");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'announced'}");
	announced_ns = jrec_int(rec, "announced_boot_ns", 0);
	json_decref(rec);
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	logindmock_announce(&s->mock, false, "poweroff");
	sleep(1);
	anew_ns = (int64_t)clock_boot_ns();
	logindmock_announce(&s->mock, true, "reboot");
	shutscene_start(s, "assist");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released'}");
	assert_string_equal(jrec_text(rec, "reason"), "limit");
	/* The file has it by a clock that is slewed. */
	assert_true(llabs(jrec_int(rec, "announced_boot_ns", 0) - announced_ns) < 500000000);
	assert_true(jrec_int(rec, "boot_ns", 0) < anew_ns + 18000000000);
	json_decref(rec);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* The kubelet's groups take 5 s, and 10 s are for what it leaves. */
static void assist_keeps_the_delay_and_observe_takes_it_back(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	char path[128];

	snprintf(path, sizeof(path), "%s/logind.conf.d/zz-graced.conf", s->systemd);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"delay-enough\"", 1);
	assert_int_equal(access(path, F_OK), -1);
	logindmock_add_systemd(&s->mock, s->mock.dir);
	shutscene_write(s->kubelet, SHUTSCENE_KUBELET "shutdownGracePeriod: 35s\n");
	shutscene_await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 45);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"delay-enough\"", 1);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"delay-not-pinned\"", 1);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	shutscene_start(s, "observe");
	shutscene_await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 5);
	assert_int_equal(access(path, F_OK), -1);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"delay-enough\"", 0);
	shutscene_end(s);
}

#define CONFIG_READY "graced_shutdown_ready", "condition=\"kubelet-config\""

/* Reported again when the file changes, not while it stays as it is. */
static void a_bad_kubelet_configuration_is_reported(void **state)
{
	struct shutscene *s = shutscene_begin(
		state, &(struct shutscene_spec){.mode = "observe",
						.kubelet = SHUTSCENE_KUBELET
						"shutdownGracePeriod: 10s\n"
						"shutdownGracePeriodCriticalPods: 20s\n"});
	const char *at;
	char *log;

	shutscene_await_metric(s, CONFIG_READY, 0);
	assert_true(service_await_log(
		s->service, "a kubelet would not start with it: invalid configuration: "
			    "shutdownGracePeriodCriticalPods {20s} must be <= shutdownGracePeriod "
			    "{10s}; its groups in a shutdown are not known"));
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"grace-fits\"", 0);
	shutscene_write(s->kubelet, SHUTSCENE_KUBELET "shutdownGracePeriod: 10s\n");
	shutscene_await_metric(s, CONFIG_READY, 1);
	shutscene_await_metric(s, "graced_shutdown_ready", "condition=\"grace-fits\"", 1);
	assert_int_equal(chmod(s->kubelet, 0666), 0);
	shutscene_await_metric(s, CONFIG_READY, 0);
	assert_true(service_await_log(s->service, "kubelet.yaml may be written by its group or "
						  "others; chmod go-w it; its groups"));
	assert_int_equal(chmod(s->kubelet, 0644), 0);
	shutscene_await_metric(s, CONFIG_READY, 1);
	shutscene_write(s->kubelet, SHUTSCENE_KUBELET "shutdownGracePeriod: 10\n");
	shutscene_await_metric(s, CONFIG_READY, 0);
	assert_true(service_await_log(
		s->service, "line 3: shutdownGracePeriod must be a duration like 30s or 1m30s"));
	log = service_log(s->service);
	at = strstr(log, "{20s} must be");
	assert_null(strstr(at + 1, "{20s} must be"));
	free(log);
	shutscene_end(s);
}

static void the_recorder_waits_for_the_last_container(void **state)
{
	struct shutscene *s = shutscene_begin(
		state, &(struct shutscene_spec){.mode = "observe", .limit_us = 600000000});
	struct box box;
	struct sent sent;
	json_t *rec;

	shutscene_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "reboot");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'announced'}");
	assert_string_equal(jrec_text(rec, "action"), "reboot");
	assert_int_equal(jrec_int(rec, "limit_ns", 0), 600000000000);
	assert_int_equal(jrec_int(rec, "containers_left", 0), 1);
	json_decref(rec);
	assert_int_equal(logindmock_locks(&s->mock), 2);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	/* graced has learned who holds a lock. */
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'group-started'}"));
	assert_int_equal(box_remove(&box), 0);
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-empty',"
		   "'holders':[{'who':'kubelet','uid':0,'pid':7}]}"));
	shutscene_await_locks(s, 1);
	shutscene_end(s);
}

/* logind says so when it is asked again, at the announcement. */
static void no_lock_is_held_for_a_logind_that_waits_for_none(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	struct box box;
	json_t *rec;

	shutscene_box(s, "deaf", &box);
	logindmock_set_limit(&s->mock, 0);
	logindmock_announce(&s->mock, true, "poweroff");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					"'reason':'limit','lock_held':true}");
	assert_int_equal(jrec_int(rec, "limit_ns", -1), 0);
	assert_int_equal(jrec_int(rec, "containers_left", 0), 1);
	json_decref(rec);
	shutscene_await_locks(s, 1);
	shutscene_await_metric(s, "graced_shutdown_delay_max_seconds", NULL, 0);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* Nothing says any more who holds a lock; the lock itself needs no bus. */
static void the_recorder_holds_without_the_bus(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	struct box one, other;
	struct sent sent;

	shutscene_box(s, "one", &one);
	shutscene_box(s, "other", &other);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, one.init_pid, SIGTERM, &sent),
			 0);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, other.init_pid, SIGTERM, &sent),
			 0);
	logindmock_kill_bus(&s->mock);
	assert_true(service_await_log(s->service, "cannot query logind: "));
	assert_int_equal(box_remove(&one), 0);
	json_decref(shutscene_await_record(s, "{'type':'stop','pod':{'name':'one'}}"));
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'released'}"));
	assert_int_equal(box_remove(&other), 0);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					      "'reason':'all-empty','lock_held':true}"));
	shutscene_end(s);
}

static void limit_descriptors(const struct shutscene *s, rlim_t soft)
{
	struct rlimit limit;

	assert_int_equal(prlimit(service_pid(s->service), RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = soft ? soft : limit.rlim_max;
	assert_int_equal(prlimit(service_pid(s->service), RLIMIT_NOFILE, &limit, NULL), 0);
}

/* The init leaves a child in the container: the daemon looks whether it is empty, and can open no
 * file to do so. */
static void a_look_without_descriptors_is_no_end(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	const struct box_spec spec = {.argv = BOX_ARGV("leave-child", "3"), .host_pidns = true};
	struct proc_end how;
	uint64_t left_ns;
	struct box box;
	json_t *rec;

	shutscene_box_of(s, "left", &spec, &box);
	logindmock_announce(&s->mock, true, "reboot");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	limit_descriptors(s, 3);
	page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &how), 0);
	json_decref(
		shutscene_await_record(s, "{'type':'stop','outcome':'failed','pod':{'name':'left'},"
					  "'evidence':{'gaps':['not-empty']}}"));
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'released'}"));
	assert_int_equal(logindmock_locks(&s->mock), 2);
	limit_descriptors(s, 0);
	left_ns = page_clock_ns();
	page_go(box.proc.page, 2);
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					"'reason':'all-empty'}");
	assert_true((uint64_t)jrec_int(rec, "boot_ns", 0) >= left_ns);
	json_decref(rec);
	shutscene_await_locks(s, 1);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* Its own is not among the holders that it reports; a lock of any other process is. */
static void a_lock_that_borrows_its_name_is_reported(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	struct box box;
	json_t *rec;

	shutscene_box(s, "web", &box);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']\n"
				 "inhibitors += [('shutdown', 'graced', '', 'delay', 1000, 8)]");
	logindmock_announce(&s->mock, true, "poweroff");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					"'holders':[{'who':'graced','uid':1000,'pid':8}]}");
	assert_string_not_equal(jrec_text(rec, "reason"), "no-other-lock");
	json_decref(rec);
	shutscene_await_locks(s, 1);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void a_cancelled_shutdown_is_over(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	struct sent sent;
	struct box box;

	shutscene_box(s, "deaf", &box);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	logindmock_announce(&s->mock, false, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'cancelled'}"));
	shutscene_await_locks(s, 2);
	/* Its time would have been over. */
	sleep(5);
	assert_int_equal(kill(box.init_pid, 0), 0);
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'container-killed'}"));
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void what_is_overdue_is_ended_and_the_door_let_go(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	struct proc_end how;
	struct sent sent;
	struct box deaf, unasked;
	json_t *rec;

	shutscene_box(s, "deaf", &deaf);
	shutscene_box(s, "unasked", &unasked);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, deaf.init_pid, SIGTERM, &sent),
			 0);

	assert_int_equal(proc_wait(&deaf.proc, &how), 0);
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					"'container':{'name':'main'}}");
	assert_string_equal(jrec_text(rec, "container.id"), deaf.id);
	assert_string_equal(jrec_text(rec, "pod.name"), "deaf");
	/* 3 s of its group and 1 s of slack. */
	assert_true((uint64_t)jrec_int(rec, "boot_ns", 0) >= sent.before_ns + 4000000000ULL);
	json_decref(rec);
	rec = shutscene_await_record(s, "{'type':'stop','outcome':'killed','pod':{'name':'deaf'}}");
	assert_string_equal(jrec_text(rec, "kill_signal.sender.comm"), "graced");
	json_decref(rec);
	/* The kubelet may stop others yet, until it lets go. */
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'released'}"));
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released'}"));
	shutscene_await_locks(s, 0);
	assert_int_equal(kill(unasked.init_pid, 0), 0);
	assert_int_equal(box_remove(&deaf), 0);
	assert_int_equal(box_remove(&unasked), 0);
	shutscene_end(s);
}

/* How long after it was sent that signal a container was killed. */
static json_int_t await_killed(const struct shutscene *s, const char *expected,
			       const struct sent *sent)
{
	json_t *rec = shutscene_await_record(s, expected);
	json_int_t ns = jrec_int(rec, "boot_ns", 0) - (json_int_t)sent->before_ns;

	json_decref(rec);
	return ns;
}

/* The child of the second does not hear it either, but for all that anybody knows it may. */
static void the_deaf_are_ended_early_if_nobody_else_was_signalled(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist",
									      .deaf_grace = "1s"});
	struct sent to_silent, to_signalled, to_child;
	struct box silent, signalled;
	struct proc early, child;
	struct proc_end how;

	shutscene_box(s, "silent", &silent);
	shutscene_box(s, "signalled", &signalled);
	assert_int_equal(box_exec(&s->tree, &silent, "workload", true, BOX_ARGV("deaf"), &early),
			 0);
	assert_int_equal(
		box_exec(&s->tree, &signalled, "workload", true, BOX_ARGV("blocked"), &child), 0);
	/* Before the shutdown, that is no part of it. */
	assert_int_equal(kill(early.pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&early, &how), 0);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_HOST, NULL, child.pid, SIGTERM, &to_child), 0);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, signalled.init_pid, SIGTERM,
				     &to_signalled),
			 0);
	assert_int_equal(
		send_signal(&s->tree, SEND_RUNTIME, NULL, silent.init_pid, SIGTERM, &to_silent), 0);

	/* The time of their group and the slack are 4 s. */
	assert_in_range(await_killed(s,
				     "{'type':'shutdown','event':'container-killed',"
				     "'pod':{'name':'silent'}}",
				     &to_silent),
			1000000000, 3999999999);
	assert_in_range(await_killed(s,
				     "{'type':'shutdown','event':'container-killed',"
				     "'pod':{'name':'signalled'}}",
				     &to_signalled),
			4000000000, UINT64_MAX / 2);
	proc_free(&early);
	proc_free(&child);
	assert_int_equal(box_remove(&silent), 0);
	assert_int_equal(box_remove(&signalled), 0);
	shutscene_end(s);
}

/* Its processes may have been signalled while no daemon ran. */
static void who_ran_unwatched_in_it_is_not_ended_early(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist",
									      .deaf_grace = "1s"});
	struct sent sent;
	struct box box;

	shutscene_box(s, "old", &box);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	shutscene_start(s, "assist");
	shutscene_await_locks(s, 2);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	assert_in_range(await_killed(s,
				     "{'type':'shutdown','event':'container-killed',"
				     "'pod':{'name':'old'}}",
				     &sent),
			4000000000, UINT64_MAX / 2);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void what_has_no_effect_is_logged(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe",
									      .deaf_grace = "2s"});

	assert_true(service_await_log(
		s->service, "shutdown.deafGrace has no effect: shutdown.mode is not assist"));
	shutscene_end(s);
}

static void the_lack_of_logind_is_logged(void **state)
{
	static const struct {
		const char *mode, *bus, *says;
		int status;
		double lock_held; /* the condition; -1: absent */
	} cases[] = {
		{"assist", "unix:path=/nowhere/bus",
		 "level=warning msg=\"shutdowns of the node are not seen: there is no system bus, at "
		 "/nowhere/bus; until logind answers there, shutdown.mode assist does nothing\"",
		 0, 0},
		{"observe", "unix:path=/nowhere/bus",
		 "level=info msg=\"shutdowns of the node are not seen: ", 0, -1},
		{"observe", "unix:abstract=/bus",
		 "level=warning msg=\"shutdowns of the node are not seen: DBUS_SYSTEM_BUS_ADDRESS",
		 0, -1},
		{"assist", "unix:abstract=/bus", "DBUS_SYSTEM_BUS_ADDRESS is not unix:path=", 1,
		 -1},
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
		if (!cases[i].status) {
			assert_true(service_metric(service, "graced_shutdown_ready",
						   "condition=\"lock-held\"") ==
				    cases[i].lock_held);
			assert_true(service_metric(service, "graced_shutdown_inhibitor_held",
						   NULL) == cases[i].lock_held);
			assert_true(service_metric(service, "graced_shutdown_ready",
						   "condition=\"delay-not-pinned\"") == -1);
		}
		assert_int_equal(cases[i].status ? service_wait(service) : service_stop(service),
				 cases[i].status);
		service_free(service);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("the recorder holds the lock until the last container is empty",
				the_recorder_waits_for_the_last_container),
		SHUTSCENE_CLAIM("... also when the bus is gone in between",
				the_recorder_holds_without_the_bus),
		SHUTSCENE_CLAIM("no lock is held for a logind that waits for none",
				no_lock_is_held_for_a_logind_that_waits_for_none),
		SHUTSCENE_CLAIM(
			"a container that cannot be looked at for lack of descriptors is not empty",
			a_look_without_descriptors_is_no_end),
		SHUTSCENE_CLAIM(
			"metrics tell of the lock, of what a shutdown needs, and when one was",
			metrics_show_how_a_shutdown_stands),
		SHUTSCENE_CLAIM(
			"assist has logind wait as long as is needed, and observe takes that back",
			assist_keeps_the_delay_and_observe_takes_it_back),
		SHUTSCENE_CLAIM(
			"a kubelet's configuration that cannot be used is logged, and shown in metrics",
			a_bad_kubelet_configuration_is_reported),
		SHUTSCENE_CLAIM(
			"a daemon killed in the middle of a shutdown carries on from its beginning",
			a_daemon_that_is_killed_carries_on),
		SHUTSCENE_CLAIM(
			"one announced anew while no daemon ran counts from the first, and ends no later",
			announced_anew_behind_its_back),
		SHUTSCENE_CLAIM("another process's lock of graced's name counts as another lock",
				a_lock_that_borrows_its_name_is_reported),
		SHUTSCENE_CLAIM(
			"a cancelled shutdown ends nobody, and the lock is held for the next one",
			a_cancelled_shutdown_is_over),
		SHUTSCENE_CLAIM(
			"a container that is overdue is ended, no other is, and the lock goes",
			what_is_overdue_is_ended_and_the_door_let_go),
		SHUTSCENE_CLAIM(
			"a deaf container is ended early, but not one that has a process that was signalled",
			the_deaf_are_ended_early_if_nobody_else_was_signalled),
		SHUTSCENE_CLAIM("nor one that ran in the shutdown while no daemon did",
				who_ran_unwatched_in_it_is_not_ended_early),
		SHUTSCENE_CLAIM(
			"that shutdowns are not seen is logged, and ends no daemon that only records",
			the_lack_of_logind_is_logged),
		SHUTSCENE_CLAIM("a deaf grace that has no effect in this mode is logged",
				what_has_no_effect_is_logged),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
