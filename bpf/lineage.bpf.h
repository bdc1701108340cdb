/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ancestors of processes that send signals. They cost as much as the rest of a record, so each
 * CPU remembers those of the last senders it saw, and a record includes them only when one of them
 * is another process than before, has exec'd, has another name or user, or is in another cgroup.
 * They are read before the record is made: what changes in between is in the next record.
 */
#ifndef GRACED_LINEAGE_BPF_H
#define GRACED_LINEAGE_BPF_H

#include "hear.bpf.h"
#include "task.bpf.h"

struct lineage {
	__u64 start_ns;	 /* of the sender */
	__u32 pid;	 /* 0: no sender, or the record with its ancestors was lost */
	__u32 turn;	 /* how often a record had to include the ancestors */
	__u32 watches;	 /* watch_changes when the cgroups were looked up */
	__u32 changed;	 /* the next record has to include them */
	struct place at; /* of the sender, and the kind of the watched cgroup there */
	__u64 kind;
	__u64 execs[GRACED_ANCESTORS];
	struct graced_ev_signal_full record; /* its last one; the ancestors stay */
};

/* A signal is generated with interrupts off: nothing else of this CPU comes between. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GRACED_LINEAGES);
	__type(key, __u32);
	__type(value, struct lineage);
} lineages SEC(".maps");

/* 0: none. Without branches, each of which would double the verifier's work. */
static __always_inline __u64 difference(const struct graced_proc *p, struct task_struct *t,
					struct task_struct *leader, __u64 cgroup_id)
{
	__u64 diff = p->pid ^ (__u32)t->tgid;

	diff |= p->start_ns ^ leader->start_boottime;
	diff |= p->cgroup_id ^ cgroup_id;
	diff |= p->uid ^ t->real_cred->uid.val;
	diff |= ((__u64 *)p->comm)[0] ^ ((__u64 *)leader->comm)[0];
	diff |= ((__u64 *)p->comm)[1] ^ ((__u64 *)leader->comm)[1];
	return diff;
}

/* child is where its child is. */
static __always_inline void see_ancestor(struct lineage *l, int i, struct task_struct *t,
					 const struct place *child, const bool typed)
{
	struct task_struct *leader = MEMBER(typed, t, group_leader);
	struct cgroup *cg = task_cgroup_of(leader, typed);
	__u64 execs = MEMBER(typed, leader, self_exec_id);
	struct graced_proc *p = &l->record.ancestors[i];
	struct place at;

	if (typed)
		at.cgroup_id = cg ? cg->kn->id : 0;
	else
		at.cgroup_id = BPF_CORE_READ(cg, kn, id);
	if (typed && !(l->changed | (l->execs[i] ^ execs) | difference(p, t, leader, at.cgroup_id)))
		return;
	l->changed = 1;
	l->execs[i] = execs;
	proc_fill(p, t, typed);
	if (at.cgroup_id == child->cgroup_id)
		at.watch_id = child->watch_id;
	else
		at.watch_id = watch_id_of((__u64)task_cgroup_of(leader, false));
	proc_place(p, &at);
}

static __always_inline void see_none(struct lineage *l, int i)
{
	if (!l->record.ancestors[i].pid)
		return;
	l->changed = 1;
	__builtin_memset(&l->record.ancestors[i], 0, sizeof(l->record.ancestors[i]));
}

static __always_inline void see_ancestors(struct lineage *l, struct task_struct *parent,
					  const struct place *sender_at, const bool typed)
{
	struct place at = *sender_at;
	__u32 child = l->pid;

#pragma unroll
	for (int i = 0; i < GRACED_ANCESTORS; i++) {
		struct task_struct *leader = MEMBER(typed, parent, group_leader);
		__u32 tgid = MEMBER(typed, parent, tgid);

		if (tgid && tgid != child)
			see_ancestor(l, i, parent, &at, typed);
		else
			see_none(l, i);
		parent = MEMBER(typed, leader, real_parent);
		child = l->record.ancestors[i].pid;
		at.cgroup_id = l->record.ancestors[i].cgroup_id;
		at.watch_id = l->record.ancestors[i].watch_id;
	}
}

/* Without trusted pointers each record includes the ancestors. */
static __always_inline void see_by_reads(struct lineage *l, struct task_struct *current,
					 const struct place *sender_at)
{
	l->changed = 1;
	see_ancestors(l, BPF_CORE_READ(current, group_leader, real_parent), sender_at, false);
}

static __always_inline void see_sender(struct lineage *l, __u32 pid, __u64 start_ns)
{
	__u32 watches = watch_changes;

	l->changed = is_set((l->pid ^ pid) | (l->start_ns ^ start_ns) | (l->watches ^ watches));
	l->pid = pid;
	l->start_ns = start_ns;
	l->watches = watches;
}

static __always_inline void fill_sender(struct graced_ev_signal *ev, struct task_struct *t,
					struct task_struct *leader, const struct place *at,
					const bool typed)
{
	const struct proc_of of = {t, leader, MEMBER(typed, t, real_cred),
				   MEMBER(typed, leader, mm)};

	proc_fill_of(&ev->sender, &of, typed);
	ev->sender.ns_pid = task_ns_pid(t, typed ? t->signal : NULL, &ev->sender_pidns, typed);
	proc_place(&ev->sender, at);
}

static __always_inline __u32 lineage_slot(void)
{
	return (bpf_get_current_pid_tgid() >> 32) % GRACED_LINEAGES;
}

/* As graced_ev_signal has it, of current. */
static __always_inline __u32 lineage_number(void)
{
	return bpf_get_smp_processor_id() * GRACED_LINEAGES + lineage_slot();
}

/* The entry of current. NULL: never so, but the verifier does not know. */
static __always_inline struct lineage *lineage_of_current(void)
{
	__u32 slot = lineage_slot();

	return bpf_map_lookup_elem(&lineages, &slot);
}

/* Notes in the entry of current where it is. A global function: see lineage_see(). */
__noinline int lineage_place(void)
{
	struct lineage *l = lineage_of_current();
	struct graced_watch *w;
	struct place at = {};

	if (!l)
		return 0;
	if (loads_may_fail())
		w = watch_of(process_cgroup(bpf_get_current_task_btf(), true), &at);
	else
		w = watch_of_read(process_cgroup((void *)bpf_get_current_task(), false), &at);
	l->at = at;
	l->kind = w ? w->kind : 0;
	return 0;
}

/*
 * Brings the entry of current up to date, after lineage_place(), and has its record begin with
 * current as the sender. A global function: the verifier goes through it once.
 *
 * From 6.4 on the verifier searches all of the kernel's type information several times for each
 * pointer that is loaded from one it trusts, half a millisecond each. It trusts current and its
 * leader and real_parent, and theirs; it does not trust `parent`, which is the same process but for
 * one that is traced.
 */
__noinline int lineage_see(void)
{
	struct task_struct *current = (void *)bpf_get_current_task(), *leader, *parent;
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct lineage *l = lineage_of_current();

	if (!l)
		return 0;
	if (loads_may_fail()) {
		leader = bpf_get_current_task_btf()->group_leader;
		parent = leader->parent;
		see_sender(l, pid, leader->start_boottime);
		fill_sender(&l->record.signal, bpf_get_current_task_btf(), leader, &l->at, true);
		if (parent == leader->real_parent)
			see_ancestors(l, parent, &l->at, true);
		else
			see_by_reads(l, current, &l->at);
	} else {
		leader = BPF_CORE_READ(current, group_leader);
		see_sender(l, pid, BPF_CORE_READ(leader, start_boottime));
		fill_sender(&l->record.signal, current, leader, &l->at, false);
		see_by_reads(l, current, &l->at);
	}
	l->turn += l->changed;
	l->record.signal.sender.ns_pid =
		ns_pid_within((__u64)current, l->at.watch_id, l->record.signal.sender.ns_pid);
	return 0;
}

/* The record with the ancestors was lost. */
static __always_inline void lineage_forget(struct lineage *l)
{
	l->pid = 0;
}

#endif
