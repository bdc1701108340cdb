// SPDX-License-Identifier: Apache-2.0
/* A binary heap whose members know their place in it. */
#include "base/deadline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/room.h"

void deadline_queue_done(struct deadline_queue *q)
{
	free(q->heap);
	*q = (struct deadline_queue){};
}

static void place(struct deadline_queue *q, size_t i, struct deadline *d)
{
	q->heap[i] = d;
	d->pos = i + 1;
}

static void sift_up(struct deadline_queue *q, size_t i)
{
	struct deadline *d = q->heap[i];

	while (i > 0 && q->heap[(i - 1) / 2]->at_ns > d->at_ns) {
		place(q, i, q->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(q, i, d);
}

static void sift_down(struct deadline_queue *q, size_t i)
{
	struct deadline *d = q->heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < q->count; i = child) {
		if (child + 1 < q->count && q->heap[child + 1]->at_ns < q->heap[child]->at_ns)
			child++;
		if (q->heap[child]->at_ns >= d->at_ns)
			break;
		place(q, i, q->heap[child]);
	}
	place(q, i, d);
}

static void take_out(struct deadline_queue *q, struct deadline *d)
{
	size_t i = d->pos - 1;
	struct deadline *last = q->heap[--q->count];

	d->pos = 0;
	if (last == d)
		return;
	place(q, i, last);
	sift_up(q, i);
	sift_down(q, last->pos - 1);
}

int deadline_set(struct deadline_queue *q, struct deadline *d, uint64_t at_ns)
{
	if (d->pos)
		take_out(q, d);
	d->at_ns = at_ns;
	if (!at_ns)
		return 0;
	if (!ROOM_FOR_ONE(q->heap, q->count, q->room, 64))
		return -ENOMEM;
	place(q, q->count++, d);
	sift_up(q, q->count - 1);
	return 0;
}

struct deadline *deadline_first(const struct deadline_queue *q)
{
	return q->count ? q->heap[0] : NULL;
}

uint64_t deadline_first_ns(const struct deadline_queue *q)
{
	const struct deadline *first = deadline_first(q);

	return first ? first->at_ns : 0;
}
