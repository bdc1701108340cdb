// SPDX-License-Identifier: Apache-2.0
/* Feeds what was there before, and corrects what the kernel half guessed wrong. */
#include "app/live/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/log.h"
#include "app/log/say.h"
#include "base/room.h"
#include "core/cgroup/map.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"
#include "io/proc/proc.h"

/* As in bpf/cgroup.bpf.c: branches down to this level answer for what is made below them. */
#define OWNER_LEVEL 2
#define LEVELS	    128

/* Budget of one turn of the loop: processes, cgroups and names in their directories. */
#define SEARCH_WORK  512
#define ENTER_WORK   16	    /* of that, for a container */
#define SEARCH_PIDS  65536  /* of one container; among more its init is not looked for */
#define RECHECK_WORK 262144 /* processes, cgroups and names that are listed once more */

struct scan {
	const struct options *options;
	struct feed *feed;
	struct kern *kern;
	struct cgfs *cgfs;
	struct ring *ring;
	struct search *search; /* for inits */
};

struct walk {
	struct scan *scan;
	uint64_t owners[LEVELS]; /* of the directory on the way at each level */
	uint32_t refused;	 /* the kernel half's map is full */
};

/* What the engine's own map will take a path for. */
static uint32_t kind_of(const struct scan *scan, const struct cgfs_dir *dir)
{
	const struct cgmap_new found = {
		.id = 1, .delegated_level = dir->delegated_level, .name = dir->path};
	struct cgmap map = {
		.services = scan->options->engine.scope >= SCOPE_SERVICES,
		.nested_nodes = scan->options->nested,
		.roots = scan->options->roots,
	};
	uint32_t kind = GRACED_WATCH_BRANCH;
	struct cgnode *node;

	if (cgmap_add_path(&map, &found, &node) == 0)
		kind = node->kind;
	cgmap_done(&map);
	return kind;
}

/* Whether everything below it is its own. */
static bool is_whole(uint32_t kind)
{
	return kind >= GRACED_WATCH_CONTAINER && kind != GRACED_WATCH_MAYBE;
}

static uint64_t owner_of(const struct walk *w, const struct cgfs_dir *dir, uint32_t kind)
{
	/* Nothing is charged below a container; lives of a user's are (bpf/maps.bpf.c,
	 * life_take()). */
	if (kind >= GRACED_WATCH_CONTAINER && !dir->delegated_level)
		return 0;
	if (kind == GRACED_WATCH_POD || dir->level <= OWNER_LEVEL)
		return dir->id;
	return dir->level <= LEVELS ? w->owners[dir->level - 1] : 0;
}

/* The kind that the kernel half now has for the directory; negative: it is not watched. */
static int watch(struct walk *walk, const struct cgfs_dir *dir)
{
	struct graced_watch w = {.kind = kind_of(walk->scan, dir),
				 .level = dir->level,
				 .delegated_level = dir->delegated_level,
				 .part = cgtrust_part(walk->scan->options->roots, dir->path)};
	uint64_t oom_seen = 0, oom_below = 0;
	int r;

	w.owner_id = owner_of(walk, dir, w.kind);
	w.oom_known = cgfs_oom_events(walk->scan->cgfs, dir->path, &oom_seen, &oom_below) == 0;
	w.oom_seen = oom_seen;
	w.oom_below = oom_below;
	if (dir->level < LEVELS)
		walk->owners[dir->level] = w.owner_id;
	r = kern_watch_add(walk->scan->kern, dir->id, &w);
	if (r == -EEXIST)
		r = kern_watch_get(walk->scan->kern, dir->id, &w);
	if (r < 0) {
		walk->refused += r == -E2BIG;
		return r;
	}
	/* Removed before it was watched, it would stay in the map for good. */
	if (dir->parent_fd >= 0 && !cgfs_dir_exists(dir)) {
		kern_watch_delete(walk->scan->kern, dir->id);
		return -ENOENT;
	}
	return (int)w.kind;
}

static void feed_found(struct scan *scan, const struct cgfs_dir *dir, uint32_t kind)
{
	struct obs obs;

	if (strlen(dir->path) >= sizeof(obs.cgroup.path))
		return;
	feed_begin(&obs, OBS_CGROUP_FOUND);
	obs.cgroup.id = dir->id;
	obs.cgroup.parent_id = dir->parent_id;
	obs.cgroup.level = dir->level;
	obs.cgroup.delegated_level = dir->delegated_level;
	obs.cgroup.kind = kind;
	strcpy(obs.cgroup.path, dir->path);
	feed_obs(scan->feed, &obs);
}

struct members {
	struct procfs_proc *list;
	size_t n, room;
	size_t unread; /* there, and /proc does not say what they are */
};

static int take_member(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct members *members = userdata;
	int r;

	if (!ROOM_FOR_ONE(members->list, members->n, members->room, 16))
		return -ENOMEM;
	r = procfs_read(pid, cgroup_id, members->list + members->n);
	members->n += r == 0;
	members->unread += r == -EACCES || r == -EPERM;
	return 0;
}

/*
 * The map gets a guess under the next rank: it may yield to a process that turns out to be PID 1,
 * but not to one that is merely exec'd into the running container.
 */
static uint32_t map_rank(uint32_t rank)
{
	return rank == GRACED_INIT_GUESSED ? GRACED_INIT_FIRST : rank;
}

/* False: it is gone already, and its exit went unseen. */
static bool is_alive(struct scan *scan, uint64_t id, const struct graced_proc *proc)
{
	if (procfs_alive((pid_t)proc->pid, proc->start_ns))
		return true;
	kern_init_delete(scan->kern, id, proc->pid);
	return false;
}

/* As GRACED_INIT_LATE has it. A start as /proc has it may be a tick too early. */
static bool is_late(const struct scan *scan, uint64_t id, const struct graced_proc *proc)
{
	struct graced_watch w;

	return kern_watch_get(scan->kern, id, &w) < 0 || proc->start_ns < w.since_ns ||
	       proc->pid == w.early_pid || w.early_pid == GRACED_EARLY_SEVERAL;
}

static struct graced_init entry_of(const struct procfs_proc *init, uint32_t rank)
{
	struct graced_init entry = {
		.start_ns = init->proc.start_ns,
		.pid = init->proc.pid,
		.rank = rank,
		.keeper_pid = procfs_keeper(init),
	};
	ino_t pidns = procfs_pidns((pid_t)entry.pid);

	if (pidns)
		entry.pidns = GRACED_PIDNS(init->ns_depth - 1, (uint32_t)pidns);
	return entry;
}

static void feed_init(struct scan *scan, uint64_t id, const struct graced_proc *proc,
		      const struct graced_init *entry, uint32_t rank, bool late)
{
	struct obs obs;

	feed_begin(&obs, OBS_INIT);
	obs.init.id = id;
	obs.init.rank = rank;
	obs.init.late = late;
	obs.init.keeper_pid = entry->keeper_pid;
	obs.init.proc = *proc;
	obs.init.proc.watch_id = id;
	feed_obs(scan->feed, &obs);
}

static int is_pid(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	return pid == *(const pid_t *)userdata ? -ECANCELED : 0;
}

/* A process may have moved to another cgroup since it was listed. */
static bool is_member(struct scan *scan, const char *path, const struct graced_proc *proc)
{
	pid_t pid = (pid_t)proc->pid;

	return cgfs_pids(scan->cgfs, path, is_pid, &pid) == -ECANCELED;
}

/*
 * least: of which rank it must be. A container that is being made holds the runtime's own stages,
 * which are not its init; a process that execs in it from now on is reported by the kernel half.
 */
static void find_init(struct scan *scan, uint64_t id, const char *path, uint32_t least)
{
	struct members members = {};
	const struct procfs_proc *init;
	struct graced_init entry;
	uint32_t rank;

	cgfs_pids(scan->cgfs, path, take_member, &members);
	init = procfs_choose_init(members.list, members.n, &rank);
	if (!init || rank < least || !is_member(scan, path, &init->proc))
		goto out;
	entry = entry_of(init, map_rank(rank));
	if (kern_init_add(scan->kern, id, &entry) >= 0 && is_alive(scan, id, &init->proc))
		feed_init(scan, id, &init->proc, &entry, rank, is_late(scan, id, &init->proc));
out:
	free(members.list);
}

/* A unit could name any process; only one of its own cgroup is its main one. */
static const struct procfs_proc *member(const struct members *members, uint32_t pid)
{
	for (size_t i = 0; i < members->n; i++)
		if (members->list[i].proc.pid == pid)
			return members->list + i;
	return NULL;
}

void scan_set_init(struct scan *scan, uint64_t id, uint32_t pid)
{
	struct graced_init entry;
	struct members members = {};
	const struct procfs_proc *init;
	char path[PATH_MAX];
	uint32_t level;

	if (cgfs_path_of(scan->cgfs, id, path, sizeof(path), &level) < 0)
		return;
	cgfs_pids(scan->cgfs, path, take_member, &members);
	init = member(&members, pid);
	if (init) {
		entry = entry_of(init, GRACED_INIT_PID1);
		if (kern_init_set(scan->kern, id, &entry) >= 0 && is_alive(scan, id, &init->proc))
			feed_init(scan, id, &init->proc, &entry, GRACED_INIT_PID1,
				  is_late(scan, id, &init->proc));
	}
	free(members.list);
}

/* The kernel half knows one, and the record of that was lost; or it has just found one. */
static bool feed_known(struct scan *scan, uint64_t id)
{
	struct procfs_proc init;
	struct graced_init entry;

	if (kern_init_get(scan->kern, id, &entry) < 0)
		return false;
	if (!entry.pid || procfs_read((pid_t)entry.pid, id, &init) < 0)
		return true;
	init.proc.start_ns = entry.start_ns;
	if (is_alive(scan, id, &init.proc))
		feed_init(scan, id, &init.proc, &entry, entry.rank, is_late(scan, id, &init.proc));
	return true;
}

/*
 * One whose exec is under way, which takes long where the program has to be read from a slow disk,
 * is as it will be when the kernel half sees that exec. Any other is late: no signal has shown it
 * to be the init, but while its parent was in the container none could, and the parent may have
 * moved since; or it was moved in itself, and signalled before that.
 */
static bool feed_chosen(struct scan *scan, uint64_t id, struct members *members)
{
	const struct procfs_proc *init;
	struct graced_init entry;
	uint32_t rank;
	int r;

	init = procfs_choose_init(members->list, members->n, &rank);
	/* The kernel half reports it when it execs. */
	if (!init || init->unexecd)
		return false;
	entry = entry_of(init, map_rank(rank));
	r = kern_init_add(scan->kern, id, &entry);
	if (r == -EEXIST)
		return feed_known(scan, id);
	if (r >= 0 && is_alive(scan, id, &init->proc))
		feed_init(scan, id, &init->proc, &entry, rank,
			  !init->execs || is_late(scan, id, &init->proc));
	return r >= 0;
}

/* Whether processes run in it that its runtime has not left there while it is being made. */
static bool has_others(struct scan *scan, const char *path, const struct members *members)
{
	size_t others = members->unread;

	for (const struct procfs_proc *p = members->list; p < members->list + members->n; p++)
		others += !p->exiting && !p->stage && !p->unexecd;
	/* In another pid namespace members may not be listed; in the host's, where none is, none is
	 * there. */
	if (!members->n && !host_in_initial_pidns())
		others += cgfs_populated(scan->cgfs, path);
	return others;
}

static void feed_no_init(struct scan *scan, uint64_t id, const char *path)
{
	struct obs obs;

	log_warning("%s has processes, but its init was not found: until a signal or an exit shows "
		    "which one it is, its stop may be missed",
		    path);
	feed_begin(&obs, OBS_NO_INIT);
	obs.no_init.id = id;
	feed_obs(scan->feed, &obs);
}

struct ids {
	uint64_t *list;
	size_t n, room;
};

struct search {
	struct ids due;		   /* containers of this round */
	size_t next;		   /* of them */
	uint64_t id;		   /* that is looked at */
	struct cgfs_members *walk; /* over it; NULL: none is */
	struct members members;	   /* read so far */
	bool renew_due;		   /* a new round could not begin */
};

static void take_id(void *userdata, uint64_t id)
{
	struct ids *ids = userdata;

	if (ROOM_FOR_ONE(ids->list, ids->n, ids->room, 16))
		ids->list[ids->n++] = id;
}

static int take_batch(void *userdata, const struct cgfs_batch *batch)
{
	struct members *members = userdata;
	int r = 0;

	for (size_t i = 0; i < batch->n && r == 0; i++)
		r = members->n < SEARCH_PIDS ? take_member(members, batch->pids[i], batch->id)
					     : -E2BIG;
	return r;
}

static void search_leave(struct search *s)
{
	s->walk = cgfs_members_free(s->walk);
	free(s->members.list);
	s->members = (struct members){};
}

/* A user could make work here without end, and the kernel half has found no init for that reason
 * (life_take()): it looks again at each signal, exec and exit. */
static bool is_users(struct scan *scan, uint64_t id)
{
	struct graced_watch w;

	return kern_watch_get(scan->kern, id, &w) >= 0 && w.delegated_level;
}

static void search_enter(struct scan *scan, struct search *s)
{
	const char *path;

	s->id = s->due.list[s->next++];
	if (feed_known(scan, s->id) || is_users(scan, s->id))
		return;
	path = engine_cgroup_path(feed_engine(scan->feed), s->id);
	if (path)
		cgfs_members_begin(scan->cgfs, path, s->id, &s->walk);
}

struct pids {
	pid_t *list;
	size_t n, room;
};

static int take_pids(void *userdata, const struct cgfs_batch *batch)
{
	struct pids *pids = userdata;

	if (pids->n + batch->n > SEARCH_PIDS)
		return -E2BIG;
	if (pids->n + batch->n > pids->room) {
		size_t room = 2 * pids->room + batch->n;
		pid_t *list = reallocarray(pids->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		pids->list = list;
		pids->room = room;
	}
	memcpy(pids->list + pids->n, batch->pids, batch->n * sizeof(*batch->pids));
	pids->n += batch->n;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void leave_present(struct members *members, struct pids *present)
{
	size_t n = 0;

	if (present->n)
		qsort(present->list, present->n, sizeof(*present->list), by_pid);
	for (size_t i = 0; present->n && i < members->n; i++) {
		const pid_t pid = (pid_t)members->list[i].proc.pid;

		if (bsearch(&pid, present->list, present->n, sizeof(pid), by_pid))
			members->list[n++] = members->list[i];
	}
	members->n = n;
}

/*
 * The walk may have begun many turns ago. A process that has moved to another cgroup since then is
 * not this one's init. False: not all that are there now could be listed. To list 65,536 of them
 * takes about 10 ms, as nothing else of them is read.
 */
static bool drop_moved(struct scan *scan, const char *path, struct search *s)
{
	uint32_t work = RECHECK_WORK;
	struct pids present = {};
	struct cgfs_members *walk;
	int r = cgfs_members_begin(scan->cgfs, path, s->id, &walk);

	if (r < 0)
		return false;
	r = cgfs_members_step(walk, take_pids, &present, &work);
	cgfs_members_free(walk);
	if (r == 0)
		leave_present(&s->members, &present);
	free(present.list);
	return r == 0;
}

static void search_conclude(struct scan *scan, struct search *s)
{
	const char *path;

	if (feed_known(scan, s->id))
		return;
	path = engine_cgroup_path(feed_engine(scan->feed), s->id);
	if (path && drop_moved(scan, path, s) && !feed_chosen(scan, s->id, &s->members) &&
	    has_others(scan, path, &s->members))
		feed_no_init(scan, s->id, path);
}

static void search_step(struct scan *scan, struct search *s, uint32_t *work)
{
	int r = cgfs_members_step(s->walk, take_batch, &s->members, work);

	if (r > 0)
		return;
	/* The oldest of some of its processes may be no init. */
	if (r == 0)
		search_conclude(scan, s);
	search_leave(s);
}

static void search_renew(struct scan *scan, struct search *s)
{
	uint64_t now_ns = clock_boot_ns();

	s->due.n = s->next = 0;
	/* What the kernel half has found by now is in there. */
	s->renew_due = !ring_drain(scan->ring);
	if (!s->renew_due)
		engine_each_without_init(feed_engine(scan->feed), now_ns, take_id, &s->due);
}

void scan_find_inits(struct scan *scan, bool again)
{
	struct search *s = scan->search;
	uint32_t work = SEARCH_WORK;

	if ((again || s->renew_due) && !s->walk && s->next == s->due.n)
		search_renew(scan, s);
	while (work && (s->walk || s->next < s->due.n)) {
		if (s->walk) {
			search_step(scan, s, &work);
			continue;
		}
		work -= work < ENTER_WORK ? work : ENTER_WORK;
		search_enter(scan, s);
	}
}

static bool is_known_whole(struct scan *scan, uint64_t id)
{
	struct graced_watch w;

	return kern_watch_get(scan->kern, id, &w) == 0 && is_whole(w.kind);
}

static int visit(void *userdata, const struct cgfs_dir *dir)
{
	struct walk *walk = userdata;
	int kind = watch(walk, dir);

	if (kind < 0)
		return 0;
	feed_found(walk->scan, dir, (uint32_t)kind);
	/* The answer to what it is may have been that it is a container, and was carried out. */
	if (!is_whole((uint32_t)kind))
		return !is_known_whole(walk->scan, dir->id);
	find_init(walk->scan, dir->id, dir->path, GRACED_INIT_GUESSED);
	return 0;
}

static void log_refused(uint32_t refused, const struct cgfs_scan *counts)
{
	if (refused || counts->skipped)
		say("%u of %u cgroups are not watched: too many, too deep, or not "
		    "readable",
		    refused + counts->skipped, counts->visited + counts->skipped);
}

int scan_all(struct scan *scan)
{
	struct walk walk = {.scan = scan};
	struct cgfs_scan counts;
	const char *from = scan->options->makes_own ? scan->options->roots[0] : "/";
	int r = cgfs_scan(scan->cgfs, from, visit, &walk, &counts);

	if (r < 0)
		return r;
	log_refused(walk.refused, &counts);
	return 0;
}

static uint64_t parent_of(struct scan *scan, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	uint64_t id = 0;

	if (!slash || !slash[1])
		return 0;
	memcpy(parent, path, (size_t)(slash - path));
	parent[slash - path] = 0;
	return cgfs_id_of(scan->cgfs, parent, &id) < 0 ? 0 : id;
}

void scan_find(struct scan *scan, uint64_t id)
{
	struct cgfs_dir dir = {.id = id};
	struct graced_watch w = {};
	char path[PATH_MAX];

	if (cgfs_path_of(scan->cgfs, id, path, sizeof(path), &dir.level) < 0)
		return;
	kern_watch_get(scan->kern, id, &w);
	dir.path = path;
	dir.parent_id = parent_of(scan, path);
	dir.delegated_level = cgfs_delegated_level(scan->cgfs, path);
	/* The directory above may have been given to a user, or taken back, since it was made. */
	if (w.delegated_level)
		dir.delegated_level = w.delegated_level;
	feed_found(scan, &dir, w.kind);
}

bool scan_populated(struct scan *scan, uint64_t id)
{
	char path[PATH_MAX];
	uint32_t level;
	int r = cgfs_path_of(scan->cgfs, id, path, sizeof(path), &level);

	return r < 0 ? r != -ENOENT : cgfs_populated(scan->cgfs, path);
}

struct correction {
	struct walk walk;
	uint64_t id;
};

/* Below what turned out to be a branch nothing was watched so far. */
static int visit_below(void *userdata, const struct cgfs_dir *dir)
{
	struct correction *c = userdata;

	return dir->id == c->id ? 1 : visit(&c->walk, dir);
}

/* Below what turned out to be a container nothing is watched of its own. */
static int forget_below(void *userdata, const struct cgfs_dir *dir)
{
	struct correction *c = userdata;

	if (dir->id != c->id)
		kern_watch_delete(c->walk.scan->kern, dir->id);
	return 1;
}

void scan_correct(struct scan *scan, uint64_t id, uint32_t kind)
{
	struct correction c = {.walk.scan = scan, .id = id};
	struct graced_watch w;
	char path[PATH_MAX];
	uint32_t level;
	bool was, is = is_whole(kind);

	if (kern_watch_get(scan->kern, id, &w) < 0 || w.kind == kind)
		return;
	was = is_whole(w.kind);
	if (kern_watch_set_kind(scan->kern, id, kind) < 0 || was == is)
		return;
	if (cgfs_path_of(scan->cgfs, id, path, sizeof(path), &level) < 0)
		return;
	c.walk.owners[level < LEVELS ? level : 0] = w.owner_id;
	cgfs_scan(scan->cgfs, path, is ? forget_below : visit_below, &c, NULL);
	/* The kernel half reports the init of what was recorded from the start. */
	if (is && w.kind != GRACED_WATCH_MAYBE)
		find_init(scan, id, path, GRACED_INIT_PID1);
}

int scan_new(const struct scan_parts *parts, struct scan **ret)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	struct search *search = calloc(1, sizeof(*search));

	if (!scan || !search) {
		free(scan);
		free(search);
		return -ENOMEM;
	}
	*scan = (struct scan){
		.options = parts->options,
		.feed = parts->feed,
		.kern = parts->kern,
		.cgfs = parts->cgfs,
		.ring = parts->ring,
		.search = search,
	};
	*ret = scan;
	return 0;
}

struct scan *scan_free(struct scan *scan)
{
	if (!scan)
		return NULL;
	search_leave(scan->search);
	free(scan->search->due.list);
	free(scan->search);
	free(scan);
	return NULL;
}
