// SPDX-License-Identifier: Apache-2.0
/* Puts records in order, without those that are repeated, and builds the stories of each boot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/account/chapter.h"

/* --- the records in order -------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	const struct account_record *x = *(struct account_record *const *)a,
				    *y = *(struct account_record *const *)b;
	int order = (int)x->type - (int)y->type;

	if (order == 0)
		order = compare_text(x->id, y->id);
	return order ? order : compare_number(x->order, y->order);
}

/* A repeated record has the same id; the first of them stays. */
static void drop_repeated(struct account_log *log)
{
	size_t n = 0;

	qsort(log->records, log->n, sizeof(*log->records), compare_ids);
	for (size_t i = 0; i < log->n; i++) {
		const struct account_record *last = n ? log->records[n - 1] : NULL,
					    *next = log->records[i];

		if (last && next->id && last->type == next->type &&
		    compare_text(last->id, next->id) == 0)
			log->repeated++;
		else
			log->records[n++] = log->records[i];
	}
	log->n = n;
}

static struct account_record *find_stop(const struct account_log *log, const char *id)
{
	const struct account_record wanted = {.type = RECORD_STOP, .id = id}, *key = &wanted;
	size_t low = 0, high = log->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct account_record *at = log->records[middle];
		int order = (int)at->type - (int)key->type;

		if (order == 0)
			order = compare_text(at->id, id);
		if (order == 0)
			return log->records[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* What emptied after its stop was recorded has a record of that. */
static void join_empties(struct account_log *log)
{
	for (size_t i = 0; i < log->n; i++) {
		const struct account_record *empty = log->records[i];
		struct account_record *record;

		if (empty->type != RECORD_EMPTY || !empty->id)
			continue;
		record = find_stop(log, empty->id);
		if (record && !record->stop.of->empty_ns)
			record->stop.of->empty_ns = empty->empty_ns;
	}
}

static int compare_times(const void *a, const void *b)
{
	const struct account_record *x = *(struct account_record *const *)a,
				    *y = *(struct account_record *const *)b;
	int order = compare_text(x->node, y->node);

	if (order == 0)
		order = compare_text(x->boot, y->boot);
	if (order == 0)
		order = compare_number(x->at_ns, y->at_ns);
	return order ? order : compare_number(x->order, y->order);
}

/* --- stories --------------------------------------------------------------------------------- */

static int64_t wall_begin(const struct account_story *story)
{
	return (int64_t)(story->begin_ns + (uint64_t)story->wall_offset_ns);
}

static int compare_stories(const void *a, const void *b)
{
	const struct account_story *x = *(struct account_story *const *)a,
				   *y = *(struct account_story *const *)b;
	int order = compare_text(x->node, y->node);

	if (order == 0 && compare_text(x->boot, y->boot) == 0)
		return compare_number(x->begin_ns, y->begin_ns);
	if (order == 0 && wall_begin(x) != wall_begin(y))
		return wall_begin(x) < wall_begin(y) ? -1 : 1;
	return order ? order : compare_text(x->boot, y->boot);
}

static bool same_boot(const struct account_record *a, const struct account_record *b)
{
	return compare_text(a->node, b->node) == 0 && compare_text(a->boot, b->boot) == 0;
}

/* The records of one node, which are by boot: those of none come first. */
static int write_node(struct account_log *log, const struct account_query *query,
		      struct account_record **records, size_t n, struct account *ret)
{
	size_t begin = 0, n_floating = 0;
	int r = 0;

	while (n_floating < n && !records[n_floating]->boot)
		n_floating++;
	begin = n_floating;
	for (size_t i = begin + 1; r == 0 && i <= n; i++) {
		struct chapter_source from = {.query = query,
					      .records = records + begin,
					      .n = i - begin,
					      .floating = records,
					      .n_floating = n_floating};

		if (i < n && same_boot(records[begin], records[i]))
			continue;
		from.only_boot = begin == n_floating && i == n;
		if (!query->boot || strcmp(query->boot, records[begin]->boot) == 0)
			r = chapter_write(&from, log->arena, log, ret);
		begin = i;
	}
	return r;
}

static bool overlaps(const struct account_query *query, const struct account_story *story)
{
	int64_t begin = wall_begin(story), length = (int64_t)(story->end_ns - story->begin_ns);

	return (!query->until_ns || begin <= query->until_ns) &&
	       (!query->since_ns || begin + length >= query->since_ns);
}

int account_build(struct account_log *log, const struct account_query *query, struct account *ret)
{
	size_t begin = 0, n = 0;
	int r = 0;

	*ret = (struct account){};
	/* Without any there is no array that could be sorted. */
	if (!log->n)
		return 0;
	drop_repeated(log);
	join_empties(log);
	qsort(log->records, log->n, sizeof(*log->records), compare_times);
	/* A shutdown has a record at least, and so has the rest of a boot. */
	ret->stories = arena_array(log->arena, 2 * log->n, sizeof(*ret->stories));
	if (!ret->stories)
		return -ENOMEM;
	for (size_t i = 1; r == 0 && i <= log->n; i++) {
		if (i < log->n &&
		    compare_text(log->records[begin]->node, log->records[i]->node) == 0)
			continue;
		r = write_node(log, query, log->records + begin, i - begin, ret);
		begin = i;
	}
	for (size_t i = 0; i < ret->n; i++)
		if (overlaps(query, ret->stories[i]))
			ret->stories[n++] = ret->stories[i];
	ret->n = n;
	qsort(ret->stories, ret->n, sizeof(*ret->stories), compare_stories);
	return r;
}

/* --- what follows from a story --------------------------------------------------------------- */

bool account_is_partial(const struct account_story *story)
{
	const struct account_partial *p = &story->partial;

	return p->lost.events || p->lost.cgroups || p->lost_somewhere || p->gaps || p->unrecorded ||
	       p->begin_unseen || p->end_unseen || p->restarts || p->ended || p->cut ||
	       p->unreadable || p->dropped || p->newer ||
	       (story->end && story->end->end != BOOT_END_CLEAN);
}

uint64_t account_lock_end(const struct account_story *story)
{
	if (!story->lock_held)
		return 0;
	return story->released_ns ? story->released_ns : story->cancelled_ns;
}

unsigned int account_badness(const struct account_stop *stop)
{
	unsigned int badness = record_badness(stop->of);

	if (badness == 0)
		badness = stop->of->deaf || stop->unrecorded || stop->left || stop->overdue_ns;
	return badness;
}

bool account_took(const struct account_stop *stop, uint64_t *ret)
{
	uint64_t from = stop->of->stop_signal.at_ns, to = stop->of->exit.at_ns;

	if (!from || !stop->of->exit.known || to < from)
		return false;
	*ret = to - from;
	return true;
}
