// SPDX-License-Identifier: Apache-2.0
/*
 * graced wait --empty: returns when no container of this node has a process.
 *
 * The kernel half reports when to look, and notes of each cgroup whether it has a process, and how
 * often that changed. It does not know the state of one that has not changed since the command
 * began: its files are read, once. Reading many cgroups takes time, in which one that was read may
 * get a process. So all of them are read twice, and the kernel half reports each cgroup that is
 * made and each that loses its last process. Without such a report from before the first reading to
 * after the second, every one was empty all the time between its two readings: at the end of the
 * first reading all of them were.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/monitor.h"
#include "app/live/place.h"
#include "app/log/say.h"
#include "app/query/pod_input.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/room.h"
#include "core/kubelet/node_failure.h"
#include "io/files/fd.h"
#include "io/loop/loop.h"
#include "io/proc/look.h"

#define FRESH_MAX   64 /* more cgroups made between the readings count as containers */
#define NAMES_SHOWN 3
#define ID_SHOWN    12
#define AGAIN_US    1000
#define HELD_US	    50000 /* each look goes through all processes */
/* A look at all cgroups whatever was reported, for one that could not be read to its end. */
#define LOOK_US	    5000000

/* A container that is waited for. */
struct member {
	uint64_t id; /* cgroup */
	char *path;
	/* As in struct graced_watch when it was read last. */
	uint64_t since_ns;
	uint32_t change; /* populated there */
	bool populated;	 /* then, and no report has said since that it is empty */
	bool dropped;	 /* it turned out not to count, and was not read since */
};

struct members {
	struct member *list; /* by id */
	size_t n, room;
};

struct waiter {
	const struct options *options;
	struct monitor *monitor;
	char own[CGPATH_ID_LEN + 1]; /* the container that this command runs in; "": none */
	bool attached, timed_out;

	struct members members, before; /* as the last look has found them, and the one before it */
	size_t n_populated;		/* of members */
	bool look_due;			/* what members says may be wrong */
	bool missed;			/* a program of the kernel half did not run once */
	size_t unwatched, skipped;	/* cgroups that the last look met */
	int error;
	uint32_t held; /* PID 1 of a pid namespace that has exited and cannot end; 0: none */

	/* Since this was cleared: a container that is waited for has lost its last process, or is
	 * gone; cgroups that were made. */
	bool touched;
	uint64_t fresh[FRESH_MAX];
	size_t n_fresh;

	char (*daemons)[POD_UID_MAX]; /* uids of the pods that a DaemonSet controls */
	size_t n_daemons, daemons_room;
	sd_event_source *timeout, *again, *look;
};

/* --- which containers count -------------------------------------------------------------------- */

static bool is_daemons(const struct waiter *w, const char *uid)
{
	for (size_t i = 0; i < w->n_daemons; i++)
		if (strcmp(w->daemons[i], uid) == 0)
			return true;
	return false;
}

static bool is_counted(const struct waiter *w, const struct engine_cgroup *cgroup)
{
	const struct record_pod *pod = &cgroup->pod;

	if (!cgroup->is_container || cgroup->is_sandbox)
		return false;
	if (*w->own && cgroup->container.id && strcmp(w->own, cgroup->container.id) == 0)
		return false;
	if (!w->options->ignore_daemonsets || !pod->known || !cgroup->is_known_pod)
		return true;
	return !pod->is_static && !is_daemons(w, pod->uid);
}

static bool is_counted_id(const struct waiter *w, uint64_t id, bool unknown)
{
	struct engine_cgroup cgroup;

	if (!engine_get_cgroup(monitor_engine(w->monitor), id, &cgroup))
		return unknown;
	return is_counted(w, &cgroup);
}

/* --- what the kernel half reports -------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct member *find(const struct members *members, uint64_t id)
{
	const struct member key = {.id = id};

	if (members->n == 0)
		return NULL;
	return bsearch(&key, members->list, members->n, sizeof(key), by_id);
}

static void leave(struct waiter *w, uint64_t id)
{
	struct member *member = find(&w->members, id);

	if (member && member->populated) {
		member->populated = false;
		w->n_populated--;
	}
	w->touched |= member || is_counted_id(w, id, true);
}

static void on_observe(void *userdata, const struct obs *obs)
{
	struct waiter *w = userdata;

	if (!w->attached)
		return;
	switch (obs->type) {
	case OBS_CGROUP_EMPTY:
	case OBS_CGROUP_GONE:
		leave(w, obs->empty.id);
		break;
	case OBS_CGROUP_NEW:
	case OBS_CGROUP_FOUND:
		/* The engine does not know yet what it is. */
		if (w->n_fresh < FRESH_MAX)
			w->fresh[w->n_fresh++] = obs->cgroup.id;
		else
			w->touched = true;
		break;
	case OBS_LOST:
		w->look_due = true;
		break;
	default:
		break;
	}
}

static void forget_reports(struct waiter *w)
{
	w->touched = false;
	w->n_fresh = 0;
}

static bool was_touched(const struct waiter *w)
{
	for (size_t i = 0; i < w->n_fresh; i++)
		if (is_counted_id(w, w->fresh[i], true))
			return true;
	return w->touched;
}

/* Reports that could not be made, and cgroups that are not watched. */
static uint64_t count_losses(struct waiter *w)
{
	static const unsigned int which[] = {GRACED_EV_CGROUP_NEW,   GRACED_EV_CGROUP_GONE,
					     GRACED_EV_CGROUP_EMPTY, GRACED_STAT_WATCH_FULL,
					     GRACED_STAT_QUOTA,	     GRACED_STAT_TOO_DEEP};
	const struct kern *kern = monitor_kern(w->monitor);
	struct graced_stat totals[GRACED_STAT_COUNT] = {};
	struct kern_misses misses;
	uint64_t n;

	kern_misses(kern, &misses);
	n = misses.sure + (uint64_t)misses.open;
	w->missed = misses.sure || misses.open;
	if (kern_read_stats(kern, totals) < 0)
		return UINT64_MAX;
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		n += totals[which[i]].lost;
	return n;
}

/* --- looking at cgroups ------------------------------------------------------------------------ */

static void forget(struct members *members)
{
	for (size_t i = 0; i < members->n; i++)
		free(members->list[i].path);
	members->n = 0;
}

/* Nothing has changed since it was read: it is the same entry, with no change noted in it. */
static bool is_as_before(const struct member *before, const struct graced_watch *watch)
{
	return before && !before->dropped && !before->change && !watch->populated &&
	       before->since_ns == watch->since_ns;
}

/* Once a program of the kernel half did not run, the files alone count. */
static void read_member(struct waiter *w, struct member *member, const struct graced_watch *watch,
			const struct member *before)
{
	if (watch->populated && !w->missed)
		member->populated = watch->populated & 1;
	else if (is_as_before(before, watch) && !w->missed)
		member->populated = before->populated;
	else
		member->populated = cgfs_populated(monitor_cgfs(w->monitor), member->path);
	member->since_ns = watch->since_ns;
	member->change = watch->populated;
	w->n_populated += member->populated;
}

static struct member *add_member(struct members *members, const struct cgfs_dir *dir)
{
	struct member *member;

	if (!ROOM_FOR_ONE(members->list, members->n, members->room, 64))
		return NULL;
	member = &members->list[members->n];
	*member = (struct member){.id = dir->id, .path = strdup(dir->path)};
	if (!member->path)
		return NULL;
	members->n++;
	return member;
}

static int add(struct waiter *w, const struct cgfs_dir *dir, const struct graced_watch *watch)
{
	struct member *member = add_member(&w->members, dir);

	if (!member)
		return -ENOMEM;
	read_member(w, member, watch, find(&w->before, dir->id));
	return 0;
}

static int visit(void *userdata, const struct cgfs_dir *dir)
{
	struct waiter *w = userdata;
	struct engine_cgroup cgroup;
	struct graced_watch watch;

	if (kern_watch_get(monitor_kern(w->monitor), dir->id, &watch) < 0) {
		w->unwatched += cgfs_dir_exists(dir);
		return 0;
	}
	/* The record of one that was just made, or that was lost. */
	if (!engine_get_cgroup(monitor_engine(w->monitor), dir->id, &cgroup))
		cgroup = (struct engine_cgroup){.is_container =
							watch.kind >= GRACED_WATCH_CONTAINER};
	if (!cgroup.is_container)
		return 1;
	return is_counted(w, &cgroup) ? add(w, dir, &watch) : 0;
}

/* Looks below the given roots alone: nothing outside of them is taken for a container. */
static int look(struct waiter *w)
{
	static const char *const whole[] = {"/", NULL};
	const char *const *roots = w->options->n_roots ? w->options->roots : whole;
	struct members found = w->before;
	struct cgfs_scan counts = {};
	int r = 0;

	w->before = w->members;
	w->members = found;
	w->n_populated = w->unwatched = w->skipped = 0;
	for (size_t i = 0; roots[i] && r == 0; i++) {
		r = cgfs_scan(monitor_cgfs(w->monitor), roots[i], visit, w, &counts);
		w->skipped += counts.skipped;
		if (r == -ENOENT)
			r = 0;
	}
	forget(&w->before);
	if (w->members.n > 0)
		qsort(w->members.list, w->members.n, sizeof(*w->members.list), by_id);
	return r;
}

static void look_again(struct waiter *w)
{
	for (size_t i = 0; i < w->members.n; i++) {
		struct member *member = &w->members.list[i];
		const struct member before = *member;
		struct graced_watch watch;

		/* Without an entry it is gone, or about to be. */
		if (kern_watch_get(monitor_kern(w->monitor), member->id, &watch) < 0)
			watch = (struct graced_watch){};
		read_member(w, member, &watch, &before);
		w->touched |= member->change != before.change;
	}
}

/*
 * A cgroup shows that it is empty a moment before the kernel half reports that. The kernel does
 * both under css_set_lock (cgroup_update_populated()), which reading this file takes, too
 * (proc_cgroup_show()): afterwards what was shown has been reported.
 */
static int await_reports(void)
{
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t n = fd_read_all(AT_FDCWD, "/proc/self/cgroup", 1 << 16, &text);

	return n < 0 ? (int)n : 0;
}

enum finding {
	FINDING_EMPTY,
	FINDING_POPULATED,
	FINDING_UNSURE, /* something was reported meanwhile */
	FINDING_HELD,	/* no process runs, and PID 1 of a pid namespace cannot end */
	FINDING_BLIND,	/* some cgroups cannot be watched or read */
};

static enum finding examine(struct waiter *w)
{
	struct ring *ring = monitor_ring(w->monitor);
	uint64_t lost = count_losses(w);

	/* What is being written now is read afterwards, and makes this look unsure. */
	ring_drain(ring);
	forget_reports(w);
	w->error = look(w);
	if (w->error < 0 || w->unwatched > 0 || w->skipped > 0)
		return FINDING_BLIND;
	if (w->n_populated == 0)
		look_again(w);
	if (w->n_populated > 0)
		return FINDING_POPULATED;
	w->error = await_reports();
	if (w->error < 0 || lost == UINT64_MAX)
		return FINDING_BLIND;
	if (!ring_drain(ring) || was_touched(w) || count_losses(w) != lost)
		return FINDING_UNSURE;
	w->held = held_any();
	return w->held ? FINDING_HELD : FINDING_EMPTY;
}

/* --- the end ----------------------------------------------------------------------------------- */

static void add_name(struct buf *out, const struct waiter *w, const struct member *member)
{
	struct engine_cgroup cgroup = {};
	const struct record_container *c = &cgroup.container;

	engine_get_cgroup(monitor_engine(w->monitor), member->id, &cgroup);
	if (!c->name && !c->id) {
		buf_adds(out, member->path);
		return;
	}
	if (cgroup.pod.name)
		buf_printf(out, "%s%s%s/", cgroup.pod.namespace_ ? cgroup.pod.namespace_ : "",
			   cgroup.pod.namespace_ ? "/" : "", cgroup.pod.name);
	if (c->name)
		buf_adds(out, c->name);
	else
		buf_printf(out, "%.*s", ID_SHOWN, c->id);
}

static void say_left(const struct waiter *w)
{
	char after[DURATION_SIZE];
	_cleanup_(buf_free) struct buf names = {};
	size_t shown = 0;

	for (size_t i = 0; i < w->members.n && shown < NAMES_SHOWN; i++) {
		if (!w->members.list[i].populated)
			continue;
		buf_adds(&names, shown++ ? ", " : "");
		add_name(&names, w, &w->members.list[i]);
	}
	if (w->n_populated > shown)
		buf_printf(&names, " and %zu more", w->n_populated - shown);
	say_as("wait", "%zu container%s not empty after %s: %s", w->n_populated,
	       w->n_populated == 1 ? " is" : "s are",
	       duration_format(w->options->timeout_ns, after), buf_str(&names));
}

static void say_blind(const struct waiter *w)
{
	size_t n = w->unwatched + w->skipped;

	if (w->error < 0)
		say_as("wait", "cannot prove that the node is empty: reading its cgroups: %s",
		       strerror(-w->error));
	else
		say_as("wait",
		       "cannot prove that the node is empty: %zu cgroup%s not watched: too many, too "
		       "deep, or not readable",
		       n, n == 1 ? " is" : "s are");
}

static void say_held(const struct waiter *w)
{
	struct held by = {};

	if (held_find(w->held, &by) < 0)
		say_as("wait",
		       "no container has a process, but %u, PID 1 of a pid namespace, has "
		       "exited and cannot end",
		       w->held);
	else
		say_as("wait",
		       "no container has a process, but %u, PID 1 of a pid namespace, has "
		       "exited and cannot end: %u (%s) is there, and %u (%s) has not waited "
		       "for it",
		       w->held, by.pid, by.comm, by.parent_pid, by.parent_comm);
}

static void conclude(struct waiter *w, enum finding finding)
{
	if (finding == FINDING_BLIND)
		say_blind(w);
	else if (finding == FINDING_POPULATED && w->timed_out)
		say_left(w);
	else if (finding == FINDING_UNSURE && w->timed_out)
		say_as("wait", "cannot prove that the node is empty: containers come and go");
	else if (finding == FINDING_HELD && w->timed_out)
		say_held(w);
	else if (finding != FINDING_EMPTY) {
		uint64_t again_us = finding == FINDING_HELD ? HELD_US : AGAIN_US;

		if ((finding == FINDING_UNSURE || finding == FINDING_HELD) &&
		    sd_event_source_set_time_relative(w->again, again_us) >= 0)
			sd_event_source_set_enabled(w->again, SD_EVENT_ONESHOT);
		return;
	}
	monitor_end(w->monitor, finding != FINDING_EMPTY);
}

/* A container may have turned out to be a sandbox since it was read. */
static void drop_uncounted(struct waiter *w)
{
	for (size_t i = 0; i < w->members.n; i++) {
		struct member *member = &w->members.list[i];

		if (member->populated && !is_counted_id(w, member->id, true)) {
			member->populated = false;
			member->dropped = true;
			w->n_populated--;
		}
	}
}

static void on_turn(void *userdata)
{
	struct waiter *w = userdata;

	if (!w->attached)
		return;
	drop_uncounted(w);
	if (w->n_populated > 0 && !w->look_due)
		return;
	w->look_due = false;
	conclude(w, examine(w));
}

/* --- timers and hooks -------------------------------------------------------------------------- */

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct waiter *w = userdata;

	w->timed_out = w->look_due = true;
	return 0;
}

/* The turn of the loop that follows looks again. */
static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	return 0;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct waiter *w = userdata;

	w->look_due = true;
	return timer_after(source, LOOK_US);
}

static int add_timer(struct waiter *w, sd_event_source **ret, uint64_t us,
		     sd_event_time_handler_t handler)
{
	return sd_event_add_time_relative(monitor_event(w->monitor), ret, CLOCK_MONOTONIC, us,
					  AGAIN_US, handler, w);
}

static int on_open(void *userdata, struct monitor *m)
{
	struct waiter *w = userdata;
	int r;

	w->monitor = m;
	r = add_timer(w, &w->again, 0, on_again);
	if (r >= 0)
		r = add_timer(w, &w->look, LOOK_US, on_look);
	if (r >= 0 && w->options->timeout_ns)
		r = add_timer(w, &w->timeout, w->options->timeout_ns / 1000, on_timeout);
	if (r < 0)
		say_as("wait", "cannot set up the event loop: %s", strerror(-r));
	return r;
}

/* A misspelt root would be empty. */
static bool has_roots(const struct waiter *w)
{
	for (size_t i = 0; i < w->options->n_roots; i++) {
		uint64_t id;
		int r = cgfs_id_of(monitor_cgfs(w->monitor), w->options->roots[i], &id);

		if (r == 0)
			continue;
		say_as("wait", "cannot look below the cgroup %s: %s", w->options->roots[i],
		       strerror(-r));
		return false;
	}
	return true;
}

static void on_attached(void *userdata)
{
	struct waiter *w = userdata;
	struct cgpath own = {};

	if (!has_roots(w)) {
		monitor_end(w->monitor, 1);
		return;
	}
	if (own_path(monitor_cgfs(w->monitor), &own) >= 0)
		memcpy(w->own, own.container_id, sizeof(w->own));
	w->attached = true;
}

static void on_close(void *userdata)
{
	struct waiter *w = userdata;

	w->timeout = sd_event_source_disable_unref(w->timeout);
	w->again = sd_event_source_disable_unref(w->again);
	w->look = sd_event_source_disable_unref(w->look);
	forget(&w->members);
	free(w->members.list);
	free(w->before.list);
	w->members = w->before = (struct members){};
}

/* --- the command ------------------------------------------------------------------------------- */

static int take_pod(void *userdata, const struct podobj_pod *pod)
{
	struct waiter *w = userdata;

	if (nodefail_maker_of(pod) != NODEFAIL_DAEMONSET)
		return 0;
	if (!ROOM_FOR_ONE(w->daemons, w->n_daemons, w->daemons_room, 16))
		return -ENOMEM;
	w->n_daemons += meta_uid_take(pod->uid, strlen(pod->uid), w->daemons[w->n_daemons]);
	return 0;
}

static const struct options_help help = {
	.head = "usage: graced wait --empty [OPTIONS]\n"
		"\n"
		"Returns when no container of this node has a process, within milliseconds of the last one:\n"
		"exit status 0 only when that is proven, 1 when the time is over or it cannot be proven, and\n"
		"after Ctrl-C. Containers that start meanwhile count; pods' sandboxes and the container that\n"
		"this command runs in do not. Nothing is stopped, and nothing keeps the next container from\n"
		"starting: cordon and drain the node first.\n",
	.tail = "EXAMPLES\n"
		"  graced wait --empty --timeout 2m\n"
		"  kubectl get pods -A -o json --field-selector spec.nodeName=NODE |\n"
		"    graced wait --empty --ignore-daemonsets --pods - --timeout 5m    after a drain\n",
};

/* 0, or the exit status. */
static int check(const struct options *o, int argc, char **argv)
{
	if (o->first < argc)
		return say_usage("wait", "'%s' is one argument too many", argv[o->first]);
	if (!o->empty)
		return say_usage("wait", "what to wait for is missing: --empty");
	if (o->ignore_daemonsets && !o->pods)
		return say_usage("wait", "--ignore-daemonsets needs --pods, which says whose pods "
					 "are a DaemonSet's");
	if (o->pods && !o->ignore_daemonsets)
		return say_usage("wait", "--pods goes with --ignore-daemonsets");
	return say_host_pids("wait") ? 0 : 1;
}

int cmd_wait(int argc, char **argv)
{
	struct options options;
	struct waiter waiter = {.options = &options};
	const struct monitor_hooks hooks = {
		.userdata = &waiter,
		.open = on_open,
		.attached = on_attached,
		.observe = on_observe,
		.turn = on_turn,
		.close = on_close,
		.interrupted = 1,
	};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = check(&options, argc, argv);
	if (status == 0 && options.pods)
		status = podinput_each(&(struct podinput){.verb = "wait for", .path = options.pods},
				       NULL, take_pod, &waiter);
	if (status == 0)
		status = monitor_run(&options, false, &hooks);
	free(waiter.daemons);
	return status;
}
