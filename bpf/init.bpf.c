// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Inits that never exec, by what happens to them. */
#include "init.bpf.h"

/*
 * Whether the name of its program is a runtime's. Before Linux 6.16 a process has no memory, and so
 * no program, by the time its exit is seen: its own name is what is left.
 */
static __always_inline bool named_as_runtime(struct task_struct *t)
{
	struct program program;
	__u64 comm[2] = {};

	if (BPF_CORE_READ(t, mm)) {
		program_read(t, &program);
		return program.is_runtime;
	}
	bpf_probe_read_kernel(comm, sizeof(comm), BPF_CORE_READ(t, group_leader, comm));
	return is_runtime_name(comm[0], comm[1]);
}

/* A stage lives for a moment. A worker of the same parent may have come in long ago, and be the
 * init. */
static __always_inline bool is_young(struct task_struct *leader)
{
	return bpf_ktime_get_boot_ns() - BPF_CORE_READ(leader, start_boottime) < STAGE_NS;
}

/*
 * A stage of the runtime, which has not exec'd the container's program. Its name alone does not
 * make it one: its parent is the runtime, and it is young, or has not left the runtime's mounts.
 * What exits young was a stage whatever its parent is: a runtime that was killed has left it to
 * another.
 */
static __always_inline bool is_stage(struct task_struct *t)
{
	struct task_struct *parent;
	bool young;

	if (!named_as_runtime(t))
		return false;
	young = is_young(BPF_CORE_READ(t, group_leader));
	if (young && BPF_CORE_READ(t, flags) & PF_EXITING)
		return true;
	parent = BPF_CORE_READ(t, real_parent);
	if (!named_as_runtime(parent))
		return false;
	return young || BPF_CORE_READ(t, nsproxy, mnt_ns) == BPF_CORE_READ(parent, nsproxy, mnt_ns);
}

/*
 * PID 1 of a pid namespace that a process without privileges cannot have made: it is the init for
 * sure. Any other may be a sandbox's that was adopted outside the container.
 */
__noinline __u32 init_rank(__u64 task)
{
	struct task_struct *t = (void *)task;
	struct upid up = {};

	if (!BPF_CORE_READ(task_tgid(t), level))
		return GRACED_INIT_GUESSED;
	upid_read(t, &up);
	if (up.nr != 1)
		return GRACED_INIT_GUESSED;
	return BPF_CORE_READ(up.ns, user_ns, level) ? GRACED_INIT_GUESSED : GRACED_INIT_PID1;
}

/* Whether it came from outside, and neither belongs to a runtime nor was added to the container. */
__noinline __u32 init_may_be(__u64 task, __u64 watch_id)
{
	struct task_struct *t = (void *)task;
	struct cgroup *parent = task_cgroup_of(BPF_CORE_READ(t, real_parent), false);

	return watch_id_of((__u64)parent) != watch_id && !is_stage(t) && !is_joined(t, watch_id);
}

__noinline __u32 init_pidns(__u64 task)
{
	struct pid *pid = task_tgid((void *)task);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid up = {};

	bpf_core_read(&up, sizeof(up), &pid->numbers[level]);
	return GRACED_PIDNS(level, BPF_CORE_READ(up.ns, ns.inum));
}

__noinline __u32 ns_pid_within(__u64 task, __u64 watch_id, __u32 own)
{
	struct graced_init *init = bpf_map_lookup_elem(&inits, &watch_id);
	struct upid up = {};
	struct pid *pid;
	__u32 level;

	if (!init || !init->pidns)
		return own;
	pid = task_tgid((void *)task);
	level = init->pidns >> 24;
	if (level > BPF_CORE_READ(pid, level))
		return 0;
	bpf_core_read(&up, sizeof(up), &pid->numbers[level]);
	return GRACED_PIDNS(level, BPF_CORE_READ(up.ns, ns.inum)) == init->pidns ? up.nr : 0;
}

__noinline __u32 init_is_inside(__u64 task, __u64 watch_id)
{
	struct graced_watch *w;
	struct place at;

	w = watch_of_read(task_cgroup_of((void *)task, false), &at);
	/* A service's main process is known from systemd. */
	return w && at.watch_id == watch_id && w->kind != GRACED_WATCH_SERVICE;
}

__noinline __u32 init_add(__u64 task, __u64 watch_id)
{
	struct task_struct *t = (void *)task;
	struct place at = {.watch_id = watch_id};
	struct cgroup *cg = task_cgroup_of(t, false);
	__u32 rank = init_rank(task);
	struct graced_init *old;
	struct graced_watch *w;

	old = bpf_map_lookup_elem(&inits, &watch_id);
	/* The first guess stays: who comes after it may be a child of it that was adopted. */
	if (old && rank == GRACED_INIT_GUESSED)
		return 0;
	w = bpf_map_lookup_elem(&watched, &watch_id);
	if (!w)
		return 0;
	at.cgroup_id = BPF_CORE_READ(cg, kn, id);
	init_set(t, w, &at, init_pidns(task), rank, 0, 0);
	return 1;
}

/* In functions of their own: the stacks of all that call one another have 512 bytes together. */
__noinline __u32 init_find(__u64 task, __u64 watch_id)
{
	if (!init_is_inside(task, watch_id) || !init_may_be(task, watch_id))
		return 0;
	return init_add(task, watch_id);
}

/* The member's process if that was there before t and may be the init, as init_older() says it. */
__noinline __u64 init_older_member(__u64 link, __u64 task, __u64 watch_id)
{
	struct task_struct *t = (void *)task, *leader, *own, *member;
	__u64 pid;

	member = (void *)(link - bpf_core_field_offset(struct task_struct, cg_list));
	leader = BPF_CORE_READ(member, group_leader);
	own = BPF_CORE_READ(t, group_leader);
	pid = BPF_CORE_READ(leader, tgid);
	if (pid == BPF_CORE_READ(t, tgid) || !BPF_CORE_READ(leader, signal, live.counter))
		return 0;
	if (BPF_CORE_READ(leader, start_boottime) >= BPF_CORE_READ(own, start_boottime))
		return 0;
	if (!init_may_be((__u64)leader, watch_id))
		return 0;
	if (BPF_CORE_READ(leader, real_parent) == BPF_CORE_READ(own, real_parent) &&
	    is_young(leader))
		pid |= OLDER_SIBLING;
	return pid;
}

/* Who came in first is listed first, each thread by itself. */
#define MEMBERS_LOOKED_AT 16

__noinline __u64 init_older(__u64 task, __u64 watch_id)
{
	struct task_struct *t = (void *)task;
	__u64 head, link, older;

	head = (__u64)BPF_CORE_READ(t, cgroups) + bpf_core_field_offset(struct css_set, tasks);
	link = (__u64)BPF_CORE_READ((struct list_head *)head, next);
	for (int i = 0; i < MEMBERS_LOOKED_AT; i++) {
		if (!link || link == head)
			return 0;
		older = init_older_member(link, task, watch_id);
		if (older)
			return older;
		link = (__u64)BPF_CORE_READ((struct list_head *)link, next);
	}
	return 0;
}

__noinline __u32 init_stage_left(__u64 watch_id)
{
	struct graced_init *init = bpf_map_lookup_elem(&inits, &watch_id);
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &watch_id);
	struct graced_ev_init *ev;

	if (!init || !init->pid || bpf_ktime_get_boot_ns() >= init->until_ns)
		return 0;
	ev = emit_begin(GRACED_EV_INIT, sizeof(*ev), watch_id, w);
	if (!ev)
		return 0;
	init->stage_pid = 0;
	init->rank = GRACED_INIT_FIRST;
	__builtin_memset(&ev->proc, 0, sizeof(ev->proc));
	ev->proc.start_ns = init->start_ns;
	ev->proc.watch_id = watch_id;
	ev->proc.pid = init->pid;
	ev->rank = GRACED_INIT_FIRST;
	ev->flags = 0;
	ev->keeper_pid = init->keeper_pid;
	ev->pad = 0;
	emit_end(ev, GRACED_SOON);
	return 1;
}
