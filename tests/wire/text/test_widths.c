// SPDX-License-Identifier: Apache-2.0
/* Claims about the tables of trace and audit on terminals and in a pipe: tests/tables has what each
 * prints for containers of Docker and compose, pods with long names, and services. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/text/audit.h"
#include "wire/text/table.h"

#define GOLDENS "tests/tables"
#define ID	"4f1de0a27c3b9d8877665544332211000123456789abcdef0123456789abcdef"

struct subject {
	const char *namespace_, *pod, *container;
};

#define SUBJECTS 4

static const struct scene {
	const char *name;
	enum record_container_kind kind;
	struct subject subjects[SUBJECTS];
} scenes[] = {
	{"docker",
	 CONTAINER_KIND_CONTAINER,
	 {{NULL, NULL, "web"},
	  {NULL, NULL, "sleepy_wozniak"},
	  {NULL, NULL, "cache"},
	  {NULL, NULL, "db-backup"}}},
	{"compose",
	 CONTAINER_KIND_CONTAINER,
	 {{"shop", NULL, "shop-web-1"},
	  {"shop", NULL, "shop-worker-12"},
	  {"shop", NULL, "shop-redis-1"},
	  {"shop", NULL, "shop-postgres-exporter-1"}}},
	{"pods",
	 CONTAINER_KIND_CONTAINER,
	 {{"shop", "cart-7d9c6b5f4-x2x7k", "cart"},
	  {"monitoring", "prometheus-kube-prometheus-operator-6f9d8c7b5-abcde", "config-reloader"},
	  {"kube-system", "kube-controller-manager-node-1", "kube-controller-manager"},
	  {"default", "web-0", "nginx"}}},
	{"services",
	 CONTAINER_KIND_SERVICE,
	 {{NULL, NULL, "nginx.service"},
	  {NULL, NULL, "postgresql@16-main.service"},
	  {NULL, NULL, "systemd-networkd-wait-online.service"},
	  {NULL, NULL, "ssh.service"}}},
};

static struct record_pod pod_of(const struct subject *s)
{
	return (struct record_pod){
		.known = s->pod, .namespace_ = s->namespace_, .name = s->pod, .uid = "94dc9966"};
}

static struct record_container container_of(const struct scene *scene, size_t i)
{
	const struct subject *s = &scene->subjects[i];

	return (struct record_container){.known = true,
					 .name = s->container,
					 .id = ID,
					 .kind = scene->kind,
					 .namespace_ = s->pod ? NULL : s->namespace_};
}

/* The first stopped well, the others were killed after their grace, ran out of memory, exited. */
static struct record stop_of(const struct scene *scene, size_t i)
{
	static const struct record_stop stops[SUBJECTS] = {
		{.outcome = OUTCOME_GRACEFUL,
		 .cause = CAUSE_STOP_SIGNAL,
		 .exit = {.known = true},
		 .latency_known = true,
		 .latency_ns = 1230000000},
		{.outcome = OUTCOME_KILLED,
		 .cause = CAUSE_GRACE_EXPIRED,
		 .exit = {.known = true, .status = SIGKILL},
		 .latency_known = true,
		 .latency_ns = 10010000000,
		 .deaf = true,
		 .reason = UNHEARD_SHELL,
		 .collateral_kills = 3,
		 .gaps = 1u << GAP_ATTACHED_LATE},
		{.outcome = OUTCOME_OOM_KILLED,
		 .cause = CAUSE_OOM_CONTAINER,
		 .exit = {.known = true, .status = SIGKILL}},
		{.outcome = OUTCOME_FAILED,
		 .cause = CAUSE_SELF,
		 .exit = {.known = true, .status = 256}},
	};
	struct record record = {.type = RECORD_STOP,
				.wall_ns = 1795273445123456789 + (int64_t)i * 61000000000,
				.stop = stops[i]};
	struct record_stop *stop = &record.stop;

	stop->pod = pod_of(&scene->subjects[i]);
	stop->container = container_of(scene, i);
	stop->grace = (struct grace){.from = GRACE_SPEC, .ns = 10000000000};
	stop->stop_signal = (struct record_sigref){
		.known = stop->latency_known,
		.number = SIGTERM,
		.sender = {.kind = SENDER_RUNTIME,
			   .process = {.pid = 40112, .comm = "containerd-shim"}},
	};
	stop->kill_signal = stop->stop_signal;
	stop->kill_signal.known = i == 1 || i == 2;
	if (i == 2)
		stop->kill_signal.sender.kind = SENDER_KERNEL;
	return record;
}

static struct audit_record audit_of(const struct scene *scene, size_t i)
{
	static const struct {
		const char *comm;
		struct audit audit;
	} found[SUBJECTS] = {
		{"nginx", {AUDIT_HEARS, AUDIT_HANDLER, 0}},
		{"sh", {AUDIT_DEAF, AUDIT_SHELL, 0}},
		{"redis-server", {AUDIT_DEAF, AUDIT_SHIELD, 0}},
		{"pg_dump", {AUDIT_UNKNOWN, AUDIT_THREADS, 0}},
	};

	return (struct audit_record){
		.pod = pod_of(&scene->subjects[i]),
		.container = container_of(scene, i),
		.seen = true,
		.process = {.pid = 21733 + (uint32_t)i, .ns_pid = 1, .comm = found[i].comm},
		.has_app = i == 1,
		.app = {.pid = 21790},
		.facts = {.signal = SIGTERM},
		.audit = found[i].audit,
	};
}

static void add_trace(struct buf *out, const struct scene *scene, unsigned int width)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table_trace,
		  &(struct grid_view){.width = width, .live = true, .flat = true});
	if (scene->subjects[0].pod)
		grid_expect(&grid, "pod");
	grid_add_titles(&grid);
	grid_flush(&grid, out);
	for (size_t i = 0; i < SUBJECTS; i++) {
		struct record record = stop_of(scene, i);

		grid_add(&grid, &record);
		grid_flush(&grid, out);
	}
}

static void add_audit(struct buf *out, const struct scene *scene, unsigned int width)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &audit_table, &(struct grid_view){.width = width, .flat = true});
	for (size_t i = 0; i < SUBJECTS; i++) {
		struct audit_record record = audit_of(scene, i);

		grid_add(&grid, &record);
	}
	grid_flush(&grid, out);
}

typedef void (*add_fn)(struct buf *out, const struct scene *scene, unsigned int width);

static const unsigned int widths[] = {60, 80, 120, 200, 0};

static void add_all(struct buf *out, const struct scene *scene, const char *command, add_fn add)
{
	for (size_t i = 0; i < LEN(widths); i++) {
		_cleanup_(buf_free) struct buf table = {};

		add(&table, scene, widths[i]);
		if (widths[i])
			term_check(&table, widths[i]);
		else
			assert_null(strstr(buf_str(&table), "…"));
		if (widths[i])
			buf_printf(out, "## %s, %u columns\n", command, widths[i]);
		else
			buf_printf(out, "## %s, a pipe\n", command);
		buf_adds(out, buf_str(&table));
	}
}

static void check_scene(const struct scene *scene)
{
	_cleanup_(buf_free) struct buf out = {}, golden = {};
	char path[128], bytes[4096];
	FILE *file;
	size_t n;

	add_all(&out, scene, "trace", add_trace);
	if (scene->kind == CONTAINER_KIND_CONTAINER)
		add_all(&out, scene, "audit", add_audit);
	snprintf(path, sizeof(path), GOLDENS "/%s.txt", scene->name);
	file = fopen(path, "re");
	while (file && (n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buf_add(&golden, bytes, n);
	if (file)
		fclose(file);
	if (strcmp(buf_str(&golden), buf_str(&out)) == 0)
		return;
	/* The message of an assertion is cut. */
	fputs(buf_str(&out), stderr);
	fail_msg("%s differs from what is printed above", path);
}

static void test_scenes(void **state)
{
	check_scene(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"names of Docker, on terminals and in a pipe", test_scenes, NULL, NULL,
		 (void *)&scenes[0]},
		{"names of compose", test_scenes, NULL, NULL, (void *)&scenes[1]},
		{"pods with long names", test_scenes, NULL, NULL, (void *)&scenes[2]},
		{"services, of which .service is implied", test_scenes, NULL, NULL,
		 (void *)&scenes[3]},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
