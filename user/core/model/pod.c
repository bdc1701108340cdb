// SPDX-License-Identifier: Apache-2.0
/* Pods by the hash of their uid. */
#include "core/model/pod.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_called(const void *pod, const void *uid)
{
	return strcmp(((const struct pod *)pod)->uid, uid) == 0;
}

static bool is_known(const void *object)
{
	const struct pod *pod = object;

	return pod->cgroups || pod->meta || pod->life || pod->turn;
}

void podmap_done(struct namemap *map)
{
	podmap_sweep(map);
	map_done(&map->by_key);
}

struct pod *podmap_find(const struct namemap *map, const char *uid)
{
	return namemap_find(map, map_key(uid), is_called, uid);
}

int podmap_reach(struct namemap *map, const char *uid, struct pod **ret)
{
	size_t len = strnlen(uid, POD_UID_MAX);
	struct pod *pod;
	int r = 0;

	if (!len || len == POD_UID_MAX)
		return -EINVAL;
	pod = podmap_find(map, uid);
	if (!pod) {
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		memcpy(pod->uid, uid, len);
		r = namemap_add(map, map_key(uid), pod);
	}
	if (r < 0)
		free(pod);
	else
		*ret = pod;
	return r;
}

void podmap_leave(struct namemap *map, struct pod *pod)
{
	if (!pod || is_known(pod))
		return;
	map_remove(&map->by_key, pod->key);
	free(pod);
}

void podmap_sweep(struct namemap *map)
{
	namemap_sweep(map, is_known);
}
