/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which containers cause most of the work: their counts are read twice, and those that did much
 * more than others in between are marked, until all marks are removed.
 */
#ifndef CORE_LOAD_NOISY_H
#define CORE_LOAD_NOISY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOISY_MAX 16 /* marked at once */

/* How much a container has made the kernel half do since it was made. */
struct noisy_work {
	uint64_t id;
	uint64_t events;
};

/* All zero: no container is marked, and nothing was looked at. */
struct noisy {
	uint64_t marked[NOISY_MAX];
	size_t n_marked;
	struct noisy_work *before; /* the first look, sorted by id; NULL: there was none */
	size_t n_before;
};

void noisy_done(struct noisy *noisy);

/* The first look; work is sorted. 0 or -ENOMEM, when the look before stays. */
int noisy_look(struct noisy *noisy, struct noisy_work *work, size_t n);

static inline bool noisy_is_looking(const struct noisy *noisy)
{
	return noisy->before;
}

/*
 * The second look: forgets marked containers that are not in work any more, and marks those that
 * did more than a tenth of all since the first look and at least `floor` events, the busiest first.
 * Returns how many are new; they stand at the front of work, with what they did in between. Does
 * nothing without a first look.
 */
size_t noisy_choose(struct noisy *noisy, struct noisy_work *work, size_t n, uint64_t floor);

/* Removes the mark of the container marked last: true, and its id. */
bool noisy_release(struct noisy *noisy, uint64_t *ret_id);

#endif
