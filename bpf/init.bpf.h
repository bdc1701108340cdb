/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which process of a container is its init.
 *
 * The first process that execs in a container while its parent is outside is the init: on_exec().
 * It stays the init for as long as any process is left in the container. Only the stages of the
 * runtime (runc init and its like), which also come in from outside and exec, are skipped. Their
 * program's name alone makes none: a container may run a program of any name. Their parent is the
 * runtime, too. PID 1 of a pid namespace further down never replaces the init:
 * that may be a sandbox that the container made, and once its parent has died the process that
 * adopts it may be outside of the container.
 *
 * An init that never execs (restored by CRIU, or forked by a server that moves its children) is
 * found when a signal is sent to it or when it exits: init_find(). Unless it is PID 1 of a pid
 * namespace it is a guess, and once a guess has exited, the next process that execs is the init.
 *
 * If a process execs while an older one from outside is there that has not exec'd, there are two
 * possibilities. The new one is the init, and the older one a stage of a runtime with an unknown
 * name. Or the older one is an init that never execs, and the new one was added to its container.
 * So the new one is a guess. If the older one is its sibling and young, as a stage is that clones
 * the init with CLONE_PARENT, and soon exits with 0, the guess is confirmed: init_stage_left().
 */
#ifndef GRACED_INIT_BPF_H
#define GRACED_INIT_BPF_H

#include "stop.bpf.h"

#include "graced/runtime.h"

/* Whether a program of that name, its first 15 bytes, is a runtime or a copy that a runtime made of
 * itself in memory. */
static __always_inline bool is_runtime_name(__u64 low, __u64 high)
{
	graced_name_plain(&low, &high);
	return graced_makes_containers(low);
}

/* The program that a process runs, by reads: whether it is a runtime's, and its size. */
struct program {
	bool is_runtime;
	__s64 size;
};

static __always_inline void program_read(struct task_struct *t, struct program *ret)
{
	struct file *exe = BPF_CORE_READ(t, mm, exe_file);
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(exe, f_path.dentry, d_name.name));
	ret->is_runtime = is_runtime_name(name[0], name[1]);
	ret->size = BPF_CORE_READ(exe, f_inode, i_size);
}

/*
 * runc 1.1 executes itself again (libcontainer/nsenter/cloned_binary.c) while its parent, which is
 * runc as well, moves it into the container's cgroup: a stage that may exec in there, too. A
 * container may call its program runc, but that is not the one that its parent runs.
 */
static __always_inline bool is_exec_of_stage(struct task_struct *t)
{
	struct program own, parent;

	program_read(t, &own);
	if (!own.is_runtime)
		return false;
	program_read(BPF_CORE_READ(t, real_parent), &parent);
	return parent.is_runtime && own.size == parent.size;
}

/* The process that t's pid namespace hands orphans to is another one, and in the same container. */
static __always_inline bool is_joined(struct task_struct *t, __u64 watch_id)
{
	struct task_struct *reaper;
	struct upid up = {};

	if (!BPF_CORE_READ(task_tgid(t), level))
		return false;
	upid_read(t, &up);
	reaper = BPF_CORE_READ(up.ns, child_reaper);
	if (!reaper || BPF_CORE_READ(reaper, tgid) == BPF_CORE_READ(t, tgid))
		return false;
	return watch_id_of((__u64)task_cgroup_of(reaper, false)) == watch_id;
}

/* The init is known for as long as the cgroup holds a process. init may be NULL. */
static __always_inline bool init_is_settled(const struct graced_init *init)
{
	return init && (init->pid || init->rank != GRACED_INIT_GUESSED);
}

/* How long a stage may live before the init execs, and how long after that; as STAGE_NS in
 * user/core/engine/wait.c. */
#define STAGE_NS 3000000000ULL

static __always_inline void init_tell(struct task_struct *t, struct graced_watch *w,
				      const struct place *at, const struct graced_init *init,
				      bool late)
{
	__u64 inum, id = at->watch_id;
	struct graced_ev_init *ev;

	ev = emit_begin(GRACED_EV_INIT, sizeof(*ev), id, w);
	if (!ev)
		return;
	ev->rank = init->rank;
	ev->keeper_pid = init->keeper_pid;
	ev->pad = 0;
	proc_fill(&ev->proc, t, false);
	proc_place(&ev->proc, at);
	ev->proc.ns_pid = task_ns_pid(t, NULL, &inum, false);
	ev->flags = late ? GRACED_INIT_LATE : 0;
	emit_end(ev, GRACED_SOON);
}

/* The pid namespace of a process, a pointer, by GRACED_PIDNS(). In a function of its own, as
 * init_find() is below. */
__u32 init_pidns(__u64 task);

/* From now on t is the init of the container that it is in. stage_pid and keeper_pid may be 0. */
static __always_inline void init_set(struct task_struct *t, struct graced_watch *w,
				     const struct place *at, __u32 pidns, __u32 rank,
				     __u32 stage_pid, __u32 keeper_pid)
{
	struct graced_init init = {
		.start_ns = BPF_CORE_READ(t, group_leader, start_boottime),
		.pid = BPF_CORE_READ(t, tgid),
		.rank = rank,
		.stage_pid = stage_pid,
		.until_ns = bpf_ktime_get_boot_ns() + STAGE_NS,
		.keeper_pid = keeper_pid,
		.pidns = pidns,
	};
	__u64 id = at->watch_id;

	if (!life_take(id) || bpf_map_update_elem(&inits, &id, &init, BPF_ANY))
		return;
	init_tell(t, w, at, &init,
		  init.start_ns < w->since_ns || init.pid == w->early_pid ||
			  w->early_pid == GRACED_EARLY_SEVERAL);
}

/*
 * A signal came to this process, or it exits, in a container without a settled init: whether it is
 * the init from now on. task is a pointer. Defined once, in init.bpf.c, as a global function of
 * numbers, as watch_walk() is.
 */
__u32 init_find(__u64 task, __u64 watch_id);

/*
 * The pid of a process that came into the container from outside before this one, which execs
 * there, and that may be its init, with OLDER_SIBLING if both have the same parent and the other is
 * as young as a stage; 0 without such a process.
 */
#define OLDER_SIBLING (1ULL << 32)
__u64 init_older(__u64 task, __u64 watch_id);

/* The stage_pid of the container's init has exited with 0, as a stage does: if that was in time,
 * the init is no guess any more. */
__u32 init_stage_left(__u64 watch_id);

#endif
