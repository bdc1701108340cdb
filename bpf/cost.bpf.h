/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the programs cost, measured by themselves. The kernel's own statistics (BPF_ENABLE_STATS)
 * would have every BPF program of the host pay for it, and patch the code of all CPUs each time
 * they are switched. So the programs read the clock, and only in one tick of the kernel's timer out
 * of GRACED_COST_SHARE: in all others this costs a few nanoseconds.
 */
#ifndef GRACED_COST_BPF_H
#define GRACED_COST_BPF_H

#include "graced.bpf.h"

GRACED_SHARED struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GRACED_HOOK_COUNT);
	__type(key, __u32);
	__type(value, struct graced_cost);
} costs SEC(".maps");

/*
 * Takes one of each GRACED_COST_SHARE ticks in a row, at a varying place (the group's number is
 * multiplied by 2^64 / golden ratio): periodic work would be in step with each sixteenth.
 */
static __always_inline bool cost_taken(__u64 tick)
{
	__u64 spread = (tick / GRACED_COST_SHARE) * 0x9e3779b97f4a7c15ULL;

	return tick % GRACED_COST_SHARE == (spread >> 32) % GRACED_COST_SHARE;
}

/* Between the two no state of the verifier differs by whether the tick is taken. */
static __always_inline void cost_begin(__u32 hook)
{
	__u64 tick = bpf_jiffies64(), at_ns;
	struct graced_cost *c;

	if (!cost_taken(tick))
		return;
	c = bpf_map_lookup_elem(&costs, &hook);
	if (!c)
		return;
	at_ns = bpf_ktime_get_ns();
	c->tick = tick;
	c->began_ns = bpf_ktime_get_ns();
	c->clock_ns = c->began_ns - at_ns;
}

/* A run that was not begun in this tick is in no figure: nearly all of what is not was interrupted.
 */
static __always_inline void cost_end(__u32 hook)
{
	__u64 tick = bpf_jiffies64(), took_ns;
	struct graced_cost *c;

	if (!cost_taken(tick))
		return;
	c = bpf_map_lookup_elem(&costs, &hook);
	if (!c || c->tick != tick)
		return;
	took_ns = bpf_ktime_get_ns() - c->began_ns;
	c->tick = 0;
	c->runs++;
	if (took_ns > c->clock_ns)
		c->run_ns += took_ns - c->clock_ns;
}

#endif
