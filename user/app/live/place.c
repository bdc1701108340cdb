// SPDX-License-Identifier: Apache-2.0
#include "app/live/place.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "io/proc/proc.h"

/* The container that a cgroup is or is in: 1 with its id; 0: none; -errno. */
static int find_container(struct cgfs *cgfs, const struct kern *kern, const char *path,
			  uint64_t *ret)
{
	char part[PATH_MAX];

	for (const char *end = path; *end;) {
		struct graced_watch watch;
		uint64_t id;
		int r;

		end += 1 + strcspn(end + 1, "/");
		memcpy(part, path, (size_t)(end - path));
		part[end - path] = '\0';
		r = cgfs_id_of(cgfs, part, &id);
		if (r < 0)
			return r;
		if (kern_watch_get(kern, id, &watch) < 0 || watch.kind != GRACED_WATCH_CONTAINER)
			continue;
		*ret = id;
		return 1;
	}
	return 0;
}

int place_of_process(struct cgfs *cgfs, const struct kern *kern, const struct hierarchy *hierarchy,
		     pid_t pid, uint64_t *ret)
{
	const char *controller = hierarchy->unified ? NULL : hierarchy->name;
	char path[PATH_MAX];
	int r = procfs_cgroup_of(pid, controller, path, sizeof(path));

	/* Seen from a cgroup namespace that it is not in, it cannot be placed. */
	if (r >= 0 && (path[0] != '/' || strstr(path, "/..")))
		r = -EXDEV;
	return r < 0 ? r : find_container(cgfs, kern, path, ret);
}

void place_init(struct cgfs *cgfs, const struct kern *kern, const struct hierarchy *hierarchy,
		struct scan *scan, uint32_t pid)
{
	struct graced_init init;
	uint64_t id;

	if (place_of_process(cgfs, kern, hierarchy, (pid_t)pid, &id) == 1 &&
	    (kern_init_get(kern, id, &init) < 0 || !init.pid))
		scan_set_init(scan, id, pid);
}
