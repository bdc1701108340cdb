// SPDX-License-Identifier: Apache-2.0
/* Open addressing with linear probing; removal shifts back, so there are no tombstones. */
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SLOTS 16

/* A multiplicative hash: cgroup ids and pids are small consecutive numbers. */
static size_t slot_of(const struct map *map, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (map->n_slots - 1);
}

static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 32;
}

uint64_t map_key(const char *text)
{
	size_t left = strlen(text);
	uint64_t key = mix(0, left + 1), word;

	for (; left >= sizeof(word); text += sizeof(word), left -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		key = mix(key, word);
	}
	word = 0;
	memcpy(&word, text, left);
	key = mix(key, word);
	return key ? key : 1;
}

uint64_t map_key_join(uint64_t first, uint64_t second)
{
	uint64_t key = mix(first, second);

	return key ? key : 1;
}

void map_done(struct map *map)
{
	free(map->slots);
	*map = (struct map){};
}

static struct map_slot *find(const struct map *map, uint64_t key)
{
	size_t i;

	if (!map->n_slots)
		return NULL;
	for (i = slot_of(map, key); map->slots[i].key; i = (i + 1) & (map->n_slots - 1))
		if (map->slots[i].key == key)
			return &map->slots[i];
	return NULL;
}

void *map_get(const struct map *map, uint64_t key)
{
	struct map_slot *s = key ? find(map, key) : NULL;

	return s ? s->value : NULL;
}

static void insert(struct map *map, uint64_t key, void *value)
{
	size_t i = slot_of(map, key);

	while (map->slots[i].key)
		i = (i + 1) & (map->n_slots - 1);
	map->slots[i] = (struct map_slot){.key = key, .value = value};
	map->count++;
}

static int grow(struct map *map)
{
	struct map bigger = {.n_slots = map->n_slots ? map->n_slots * 2 : MIN_SLOTS};
	size_t pos;

	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (pos = 0; pos < map->n_slots; pos++)
		if (map->slots[pos].key)
			insert(&bigger, map->slots[pos].key, map->slots[pos].value);
	free(map->slots);
	*map = bigger;
	return 0;
}

int map_put(struct map *map, uint64_t key, void *value)
{
	struct map_slot *s;
	int r;

	if (!key || !value)
		return -EINVAL;
	s = find(map, key);
	if (s) {
		s->value = value;
		return 0;
	}
	if (map->count * 4 >= map->n_slots * 3) {
		r = grow(map);
		if (r < 0)
			return r;
	}
	insert(map, key, value);
	return 0;
}

/* Whether an entry that belongs at home may stay at i when the slot at hole is free. */
static bool stays(size_t home, size_t hole, size_t i)
{
	if (hole <= i)
		return hole < home && home <= i;
	return hole < home || home <= i;
}

void *map_remove(struct map *map, uint64_t key)
{
	struct map_slot *s = key ? find(map, key) : NULL;
	size_t mask = map->n_slots - 1, hole, i;
	void *value;

	if (!s)
		return NULL;
	value = s->value;
	hole = (size_t)(s - map->slots);
	for (i = (hole + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
		if (stays(slot_of(map, map->slots[i].key), hole, i))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = (struct map_slot){};
	map->count--;
	return value;
}

void *map_next(const struct map *map, size_t *pos)
{
	while (*pos < map->n_slots) {
		struct map_slot *s = &map->slots[(*pos)++];

		if (s->key)
			return s->value;
	}
	return NULL;
}

/* --- by name ------------------------------------------------------------------------------------ */

static uint64_t nth_key(uint64_t hash, unsigned int n)
{
	return n ? map_key_join(hash, n) : hash;
}

void *namemap_find(const struct namemap *map, uint64_t hash,
		   bool (*is_called)(const void *object, const void *name), const void *name)
{
	for (unsigned int n = 0; n <= map->most; n++) {
		void *object = map_get(&map->by_key, nth_key(hash, n));

		if (object && is_called(object, name))
			return object;
	}
	return NULL;
}

int namemap_add(struct namemap *map, uint64_t hash, void *object)
{
	uint64_t *key = object;
	unsigned int n = 0;
	int r;

	while (map_get(&map->by_key, nth_key(hash, n)))
		if (++n == NAMEMAP_KEYS)
			return -EEXIST;
	*key = nth_key(hash, n);
	r = map_put(&map->by_key, *key, object);
	if (r == 0 && n > map->most)
		map->most = n;
	return r;
}

/* A map must not change while it is walked: those that stay move to a new one. */
void namemap_sweep(struct namemap *map, bool (*is_known)(const void *object))
{
	struct map kept = {};
	void *object;
	size_t pos = 0;

	while ((object = map_next(&map->by_key, &pos)))
		if (is_known(object) && map_put(&kept, *(const uint64_t *)object, object) < 0) {
			map_done(&kept);
			return;
		}
	for (pos = 0; (object = map_next(&map->by_key, &pos));)
		if (!is_known(object))
			free(object);
	map_done(&map->by_key);
	map->by_key = kept;
}
