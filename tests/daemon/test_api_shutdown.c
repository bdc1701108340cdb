// SPDX-License-Identifier: Apache-2.0
/* Claims about the Events of a node's shutdown: they are at the API server before the lock is
 * released, and a server that is silent does not hold the lock. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/shutdown/shutdown.h"
#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/shutdown/shutscene.h"

#define CREATED "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
#define EVENTS	"graced_api_events_total"

static struct kubepeer peer;
static char url[64];
static const char *const args[] = {
	"--node-name=node-1", "--cri.endpoint=none", "--api.report=events", "--api.url", url, NULL};

/* An API server that answers so, or is silent. */
static struct shutscene *begin(void **state, const char *mode, const char *answer)
{
	struct kubepeer_part part = {.answer = answer, .len = strlen(answer), .stays = !*answer};
	struct shutscene_spec spec = {.mode = mode, .deaf_grace = "1s", .args = args};
	struct shutscene *s;

	if (!*state)
		skip();
	kubepeer_open(&peer);
	kubepeer_play(&peer, &part);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", peer.port);
	s = shutscene_begin(state, &spec);
	/* The kubelet's, too. */
	shutscene_await_locks(s, 2);
	shutscene_await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	return s;
}

static void end(struct shutscene *s)
{
	kubepeer_close(&peer);
	shutscene_end(s);
}

static void assert_said(const char *text)
{
	if (!strstr(kubepeer_said(&peer), text))
		fail_msg("the API server has not heard %s", text);
}

static void test_written(void **state)
{
	struct shutscene *s = begin(state, "observe", CREATED);

	logindmock_announce(&s->mock, true, "reboot");
	/* The kubelet's. */
	shutscene_await_locks(s, 1);
	/* Nothing is waited for: it was written before. */
	assert_said("POST /apis/events.k8s.io/v1/namespaces/default/events HTTP/1.1\r\n");
	assert_said("\"reason\":\"NodeShutdownComplete\",\"type\":\"Normal\"");
	assert_said("\"kind\":\"Node\",\"name\":\"node-1\",\"uid\":\"node-1\"}}");
	assert_true(service_await_metric(s->service, EVENTS, "result=\"created\"", 1) == 1);
	end(s);
}

static void test_silent(void **state)
{
	struct shutscene *s = begin(state, "observe", "");
	uint64_t from_ns = clock_boot_ns();

	logindmock_announce(&s->mock, true, "reboot");
	shutscene_await_locks(s, 1);
	/* As long as records may take to be out. */
	assert_true(clock_boot_ns() - from_ns >= SHUTDOWN_FLUSH_NS * 9 / 10);
	assert_said("NodeShutdownComplete");
	assert_true(service_metric(s->service, EVENTS, "result=\"created\"") == 0);
	end(s);
}

static void test_killed(void **state)
{
	struct shutscene *s = begin(state, "assist", CREATED);
	struct sent sent;
	struct box box;

	shutscene_box(s, "web", &box);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'container-killed'}"));
	assert_true(service_await_metric(s->service, EVENTS, "result=\"created\"", 2) >= 2);
	assert_said("\"reason\":\"ContainerDeaf\"");
	assert_said(
		"\"reason\":\"StoppedOverdue\",\"type\":\"Warning\",\"note\":\"graced sent SIGKILL "
		"in a shutdown of the node (mode assist): PID 1 cannot receive the stop "
		"signal.\"");
	assert_int_equal(box_remove(&box), 0);
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("the node's Event is written before the lock is released",
				test_written),
		SHUTSCENE_CLAIM("a silent API server holds the lock for no more than a second",
				test_silent),
		SHUTSCENE_CLAIM("a container that graced kills has an Event that says why",
				test_killed),
	};

	return cmocka_run_group_tests_name("daemon: Events of a shutdown", tests, shutscene_open,
					   shutscene_close);
}
