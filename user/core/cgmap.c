// SPDX-License-Identifier: Apache-2.0
/* The live map of cgroups: nodes by id, identities by path, references by count. */
#include "core/cgmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_NODES 16384

static void pod_unref(struct cgmap *map, struct pod *pod)
{
	if (!pod || --pod->refs)
		return;
	if (map_get(&map->pods, pod->key) == pod)
		map_remove(&map->pods, pod->key);
	free(pod);
}

/* Of two uids with one key the later is not found. */
static struct pod *pod_by_uid(const struct cgmap *map, const char *uid)
{
	struct pod *pod = map_get(&map->pods, map_key(uid));

	return pod && strcmp(pod->uid, uid) == 0 ? pod : NULL;
}

static int pod_take(struct cgmap *map, const struct cgpath *ident, struct pod **ret)
{
	struct pod *pod = pod_by_uid(map, ident->pod_uid);
	int r;

	if (!pod) {
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		strcpy(pod->uid, ident->pod_uid);
		pod->key = map_key(pod->uid);
		LIST_INIT(&pod->nodes);
		pod->qos = ident->qos;
		pod->is_static = ident->static_pod;
		r = map_get(&map->pods, pod->key) ? 0 : map_put(&map->pods, pod->key, pod);
		if (r < 0) {
			free(pod);
			return r;
		}
	}
	pod->refs++;
	*ret = pod;
	return 0;
}

struct cgnode *cgnode_ref(struct cgnode *node)
{
	node->refs++;
	return node;
}

struct cgnode *cgnode_unref(struct cgmap *map, struct cgnode *node)
{
	if (!node || --node->refs)
		return NULL;
	if (node->pod)
		LIST_REMOVE(node, in_pod);
	pod_unref(map, node->pod);
	free(node->path);
	free(node);
	return NULL;
}

void cgmap_done(struct cgmap *map)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&map->nodes, &pos)))
		cgnode_unref(map, node);
	map_done(&map->nodes);
	map_done(&map->pods);
	map_done(&map->containers);
}

struct cgnode *cgmap_get(const struct cgmap *map, uint64_t id)
{
	return map_get(&map->nodes, id);
}

struct cgnode *cgmap_by_container_id(const struct cgmap *map, const char *container_id)
{
	struct cgnode *node = map_get(&map->containers, map_key(container_id));

	return node && strcmp(node->ident.container_id, container_id) == 0 ? node : NULL;
}

static int node_new(struct cgmap *map, uint64_t id, struct cgnode **ret)
{
	uint32_t max = map->max_nodes ? map->max_nodes : DEFAULT_MAX_NODES;
	struct cgnode *node;
	int r;

	if (map->nodes.count >= max) {
		map->refused++;
		return -ENOSPC;
	}
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->refs = 1;
	node->id = id;
	node->kind = GRACED_WATCH_BRANCH;
	r = map_put(&map->nodes, id, node);
	if (r < 0) {
		free(node);
		return r;
	}
	*ret = node;
	return 0;
}

static bool is_nested_node(const struct cgmap *map, const char *path)
{
	const char *const *p = map->nested_nodes;

	for (; p && *p; p++)
		if (strcmp(*p, path) == 0)
			return true;
	return false;
}

/* A user's own manager runs in a service of the system's, with units and containers below it. */
static bool is_service(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t n = strlen(path);

	if (n < strlen(".service") || strcmp(path + n - strlen(".service"), ".service") != 0)
		return false;
	return !name || strncmp(name + 1, "user@", strlen("user@")) != 0;
}

static uint32_t kind_of(const struct cgmap *map, const char *path, const struct cgpath *ident)
{
	if (is_nested_node(map, path))
		return GRACED_WATCH_BRANCH;
	switch (ident->kind) {
	case CGPATH_CONTAINER:
	case CGPATH_CONTAINER_OUTSIDE:
	case CGPATH_SANDBOX:
		return GRACED_WATCH_CONTAINER;
	case CGPATH_POD:
		return GRACED_WATCH_POD;
	default:
		return map->services && is_service(path) ? GRACED_WATCH_SERVICE
							 : GRACED_WATCH_BRANCH;
	}
}

/*
 * The index keeps the first of two that claim one id. Only one cgroup has a path at a time, so one
 * of the same path is gone, though its record was lost.
 */
static int index_container(struct cgmap *map, struct cgnode *node)
{
	uint64_t key = map_key(node->ident.container_id);
	const struct cgnode *old = map_get(&map->containers, key);

	if (old && strcmp(old->path, node->path) != 0)
		return 0;
	return map_put(&map->containers, key, node);
}

/* Takes over path. */
static int identify(struct cgmap *map, struct cgnode *node, char *path)
{
	int r;

	free(node->path);
	node->path = path;
	cgpath_parse(path, strlen(path), &node->ident);
	node->kind = kind_of(map, path, &node->ident);
	if (node->ident.pod_uid[0] && node->kind != GRACED_WATCH_BRANCH && !node->pod) {
		r = pod_take(map, &node->ident, &node->pod);
		if (r < 0)
			return r;
		LIST_INSERT_HEAD(&node->pod->nodes, node, in_pod);
	}
	if (!node->ident.container_id[0] || node->kind != GRACED_WATCH_CONTAINER)
		return 0;
	return index_container(map, node);
}

static char *path_join(const char *parent, const char *name)
{
	size_t n = strlen(parent), m = strlen(name);
	char *path = malloc(n + m + 2);

	if (!path)
		return NULL;
	if (n == 1)
		n = 0; /* the root is "/" */
	memcpy(path, parent, n);
	path[n] = '/';
	memcpy(path + n + 1, name, m + 1);
	return path;
}

/* Gives id its path, as a new node or one that was unknown. Takes over path. */
static int add(struct cgmap *map, uint64_t id, char *path, struct cgnode **ret)
{
	struct cgnode *node = cgmap_get(map, id);
	int r = path ? 0 : -ENOMEM;

	if (!r && !node)
		r = node_new(map, id, &node);
	if (r < 0) {
		free(path);
		return r;
	}
	r = identify(map, node, path);
	if (r == 0)
		*ret = node;
	return r;
}

int cgmap_add_child(struct cgmap *map, uint64_t id, uint64_t parent_id, const char *name,
		    struct cgnode **ret)
{
	struct cgnode *parent = cgmap_get(map, parent_id), *node = cgmap_get(map, id);

	if (node && node->path) {
		*ret = node;
		return 0;
	}
	if (!parent || !parent->path)
		return -ENOENT;
	if (cgnode_is_container(parent))
		return -EEXIST;
	if (strlen(parent->path) + 1 + strlen(name) >= OBS_PATH_MAX) {
		map->refused++;
		return -ENOSPC;
	}
	return add(map, id, path_join(parent->path, name), ret);
}

/*
 * Whether some cgroup above path is a container by its own path. cgpath_parse() takes the innermost
 * pod of a path, which is right for a nested node only.
 */
static bool below_container(const struct cgmap *map, const char *path)
{
	char above[OBS_PATH_MAX];
	struct cgpath ident;
	size_t i;

	for (i = 0; path[i] && i < sizeof(above) - 1; i++) {
		if (i > 0 && path[i] == '/' && path[i - 1] != '/') {
			above[i] = '\0';
			cgpath_parse(above, i, &ident);
			if (kind_of(map, above, &ident) >= GRACED_WATCH_CONTAINER)
				return true;
		}
		above[i] = path[i];
	}
	return false;
}

int cgmap_add_path(struct cgmap *map, uint64_t id, uint64_t parent_id, const char *path,
		   struct cgnode **ret)
{
	struct cgnode *parent = cgmap_get(map, parent_id), *node = cgmap_get(map, id);

	if (node && node->path) {
		*ret = node;
		return 0;
	}
	/* A parent whose path is not known may be a branch as well as a container. */
	if ((cgnode_is_container(parent) && parent->path) || below_container(map, path))
		return -EEXIST;
	return add(map, id, strdup(path), ret);
}

int cgmap_add_unknown(struct cgmap *map, uint64_t id, struct cgnode **ret)
{
	int r = node_new(map, id, ret);

	if (r == 0)
		(*ret)->kind = GRACED_WATCH_CONTAINER;
	return r;
}

void cgmap_remove(struct cgmap *map, uint64_t id)
{
	struct cgnode *node = map_remove(&map->nodes, id);
	uint64_t key;

	if (!node)
		return;
	key = map_key(node->ident.container_id);
	if (node->ident.container_id[0] && map_get(&map->containers, key) == node)
		map_remove(&map->containers, key);
	cgnode_unref(map, node);
}

struct pod *cgmap_pod(const struct cgmap *map, const char *uid)
{
	return pod_by_uid(map, uid);
}

int cgmap_identify(struct cgmap *map, struct cgnode *node, const char *container_id,
		   enum cgpath_runtime runtime)
{
	size_t len = strlen(container_id);

	if (node->kind != GRACED_WATCH_BRANCH || !node->path || !len || len > CGPATH_ID_LEN)
		return -EINVAL;
	node->kind = GRACED_WATCH_CONTAINER;
	node->ident.kind = CGPATH_CONTAINER_OUTSIDE;
	node->ident.runtime = runtime;
	strcpy(node->ident.container_id, container_id);
	return index_container(map, node);
}
