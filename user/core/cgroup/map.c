// SPDX-License-Identifier: Apache-2.0
/* The live map of cgroups: nodes by id, identities by path, references by count. */
#include "core/cgroup/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_NODES 16384

/* The second of two uids with one key is not found. */
static struct pod *pod_by_uid(const struct cgmap *map, const char *uid)
{
	struct pod *pod = map_get(&map->pods, map_key(uid));

	return pod && strcmp(pod->uid, uid) == 0 ? pod : NULL;
}

static void pod_unref(struct cgmap *map, struct pod *pod)
{
	struct pod *first, *at;

	if (!pod || --pod->refs)
		return;
	first = map_get(&map->pods, pod->key);
	if (first == pod && pod->next) {
		/* There is room: the key is there. */
		(void)map_put(&map->pods, pod->key, pod->next);
	} else if (first == pod) {
		map_remove(&map->pods, pod->key);
	} else {
		for (at = first; at; at = at->next)
			if (at->next == pod)
				at->next = pod->next;
	}
	free(pod->root);
	free(pod);
}

/* The shortest root comes first, and of two as short the one that was known first. */
static int pod_enter(struct cgmap *map, struct pod *pod)
{
	struct pod *first = map_get(&map->pods, pod->key), *at = first;
	size_t len = strlen(pod->root);

	if (first && strcmp(first->uid, pod->uid) != 0) {
		pod->is_double = true;
		return 0;
	}
	if (!first || len < strlen(first->root)) {
		pod->next = first;
		if (first)
			first->is_double = true;
		return map_put(&map->pods, pod->key, pod);
	}
	pod->is_double = true;
	while (at->next && strlen(at->next->root) <= len)
		at = at->next;
	pod->next = at->next;
	at->next = pod;
	return 0;
}

static int pod_new(struct cgmap *map, const struct cgpath *ident, const char *root, size_t root_len,
		   struct pod **ret)
{
	struct pod *pod = calloc(1, sizeof(*pod));
	int r;

	if (!pod)
		return -ENOMEM;
	strcpy(pod->uid, ident->pod_uid);
	pod->key = map_key(pod->uid);
	LIST_INIT(&pod->nodes);
	pod->qos = ident->qos;
	pod->is_static = ident->static_pod;
	pod->root = strndup(root, root_len);
	r = pod->root ? pod_enter(map, pod) : -ENOMEM;
	if (r < 0) {
		free(pod->root);
		free(pod);
		return r;
	}
	*ret = pod;
	return 0;
}

/* A nested node's own kubelet has that node for its root, whatever its cgroups are called. */
static size_t root_len_of(const struct cgmap *map, const char *path, const struct cgpath *ident)
{
	const char *const *p = map->nested_nodes;
	size_t longest = ident->root_len;

	for (; p && *p; p++) {
		size_t len = strlen(*p);

		if (len > longest && strncmp(path, *p, len) == 0 && path[len] == '/')
			longest = len;
	}
	return longest;
}

static struct pod *pod_find(const struct cgmap *map, const char *path, const struct cgpath *ident)
{
	size_t len = root_len_of(map, path, ident);
	struct pod *pod = pod_by_uid(map, ident->pod_uid);

	while (pod && (strlen(pod->root) != len || memcmp(pod->root, path, len) != 0))
		pod = pod->next;
	return pod;
}

static int pod_take(struct cgmap *map, const char *path, const struct cgpath *ident,
		    struct pod **ret)
{
	struct pod *pod = pod_find(map, path, ident);
	int r = 0;

	if (!pod)
		r = pod_new(map, ident, path, root_len_of(map, path, ident), &pod);
	if (r < 0)
		return r;
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

struct cgnode *cgmap_user_container(const struct cgmap *map, const char *container_id,
				    uint32_t user)
{
	struct cgnode *node = map_get(&map->containers, cgtrust_container_key(container_id, user));
	bool is = node && node->user == user && strcmp(node->ident.container_id, container_id) == 0;

	return is ? node : NULL;
}

struct cgnode *cgmap_by_container_id(const struct cgmap *map, const char *container_id)
{
	return cgmap_user_container(map, container_id, 0);
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
 * The index keeps the first of two that claim one id, unless only the later one is root's. Only one
 * cgroup has a path at a time, so one of the same path is gone, though its record was lost.
 */
static int index_container(struct cgmap *map, struct cgnode *node)
{
	const struct cgnode *old = map_get(&map->containers, node->container_key);

	if (old && old->trust >= node->trust && strcmp(old->path, node->path) != 0)
		return 0;
	return map_put(&map->containers, node->container_key, node);
}

static uint64_t key_of(const struct cgnode *node)
{
	const char *id = node->ident.container_id;

	return id[0] ? cgtrust_container_key(id, node->user) : 0;
}

/* Takes over path. */
static int identify(struct cgmap *map, struct cgnode *node, char *path, uint32_t delegated_level)
{
	int r;

	free(node->path);
	node->path = path;
	node->delegated_level = delegated_level;
	cgpath_parse(path, strlen(path), &node->ident);
	node->trust = cgtrust_of(map->roots, path, delegated_level);
	cgtrust_cut(node->trust, &node->ident);
	node->user = node->trust == CGTRUST_CONTAINERS ? cgtrust_user(path, delegated_level) : 0;
	node->container_key = key_of(node);
	node->kind = kind_of(map, path, &node->ident);
	if (node->ident.pod_uid[0] && node->kind != GRACED_WATCH_BRANCH && !node->pod) {
		r = pod_take(map, path, &node->ident, &node->pod);
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
static int add(struct cgmap *map, const struct cgmap_new *cg, char *path, struct cgnode **ret)
{
	const struct cgnode *parent = cgmap_get(map, cg->parent_id);
	struct cgnode *node = cgmap_get(map, cg->id);
	uint32_t delegated_level = cg->delegated_level;
	int r = path ? 0 : -ENOMEM;

	if (!r && !node)
		r = node_new(map, cg->id, &node);
	if (r < 0) {
		free(path);
		return r;
	}
	if (parent && parent->delegated_level)
		delegated_level = parent->delegated_level;
	r = identify(map, node, path, delegated_level);
	if (r == 0)
		*ret = node;
	return r;
}

int cgmap_add_child(struct cgmap *map, const struct cgmap_new *cg, struct cgnode **ret)
{
	struct cgnode *parent = cgmap_get(map, cg->parent_id), *node = cgmap_get(map, cg->id);

	if (node && node->path) {
		*ret = node;
		return 0;
	}
	if (!parent || !parent->path)
		return -ENOENT;
	if (cgnode_is_container(parent))
		return -EEXIST;
	if (strlen(parent->path) + 1 + strlen(cg->name) >= CGPATH_MAX) {
		map->refused++;
		return -ENOSPC;
	}
	return add(map, cg, path_join(parent->path, cg->name), ret);
}

/*
 * Whether some cgroup above path is a container by its own path. cgpath_parse() takes the innermost
 * pod of a path, which is right for a nested node only.
 */
static bool below_container(const struct cgmap *map, const struct cgmap_new *cg)
{
	char above[CGPATH_MAX];
	const char *path = cg->name;
	struct cgpath ident;
	size_t i;

	for (i = 0; path[i] && i < sizeof(above) - 1; i++) {
		if (i > 0 && path[i] == '/' && path[i - 1] != '/') {
			above[i] = '\0';
			cgpath_parse(above, i, &ident);
			cgtrust_cut(cgtrust_of(map->roots, above, cg->delegated_level), &ident);
			if (kind_of(map, above, &ident) >= GRACED_WATCH_CONTAINER)
				return true;
		}
		above[i] = path[i];
	}
	return false;
}

int cgmap_add_path(struct cgmap *map, const struct cgmap_new *cg, struct cgnode **ret)
{
	struct cgnode *parent = cgmap_get(map, cg->parent_id), *node = cgmap_get(map, cg->id);

	if (node && node->path) {
		*ret = node;
		return 0;
	}
	/* A parent whose path is not known may be a branch as well as a container. */
	if ((cgnode_is_container(parent) && parent->path) || below_container(map, cg))
		return -EEXIST;
	return add(map, cg, strdup(cg->name), ret);
}

int cgmap_add_unknown(struct cgmap *map, uint64_t id, struct cgnode **ret)
{
	int r = node_new(map, id, ret);

	if (r == 0)
		(*ret)->kind = GRACED_WATCH_CONTAINER;
	return r;
}

bool cgmap_trusts_name(const struct cgmap *map, uint32_t kind)
{
	if (map->nested_nodes && *map->nested_nodes)
		return false;
	return kind == GRACED_WATCH_CONTAINER || (kind == GRACED_WATCH_SERVICE && map->services);
}

void cgmap_join_pod(struct cgnode *node, const struct cgnode *below)
{
	if (!below || below->kind != GRACED_WATCH_POD || !below->pod || node->pod)
		return;
	node->pod = below->pod;
	node->pod->refs++;
	LIST_INSERT_HEAD(&node->pod->nodes, node, in_pod);
}

void cgmap_remove(struct cgmap *map, uint64_t id)
{
	struct cgnode *node = map_remove(&map->nodes, id);

	if (!node)
		return;
	if (map_get(&map->containers, node->container_key) == node)
		map_remove(&map->containers, node->container_key);
	cgnode_unref(map, node);
}

struct pod *cgmap_pod(const struct cgmap *map, const char *uid)
{
	struct pod *pod = pod_by_uid(map, uid);

	return pod && !pod->is_double ? pod : NULL;
}

/* The pod below whose cgroup a branch is. */
static struct pod *pod_above(const struct cgmap *map, const struct cgnode *node)
{
	struct cgpath ident = {};
	size_t len;

	if (!node->path || !strstr(node->path, "pod"))
		return NULL;
	for (len = strlen(node->path); len && ident.kind != CGPATH_POD; len--)
		if (node->path[len] == '/')
			cgpath_parse(node->path, len, &ident);
	if (ident.kind != CGPATH_POD)
		return NULL;
	cgtrust_cut(node->trust, &ident);
	return pod_find(map, node->path, &ident);
}

struct pod *cgmap_pod_around(const struct cgmap *map, const struct cgnode *node)
{
	if (!node || node->pod || node->kind != GRACED_WATCH_BRANCH)
		return node ? node->pod : NULL;
	return pod_above(map, node);
}

struct pod *cgmap_pod_of(const struct cgmap *map, const struct cgnode *node)
{
	struct pod *pod = cgmap_pod_around(map, node);

	return pod && !pod->is_double ? pod : NULL;
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
	node->container_key = key_of(node);
	return index_container(map, node);
}
