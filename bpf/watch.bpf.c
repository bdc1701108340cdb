// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the daemon changes of an entry that is there already. It has the kernel half do it: writing
 * the value back from outside would take away what was counted in it meanwhile.
 */
#include "stop.bpf.h"

/*
 * Attached nowhere, run by the daemon: ctx is a cgroup id and a kind. 0: there is no such entry.
 * since_ns is a moment at which the kind is there: a process that starts later is recorded from its
 * start. Until it is set each process counts as one that was there before.
 */
SEC("raw_tp")
int set_kind(__u64 *ctx)
{
	__u64 id = ctx[0];
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);
	bool begins;

	if (!w)
		return 0;
	begins = !watch_recorded(w) || w->since_ns == GRACED_SINCE_UNKNOWN;
	if (begins)
		*(volatile __u64 *)&w->since_ns = GRACED_SINCE_UNKNOWN;
	*(volatile __u32 *)&w->kind = ctx[1];
	/* Only now: a look-up in between would find the old kind, and count as one after the
	 * change. */
	__sync_fetch_and_add(&watch_changes, 1);
	__sync_fetch_and_add(&outside_changes, 1);
	if (begins)
		w->told_at_ns = w->since_ns = bpf_ktime_get_boot_ns();
	return 1;
}

/* The same with a signal, the container's own stop signal; 0 takes it back. */
SEC("raw_tp")
int set_stop(__u64 *ctx)
{
	__u64 id = ctx[0];
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);

	if (!w)
		return 0;
	w->stop_sig = ctx[1];
	if (w->stop_sig)
		own_stops |= BIT_OF(w->stop_sig);
	return 1;
}
