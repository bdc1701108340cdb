// SPDX-License-Identifier: Apache-2.0
/* graced audit: finds the containers and their inits, collects the facts about each, and reports
 * whether the init would hear its stop signal. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/commands/audit.h"
#include "app/commands/commands.h"
#include "app/commands/containers.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/signame.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"
#include "io/sources/logs/logs.h"
#include "wire/json/audit.h"
#include "wire/text/audit.h"

/*
 * An init that waits again and again (tini's waits end every second) is between two of them for
 * some microseconds: an init that seems deaf is looked at again. One that blocks the signal must be
 * seen asleep in LOOKS_SETTLED of these looks, and there are up to LOOKS_BUSY of them.
 */
#define LOOKS	      6
#define LOOKS_BUSY    24
#define LOOKS_SETTLED 2
#define BETWEEN_LOOKS ((struct timespec){.tv_nsec = 5000000})

/* Shells that start shells are followed that far. */
#define SHELLS_MAX 16

struct members {
	struct procfs_proc *list;
	size_t n, room;
	size_t met; /* also those that were gone, or could not be read */
};

struct scan {
	const struct options *options;
	uint32_t signal;
	const struct audit_wanted *wanted; /* NULL: all */
	struct audit_list *list;
	struct hierarchy hierarchy;
	struct freezer freezer;
	struct cgfs *cgfs;
	struct podsrc_logs *logs; /* NULL: no names are looked up */
	bool asked;		  /* for who is wanted */
};

/* Who describes it; NULL: no source may. */
static struct describe *describes(const struct audit_list *list, const struct audit_found *found)
{
	return found->nameless ? NULL : list->describe;
}

static int take_member(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct members *members = userdata;
	struct procfs_proc *list, *p;

	members->met++;
	if (members->n == members->room) {
		size_t room = members->room ? members->room * 2 : 16;

		list = reallocarray(members->list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		members->list = list;
		members->room = room;
	}
	p = members->list + members->n;
	if (procfs_read(pid, cgroup_id, p) == 0)
		members->n++;
	return 0;
}

static bool is_shell(const struct procfs_proc *p)
{
	return audit_is_shell(p->proc.exe, p->proc.comm);
}

static bool is_child(const struct procfs_proc *p, const struct procfs_proc *parent)
{
	return !p->exiting && p->ppid == parent->proc.pid;
}

/* The oldest child, as members are sorted by pid and distinguished by their start. */
static const struct procfs_proc *child_of(const struct members *members,
					  const struct procfs_proc *parent)
{
	const struct procfs_proc *oldest = NULL;

	for (size_t i = 0; i < members->n; i++) {
		const struct procfs_proc *p = members->list + i;

		if (is_child(p, parent) && (!oldest || p->proc.start_ns < oldest->proc.start_ns))
			oldest = p;
	}
	return oldest;
}

static bool ignores_keys(const struct procfs_proc *p)
{
	struct procsig_status s;

	return procfs_sig_status((pid_t)p->proc.pid, &s) == 0 &&
	       audit_disposition_of(SIGINT, 0, s.ignored) == AUDIT_SIG_IGNORED &&
	       audit_disposition_of(SIGQUIT, 0, s.ignored) == AUDIT_SIG_IGNORED;
}

/* A shell without job control has what it starts with & ignore SIGINT and SIGQUIT (POSIX, 2.11). */
static bool started_behind(const struct members *members, const struct procfs_proc *shell)
{
	if (ignores_keys(shell))
		return false;
	for (size_t i = 0; i < members->n; i++)
		if (is_child(members->list + i, shell) && !ignores_keys(members->list + i))
			return false;
	return true;
}

static void look_at_shell(const struct members *members, struct audit_found *found)
{
	struct audit_shell *shell = &found->facts.shell;
	const struct procfs_proc *app, *next;

	*shell = (struct audit_shell){.is_shell = is_shell(&found->init)};
	found->has_app = false;
	if (!shell->is_shell)
		return;
	app = child_of(members, &found->init);
	if (!app)
		return;
	shell->in_front = found->has_app = true;
	shell->waits = procfs_sig_awaits_child((pid_t)found->init.proc.pid);
	shell->behind = started_behind(members, &found->init);
	for (int i = 0; i < SHELLS_MAX && is_shell(app); i++) {
		next = child_of(members, app);
		if (!next)
			break;
		app = next;
	}
	found->app = *app;
}

/* The oldest child is the one that it was made to start; others came to it when their parents
 * left. */
static bool child_ignores(const struct members *members, const struct audit_found *found)
{
	const struct procfs_proc *child = child_of(members, &found->init);
	struct procsig_status s;

	return child && audit_passes_on(found->init.proc.exe) &&
	       procfs_sig_status((pid_t)child->proc.pid, &s) == 0 &&
	       audit_disposition_of(found->facts.signal, 0, s.ignored) == AUDIT_SIG_IGNORED;
}

static bool is_starting(const struct procfs_proc *init)
{
	uint64_t now = clock_boot_ns(), start = init->proc.start_ns;
	uint64_t age_ns = now > start ? now - start : 0;
	char link[PATH_MAX];

	procfs_exe((pid_t)init->proc.pid, link, sizeof(link));
	return audit_is_starting(init->proc.comm, link, true, age_ns) &&
	       audit_is_starting(init->proc.comm, link,
				 procfs_exe_in_memory((pid_t)init->proc.pid) != 0, age_ns);
}

/* -ESRCH: the init has gone meanwhile. */
static int look(const struct scan *s, const struct members *members, struct audit_found *found)
{
	pid_t pid = (pid_t)found->init.proc.pid;
	int r;

	look_at_shell(members, found);
	found->facts.child_ignores = child_ignores(members, found);
	found->facts.frozen = freezer_holds(&s->freezer, pid);
	r = procfs_sig_read(pid, &found->facts);
	if (r == 0 && !procfs_alive(pid, found->init.proc.start_ns))
		return -ESRCH;
	if (r < 0)
		return r;
	found->audit = audit_judge(&found->facts);
	if (is_starting(&found->init))
		found->audit = (struct audit){AUDIT_UNKNOWN, AUDIT_STARTING, 0};
	return 0;
}

/* The last look of each kind; a verdict that is not AUDIT_DEAF or AUDIT_UNKNOWN: there was none. */
struct looks {
	struct audit_found blocked, busy, other;
	int n, settled;
};

/* False: one that is enough by itself. */
static bool take_look(struct looks *l, const struct audit_found *found)
{
	const struct audit *a = &found->audit;

	l->n++;
	l->settled += a->verdict == AUDIT_DEAF && a->reason == AUDIT_BLOCKED;
	if (a->verdict == AUDIT_UNKNOWN && a->reason == AUDIT_BUSY)
		l->busy = *found;
	else if (a->verdict != AUDIT_DEAF)
		return false;
	else if (a->reason == AUDIT_BLOCKED)
		l->blocked = *found;
	else
		l->other = *found;
	return true;
}

static const struct audit_found *looks_result(const struct looks *l)
{
	if (l->other.audit.verdict == AUDIT_DEAF)
		return &l->other;
	return l->busy.audit.verdict == AUDIT_UNKNOWN && l->settled < LOOKS_SETTLED ? &l->busy
										    : &l->blocked;
}

/*
 * A process that starts commands blocks signals for a moment: it is reported as blocked when each
 * look found that, and in some of them each thread was asleep. Of other reasons the last look's
 * counts.
 */
static int look_again(const struct scan *s, const struct members *members,
		      struct audit_found *found)
{
	struct looks looks = {};
	int r = look(s, members, found);

	while (r == 0 && take_look(&looks, found)) {
		if (looks.n >= (looks_result(&looks) == &looks.busy ? LOOKS_BUSY : LOOKS)) {
			*found = *looks_result(&looks);
			return 0;
		}
		nanosleep(&BETWEEN_LOOKS, NULL);
		r = look(s, members, found);
	}
	return r;
}

static uint32_t signal_of(const struct scan *s, const struct audit_found *found)
{
	if (s->signal)
		return s->signal;
	return found->own && found->own->stop_signal ? found->own->stop_signal : SIGTERM;
}

/* True: there is something to report of the container. */
static bool examine(const struct scan *s, const char *path, struct audit_found *found)
{
	_cleanup_(cleanup_free) struct procfs_proc *owned = NULL;
	struct members members = {};
	const struct procfs_proc *init;
	uint32_t rank;
	int r;

	found->facts.signal = signal_of(s, found);
	found->audit = (struct audit){AUDIT_UNKNOWN, AUDIT_ACCESS, 0};
	cgfs_pids(s->cgfs, path, take_member, &members);
	owned = members.list;
	init = procfs_choose_init(members.list, members.n, &rank);
	/* Processes outside our own pid namespace are not even listed. */
	if (!init)
		return !members.met && cgfs_populated(s->cgfs, path);
	found->init = *init;
	found->facts.shielded = init->proc.ns_pid == 1;
	found->facts.guessed = rank != GRACED_INIT_PID1;
	r = look_again(s, &members, found);
	found->seen = r == 0;
	return r != -ESRCH;
}

static struct audit_found *add(struct audit_list *list)
{
	if (list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct audit_found *bigger = reallocarray(list->list, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		list->list = bigger;
		list->room = room;
	}
	memset(list->list + list->n, 0, sizeof(*list->list));
	return list->list + list->n;
}

static bool is_wanted(struct scan *s, const struct cgpath *path)
{
	if (!s->wanted)
		return true;
	if (!s->wanted->is(s->wanted->userdata, path))
		return false;
	if (!s->asked)
		describe_new(s->options, &s->list->describe);
	s->asked = true;
	return true;
}

static int visit(void *userdata, const struct cgfs_dir *dir)
{
	struct scan *s = userdata;
	struct container_seen seen;
	struct audit_found *found;

	if (!containers_is(s->options, s->list->describe, dir, &seen))
		return 1;
	if (!is_wanted(s, &seen.path))
		return 0;
	found = add(s->list);
	if (!found)
		return -ENOMEM;
	found->path = seen.path;
	found->nameless = seen.nameless;
	if (describes(s->list, found))
		found->own = describe_container(s->list->describe, &found->path);
	if (!examine(s, dir->path, found))
		return 0;
	found->cgroup = strdup(dir->path);
	if (!found->cgroup)
		return -ENOMEM;
	if (s->logs && !found->nameless)
		podsrc_logs_find(s->logs, found->path.pod_uid, found->path.container_id,
				 &found->names);
	s->list->n++;
	return 0;
}

static int open_hierarchy(struct scan *s)
{
	const char *name = s->options->hierarchy;
	int r = hierarchy_detect(name, &s->hierarchy);

	if (r == 0)
		r = cgfs_open(s->hierarchy.mount, s->hierarchy.unified, &s->cgfs);
	if (s->wanted)
		return r;
	if (r == -EXDEV)
		say("only a part of the cgroup hierarchy is visible here; mount the host's "
		    "/sys/fs/cgroup into this container");
	else if (r == -ENOENT)
		say("no cgroup hierarchy %s is mounted; see /proc/self/mountinfo",
		    name ? name : "of containers");
	else if (r < 0)
		say("cannot open the cgroup hierarchy: %s", strerror(-r));
	return r;
}

/* What has no name comes first. */
static int compare(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b, void *list)
{
	const struct audit_found *x = a, *y = b;
	struct record_container c, d;
	struct record_pod p, q;
	int r;

	describe_record(describes(list, x), &x->path, &x->names, x->cgroup, &p, &c);
	describe_record(describes(list, y), &y->path, &y->names, y->cgroup, &q, &d);
	r = compare(p.namespace_, q.namespace_);
	if (!r)
		r = compare(p.name, q.name);
	if (!r)
		r = compare(c.name, d.name);
	return r ? r : strcmp(x->cgroup, y->cgroup);
}

/* By signal; 0: each by its own stop signal, SIGTERM where that is unknown. Otherwise as
 * audit_scan_wanted() does, in the order of pods and containers; what goes wrong is logged. */
static int audit_scan(const struct options *options, uint32_t signal, struct audit_list *list)
{
	struct scan s = {.options = options, .signal = signal, .list = list};
	int r = open_hierarchy(&s);

	if (r < 0)
		return r;
	freezer_find(&s.freezer);
	/* Without names it still is an audit. */
	if (!options->no_names && podsrc_logs_new(options->log_dir, &s.logs) < 0)
		s.logs = NULL;
	if (!options->no_names && describe_new(options, &list->describe) >= 0)
		describe_tell_failed(list->describe);
	r = cgfs_scan(s.cgfs, "/", visit, &s, NULL);
	if (r < 0)
		say("cannot look through the cgroups: %s", strerror(-r));
	else if (list->n)
		qsort_r(list->list, list->n, sizeof(*list->list), by_name, list);
	podsrc_logs_free(s.logs);
	cgfs_free(s.cgfs);
	return r;
}

int audit_scan_wanted(const struct options *options, const struct audit_wanted *wanted,
		      struct audit_list *list)
{
	struct scan s = {.options = options, .wanted = wanted, .list = list};
	int r = open_hierarchy(&s);

	if (r < 0)
		return r;
	freezer_find(&s.freezer);
	r = cgfs_scan(s.cgfs, "/", visit, &s, NULL);
	cgfs_free(s.cgfs);
	return r;
}

void audit_list_free(struct audit_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->list[i].cgroup);
	free(list->list);
	describe_free(list->describe);
	*list = (struct audit_list){};
}

static const struct options_help help = {
	.head = "usage: graced audit [OPTIONS]\n"
		"\n"
		"Shows for every running container how its init would react to its stop signal, and why; no\n"
		"signal is sent. Reads /proc alone: signal masks and handlers, threads in sigwait, signalfds,\n"
		"the shield of PID 1, a shell in front of the app. Without the right to trace the processes\n"
		"(root has it) the verdict is `unknown` where that is needed.\n",
	.tail = "VERDICT  WHY\n"
		"hears    handler, waiter (a thread in sigwait) or signalfd\n"
		"dies     default: at once, without a chance to clean up\n"
		"ignores  ignored (SIG_IGN), or default-ignore (the default of SIGWINCH and its like)\n"
		"deaf     no-handler (PID 1 of its namespace), shell (the same, with the app as a child),\n"
		"         blocked (in all threads, and none waits for it), suspends (SIGSTOP and its like)\n"
		"unknown  no-access, starting, busy (blocked, perhaps for a moment), or threads-differ (one\n"
		"         thread waits for it, another does not block it)\n"
		"\n"
		"The exit status is 1 when a container is deaf or ignores the signal, when one could not be\n"
		"examined, when no container matches -n, -p and -c, or when the audit failed; 2 after wrong\n"
		"use; else 0.\n"
		"\n"
		"EXAMPLES\n"
		"  graced audit                       every container, by its own stop signal\n"
		"  graced audit -s QUIT -c nginx      a container whose image says STOPSIGNAL SIGQUIT\n"
		"  graced audit >/dev/null || echo \"a container is deaf\"\n"
		"  graced audit --exit-zero -o json | jq -r 'select(.verdict == \"deaf\") | .pod.name'\n",
};

static const char *known(const char *name)
{
	return name && name[0] ? name : NULL;
}

static struct record_process process_of(const struct procfs_proc *p)
{
	return (struct record_process){
		.pid = p->proc.pid, .ns_pid = p->proc.ns_pid, .comm = p->proc.comm};
}

static const char *shell_of(const struct audit_found *f)
{
	if (!f->facts.shell.is_shell)
		return NULL;
	return known(f->init.proc.exe) ? f->init.proc.exe : f->init.proc.comm;
}

static struct audit_record record_of(const struct audit_list *list, const struct audit_found *f)
{
	struct audit_record r = {
		.seen = f->seen,
		.process = process_of(&f->init),
		.shell = shell_of(f),
		.has_app = f->has_app,
		.app = process_of(&f->app),
		.facts = f->facts,
		.audit = f->audit,
	};

	describe_record(describes(list, f), &f->path, &f->names, f->cgroup, &r.pod, &r.container);
	return r;
}

/* The filter knows records; an emptiness is one of a pod and a container and nothing more. */
static bool is_asked_for(const struct options *o, const struct audit_record *r)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = r->pod, .container = r->container}};
	struct filter filter = o->filter;

	filter.sigmask = 0;
	return filter_matches(&filter, &subject);
}

struct counts {
	uint32_t all, deaf, no_access;
};

static int print(const struct options *o, const struct audit_list *list, struct counts *ret)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(grid_done) struct grid grid = {};
	struct grid_view view = screen_view(o);
	uint64_t now = clock_boot_ns();
	int64_t wall = (int64_t)now + clock_wall_offset_ns();
	char node[256];

	grid_init(&grid, &audit_table, &view);
	clock_node_name(node, sizeof(node));
	for (size_t i = 0; i < list->n && !buf_error(&out); i++) {
		struct audit_record r = record_of(list, list->list + i);

		/* A table leaves sandboxes out: JSON has all that is known. */
		if (!is_asked_for(o, &r) ||
		    (!o->json && r.container.kind == CONTAINER_KIND_SANDBOX))
			continue;
		r.at_ns = now;
		r.wall_ns = wall;
		r.node = node;
		ret->all++;
		ret->deaf += audit_is_deaf(&r.audit);
		ret->no_access += r.audit.reason == AUDIT_ACCESS;
		if (o->json)
			audit_json(&out, &r);
		else
			grid_add(&grid, &r);
	}
	grid_flush(&grid, &out);
	fwrite(buf_str(&out), 1, out.len, stdout);
	return buf_error(&out);
}

/* A misspelt name must not look like a container that would hear the signal. */
static bool asked_in_vain(const struct options *o, const struct counts *c)
{
	return !c->all && filter_has_names(&o->filter);
}

/* The count is for a person at a terminal; a script has the rows and the exit status. */
static void sum_up(const struct counts *c, uint32_t signal)
{
	char name[SIGNAME_SIZE];

	if (!c->all)
		say("there is no container running");
	else if (isatty(STDERR_FILENO))
		say("%u of %u containers would not react to %s", c->deaf, c->all,
		    signal ? signame_format(signal, name) : "their stop signal");
}

static int audit(const struct options *o, uint32_t signal)
{
	struct audit_list list = {};
	struct counts counts = {};
	int r = audit_scan(o, signal, &list);

	if (r == 0) {
		r = print(o, &list, &counts);
		if (r < 0)
			say("cannot print the audit: %s", strerror(-r));
	}
	audit_list_free(&list);
	if (r < 0)
		return 1;
	fflush(stdout);
	if (counts.no_access)
		say("%u of %u containers could not be looked into; run as root, on the host",
		    counts.no_access, counts.all);
	if (asked_in_vain(o, &counts)) {
		say("there is no such container running");
		return 1;
	}
	sum_up(&counts, signal);
	/* Who was not looked into may be deaf. */
	return (counts.deaf || counts.no_access) && !o->exit_zero;
}

int cmd_audit(int argc, char **argv)
{
	struct options options;
	uint64_t mask;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("audit", "'%s' is one argument too many", argv[options.first]);
	mask = options.filter.sigmask;
	if (mask & (mask - 1))
		return say_usage("audit", "--signal wants one signal, the one that asks to stop");
	status = screen_check(&options, &audit_table);
	if (status)
		return status;
	if (!say_host_pids("audit"))
		return 1;
	return audit(&options, mask ? (uint32_t)__builtin_ctzll(mask) + 1 : 0);
}
