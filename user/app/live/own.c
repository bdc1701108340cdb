// SPDX-License-Identifier: Apache-2.0
/* Finds this program among the members of all cgroups, which is so in any namespace. */
#include "app/live/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "io/cgroup/hierarchy.h"
#include "io/files/fd.h"

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
