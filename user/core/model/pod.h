/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod: what each subject knows of it, found by its uid. It is there as long as any of them knows
 * something; each owns its own part, allocates it, and takes it out before it calls podmap_leave().
 */
#ifndef CORE_MODEL_POD_H
#define CORE_MODEL_POD_H

#include <stdint.h>

#include "base/map.h"

#define POD_UID_LEN 36 /* with its dashes; a static pod may have a hash of 32 digits instead */
#define POD_UID_MAX (POD_UID_LEN + 1)

/* A struct of that name whose members are those of the struct around it, too: what both a live
 * object and its checkpoint have, and one assignment copies. */
#define SHARED(type, name)        \
	union {                   \
		struct type name; \
		struct type;      \
	}

struct pod {
	uint64_t key; /* in the map; first, as struct namemap has it */
	char uid[POD_UID_MAX];
	/* NULL: nothing. */
	struct pod_cgroups *cgroups;   /* core/cgroup/map: its cgroups */
	struct podtab_pod *meta;       /* core/names/table: what the sources of metadata provide */
	struct epod *life;	       /* core/engine/pods: the life that is followed */
	struct shutdown_pod_rec *turn; /* core/shutdown: its part in a shutdown of the node */
};

/* No subject knows anything of any pod any more. */
void podmap_done(struct namemap *map);

/* NULL when nothing is known of it. */
struct pod *podmap_find(const struct namemap *map, const char *uid);

/* The pod, made when it is not there: 0, -EINVAL for a uid that is empty or too long, -ENOMEM, or
 * -EEXIST where other uids have all of its keys: somebody forged them. */
int podmap_reach(struct namemap *map, const char *uid, struct pod **ret);

/* Frees a pod of which nothing is known any more; no-op for NULL and for any other. The map must
 * not be walked meanwhile. */
void podmap_leave(struct namemap *map, struct pod *pod);

/* The same for all of them, after a walk that took parts out. */
void podmap_sweep(struct namemap *map);

/* Walks all, in no particular order; start with *pos = 0. */
static inline struct pod *podmap_next(const struct namemap *map, size_t *pos)
{
	return map_next(&map->by_key, pos);
}

#endif
