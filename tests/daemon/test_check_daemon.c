// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced check`: it looks at what the running daemon uses, and says when none runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/apipeer.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

/* What it prints, with that runtime directory. */
static void check(const char *dir, const char *more, struct run_result *ret)
{
	char command[512];

	snprintf(command, sizeof(command), "RUNTIME_DIRECTORY=%s exec %s check %s", dir,
		 getenv("GRACED"), more);
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh",
						.args = (const char *const[]){"-c", command, NULL}},
			     ret),
			 0);
}

static void assert_says(const struct run_result *result, const char *text)
{
	if (!strstr(result->out, text))
		fail_msg("it does not say '%s', but: %s", text, result->out);
}

static void test_daemon(void **state)
{
	char dir[256], option[320], wanted[512];
	const char *const args[] = {"--sinks.journal=false", "--shutdown.mode=off", option, NULL};
	char own[] = "/tmp/graced-check-XXXXXX";
	struct run_result result;
	struct service *service;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(own));
	snprintf(option, sizeof(option), "--checkpoint.file=%s/another", own);
	assert_int_equal(service_start(&(struct service_spec){.args = args}, &service), 0);
	snprintf(dir, sizeof(dir), "%s", service_socket(service));
	*strrchr(dir, '/') = '\0';
	check(dir, "--no-names.enabled", &result);
	snprintf(wanted, sizeof(wanted), "ok    checkpoint            %s/another\n", own);
	assert_says(&result, wanted);
	assert_says(&result, "settings from flags, environment and defaults, shutdown.mode off\n");
	run_done(&result);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	snprintf(wanted, sizeof(wanted), "%s/another", own);
	remove(wanted);
	remove(own);
}

/* The lists of its settings come as they were given. */
static void test_manage(void **state)
{
	const char *const args[] = {
		"--sinks.journal=false",
		"--shutdown.mode=manage",
		"--shutdown.grace-period-by-pod-priority=priority=9 gracePeriodSeconds=3",
		"--shutdown.grace-period-by-pod-priority=gracePeriodSeconds=5 priority=0",
		"--shutdown.stop-units=a.service",
		"--shutdown.stop-units=kubelet.service",
		NULL};
	static const char *const no_bus[] = {"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null/bus",
					     NULL};
	struct run_result result;
	struct service *service;
	char dir[256];

	if (tracer_unavailable())
		skip();
	assert_int_equal(
		service_start(&(struct service_spec){.args = args, .env = no_bus}, &service), 0);
	snprintf(dir, sizeof(dir), "%s", service_socket(service));
	*strrchr(dir, '/') = '\0';
	check(dir, "--no-names.enabled", &result);
	assert_says(&result,
		    "ok    shutdown groups       5 s from priority 0 on, 3 s from priority "
		    "9 on (graced's settings)\n");
	assert_says(&result, "warn  pod status            nothing writes the status of pods while "
			     "kubelet.service is stopped");
	run_done(&result);
	assert_true(service_await_log(service, "shutdown.mode manage: pod status: nothing writes"));
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

/* No line contradicts another, whichever setting it is about. */
static void test_given(void **state)
{
	char dir[256], logs[64] = "--names.log-directory=/tmp/graced-logs-XXXXXX";
	const char *const args[] = {"--sinks.journal=false",
				    "--shutdown.mode=manage",
				    "--shutdown.grace-period=5s",
				    "--shutdown.stop-units=kubelet.service",
				    "--api.report=status",
				    "--api.report=events",
				    "--api.url=http://127.0.0.1:1",
				    "--shutdown.out-of-service-taint",
				    "--kubelet.socket=none",
				    "--kubelet.url=http://127.0.0.1:1",
				    "--kubelet.version=1.22",
				    "--cri.endpoint=none",
				    logs,
				    NULL};
	static const char *const no_bus[] = {"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null/bus",
					     NULL};
	static const char *const said[] = {
		"warn  api status            http://127.0.0.1:1: the status of pods is written there "
		"in a shutdown; whether its user may get pods and patch pods/status is not known: ",
		"warn  api events            http://127.0.0.1:1: Events are written there; ",
		"warn  api taint             http://127.0.0.1:1: the node is tainted there when it is "
		"dead; ",
		"warn  kubelet               http://127.0.0.1:1/pods: ",
	};
	struct run_result result;
	struct service *service;
	char *names = strchr(logs, '=') + 1;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(names));
	assert_int_equal(
		service_start(&(struct service_spec){.args = args, .env = no_bus}, &service), 0);
	snprintf(dir, sizeof(dir), "%s", service_socket(service));
	*strrchr(dir, '/') = '\0';
	check(dir, "", &result);
	for (size_t i = 0; i < LEN(said); i++)
		assert_says(&result, said[i]);
	assert_null(strstr(result.out, "nothing writes the status"));
	assert_null(strstr(result.out, "api.report"));
	assert_says(&result, names);
	run_done(&result);
	/* What the command line gives is asked for. */
	check(dir, "--kubelet.url=http://127.0.0.2:1 --names.log-directory=/var/log", &result);
	assert_says(&result, "warn  kubelet               http://127.0.0.2:1/pods: ");
	assert_null(strstr(result.out, names));
	run_done(&result);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	rmdir(names);
}

static void test_no_daemon(void **state)
{
	char own[] = "/tmp/graced-check-XXXXXX", wanted[512];
	struct run_result result;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(own));
	check(own, "--no-names.enabled", &result);
	snprintf(wanted, sizeof(wanted), "none answers at %s/control.sock (", own);
	assert_says(&result, wanted);
	assert_says(&result, "): the defaults are checked\n");
	snprintf(wanted, sizeof(wanted), "checkpoint            %s/checkpoint", own);
	assert_says(&result, wanted);
	run_done(&result);
	remove(own);
}

static void assert_line(const struct run_result *result, const char *status, const char *name,
			const char *url, const char *text)
{
	char wanted[512];

	snprintf(wanted, sizeof(wanted), "%-5s %-21s %s: %s", status, name, url, text);
	assert_says(result, wanted);
}

static void write_config(const char *file, const char *url)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	fprintf(out,
		"shutdown:\n  mode: manage\napi:\n  url: %s\n  report: [events, unschedulable]\n",
		url);
	assert_int_equal(fclose(out), 0);
}

#define EVENTS_OK                                                                       \
	"Events are written there: its user may create events.events.k8s.io and patch " \
	"events.events.k8s.io\n"
#define EVENTS_NOT                                                                    \
	"Events are written there, and its user may not patch events.events.k8s.io\n" \
	"      fix: grant it with deploy/rbac-events.yaml\n"
#define EVENTS_UNKNOWN                                                                    \
	"Events are written there; whether its user may create events.events.k8s.io and " \
	"patch events.events.k8s.io is not known: "
#define NODE_OK "the node is tainted there in a shutdown: its user may get nodes and patch nodes\n"
#define NODE_NOT                                                                      \
	"the node is tainted there in a shutdown, and its user may not patch nodes\n" \
	"      fix: grant it with deploy/rbac-unschedulable.yaml\n"
#define NODE_UNKNOWN                                                                         \
	"the node is tainted there in a shutdown; whether its user may get nodes and patch " \
	"nodes is not known: "

/* By the API server's own word, and by a role's name where one is missing. */
static void test_rights(void **state)
{
	static const struct {
		enum apipeer_mood mood;
		const char *denied, *events_status, *events, *node_status, *node;
	} rows[] = {
		{APIPEER_WELL, "", "ok", EVENTS_OK, "ok", NODE_OK},
		{APIPEER_WELL, "\"verb\":\"patch\",\"group\":\"\",\"resource\":\"nodes\"", "ok",
		 EVENTS_OK, "warn", NODE_NOT},
		{APIPEER_WELL, "\"verb\":\"patch\",\"group\":\"events.k8s.io\"", "warn", EVENTS_NOT,
		 "ok", NODE_OK},
		{APIPEER_REVOKED, "", "warn", EVENTS_UNKNOWN, "warn", NODE_UNKNOWN},
		{APIPEER_SILENT, "", "warn", EVENTS_UNKNOWN, "warn", NODE_UNKNOWN},
		{APIPEER_DOWN, "", "warn", EVENTS_UNKNOWN, "warn", NODE_UNKNOWN},
	};
	char own[] = "/tmp/graced-check-XXXXXX", file[64], url[64], args[128];
	struct apipeer peer;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(own));
	snprintf(file, sizeof(file), "%s/graced.yaml", own);
	apipeer_open(&peer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", peer.port);
	write_config(file, url);
	snprintf(args, sizeof(args), "--no-names.enabled --config %s", file);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct run_result result;

		peer.shared->mood = rows[i].mood;
		snprintf(peer.shared->denied, sizeof(peer.shared->denied), "%s", rows[i].denied);
		check(own, args, &result);
		print_message("# row %zu\n", i);
		assert_line(&result, rows[i].events_status, "api events", url, rows[i].events);
		assert_line(&result, rows[i].node_status, "api unschedulable", url, rows[i].node);
		assert_null(strstr(result.out, "api status"));
		run_done(&result);
	}
	apipeer_close(&peer);
	remove(file);
	remove(own);
}

/* Where each client of the control socket looks for it. */
static void test_where(void **state)
{
	static const struct {
		const char *env, *args, *asked;
	} rows[] = {
		{"-u RUNTIME_DIRECTORY", "pods", "/run/graced/control.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none", "pods", "/tmp/graced-none/control.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none:/tmp/b", "pods",
		 "/tmp/graced-none/control.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none GRACED_CONTROL_SOCKET=/tmp/graced-no.sock",
		 "pods", "/tmp/graced-no.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none GRACED_CONTROL_SOCKET=/tmp/graced-no.sock",
		 "pods --control.socket /tmp/graced-given.sock", "/tmp/graced-given.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none GRACED_CONTROL_SOCKET=none", "pods",
		 "/tmp/graced-none/control.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none GRACED_CONTROL_SOCKET=/tmp/graced-no.sock",
		 "check --no-names.enabled", "/tmp/graced-no.sock"},
		{"RUNTIME_DIRECTORY=/tmp/graced-none GRACED_CONTROL_SOCKET=/tmp/graced-no.sock",
		 "check --no-names.enabled --control.socket /tmp/graced-given.sock",
		 "/tmp/graced-given.sock"},
	};

	if (access("/run/graced/control.sock", F_OK) == 0)
		skip();
	for (size_t i = 0; i < LEN(rows); i++) {
		struct run_result result;
		char command[512];

		snprintf(command, sizeof(command), "exec env %s %s %s 2>&1", rows[i].env,
			 getenv("GRACED"), rows[i].args);
		assert_int_equal(
			run(&(struct run_spec){.exe = "/bin/sh", .args = BOX_ARGV("-c", command)},
			    &result),
			0);
		snprintf(command, sizeof(command), "answers at %s", rows[i].asked);
		print_message("# %s graced %s\n", rows[i].env, rows[i].args);
		assert_says(&result, command);
		run_done(&result);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("check looks at the checkpoint that the running daemon uses", test_daemon),
		CLAIM("groups and units of a daemon that stops the pods itself count", test_manage),
		CLAIM("check judges each setting as the running daemon has it, once", test_given),
		CLAIM("without a daemon check says so, and looks at the defaults", test_no_daemon),
		CLAIM("check says which rights at the API server are missing, and which are not known",
		      test_rights),
		CLAIM("pods and check look for the control socket where the daemon makes it",
		      test_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
