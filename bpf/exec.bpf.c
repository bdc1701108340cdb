// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Execs: the moment at which a process becomes its container's init. */
#include "again.bpf.h"
#include "cost.bpf.h"
#include "init.bpf.h"

static __always_inline __u64 older_than(const __u64 *ctx, __u64 watch_id)
{
	__u64 task;

	bpf_probe_read_kernel(&task, sizeof(task), &ctx[0]);
	return init_older(task, watch_id);
}

static __always_inline __u32 pidns_of(const __u64 *ctx)
{
	__u64 task;

	bpf_probe_read_kernel(&task, sizeof(task), &ctx[0]);
	return init_pidns(task);
}

/* The pid of a process, a pointer, if it may be the keeper of an init that it is the parent of, as
 * graced_init says it. */
__noinline __u32 keeper_of(__u64 parent)
{
	struct task_struct *t = (void *)parent;
	struct signal_struct *signal = BPF_CORE_READ(t, signal);
	struct program program;

	if (!BPF_CORE_READ_BITFIELD_PROBED(signal, is_child_subreaper))
		return 0;
	program_read(t, &program);
	return program.is_runtime ? 0 : BPF_CORE_READ(t, tgid);
}

static __always_inline void exec_seen(const __u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0], *parent;
	struct graced_watch *w;
	struct place at;
	struct graced_init *init;
	__u64 older = 0;
	__u32 rank;

	w = container_at(task_cgroup(t), &at);
	if (!watch_recorded(w))
		return;
	init = bpf_map_lookup_elem(&inits, &at.watch_id);
	if (init && init->pid == t->tgid)
		init->exec_ns = bpf_ktime_get_boot_ns();
	if (init_is_settled(init))
		return;
	parent = BPF_CORE_READ(t, real_parent);
	if (watch_id_of((__u64)task_cgroup_of(parent, false)) == at.watch_id)
		return;
	rank = task_is_ns_init(t) ? GRACED_INIT_PID1 : GRACED_INIT_FIRST;
	if (rank == GRACED_INIT_FIRST && (is_exec_of_stage(t) || is_joined(t, at.watch_id)))
		return;
	if (rank == GRACED_INIT_FIRST)
		older = older_than(ctx, at.watch_id);
	init_set(t, w, &at, pidns_of(ctx), older ? GRACED_INIT_GUESSED : rank,
		 older & OLDER_SIBLING ? older : 0, keeper_of((__u64)parent));
}

static struct again execs;

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_EXEC);
	again_note(&execs, ctx);
	exec_seen(ctx);
	cost_end(GRACED_HOOK_EXEC);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec_again(__u64 *ctx)
{
	if (!again_take(&execs, ctx, GRACED_AGAIN_EXEC))
		return 0;
	cost_begin(GRACED_HOOK_EXEC_AGAIN);
	exec_seen(ctx);
	cost_end(GRACED_HOOK_EXEC_AGAIN);
	return 0;
}
