/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from 64-bit numbers to pointers that the map does not own. Key 0 is not allowed. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
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

/*
 * Objects by their names, of which several may have one hash: somebody may have looked for them.
 * Each was allocated and begins with its key, a uint64_t, which follows from the hash. All zero is
 * empty.
 */
struct namemap {
	struct map by_key;
	unsigned int most; /* keys beside that of its hash that an object has ever needed */
};

/* The object that is called so; NULL: it is not there. */
void *namemap_find(const struct namemap *map, uint64_t hash,
		   bool (*is_called)(const void *object, const void *name), const void *name);

/* Adds one that is not there. 0, -ENOMEM, or -EEXIST where others have all of its NAMEMAP_KEYS
 * keys. */
#define NAMEMAP_KEYS 8
int namemap_add(struct namemap *map, uint64_t hash, void *object);

/* Frees all of which nothing is known, as far as there is memory for it. */
void namemap_sweep(struct namemap *map, bool (*is_known)(const void *object));

#endif
