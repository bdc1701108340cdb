// SPDX-License-Identifier: Apache-2.0
/* Pods by the hash of their uid. */
#include "core/model/pod.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void podmap_done(struct podmap *map)
{
	podmap_sweep(map);
	map_done(&map->by_uid);
}

struct pod *podmap_find(const struct podmap *map, const char *uid)
{
	struct pod *pod = map_get(&map->by_uid, map_key(uid));

	return pod && strcmp(pod->uid, uid) == 0 ? pod : NULL;
}

int podmap_reach(struct podmap *map, const char *uid, struct pod **ret)
{
	size_t len = strnlen(uid, POD_UID_MAX);
	uint64_t key = map_key(uid);
	struct pod *pod = map_get(&map->by_uid, key);
	int r;

	if (!len || len == POD_UID_MAX)
		return -EINVAL;
	if (pod && strcmp(pod->uid, uid) != 0)
		return -EEXIST;
	if (!pod) {
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		memcpy(pod->uid, uid, len);
		pod->key = key;
		r = map_put(&map->by_uid, key, pod);
		if (r < 0) {
			free(pod);
			return r;
		}
	}
	*ret = pod;
	return 0;
}

static bool is_known(const struct pod *pod)
{
	return pod->cgroups || pod->meta || pod->life || pod->turn;
}

void podmap_leave(struct podmap *map, struct pod *pod)
{
	if (!pod || is_known(pod))
		return;
	map_remove(&map->by_uid, pod->key);
	free(pod);
}

/* A map must not change while it is walked: those that stay move to a new one. */
void podmap_sweep(struct podmap *map)
{
	struct map kept = {};
	struct pod *pod;
	size_t pos = 0;

	while ((pod = podmap_next(map, &pos)))
		if (is_known(pod) && map_put(&kept, pod->key, pod) < 0) {
			map_done(&kept);
			return;
		}
	for (pos = 0; (pod = podmap_next(map, &pos));)
		if (!is_known(pod))
			free(pod);
	map_done(&map->by_uid);
	map->by_uid = kept;
}
