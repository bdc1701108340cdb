/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What every program shares: configuration, maps, finding the watched cgroup of a task, and
 * putting a record into the ring.
 *
 * The design in short. Exits and signals are hot on a node, and nearly all of them are outside of
 * containers: each CPU remembers for which cgroups it has found that (`outside`), and ends the
 * program. Else one look-up of the task's own cgroup id in `watched` decides: a branch (or, with
 * nothing watched above it, no entry at all) ends the program, too. Entries reach down to container
 * level only; what happens deeper finds its container by walking down from the root. A process that
 * fills the ring can cause lost records, but never a wrong order: a cgroup's own record is reserved
 * before its entry exists, and no record can name it earlier.
 */
#ifndef GRACED_BPF_H
#define GRACED_BPF_H

#include "vmlinux_min.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "graced/event.h"

/* maps.bpf.c defines what all other files only declare. */
#ifdef GRACED_DEFINE_SHARED
#define GRACED_SHARED
#else
#define GRACED_SHARED extern
#endif

/* Set before the object is loaded, so that the verifier drops the branches not taken. */
GRACED_SHARED const volatile int cfg_ssid;	     /* css_set.subsys[]; -1: default hierarchy */
GRACED_SHARED const volatile __u32 cfg_hierarchy_id; /* of the hierarchy of the containers */
GRACED_SHARED const volatile __u64 cfg_wake_bytes;   /* wake the reader at this many queued */
GRACED_SHARED const volatile bool cfg_memory_ids;    /* memory cgroups share those ids */
GRACED_SHARED const volatile __u64 cfg_page_bytes;   /* never 0 */
GRACED_SHARED const volatile bool cfg_services;	     /* scope services */
GRACED_SHARED const volatile bool cfg_all;	     /* scope all */
GRACED_SHARED const volatile bool cfg_again;	     /* second programs are attached */
/* Cgroups that users other than root make may be containers. */
GRACED_SHARED const volatile bool cfg_delegated;
GRACED_SHARED const volatile __u32 cfg_part; /* of what no step leads to: enum graced_part */

GRACED_SHARED __u64 last_wake_ns;

/* The least enum graced_urgency for which the reader is woken: for the rest it looks by itself. */
GRACED_SHARED __u32 wakes_from;

/* Counts changes of `watched` entries that affect in which one a process is. */
GRACED_SHARED __u32 watch_changes;

/*
 * How often a cgroup that was there became a container: what was found to be outside may be inside
 * since. One that is made is no such cgroup: no process is in it yet, so nothing was found of it.
 */
GRACED_SHARED __u32 outside_changes;

/* The stop signals that any container has for its own. */
GRACED_SHARED __u64 own_stops;

/* How many entries `doomed` has: while there are none, no SIGKILL that is delivered is looked at. */
GRACED_SHARED __u32 dying;

/* Whether on_reap() is attached, and how many inits have yet to be waited for. */
GRACED_SHARED __u32 reaps_seen, reaps_due;

/* What second programs did, since the first had not. */
GRACED_SHARED __u64 again_runs[GRACED_AGAIN_COUNT];

/* How many containers are noisy: while there are none, that map is not looked into. */
GRACED_SHARED __u32 noisy_any;

/* Signals from outside its container to an init are limited, too: the daemon is over its budget. */
GRACED_SHARED __u32 limit_all;

/* SIGKILLs that an init ignored and that were only counted. */
GRACED_SHARED __u64 vain_kills;

/*
 * Signals to an init: so many at once, then 100 a second. Those of its own container have a bucket,
 * those of each other container have one, those of the host, and SIGKILLs that it ignores. So has
 * what is recorded of its container's other processes.
 */
#define BUCKET_BURST	 256
#define BUCKET_REFILL_NS 10000000ULL
/* Inits of the containers that a user made: so many at once, then two a second. */
#define LIFE_REFILL_NS	 500000000ULL

#define MAX_WATCHED 16384
#define MAX_NOISY   256
#define MAX_REAPS   4096
#define MAX_DOOMED  4096

/* Cgroups below this level are not watched of their own, nor visited by the daemon's scan. */
#define WATCH_LEVELS 64

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} ring SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_WATCHED);
	__type(key, __u64);
	__type(value, struct graced_watch);
} watched SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_WATCHED);
	__type(key, __u64);
	__type(value, struct graced_init);
} inits SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_WATCHED);
	__type(key, __u64);
	__type(value, __u64);
} quotas SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* as many as there are, set before the object is loaded */
	__type(key, struct graced_step);
	__type(value, __u32);
} steps SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GRACED_STAT_COUNT);
	__type(key, __u32);
	__type(value, struct graced_stat);
} stats SEC(".maps");

/*
 * Containers whose events cost the node more than the daemon may spend. What decides about their
 * init is still recorded; what its other processes do is not even counted.
 */
GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_NOISY);
	__type(key, __u64);
	__type(value, __u8);
} noisy SEC(".maps");

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_REAPS);
	__type(key, __u32);
	__type(value, struct graced_reap);
} reaps SEC(".maps");

/*
 * Containers whose init dies of a stop signal and has yet to wake up to it. Several threads of one
 * init may wake up, or exit, at once on different CPUs; only one of them deletes the entry, which
 * is what 5.10 has in place of an atomic compare and exchange.
 */
GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_DOOMED);
	__type(key, __u64);
	__type(value, __u8);
} doomed SEC(".maps");

/*
 * Cgroups outside all containers, by their id, as each CPU found them last: nearly all processes of
 * a host are in one, and finding that out anew takes a walk up to the root. What was found holds
 * until a cgroup that is there becomes a container.
 */
#define OUTSIDE_SLOTS 64

struct outside {
	__u64 found_at[OUTSIDE_SLOTS]; /* outside_changes before the walk, plus 1; 0: nothing was
					  found */
	__u64 ids[OUTSIDE_SLOTS];
};

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct outside);
} outside SEC(".maps");

struct gate_key {
	__u64 start_ns;
	__u64 pid;
};

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct gate_key);
	__type(value, __u8);
} gate SEC(".maps");

/*
 * The kernel itself sends a SIGKILL to a process of a container, a thread as a number, which was
 * not dying: it may be the OOM killer. Defined once, in oom.bpf.c, as watch_walk() is in maps.bpf.c.
 */
__u32 oom_may_kill(__u64 task);

static __always_inline struct cgroup *cgroup_parent(struct cgroup *cg)
{
	struct cgroup_subsys_state *css = BPF_CORE_READ(cg, self.parent);

	if (!css)
		return NULL;
	return (void *)css - bpf_core_field_offset(struct cgroup, self);
}

/*
 * The id of the nearest watched cgroup at or above the one that this css of its hierarchy is of, 0
 * for none. Defined once, in maps.bpf.c, as a global function of a number: the verifier goes
 * through its loop once, and not once for each way that leads to each of its callers.
 */
__u64 watch_walk(__u64 css);

/* Where a process is. */
struct place {
	__u64 cgroup_id; /* the very cgroup */
	__u64 watch_id;	 /* the nearest watched one at or above it; 0: none */
};

/* Whether everything below it is its own, and is not watched. */
static __always_inline bool watch_is_whole(const struct graced_watch *w)
{
	return w && w->kind >= GRACED_WATCH_CONTAINER && w->kind != GRACED_WATCH_MAYBE;
}

static __always_inline struct graced_watch *watch_from(struct cgroup *cg, __u64 id,
						       struct place *ret)
{
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);

	ret->cgroup_id = id;
	if (!w) {
		id = watch_walk((__u64)BPF_CORE_READ(cg, self.parent));
		w = id ? bpf_map_lookup_elem(&watched, &id) : NULL;
	}
	ret->watch_id = w ? id : 0;
	return w;
}

/*
 * The nearest watched cgroup at or above cg, NULL when there is none. A miss is a cgroup below a
 * container, or one that no quota had room for.
 */
static __always_inline struct graced_watch *watch_of(struct cgroup *cg, struct place *ret)
{
	return watch_from(cg, cg ? cg->kn->id : 0, ret);
}

/* The same for a cgroup that is a number to the verifier. */
static __always_inline struct graced_watch *watch_of_read(struct cgroup *cg, struct place *ret)
{
	return watch_from(cg, BPF_CORE_READ(cg, kn, id), ret);
}

/* The id of the same one, 0 for none, for where that alone counts: cgroup is a pointer. Defined
 * once, in maps.bpf.c, as watch_walk() is. */
__u64 watch_id_of(__u64 cgroup);

/*
 * Takes room for a record of a process that is no init, in that container. 0: the bucket is empty.
 * Defined once, in maps.bpf.c, as watch_walk() is.
 */
__u32 others_look(__u64 watch_id);

/*
 * Takes room for a signal from one container to the init of another. 0: it is more than its sender
 * may send. Defined once, in maps.bpf.c, as watch_walk() is.
 */
__u32 pair_take(__u64 from, __u64 to);

/*
 * Takes room for one more init of that container, of those that its owner's have together if others
 * than root made it. 0: the bucket is empty. Defined once, in maps.bpf.c, as watch_walk() is.
 */
__u32 life_take(__u64 watch_id);

static __always_inline bool watch_recorded(const struct graced_watch *w)
{
	return w && w->kind >= GRACED_WATCH_CONTAINER;
}

/*
 * Another program may run between any two of these loads and stores, on the same CPU. It may
 * replace the id only by one that it has just found to be outside: so found_at is read first, and
 * written last.
 */
static __always_inline bool is_outside(const struct outside *o, __u64 id, __u64 changes)
{
	__u32 slot = id % OUTSIDE_SLOTS;

	return *(const volatile __u64 *)&o->found_at[slot] == changes &&
	       *(const volatile __u64 *)&o->ids[slot] == id;
}

static __always_inline void outside_note(struct outside *o, __u64 id, __u64 changes)
{
	__u32 slot = id % OUTSIDE_SLOTS;

	*(volatile __u64 *)&o->found_at[slot] = 0;
	*(volatile __u64 *)&o->ids[slot] = id;
	*(volatile __u64 *)&o->found_at[slot] = changes;
}

/* The container that cg is in, or with scope all the nearest watched cgroup; NULL: it is of no
 * interest. */
static __always_inline struct graced_watch *container_at(struct cgroup *cg, struct place *ret)
{
	__u64 id = cg ? cg->kn->id : 0, changes = *(volatile __u32 *)&outside_changes + 1ULL;
	struct graced_watch *w;
	struct outside *o;
	__u32 zero = 0;

	if (cfg_all)
		return watch_from(cg, id, ret);
	/* Linux 6.1 refuses the place of an unknown one, even where it is not looked at. */
	*ret = (struct place){.cgroup_id = id};
	o = bpf_map_lookup_elem(&outside, &zero);
	if (!o || is_outside(o, id, changes))
		return NULL;
	w = watch_from(cg, id, ret);
	if (watch_recorded(w))
		return w;
	outside_note(o, id, changes);
	return NULL;
}

static __always_inline bool is_noisy(__u64 watch_id)
{
	return noisy_any && bpf_map_lookup_elem(&noisy, &watch_id);
}

/* The init of that container begins to die of a stop signal. Without room for it the moment at
 * which it woke up stays unknown. */
static __always_inline void doom(__u64 watch_id)
{
	__u8 one = 1;

	if (bpf_map_update_elem(&doomed, &watch_id, &one, BPF_NOEXIST) == 0)
		__sync_fetch_and_add(&dying, 1);
}

/* True for exactly one caller after each doom(). */
static __always_inline bool doom_end(__u64 watch_id)
{
	if (!dying || bpf_map_delete_elem(&doomed, &watch_id))
		return false;
	__sync_fetch_and_add(&dying, -1);
	return true;
}

/* False: none is left. Below 0 it is what CPUs took at the same moment: that is paid back. */
static __always_inline bool take_one(__u32 *left)
{
	if (*(volatile __s32 *)left <= 0)
		return false;
	__sync_fetch_and_add(left, -1);
	return true;
}

/* False: the bucket is empty. CPUs that refill it at the same moment all do. */
static __always_inline bool bucket_fill(__u64 *at_ns, __u32 *left, __u64 refill_ns)
{
	__u64 now = bpf_ktime_get_boot_ns(), at = *(volatile __u64 *)at_ns;
	__s64 ticks, room;

	/* Another CPU may have read the clock later. */
	ticks = now > at ? (now - at) / refill_ns : 0;
	if (ticks) {
		room = BUCKET_BURST - *(volatile __s32 *)left;
		*at_ns = at + ticks * refill_ns;
		__sync_fetch_and_add(left, ticks < room ? ticks : room);
	}
	return *(volatile __s32 *)left > 0;
}

static __always_inline bool bucket_take(__u64 *at_ns, __u32 *left)
{
	return bucket_fill(at_ns, left, BUCKET_REFILL_NS) && take_one(left);
}

static __always_inline void stat_add(__u32 index, __u64 emitted, __u64 lost, __u64 suppressed)
{
	struct graced_stat *s = bpf_map_lookup_elem(&stats, &index);

	if (!s)
		return;
	s->emitted += emitted;
	/* Who is preempted in here must not take back what another has counted. */
	if (lost)
		__sync_fetch_and_add(&s->lost, lost);
	s->suppressed += suppressed;
}

/*
 * Takes room for a record of a type, of a process that is no init. False: the bucket is empty. In a
 * storm nearly all find none: one in each tick of the kernel's timer looks whether there is some
 * again.
 */
static __always_inline bool others_take(struct graced_watch *w, const struct place *at, __u32 type)
{
	if (bpf_jiffies64() != *(volatile __u64 *)&w->others_tick && others_look(at->watch_id))
		return true;
	__sync_fetch_and_add(&w->others_missed, 1);
	stat_add(type, 0, 0, 1);
	return false;
}

/* What deletes an entry decrements the count. False: it has been deleted elsewhere. */
static __always_inline bool reap_delete(__u32 pid)
{
	if (bpf_map_delete_elem(&reaps, &pid))
		return false;
	__sync_fetch_and_add(&reaps_due, -1);
	return true;
}

/* When the last init of a container is waited for is not recorded any more. */
static __always_inline void reap_forget(__u64 watch_id, struct graced_watch *w)
{
	__u32 pid = w->reap_pid;
	struct graced_reap *r;

	if (!pid)
		return;
	w->reap_pid = 0;
	r = bpf_map_lookup_elem(&reaps, &pid);
	if (r && r->watch_id == watch_id)
		reap_delete(pid);
}

/* size must be a constant. NULL: no room; counted for the type and for the cgroup. */
static __always_inline void *emit_begin(__u32 type, __u64 size, __u64 watch_id,
					struct graced_watch *w)
{
	struct graced_hdr *hdr = bpf_ringbuf_reserve(&ring, size, 0);

	if (!hdr) {
		stat_add(type, 0, 1, 0);
		if (w)
			__sync_fetch_and_add(&w->counts.lost, 1);
		return NULL;
	}
	hdr->abi = GRACED_ABI;
	hdr->type = type;
	hdr->size = size;
	hdr->at_ns = bpf_ktime_get_boot_ns();
	hdr->watch_id = watch_id;
	hdr->lost = w ? w->counts.lost : 0;
	hdr->suppressed = w ? w->counts.suppressed : 0;
	return hdr;
}

/*
 * A wakeup costs more than ten records, so the reader is woken for what it wants to be woken for
 * (io/kernel/ring), or when a quarter of the ring waits, and never more often than it could read.
 */
#define WAKE_NS	     1000000ULL
#define WAKE_FULL_NS 50000ULL

static __always_inline bool wake_due(__u64 now, enum graced_urgency urgency)
{
	__u64 since = now - last_wake_ns;

	if (since >= WAKE_NS && urgency >= *(volatile __u32 *)&wakes_from)
		return true;
	return since >= WAKE_FULL_NS &&
	       bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= cfg_wake_bytes;
}

static __always_inline void emit_end(void *record, enum graced_urgency urgency)
{
	struct graced_hdr *hdr = record;
	__u64 flags = BPF_RB_NO_WAKEUP, now = hdr->at_ns;

	stat_add(hdr->type, 1, 0, 0);
	if (wake_due(now, urgency)) {
		last_wake_ns = now;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	bpf_ringbuf_submit(record, flags);
}

#endif
