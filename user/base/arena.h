/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once: for a tree of small objects that live and die together.
 * What it gives is zeroed and stays where it is. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#define ARENA_LIMIT_DEFAULT ((size_t)16 << 20)

/* Texts that are remembered. */
#define ARENA_SHARED 64

struct arena_block;

/* All zero is an empty arena with the default limit, which bounds what was ever asked of it. */
struct arena {
	struct arena_block *blocks;
	size_t used;
	size_t limit;
	const char *shared[ARENA_SHARED];
};

/* Frees everything and leaves an empty arena with the same limit. Fits
 * `_cleanup_(arena_free) struct arena arena = {};`. */
void arena_free(struct arena *arena);

/* Zeroed and aligned for any type; NULL when there is no memory or the limit is reached. */
void *arena_alloc(struct arena *arena, size_t size);

/* An array of n elements; NULL also when its size overflows. n of 0 is an array, too. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/* Copies, with a NUL behind; NULL as arena_alloc(). */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_strdup(struct arena *arena, const char *text);
/* The same text once more, where it was given lately. */
const char *arena_share(struct arena *arena, const char *text);

#endif
