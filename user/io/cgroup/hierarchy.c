// SPDX-License-Identifier: Apache-2.0
/* Chooses the cgroup hierarchy that holds the containers from what is mounted, and finds frozen
 * processes. */
#include "io/cgroup/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
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

/* Leaves of the path of a process what ends with the last component that the container's cgroup has
 * for its name in another hierarchy, if it has that: the rest is below the container. */
static void cut_below(char *own, const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len = name ? strlen(name) : 0;
	char *end = NULL;

	for (char *at = len > 1 ? strstr(own, name) : NULL; at; at = strstr(at + 1, name))
		if (!at[len] || at[len] == '/')
			end = at + len;
	if (end)
		*end = '\0';
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

/* --- what the kernel counts of a container ---------------------------------------------------- */

/* One that fits no cgroup is not read. */
#define FIGURE_SIZE 4096

enum controller { CPU, PIDS, MEMORY, IO, CONTROLLERS };

static const char *const names[CONTROLLERS] =
	{[CPU] = "cpu", [PIDS] = "pids", [MEMORY] = "memory", [IO] = "io"};

struct figures {
	struct place {
		char *mount; /* NULL: there is none */
		bool unified;
		bool is_containers; /* it is the hierarchy whose paths the engine has */
	} of[CONTROLLERS];
	struct freezer freezer;
};

static int find_place(const char *name, const struct hierarchy *containers, struct hierarchy *h,
		      struct place *ret)
{
	if (hierarchy_detect(name, h) < 0 && hierarchy_detect("unified", h) < 0)
		return 0;
	ret->mount = strdup(h->mount);
	ret->unified = h->unified;
	ret->is_containers = strcmp(h->mount, containers->mount) == 0;
	return ret->mount ? 0 : -ENOMEM;
}

int figures_new(const struct hierarchy *containers, struct figures **ret)
{
	struct figures *f = calloc(1, sizeof(*f));
	_cleanup_(cleanup_free) struct hierarchy *h = calloc(1, sizeof(*h));
	int r = f && h ? 0 : -ENOMEM;

	for (int i = 0; r == 0 && i < CONTROLLERS; i++)
		r = find_place(names[i], containers, h, f->of + i);
	if (r < 0) {
		figures_free(f);
		return r;
	}
	freezer_find(&f->freezer);
	strcpy(f->freezer.containers, containers->mount);
	*ret = f;
	return 0;
}

struct figures *figures_free(struct figures *f)
{
	for (int i = 0; f && i < CONTROLLERS; i++)
		free(f->of[i].mount);
	free(f);
	return NULL;
}

/* A container, in the hierarchy of one controller. */
struct spot {
	const struct place *place;
	char dir[2 * PATH_MAX];
};

static bool read_text(const struct spot *spot, const char *file, char ret[static FIGURE_SIZE])
{
	char path[2 * PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", spot->dir, file);
	return fd_read_into(AT_FDCWD, path, ret, FIGURE_SIZE) > 0;
}

static uint64_t read_key(const struct spot *spot, const char *file, const char *key)
{
	char text[FIGURE_SIZE];
	uint64_t value;

	return read_text(spot, file, text) && cgfs_parse_key(text, key, &value) == 0 ? value : 0;
}

/* "max", or a number. */
static uint64_t read_limit(const struct spot *spot, const char *file)
{
	char text[FIGURE_SIZE];

	return read_text(spot, file, text) ? strtoull(text, NULL, 10) : 0;
}

/* "full avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static uint64_t read_stalled_ns(const struct spot *spot, const char *file)
{
	char text[FIGURE_SIZE];
	const char *full = read_text(spot, file, text) ? strstr(text, "full ") : NULL;
	const char *total = full ? strstr(full, "total=") : NULL;

	return total ? strtoull(total + strlen("total="), NULL, 10) * 1000 : 0;
}

static uint64_t read_throttled_ns(const struct spot *spot)
{
	return spot->place->unified ? read_key(spot, "cpu.stat", "throttled_usec") * 1000
				    : read_key(spot, "cpu.stat", "throttled_time");
}

static void read_forks(const struct spot *spot, struct look_figures *ret)
{
	ret->forks_failed = read_key(spot, "pids.events", "max");
	ret->pids_max = read_limit(spot, "pids.max");
}

static void read_spot(const struct spot *spot, enum controller of, struct look_figures *f)
{
	switch (of) {
	case CPU:
		f->throttled_ns = read_throttled_ns(spot);
		break;
	case PIDS:
		read_forks(spot, f);
		break;
	case MEMORY:
		f->memory_stalled_ns = read_stalled_ns(spot, "memory.pressure");
		break;
	case IO:
		f->io_stalled_ns = read_stalled_ns(spot, "io.pressure");
		break;
	default:
		break;
	}
}

static bool is_same_leaf(const char *a, const char *b)
{
	const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

	return x && y && x[1] && strcmp(x, y) == 0;
}

/* Where the container has no cgroup of its own in a hierarchy, others are in that one, too: what is
 * counted there says nothing. */
static bool find_spot(const struct place *place, enum controller of, const char *path, pid_t init,
		      struct spot *ret)
{
	char own[PATH_MAX];

	ret->place = place;
	if (!place->mount)
		return false;
	if (!place->is_containers &&
	    (procfs_cgroup_of(init, place->unified ? NULL : names[of], own, sizeof(own)) < 0 ||
	     !is_same_leaf(own, path)))
		return false;
	snprintf(ret->dir, sizeof(ret->dir), "%s%s", place->mount,
		 place->is_containers ? path : own);
	return true;
}

void figures_read(const struct figures *figures, const char *path, pid_t init,
		  struct obs_looked *ret)
{
	struct spot spot;

	for (int i = 0; i < CONTROLLERS; i++)
		if (find_spot(figures->of + i, (enum controller)i, path, init, &spot))
			read_spot(&spot, (enum controller)i, &ret->figures);
	ret->frozen = freezer_holds(&figures->freezer, init, path);
}
