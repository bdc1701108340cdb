// SPDX-License-Identifier: Apache-2.0
/* Containers by the hash of what they are called. */
#include "core/model/container.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const struct container_name *name)
{
	uint64_t hash = map_key(name->first);

	if (name->user)
		hash = map_key_join(hash, name->user);
	hash = map_key_join(hash, name->way);
	return *name->second ? map_key_join(hash, map_key(name->second)) : hash;
}

static bool is_called(const void *container, const void *called)
{
	const struct container *c = container;
	const struct container_name *name = called;

	return c->name.way == name->way && c->name.user == name->user &&
	       strcmp(c->name.first, name->first) == 0 && strcmp(c->name.second, name->second) == 0;
}

static bool is_known(const void *container)
{
	const struct container *c = container;

	return c->n_nodes || c->node || c->meta;
}

void containermap_done(struct namemap *map)
{
	containermap_sweep(map);
	map_done(&map->by_key);
}

struct container *containermap_find(const struct namemap *map, const struct container_name *name)
{
	return namemap_find(map, hash_of(name), is_called, name);
}

/* Its texts are behind it. */
static struct container *container_new(const struct container_name *name)
{
	size_t first = strlen(name->first) + 1, second = strlen(name->second) + 1;
	struct container *c = calloc(1, sizeof(*c) + first + second);

	if (!c)
		return NULL;
	c->name = *name;
	c->name.first = memcpy(c + 1, name->first, first);
	c->name.second = memcpy((char *)(c + 1) + first, name->second, second);
	return c;
}

int containermap_reach(struct namemap *map, const struct container_name *name,
		       struct container **ret)
{
	struct container *c = containermap_find(map, name);
	int r = 0;

	if (!c) {
		c = container_new(name);
		r = c ? namemap_add(map, hash_of(name), c) : -ENOMEM;
	}
	if (r < 0)
		free(c);
	else
		*ret = c;
	return r;
}

void containermap_leave(struct namemap *map, struct container *container)
{
	if (!container || is_known(container))
		return;
	map_remove(&map->by_key, container->key);
	free(container);
}

void containermap_sweep(struct namemap *map)
{
	namemap_sweep(map, is_known);
}
