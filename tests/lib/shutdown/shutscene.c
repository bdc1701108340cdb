// SPDX-License-Identifier: Apache-2.0
/* Sets up a node's shutdown and reads its records. */
#include "lib/shutdown/shutscene.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"

#define STEP_US	 20000
#define LIMIT_US 20000000
#define ARGS_MAX 32
#define KUBELET	 SHUTSCENE_KUBELET "shutdownGracePeriod: 5s\nshutdownGracePeriodCriticalPods: 2s\n"

int shutscene_open(void **state)
{
	static struct shutscene scene;
	int r = tracer_open_tree(
		"shutdown",
		logindmock_is_here() ? NULL : "dbus-daemon or python3-dbusmock is not installed",
		&scene.tree);

	*state = r > 0 ? &scene : NULL;
	return r < 0 ? -1 : 0;
}

int shutscene_close(void **state)
{
	struct shutscene *s = *state;

	return s ? box_tree_close(&s->tree) : 0;
}

void shutscene_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

void shutscene_start(struct shutscene *s, const char *mode)
{
	const char *args[ARGS_MAX] = {"--sinks.journal=false",
				      "--sinks.file",
				      s->records,
				      "--names.log-directory",
				      s->names.dir,
				      "--shutdown.mode",
				      mode,
				      "--kubelet.config",
				      s->kubelet,
				      "--shutdown.overdue-slack=1s",
				      "--shutdown.status-wait=1s",
				      "--shutdown.deaf-grace",
				      s->deaf_grace};
	char bus[128];
	const char *const env[] = {bus, NULL};
	size_t n = 0;

	while (args[n])
		n++;
	for (const char *const *more = s->args; more && *more && n + 1 < ARGS_MAX; more++)
		args[n++] = *more;
	snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=%s", s->mock.address);
	assert_int_equal(service_start(&(struct service_spec){.args = args,
							      .env = env,
							      .dir = s->state,
							      .tree = &s->tree,
							      .whole_host = s->whole_host,
							      .no_wait = s->no_wait,
							      .systemd = s->systemd},
				       &s->service),
			 0);
}

void shutscene_await_locks(struct shutscene *s, unsigned int n)
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

/* Where the daemon finds and keeps what it needs. */
static void make_files(struct shutscene *s, const char *kubelet)
{
	assert_int_equal(lognames_open(&s->names), 0);
	snprintf(s->records, sizeof(s->records), "%s/records", s->mock.dir);
	snprintf(s->kubelet, sizeof(s->kubelet), "%s/kubelet.yaml", s->mock.dir);
	snprintf(s->state, sizeof(s->state), "%s/state", s->mock.dir);
	assert_int_equal(mkdir(s->state, 0700), 0);
	snprintf(s->systemd, sizeof(s->systemd), "%s/etc", s->mock.dir);
	assert_int_equal(mkdir(s->systemd, 0755), 0);
	snprintf(s->systemd, sizeof(s->systemd), "%s/etc/systemd", s->mock.dir);
	assert_int_equal(mkdir(s->systemd, 0755), 0);
	shutscene_write(s->kubelet, kubelet);
}

struct shutscene *shutscene_begin(void **state, const struct shutscene_spec *spec)
{
	struct shutscene *s = *state;

	if (!s)
		skip();
	logindmock_begin(&s->mock);
	s->begun = true;
	s->no_wait = false;
	logindmock_start_bus(&s->mock);
	logindmock_start(&s->mock);
	logindmock_set_limit(&s->mock, spec->limit_us ? spec->limit_us : LIMIT_US);
	s->whole_host = spec->whole_host;
	s->deaf_grace = spec->deaf_grace ? spec->deaf_grace : "off";
	s->args = spec->args;
	make_files(s, spec->kubelet ? spec->kubelet : KUBELET);
	shutscene_start(s, spec->mode);
	shutscene_await_locks(s, 1);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors += [('shutdown', 'kubelet', 'pods', 'delay', 0, 7)]");
	return s;
}

static void clear(struct shutscene *s)
{
	s->service = service_free(s->service);
	lognames_close(&s->names);
	logindmock_end(&s->mock);
	s->begun = false;
}

void shutscene_end(struct shutscene *s)
{
	assert_int_equal(service_stop(s->service), 0);
	clear(s);
}

int shutscene_undo(void **state)
{
	struct shutscene *s = *state;
	int r = v1freezer_let_out(getpid());

	if (s && s->begun)
		clear(s);
	return r;
}

void shutscene_box(struct shutscene *s, const char *pod, struct box *ret)
{
	shutscene_box_of(s, pod, &(struct box_spec){.argv = BOX_ARGV("deaf")}, ret);
}

void shutscene_box_of(struct shutscene *s, const char *pod, const struct box_spec *of,
		      struct box *ret)
{
	struct lognames_of names = {&s->names, "shop", pod, "main"};
	double known = service_metric(s->service, "graced_known_pods", NULL);
	struct box_spec spec = *of;

	spec.named = lognames_of;
	spec.userdata = &names;

	assert_int_equal(box_start(&s->tree, &spec, ret), 0);
	assert_true(service_await_metric(s->service, "graced_known_pods", NULL, known + 1) > known);
}

json_t *shutscene_find(const struct shutscene *s, const char *expected)
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

json_t *shutscene_await_record(const struct shutscene *s, const char *expected)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	json_t *rec;

	while (!(rec = shutscene_find(s, expected))) {
		if (clock_boot_ns() >= until)
			fail_msg("no record has %s", expected);
		usleep(STEP_US);
	}
	return rec;
}

/* A page is kept for a moment. */
void shutscene_await_metric(struct shutscene *s, const char *metric, const char *label,
			    double value)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	double is;

	while ((is = service_metric(s->service, metric, label)) < value || is > value) {
		if (clock_boot_ns() >= until)
			fail_msg("%s{%s} is %f, not %f", metric, label ? label : "", is, value);
		usleep(STEP_US);
	}
}
