// SPDX-License-Identifier: Apache-2.0
/* Blocks in a list, the newest first, each filled from its beginning. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BLOCK_SIZE ((size_t)4096)

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	alignas(max_align_t) char data[];
};

void arena_free(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct arena){.limit = arena->limit};
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
	struct arena_block *block;

	if (size < BLOCK_SIZE)
		size = BLOCK_SIZE;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t limit = arena->limit ? arena->limit : ARENA_LIMIT_DEFAULT;
	struct arena_block *block = arena->blocks;
	void *at;

	if (size > limit || size > SIZE_MAX / 2)
		return NULL;
	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (size > limit || arena->used > limit - size)
		return NULL;
	if (!block || size > block->size - block->used)
		block = add_block(arena, size);
	if (!block)
		return NULL;
	at = block->data + block->used;
	block->used += size;
	arena->used += size;
	return at;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return arena_alloc(arena, bytes ? bytes : 1);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = len < (size_t)-1 ? arena_alloc(arena, len + 1) : NULL;

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

const char *arena_share(struct arena *arena, const char *text)
{
	const char **shared = &arena->shared[map_key(text) % ARENA_SHARED];

	if (!*shared || strcmp(*shared, text) != 0)
		*shared = arena_strdup(arena, text);
	return *shared;
}
