// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * OOM victims, and at which level memory ran out.
 *
 * No tracepoint has the level, but mem_cgroup_oom() (mm/memcontrol.c) counts a MEMCG_OOM event at
 * exactly the level whose limit was hit before it chooses a victim. Comparing that count with what
 * was seen last at each level gives the level without a probe on out_of_memory(), on cgroup v1 and
 * v2 alike. With memory.oom.group one event has many victims: they share the level of the first.
 *
 * __oom_kill_process() (mm/oom_kill.c) sends SIGKILL to the victim, marks it, and sends SIGKILL to
 * every other process that shares its memory, without a mark. A process that is dying already is
 * marked, too, so that it may use the last of the memory: that is no OOM kill.
 */
#include "cost.bpf.h"
#include "stop.bpf.h"

#define CLIMB	     16		   /* squared: so many levels are looked at */
#define GROUP_GAP_NS 1000000000ULL /* between victims of one event; each is logged on the console */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
enum memcg_memory_event___oom { MEMCG_OOM___oom };

typedef struct {
	long long counter;
} atomic64_t;

struct page_counter {
	unsigned long max;
};

struct mem_cgroup___oom {
	struct cgroup_subsys_state css;
	struct page_counter memory;
	bool oom_group;
	atomic64_t memory_events[1]; /* on v2 with those of the cgroups below */
	atomic64_t memory_events_local[1];
};
#pragma clang attribute pop

/*
 * What the levels above a victim are like, and the last victim and who killed it. The kernel holds
 * one lock for all OOM kills (oom_lock). Not static: clang would split them and give each part the
 * type of the whole, and the kernel would refuse the object's type information, without which it
 * takes no function for a global one.
 */
struct {
	__u64 id;	   /* whose count moved; 0: none, or one below the container */
	__u64 below;	   /* the sum of the counts below the container, on the victim's path */
	__u64 limit;	   /* of the container's memory, as in graced_ev_oom */
	__u64 level_limit; /* of the level whose count moved */
	__u32 moved;	   /* how many levels' counts moved */
	bool watched;	   /* a level had an entry */
	bool moved_below;  /* the one that moved is below the container */
	bool unknown;	   /* a level had no base line, or was not looked at */
	bool group;	   /* a level is killed as a whole */
} levels;

struct {
	__u64 killer;
	__u64 at_ns;
	__u64 level_id;
	__u64 level_limit;
	__u64 mm; /* the victim's memory, a number */
	__u64 marker;
	__u64 watch_id; /* of the container of the one that was marked; 0: it was in none */
	__u32 flags;
} last;

/* The last SIGKILL by the kernel to a process of a container that was not dying. */
struct {
	__u64 killer;
	__u64 task; /* the thread, a number */
} kill;

static __always_inline struct mem_cgroup___oom *memcg_of(struct cgroup_subsys_state *css)
{
	return (void *)css - bpf_core_field_offset(struct mem_cgroup___oom, css);
}

/* events: the address of an array of counts. */
static __always_inline __u64 oom_count(void *events)
{
	__u64 index = bpf_core_enum_value(enum memcg_memory_event___oom, MEMCG_OOM___oom);
	__u64 count = 0;

	if (index <= 64)
		bpf_probe_read_kernel(&count, sizeof(count), events + index * sizeof(count));
	return count;
}

static __always_inline __u64 oom_events(struct cgroup_subsys_state *css)
{
	if (!bpf_core_field_exists(struct mem_cgroup___oom, memory_events_local))
		return 0;
	return oom_count(&memcg_of(css)->memory_events_local);
}

/* A count of pages that bytes do not hold is no limit (PAGE_COUNTER_MAX). */
static __always_inline __u64 limit_of(struct cgroup_subsys_state *css)
{
	__u64 pages = BPF_CORE_READ(memcg_of(css), memory.max);

	return pages < ~0ULL / 2 / cfg_page_bytes ? pages * cfg_page_bytes : 0;
}

static __always_inline bool oom_group(struct cgroup_subsys_state *css)
{
	if (!bpf_core_field_exists(struct mem_cgroup___oom, oom_group))
		return false;
	return BPF_CORE_READ(memcg_of(css), oom_group);
}

/*
 * Below a container no level has a base line of its own. On v2 the container's count with those
 * below it, less its own, moves with any of them; the path has to have one that may have moved. On
 * v1, and where memory_localevents is set, only a sum that is higher than on any path before is
 * sure to have moved. Both only grow. all is read before own: what others count meanwhile makes the
 * difference smaller, never larger.
 */
static __always_inline void below_look(struct graced_watch *w, __u64 all, __u64 own)
{
	__u64 below = all > own ? all - own : 0, seen = w->oom_below;
	bool with_below = below >= levels.below;

	if (!with_below)
		below = levels.below;
	if (below > seen)
		w->oom_below = below;
	if (levels.watched || !levels.below)
		return;
	if (!w->oom_known || (!with_below && below <= seen)) {
		levels.unknown = true;
	} else if (below > seen) {
		levels.moved++;
		levels.moved_below = true;
	}
}

/*
 * Looks at the level of a css, a pointer, and returns the one above it. A global function of a
 * number: the verifier goes through it once, and not once for each level.
 */
__noinline __u64 level_look(__u64 css)
{
	struct cgroup_subsys_state *at = (void *)css;
	__u64 all = oom_count(&memcg_of(at)->memory_events);
	__u64 now = oom_events(at), limit = limit_of(at);
	__u64 id = BPF_CORE_READ(at, cgroup, kn, id);
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);

	levels.group |= oom_group(at);
	if (w) {
		below_look(w, all, now);
		if (!levels.watched)
			levels.limit = limit;
		levels.watched = true;
		/* Above the pod it is the node's memory; a count of 0 never moved. */
		if (!w->oom_known) {
			levels.unknown |= now && w->kind != GRACED_WATCH_BRANCH;
		} else if (w->oom_seen != now) {
			levels.moved++;
			levels.id = id;
			levels.level_limit = limit;
		}
		w->oom_seen = now;
		w->oom_known = 1;
	} else if (!levels.watched) {
		levels.below += now;
	}
	return (__u64)BPF_CORE_READ(at, parent);
}

__noinline __u64 levels_climb(__u64 css)
{
	for (int i = 0; i < CLIMB && css; i++)
		css = level_look(css);
	return css;
}

/* The css of an ancestor of that level, of the memory controller; 0: not known, as until 6.1. */
static __always_inline __u64 css_at(__u64 css, __u32 level, __u32 ssid)
{
	void *slot = BPF_CORE_READ((struct cgroup_subsys_state *)css, cgroup);
	struct cgroup *up = NULL;

	if (bpf_core_field_exists(struct cgroup___ids, ancestor_ids))
		return 0;
	if (BPF_CORE_READ((struct cgroup *)slot, level) < (int)level)
		return 0;
	slot += bpf_core_field_offset(struct cgroup, ancestors);
	bpf_probe_read_kernel(&up, sizeof(up), slot + level * sizeof(up));
	return (__u64)BPF_CORE_READ(up, subsys[ssid]);
}

/* What is below a container may be as deep as its processes like: beyond a bound it is passed over,
 * and then only a level at or above the container can be known. */
static __always_inline void levels_find(struct task_struct *t, __u32 level)
{
	__u32 ssid = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	__u64 css = (__u64)BPF_CORE_READ(t, cgroups, subsys[ssid]);

	__builtin_memset(&levels, 0, sizeof(levels));
	for (int i = 0; i < CLIMB && css; i++)
		css = levels_climb(css);
	if (!css)
		return;
	levels.unknown = true;
	if (cfg_memory_ids)
		levels_climb(css_at(css, level, ssid));
}

static __always_inline __u32 level_flags(void)
{
	if (!cfg_memory_ids || levels.moved > 1)
		return 0;
	if (levels.moved == 1)
		return GRACED_OOM_LEVEL_KNOWN | (levels.moved_below ? GRACED_OOM_BELOW : 0);
	return levels.unknown ? 0 : GRACED_OOM_LEVEL_KNOWN;
}

/* shared: it is killed for the victim that was marked just before. */
static __always_inline void level_settle(bool shared)
{
	__u64 killer = bpf_get_current_pid_tgid(), now = bpf_ktime_get_boot_ns();

	if (levels.moved || !(levels.group || shared) || last.killer != killer ||
	    now - last.at_ns > GROUP_GAP_NS) {
		last.killer = killer;
		last.level_id = levels.id;
		last.flags = level_flags();
		last.level_limit = last.flags ? levels.level_limit : 0;
	}
	last.at_ns = now;
}

/* elsewhere: it is killed for a victim in another container, which has levels of its own above it. */
static __always_inline void record(struct graced_watch *w, const struct graced_proc *victim,
				   bool elsewhere)
{
	__u64 id = victim->watch_id;
	struct graced_init *init = bpf_map_lookup_elem(&inits, &id);
	struct graced_ev_oom *ev;

	__sync_fetch_and_add(&w->counts.oom_kills, 1);
	ev = emit_begin(GRACED_EV_OOM, sizeof(*ev), id, w);
	if (!ev)
		return;
	ev->level_id = elsewhere ? 0 : last.level_id;
	ev->flags = elsewhere ? 0 : last.flags;
	if (init && init->pid == victim->pid)
		ev->flags |= GRACED_OOM_INIT;
	ev->pad = 0;
	ev->victim = *victim;
	ev->limit = levels.limit;
	ev->level_limit = elsewhere ? 0 : last.level_limit;
	emit_end(ev, GRACED_SOON);
}

/* killed: it did not die already. */
static __always_inline void victim_seen(struct task_struct *t, bool killed, bool shared)
{
	struct graced_proc victim;
	struct graced_watch *w;
	struct place at;
	__u64 inum, leader;
	bool elsewhere;

	w = watch_of_read(task_cgroup_of(t, false), &at);
	if (!watch_recorded(w))
		return;
	levels_find(t, w->level);
	elsewhere = shared && at.watch_id != last.watch_id;
	if (!shared)
		last.watch_id = at.watch_id;
	if (!elsewhere)
		level_settle(shared);
	if (!killed)
		return;
	proc_fill(&victim, t, false);
	proc_place(&victim, &at);
	victim.ns_pid = task_ns_pid(t, NULL, &inum, false);
	leader = (__u64)BPF_CORE_READ(t, group_leader);
	victim.ns_pid = ns_pid_within(leader, at.watch_id, victim.ns_pid);
	record(w, &victim, elsewhere);
}

static __always_inline void task_marked(struct task_struct *t)
{
	__u64 marker = bpf_get_current_pid_tgid();

	last.mm = (__u64)BPF_CORE_READ(t, signal, oom_mm);
	last.marker = marker;
	last.watch_id = 0;
	victim_seen(t, kill.killer == marker && kill.task == (__u64)t, false);
	kill.task = 0;
}

/* The leader may have left, with other threads alive. */
static __always_inline __u64 mm_of(struct task_struct *leader)
{
	__u64 mm = (__u64)BPF_CORE_READ(leader, mm);
	void *next = BPF_CORE_READ(leader, thread_node.next);

	next -= bpf_core_field_offset(struct task_struct, thread_node);
	return mm ?: (__u64)BPF_CORE_READ((struct task_struct *)next, mm);
}

/* Only what exits kills in the kernel's name for other reasons, and often: the init of a namespace,
 * a tracer. */
__noinline __u32 oom_may_kill(__u64 task)
{
	struct task_struct *current = (void *)bpf_get_current_task(), *t = (void *)task;

	if (BPF_CORE_READ(current, flags) & PF_EXITING)
		return 0;
	kill.killer = bpf_get_current_pid_tgid();
	kill.task = task;
	if (last.marker != kill.killer || !last.mm)
		return 0;
	t = BPF_CORE_READ(t, group_leader);
	if (mm_of(t) == last.mm)
		victim_seen(t, true, true);
	return 0;
}

SEC("tp_btf/mark_victim")
int on_oom_task(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_OOM);
	task_marked((void *)ctx[0]);
	cost_end(GRACED_HOOK_OOM);
	return 0;
}

/*
 * Before kernel commit 72ba14deb40a ("mm: update mark_victim tracepoints fields") the argument is
 * a thread's pid. The victim is the one that got the SIGKILL a moment ago, still held by the
 * killer; of any other nothing is known.
 */
static __always_inline void pid_marked(__u32 pid)
{
	struct task_struct *t = (void *)kill.task;

	if (t && kill.killer == bpf_get_current_pid_tgid() && BPF_CORE_READ(t, pid) == pid)
		task_marked(t);
}

SEC("tp_btf/mark_victim")
int on_oom_pid(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_OOM);
	pid_marked(ctx[0]);
	cost_end(GRACED_HOOK_OOM);
	return 0;
}
