// SPDX-License-Identifier: Apache-2.0
/* Claims about Events: what a daemon writes to an API server of the test's own about containers
 * that die, named by log directories alone. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

#define METRIC	       "graced_api_events_total"
#define ANSWER(status) "HTTP/1.1 " status "\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

static struct box_tree tree;

static int setup(void **state)
{
	int r = tracer_open_tree("apievents", NULL, &tree);

	*state = r > 0 ? &tree : NULL;
	return r < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	return *state ? box_tree_close(*state) : 0;
}

struct stage {
	struct kubepeer peer;
	struct lognames names;
	struct service *service;
};

static void play(struct stage *s, const char *answer)
{
	struct kubepeer_part part = {.answer = answer, .len = strlen(answer)};

	kubepeer_play(&s->peer, &part);
}

/* With an API server that answers so to everything. report: NULL for none. */
static void open_stage(struct stage *s, void **state, const char *report, const char *answer)
{
	char url[64];

	if (!*state)
		skip();
	assert_int_equal(lognames_open(&s->names), 0);
	kubepeer_open(&s->peer);
	play(s, answer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", s->peer.port);
	assert_int_equal(
		service_start(
			&(struct service_spec){
				.tree = &tree,
				.args = BOX_ARGV("--sinks.journal=false", "--cri.endpoint=none",
						 "--shutdown.mode=off", "--node-name=node-1",
						 "--names.log-directory", s->names.dir, "--api.url",
						 url, report)},
			&s->service),
		0);
}

static void close_stage(struct stage *s)
{
	assert_int_equal(service_stop(s->service), 0);
	service_free(s->service);
	kubepeer_close(&s->peer);
	lognames_close(&s->names);
}

/* A deaf container of the pod shop/web-0 is asked to stop by its runtime, and killed by another
 * process of the host. ret_uid: its pod's. */
static void kill_one(struct stage *s, char ret_uid[static 40])
{
	struct lognames_of of = {&s->names, "shop", "web-0", "main"};
	struct proc_end end;
	struct sent sent;
	struct box box;

	assert_int_equal(box_start(&tree,
				   &(struct box_spec){.argv = BOX_ARGV("deaf", "0"),
						      .named = lognames_of,
						      .userdata = &of},
				   &box),
			 0);
	assert_int_equal(send_signal(&tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent), 0);
	assert_int_equal(send_signal(&tree, SEND_HOST, NULL, box.init_pid, SIGKILL, &sent), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	strcpy(ret_uid, box.uid);
	assert_int_equal(box_remove(&box), 0);
}

/* The server heard an object with these. */
static void assert_heard(const struct stage *s, const char *reason, const char *note,
			 const char *uid)
{
	char want[128];
	const char *at;

	snprintf(want, sizeof(want), "\"reason\":\"%s\",\"type\":\"Warning\"", reason);
	at = strstr(kubepeer_said(&s->peer), want);
	assert_non_null(at);
	assert_non_null(strstr(at, note));
	snprintf(want, sizeof(want),
		 "\"namespace\":\"shop\",\"name\":\"web-0\",\"uid\":\"%s\",\"fieldPath\":"
		 "\"spec.containers{main}\"}}",
		 uid);
	assert_non_null(strstr(at, want));
}

static void assert_check(const struct stage *s)
{
	struct run_result result;
	char command[512], dir[256];

	snprintf(dir, sizeof(dir), "%s", service_socket(s->service));
	*strrchr(dir, '/') = '\0';
	snprintf(command, sizeof(command), "RUNTIME_DIRECTORY=%s exec %s check --no-names.enabled",
		 dir, getenv("GRACED"));
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh", .args = BOX_ARGV("-c", command)},
			     &result),
			 0);
	snprintf(
		command, sizeof(command),
		"warn  api events            http://127.0.0.1:%u: Events are written there; whether its "
		"user may create events.events.k8s.io and patch events.events.k8s.io is not "
		"known: its answer is no SelfSubjectAccessReview\n",
		s->peer.port);
	assert_non_null(strstr(result.out, command));
	run_done(&result);
}

static double count_of(const struct stage *s, const char *result)
{
	char label[64];

	snprintf(label, sizeof(label), "result=\"%s\"", result);
	return service_metric(s->service, METRIC, label);
}

static void test_written(void **state)
{
	struct buf page = {};
	struct stage s;
	char uid[40];

	open_stage(&s, state, "--api.report=events", ANSWER("201 Created"));
	assert_true(count_of(&s, "created") == 0 && count_of(&s, "dropped") == 0);
	kill_one(&s, uid);
	assert_true(service_await_metric(s.service, METRIC, "result=\"created\"", 2) == 2);
	assert_heard(&s, "ContainerDeaf", "has no handler for SIGTERM", uid);
	assert_heard(&s, "KilledBy", "workload[1] was killed by sender[", uid);
	assert_non_null(strstr(kubepeer_said(&s.peer),
			       "POST /apis/events.k8s.io/v1/namespaces/shop/events HTTP/1.1\r\n"));
	assert_non_null(strstr(kubepeer_said(&s.peer), "\"reportingInstance\":\"node-1\""));
	assert_int_equal(service_get(s.service, "/readyz", NULL, &page), 200);
	assert_non_null(strstr(buf_str(&page), "events: up\n"));
	buf_free(&page);
	assert_check(&s);
	close_stage(&s);
}

static void test_off(void **state)
{
	struct stage s;
	char uid[40];

	open_stage(&s, state, NULL, ANSWER("201 Created"));
	kill_one(&s, uid);
	assert_true(service_await_metric(s.service, "graced_container_stops_total",
					 "outcome=\"killed\"", 1) == 1);
	assert_true(count_of(&s, "created") == -1);
	assert_null(strstr(kubepeer_said(&s.peer), "POST "));
	close_stage(&s);
}

static void test_forbidden(void **state)
{
	struct buf page = {};
	struct stage s;
	char uid[40];
	char *log;

	open_stage(&s, state, "--api.report=events", ANSWER("403 Forbidden"));
	kill_one(&s, uid);
	assert_true(service_await_metric(s.service, METRIC, "result=\"refused\"", 2) == 2);
	assert_true(service_await_log(s.service, "not allowed to write an Event (403)"));
	assert_int_equal(service_get(s.service, "/readyz", NULL, &page), 200);
	assert_non_null(strstr(buf_str(&page), "events: refused by the API server (403)\n"));
	buf_free(&page);
	log = service_log(s.service);
	assert_null(strstr(strstr(log, "not allowed to write") + 1, "not allowed to write"));
	free(log);
	play(&s, ANSWER("201 Created"));
	kill_one(&s, uid);
	assert_true(service_await_metric(s.service, METRIC, "result=\"created\"", 2) == 2);
	assert_true(service_await_log(s.service, "the server accepts Events again"));
	close_stage(&s);
}

/* 30 pods die faster than a second each: more than the burst, and the rest is dropped. */
static void test_limit(void **state)
{
	double created, dropped;
	struct stage s;
	char uid[40];

	open_stage(&s, state, "--api.report=events", ANSWER("201 Created"));
	for (int i = 0; i < 30; i++)
		kill_one(&s, uid);
	assert_true(service_await_metric(s.service, "graced_container_stops_total",
					 "outcome=\"killed\"", 30) == 30);
	assert_true(service_await_metric(s.service, METRIC, "result=\"created\"", 19) >= 19);
	created = count_of(&s, "created");
	dropped = count_of(&s, "dropped");
	print_message("# created %.0f, dropped %.0f\n", created, dropped);
	while (created + dropped < 60) {
		usleep(50000);
		created = count_of(&s, "created");
		dropped = count_of(&s, "dropped");
	}
	assert_true(created + dropped == 60);
	assert_true(count_of(&s, "refused") == 0 && count_of(&s, "expired") == 0);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an Event says which container was deaf, another who killed it",
		      test_written),
		CLAIM("nothing is written unless api.report has it", test_off),
		CLAIM("a server that refuses is logged once, as is that it takes them again",
		      test_forbidden),
		CLAIM("what goes beyond the limit is dropped and counted", test_limit),
	};

	return cmocka_run_group_tests_name("daemon: Events", tests, setup, teardown);
}
