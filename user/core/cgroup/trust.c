// SPDX-License-Identifier: Apache-2.0
/* Decides which cgroups are what their paths say. */
#include "core/cgroup/trust.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define USERS "/user.slice"

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

static bool is_in(const char *const *roots, const char *path)
{
	for (; *roots; roots++)
		if (is_at_or_below(path, *roots))
			return true;
	return false;
}

enum cgtrust cgtrust_of(const char *const *roots, const char *path, uint32_t delegated_level)
{
	bool limited = roots && *roots;
	bool delegated = is_at_or_below(path, USERS) ||
			 (delegated_level && level_of(path) >= delegated_level);

	if (limited && !is_in(roots, path))
		return CGTRUST_NONE;
	if (!delegated)
		return CGTRUST_PODS;
	return limited ? CGTRUST_CONTAINERS : CGTRUST_NONE;
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
