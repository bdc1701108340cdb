// SPDX-License-Identifier: Apache-2.0
/* The label sets and their series. */
#include "core/metrics/series_store.h"

#include <stdlib.h>
#include <string.h>

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
	free(set);
	return NULL;
}

static bool make_room(struct series_store *store)
{
	size_t room = store->room ? store->room * 2 : 16;
	struct labelset **sets;

	if (store->n < store->room)
		return true;
	sets = reallocarray(store->sets, room, sizeof(struct labelset *));
	if (!sets)
		return false;
	store->sets = sets;
	store->room = room;
	return true;
}

struct labelset *series_store_add(struct series_store *store, const struct labels *labels)
{
	bool found;
	size_t at = place_of(store, labels, &found);
	struct labelset *set;

	if (found)
		return store->sets[at];
	if (!make_room(store))
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
	size_t histograms = serie_bounds(key->family) ? 1 : 0;
	struct serie **link = &set->first, *serie;

	while (*link && compare_keys(&(*link)->key, key) < 0)
		link = &(*link)->next;
	serie = calloc(1, sizeof(*serie) + histograms * sizeof(struct histogram));
	if (!serie)
		return NULL;
	serie->key = *key;
	serie->next = *link;
	*link = serie;
	return serie;
}
