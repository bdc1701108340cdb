/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is read of a task: its cgroup, its numbers, and what a record says of a process.
 *
 * A member of a task whose type the verifier knows is one load; of one that is a number to it, a
 * call of a helper, which costs ten times as much. So these functions take a constant that says
 * which it is. Loads are for arguments of tracepoints and for what these surely point to; what may
 * be NULL, or be freed meanwhile, is loaded only where loads_may_fail(), and read elsewhere.
 */
#ifndef GRACED_TASK_BPF_H
#define GRACED_TASK_BPF_H

#include "graced.bpf.h"

#define PF_EXITING 0x04 /* include/linux/sched.h */

/*
 * Whether a load from a bad pointer gives 0, as it should. 5.10 stops with an oops where it is
 * NULL, or where the program has functions; kernels with this helper are late enough, and have
 * bpf_get_current_task_btf(), too. Known when the object is loaded: the verifier drops the branch
 * that this kernel does not take.
 */
static __always_inline bool loads_may_fail(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_tai_ns);
}

/* typed must be a constant where it is compiled. */
#define MEMBER(typed, from, member) ((typed) ? (from)->member : BPF_CORE_READ(from, member))

static __always_inline struct cgroup *task_cgroup_of(struct task_struct *t, const bool typed)
{
	struct css_set *set = MEMBER(typed, t, cgroups);
	struct cgroup_subsys_state *css;

	if (cfg_ssid < 0)
		return MEMBER(typed, set, dfl_cgrp);
	css = MEMBER(typed, set, subsys[cfg_ssid]);
	return !typed || css ? MEMBER(typed, css, cgroup) : NULL;
}

static __always_inline struct cgroup *task_cgroup(struct task_struct *t)
{
	return task_cgroup_of(t, true);
}

/* That of its process, as a signal for the process finds it: where the leader is, or was at its
 * end. */
static __always_inline struct cgroup *home_cgroup(struct task_struct *t)
{
	return task_cgroup_of(t->group_leader, true);
}

/*
 * That of its process: in a hierarchy of cgroup v1 each thread may be in another one. A leader that
 * has left stays where it was.
 */
static __always_inline struct cgroup *process_cgroup(struct task_struct *t, const bool typed)
{
	struct task_struct *leader = MEMBER(typed, t, group_leader);

	if (MEMBER(typed, leader, flags) & PF_EXITING)
		return task_cgroup_of(t, typed);
	return task_cgroup_of(leader, typed);
}

static __always_inline struct pid *task_tgid(struct task_struct *t)
{
	return BPF_CORE_READ(t, signal, pids[PIDTYPE_TGID]);
}

/* Its number in its own pid namespace by reads, for a namespace at any level. */
static __always_inline void upid_read(struct task_struct *t, struct upid *ret)
{
	struct pid *pid = task_tgid(t);
	__u32 level = BPF_CORE_READ(pid, level);

	bpf_core_read(ret, sizeof(*ret), &pid->numbers[level]);
}

static __always_inline void upid_of_level(const struct pid *pid, __u32 level, struct upid *ret)
{
	const void *at = pid;

	at += bpf_core_field_offset(struct pid, numbers);
	at += level * bpf_core_type_size(struct upid);
	bpf_probe_read_kernel(ret, sizeof(*ret), at);
}

/*
 * The same with one read, for a namespace that is not deeper than a container in a container. 6.1
 * adds no variable, as the level is, to a pointer to a kernel type. signal is the task's.
 */
static __always_inline void upid_load(struct task_struct *t, const struct signal_struct *signal,
				      struct upid *ret)
{
	struct pid *pid = signal->pids[PIDTYPE_TGID];
	__u32 level = pid ? pid->level : 0;

	if (level == 1)
		upid_of_level(pid, 1, ret);
	else if (!level)
		upid_of_level(pid, 0, ret);
	else if (level == 2)
		upid_of_level(pid, 2, ret);
	else
		upid_read(t, ret);
}

/* The process's number in its own pid namespace and, in *ret_inum, which namespace that is. signal:
 * the task's, where it is typed. */
static __always_inline __u32 task_ns_pid(struct task_struct *t, const struct signal_struct *signal,
					 __u64 *ret_inum, const bool typed)
{
	struct upid up = {};

	if (typed)
		upid_load(t, signal, &up);
	else
		upid_read(t, &up);
	*ret_inum = BPF_CORE_READ(up.ns, ns.inum);
	return up.nr;
}

/*
 * The number of a process, a pointer, in the pid namespace of the init of that container; own, its
 * number in its own namespace, without an init. 0: it has none. Defined once, in init.bpf.c, as
 * watch_walk() is in maps.bpf.c.
 */
__u32 ns_pid_within(__u64 task, __u64 watch_id, __u32 own);

static __always_inline bool task_is_ns_init(struct task_struct *t)
{
	struct pid *pid = task_tgid(t);
	struct upid up = {};

	if (!BPF_CORE_READ(pid, level))
		return false;
	upid_read(t, &up);
	return up.nr == 1;
}

/* The signal that the parent of PID 1 sees it die of, if reboot(2) was called in its pid namespace;
 * else 0. The kernel sets it before it kills PID 1. */
static __always_inline __u32 task_ns_reboot(struct task_struct *t)
{
	struct upid up = {};

	upid_read(t, &up);
	return up.nr == 1 ? BPF_CORE_READ(up.ns, reboot) : 0;
}

static __always_inline void proc_fill_exe(struct graced_proc *p, struct mm_struct *mm,
					  const bool typed)
{
	struct dentry *dentry;
	struct file *exe;

	p->exe[0] = 0;
	exe = MEMBER(typed, mm, exe_file);
	if (!exe)
		return;
	dentry = MEMBER(typed, exe, f_path.dentry);
	bpf_probe_read_kernel_str(p->exe, sizeof(p->exe), MEMBER(typed, dentry, d_name.name));
}

static __always_inline void proc_fill_comm(struct graced_proc *p, struct task_struct *leader,
					   const bool typed)
{
	if (typed) {
		((__u64 *)p->comm)[0] = ((__u64 *)leader->comm)[0];
		((__u64 *)p->comm)[1] = ((__u64 *)leader->comm)[1];
	} else {
		bpf_probe_read_kernel(p->comm, sizeof(p->comm), leader->comm);
	}
}

/* What proc_fill() loads of a task. Where several ways lead there, it is loaded before they part:
 * see lineage_see(). */
struct proc_of {
	struct task_struct *task, *leader;
	const struct cred *cred;
	struct mm_struct *mm;
};

/* Everything but ns_pid, which only some callers need, and where it is, which most know already. */
static __always_inline void proc_fill_of(struct graced_proc *p, const struct proc_of *of,
					 const bool typed)
{
	struct task_struct *t = of->task, *leader = of->leader;
	const struct cred *cred = of->cred;

	p->start_ns = MEMBER(typed, leader, start_boottime);
	p->pid = MEMBER(typed, t, tgid);
	p->ns_pid = 0;
	p->uid = MEMBER(typed, cred, uid.val);
	p->pad = 0;
	proc_fill_comm(p, leader, typed);
	proc_fill_exe(p, of->mm, typed);
}

static __always_inline void proc_fill(struct graced_proc *p, struct task_struct *t,
				      const bool typed)
{
	struct task_struct *leader = MEMBER(typed, t, group_leader);
	const struct proc_of of = {t, leader, MEMBER(typed, t, real_cred),
				   MEMBER(typed, leader, mm)};

	proc_fill_of(p, &of, typed);
}

static __always_inline void proc_place(struct graced_proc *p, const struct place *place)
{
	p->cgroup_id = place->cgroup_id;
	p->watch_id = place->watch_id;
}

#endif
