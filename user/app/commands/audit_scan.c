// SPDX-License-Identifier: Apache-2.0
/* Finds the containers and their inits, collects the facts about each, and has it judged. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/commands/audit.h"
#include "app/log/say.h"
#include "app/query/describe.h"
#include "base/cleanup.h"
#include "base/room.h"
#include "core/cgroup/trust.h"
#include "core/tree/pairs.h"
#include "core/tree/wrapper.h"
#include "io/cgroup/fs.h"
#include "io/cgroup/hierarchy.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"
#include "io/sources/logs/logs.h"

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
	size_t met;  /* also those that were gone, or could not be read */
	size_t busy; /* not read, as procfs_is_replaced() */
};

struct scan {
	const struct options *options;
	uint32_t signal;
	const struct audit_wanted *wanted; /* NULL: all */
	struct audit_list *list;
	struct hierarchy hierarchy;
	struct freezer freezer;
	struct cgfs *cgfs;
	struct source_logs *logs; /* NULL: no names are looked up */
	bool asked;		  /* for who is wanted */
	char pid_dir[PATH_MAX];	  /* the cgroup of list->only->pid; "": none */
};

/* Who describes it; NULL: no source may. */
static struct describe *describes(const struct audit_list *list, const struct audit_found *found)
{
	return found->nameless ? NULL : list->describe;
}

static int take_member(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct members *members = userdata;
	int r;

	members->met++;
	if (!ROOM_FOR_ONE(members->list, members->n, members->room, 16))
		return -ENOMEM;
	r = procfs_read(pid, cgroup_id, members->list + members->n);
	members->n += r == 0;
	members->busy += r == -EBUSY;
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

static bool is_placeholder(const struct procfs_proc *p)
{
	return audit_is_placeholder(p->proc.exe, p->proc.comm);
}

/* Follows shells down to the first process that is no shell. works: a placeholder does not count. */
static const struct procfs_proc *behind_shells(const struct members *members,
					       const struct procfs_proc *p, bool works)
{
	for (int i = 0; i < SHELLS_MAX && is_shell(p); i++) {
		const struct procfs_proc *next = child_of(members, p);

		if (!next || (works && is_placeholder(next)))
			break;
		p = next;
	}
	return p;
}

static void look_at_shell(const struct members *members, struct audit_found *found)
{
	struct audit_shell *shell = &found->facts.shell;
	const struct procfs_proc *app;

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
	found->app = *behind_shells(members, app, false);
}

static bool passes_on(const struct audit_found *found)
{
	const struct wrapper_program program = {.exe = found->init.proc.exe,
						.comm = found->init.proc.comm};
	struct wrapper w;

	return wrapper_find(&program, found->facts.signal, &w) &&
	       (w.pass == WRAPPER_CHILD || w.pass == WRAPPER_GROUP || w.pass == WRAPPER_OWN_GROUP);
}

/* The oldest child is the one that it was made to start; others came to it when their parents
 * left. */
static void look_at_child(const struct members *members, struct audit_found *found)
{
	const struct procfs_proc *child = child_of(members, &found->init);
	struct procsig_status s;

	found->facts.child_ignores = false;
	if (!child || !passes_on(found) || procfs_sig_status((pid_t)child->proc.pid, &s) < 0)
		return;
	found->facts.child_ignores =
		audit_disposition_of(found->facts.signal, 0, s.ignored) == AUDIT_SIG_IGNORED;
	found->app = *child;
	found->has_app = true;
}

static bool only_keeps(const struct members *members, const struct procfs_proc *init)
{
	if (!is_shell(init) || !child_of(members, init))
		return is_placeholder(init);
	for (size_t i = 0; i < members->n; i++)
		if (is_child(members->list + i, init) && !is_placeholder(members->list + i))
			return false;
	return true;
}

/* Started by the init, or from outside: not by another one of the container's. */
static bool is_worker(const struct members *members, const struct procfs_proc *p,
		      const struct procfs_proc *init)
{
	if (p->exiting || p->proc.pid == init->proc.pid || is_placeholder(p))
		return false;
	for (size_t i = 0; i < members->n; i++) {
		const struct procfs_proc *other = members->list + i;

		if (other->proc.pid != init->proc.pid && is_child(p, other))
			return false;
	}
	return true;
}

/* Who works in a container whose init only keeps it: named where it is the only one. */
static void look_at_workers(const struct members *members, struct audit_found *found)
{
	const struct procfs_proc *worker = NULL;

	found->facts.workers = 0;
	if (!only_keeps(members, &found->init))
		return;
	for (size_t i = 0; i < members->n; i++) {
		if (!is_worker(members, members->list + i, &found->init))
			continue;
		worker = members->list + i;
		found->facts.workers++;
	}
	if (!worker)
		return;
	found->has_app = found->facts.workers == 1;
	if (found->has_app)
		found->app = *behind_shells(members, worker, true);
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
	look_at_child(members, found);
	look_at_workers(members, found);
	found->facts.reraises = audit_reraises(found->init.proc.exe, found->facts.signal);
	found->facts.frozen = freezer_holds(&s->freezer, pid, NULL);
	r = procfs_sig_read(pid, PROCFS_SIG_MOST, &found->facts);
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
 * look found that, and in some of them each thread was asleep. Otherwise the last look's reason
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

static int look_below(const struct scan *s, const struct members *members, bool only_below,
		      struct audit_found *found)
{
	const struct audit_tree_of of = {
		.init = &found->init,
		.members = members->list,
		.n = members->n,
		.facts = &found->facts,
		.audit = &found->audit,
		.only_below = only_below,
	};
	int r = s->list->trees && found->seen ? audit_tree_read(&of, &found->tree) : 0;

	if (found->has_app)
		found->app.proc.ns_pid =
			procfs_ns_pid(&found->app, procfs_pidns((pid_t)found->init.proc.pid));
	if (r < 0 || !found->tree.seen)
		return r;
	found->audit.warnings |= tree_pairs(&found->tree.tree, found->pairs);
	/* npm and its like have a handler of their own. */
	if (found->tree.tree.list[0].wraps)
		found->audit.warnings &= ~(1u << AUDIT_RERAISES);
	return 0;
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
	if (!init) {
		if (members.busy)
			found->audit.reason = AUDIT_STARTING;
		return members.busy || (!members.met && cgfs_populated(s->cgfs, path));
	}
	found->init = *init;
	found->facts.shielded = init->proc.ns_pid == 1;
	found->facts.guessed = rank != GRACED_INIT_PID1;
	r = look_again(s, &members, found);
	found->seen = r == 0;
	if (r == 0)
		r = look_below(s, &members, false, found);
	return r != -ESRCH;
}

static struct audit_found *add(struct audit_list *list)
{
	if (!ROOM_FOR_ONE(list->list, list->n, list->room, 64))
		return NULL;
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

/* Whether the cgroup is that one, or below it. */
static bool is_at_or_below(const char *cgroup, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(cgroup, dir, len) == 0 && (!cgroup[len] || cgroup[len] == '/');
}

static bool is_asked_for(const struct scan *s, const struct audit_found *found, const char *dir)
{
	const struct audit_only *only = s->list->only;
	struct record_container container;
	struct record_pod pod;

	if (!only || (s->pid_dir[0] && is_at_or_below(s->pid_dir, dir)))
		return true;
	describe_record(describes(s->list, found), &found->path, &found->names, dir, &pod,
			&container);
	return only->is(only->userdata, &pod, &container);
}

/* The log directories are the kubelet's, and name no user's container of the same id. */
static bool is_in_logs(const struct scan *s, const struct audit_found *found, const char *cgroup)
{
	return s->logs && !found->nameless && !cgtrust_user(cgroup, 0);
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
		found->own = describe_container(s->list->describe, &found->path, dir->path);
	if (is_in_logs(s, found, dir->path))
		source_logs_find(s->logs, found->path.pod_uid, found->path.container_id,
				 &found->names);
	if (!is_asked_for(s, found, dir->path) || !examine(s, dir->path, found))
		return 0;
	found->cgroup = strdup(dir->path);
	if (!found->cgroup)
		return -ENOMEM;
	s->list->n++;
	return 0;
}

static int open_hierarchy(struct scan *s)
{
	const char *name = s->options->hierarchy;
	int r = hierarchy_detect(name, &s->hierarchy);

	if (r == 0)
		r = cgfs_open(s->hierarchy.mount, s->hierarchy.unified, &s->cgfs);
	if (s->wanted || s->list->quiet)
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

/* Without names it still is an audit. */
static void open_names(struct scan *s)
{
	const struct options *options = s->options;

	if (options->no_names)
		return;
	if (source_logs_new(options->log_dir, &s->logs) < 0)
		s->logs = NULL;
	if (!s->list->describe && describe_new(options, &s->list->describe) >= 0 && !s->list->quiet)
		describe_tell_failed(s->list->describe);
}

static void find_only(struct scan *s)
{
	const struct audit_only *only = s->list->only;
	const char *controller = s->hierarchy.unified ? NULL : s->hierarchy.name;

	if (!only || !only->pid ||
	    procfs_cgroup_of(only->pid, controller, s->pid_dir, sizeof(s->pid_dir)) < 0)
		s->pid_dir[0] = '\0';
}

int audit_scan(const struct options *options, uint32_t signal, struct audit_list *list)
{
	struct scan s = {.options = options, .signal = signal, .list = list};
	int r = open_hierarchy(&s);

	if (r < 0)
		return r;
	freezer_find(&s.freezer);
	open_names(&s);
	find_only(&s);
	r = cgfs_scan(s.cgfs, "/", visit, &s, NULL);
	if (r < 0 && !list->quiet)
		say("cannot look through the cgroups: %s", strerror(-r));
	if (r >= 0 && list->n)
		qsort_r(list->list, list->n, sizeof(*list->list), by_name, list);
	source_logs_free(s.logs);
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

/* The container that a process is in by the path of its cgroup, which is the topmost one. *dir
 * becomes the container's. */
static bool find_container(const struct scan *s, char *dir, struct container_seen *ret)
{
	for (char *end = dir; *end;) {
		struct cgfs_dir part = {.path = dir};
		char next;

		end += 1 + strcspn(end + 1, "/");
		next = *end;
		*end = '\0';
		part.delegated_level = cgfs_delegated_level(s->cgfs, dir);
		if (containers_is(s->options, s->list->describe, &part, ret))
			return true;
		*end = next;
	}
	return false;
}

/* 0, or -ESRCH: the process is gone. */
static int examine_process(struct scan *s, const struct procfs_proc *p, char *dir,
			   struct audit_found *found)
{
	_cleanup_(cleanup_free) struct procfs_proc *owned = NULL;
	struct container_seen seen = {.nameless = true};
	struct members members = {};
	int r;

	if (find_container(s, dir, &seen))
		found->path = seen.path;
	found->nameless = seen.nameless;
	if (describes(s->list, found))
		found->own = describe_container(s->list->describe, &found->path, dir);
	found->facts.signal = signal_of(s, found);
	found->audit = (struct audit){AUDIT_UNKNOWN, AUDIT_ACCESS, 0};
	cgfs_pids(s->cgfs, dir, take_member, &members);
	owned = members.list;
	found->init = *p;
	found->facts.shielded = p->proc.ns_pid == 1;
	r = look_again(s, &members, found);
	found->seen = r == 0;
	if (r == 0)
		r = look_below(s, &members, true, found);
	return r == -ESRCH || r == -ENOMEM ? r : 0;
}

static int take_process(struct scan *s, pid_t pid)
{
	struct audit_found *found = add(s->list);
	struct procfs_proc p;
	char dir[PATH_MAX];
	int r = found ? procfs_read(pid, 0, &p) : -ENOMEM;

	if (r == 0)
		r = p.exiting
			    ? -ESRCH
			    : procfs_cgroup_of(pid, s->hierarchy.unified ? NULL : s->hierarchy.name,
					       dir, sizeof(dir));
	if (r == 0)
		r = examine_process(s, &p, dir, found);
	if (r < 0)
		return r;
	found->cgroup = strdup(dir);
	if (!found->cgroup)
		return -ENOMEM;
	if (is_in_logs(s, found, dir))
		source_logs_find(s->logs, found->path.pod_uid, found->path.container_id,
				 &found->names);
	s->list->n++;
	return 0;
}

int audit_scan_pid(const struct options *options, uint32_t signal, pid_t pid,
		   struct audit_list *list)
{
	struct scan s = {.options = options, .signal = signal, .list = list};
	int r;

	if (procfs_is_thread(pid)) {
		say("%d is a thread; graced audit examines processes: see Tgid in /proc/%d/status",
		    pid, pid);
		return -EINVAL;
	}
	r = open_hierarchy(&s);
	if (r < 0)
		return r;
	freezer_find(&s.freezer);
	open_names(&s);
	r = take_process(&s, pid);
	if (r == -ESRCH)
		say("there is no process %d", pid);
	else if (r < 0)
		say("cannot examine process %d: %s", pid, strerror(-r));
	source_logs_free(s.logs);
	cgfs_free(s.cgfs);
	return r;
}

void audit_list_free(struct audit_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->list[i].cgroup);
		audit_tree_free(&list->list[i].tree);
	}
	free(list->list);
	describe_free(list->describe);
	*list = (struct audit_list){};
}

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

struct audit_record audit_record_of(const struct audit_list *list, const struct audit_found *f)
{
	struct audit_record r = {
		.seen = f->seen,
		.process = process_of(&f->init),
		.shell = shell_of(f),
		.has_app = f->has_app,
		.app = process_of(&f->app),
		.facts = f->facts,
		.audit = f->audit,
		.tree = f->tree.seen ? &f->tree.tree : NULL,
	};

	if (describes(list, f))
		r.grace = describe_grace(list->describe, &f->path, f->cgroup);
	memcpy(r.pairs, f->pairs, sizeof(r.pairs));
	describe_record(describes(list, f), &f->path, &f->names, f->cgroup, &r.pod, &r.container);
	return r;
}
