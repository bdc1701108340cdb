/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container or service: what each subject knows of it, found by what sources call it. It is
 * there as long as any of them knows something; each owns its own part, allocates it, and takes it
 * out before it calls containermap_leave().
 */
#ifndef CORE_MODEL_CONTAINER_H
#define CORE_MODEL_CONTAINER_H

#include <stdint.h>

#include "base/map.h"

enum container_way { CONTAINER_BY_ID, CONTAINER_BY_SPEC, CONTAINER_BY_UNIT };

/* What it is called, which cannot be mistaken for another thing it is called. */
struct container_name {
	enum container_way way;
	uint32_t user;		    /* of an id: below whose own systemd it is; 0: root's */
	const char *first, *second; /* id; pod's uid and name; unit. Else second is "" */
};

struct container {
	uint64_t key; /* in the map; first, as struct namemap has it */
	struct container_name name;
	/* 0, NULL: nothing. */
	unsigned int n_nodes; /* core/cgroup/map: cgroups that have its id, also removed ones */
	struct cgnode *node;  /* ... the one that is it */
	struct podtab_container *meta; /* core/names/table: what the sources of metadata provide */
};

/* No subject knows anything of any of them any more. */
void containermap_done(struct namemap *map);

/* NULL when nothing is known of it. */
struct container *containermap_find(const struct namemap *map, const struct container_name *name);

/* The container, made when it is not there: 0, -ENOMEM, or -EEXIST where others have all of its
 * keys: somebody forged them. */
int containermap_reach(struct namemap *map, const struct container_name *name,
		       struct container **ret);

/* Frees one of which nothing is known any more; no-op for NULL and for any other. The map must not
 * be walked meanwhile. */
void containermap_leave(struct namemap *map, struct container *container);

/* The same for all of them, after a walk that took parts out. */
void containermap_sweep(struct namemap *map);

/* Walks all, in no particular order; start with *pos = 0. */
static inline struct container *containermap_next(const struct namemap *map, size_t *pos)
{
	return map_next(&map->by_key, pos);
}

#endif
