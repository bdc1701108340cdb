// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the life of the daemon as systemd sees it: when it is ready, that it lives, how it
 * reloads and how it ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#define WATCHDOG_US 1000000 /* sd-event tells it is alive twice in this time or more often */

struct stage {
	struct box_tree tree;
};

static int setup(void **state)
{
	static struct stage stage;
	int r = tracer_open_tree("lifecycle", NULL, &stage.tree);

	*state = r > 0 ? &stage : NULL;
	return r < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	return stage ? box_tree_close(&stage->tree) : 0;
}

static struct service *start(const struct service_spec *spec)
{
	struct service *service = NULL;

	assert_int_equal(service_start(spec, &service), 0);
	return service;
}

static void start_box(struct stage *stage, struct box *box)
{
	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, box), 0);
}

/* Its init is gone when this returns, its cgroup is still there. */
static void end_box(const struct box *box, struct proc *proc)
{
	struct proc_end end;

	assert_int_equal(kill(box->init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(proc, &end), 0);
}

static unsigned int count_stops(FILE *records, const struct box *box)
{
	unsigned int n = 0;
	size_t size = 0;
	char *line = NULL;

	rewind(records);
	while (getline(&line, &size, records) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		n += record && strcmp(jrec_text(record, "type"), "stop") == 0 &&
		     strcmp(jrec_text(record, "container.id"), box->id) == 0 &&
		     strcmp(jrec_text(record, "outcome"), "graceful") == 0;
		json_decref(record);
	}
	free(line);
	return n;
}

static void test_ends(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct stage *stage = *state;

	if (!stage)
		skip();
	for (size_t i = 0; i < LEN(signals); i++) {
		struct service_spec spec = {.tree = &stage->tree,
					    .args = BOX_ARGV("--sinks.stdout=true",
							     "--sinks.journal=false")};
		FILE *records = tmpfile();
		struct service *service;
		struct box box;

		assert_non_null(records);
		/* It shares the position with us. */
		fcntl(fileno(records), F_SETFL, O_APPEND);
		spec.out = fileno(records);
		service = start(&spec);
		start_box(stage, &box);
		end_box(&box, &box.proc);
		assert_int_equal(kill(service_pid(service), signals[i]), 0);
		assert_int_equal(service_wait(service), 0);
		assert_int_equal(service_notified(service, "STOPPING=1"), 1);
		assert_int_equal(count_stops(records, &box), 1);
		service_free(service);
		fclose(records);
		assert_int_equal(box_remove(&box), 0);
	}
}

static void await_log(const struct service *service, const char *text)
{
	bool found = false;

	for (int i = 0; i < 30000 && !found; i++) {
		char *log = service_log(service);

		found = strstr(log, text) != NULL;
		free(log);
		if (!found)
			usleep(1000);
	}
	assert_true(found);
}

/* Loading the programs takes longest; it begins when the sockets are open. The delays spread the
 * signals over it, wherever they fall. */
static void test_ends_starting(void **state)
{
	static const unsigned int delays_ms[] = {0, 20, 40, 60, 90, 120, 160, 200, 300};

	if (!*state)
		skip();
	for (size_t i = 0; i < LEN(delays_ms); i++) {
		struct service *service = start(&(struct service_spec){.no_wait = true});

		await_log(service, "listening on");
		usleep(delays_ms[i] * 1000);
		assert_int_equal(service_stop(service), 0);
		assert_int_equal(service_notified(service, "STOPPING=1"), 1);
		service_free(service);
	}
}

static void write_config(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static unsigned int count_reloaded(const struct service *service)
{
	char *log = service_log(service), *at = log;
	unsigned int n = 0;

	for (; (at = strstr(at, "msg=\"reloaded\"")); at++)
		n++;
	free(log);
	return n;
}

static uint64_t monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Its notification of the nth reload: when it began, then that it is ready again. */
static void expect_notified(struct service *service, unsigned int n, uint64_t from_us)
{
	static const char begin[] = "RELOADING=1\nMONOTONIC_USEC=";
	const char *at, *ready;
	uint64_t notified_us;

	assert_true(service_await(service, "READY=1", 1 + n));
	assert_int_equal(service_notified(service, "RELOADING=1"), n);
	at = service_notifications(service);
	for (unsigned int i = 0; i < n; i++) {
		at = strstr(at, begin);
		assert_non_null(at);
		at += strlen(begin);
	}
	notified_us = strtoull(at, NULL, 10);
	assert_in_range(notified_us, from_us, monotonic_us());
	ready = strstr(at, "READY=1\nSTATUS=");
	assert_non_null(ready);
}

/* A page is kept for a moment. */
static void expect_budget(const struct service *service, double want)
{
	double is = -2;

	for (int i = 0; i < 300 && !(is > want - 1e-9 && is < want + 1e-9); i++) {
		if (i)
			usleep(100000);
		is = service_metric(service, "graced_overhead_budget_ratio", NULL);
	}
	assert_true(is > want - 1e-9 && is < want + 1e-9);
}

static void test_reloads(void **state)
{
	static const struct {
		const char *config;
		double budget;
		unsigned int reloaded; /* so often the log has it by then */
	} steps[] = {
		{"log:\n  level: info\nbudget:\n  cpu: 30%\n", 0.3, 1},
		{"log:\n  level: error\nbudget:\n  cpu: 40%\n", 0.4, 1},
		{"log:\n  level: error\nbudget:\n  cpu: off\n", -1, 1},
		{"log:\n  level: info\n", 0.02, 2},
	};
	char path[] = "/tmp/graced-lifecycle-XXXXXX";
	struct service *service;
	int fd;

	if (!*state)
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	service = start(&(struct service_spec){.args = BOX_ARGV("--config", path)});
	for (size_t i = 0; i < LEN(steps); i++) {
		uint64_t before_us = monotonic_us();

		write_config(path, steps[i].config);
		assert_int_equal(kill(service_pid(service), SIGHUP), 0);
		expect_notified(service, (unsigned int)i + 1, before_us);
		assert_int_equal(count_reloaded(service), steps[i].reloaded);
		expect_budget(service, steps[i].budget);
	}
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	unlink(path);
}

/* The warnings so far, the last of which is of these keys. */
static unsigned int count_unapplied(const struct service *service, const char *keys)
{
	char *log = service_log(service), *at = log, *last = NULL, want[128];
	unsigned int n = 0;

	for (; (at = strstr(at, "a restart is needed")); last = at++)
		n++;
	snprintf(want, sizeof(want), "a restart is needed for %s, which changed in /tmp/",
		 keys ? keys : "");
	if (keys && (!last || strncmp(last, want, strlen(want)) != 0))
		fail_msg("no warning of %s: %s", keys, log);
	free(log);
	return n;
}

static void test_says_what_waits(void **state)
{
	static const struct {
		const char *config;
		const char *waits;
	} steps[] = {
		{"budget:\n  cpu: 30%\n", NULL},
		{"shutdown:\n  mode: assist\n", "shutdown.mode"},
		{"shutdown:\n  mode: 'off'\n", "shutdown.mode"},
		{"kubelet:\n  config: /a\n", "kubelet.config"},
		{"kubelet:\n  version: 1.22\n", "kubelet.version"},
		{"shutdown:\n  overdueSlack: 7s\n", "shutdown.overdueSlack"},
		{"shutdown:\n  statusWait: 7s\n", "shutdown.statusWait"},
		{"shutdown:\n  deafGrace: 7s\n", "shutdown.deafGrace"},
		{"shutdown:\n  stopUnits: [a.service]\n", "shutdown.stopUnits"},
		{"api:\n  url: http://127.0.0.1:1\n", "api.url"},
		{"checkpoint:\n  file: none\n", "checkpoint.file"},
		{"checkpoint:\n  file: none\n", NULL},
		{"checkpoint:\n  file: none\nscope: all\n", "scope, checkpoint.file"},
		{"scope: all\nnestedNodes: [/a, /b]\n", "scope, nestedNodes"},
		{"scope: all\nnestedNodes: [/a]\n", "scope, nestedNodes"},
		{"shutdown:\n  mode: observe\n", NULL},
	};
	char path[] = "/tmp/graced-lifecycle-XXXXXX";
	unsigned int waits = 0;
	struct service *service;
	int fd;

	if (!*state)
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	service = start(&(struct service_spec){.args = BOX_ARGV("--config", path)});
	for (size_t i = 0; i < LEN(steps); i++) {
		uint64_t before_us = monotonic_us();

		write_config(path, steps[i].config);
		assert_int_equal(kill(service_pid(service), SIGHUP), 0);
		expect_notified(service, (unsigned int)i + 1, before_us);
		waits += steps[i].waits != NULL;
		assert_int_equal(count_unapplied(service, steps[i].waits), waits);
	}
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	unlink(path);
}

/* Its pages are to be fetched by readers that never come to their end. */
static int open_slow_reader(const struct service *service)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(service_port(service)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 1;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL),
				 sizeof(request) - 1);
	return fd;
}

/* The last of all that it said is alive, so that one which was under way does not count. */
static void expect_alive(struct service *service)
{
	unsigned int so_far = service_notified(service, "WATCHDOG=1");

	assert_true(service_await(service, "WATCHDOG=1", so_far + 4));
}

static void test_alive(void **state)
{
	struct stage *stage = *state;
	struct service *service;
	struct proc flood;
	struct box box;
	char pid[16];
	int readers[8];

	if (!stage)
		skip();
	service = start(&(struct service_spec){.tree = &stage->tree, .watchdog_us = WATCHDOG_US});
	expect_alive(service);
	/* Before, it would start the watchdog while the programs are loaded. */
	assert_true(strstr(service_notifications(service), "WATCHDOG=1") >
		    strstr(service_notifications(service), "READY=1"));
	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box), 0);
	snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
	assert_int_equal(send_start(&stage->tree, SEND_HOST, NULL,
				    BOX_ARGV("flood", pid, "15", "1000000000"), &flood),
			 0);
	for (size_t i = 0; i < LEN(readers); i++)
		readers[i] = open_slow_reader(service);
	expect_alive(service);
	/* It was under way all the time. */
	assert_int_equal(waitpid(flood.pid, NULL, WNOHANG), 0);
	proc_free(&flood);
	for (size_t i = 0; i < LEN(readers); i++)
		close(readers[i]);
	expect_alive(service);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	proc_free(&box.proc);
	assert_int_equal(box_remove(&box), 0);
}

static void test_stopped(void **state)
{
	struct service *service;
	unsigned int so_far;
	siginfo_t info;

	if (!*state)
		skip();
	service = start(&(struct service_spec){.watchdog_us = WATCHDOG_US});
	expect_alive(service);
	assert_int_equal(kill(service_pid(service), SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)service_pid(service), &info, WSTOPPED), 0);
	so_far = service_notified(service, "WATCHDOG=1");
	/* The time in which it would have notified again, twice over. */
	usleep(2 * WATCHDOG_US);
	assert_int_equal(service_notified(service, "WATCHDOG=1"), so_far);
	assert_int_equal(kill(service_pid(service), SIGCONT), 0);
	expect_alive(service);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

/* A stop that comes at once is seen, so the programs were there when it said so. */
static void test_ready(void **state)
{
	struct stage *stage = *state;
	struct service *service;
	struct buf page = {};
	struct box box;

	if (!stage)
		skip();
	start_box(stage, &box);
	service = start(&(struct service_spec){.tree = &stage->tree});
	end_box(&box, &box.proc);
	assert_int_equal(service_notified(service, "READY=1"), 1);
	assert_int_equal(service_get(service, "/readyz", NULL, &page), 200);
	assert_true(service_await_metric(service, "graced_container_stops_total",
					 "outcome=\"graceful\"", 1) >= 1);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	buf_free(&page);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("READY=1 is sent when the next stop will be seen", test_ready),
		CLAIM("SIGTERM and SIGINT end it with 0, systemd notified, its records written",
		      test_ends),
		CLAIM("a SIGTERM while it is starting ends it as cleanly", test_ends_starting),
		CLAIM("systemd is notified of SIGHUP with its time, and it takes over log level and budget",
		      test_reloads),
		CLAIM("SIGHUP names once what takes a restart and is not taken over",
		      test_says_what_waits),
		CLAIM("WATCHDOG=1 comes from READY=1 on, beside a flood and slow readers, too",
		      test_alive),
		CLAIM("WATCHDOG=1 does not come from a daemon that is stopped, and comes again",
		      test_stopped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
