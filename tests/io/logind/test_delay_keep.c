// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind/delay on a bus with logind and systemd: the limit is raised, and
 * stays so. */
#include "io/logind/delay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/shutdown/logindscene.h"

#define MS	1000000ull
#define S	1000000000ull
#define KUBELET DELAYDROP_DIR "/99-kubelet.conf"

struct site {
	struct logindscene scene;
	char root[64];
	unsigned int kubelet; /* times its configuration changed */
};

static int setup(void **state)
{
	static struct site t;

	*state = NULL;
	if (!logindmock_is_here())
		return 0;
	t = (struct site){};
	logindscene_begin(&t.scene, true);
	snprintf(t.root, sizeof(t.root), "%s/root", t.scene.mock.dir);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct site *t = *state;

	if (t)
		logindscene_end(&t->scene);
	return 0;
}

static struct site *site_of(void **state)
{
	if (!*state) {
		print_message("needs dbus-daemon and python3-dbusmock\n");
		skip();
	}
	return *state;
}

static void put(const struct site *t, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", t->root, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void sh(const struct site *t, const char *script)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p %s && cd %s && %s", t->root, t->root, script);
	assert_int_equal(system(command), 0);
}

static void on_kubelet(void *userdata)
{
	struct site *t = userdata;

	t->kubelet++;
}

static void open_all(struct site *t)
{
	static const struct logind_options plain = {.lock = -1};

	sh(t, "mkdir -p etc/systemd/logind.conf.d run/systemd var/lib/kubelet");
	logindmock_add_systemd(&t->scene.mock, t->root);
	logindscene_open(&t->scene, &plain);
	assert_int_equal(
		delaykeep_new(t->scene.event, t->scene.logind,
			      &(struct delaykeep_options){t->root, "/var/lib/kubelet/config.yaml"},
			      &(struct delaykeep_sink){t, on_kubelet}, &t->scene.keep),
		0);
}

static struct delaykeep_state state_of(const struct site *t)
{
	struct delaykeep_state state;

	delaykeep_get_state(t->scene.keep, &state);
	return state;
}

static void await_limit(struct site *t, uint64_t ns)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_S * S;

	while (state_of(t).effective_ns != ns) {
		if (clock_boot_ns() > end_ns)
			fail_msg("the limit is %llu s: %s",
				 (unsigned long long)(state_of(t).effective_ns / S),
				 state_of(t).text);
		logindscene_run_for(&t->scene, 10 * MS);
	}
}

static const char *const status_names[] = {
	[DELAYKEEP_UNKNOWN] = "unknown", [DELAYKEEP_ENOUGH] = "enough",
	[DELAYKEEP_RAISING] = "raising", [DELAYKEEP_PINNED] = "pinned",
	[DELAYKEEP_FAILED] = "failed",
};

static void await_status(struct site *t, enum delaykeep_status status)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_S * S;

	while (state_of(t).status != status) {
		if (clock_boot_ns() > end_ns)
			fail_msg("it is %s: %s", status_names[state_of(t).status],
				 state_of(t).text);
		logindscene_run_for(&t->scene, 10 * MS);
	}
}

static void await_written(struct site *t, uint64_t n)
{
	for (int i = 0; i < 1000 && state_of(t).written < n; i++)
		logindscene_run_for(&t->scene, 10 * MS);
	assert_int_equal(state_of(t).written, n);
}

static bool has_own(const struct site *t)
{
	char path[128];

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR "/" DELAYDROP_NAME, t->root);
	return access(path, F_OK) == 0;
}

static unsigned int reloads(struct site *t)
{
	return logindmock_logged(&t->scene.mock,
				 "KillUnit \"systemd-logind.service\" \"main\" 1\n");
}

/* As the kubelet has logind read its files. */
static void hang_up(struct site *t)
{
	assert_true(sd_bus_call_method(t->scene.mock.ctl, "org.freedesktop.systemd1",
				       "/org/freedesktop/systemd1",
				       "org.freedesktop.systemd1.Manager", "KillUnit", NULL, NULL,
				       "ssi", "systemd-logind.service", "all", 1) >= 0);
}

static void test_raised(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	assert_int_equal(state_of(t).status, DELAYKEEP_UNKNOWN);
	delaykeep_need(t->scene.keep, 40 * S);
	await_limit(t, 40 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
	assert_int_equal(state_of(t).own_ns, 40 * S);
	assert_int_equal(state_of(t).written, 1);
	/* The kubelet's, which is smaller, does not take it back. */
	put(t, KUBELET, "[Login]\nInhibitDelayMaxSec=30\n");
	hang_up(t);
	logindscene_run_for(&t->scene, 300 * MS);
	assert_int_equal(state_of(t).effective_ns, 40 * S);
	assert_int_equal(state_of(t).written, 1);
	/* More is needed, less is not. */
	delaykeep_need(t->scene.keep, 50 * S);
	await_limit(t, 50 * S);
	delaykeep_need(t->scene.keep, 20 * S);
	logindscene_run_for(&t->scene, 300 * MS);
	assert_int_equal(state_of(t).effective_ns, 50 * S);
	assert_int_equal(state_of(t).written, 2);
	assert_int_equal(reloads(t), 2);
	sh(t, "test ! -e etc/systemd/logind.conf.d/." DELAYDROP_NAME ".new");
}

static void test_nothing_needed(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	put(t, KUBELET, "[Login]\nInhibitDelayMaxSec=30\n");
	await_limit(t, 5 * S);
	logindscene_run_for(&t->scene, 300 * MS);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
	delaykeep_need(t->scene.keep, 5 * S);
	logindscene_run_for(&t->scene, 300 * MS);
	assert_false(has_own(t));
	assert_int_equal(reloads(t), 0);
}

/* The kubelet's first start with our drop-in there (docs/kubelet-rules.md, "Delay limit"). */
static void test_kubelet_raises(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	delaykeep_need(t->scene.keep, 40 * S);
	await_limit(t, 40 * S);
	put(t, KUBELET, "# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=90\n");
	/* Its own signal comes first: logind still takes our value. */
	hang_up(t);
	assert_int_equal(reloads(t), 1);
	await_limit(t, 90 * S);
	assert_int_equal(reloads(t), 2);
	assert_int_equal(state_of(t).own_ns, 90 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
	/* It settles. */
	logindscene_run_for(&t->scene, 500 * MS);
	assert_int_equal(state_of(t).written, 2);
	/* And says when the kubelet's own file changes, before the kubelet acts on it. */
	put(t, "/var/lib/kubelet/config.yaml", "shutdownGracePeriod: 120s\n");
	logindscene_settle(&t->scene);
	assert_true(t->kubelet > 0);
}

static void test_lowered(void **state)
{
	struct site *t = site_of(state);

	/* Somebody takes the drop-in away and has logind read its files. */
	open_all(t);
	delaykeep_need(t->scene.keep, 40 * S);
	await_limit(t, 40 * S);
	sh(t, "rm etc/systemd/logind.conf.d/" DELAYDROP_NAME);
	logindmock_set_limit(&t->scene.mock, 5000000);
	await_written(t, 2);
	await_limit(t, 40 * S);
	assert_true(has_own(t));
}

static void test_pinned(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	put(t, DELAYDROP_DIR "/zzz-vendor.conf", "[Login]\nInhibitDelayMaxSec=30\n");
	delaykeep_need(t->scene.keep, 40 * S);
	await_status(t, DELAYKEEP_PINNED);
	assert_string_equal(state_of(t).pinned_by, "zzz-vendor.conf");
	await_limit(t, 30 * S);
	/* It is reported, and not fought about: the sixth look would be the first to fight. */
	logindscene_run_for(&t->scene, 4 * S);
	assert_int_equal(state_of(t).written, 1);
	assert_int_equal(reloads(t), 1);
	sh(t, "rm etc/systemd/logind.conf.d/zzz-vendor.conf");
	await_limit(t, 40 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
	assert_string_equal(state_of(t).pinned_by, "");
}

static void test_no_reload(void **state)
{
	struct site *t = site_of(state);

	/* The signal fails at first. */
	open_all(t);
	logindmock_run(&t->scene.mock,
		       "o = objects['/org/freedesktop/systemd1']\n"
		       "m = o.methods['org.freedesktop.systemd1.Manager']\n"
		       "type(self).kept_kill = m['KillUnit']\n"
		       "o.AddMethod('org.freedesktop.systemd1.Manager', 'KillUnit', 'ssi', '', "
		       "\"raise dbus.exceptions.DBusException('no', "
		       "name='org.freedesktop.DBus.Error.AccessDenied')\")");
	delaykeep_need(t->scene.keep, 40 * S);
	await_status(t, DELAYKEEP_FAILED);
	assert_string_equal(
		state_of(t).text,
		"systemd does not signal logind: org.freedesktop.DBus.Error.AccessDenied");
	logindmock_run(&t->scene.mock, "o = objects['/org/freedesktop/systemd1']\n"
				       "m = o.methods['org.freedesktop.systemd1.Manager']\n"
				       "m['KillUnit'] = type(self).kept_kill");
	await_limit(t, 40 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
	assert_int_equal(state_of(t).written, 1);
}

static void test_not_writable(void **state)
{
	struct site *t = site_of(state);
	unsigned int looks;

	open_all(t);
	sh(t, "rm -r etc && mkdir -p etc && : > etc/systemd");
	delaykeep_need(t->scene.keep, 40 * S);
	await_status(t, DELAYKEEP_FAILED);
	assert_non_null(strstr(state_of(t).text, "cannot write " DELAYDROP_DIR "/" DELAYDROP_NAME));
	looks = logindmock_logged(&t->scene.mock, "InhibitDelayMaxUSec");
	logindscene_run_for(&t->scene, 2 * S);
	assert_true(logindmock_logged(&t->scene.mock, "InhibitDelayMaxUSec") - looks <= 12);
	sh(t, "rm etc/systemd && mkdir -p etc/systemd");
	await_limit(t, 40 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
}

static void test_logind_away(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	delaykeep_need(t->scene.keep, 40 * S);
	await_limit(t, 40 * S);
	logindmock_kill(&t->scene.mock);
	logindscene_await(&t->scene, "down ");
	put(t, KUBELET, "[Login]\nInhibitDelayMaxSec=90\n");
	await_written(t, 2);
	logindmock_start(&t->scene.mock);
	logindmock_add_systemd(&t->scene.mock, t->root);
	await_limit(t, 90 * S);
	assert_int_equal(state_of(t).status, DELAYKEEP_ENOUGH);
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

static void test_no_end(void **state)
{
	struct site *t = site_of(state);

	open_all(t);
	delaykeep_need(t->scene.keep, UINT64_MAX);
	assert_true(state_of(t).need_ns == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("what is needed is written, read by logind, and read back", test_raised),
		TEST("what is not needed is not written", test_nothing_needed),
		TEST("a kubelet that raises its own value has it within its 1.5 s",
		     test_kubelet_raises),
		TEST("a limit that fell is raised again", test_lowered),
		TEST("a need without an end is one", test_no_end),
		TEST("a file that sorts later is named", test_pinned),
		TEST("a signal that fails is sent again", test_no_reload),
		TEST("a file that cannot be written is tried again, ever more rarely",
		     test_not_writable),
		TEST("a logind that was away has the value when it is back", test_logind_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
