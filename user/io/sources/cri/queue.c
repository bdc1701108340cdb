// SPDX-License-Identifier: Apache-2.0
/* Keeps look-ups: found by their ID, and in the order they came. */
#include "io/sources/cri/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define ROOM	  4096
#define ROOM_IDLE 2048

/* IDs that collide on purpose make it a list, of bounded length. */
static size_t bucket_of(const char *id)
{
	uint64_t key = map_key(id);

	return (key ^ key >> 32) % PODSRC_CRI_BUCKETS;
}

struct podsrc_cri_lookup *podsrc_cri_queue_get(const struct podsrc_cri_queue *q, const char *id,
					       bool exit)
{
	struct podsrc_cri_lookup *lookup = q->buckets[bucket_of(id)];

	while (lookup && (lookup->exit != exit || strcmp(lookup->id, id) != 0))
		lookup = lookup->chain;
	return lookup;
}

static void link_last(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup,
		      enum podsrc_cri_place place)
{
	struct podsrc_cri_lookup **last = &q->places[place].last;

	lookup->place = place;
	lookup->next = NULL;
	lookup->prev = *last;
	*(*last ? &(*last)->next : &q->places[place].first) = lookup;
	*last = lookup;
	q->places[place].n++;
}

static void unlink_lookup(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup)
{
	*(lookup->prev ? &lookup->prev->next : &q->places[lookup->place].first) = lookup->next;
	*(lookup->next ? &lookup->next->prev : &q->places[lookup->place].last) = lookup->prev;
	q->places[lookup->place].n--;
}

static enum podsrc_cri_place place_of(const struct podsrc_cri_lookup *lookup,
				      enum podsrc_cri_place place)
{
	return lookup->exit && place == PLACE_WAITING ? PLACE_EXITS : place;
}

struct podsrc_cri_lookup *podsrc_cri_queue_add(struct podsrc_cri_queue *q, const char *id,
					       bool exit, enum podsrc_cri_place place)
{
	size_t idle = q->places[PLACE_IDLE].n, bucket = bucket_of(id);
	struct podsrc_cri_lookup *lookup;

	if (place == PLACE_IDLE ? idle >= ROOM_IDLE : q->n - idle >= ROOM)
		return NULL;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return NULL;
	memcpy(lookup->id, id, strnlen(id, sizeof(lookup->id) - 1));
	lookup->exit = exit;
	lookup->chain = q->buckets[bucket];
	q->buckets[bucket] = lookup;
	link_last(q, lookup, place_of(lookup, place));
	q->n++;
	return lookup;
}

void podsrc_cri_queue_move(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup,
			   enum podsrc_cri_place place)
{
	unlink_lookup(q, lookup);
	link_last(q, lookup, place_of(lookup, place));
}

void podsrc_cri_queue_remove(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup)
{
	struct podsrc_cri_lookup **at = &q->buckets[bucket_of(lookup->id)];

	while (*at != lookup)
		at = &(*at)->chain;
	*at = lookup->chain;
	unlink_lookup(q, lookup);
	q->n--;
	free(lookup);
}

void podsrc_cri_queue_done(struct podsrc_cri_queue *q)
{
	for (size_t i = 0; i < PLACE_COUNT; i++)
		while (q->places[i].first)
			podsrc_cri_queue_remove(q, q->places[i].first);
}
