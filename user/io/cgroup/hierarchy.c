// SPDX-License-Identifier: Apache-2.0
/* Chooses the cgroup hierarchy that holds the containers from what is mounted, and finds frozen
 * processes. */
#include "io/cgroup/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/cgroup/fs.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"
#include "wire/kernel/mounts.h"

#define TEXT_MAX (4u << 20)

/* The root of every kernfs tree is its first node. */
#define ROOT_INODE 1

/* Runtimes put a container into a cgroup of each mounted v1 controller; these are the usual ones,
 * the one that also knows about memory first. */
static const char *const v1_choices[] = {"memory", "pids", "cpu", "freezer", "devices", "blkio"};

/* id parent major:minor root point options [optional...] - type source super-options */
bool hierarchy_parse_mount(const char *line, size_t len, struct hierarchy_mount *ret)
{
	const char *at = line, *end = line + len;
	struct hierarchy_mount mount = {};
	struct mountinfo_field f, point = {};

	for (int i = 0; i < 6; i++) {
		if (!mountinfo_next(&at, end, &f))
			return false;
		if (i == 4)
			point = f;
	}
	do {
		if (!mountinfo_next(&at, end, &f))
			return false;
	} while (!mountinfo_is(f, "-"));
	if (!mountinfo_next(&at, end, &f))
		return false;
	if (mountinfo_is(f, "cgroup2"))
		mount.unified = true;
	else if (!mountinfo_is(f, "cgroup"))
		return false;
	if (!mountinfo_unescape(point, mount.point, sizeof(mount.point)) || mount.point[0] != '/')
		return false;
	if (!mountinfo_next(&at, end, &f) || !mountinfo_next(&at, end, &f))
		return false;
	if (!mountinfo_unescape(f, mount.controllers, sizeof(mount.controllers)))
		return false;
	*ret = mount;
	return true;
}

static bool lists(const char *controllers, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = controllers; *at;) {
		size_t n = strcspn(at, ",");

		if (n == len && memcmp(at, name, n) == 0)
			return true;
		at += n;
		at += *at == ',';
	}
	return false;
}

/* Looks a controller up in the text of /proc/cgroups: its hierarchy's id, 0 for the unified one or
 * when it is not listed. */
static uint32_t parse_id(const char *proc_cgroups, const char *controller)
{
	size_t len = strlen(controller);

	for (const char *at = proc_cgroups; *at;) {
		if (strncmp(at, controller, len) == 0 && at[len] == '\t')
			return (uint32_t)strtoul(at + len + 1, NULL, 10);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return 0;
}

struct search {
	const char *mountinfo;
	bool (*is_root)(void *userdata, const char *mount_point);
	void *userdata;
};

/* controller NULL: the unified hierarchy. */
static int find_mount(const struct search *s, const char *controller, struct hierarchy_mount *ret)
{
	int r = -ENOENT;

	for (const char *at = s->mountinfo; *at;) {
		size_t len = strcspn(at, "\n");
		struct hierarchy_mount mount;
		bool match;

		match = hierarchy_parse_mount(at, len, &mount) && mount.unified == !controller &&
			(!controller || lists(mount.controllers, controller));
		at += len;
		at += *at == '\n';
		if (!match)
			continue;
		if (s->is_root(s->userdata, mount.point)) {
			*ret = mount;
			return 0;
		}
		r = -EXDEV;
	}
	return r;
}

static int take(const struct search *s, const char *proc_cgroups, const char *controller,
		struct hierarchy *ret)
{
	struct hierarchy_mount mount;
	struct hierarchy h = {};
	int r = find_mount(s, controller, &mount);

	if (r < 0)
		return r;
	h.unified = !controller;
	snprintf(h.name, sizeof(h.name), "%s", controller ? controller : "unified");
	memcpy(h.mount, mount.point, sizeof(h.mount));
	h.id = controller ? parse_id(proc_cgroups, controller) : 0;
	h.memory_ids = parse_id(proc_cgroups, "memory") == h.id;
	*ret = h;
	return 0;
}

int hierarchy_choose(const char *mountinfo, const char *proc_cgroups, const char *name,
		     bool (*is_root)(void *userdata, const char *mount_point), void *userdata,
		     struct hierarchy *ret)
{
	struct search s = {mountinfo, is_root, userdata};
	struct hierarchy unified;
	int r, r_unified;

	if (name)
		return take(&s, proc_cgroups, strcmp(name, "unified") ? name : NULL, ret);
	/* With the memory controller in the unified hierarchy, no container lives elsewhere. */
	r_unified = take(&s, proc_cgroups, NULL, &unified);
	if (r_unified == 0 && unified.memory_ids && strcmp(unified.mount, "/sys/fs/cgroup") == 0) {
		*ret = unified;
		return 0;
	}
	for (size_t i = 0; i < sizeof(v1_choices) / sizeof(*v1_choices); i++) {
		r = take(&s, proc_cgroups, v1_choices[i], ret);
		if (r != -ENOENT)
			return r;
	}
	if (r_unified == 0)
		*ret = unified;
	return r_unified;
}

static bool shows_root(void *userdata, const char *mount_point)
{
	struct stat st;

	return stat(mount_point, &st) == 0 && st.st_ino == ROOT_INODE;
}

static bool shows_any(void *userdata, const char *mount_point)
{
	return true;
}

static int detect(const char *name, bool (*suits)(void *userdata, const char *mount_point),
		  struct hierarchy *ret)
{
	_cleanup_(cleanup_free) char *mountinfo = NULL, *cgroups = NULL;
	ssize_t n;

	n = fd_read_all(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &mountinfo);
	if (n < 0)
		return (int)n;
	n = fd_read_all(AT_FDCWD, "/proc/cgroups", TEXT_MAX, &cgroups);
	if (n < 0)
		return (int)n;
	return hierarchy_choose(mountinfo, cgroups, name, suits, NULL, ret);
}

int hierarchy_detect(const char *name, struct hierarchy *ret)
{
	return detect(name, shows_root, ret);
}

int hierarchy_detect_part(const char *name, struct hierarchy *ret)
{
	int r = detect(name, shows_root, ret);

	return r == -EXDEV ? detect(name, shows_any, ret) : r;
}

#define CONTROLLER "freezer"
#define TEXT_SIZE  256

void freezer_find(struct freezer *ret)
{
	ret->has_v1 = hierarchy_detect(CONTROLLER, &ret->v1) == 0 && !ret->v1.unified;
	ret->has_v2 = hierarchy_detect("unified", &ret->v2) == 0;
}

/* Leaves of the path of a process what ends with the component that the container's cgroup has for
 * its name in another hierarchy, if it has that: the rest is below the container. */
static void cut_below(char *own, const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len = name ? strlen(name) : 0;

	for (char *at = len > 1 ? strstr(own, name) : NULL; at; at = strstr(at + 1, name)) {
		if (at[len] != '/')
			continue;
		at[len] = '\0';
		return;
	}
}

/* The text of a file of that cgroup; "" when there is none. */
static void read_file(const struct freezer *f, const struct hierarchy *h, pid_t pid,
		      const char *path, const char *file, char ret[static TEXT_SIZE])
{
	char own[PATH_MAX], name[2 * PATH_MAX + 32];

	*ret = 0;
	if (!path || strcmp(h->mount, f->containers) != 0) {
		if (procfs_cgroup_of(pid, h->unified ? NULL : CONTROLLER, own, sizeof(own)) < 0)
			return;
		if (path)
			cut_below(own, path);
		path = own;
	}
	snprintf(name, sizeof(name), "%s%s/%s", h->mount, path, file);
	if (fd_read_into(AT_FDCWD, name, ret, TEXT_SIZE) < 0)
		*ret = 0;
}

bool freezer_holds(const struct freezer *freezer, pid_t pid, const char *path)
{
	uint64_t frozen = 0;
	char text[TEXT_SIZE];

	if (freezer->has_v1) {
		read_file(freezer, &freezer->v1, pid, path, "freezer.state", text);
		/* FROZEN, or FREEZING, while one of its processes does not stand still yet. */
		if (strncmp(text, "FR", strlen("FR")) == 0)
			return true;
	}
	if (!freezer->has_v2)
		return false;
	read_file(freezer, &freezer->v2, pid, path, "cgroup.events", text);
	return cgfs_parse_key(text, "frozen", &frozen) == 0 && frozen;
}
