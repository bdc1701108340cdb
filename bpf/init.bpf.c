// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Inits that never exec, by what happens to them. */
#include "init.bpf.h"

/*
 * A stage of the runtime, which has not exec'd the container's program. Before Linux 6.16 a process
 * has no memory, and so no program, by the time its exit is seen: its name is what is left.
 */
static __always_inline bool is_stage(struct task_struct *t)
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

/*
 * PID 1 of a pid namespace that a process without privileges cannot have made: it is the init for
 * sure. Any other may be a sandbox's that was adopted outside the container.
 */
static __always_inline __u32 rank_of(struct task_struct *t)
{
	struct upid up = {};

	if (!task_is_ns_init(t))
		return GRACED_INIT_GUESSED;
	upid_read(t, &up);
	return BPF_CORE_READ(up.ns, user_ns, level) ? GRACED_INIT_GUESSED : GRACED_INIT_PID1;
}

__noinline __u32 init_find(__u64 task, __u64 watch_id)
{
	struct task_struct *t = (void *)task;
	struct graced_init *old;
	struct place at, parent;
	struct graced_watch *w;
	__u32 rank;

	w = watch_of_read(task_cgroup_of(t, false), &at);
	/* Of a service systemd says which its main process is. */
	if (!w || at.watch_id != watch_id || w->kind == GRACED_WATCH_SERVICE)
		return 0;
	watch_of_read(task_cgroup_of(BPF_CORE_READ(t, real_parent), false), &parent);
	if (parent.watch_id == watch_id || is_stage(t) || is_joined(t, watch_id))
		return 0;
	rank = rank_of(t);
	old = bpf_map_lookup_elem(&inits, &watch_id);
	/* The first guess stays: who comes after it may be a child of it that was adopted. */
	if (old && rank == GRACED_INIT_GUESSED)
		return 0;
	init_set(t, w, &at, rank);
	return 1;
}
