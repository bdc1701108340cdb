// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what `graced check` tells of shutdowns of the node: logind is python-dbusmock's on a
 * bus of the test's own, the kubelet's configuration is in a mount namespace of the check's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/run.h"
#include "lib/shutdown/logindmock.h"

#define TYPE "apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\n"

#define SHELL                                                                                  \
	"mount -t tmpfs none /var/lib && mkdir -p /var/lib/kubelet && "                        \
	"printf '" TYPE "shutdownGracePeriod: 30s\\nshutdownGracePeriodCriticalPods: 10s\\n' " \
	">/var/lib/kubelet/config.yaml && %s && exec \"$GRACED\" check %s"

/* The file is elsewhere, as on some distributions. */
#define LINK                                                                     \
	"mkdir /var/lib/own && mv /var/lib/kubelet/config.yaml /var/lib/own && " \
	"ln -s ../own/config.yaml /var/lib/kubelet/config.yaml"

/* logind's own files: "FILE VALUE". */
#define DROP(name, value) "printf '[Login]\\nInhibitDelayMaxSec=" value "\\n' >/etc/systemd/" name
#define DROPS		  "mount -t tmpfs none /etc/systemd && mkdir /etc/systemd/logind.conf.d && "
#define DIR		  "logind.conf.d/"

struct scene {
	struct logindmock mock;
	struct run_result result;
};

static int open_scene(void **state)
{
	static struct scene scene;

	*state = NULL;
	if (geteuid() != 0 || !logindmock_is_here()) {
		fprintf(stderr, "skipped: not root, or no dbus-daemon or python3-dbusmock\n");
		return 0;
	}
	memset(&scene, 0, sizeof(scene));
	logindmock_begin(&scene.mock);
	logindmock_start_bus(&scene.mock);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", scene.mock.address, 1);
	*state = &scene;
	return 0;
}

static int close_scene(void **state)
{
	struct scene *s = *state;

	if (!s)
		return 0;
	run_done(&s->result);
	unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	logindmock_end(&s->mock);
	return 0;
}

/* After that was done to the kubelet's file. */
static void check_by(struct scene *s, const char *done, const char *options)
{
	char shell[1024];
	const struct run_spec spec = {.exe = "/usr/bin/unshare",
				      .args = BOX_ARGV("-m", "sh", "-c", shell)};

	snprintf(shell, sizeof(shell), SHELL, done, options);
	assert_int_equal(run(&spec, &s->result), 0);
}

static void check_with(struct scene *s, const char *done)
{
	check_by(s, done, "--no-names.enabled");
}

static void check(struct scene *s)
{
	check_with(s, "true");
}

/* A line of that status, name and text, whatever the space between; after a warning, what to do. */
static void assert_line(const struct scene *s, const char *status, const char *name,
			const char *text)
{
	bool warns = strcmp(status, "warn") == 0;
	const char *found;
	char line[512];

	snprintf(line, sizeof(line), "%-4s  %-20s  %s\n", status, name, text);
	found = strstr(s->result.out, line);
	if (!found)
		fail_msg("no line \"%s\" in %s", line,
			 strstr(s->result.out, "logind") ? strstr(s->result.out, "logind") : "");
	if (warns != (strncmp(found + strlen(line), "      fix: ", 11) == 0))
		fail_msg("after \"%s\" comes \"%.60s\"", line, found + strlen(line));
}

static void test_right(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	logindmock_set_limit(&s->mock, 30000000);
	logindmock_run(
		&s->mock,
		"globals().setdefault('inhibitors', []).extend([('shutdown', 'kubelet', 'pods', 'delay', 0, 7), "
		"('sleep', 'nobody', '', 'delay', 0, 8), "
		"('shutdown', 'gra\\x1bced', '', 'delay', 0, 9)])");
	check(s);
	assert_line(s, "ok", "logind", "on the system bus");
	assert_line(s, "ok", "delay locks", "held by kubelet (pid 7), gra\\x1bced (pid 9)");
	assert_line(s, "ok", "shutdown delay", "logind waits 30 s, the kubelet's groups take 30 s");
}

static void test_wrong(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check(s);
	assert_line(s, "warn", "delay locks",
		    "none is held; the kubelet has a shutdownGracePeriod, and holds none");
	assert_line(s, "warn", "shutdown delay",
		    "logind waits 5 s, the kubelet's groups take 30 s");
}

static void test_linked(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check_with(s, LINK);
	assert_line(s, "warn", "shutdown delay",
		    "logind waits 5 s, the kubelet's groups take 30 s");
	run_done(&s->result);
	check_with(s, LINK " && chmod 777 /var/lib/own");
	assert_line(s, "warn", "kubelet shutdown",
		    "/var/lib/kubelet/config.yaml: it is a link, and others than root may write on "
		    "the way it leads; its groups in a shutdown are not known");
}

static void test_pinned(void **state)
{
	static const struct {
		const char *done, *status, *text;
	} rows[] = {
		{DROPS "true", "ok", "no file has the last word; a kubelet that starts raises it"},
		{DROPS DROP("logind.conf", "7"), "ok",
		 "/etc/systemd/logind.conf has the last word, 7 s; a kubelet that starts raises it"},
		{DROPS DROP(DIR "99-kubelet.conf", "30") " && " DROP(DIR "99-local.conf", "20"),
		 "warn",
		 "/etc/systemd/logind.conf.d/99-local.conf says 20 s after 99-kubelet.conf"},
		{DROPS DROP(DIR "99-local.conf", "20") " && " DROP(DIR "zz-graced.conf", "40"),
		 "warn",
		 "/etc/systemd/logind.conf.d/zz-graced.conf has the last word, 40 s, and logind "
		 "has not read it"},
		{DROPS DROP(DIR "zz-graced.conf", "40") " && " DROP(DIR "zzz.conf", "29500ms"),
		 "warn", "/etc/systemd/logind.conf.d/zzz.conf says 29.500 s after zz-graced.conf"},
		{DROPS DROP(DIR "99-kubelet.conf", "30") " && echo '[Login' >/etc/systemd/" DIR
							 "10-a.conf",
		 "warn",
		 "logind stops reading in /etc/systemd/logind.conf.d/10-a.conf, 99-kubelet.conf is "
		 "not read"},
	};
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	for (size_t i = 0; i < LEN(rows); i++) {
		check_with(s, rows[i].done);
		assert_line(s, rows[i].status, "delay drop-ins", rows[i].text);
		run_done(&s->result);
	}
	logindmock_set_limit(&s->mock, 30000000);
	check_with(s, DROPS DROP(DIR "99-kubelet.conf", "30"));
	assert_line(s, "ok", "delay drop-ins",
		    "/etc/systemd/logind.conf.d/99-kubelet.conf has the last word, 30 s");
}

static void test_inconsistent(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check_with(s, "printf '" TYPE "shutdownGracePeriodCriticalPods: 40s\\n' "
		      ">/var/lib/kubelet/config.yaml");
	assert_line(
		s, "warn", "kubelet shutdown",
		"/var/lib/kubelet/config.yaml: a kubelet would not start with it: invalid configuration: "
		"shutdownGracePeriodCriticalPods {40s} must be <= shutdownGracePeriod {0s}; "
		"its groups in a shutdown are not known");
	run_done(&s->result);
	check_with(s, "echo 'shutdownGracePeriodCriticalPods: 40' >>/var/lib/kubelet/config.yaml");
	assert_line(
		s, "warn", "kubelet shutdown",
		"/var/lib/kubelet/config.yaml: line 5: shutdownGracePeriodCriticalPods is there "
		"twice; its groups in a shutdown are not known");
	run_done(&s->result);
	check_with(s, "chmod 666 /var/lib/kubelet/config.yaml");
	assert_line(
		s, "warn", "kubelet shutdown",
		"/var/lib/kubelet/config.yaml may be written by its group or others; chmod go-w "
		"it; its groups in a shutdown are not known");
}

#define POD(name, phase, spec)                                   \
	"{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name \
	"\",\"uid\":\"00000000-0000-0000-0000-00000000000" name  \
	"\"},\"status\":{\"phase\":\"" phase "\"},\"spec\":{" spec "}}"
#define GRACE(seconds) "\"terminationGracePeriodSeconds\":" seconds
#define CRITICAL       ",\"priority\":2000000000"

/* What a kubelet answers that has these pods. */
static void check_pods(struct scene *s, const char *pods, const char *status, const char *text)
{
	char answer[2048], options[64];
	struct kubepeer peer;

	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		 "Connection: close\r\n\r\n{\"kind\":\"PodList\",\"items\":[%s]}",
		 strlen(pods) + strlen("{\"kind\":\"PodList\",\"items\":[]}"), pods);
	kubepeer_open(&peer);
	kubepeer_play(&peer, &(struct kubepeer_part){.answer = answer, .len = strlen(answer)});
	snprintf(options, sizeof(options), "--kubelet.url http://127.0.0.1:%u",
		 (unsigned int)peer.port);
	check_by(s, "true", options);
	kubepeer_close(&peer);
	if (text)
		assert_line(s, status, "grace periods", text);
	else
		assert_null(strstr(s->result.out, "grace periods  "));
	run_done(&s->result);
}

static void test_grace(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check_pods(s, "", "ok", NULL);
	check_pods(s,
		   POD("1", "Running", GRACE("20") ",\"priority\":0") "," POD(
			   "2", "Running", GRACE("10") CRITICAL) "," POD("3", "Failed",
									 GRACE("99")),
		   "ok", "of 2 pods none is known to have a longer one than its group");
	check_pods(s, POD("1", "Running", GRACE("21")) "," POD("2", "Running", "\"priority\":0"),
		   "warn",
		   "cut short in a shutdown: shop/1 (21 s, has 20 s); that of 1 is unknown; the "
		   "priority of 1 is unknown, and taken for 0");
	check_pods(s, POD("2", "Running", GRACE("11") CRITICAL), "warn",
		   "cut short in a shutdown: shop/2 (11 s, has 10 s)");
}

/* Elsewhere, and by the rules of another version. */
static void test_named(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check_by(s, "sed s/30s/40s/ /var/lib/kubelet/config.yaml >/var/lib/own.yaml",
		 "--no-names.enabled --kubelet.config /var/lib/own.yaml");
	assert_line(s, "warn", "shutdown delay",
		    "logind waits 5 s, the kubelet's groups take 40 s");
	run_done(&s->result);
	check_by(s, "true", "--no-names.enabled --kubelet.version 1.20");
	assert_line(s, "warn", "kubelet shutdown",
		    "/var/lib/kubelet/config.yaml: a kubelet would not start with it: invalid "
		    "configuration: specifying shutdownGracePeriod or "
		    "shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown; "
		    "its groups in a shutdown are not known");
	run_done(&s->result);
	check_by(s, "true", "--no-names.enabled --kubelet.config /var/lib/none.yaml");
	assert_line(s, "warn", "kubelet shutdown",
		    "cannot open /var/lib/none.yaml: No such file or directory; its groups in a "
		    "shutdown are not known");
}

#define OWN(units)                                                                                  \
	"printf 'shutdown:\\n  mode: manage\\n  gracePeriodByPodPriority:\\n'"                      \
	"'  - {priority: 0, gracePeriodSeconds: 9}\\n  - {priority: -5, gracePeriodSeconds: 4}\\n'" \
	"'" units "' >/var/lib/graced.yaml"
#define KUBELET_UNIT "  stopUnits: [kubelet.service]\\n"

/* Where graced stops the pods, by a file of its own. */
static void test_managed(void **state)
{
	struct scene *s = *state;

	if (!s)
		skip();
	logindmock_start(&s->mock);
	check_by(s, OWN(KUBELET_UNIT), "--no-names.enabled --config /var/lib/graced.yaml");
	assert_line(s, "ok", "shutdown groups",
		    "4 s from priority -5 on, 9 s from priority 0 on (graced's settings)");
	assert_line(s, "warn", "delay locks",
		    "none is held; graced is to stop the pods, and holds none");
	assert_line(s, "warn", "shutdown delay", "logind waits 5 s, graced needs 23 s");
	assert_line(s, "warn", "pod status",
		    "nothing writes the status of pods while kubelet.service is stopped "
		    "(shutdown.stopUnits): the API shows those that were stopped as they were "
		    "before; see api.report");
	run_done(&s->result);
	check_by(s, OWN(""), "--no-names.enabled --config /var/lib/graced.yaml");
	assert_line(s, "warn", "kubelet unit",
		    "the kubelet stops pods, too: /var/lib/kubelet/config.yaml has shutdown grace "
		    "periods, and shutdown.stopUnits does not have its unit; use shutdown.mode "
		    "assist");
	run_done(&s->result);
	check_by(s,
		 "rm /var/lib/kubelet/config.yaml && "
		 "echo 'shutdown: {mode: manage}' >/var/lib/graced.yaml",
		 "--no-names.enabled --config /var/lib/graced.yaml");
	assert_line(s, "ok", "shutdown groups",
		    "none: all containers are stopped at once, each with the grace period of its "
		    "pod");
	assert_line(s, "warn", "shutdown delay", "logind waits 5 s, graced needs 40 s");
	assert_null(strstr(s->result.out, "kubelet unit  "));
	assert_null(strstr(s->result.out, "pod status  "));
}

static void test_absent(void **state)
{
	struct scene *s = *state;
	char says[256];

	if (!s)
		skip();
	snprintf(says, sizeof(says),
		 "shutdowns of the node are not seen: logind is not on the bus, at %s",
		 s->mock.address + strlen("unix:path="));
	check_with(s, "echo 'kind: x' >/var/lib/kubelet/config.yaml");
	assert_line(s, "warn", "logind", says);
	assert_line(s, "warn", "kubelet shutdown",
		    "/var/lib/kubelet/config.yaml: line 1: kind is not KubeletConfiguration; its "
		    "groups in a shutdown are not known");
}

static void test_silent(void **state)
{
	struct scene *s = *state;
	time_t began = time(NULL);

	if (!s)
		skip();
	logindmock_start(&s->mock);
	logindmock_pause(&s->mock);
	check(s);
	assert_line(s, "warn", "logind", "no answer within 3 s");
	assert_true(time(NULL) - began < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"logind, who holds delay locks and how long it waits are shown", test_right,
		 open_scene, close_scene, NULL},
		{"a kubelet without a lock, and a logind that waits too short a time, are shown",
		 test_wrong, open_scene, close_scene, NULL},
		{"a kubelet's configuration may be a link that is root's alone", test_linked,
		 open_scene, close_scene, NULL},
		{"which of logind's files keeps the delay too short is shown, and what to do",
		 test_pinned, open_scene, close_scene, NULL},
		{"settings that a kubelet would not start with, or others may write, are shown",
		 test_inconsistent, open_scene, close_scene, NULL},
		{"the kubelet's configuration may be elsewhere, and of an older one", test_named,
		 open_scene, close_scene, NULL},
		{"pods whose grace period is longer than their group's time are shown", test_grace,
		 open_scene, close_scene, NULL},
		{"where graced stops the pods its own groups count, and what is amiss is shown",
		 test_managed, open_scene, close_scene, NULL},
		{"a logind that is not there is shown, and the kubelet judged all the same",
		 test_absent, open_scene, close_scene, NULL},
		{"a logind that does not answer is not waited for", test_silent, open_scene,
		 close_scene, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
