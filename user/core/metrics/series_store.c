// SPDX-License-Identifier: Apache-2.0
/* The label sets and their series. */
#include "core/metrics/series_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/stop/outcome.h"

static int compare_labels(const struct labelset *set, const struct labels *labels)
{
	int r = 0;

	for (int i = 0; i < LABEL_COUNT && r == 0; i++)
		r = strcmp(set->label[i], labels->text[i]);
	return r;
}

/* Where it is, or where it belongs. */
static size_t place_of(const struct series_store *store, const struct labels *labels,
		       bool *ret_found)
{
	size_t from = 0, to = store->n;

	*ret_found = false;
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int r = compare_labels(store->sets[mid], labels);

		if (r == 0) {
			*ret_found = true;
			return mid;
		}
		if (r < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

struct labelset *series_store_find(const struct series_store *store, const struct labels *labels)
{
	bool found;
	size_t at = place_of(store, labels, &found);

	return found ? store->sets[at] : NULL;
}

static struct labelset *labelset_new(const struct labels *labels)
{
	size_t sizes[LABEL_COUNT], sum = 0;
	struct labelset *set;
	char *text;

	for (int i = 0; i < LABEL_COUNT; i++)
		sum += sizes[i] = strlen(labels->text[i]) + 1;
	set = calloc(1, sizeof(*set) + sum);
	if (!set)
		return NULL;
	text = set->text;
	for (int i = 0; i < LABEL_COUNT; i++) {
		memcpy(text, labels->text[i], sizes[i]);
		set->label[i] = text;
		text += sizes[i];
	}
	return set;
}

static struct labelset *labelset_free(struct labelset *set)
{
	struct serie *next;

	for (struct serie *serie = set->first; serie; serie = next) {
		next = serie->next;
		free(serie);
	}
	free(set->kind);
	free(set);
	return NULL;
}

struct labelset *series_store_add(struct series_store *store, const struct labels *labels)
{
	bool found;
	size_t at = place_of(store, labels, &found);
	struct labelset *set;

	if (found)
		return store->sets[at];
	if (!ROOM_FOR_ONE(store->sets, store->n, store->room, 16))
		return NULL;
	set = labelset_new(labels);
	if (!set)
		return NULL;
	memmove(store->sets + at + 1, store->sets + at,
		(store->n - at) * sizeof(struct labelset *));
	store->sets[at] = set;
	store->n++;
	return set;
}

static uint64_t lines_of(const struct labelset *set)
{
	uint64_t lines = 0;

	for (const struct serie *serie = set->first; serie; serie = serie->next)
		lines += serie->used ? serie_lines(serie->key.family) : 0;
	return lines;
}

void series_store_sweep(struct series_store *store,
			bool (*drop)(void *userdata, struct labelset *set), void *userdata)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->n; i++) {
		struct labelset *set = store->sets[i];

		if (drop(userdata, set)) {
			store->lines -= lines_of(set);
			labelset_free(set);
		} else {
			store->sets[kept++] = set;
		}
	}
	store->n = kept;
}

static bool drop_all(void *userdata, struct labelset *set)
{
	return true;
}

void series_store_done(struct series_store *store)
{
	series_store_sweep(store, drop_all, NULL);
	free(store->sets);
	*store = (struct series_store){};
}

static int compare_keys(const struct serie_key *a, const struct serie_key *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	return a->minor < b->minor ? -1 : a->minor > b->minor;
}

struct serie *serie_find(const struct labelset *set, const struct serie_key *key)
{
	struct serie *serie = set->first;

	while (serie && compare_keys(&serie->key, key) < 0)
		serie = serie->next;
	return serie && compare_keys(&serie->key, key) == 0 ? serie : NULL;
}

struct serie *serie_add(struct labelset *set, const struct serie_key *key)
{
	const struct histogram_bounds *bounds = serie_bounds(key->family);
	size_t buckets = bounds ? bounds->n + 1 : 0;
	struct serie **link = &set->first, *serie;

	while (*link && compare_keys(&(*link)->key, key) < 0)
		link = &(*link)->next;
	serie = calloc(1, sizeof(*serie) + (bounds ? sizeof(struct histogram) : 0) +
				  buckets * sizeof(struct exemplar));
	if (!serie)
		return NULL;
	if (bounds)
		serie->exemplars = (struct exemplar *)(serie->histogram + 1);
	serie->key = *key;
	serie->next = *link;
	*link = serie;
	return serie;
}

/* --- which series there are ------------------------------------------------------------------- */

#define LEVELS (OOM_LEVEL_UNKNOWN + 1)
#define MS     1000000ULL
#define S      HISTOGRAM_ONE

/*
 * A process that handles its stop signal exits within milliseconds or a few seconds. One that does
 * not is killed at the end of its grace period, some milliseconds after a whole number of seconds:
 * a bound at that number puts the kill into the bucket above it, and what ended in time below it.
 * The periods are those that specs name most: 3, 4, 6, 10, 15, 20, 45 and 60 s. 30 s, the default
 * of Kubernetes, has a bound on both sides, so that its kills have a bucket of their own. The last
 * bound is what histogram_quantile() reports for everything above.
 */
static const struct histogram_bounds duration_bounds = {
	.n = 12,
	.at = {100 * MS, 1 * S, 3 * S, 4 * S, 6 * S, 10 * S, 15 * S, 20 * S, 29 * S, 31 * S, 45 * S,
	       60 * S},
};

/* Above 1 the grace period was over: a kill at its end is a little late and so within 1.1; far
 * beyond it something held the process, or the runtime. */
static const struct histogram_bounds grace_bounds = {
	.n = 4,
	.at = {500 * MS, 900 * MS, 1 * S, 1100 * MS},
};

/* The kubelet stops a pod's sandbox once it has seen the containers' end, and it looks each
 * second: what is slow there is slow by seconds. */
static const struct histogram_bounds empty_bounds = {
	.n = 4,
	.at = {100 * MS, 1 * S, 5 * S, 30 * S},
};

/* The kubelet reports it with its next status or, where it does not know better, when the
 * containers are gone: within the grace period, which is 30 s by default. */
static const struct histogram_bounds ready_bounds = {
	.n = 4,
	.at = {1 * S, 5 * S, 15 * S, 31 * S},
};

const struct histogram_bounds *serie_bounds(enum series_family family)
{
	switch (family) {
	case SERIES_STOP_DURATION:
		return &duration_bounds;
	case SERIES_GRACE_USED:
		return &grace_bounds;
	case SERIES_POD_EMPTY:
		return &empty_bounds;
	case SERIES_POD_READY:
		return &ready_bounds;
	default:
		return NULL;
	}
}

uint64_t serie_lines(enum series_family family)
{
	const struct histogram_bounds *bounds = serie_bounds(family);

	return bounds ? bounds->n + 3 : 1; /* +Inf, sum, count */
}

bool serie_is_pair(unsigned int outcome, unsigned int cause)
{
	struct outcome_verdict row;

	for (size_t i = 0; outcome_row(i, &row); i++)
		if (row.outcome == outcome && row.cause == cause)
			return true;
	return false;
}

bool serie_is_key(const struct serie_key *key)
{
	switch (key->family) {
	case SERIES_STOP_DURATION:
		return key->major < OUTCOME_COUNT && key->minor == 0;
	case SERIES_STOPS:
		return serie_is_pair(key->major, key->minor);
	case SERIES_OOM_KILLS:
		return key->major > OOM_LEVEL_NONE && key->major < LEVELS && key->minor == 0;
	case SERIES_RESTARTS:
		return key->major <= TRI_TRUE && key->minor == 0;
	case SERIES_HEARS: /* what finds no room is not counted anywhere */
	case SERIES_WORKLOAD:
		return false;
	default:
		return key->major == 0 && key->minor == 0;
	}
}

/*
 * What the alerts of graced-run(8) count. The other pairs of outcome and cause are too rare for a
 * line of each container.
 */
static const struct serie_key from_the_start[] = {
	{SERIES_STOPS, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED},
	{SERIES_STOPS, OUTCOME_KILLED, CAUSE_NO_GRACE},
	{SERIES_STOPS, OUTCOME_OOM_KILLED, CAUSE_OOM_CONTAINER},
	{SERIES_STOPS, OUTCOME_CRASHED, CAUSE_SELF},
	{SERIES_STOPS, OUTCOME_FAILED, CAUSE_SELF},
	{SERIES_DEAF_STOPS, 0, 0},
	{SERIES_COLLATERAL_KILLS, 0, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_CONTAINER, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_POD, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_NODE, 0},
	{SERIES_OOM_KILLS, OOM_LEVEL_UNKNOWN, 0},
};

const struct serie_key *serie_from_the_start(size_t index)
{
	size_t n = sizeof(from_the_start) / sizeof(from_the_start[0]);

	return index < n ? from_the_start + index : NULL;
}
