// SPDX-License-Identifier: Apache-2.0
/* graced resolve: pod and container of a process, of a cgroup path, or of a name. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/query/describe.h"
#include "base/cleanup.h"
#include "core/cgroup/path.h"
#include "core/cgroup/trust.h"
#include "core/facts/observation.h"
#include "core/stop/record.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"
#include "io/proc/proc.h"
#include "io/sources/logs/logs.h"
#include "wire/json/rows.h"
#include "wire/json/writer.h"
#include "wire/text/grid.h"
#include "wire/text/table.h"

static const struct options_help help = {
	.head = "usage: graced resolve [OPTIONS] WHAT...\n"
		"\n"
		"Shows pod, container and runtime of WHAT: a pid, a cgroup path (/kubepods/...), a line of\n"
		"/proc/PID/cgroup, or the name of containers that are here: of a container, a pod or\n"
		"NAMESPACE/POD, its beginning (cart: cart-7d9c), a glob, the beginning of a container's id or of\n"
		"a pod's uid. Needs no privilege. Names come from those under /var/log and, with the right to\n"
		"query them, from the container runtime and the engines' files.\n"
		"\n"
		"The exit status is 1 when there is no such process or no such container, 2 after wrong use.\n",
	.tail = "EXAMPLES\n"
		"  graced resolve cart           the containers of pods and containers called cart, cart-7d9c, ...\n"
		"  graced resolve shop/cart-7    of one pod\n"
		"  graced resolve 4242           of a process\n",
};

struct answer {
	const char *what;
	char cgroup[PATH_MAX];
	struct cgpath path;
	bool named; /* what sources say of its pod and container is about it */
	struct obs_names names;
	struct record_pod pod;
	struct record_container container;
};

struct resolve {
	const struct options *options;
	struct hierarchy hierarchy;
	bool has_hierarchy;
	struct source_logs *logs;  /* NULL: none */
	struct describe *describe; /* NULL: no source was queried */
	struct grid grid;
};

static bool is_pid(const char *what, pid_t *ret)
{
	unsigned long pid;
	char *end;

	if (!isdigit((unsigned char)*what))
		return false;
	errno = 0;
	pid = strtoul(what, &end, 10);
	if (*end || errno || pid > INT_MAX)
		return false;
	*ret = (pid_t)pid;
	return true;
}

static int find_hierarchy(struct resolve *r)
{
	int e;

	if (r->has_hierarchy)
		return 0;
	e = hierarchy_detect(r->options->hierarchy, &r->hierarchy);
	/* For a process's path it does not matter how much of the tree is visible here. */
	if (e == -EXDEV)
		e = 0;
	if (e < 0)
		return e;
	r->has_hierarchy = true;
	return 0;
}

/* 0, or the exit status after the error was logged. */
static int cgroup_of(struct resolve *r, const char *what, char ret[static PATH_MAX])
{
	const char *path = what;
	pid_t pid;
	int e;

	if (is_pid(what, &pid)) {
		if (!say_host_pids("resolve"))
			return 1;
		e = find_hierarchy(r);
		if (e >= 0)
			e = procfs_cgroup_of(pid, r->hierarchy.unified ? NULL : r->hierarchy.name,
					     ret, PATH_MAX);
		if (e < 0)
			say(e == -ESRCH ? "there is no process %s" : "cannot resolve %s: %s", what,
			    strerror(-e));
		return e < 0;
	}
	if (isdigit((unsigned char)*what) && strchr(what, ':'))
		path = strchr(strchr(what, ':') + 1, ':');
	path = path && *path == ':' ? path + 1 : path;
	if (!path || *path != '/' || strlen(path) >= PATH_MAX)
		return say_usage("resolve", "'%s' is no path and no line of /proc/PID/cgroup",
				 what);
	strcpy(ret, path);
	return 0;
}

/* Checks who could name the cgroup, if it exists. */
static void judge(struct resolve *r, struct answer *a)
{
	uint32_t delegated_level = 0;
	struct cgfs *cgfs = NULL;
	bool by_root;
	uint64_t id;

	if (find_hierarchy(r) == 0 &&
	    cgfs_open(r->hierarchy.mount, r->hierarchy.unified, &cgfs) == 0 &&
	    cgfs_id_of(cgfs, a->cgroup, &id) == 0)
		delegated_level = cgfs_delegated_level(cgfs, a->cgroup);
	cgfs_free(cgfs);
	by_root = cgtrust_of(NULL, a->cgroup, delegated_level) == CGTRUST_PODS;
	a->named = by_root || cgtrust_user(a->cgroup, delegated_level);
	if (!by_root)
		cgtrust_cut(CGTRUST_CONTAINERS, &a->path);
}

static void print_json(const struct answer *a)
{
	_cleanup_(buf_free) struct buf line = {};

	jsonw_object(&line, NULL);
	jsonw_str(&line, "type", "resolve");
	jsonw_u64(&line, "schema", 1);
	jsonw_str(&line, "input", a->what);
	jsonw_str(&line, "cgroup", a->cgroup);
	jsonw_str(&line, "kind", cgpath_kind_name(a->path.kind));
	members_write_object(&line, "pod", parts_pod, a->pod.known ? &a->pod : NULL);
	members_write_object(&line, "container", parts_container,
			     a->container.known ? &a->container : NULL);
	jsonw_str(&line, "driver", cgpath_driver_name(a->path.driver));
	jsonw_object_end(&line);
	puts(buf_str(&line));
}

/* With the dashes of other tables: "container-outside-kubepods". */
static void add_kind(struct grid_cell *cell, const void *row)
{
	for (const char *at = cgpath_kind_name(((const struct answer *)row)->path.kind); *at; at++)
		buf_addc(cell->text, *at == '_' ? '-' : *at);
}

static void add_namespace(struct grid_cell *cell, const void *row)
{
	const struct answer *a = row;

	table_add_namespace(cell, &a->pod, &a->container);
}

static void add_workload(struct grid_cell *cell, const void *row)
{
	const struct answer *a = row;

	grid_text(cell, record_workload(&a->pod, &a->container));
}

static void add_cgroup(struct grid_cell *cell, const void *value)
{
	grid_text(cell, value);
}

static const struct grid_column columns[] = {
	{"what", GRID_TEXT(struct answer, what), GRID_NAME},
	{"kind", .add = add_kind},
	{"namespace", .add = add_namespace, .optional = true},
	{"pod", GRID_AT(table_add_pod, struct answer, pod), GRID_NAME, .optional = true},
	{"container", GRID_AT(table_add_container, struct answer, container), GRID_NAME},
	{"workload", .add = add_workload, .wide = true},
	{"id", GRID_AT(grid_add_id, struct answer, container.id), .wide = true},
	{"runtime", GRID_AT(table_add_runtime, struct answer, container.runtime)},
	{"image", GRID_TEXT(struct answer, container.image), .wide = true},
	{"qos", GRID_WORD(struct answer, path.qos, cgpath_qos_name), .optional = true},
	{"driver", GRID_WORD(struct answer, path.driver, cgpath_driver_name)},
	{"cgroup", GRID_AT(add_cgroup, struct answer, cgroup), .wide = true},
};

static const struct grid_table table = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.extras = "runtime,kind,qos,driver,namespace",
};

static int print_rows(struct resolve *r)
{
	_cleanup_(buf_free) struct buf out = {};

	if (grid_flush(&r->grid, &out) < 0) {
		say("cannot print the table: %s", strerror(-buf_error(&out)));
		return 1;
	}
	fputs(buf_str(&out), stdout);
	return 0;
}

static void describe(struct resolve *r, struct answer *a)
{
	if (r->logs && a->named && !cgtrust_user(a->cgroup, 0))
		source_logs_find(r->logs, a->path.pod_uid, a->path.container_id, &a->names);
	describe_record(a->named ? r->describe : NULL, &a->path, &a->names, a->cgroup, &a->pod,
			&a->container);
	a->container.known = a->path.container_id[0];
}

static void report(struct resolve *r, const struct answer *a)
{
	if (r->options->json)
		print_json(a);
	else
		grid_add(&r->grid, a);
}

/* --- by name ------------------------------------------------------------------------------------
 */

struct search {
	struct resolve *resolve;
	const char *what;
	struct filter container, pod;
	size_t found;
};

/* A sandbox is found by its own id, not by its pod's name. */
static bool is_called(const struct search *s, const struct answer *a)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = a->pod, .container = a->container}};

	return filter_matches(&s->container, &subject) ||
	       (a->container.kind != CONTAINER_KIND_SANDBOX && filter_matches(&s->pod, &subject));
}

static int visit(void *userdata, const struct cgfs_dir *dir)
{
	struct search *s = userdata;
	struct answer a = {.what = s->what};
	struct container_seen seen;

	if (!containers_is(s->resolve->options, s->resolve->describe, dir, &seen))
		return 1;
	if (strlen(dir->path) >= sizeof(a.cgroup))
		return 0;
	strcpy(a.cgroup, dir->path);
	a.path = seen.path;
	a.named = !seen.nameless;
	describe(s->resolve, &a);
	if (is_called(s, &a)) {
		report(s->resolve, &a);
		s->found++;
	}
	return 0;
}

static int scan(struct search *s)
{
	struct resolve *r = s->resolve;
	struct cgfs *cgfs;
	int e = find_hierarchy(r);

	if (e == 0)
		e = cgfs_open(r->hierarchy.mount, r->hierarchy.unified, &cgfs);
	if (e < 0)
		return e;
	e = cgfs_scan(cgfs, "/", visit, s, NULL);
	cgfs_free(cgfs);
	return e;
}

static int answer_name(struct resolve *r, const char *what)
{
	struct search s = {.resolve = r, .what = what};
	int e;

	if (filter_names_add(&s.container.containers, what) < 0 ||
	    filter_names_add(&s.pod.pods, what) < 0)
		return say_usage("resolve", "'%s' is no pid, no path and no name", what);
	e = scan(&s);
	if (e < 0)
		say("cannot look for containers: %s", strerror(-e));
	else if (!s.found)
		say("no container here is called '%s'", what);
	return e < 0 || !s.found;
}

static bool is_name(const char *what)
{
	pid_t pid;

	if (*what == '/' || (isdigit((unsigned char)*what) && strchr(what, ':')))
		return false;
	return !is_pid(what, &pid);
}

static int answer(struct resolve *r, const char *what)
{
	struct answer a = {.what = what};
	int status;

	if (is_name(what))
		return answer_name(r, what);
	status = cgroup_of(r, what, a.cgroup);
	if (status)
		return status;
	cgpath_parse(a.cgroup, strlen(a.cgroup), &a.path);
	judge(r, &a);
	if (r->describe && a.named && a.path.kind == CGPATH_NONE)
		describe_identify(r->describe, a.cgroup, &a.path);
	describe(r, &a);
	report(r, &a);
	return 0;
}

int cmd_resolve(int argc, char **argv)
{
	struct options options;
	struct resolve r = {.options = &options};
	struct grid_view view;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first == argc)
		return say_usage("resolve", "which pid, cgroup path or name?");
	status = screen_check(&options, &table);
	if (status)
		return status;
	view = screen_view(&options);
	grid_init(&r.grid, &table, &view);
	if (!options.no_names && source_logs_new(options.log_dir, &r.logs) < 0)
		r.logs = NULL;
	/* A user who may not query the runtime gets the names that every user may read. */
	if (!options.no_names)
		describe_new(&options, &r.describe);
	for (int i = options.first; i < argc; i++) {
		int s = answer(&r, argv[i]);

		status = s > status || i == options.first ? s : status;
	}
	if (print_rows(&r) && !status)
		status = 1;
	grid_done(&r.grid);
	describe_free(r.describe);
	source_logs_free(r.logs);
	return status;
}
