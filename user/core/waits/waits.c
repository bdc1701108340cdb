// SPDX-License-Identifier: Apache-2.0
#include "core/waits/waits.h"

#include "base/time.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ULL

/* Without a grace period that is known: those of docker stop and the kubelet are 10 s and 30 s. */
static const uint64_t unknown_after_ns[] = {2 * SECOND, 5 * SECOND, 9 * SECOND};
static const unsigned int tenths_of_grace[] = {5, 9};

/* A share of the time since the first look: a smaller one explains nothing. */
#define WORTH_TENTHS 1

struct seen {
	struct wait wait;
	uint64_t start_ns;
	uint32_t parent_pid;
	uint64_t cpu_ns, before_ns; /* in this look, and in the one before; 0: not seen then */
	bool runs;		    /* one of its threads */
	bool now;		    /* in the look under way */
};

struct waits {
	uint32_t looks; /* with waits, that are over */
	bool looked, more;
	uint64_t base_ns; /* 0: there was none yet */
	struct look_figures base;
	uint64_t before_ns; /* the look before */
	size_t n;
	struct wait list[WAITS_MAX];
	size_t n_seen;
	struct seen *seen; /* of LOOK_WAITS; NULL: none yet */
	uint32_t init_pid;
	enum waits_init init; /* as of the last look */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint64_t waits_next_ns(uint64_t last_ns, uint64_t asked_ns, uint64_t grace_ns)
{
	size_t n = grace_ns ? COUNT(tenths_of_grace) : COUNT(unknown_after_ns);

	for (size_t i = 0; i < n; i++) {
		uint64_t at_ns = asked_ns + (grace_ns ? grace_ns / 10 * tenths_of_grace[i]
						      : unknown_after_ns[i]);

		if (at_ns > last_ns)
			return at_ns;
	}
	return 0;
}

struct waits *waits_free(struct waits *waits)
{
	if (waits)
		free(waits->seen);
	free(waits);
	return NULL;
}

static struct waits *want(struct waits **waits)
{
	if (!*waits)
		*waits = calloc(1, sizeof(**waits));
	return *waits;
}

/* --- a look ------------------------------------------------------------------------------------ */

static struct seen *find(const struct waits *w, uint32_t pid)
{
	for (size_t i = 0; i < w->n_seen; i++)
		if (w->seen[i].wait.pid == pid)
			return w->seen + i;
	return NULL;
}

static bool names_io(const char *wchan)
{
	static const char *const words[] = {"io_schedule", "folio", "bdev",    "blk_", "bio_",
					    "jbd2",	   "xfs_",  "btrfs",   "ext4", "nfs",
					    "rpc_",	   "fuse",  "request", "cifs", "ceph"};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strstr(wchan, words[i]))
			return true;
	return false;
}

static bool is_of_pipe_or_socket(const char *file)
{
	return strncmp(file, "pipe:", 5) == 0 || strncmp(file, "socket:", 7) == 0;
}

/* In a frozen cgroup of its own below the container's: as Linux calls it on cgroup v2, with its
 * caller where that has it inline (get_signal() sleeps for nothing else in this state), and v1. */
static bool is_frozen(const struct obs_look *t)
{
	return strcmp(t->wchan, "do_freezer_trap") == 0 ||
	       strcmp(t->wchan, "__refrigerator") == 0 ||
	       (t->state == 'S' && strcmp(t->wchan, "get_signal") == 0);
}

static bool is_vfork(const char *wchan)
{
	return strcmp(wchan, "kernel_clone") == 0;
}

bool wait_is_vfork(const struct wait *w)
{
	return is_vfork(w->wchan);
}

/* What a thread does by itself; the rest is the process's. */
static enum wait_for thread_waits(const struct obs_look *t)
{
	if (is_frozen(t))
		return WAIT_FOR_THAW;
	switch (t->state) {
	case 't':
		return WAIT_FOR_TRACER;
	case 'T':
		return WAIT_FOR_CONT;
	case 'D':
		if (is_vfork(t->wchan))
			return WAIT_FOR_TIME;
		return names_io(t->wchan) ? WAIT_FOR_IO : WAIT_FOR_KERNEL;
	case 'S':
		break;
	default:
		return WAIT_FOR_NOTHING;
	}
	switch (t->call) {
	case LOOK_CALL_NONE:
		return WAIT_FOR_NOTHING;
	case LOOK_CALL_WRITE:
		return WAIT_FOR_READER;
	case LOOK_CALL_LOCK:
		return WAIT_FOR_LOCK;
	default:
		return WAIT_FOR_TIME;
	}
}

static void copy_text(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

/* The thread that says most speaks for its process; the leader among equals. */
static void take_thread(struct seen *s, const struct obs_look *t)
{
	enum wait_for what = thread_waits(t);
	struct wait *w = &s->wait;

	s->runs |= t->state == 'R';
	if (what == WAIT_FOR_NOTHING || (w->what != WAIT_FOR_NOTHING && what >= w->what))
		return;
	w->what = what;
	w->call = (enum look_call)t->call;
	copy_text(w->wchan, sizeof(w->wchan), t->wchan);
	copy_text(w->file, sizeof(w->file), t->file);
	w->peer_pid = what == WAIT_FOR_TRACER ? t->tracer_pid : 0;
	w->peer_comm[0] = '\0';
	if (what == WAIT_FOR_LOCK || (what == WAIT_FOR_READER && is_of_pipe_or_socket(w->file))) {
		w->peer_pid = t->reader_pid;
		copy_text(w->peer_comm, sizeof(w->peer_comm), t->reader_comm);
	}
}

static struct seen *add(struct waits *w)
{
	if (!w->seen)
		w->seen = calloc(LOOK_WAITS, sizeof(*w->seen));
	return w->seen && w->n_seen < LOOK_WAITS ? w->seen + w->n_seen++ : NULL;
}

/* What ended has made way at the end of its look, so that a pid is that of one process. */
static void take_leader(struct waits *w, const struct obs_look *look)
{
	struct seen *s = find(w, look->proc.pid);
	uint64_t before_ns = s && s->start_ns == look->proc.start_ns ? s->cpu_ns : 0;

	s = s ?: add(w);
	if (!s)
		return;
	*s = (struct seen){
		.wait.pid = look->proc.pid,
		.wait.ns_pid = look->proc.ns_pid,
		.wait.count = look->clients,
		.wait.port = look->port,
		.start_ns = look->proc.start_ns,
		.parent_pid = look->parent_pid,
		.cpu_ns = look->cpu_ns,
		.before_ns = before_ns,
		.now = true,
	};
	copy_text(s->wait.comm, sizeof(s->wait.comm), look->proc.comm);
	take_thread(s, look);
}

void waits_take(struct waits **waits, const struct obs_look *look)
{
	struct waits *w = look->waits ? want(waits) : NULL;
	struct seen *s;

	if (!w)
		return;
	if (!look->tid) {
		take_leader(w, look);
		return;
	}
	s = find(w, look->proc.pid);
	if (s && s->now)
		take_thread(s, look);
}

/* --- what it comes to -------------------------------------------------------------------------- */

/* Its children that live; the only one is its peer. */
static uint64_t count_children(const struct waits *w, struct wait *of)
{
	uint64_t n = 0;

	of->peer_pid = 0;
	for (size_t i = 0; i < w->n_seen; i++) {
		const struct seen *s = w->seen + i;

		if (!s->now || s->parent_pid != of->pid)
			continue;
		of->peer_pid = n++ ? 0 : s->wait.pid;
		copy_text(of->peer_comm, sizeof(of->peer_comm), n == 1 ? s->wait.comm : "");
	}
	return n;
}

static bool is_worth(uint64_t time_ns, uint64_t since_ns)
{
	return since_ns && time_ns >= since_ns / 10 * WORTH_TENTHS;
}

static bool computes(const struct waits *w, const struct seen *s, uint64_t since_ns)
{
	bool used = s->before_ns && is_worth(beyond(s->cpu_ns, s->before_ns), since_ns);

	return s->wait.pid == w->init_pid && w->init == WAITS_INIT_TAKEN && (s->runs || used);
}

/* What was brought in, as by docker exec, is nobody's to wait for. */
static bool is_below_init(const struct waits *w, const struct seen *s)
{
	for (size_t depth = 0; s && s->wait.pid != w->init_pid && depth <= w->n_seen; depth++)
		s = find(w, s->parent_pid);
	return s && s->wait.pid == w->init_pid;
}

/* Leaves in the wait what belongs to its kind. */
static void judge(const struct waits *w, struct seen *s, uint64_t since_ns)
{
	uint64_t clients = s->wait.count, children;
	struct wait *wait = &s->wait;

	wait->count = 0;
	if (!clients)
		wait->port = 0;
	if (wait->what != WAIT_FOR_NOTHING && wait->what < WAIT_FOR_CLIENTS)
		return;
	/* What sleeps for its clients, its children or a timer does so also where nobody heard the
	 * request, and is about to end where it was killed. */
	if (w->init >= WAITS_INIT_UNHEARD || !is_below_init(w, s)) {
		wait->what = WAIT_FOR_NOTHING;
		return;
	}
	children = count_children(w, wait);
	/* It has clients whether it waits for them or not. */
	if (computes(w, s, since_ns)) {
		wait->what = WAIT_FOR_HANDLER;
		wait->peer_pid = 0;
		wait->time_ns = s->before_ns ? beyond(s->cpu_ns, s->before_ns) : 0;
	} else if (clients) {
		wait->what = WAIT_FOR_CLIENTS;
		wait->count = clients;
		wait->peer_pid = 0;
	} else if (children) {
		wait->what = WAIT_FOR_CHILD;
		wait->count = children;
	}
}

static bool comes_before(const struct wait *a, const struct wait *b)
{
	return a->what < b->what;
}

/* In its place by what it says; what says least makes way. */
static void list(struct waits *w, const struct wait *wait)
{
	size_t at = w->n;

	if (wait->what == WAIT_FOR_NOTHING)
		return;
	while (at > 0 && comes_before(wait, w->list + at - 1))
		at--;
	if (at == WAITS_MAX)
		return;
	w->n += w->n < WAITS_MAX;
	memmove(w->list + at + 1, w->list + at, (w->n - 1 - at) * sizeof(*w->list));
	w->list[at] = *wait;
}

static void list_container(struct waits *w, enum wait_for what, uint64_t time_ns, uint64_t count,
			   uint64_t limit)
{
	const struct wait wait = {.what = what, .time_ns = time_ns, .count = count, .limit = limit};

	list(w, &wait);
}

static void list_figures(struct waits *w, const struct obs_looked *looked, uint64_t at_ns)
{
	const struct look_figures *now = &looked->figures, *base = &w->base;
	uint64_t since_ns = at_ns - w->base_ns;
	uint64_t throttled_ns = beyond(now->throttled_ns, base->throttled_ns);
	uint64_t memory_ns = beyond(now->memory_stalled_ns, base->memory_stalled_ns);
	uint64_t io_ns = beyond(now->io_stalled_ns, base->io_stalled_ns);
	uint64_t forks = beyond(now->forks_failed, base->forks_failed);

	if (looked->frozen)
		list_container(w, WAIT_FOR_THAW, 0, 0, 0);
	if (w->base_ns >= at_ns)
		return;
	if (is_worth(io_ns, since_ns))
		list_container(w, WAIT_FOR_IO, io_ns, 0, 0);
	if (is_worth(throttled_ns, since_ns))
		list_container(w, WAIT_FOR_CPU, throttled_ns, 0, 0);
	if (forks)
		list_container(w, WAIT_FOR_FORK, 0, forks, now->pids_max);
	if (is_worth(memory_ns, since_ns))
		list_container(w, WAIT_FOR_MEMORY, memory_ns, 0, 0);
}

/* How often it was found before. */
static uint32_t looks_of(const struct wait *before, size_t n, const struct wait *wait)
{
	for (size_t i = 0; i < n; i++)
		if (before[i].what == wait->what && before[i].pid == wait->pid)
			return before[i].looks;
	return 0;
}

/* What was not seen in this look has ended. */
static void forget_ended(struct waits *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_seen; i++)
		if (w->seen[i].now) {
			w->seen[n] = w->seen[i];
			w->seen[n++].now = false;
		}
	w->n_seen = n;
}

static bool is_worth_saying(const struct obs_looked *looked, enum wait_for what)
{
	/* Each of them is, and that is all to say. */
	if (looked->frozen)
		return false;
	/* These may wait for a client. */
	return !looked->unread || (what != WAIT_FOR_CHILD && what != WAIT_FOR_TIME);
}

static void list_all(struct waits *w, const struct obs_looked *looked, uint64_t at_ns)
{
	struct wait before[WAITS_MAX];
	size_t n = w->n;

	memcpy(before, w->list, sizeof(before));
	w->n = 0;
	list_figures(w, looked, at_ns);
	for (size_t i = 0; i < w->n_seen; i++) {
		if (!w->seen[i].now)
			continue;
		judge(w, w->seen + i, at_ns - w->before_ns);
		if (is_worth_saying(looked, w->seen[i].wait.what))
			list(w, &w->seen[i].wait);
	}
	if (!w->n) {
		memcpy(w->list, before, sizeof(before));
		w->n = n;
		return;
	}
	for (size_t i = 0; i < w->n; i++) {
		w->list[i].at_ns = at_ns;
		w->list[i].looks = looks_of(before, n, w->list + i) + 1;
	}
}

void waits_end(struct waits **waits, const struct obs_looked *looked, uint64_t at_ns,
	       uint32_t init_pid, enum waits_init init)
{
	struct waits *w = want(waits);

	if (!w)
		return;
	w->init_pid = init_pid;
	w->init = init;
	w->looked |= !looked->failed;
	w->more |= looked->more && !looked->waits;
	if (!w->base_ns && !looked->failed) {
		w->base_ns = at_ns;
		w->base = looked->figures;
	}
	if (looked->waits && !looked->failed) {
		w->looks++;
		list_all(w, looked, at_ns);
		forget_ended(w);
		w->before_ns = at_ns;
	}
}

uint32_t waits_looks(const struct waits *waits)
{
	return waits ? waits->looks : 0;
}

size_t waits_list(const struct waits *waits, const struct wait **ret)
{
	*ret = waits ? waits->list : NULL;
	return waits ? waits->n : 0;
}

bool waits_looked(const struct waits *waits, bool *ret_more)
{
	*ret_more = waits && waits->more;
	return waits && waits->looked;
}
