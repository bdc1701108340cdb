// SPDX-License-Identifier: Apache-2.0
/* Decides which cgroups are what their paths say. */
#include "core/cgroup/trust.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define USERS	    "/user.slice"
#define USER_LEVELS 3 /* "/user.slice/user-<uid>.slice/user@<uid>.service" */

/* "/" is at level 0, "/a" at level 1. */
static uint32_t level_of(const char *path)
{
	uint32_t level = 0;

	for (; *path; path++)
		level += path[0] == '/' && path[1] && path[1] != '/';
	return level;
}

static bool is_at_or_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '/')
		len--;
	return strncmp(path, root, len) == 0 && (path[len] == '/' || !path[len]);
}

static bool is_limited(const char *const *roots)
{
	return roots && *roots;
}

static bool is_in(const char *const *roots, const char *path)
{
	for (; *roots; roots++)
		if (is_at_or_below(path, *roots))
			return true;
	return false;
}

uint32_t cgtrust_user(const char *path, uint32_t delegated_level)
{
	static const char head[] = USERS "/user-";
	char want[96];
	unsigned long uid;
	size_t len;

	if (strncmp(path, head, sizeof(head) - 1) != 0 ||
	    (delegated_level && delegated_level <= USER_LEVELS))
		return 0;
	uid = strtoul(path + sizeof(head) - 1, NULL, 10);
	if (!uid || uid >= UINT32_MAX)
		return 0;
	len = (size_t)snprintf(want, sizeof(want), "%s%lu.slice/user@%lu.service/", head, uid, uid);
	return strncmp(path, want, len) == 0 && path[len] ? (uint32_t)uid : 0;
}

enum cgtrust cgtrust_of(const char *const *roots, const char *path, uint32_t delegated_level)
{
	bool limited = is_limited(roots);
	bool delegated = is_at_or_below(path, USERS) ||
			 (delegated_level && level_of(path) >= delegated_level);

	if (limited && !is_in(roots, path))
		return CGTRUST_NONE;
	if (!delegated)
		return CGTRUST_PODS;
	return limited || cgtrust_user(path, delegated_level) ? CGTRUST_CONTAINERS : CGTRUST_NONE;
}

/* Levels above a path of the list that have parts: more would be parts of the next path. */
#define PART_LEVELS 128

uint32_t cgtrust_part(const char *const *roots, const char *path)
{
	uint32_t level = level_of(path);

	if (!is_limited(roots)) {
		if (is_at_or_below(path, USERS))
			return GRACED_PART_USERS;
		return level ? GRACED_PART_INSIDE : GRACED_PART_FIRST;
	}
	if (is_in(roots, path))
		return GRACED_PART_INSIDE;
	for (uint32_t i = 0; roots[i]; i++)
		if (level < PART_LEVELS && is_at_or_below(roots[i], path))
			return GRACED_PART_FIRST + i * PART_LEVELS + level;
	return GRACED_PART_OUTSIDE;
}

static int each_step_to(const char *const *roots, const char *to, cgtrust_step_fn fn,
			void *userdata)
{
	struct graced_step step;
	char path[CGPATH_MAX];
	size_t n, end;
	int r = 0;

	for (size_t at = 0; to[at] && r >= 0; at = end) {
		at += strspn(to + at, "/");
		n = strcspn(to + at, "/");
		end = at + n;
		if (!n || n >= sizeof(step.name) || end >= sizeof(path))
			return 0;
		memcpy(path, to, end);
		path[at] = '\0';
		step = (struct graced_step){.part = cgtrust_part(roots, path)};
		if (step.part < GRACED_PART_FIRST)
			return 0;
		memcpy(step.name, to + at, n);
		memcpy(path + at, to + at, n);
		path[end] = '\0';
		r = fn(userdata, &step, cgtrust_part(roots, path));
	}
	return r;
}

int cgtrust_each_step(const char *const *roots, cgtrust_step_fn fn, void *userdata)
{
	int r = 0;

	if (!is_limited(roots))
		return each_step_to(NULL, USERS, fn, userdata);
	for (size_t i = 0; roots[i] && r >= 0; i++)
		r = each_step_to(roots, roots[i], fn, userdata);
	return r < 0 ? r : 0;
}

uint32_t cgtrust_part_else(const char *const *roots)
{
	return is_limited(roots) ? GRACED_PART_OUTSIDE : GRACED_PART_INSIDE;
}

void cgtrust_cut(enum cgtrust trust, struct cgpath *path)
{
	if (trust == CGTRUST_PODS)
		return;
	if (trust == CGTRUST_NONE || !path->container_id[0]) {
		*path = (struct cgpath){.kind = CGPATH_NONE};
		return;
	}
	path->kind = CGPATH_CONTAINER_OUTSIDE;
	path->qos = CGPATH_QOS_UNKNOWN;
	path->driver = CGPATH_DRIVER_NONE;
	path->static_pod = false;
	path->root_len = 0;
	path->pod_uid[0] = '\0';
}
