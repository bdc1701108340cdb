/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from 64-bit numbers to pointers that the map does not own. Key 0 is not allowed. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key; /* 0: free */
	void *value;
};

struct map {
	struct map_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t count;
};

/* A key for a text, never 0. Other texts may have the same key, by chance or on purpose: the value
 * has to contain the text it is for. */
uint64_t map_key(const char *text);
/* A key for two that belong together, of which each has its own; never 0. */
uint64_t map_key_join(uint64_t first, uint64_t second);

/* Frees the slots, not the values; the map is empty and usable afterwards. */
void map_done(struct map *map);

/* NULL when key is not there. */
void *map_get(const struct map *map, uint64_t key);

/* Adds or replaces. 0, -EINVAL for key 0 or a NULL value, -ENOMEM. */
int map_put(struct map *map, uint64_t key, void *value);

/* The value that was there, or NULL. */
void *map_remove(struct map *map, uint64_t key);

/* Walks all values in no particular order; start with *pos = 0. NULL ends. The map must not
 * change meanwhile. */
void *map_next(const struct map *map, size_t *pos);

#endif
