// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Inits whose parent has waited for them. */
#include "cost.bpf.h"

static __always_inline void reap_seen(struct task_struct *t)
{
	struct graced_ev_reaped *ev;
	struct graced_watch *w;
	struct graced_reap *r;
	__u64 id, start_ns;
	__u32 pid = t->pid;

	if (pid != t->tgid)
		return;
	r = bpf_map_lookup_elem(&reaps, &pid);
	if (!r || r->start_ns != t->start_boottime)
		return;
	id = r->watch_id;
	start_ns = r->start_ns;
	if (!reap_delete(pid))
		return;
	w = bpf_map_lookup_elem(&watched, &id);
	ev = emit_begin(GRACED_EV_REAPED, sizeof(*ev), id, w);
	if (!ev)
		return;
	ev->start_ns = start_ns;
	ev->pid = pid;
	ev->pad = 0;
	emit_end(ev, GRACED_SOON);
}

/* Runs for each thread and process that the kernel frees; nearly always none is expected. */
SEC("fentry/release_task")
int on_reap(__u64 *ctx)
{
	if (!reaps_due)
		return 0;
	cost_begin(GRACED_HOOK_REAP);
	reap_seen((void *)ctx[0]);
	cost_end(GRACED_HOOK_REAP);
	return 0;
}
