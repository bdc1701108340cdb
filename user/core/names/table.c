// SPDX-License-Identifier: Apache-2.0
/* The tables of pods and containers: found by hash of a key, bounded, aged. */
#include "core/names/table_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_NS      60000000000ULL
/* A full table is swept sooner, but not with every entry that finds no room. */
#define SWEEP_FULL_NS 1000000000ULL

static void pod_free(struct podtab_pod *pod)
{
	free(pod->namespace_);
	free(pod->name);
	free(pod->workload);
	free(pod);
}

static void container_free(struct podtab_container *c)
{
	free(c->key);
	free(c->name);
	free(c->image);
	free(c);
}

void podtab_done(struct podtab *tab)
{
	struct podtab_container *c;
	struct podtab_pod *pod;
	size_t pos = 0;

	while ((pod = map_next(&tab->pods, &pos)))
		pod_free(pod);
	pos = 0;
	while ((c = map_next(&tab->containers, &pos)))
		container_free(c);
	map_done(&tab->pods);
	map_done(&tab->containers);
	*tab = (struct podtab){};
}

struct podtab_pod *podtab_pod(const struct podtab *tab, const char *uid)
{
	struct podtab_pod *pod = map_get(&tab->pods, map_key(uid));

	return pod && strcmp(pod->uid, uid) == 0 ? pod : NULL;
}

static char *add_text(char *at, const char *end, const char *text)
{
	size_t n = strnlen(text, (size_t)(end - at));

	memcpy(at, text, n);
	return at + n;
}

/* What a container is found by cannot be mistaken for another thing it is found by. */
const char *podtab_key(char kind, const char *first, const char *second,
		       char ret[static PODTAB_KEY_MAX])
{
	const char *end = ret + PODTAB_KEY_MAX - 1;
	char *at = ret;

	/* Every event of the kernel asks for one: printf() would take longer than all the rest. */
	*at++ = kind;
	at = add_text(at, end, first);
	at = add_text(at, end, "/");
	at = add_text(at, end, second);
	*at = '\0';
	return ret;
}

static struct podtab_container *container_by_key(const struct podtab *tab, const char *key)
{
	struct podtab_container *c = map_get(&tab->containers, map_key(key));

	return c && strcmp(c->key, key) == 0 ? c : NULL;
}

struct podtab_container *podtab_container(const struct podtab *tab, const char *id)
{
	char key[PODTAB_KEY_MAX];

	return container_by_key(tab, podtab_key('i', id, "", key));
}

struct podtab_container *podtab_spec(const struct podtab *tab, const char *pod_uid,
				     const char *name)
{
	char key[PODTAB_KEY_MAX];

	return container_by_key(tab, podtab_key('n', pod_uid, name, key));
}

struct podtab_container *podtab_unit(const struct podtab *tab, const char *unit)
{
	char key[PODTAB_KEY_MAX];

	return container_by_key(tab, podtab_key('u', unit, "", key));
}

/* Of two texts with one key the later finds none. */
static int room(struct podtab *tab, const struct map *map, size_t max, uint64_t hash)
{
	if (map->count < max && !map_get(map, hash))
		return 0;
	tab->refused++;
	return -ENOSPC;
}

int podtab_want_pod(struct podtab *tab, const char *uid, uint64_t now_ns, struct podtab_pod **ret)
{
	struct podtab_pod *pod = podtab_pod(tab, uid);
	int r;

	if (!pod) {
		r = room(tab, &tab->pods, PODTAB_MAX_PODS, map_key(uid));
		if (r < 0)
			return r;
		pod = calloc(1, sizeof(*pod));
		if (!pod)
			return -ENOMEM;
		snprintf(pod->uid, sizeof(pod->uid), "%s", uid);
		r = map_put(&tab->pods, map_key(uid), pod);
		if (r < 0) {
			pod_free(pod);
			return r;
		}
	}
	pod->touched_ns = now_ns;
	*ret = pod;
	return 0;
}

int podtab_want(struct podtab *tab, const char *key, uint64_t now_ns, struct podtab_container **ret)
{
	struct podtab_container *c = container_by_key(tab, key);
	int r;

	if (!c) {
		r = room(tab, &tab->containers, PODTAB_MAX_CONTAINERS, map_key(key));
		if (r < 0)
			return r;
		c = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
		c->key = strdup(key);
		r = c->key ? map_put(&tab->containers, map_key(key), c) : -ENOMEM;
		if (r < 0) {
			container_free(c);
			return r;
		}
	}
	c->touched_ns = now_ns;
	*ret = c;
	return 0;
}

struct podtab_container *podtab_want_container(struct podtab *tab, const char *id, uint64_t now_ns)
{
	struct podtab_container *c;
	char key[PODTAB_KEY_MAX];

	return podtab_want(tab, podtab_key('i', id, "", key), now_ns, &c) < 0 ? NULL : c;
}

bool podtab_is_named(const struct podtab_container *c)
{
	return c && (c->name || c->kind == META_KIND_SANDBOX);
}

enum cgpath_runtime podtab_runtime(const struct podtab_container *c, enum cgpath_runtime by_path)
{
	if (by_path != CGPATH_RT_UNKNOWN || !c)
		return by_path;
	switch (c->name_from ? c->name_from : c->kind_from) {
	case META_DOCKER:
		return CGPATH_RT_DOCKER;
	case META_PODMAN:
		return CGPATH_RT_PODMAN;
	case META_CRI: /* CRI-O writes its name into the path */
	case META_CONTAINERD:
		return CGPATH_RT_CONTAINERD;
	default:
		return CGPATH_RT_UNKNOWN;
	}
}

bool podtab_is_due(const struct podtab *tab, uint64_t now_ns)
{
	bool full = tab->pods.count >= PODTAB_MAX_PODS ||
		    tab->containers.count >= PODTAB_MAX_CONTAINERS;

	return now_ns >= tab->aged_ns + (full ? SWEEP_FULL_NS : SWEEP_NS);
}

/* A map must not change while it is walked: those that stay move to a new one. */
static void keep_pods(struct podtab *tab, uint64_t before_ns)
{
	struct map kept = {};
	struct podtab_pod *pod;
	size_t pos = 0;

	while ((pod = map_next(&tab->pods, &pos))) {
		if (pod->touched_ns >= before_ns && map_put(&kept, map_key(pod->uid), pod) == 0)
			continue;
		pod_free(pod);
		tab->aged++;
	}
	map_done(&tab->pods);
	tab->pods = kept;
}

static void keep_containers(struct podtab *tab, uint64_t before_ns)
{
	struct map kept = {};
	struct podtab_container *c;
	size_t pos = 0;

	while ((c = map_next(&tab->containers, &pos))) {
		if (c->touched_ns >= before_ns && map_put(&kept, map_key(c->key), c) == 0)
			continue;
		container_free(c);
		tab->aged++;
	}
	map_done(&tab->containers);
	tab->containers = kept;
}

static bool nearly(size_t count, size_t max)
{
	return count >= max - max / 8;
}

void podtab_age(struct podtab *tab, uint64_t now_ns)
{
	bool full = nearly(tab->pods.count, PODTAB_MAX_PODS) ||
		    nearly(tab->containers.count, PODTAB_MAX_CONTAINERS);
	/* With little room left nobody lives on but those the caller has just touched. */
	uint64_t keep = full ? SWEEP_FULL_NS : PODTAB_KEEP_NS;

	tab->aged_ns = now_ns;
	if (now_ns <= keep)
		return;
	keep_pods(tab, now_ns - keep);
	keep_containers(tab, now_ns - keep);
}
