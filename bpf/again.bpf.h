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
 * Its weakness: the first notes the task in a table by its hash. If another task with the same hash
 * comes in between, the second does it once more and counts one too many.
 */
#ifndef GRACED_AGAIN_BPF_H
#define GRACED_AGAIN_BPF_H

#include "graced.bpf.h"

#define AGAIN_TASKS 512 /* a power of two */

struct again {
	__u64 tasks[AGAIN_TASKS]; /* the first has run for them, and the second not yet */
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
	return a->tasks + (task >> 8) % AGAIN_TASKS;
}

static __always_inline void again_note(struct again *a, const __u64 *ctx)
{
	__u64 task;

	if (!cfg_again)
		return;
	task = again_task(ctx);
	*again_slot(a, task) = task;
}

/* Whether the second has something to do. */
static __always_inline bool again_due(struct again *a, const __u64 *ctx, enum graced_again which)
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
