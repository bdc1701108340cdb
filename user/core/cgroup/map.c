// SPDX-License-Identifier: Apache-2.0
/* The live map of cgroups: nodes by id, identities by path, references by count. */
#include "core/cgroup/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_NODES 16384

static struct pod_cgroups *cgroups_of_uid(const struct cgmap *map, const char *uid)
{
	const struct pod *pod = podmap_find(&map->pods, uid);

	return pod ? pod->cgroups : NULL;
}

static void pod_unref(struct cgmap *map, struct pod_cgroups *cgroups)
{
	struct pod_cgroups **at;

	if (!cgroups || --cgroups->refs)
		return;
	for (at = &cgroups->pod->cgroups; *at != cgroups; at = &(*at)->next)
		;
	*at = cgroups->next;
	map->n_pods -= !cgroups->pod->cgroups;
	podmap_leave(&map->pods, cgroups->pod);
	free(cgroups->root);
	free(cgroups);
}

/* The shortest root comes first, and of two as short the one that was known first. */
static void pod_enter(struct cgmap *map, struct pod *pod, struct pod_cgroups *cgroups)
{
	struct pod_cgroups **at = &pod->cgroups;
	size_t len = strlen(cgroups->root);

	while (*at && strlen((*at)->root) <= len)
		at = &(*at)->next;
	cgroups->is_double = at != &pod->cgroups;
	if (*at && !cgroups->is_double)
		(*at)->is_double = true;
	map->n_pods += !pod->cgroups;
	cgroups->pod = pod;
	cgroups->next = *at;
	*at = cgroups;
}

static int pod_new(struct cgmap *map, const struct cgpath *ident, const char *root, size_t root_len,
		   struct pod_cgroups **ret)
{
	struct pod_cgroups *cgroups = calloc(1, sizeof(*cgroups));
	struct pod *pod;
	int r;

	if (!cgroups)
		return -ENOMEM;
	LIST_INIT(&cgroups->nodes);
	cgroups->qos = ident->qos;
	cgroups->is_static = ident->static_pod;
	cgroups->root = strndup(root, root_len);
	r = cgroups->root ? podmap_reach(&map->pods, ident->pod_uid, &pod) : -ENOMEM;
	if (r < 0) {
		free(cgroups->root);
		free(cgroups);
		map->refused += r == -EEXIST;
		return r == -EEXIST ? -ENOSPC : r;
	}
	pod_enter(map, pod, cgroups);
	*ret = cgroups;
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

static struct pod_cgroups *pod_find(const struct cgmap *map, const char *path,
				    const struct cgpath *ident)
{
	struct pod_cgroups *cgroups = cgroups_of_uid(map, ident->pod_uid);
	size_t len = root_len_of(map, path, ident);

	while (cgroups && (strlen(cgroups->root) != len || memcmp(cgroups->root, path, len) != 0))
		cgroups = cgroups->next;
	return cgroups;
}

static void join(struct cgnode *node, struct pod_cgroups *cgroups)
{
	cgroups->refs++;
	node->pod = cgroups->pod;
	node->cgroups = cgroups;
	LIST_INSERT_HEAD(&cgroups->nodes, node, in_pod);
}

/* Its pod is new when it was not known. */
static int enter_pod(struct cgmap *map, struct cgnode *node)
{
	struct pod_cgroups *cgroups = pod_find(map, node->path, &node->ident);
	int r = 0;

	if (!cgroups)
		r = pod_new(map, &node->ident, node->path,
			    root_len_of(map, node->path, &node->ident), &cgroups);
	if (r == 0)
		join(node, cgroups);
	return r;
}

struct cgnode *cgnode_ref(struct cgnode *node)
{
	node->refs++;
	return node;
}

static void leave_container(struct cgmap *map, struct cgnode *node)
{
	struct container *c = node->container;

	if (!c)
		return;
	if (c->node == node)
		c->node = NULL;
	c->n_nodes--;
	node->container = NULL;
	containermap_leave(&map->containers, c);
}

struct cgnode *cgnode_unref(struct cgmap *map, struct cgnode *node)
{
	if (!node || --node->refs)
		return NULL;
	leave_container(map, node);
	if (node->pod)
		LIST_REMOVE(node, in_pod);
	pod_unref(map, node->cgroups);
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
	podmap_done(&map->pods);
	containermap_done(&map->containers);
}

struct cgnode *cgmap_get(const struct cgmap *map, uint64_t id)
{
	return map_get(&map->nodes, id);
}

struct cgnode *cgmap_user_container(const struct cgmap *map, const char *container_id,
				    uint32_t user)
{
	const struct container *c =
		containermap_find(&map->containers, &(struct container_name){.way = CONTAINER_BY_ID,
									     .user = user,
									     .first = container_id,
									     .second = ""});

	return c ? c->node : NULL;
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
 * The first of two that claim one id is the container, unless only the later one is root's. Only
 * one cgroup has a path at a time, so one of the same path is gone, though its record was lost.
 */
static int enter_container(struct cgmap *map, struct cgnode *node)
{
	const struct container_name name = {.way = CONTAINER_BY_ID,
					    .user = node->user,
					    .first = node->ident.container_id,
					    .second = ""};
	struct container *c;
	int r;

	if (!name.first[0])
		return 0;
	r = containermap_reach(&map->containers, &name, &c);
	/* Its id was forged: the cgroup alone is known. */
	if (r < 0)
		return r == -EEXIST ? 0 : r;
	node->container = c;
	c->n_nodes++;
	if (node->kind == GRACED_WATCH_CONTAINER &&
	    (!c->node || c->node->trust < node->trust || strcmp(c->node->path, node->path) == 0))
		c->node = node;
	return 0;
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
	node->kind = kind_of(map, path, &node->ident);
	if (node->ident.pod_uid[0] && node->kind != GRACED_WATCH_BRANCH && !node->pod) {
		r = enter_pod(map, node);
		if (r < 0)
			return r;
	}
	return enter_container(map, node);
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
	bool is_new = !node;
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
	else if (is_new)
		cgmap_remove(map, cg->id);
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
	if (below && below->kind == GRACED_WATCH_POD && below->pod && !node->pod)
		join(node, below->cgroups);
}

void cgmap_remove(struct cgmap *map, uint64_t id)
{
	struct cgnode *node = map_remove(&map->nodes, id);

	if (!node)
		return;
	/* Another cgroup may be the container from now on. */
	if (node->container && node->container->node == node)
		node->container->node = NULL;
	cgnode_unref(map, node);
}

static struct pod_cgroups *unless_double(struct pod_cgroups *cgroups)
{
	return cgroups && !cgroups->is_double ? cgroups : NULL;
}

struct pod_cgroups *cgmap_pod(const struct cgmap *map, const char *uid)
{
	return unless_double(cgroups_of_uid(map, uid));
}

/* Those of the pod below whose cgroup a branch is. */
static struct pod_cgroups *pod_above(const struct cgmap *map, const struct cgnode *node)
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

struct pod_cgroups *cgmap_pod_around(const struct cgmap *map, const struct cgnode *node)
{
	if (!node || node->pod || node->kind != GRACED_WATCH_BRANCH)
		return node ? node->cgroups : NULL;
	return pod_above(map, node);
}

struct pod_cgroups *cgmap_pod_of(const struct cgmap *map, const struct cgnode *node)
{
	return unless_double(cgmap_pod_around(map, node));
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
	leave_container(map, node);
	strcpy(node->ident.container_id, container_id);
	return enter_container(map, node);
}
