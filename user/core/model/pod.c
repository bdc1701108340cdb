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

/* Uids of one hash, which somebody may have looked for, have keys that follow from it. */
static uint64_t nth_key(uint64_t key, unsigned int n)
{
	return n ? map_key_join(key, n) : key;
}

struct pod *podmap_find(const struct podmap *map, const char *uid)
{
	uint64_t key = map_key(uid);

	for (unsigned int n = 0; n <= map->most; n++) {
		struct pod *pod = map_get(&map->by_uid, nth_key(key, n));

		if (pod && strcmp(pod->uid, uid) == 0)
			return pod;
	}
	return NULL;
}

static int add(struct podmap *map, const char *uid, size_t len, struct pod **ret)
{
	uint64_t key = map_key(uid);
	unsigned int n = 0;
	struct pod *pod;
	int r;

	while (map_get(&map->by_uid, nth_key(key, n)))
		if (++n == PODMAP_KEYS)
			return -EEXIST;
	pod = calloc(1, sizeof(*pod));
	if (!pod)
		return -ENOMEM;
	memcpy(pod->uid, uid, len);
	pod->key = nth_key(key, n);
	r = map_put(&map->by_uid, pod->key, pod);
	if (r < 0) {
		free(pod);
		return r;
	}
	if (n > map->most)
		map->most = n;
	*ret = pod;
	return 0;
}

int podmap_reach(struct podmap *map, const char *uid, struct pod **ret)
{
	size_t len = strnlen(uid, POD_UID_MAX);
	struct pod *pod;

	if (!len || len == POD_UID_MAX)
		return -EINVAL;
	pod = podmap_find(map, uid);
	if (!pod)
		return add(map, uid, len, ret);
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
