// SPDX-License-Identifier: Apache-2.0
#include "io/cgroup/figures.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/cgroup/fs.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

/* One that fits no cgroup is not read. */
#define TEXT_SIZE 4096

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

static bool read_text(const struct spot *spot, const char *file, char ret[static TEXT_SIZE])
{
	char path[2 * PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", spot->dir, file);
	return fd_read_into(AT_FDCWD, path, ret, TEXT_SIZE) > 0;
}

static uint64_t read_key(const struct spot *spot, const char *file, const char *key)
{
	char text[TEXT_SIZE];
	uint64_t value;

	return read_text(spot, file, text) && cgfs_parse_key(text, key, &value) == 0 ? value : 0;
}

/* "max", or a number. */
static uint64_t read_limit(const struct spot *spot, const char *file)
{
	char text[TEXT_SIZE];

	return read_text(spot, file, text) ? strtoull(text, NULL, 10) : 0;
}

/* "full avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS" */
static uint64_t read_stalled_ns(const struct spot *spot, const char *file)
{
	char text[TEXT_SIZE];
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
