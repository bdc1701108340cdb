// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Execs: the moment at which a process becomes its container's init. */
#include "task.bpf.h"

static __always_inline void init_set(struct task_struct *t, struct graced_watch *w,
				     const struct place *at, __u32 rank, bool replace)
{
	struct graced_init init = {
		.start_ns = t->group_leader->start_boottime,
		.pid = t->tgid,
		.rank = rank,
	};
	__u64 inum, id = at->watch_id;
	struct graced_ev_init *ev;

	if (bpf_map_update_elem(&inits, &id, &init, replace ? BPF_ANY : BPF_NOEXIST))
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

/* Whether its program is runc, or a copy that runc made of itself in memory. */
static __always_inline bool is_runc(struct task_struct *t, bool copied)
{
	static const __u64 runc = 0x636e7572;				     /* "runc" */
	static const __u64 copy[2] = {0x75723a64666d656d, 0x6e6f6c635f636e}; /* "memfd:runc_clon" */
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(t, mm, exe_file, f_path.dentry, d_name.name));
	if (name[0] == runc)
		return true;
	return copied && name[0] == copy[0] && name[1] == copy[1];
}

/*
 * runc 1.1 executes itself again (libcontainer/nsenter/cloned_binary.c) while its parent, which is
 * runc as well, moves it into the container's cgroup: a stage that may exec in there, too.
 */
static __always_inline bool is_stage(struct task_struct *t)
{
	return is_runc(t, true) && is_runc(BPF_CORE_READ(t, real_parent), false);
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0];
	struct graced_init *old;
	struct graced_watch *w;
	struct place at, parent;
	__u32 rank;

	w = watch_of(task_cgroup(t), &at);
	if (!watch_recorded(w))
		return 0;
	old = bpf_map_lookup_elem(&inits, &at.watch_id);
	if (old && (old->rank >= GRACED_INIT_PID1 || old->pid == t->tgid))
		return 0;
	if (old && is_noisy(at.watch_id))
		return 0;
	watch_of_read(task_cgroup_of(BPF_CORE_READ(t, real_parent), false), &parent);
	if (parent.watch_id == at.watch_id)
		return 0;
	rank = task_is_ns_init(t) ? GRACED_INIT_PID1 : GRACED_INIT_FIRST;
	if (rank == GRACED_INIT_FIRST && is_stage(t))
		return 0;
	if (old && rank <= old->rank)
		return 0;
	init_set(t, w, &at, rank, old != NULL);
	return 0;
}
