// SPDX-License-Identifier: Apache-2.0
/* Holds two looks at what containers did against each other. */
#include "core/load/noisy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
	const struct noisy_work *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_events(const void *a, const void *b)
{
	const struct noisy_work *x = a, *y = b;

	return (x->events < y->events) - (x->events > y->events);
}

void noisy_done(struct noisy *noisy)
{
	free(noisy->before);
	*noisy = (struct noisy){};
}

int noisy_look(struct noisy *noisy, struct noisy_work *work, size_t n)
{
	struct noisy_work *before = calloc(n + 1, sizeof(*before));

	if (!before)
		return -ENOMEM;
	if (n) {
		qsort(work, n, sizeof(*work), by_id);
		memcpy(before, work, n * sizeof(*work));
	}
	free(noisy->before);
	noisy->before = before;
	noisy->n_before = n;
	return 0;
}

static bool is_listed(const struct noisy_work *sorted, size_t n, uint64_t id)
{
	const struct noisy_work key = {.id = id};

	return n && bsearch(&key, sorted, n, sizeof(*sorted), by_id);
}

static bool is_marked(const struct noisy *noisy, uint64_t id)
{
	for (size_t i = 0; i < noisy->n_marked; i++)
		if (noisy->marked[i] == id)
			return true;
	return false;
}

static void forget_gone(struct noisy *noisy, const struct noisy_work *sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < noisy->n_marked; i++)
		if (is_listed(sorted, n, noisy->marked[i]))
			noisy->marked[kept++] = noisy->marked[i];
	noisy->n_marked = kept;
}

/* What was there before the first look counts from then on only. Returns the sum. */
static uint64_t subtract(const struct noisy *noisy, struct noisy_work *work, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		const struct noisy_work *before = NULL;

		if (noisy->n_before)
			before = bsearch(work + i, noisy->before, noisy->n_before, sizeof(*before),
					 by_id);
		if (before)
			work[i].events -=
				before->events < work[i].events ? before->events : work[i].events;
		total += work[i].events;
	}
	return total;
}

size_t noisy_choose(struct noisy *noisy, struct noisy_work *work, size_t n, uint64_t floor)
{
	size_t fresh = 0;
	uint64_t total;

	if (!noisy->before)
		return 0;
	if (n)
		qsort(work, n, sizeof(*work), by_id);
	forget_gone(noisy, work, n);
	total = subtract(noisy, work, n);
	free(noisy->before);
	noisy->before = NULL;
	if (n)
		qsort(work, n, sizeof(*work), by_events);
	for (size_t i = 0; i < n && noisy->n_marked < NOISY_MAX; i++) {
		if (work[i].events < floor || work[i].events <= total / 10)
			break;
		if (is_marked(noisy, work[i].id))
			continue;
		noisy->marked[noisy->n_marked++] = work[i].id;
		work[fresh++] = work[i];
	}
	return fresh;
}

bool noisy_release(struct noisy *noisy, uint64_t *ret_id)
{
	if (!noisy->n_marked)
		return false;
	*ret_id = noisy->marked[--noisy->n_marked];
	return true;
}
