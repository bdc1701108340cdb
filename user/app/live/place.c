// SPDX-License-Identifier: Apache-2.0
#include "app/live/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "io/cgroup/hierarchy.h"
#include "io/files/fd.h"
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

/* --- this program ----------------------------------------------------------------------------- */

/* It is found among the members of all cgroups, which is so in any namespace. */

#define TEXT_MAX (64u << 10)

struct search {
	pid_t pid;
	uint64_t id;
};

static int is_it(void *userdata, pid_t pid, uint64_t cgroup_id)
{
	struct search *s = userdata;

	if (pid != s->pid)
		return 0;
	s->id = cgroup_id;
	return -ECANCELED;
}

int own_cgroup(struct cgfs *cgfs, char ret[static CGPATH_MAX])
{
	struct search s = {.pid = getpid()};
	uint32_t level;

	cgfs_pids(cgfs, "/", is_it, &s);
	return s.id ? cgfs_path_of(cgfs, s.id, ret, CGPATH_MAX, &level) : -ENOENT;
}

int own_path(struct cgfs *cgfs, struct cgpath *ret)
{
	char path[CGPATH_MAX];
	int r = own_cgroup(cgfs, path);

	if (r >= 0)
		cgpath_parse(path, strlen(path), ret);
	return r;
}

static bool by_members(const char *name)
{
	struct hierarchy hierarchy;
	struct cgfs *cgfs;
	struct cgpath own;
	bool in_pod;

	if (hierarchy_detect(name, &hierarchy) < 0 ||
	    cgfs_open(hierarchy.mount, hierarchy.unified, &cgfs) < 0)
		return false;
	in_pod = own_path(cgfs, &own) >= 0 && own.pod_uid[0];
	cgfs_free(cgfs);
	return in_pod;
}

static bool by_proc(void)
{
	_cleanup_(cleanup_free) char *text = NULL;

	if (fd_read_all(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &text) < 0)
		return false;
	for (const char *at = text; *at; at += *at == '\n') {
		size_t len = strcspn(at, "\n");
		struct cgpath own;

		cgpath_parse(at, len, &own);
		if (own.pod_uid[0])
			return true;
		at += len;
	}
	return false;
}

bool own_is_in_pod(const char *hierarchy)
{
	return by_proc() || by_members(hierarchy);
}
