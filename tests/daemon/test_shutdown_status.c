// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon that waits in a node's shutdown for the status of a pod: logind is
 * python-dbusmock's, the kubelet is the test's own, the container and its end are real.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/kubestage.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"
#include "lib/shutdown/logindmock.h"

/* As long as the daemon's list of pods gets no update. */
#define POLL	"10m"
/* How long after its container's death a pod's status is written by a kubelet that is slow. */
#define SLOW_US 9000000

#define STATUS_CLAIM(sentence, fn)                  \
	{                                           \
		sentence, fn, NULL, tear_down, NULL \
	}

#define RELEASED "{'type':'shutdown','event':'released'}"

struct stage {
	struct box_tree tree;
	struct logindmock mock;
	struct kubestage kube;
	struct kubestage_pod pod;
	struct box box;
	bool begun; /* what a test has begun is not ended yet */
};

static int open_stage(void **state)
{
	static struct stage stage;
	int r = tracer_open_tree(
		"shutstatus",
		logindmock_is_here() ? NULL : "dbus-daemon or python3-dbusmock is not installed",
		&stage.tree);

	*state = r > 0 ? &stage : NULL;
	return r < 0 ? -1 : 0;
}

static int close_stage(void **state)
{
	struct stage *s = *state;

	return s ? box_tree_close(&s->tree) : 0;
}

struct spec {
	bool no_kubelet;
	const char *status_wait; /* shutdown.statusWait; NULL: as it is by default */
	const char *budget;	 /* budget.cpu; NULL: likewise */
	uint64_t limit_us;	 /* logind's */
};

static void start_daemon(struct stage *s, const struct spec *spec)
{
	char url[64];
	const char *const args[] = {"--sinks.journal=false",
				    "--sinks.file",
				    s->kube.records,
				    "--shutdown.mode=assist",
				    "--kubelet.config=/dev/null",
				    spec->status_wait ? "--shutdown.status-wait" : "--log.level",
				    spec->status_wait ?: "info",
				    "--budget.cpu",
				    spec->budget ?: "2%",
				    "--kubelet.interval=" POLL,
				    spec->no_kubelet ? NULL : "--kubelet.url",
				    url,
				    NULL};
	char bus[128];
	const char *const env[] = {bus, NULL};

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", s->kube.peer.port);
	snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s", s->mock.address);
	assert_int_equal(service_start(&(struct service_spec){.args = args,
							      .env = env,
							      .tree = &s->tree,
							      .systemd = s->mock.dir},
				       &s->kube.service),
			 0);
	s->kube.socket = service_socket(s->kube.service);
}

/* A pod whose container ends when it is asked to, listed as it is now. */
static void make_pod(struct stage *s)
{
	assert_int_equal(
		box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &s->box), 0);
	s->pod = (struct kubestage_pod){
		.uid = s->box.uid, .name = "web", .main = s->box.id, .ready = true};
	kubestage_list(&s->kube, &s->pod, 1);
}

/* The kubelet and the daemon hold locks, and that one knows the pod. */
static struct stage *begin(void **state, const struct spec *spec)
{
	struct stage *s = *state;
	int fd;

	if (!s)
		skip();
	s->kube = (struct kubestage){.records = "/tmp/graced-records-XXXXXX"};
	fd = mkstemp(s->kube.records);
	assert_true(fd >= 0);
	close(fd);
	logindmock_begin(&s->mock);
	logindmock_start_bus(&s->mock);
	logindmock_start(&s->mock);
	logindmock_set_limit(&s->mock, spec->limit_us);
	kubepeer_open(&s->kube.peer);
	make_pod(s);
	s->begun = true;
	start_daemon(s, spec);
	assert_true(service_await_metric(s->kube.service, "graced_shutdown_inhibitor_held", NULL,
					 1) > 0);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', 'pods', 'delay', 0, 7)]");
	if (!spec->no_kubelet)
		json_decref(kubestage_await_line(&s->kube, s->box.uid,
						 "{'state':'sync','ready':true}"));
	return s;
}

/* However far the test came. */
static int tear_down(void **state)
{
	struct stage *s = *state;

	if (!s || !s->begun)
		return 0;
	s->begun = false;
	box_remove(&s->box);
	service_free(s->kube.service);
	kubepeer_close(&s->kube.peer);
	unlink(s->kube.records);
	logindmock_end(&s->mock);
	return 0;
}

/* The shutdown begins and the runtime stops the container, which is gone then; the kubelet is done.
 */
static uint64_t stop_pod(struct stage *s)
{
	struct proc_end how;
	struct sent sent;

	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(kubestage_await_records(&s->kube, "{'type':'shutdown','event':'announced',"
						      "'action':'power-off'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, s->box.init_pid, SIGTERM, &sent),
			 0);
	assert_int_equal(proc_wait(&s->box.proc, &how), 0);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	return clock_boot_ns();
}

static void await_released(struct stage *s, const char *reason, uint64_t before_ns)
{
	json_t *list = kubestage_await_records(&s->kube, RELEASED);
	const json_t *record = json_array_get(list, 0);

	assert_string_equal(jrec_text(record, "reason"), reason);
	assert_true((uint64_t)jrec_int(record, "boot_ns", 0) < before_ns);
	json_decref(list);
}

static json_t *released(struct stage *s)
{
	return kubestage_records(&s->kube, RELEASED);
}

static void is_held(struct stage *s)
{
	json_t *none = released(s);

	assert_int_equal(json_array_size(none), 0);
	json_decref(none);
}

/* The kubelet has written the pod's last status. */
static void show_status(struct stage *s)
{
	s->pod.phase = "Succeeded";
	s->pod.ready = false;
	kubestage_list(&s->kube, &s->pod, 1);
}

static void it_lets_go_when_the_status_is_there(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000});
	uint64_t gone_ns = stop_pod(s);

	usleep(SLOW_US);
	is_held(s);
	show_status(s);
	await_released(s, "pods-ended", gone_ns + 57 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

/* Until the page says so of names: one that was made a moment ago may be shown again. */
static void await_shed(struct stage *s, int names)
{
	for (int i = 0; i < PATIENCE_S * 20; i++) {
		if ((int)service_metric(s->kube.service, "graced_shed", "what=\"names\"") == names)
			return;
		usleep(50000);
	}
	fail_msg("graced_shed of names is not %d", names);
}

/* All is shed that can be, names and with them the questions for a pod's status included. */
static void nothing_that_it_needs_is_shed(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000, .budget = "0.0001%"});
	uint64_t gone_ns;

	await_shed(s, 1);
	gone_ns = stop_pod(s);
	await_shed(s, 0);
	assert_int_equal(service_metric(s->kube.service, "graced_shed", "what=\"signals\""), 1);
	usleep(SLOW_US);
	is_held(s);
	show_status(s);
	await_released(s, "pods-ended", gone_ns + 57 * NS_PER_S);
	logindmock_announce(&s->mock, false, "poweroff");
	await_shed(s, 1);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_waits_up_to_the_limit(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 14000000});
	json_t *list, *record;

	stop_pod(s);
	list = kubestage_await_records(&s->kube, RELEASED);
	record = json_array_get(list, 0);
	assert_string_equal(jrec_text(record, "reason"), "status-late");
	assert_true(jrec_int(record, "boot_ns", 0) >=
		    jrec_int(record, "announced_boot_ns", 0) + 12 * (int64_t)NS_PER_S);
	json_decref(list);
	/* Once at its start, and then when the container was stopped. */
	assert_true(kubepeer_asked(&s->kube.peer) >= 4);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void status_wait_is_a_shorter_one(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000, .status_wait = "3s"});
	uint64_t gone_ns = stop_pod(s);

	await_released(s, "status-late", gone_ns + 57 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

/* From now on it fails whatever it is asked. */
static void fail_kubelet(struct stage *s)
{
	static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
				     "Content-Length: 0\r\n\r\n";

	kubepeer_play(&s->kube.peer,
		      &(struct kubepeer_part){.answer = answer, .len = sizeof(answer) - 1});
}

static void it_waits_though_a_question_is_lost(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000});
	uint64_t gone_ns;

	fail_kubelet(s);
	gone_ns = stop_pod(s);
	kubestage_await_asked(&s->kube, 1);
	kubestage_list(&s->kube, &s->pod, 1);
	usleep(3000000);
	is_held(s);
	show_status(s);
	await_released(s, "pods-ended", gone_ns + 57 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_waits_a_moment_for_one_that_fails(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000});
	uint64_t gone_ns;

	fail_kubelet(s);
	gone_ns = stop_pod(s);
	await_released(s, "api-unreachable", gone_ns + 50 * NS_PER_S);
	/* Every second, however often it failed. */
	assert_true(kubepeer_asked(&s->kube.peer) >= 3);
	assert_int_equal(service_stop(s->kube.service), 0);
}

/* It takes each question and never answers. */
static void and_for_one_that_is_silent(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000});
	uint64_t gone_ns;

	kubepeer_play(&s->kube.peer, &(struct kubepeer_part){.answer = "", .stays = true});
	gone_ns = stop_pod(s);
	await_released(s, "api-unreachable", gone_ns + 50 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_does_not_wait_for_nobody(void **state)
{
	struct stage *s = begin(state, &(struct spec){.limit_us = 60000000, .no_kubelet = true});
	uint64_t gone_ns = stop_pod(s);

	await_released(s, "api-unreachable", gone_ns + 50 * NS_PER_S);
	assert_int_equal(kubepeer_asked(&s->kube.peer), 0);
	assert_int_equal(service_stop(s->kube.service), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATUS_CLAIM("the lock goes when the kubelet shows a pod's status, 9 s after its "
			     "container died",
			     it_lets_go_when_the_status_is_there),
		STATUS_CLAIM("nothing that a shutdown needs is shed while one is announced",
			     nothing_that_it_needs_is_shed),
		STATUS_CLAIM("the kubelet is asked for it every second, until 2 s before the limit",
			     it_waits_up_to_the_limit),
		STATUS_CLAIM("shutdown.statusWait makes that shorter",
			     status_wait_is_a_shorter_one),
		STATUS_CLAIM("a question that is lost does not keep it from waiting",
			     it_waits_though_a_question_is_lost),
		STATUS_CLAIM("a kubelet that fails again and again does, long before the limit",
			     it_waits_a_moment_for_one_that_fails),
		STATUS_CLAIM("and so does one that is silent", and_for_one_that_is_silent),
		STATUS_CLAIM("where there is nobody to ask the status is not waited for",
			     it_does_not_wait_for_nobody),
	};

	return cmocka_run_group_tests(tests, open_stage, close_stage);
}
