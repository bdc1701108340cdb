// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Exits of processes: once each, with the status of the group. Inits are recorded, others counted. */
#include "again.bpf.h"
#include "cost.bpf.h"
#include "hear.bpf.h"
#include "init.bpf.h"

/*
 * Its pointers are loaded once, before the first branch: from 6.4 on the verifier needs about a
 * millisecond for each load of a pointer, see lineage_see(), and goes through it once for each way
 * that leads there.
 */
struct exiting {
	struct task_struct *task, *leader, *parent;
	struct signal_struct *signal;
	const struct cred *cred;
	struct mm_struct *mm;
};

/* kernel/exit.c, do_group_exit(): the group's status counts only once a group exit began. */
static __always_inline __u32 exit_status(const struct exiting *e)
{
	if (e->signal->flags & SIGNAL_GROUP_EXIT)
		return e->signal->group_exit_code;
	return e->leader->exit_code;
}

/* kernel/pid_namespace.c, zap_pid_ns_processes(): it comes to be the status after this, in place of
 * the SIGKILL by which reboot(2) ends PID 1. */
static __always_inline __u32 status_seen(const struct upid *up, __u32 status)
{
	bool killed = (status & 0x7f) == SIGKILL && up->nr == 1;
	__u32 reboot = killed ? BPF_CORE_READ(up->ns, reboot) : 0;

	return reboot ? reboot : status;
}

/* GRACED_EXIT_ENTERED if its parent is not in the container. Nearly each is in the same cgroup. */
static __always_inline __u32 entered_flag(const struct exiting *e, const struct place *at)
{
	struct task_struct *t = e->task;
	struct cgroup *cg = task_cgroup(e->parent);
	__u64 number;

	if (!cg || cg->kn->id == at->cgroup_id)
		return 0;
	number = (__u64)task_cgroup_of(BPF_CORE_READ(t, real_parent), false);
	return is_set(watch_id_of(number) ^ at->watch_id) * GRACED_EXIT_ENTERED;
}

#define ALLOCATED_MASK 0x7fffffff /* bit 31 of pid_allocated is PIDNS_ADDING */

/* The end of a namespace's init kills all that is left in it, after this and maybe elsewhere. */
static __always_inline bool takes_others(struct task_struct *t)
{
	struct pid *pid = task_tgid(t);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid up = {};

	bpf_core_read(&up, sizeof(up), &pid->numbers[level]);
	return level && up.nr == 1 && (BPF_CORE_READ(up.ns, pid_allocated) & ALLOCATED_MASK) > 1;
}

/* Whether init's stop signal is still pending: no handler, sigwait() or signalfd took it. */
static __always_inline __u32 stop_flags(const struct exiting *e, const struct graced_init *init)
{
	__u32 sig = init->stop_sig;
	__u64 bit = BIT_OF(sig);

	if (sig < 1 || sig > 64)
		return 0;
	if (!(e->signal->shared_pending.signal.sig[0] & bit))
		return disposition_flags(e->task, sig) & GRACED_SIG_IGN ? GRACED_EXIT_STOP_IGNORED
									: 0;
	if (e->task->blocked.sig[0] & bit)
		return GRACED_EXIT_STOP_PENDING | GRACED_EXIT_STOP_BLOCKED;
	return GRACED_EXIT_STOP_PENDING;
}

static __always_inline void look_at(struct graced_ev_exit *ev, struct task_struct *t, __u32 sig)
{
	__u32 flags = disposition_flags(t, sig);

	ev->looked_at |= BIT_OF(sig);
	ev->caught |= (is_set(flags) ^ 1) * BIT_OF(sig);
	ev->ignored |= is_set(flags & GRACED_SIG_IGN) * BIT_OF(sig);
}

/* How init would take now what may be its stop signal: what it did not hear may have come before it
 * had a handler, or before the program that it exec'd last. */
static __always_inline void look(struct graced_ev_exit *ev, const struct exiting *e,
				 const struct graced_watch *w)
{
	__u32 own = w ? w->stop_sig : 0;
	struct task_struct *t = e->task;

	if (!BPF_CORE_READ(t, sighand))
		return;
	look_at(ev, t, SIGINT);
	look_at(ev, t, SIGQUIT);
	look_at(ev, t, SIGTERM);
	look_at(ev, t, SIGHALT);
	if (own >= 1 && own <= 64)
		look_at(ev, t, own);
	ev->blocked = e->leader->blocked.sig[0] & ev->looked_at;
}

static __always_inline void record(const struct exiting *e, const __u64 *ctx,
				   struct graced_watch *w, const struct place *at, __u32 status,
				   const struct graced_init *init)
{
	struct graced_ev_exit *ev = emit_begin(GRACED_EV_EXIT, sizeof(*ev), at->watch_id, w);
	const struct proc_of of = {e->task, e->leader, e->cred, e->mm};
	struct task_struct *t = e->task;
	struct upid up = {};
	__u64 task;

	if (!ev)
		return;
	bpf_probe_read_kernel(&task, sizeof(task), &ctx[0]);
	upid_load(t, e->signal, &up);
	if (loads_may_fail())
		proc_fill_of(&ev->proc, &of, true);
	else
		proc_fill_of(&ev->proc, &of, false);
	proc_place(&ev->proc, at);
	ev->status = status_seen(&up, status);
	ev->flags = init ? GRACED_EXIT_INIT : 0;
	if (!init && watch_recorded(w))
		ev->flags |= entered_flag(e, at);
	if (e->signal->oom_mm)
		ev->flags |= GRACED_EXIT_OOM_VICTIM;
	if (init && takes_others(t))
		ev->flags |= GRACED_EXIT_NS_OTHERS;
	if (init)
		ev->flags |= stop_flags(e, init);
	if (init && awaits_child(t, init->stop_at_ns))
		ev->flags |= GRACED_EXIT_AWAITS_CHILD;
	ev->proc.ns_pid = init ? up.nr : ns_pid_within(task, at->watch_id, up.nr);
	ev->deliver_ns = init ? init->deliver_ns : 0;
	ev->stop_at_ns = init ? init->stop_at_ns : 0;
	ev->exec_ns = init ? init->exec_ns : 0;
	ev->parent_pid = e->parent->tgid;
	ev->others_missed = 0;
	ev->looked_at = ev->caught = ev->ignored = ev->blocked = 0;
	if (init)
		look(ev, e, w);
	if (w) {
		__builtin_memcpy(&ev->counts, &w->counts, sizeof(ev->counts));
		ev->others_missed = w->others_missed;
	} else {
		__builtin_memset(&ev->counts, 0, sizeof(ev->counts));
	}
	emit_end(ev, init ? GRACED_URGENT : GRACED_SOON);
}

#define EEXIST 17

/* Where the kernel does not say which thread is the last, several may look like it: first wins. */
static __always_inline bool first_to_report(const struct exiting *e)
{
	struct gate_key key = {.start_ns = e->leader->start_boottime, .pid = e->task->tgid};
	__u8 one = 1;

	return bpf_map_update_elem(&gate, &key, &one, BPF_NOEXIST) != -EEXIST;
}

/* One entry for each container: that of an init that is never waited for would never be deleted. */
static __always_inline void reap_expect(const struct exiting *e, struct graced_watch *w, __u64 id)
{
	struct graced_reap r = {.watch_id = id, .start_ns = e->leader->start_boottime};
	__u32 pid = e->task->tgid;

	if (!reaps_seen)
		return;
	reap_forget(id, w);
	reap_delete(pid);
	if (bpf_map_update_elem(&reaps, &pid, &r, BPF_NOEXIST))
		return;
	__sync_fetch_and_add(&reaps_due, 1);
	w->reap_pid = pid;
}

/* The container's init, found by this exit if need be; NULL: it has none. */
static __always_inline struct graced_init *init_of(const __u64 *ctx, __u64 watch_id)
{
	struct graced_init *i = bpf_map_lookup_elem(&inits, &watch_id);
	__u64 task;

	if (init_is_settled(i))
		return i;
	bpf_probe_read_kernel(&task, sizeof(task), &ctx[0]);
	return init_find(task, watch_id) ? bpf_map_lookup_elem(&inits, &watch_id) : i;
}

/* What may be why its init exits, or happens while it is stopped. */
static __always_inline bool may_matter(const struct exiting *e, struct graced_init *i, __u32 status)
{
	__u32 code = status >> 8 & 0xff;

	if (status & 0x7f || code > 128 || is_stopping(i))
		return true;
	return code && i && i->pid && i->pid == e->parent->tgid;
}

static __always_inline void exit_seen(const __u64 *ctx, bool gated)
{
	struct exiting e = {.task = (void *)ctx[0]};
	struct graced_init *i = NULL;
	struct graced_watch *w;
	struct place at;
	__u32 status;
	bool init, noisy, all;

	e.leader = e.task->group_leader;
	w = container_at(task_cgroup(e.leader), &at);
	if (!w && !cfg_all)
		return;
	e.signal = e.task->signal;
	e.parent = e.task->real_parent;
	e.cred = e.task->real_cred;
	e.mm = e.leader->mm;
	if (gated && !first_to_report(&e))
		return;
	if (watch_recorded(w))
		i = init_of(ctx, at.watch_id);
	init = i && i->pid == e.task->tgid;
	noisy = !init && is_noisy(at.watch_id);
	if (noisy && !cfg_all)
		return;
	status = exit_status(&e);
	if (i && !status && i->stage_pid == e.task->tgid)
		init_stage_left(at.watch_id);
	if (w && !noisy)
		__sync_fetch_and_add(&w->counts.exits, 1);
	all = cfg_all && status & 0x7f;
	if (all && noisy)
		stat_add(GRACED_EV_EXIT, 0, 0, 1);
	else if (init || all ||
		 (!noisy && watch_recorded(w) && may_matter(&e, i, status) &&
		  others_take(w, &at, GRACED_EV_EXIT)))
		record(&e, ctx, w, &at, status, init ? i : NULL);
	if (init) {
		i->pid = 0;
		w->ending_pid = e.task->tgid;
		doom_end(at.watch_id);
		reap_expect(&e, w, at.watch_id);
	}
}

static struct again exits;

/* For kernels whose tracepoint says which thread is the last (Linux 6.16): their BTF shows it. */
SEC("tp_btf/sched_process_exit")
int on_exit_dead(__u64 *ctx)
{
	/* The kernel counts it as missed for each thread. */
	again_note(&exits, ctx);
	if (!(ctx[1] & 1))
		return 0;
	cost_begin(GRACED_HOOK_EXIT);
	exit_seen(ctx, cfg_again);
	cost_end(GRACED_HOOK_EXIT);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit_again(__u64 *ctx)
{
	if (!again_take(&exits, ctx, GRACED_AGAIN_EXIT) || !(ctx[1] & 1))
		return 0;
	cost_begin(GRACED_HOOK_EXIT_AGAIN);
	exit_seen(ctx, true);
	cost_end(GRACED_HOOK_EXIT_AGAIN);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit_live(__u64 *ctx)
{
	struct task_struct *t = (void *)ctx[0];

	if (t->signal->live.counter)
		return 0;
	cost_begin(GRACED_HOOK_EXIT);
	exit_seen(ctx, true);
	cost_end(GRACED_HOOK_EXIT);
	return 0;
}
