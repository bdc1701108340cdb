/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of deadlines: things that want to be looked at when a time has come, soonest first.
 * Intrusive: a deadline lives in its owner, and one that is not queued has pos 0.
 */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stddef.h>
#include <stdint.h>

struct deadline {
	uint64_t at_ns;
	size_t pos; /* index + 1 in the queue; 0: not queued */
};

struct deadline_queue {
	struct deadline **heap;
	size_t count, room;
};

/* Frees the queue; what was queued is left as it is. */
void deadline_queue_done(struct deadline_queue *q);

/* Queues d for at_ns, or moves it there; at_ns 0 takes it out. 0 or -ENOMEM. */
int deadline_set(struct deadline_queue *q, struct deadline *d, uint64_t at_ns);

/* The soonest, left in the queue; NULL when there is none. */
struct deadline *deadline_first(const struct deadline_queue *q);

/* When that is; 0 when there is none. */
uint64_t deadline_first_ns(const struct deadline_queue *q);

#endif
