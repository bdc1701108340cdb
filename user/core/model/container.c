// SPDX-License-Identifier: Apache-2.0
/* Containers by the hash of what they are called. */
#include "core/model/container.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void containermap_done(struct containermap *map)
{
	containermap_sweep(map);
	map_done(&map->by_name);
}

/* The key of the nth container whose name has the same hash. */
static uint64_t key_of(const struct container_name *name, unsigned int n)
{
	uint64_t key = map_key(name->first);

	if (name->user)
		key = map_key_join(key, name->user);
	key = map_key_join(key, name->way);
	if (*name->second)
		key = map_key_join(key, map_key(name->second));
	return n ? map_key_join(key, n) : key;
}

static bool is_called(const struct container *c, const struct container_name *name)
{
	return c->name.way == name->way && c->name.user == name->user &&
	       strcmp(c->name.first, name->first) == 0 && strcmp(c->name.second, name->second) == 0;
}

struct container *containermap_find(const struct containermap *map,
				    const struct container_name *name)
{
	for (unsigned int n = 0; n <= map->most; n++) {
		struct container *c = map_get(&map->by_name, key_of(name, n));

		if (c && is_called(c, name))
			return c;
	}
	return NULL;
}

/* Its texts are behind it. */
static struct container *container_new(const struct container_name *name, uint64_t key)
{
	size_t first = strlen(name->first) + 1, second = strlen(name->second) + 1;
	struct container *c = calloc(1, sizeof(*c) + first + second);

	if (!c)
		return NULL;
	c->key = key;
	c->name = *name;
	c->name.first = memcpy(c + 1, name->first, first);
	c->name.second = memcpy((char *)(c + 1) + first, name->second, second);
	return c;
}

int containermap_reach(struct containermap *map, const struct container_name *name,
		       struct container **ret)
{
	struct container *c = containermap_find(map, name);
	unsigned int n = 0;
	int r;

	if (c) {
		*ret = c;
		return 0;
	}
	while (map_get(&map->by_name, key_of(name, n)))
		if (++n == CONTAINERMAP_KEYS)
			return -EEXIST;
	c = container_new(name, key_of(name, n));
	r = c ? map_put(&map->by_name, c->key, c) : -ENOMEM;
	if (r < 0) {
		free(c);
		return r;
	}
	if (n > map->most)
		map->most = n;
	*ret = c;
	return 0;
}

static bool is_known(const struct container *c)
{
	return c->n_nodes || c->node || c->meta;
}

void containermap_leave(struct containermap *map, struct container *container)
{
	if (!container || is_known(container))
		return;
	map_remove(&map->by_name, container->key);
	free(container);
}

/* A map must not change while it is walked: those that stay move to a new one. */
void containermap_sweep(struct containermap *map)
{
	struct map kept = {};
	struct container *c;
	size_t pos = 0;

	while ((c = containermap_next(map, &pos)))
		if (is_known(c) && map_put(&kept, c->key, c) < 0) {
			map_done(&kept);
			return;
		}
	for (pos = 0; (c = containermap_next(map, &pos));)
		if (!is_known(c))
			free(c);
	map_done(&map->by_name);
	map->by_name = kept;
}
