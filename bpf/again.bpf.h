/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A second program behind one that may not have run.
 *
 * The kernel runs a program on a CPU for one task at a time, and drops the event of another
 * (recursion_misses). Since Linux 7.0 tracepoints leave preemption on: a task is preempted within
 * the program at 0 ms, and until it runs again, say at 3 ms, no exit on that CPU is seen. Turning
 * preemption off within the program does not help, since the task is then preempted where it is
 * turned on again, which is within it, too.
 *
 * So the second program, which is dropped for reasons of its own, does what the first has not done
 * for this task, and counts it. Lost is what both were dropped for: the first's recursion_misses
 * less that count.
 *
 * Its weakness: the first notes the task in a table, by its CPU. If it is preempted between the two
 * and comes back on another CPU, or after one with the same hash, the second does it once more and
 * counts one too many. The daemon sees that when the difference falls (app/live/losses).
 */
#ifndef GRACED_AGAIN_BPF_H
#define GRACED_AGAIN_BPF_H

#include "graced.bpf.h"

#define AGAIN_CPUS  64 /* powers of two */
#define AGAIN_TASKS 64

struct again {
	/* The first has run for them, and the second not yet. */
	__u64 tasks[AGAIN_CPUS * AGAIN_TASKS];
};

/* ctx begins with the task. */
static __always_inline __u64 again_task(const __u64 *ctx)
{
	__u64 task;

	bpf_probe_read_kernel(&task, sizeof(task), &ctx[0]);
	return task;
}

/* A task is larger than 256 bytes. */
static __always_inline __u64 *again_slot(struct again *a, __u64 task)
{
	__u32 cpu = bpf_get_smp_processor_id() % AGAIN_CPUS;

	return a->tasks + cpu * AGAIN_TASKS + (task >> 8) % AGAIN_TASKS;
}

static __always_inline void again_note(struct again *a, const __u64 *ctx)
{
	__u64 task;

	if (!cfg_again)
		return;
	task = again_task(ctx);
	*again_slot(a, task) = task;
}

/* Whether the second has to do it, which counts. */
static __always_inline bool again_take(struct again *a, const __u64 *ctx, enum graced_again which)
{
	__u64 task = again_task(ctx), *slot = again_slot(a, task);

	if (*slot == task) {
		*slot = 0;
		return false;
	}
	__sync_fetch_and_add(&again_runs[which], 1);
	return true;
}

#endif
