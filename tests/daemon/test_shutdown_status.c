// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon that waits in a node's shutdown for the status of a pod: logind is
 * python-dbusmock's, the kubelet is the test's own, the container and its end are real.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/clock.h"
#include "lib/box.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kubestage.h"
#include "lib/logindmock.h"
#include "lib/send.h"
#include "lib/tracer.h"

/* As long as the daemon's list of pods is told nothing new, and the status is waited for. */
#define POLL	    "10m"
#define STATUS_WAIT "14s"
#define NS_PER_S    1000000000ULL

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
	if (box_tree_open(&stage.tree, "shutstatus") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int close_stage(void **state)
{
	struct stage *s = *state;

	return s ? box_tree_close(&s->tree) : 0;
}

static void start_daemon(struct stage *s, const char *url)
{
	const char *const args[] = {"--sinks.journal=false",
				    "--sinks.file",
				    s->kube.records,
				    "--shutdown.mode=assist",
				    "--shutdown.kubelet-config=/dev/null",
				    "--shutdown.status-wait=" STATUS_WAIT,
				    "--kubelet.interval=" POLL,
				    url ? "--kubelet.url" : NULL,
				    url,
				    NULL};
	char bus[128];
	const char *const env[] = {bus, NULL};

	snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s", s->mock.address);
	assert_int_equal(service_start(&(struct service_spec){.args = args,
							      .env = env,
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

/* logind waits for 20 s, the kubelet and the daemon hold locks, and that one knows the pod. */
static struct stage *begin(void **state, bool kubelet)
{
	struct stage *s = *state;
	char url[64];
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
	logindmock_set_limit(&s->mock, 20000000);
	kubepeer_open(&s->kube.peer);
	make_pod(s);
	s->begun = true;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", s->kube.peer.port);
	start_daemon(s, kubelet ? url : NULL);
	assert_true(service_await_metric(s->kube.service, "graced_shutdown_inhibitor_held", NULL,
					 1) > 0);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', 'pods', 'delay', 0, 7)]");
	if (kubelet)
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

	logindmock_announce(&s->mock, true, "power-off");
	json_decref(kubestage_await_records(&s->kube, "{'type':'shutdown','event':'announced'}"));
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

static void it_lets_go_when_the_status_is_there(void **state)
{
	struct stage *s = begin(state, true);
	uint64_t gone_ns = stop_pod(s);
	json_t *none;

	usleep(1000000);
	none = released(s);
	assert_int_equal(json_array_size(none), 0);
	json_decref(none);
	s->pod.phase = "Succeeded";
	s->pod.ready = false;
	kubestage_list(&s->kube, &s->pod, 1);
	await_released(s, "pods-ended", gone_ns + 15 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_waits_where_the_status_does_not_come(void **state)
{
	struct stage *s = begin(state, true);

	stop_pod(s);
	await_released(s, "status-late", UINT64_MAX);
	/* Once at its start, and then when the container was stopped. */
	assert_true(kubepeer_asked(&s->kube.peer) >= 4);
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
	struct stage *s = begin(state, true);
	uint64_t gone_ns;
	json_t *none;

	fail_kubelet(s);
	gone_ns = stop_pod(s);
	kubestage_await_asked(&s->kube, 1);
	kubestage_list(&s->kube, &s->pod, 1);
	usleep(3000000);
	none = released(s);
	assert_int_equal(json_array_size(none), 0);
	json_decref(none);
	s->pod.phase = "Succeeded";
	s->pod.ready = false;
	kubestage_list(&s->kube, &s->pod, 1);
	await_released(s, "pods-ended", gone_ns + 15 * NS_PER_S);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_waits_a_moment_for_one_that_fails(void **state)
{
	struct stage *s = begin(state, true);
	uint64_t gone_ns;

	fail_kubelet(s);
	gone_ns = stop_pod(s);
	await_released(s, "api-unreachable", gone_ns + 8 * NS_PER_S);
	/* Every second, however often it failed. */
	assert_true(kubepeer_asked(&s->kube.peer) >= 3);
	assert_int_equal(service_stop(s->kube.service), 0);
}

static void it_does_not_wait_for_nobody(void **state)
{
	struct stage *s = begin(state, false);
	uint64_t gone_ns = stop_pod(s);

	await_released(s, "api-unreachable", gone_ns + 4 * NS_PER_S);
	assert_int_equal(kubepeer_asked(&s->kube.peer), 0);
	assert_int_equal(service_stop(s->kube.service), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATUS_CLAIM(
			"the lock goes when the kubelet shows a pod's status, long before its list "
			"is due",
			it_lets_go_when_the_status_is_there),
		STATUS_CLAIM(
			"while it does not the kubelet is asked every second, for the time there is",
			it_waits_where_the_status_does_not_come),
		STATUS_CLAIM("a question that is lost does not keep it from waiting",
			     it_waits_though_a_question_is_lost),
		STATUS_CLAIM("a kubelet that fails again and again does, before the time is over",
			     it_waits_a_moment_for_one_that_fails),
		STATUS_CLAIM("where there is nobody to ask the status is not waited for",
			     it_does_not_wait_for_nobody),
	};

	return cmocka_run_group_tests(tests, open_stage, close_stage);
}
