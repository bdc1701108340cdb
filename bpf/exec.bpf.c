// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Execs: the moment at which a process becomes its container's init. */
#include "init.bpf.h"

static __always_inline void init_set(struct task_struct *t, struct graced_watch *w,
				     const struct place *at, __u32 rank)
{
	struct graced_init init = {
		.start_ns = t->group_leader->start_boottime,
		.pid = t->tgid,
		.rank = rank,
	};
	__u64 inum, id = at->watch_id;
	struct graced_ev_init *ev;

	if (bpf_map_update_elem(&inits, &id, &init, BPF_NOEXIST))
		return;
	ev = emit_begin(GRACED_EV_INIT, sizeof(*ev), id, w);
	if (!ev)
		return;
	ev->rank = rank;
	ev->pad = 0;
	proc_fill(&ev->proc, t, false);
	proc_place(&ev->proc, at);
	ev->proc.ns_pid = task_ns_pid(t, &inum);
	emit_end(ev, false);
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0];
	struct graced_watch *w;
	struct place at, parent;
	__u32 rank;

	w = watch_of(task_cgroup(t), &at);
	if (!watch_recorded(w))
		return 0;
	if (bpf_map_lookup_elem(&inits, &at.watch_id))
		return 0;
	watch_of_read(task_cgroup_of(BPF_CORE_READ(t, real_parent), false), &parent);
	if (parent.watch_id == at.watch_id)
		return 0;
	rank = task_is_ns_init(t) ? GRACED_INIT_PID1 : GRACED_INIT_FIRST;
	if (rank == GRACED_INIT_FIRST && is_exec_of_stage(t))
		return 0;
	init_set(t, w, &at, rank);
	return 0;
}
