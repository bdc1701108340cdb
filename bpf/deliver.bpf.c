// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Signals as they are taken: current is the target, about to run its handler or to die. What is
 * fetched by sigwait() or from a signalfd does not come by here.
 */
#include "cost.bpf.h"
#include "hear.bpf.h"

/* The container of the process that current is a thread of; NULL: none. */
static __always_inline struct graced_watch *container_here(struct place *at)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct graced_watch *w;

	if (loads_may_fail())
		w = container_at(home_cgroup(bpf_get_current_task_btf()), at);
	else
		w = watch_of_read(task_cgroup_of(BPF_CORE_READ(t, group_leader), false), at);
	return watch_recorded(w) ? w : NULL;
}

/*
 * The action in force, as it is used now. One without a handler can get this far when it was
 * blocked before: if it is ignored, or the default of a shielded init, the kernel drops it.
 */
static __always_inline __u32 action_flags(const __u64 *ctx)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	const struct k_sigaction *action = (void *)ctx[2];
	__u64 handler = (__u64)BPF_CORE_READ(action, sa.sa_handler);

	return (is_set(handler) ^ 1) * GRACED_SIG_DFL | (is_set(handler ^ 1) ^ 1) * GRACED_SIG_IGN |
	       is_set(BPF_CORE_READ(current, signal, flags) & SIGNAL_UNKILLABLE) *
		       GRACED_SIG_SHIELDED;
}

static __always_inline bool is_dropped(__u32 flags)
{
	return flags & GRACED_SIG_IGN || (flags & GRACED_SIG_DFL && flags & GRACED_SIG_SHIELDED);
}

/*
 * By raise(3) or its like, in whatever pid namespace: numbers of a sender outside are 0. What
 * others queue by rt_sigqueueinfo() has the number that they write there.
 */
static __always_inline bool is_own(const __u64 *ctx, const struct graced_init *i, __u32 sig)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	const struct kernel_siginfo *info = (void *)ctx[1];
	__s32 code = BPF_CORE_READ(info, si_code), pid = BPF_CORE_READ(info, _sifields._kill._pid);
	struct upid up = {};

	if (code == CODE_QUEUE)
		return i->queued_own & BIT_OF(sig);
	if (code != CODE_USER && code != CODE_TKILL)
		return false;
	upid_read(current, &up);
	return pid && pid == up.nr;
}

static __always_inline void record_taken(struct graced_watch *w, const struct place *at,
					 struct graced_init *i, __u32 sig, __u32 flags)
{
	struct graced_ev_taken *ev;

	i->takes--;
	ev = emit_begin(GRACED_EV_TAKEN, sizeof(*ev), at->watch_id, w);
	if (!ev)
		return;
	ev->sig = sig;
	ev->flags = flags;
	ev->pid = i->pid;
	ev->pad = 0;
	emit_end(ev, GRACED_SOON);
}

/* The signal that opened its stop was in vain: the next one opens another. */
static __always_inline void stop_close(struct graced_init *i)
{
	i->stop_sig = 0;
	i->await_sig = 0;
}

static __always_inline void deliver_seen(const __u64 *ctx, __u32 sig)
{
	struct graced_watch *w;
	struct graced_init *i;
	struct place at = {};
	__u32 flags;

	w = container_here(&at);
	i = w ? bpf_map_lookup_elem(&inits, &at.watch_id) : NULL;
	if (!i || i->pid != bpf_get_current_pid_tgid() >> 32)
		return;
	if (sig == SIGKILL) {
		if (i->await_sig == SIGKILL && !i->deliver_ns && doom_end(at.watch_id))
			i->deliver_ns = bpf_ktime_get_boot_ns();
		return;
	}
	if (!(taken_set(w) & BIT_OF(sig)))
		return;
	flags = action_flags(ctx);
	/* It comes from outside of the namespace, and no shield holds it off. */
	if (sig == SIGSTOP)
		flags &= ~(__u32)GRACED_SIG_SHIELDED;
	if (is_own(ctx, i, sig))
		flags |= GRACED_TAKEN_OWN;
	if (i->takes)
		record_taken(w, &at, i, sig, flags);
	if (i->await_sig != sig || i->deliver_ns || (flags & GRACED_TAKEN_OWN && !i->joined))
		return;
	if (is_dropped(flags))
		stop_close(i);
	else
		i->deliver_ns = bpf_ktime_get_boot_ns();
}

/* A stop signal that is fatal comes by here as the SIGKILL that it is turned into. */
SEC("tp_btf/signal_deliver")
int on_deliver(__u64 *ctx)
{
	__u32 sig = ctx[0];

	if (!((STOP_SET | BIT_OF(SIGKILL) | own_stops) & BIT_OF(sig)))
		return 0;
	if (sig == SIGKILL && !dying)
		return 0;
	cost_begin(GRACED_HOOK_DELIVER);
	deliver_seen(ctx, sig);
	cost_end(GRACED_HOOK_DELIVER);
	return 0;
}
