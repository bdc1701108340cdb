// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Signals as they are taken: current is the target, about to run its handler or to die. What is
 * fetched by sigwait() or from a signalfd does not come by here.
 */
#include "cost.bpf.h"
#include "stop.bpf.h"

/*
 * One without a handler can get this far when it was blocked before: if it is ignored, or the
 * default of a shielded init, the kernel drops it now.
 */
static __always_inline bool is_dropped(const struct k_sigaction *action, __u32 sig)
{
	struct task_struct *current = (void *)bpf_get_current_task();
	void *handler = BPF_CORE_READ(action, sa.sa_handler);

	if (sig == SIGKILL || handler > (void *)1)
		return false;
	return handler || BPF_CORE_READ(current, signal, flags) & SIGNAL_UNKILLABLE;
}

/* The init whose container current is in; NULL: none. */
static __always_inline struct graced_init *init_here(struct place *at)
{
	struct graced_watch *w;

	if (loads_may_fail())
		w = container_at(task_cgroup(bpf_get_current_task_btf()), at);
	else
		w = watch_of_read(task_cgroup_of((void *)bpf_get_current_task(), false), at);
	return watch_recorded(w) ? bpf_map_lookup_elem(&inits, &at->watch_id) : NULL;
}

static __always_inline void deliver_seen(const __u64 *ctx, __u32 sig)
{
	struct graced_init *i;
	struct place at = {};

	i = init_here(&at);
	if (!i || i->await_sig != sig || i->deliver_ns)
		return;
	if (i->pid != bpf_get_current_pid_tgid() >> 32 || is_dropped((void *)ctx[2], sig))
		return;
	if (sig == SIGKILL && !doom_end(at.watch_id))
		return;
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
