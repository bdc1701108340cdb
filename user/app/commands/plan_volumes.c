// SPDX-License-Identifier: Apache-2.0
/* Reads the table of mounts once. */
#include "app/commands/plan_volumes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/fd.h"
#include "wire/kernel/kubelet_mounts.h"

#define TABLE	  "/proc/self/mountinfo"
#define TABLE_MAX ((size_t)64 << 20)

struct reading {
	char root[PATH_MAX]; /* without symbolic links, as the kernel shows it */
	struct arena *arena;
	struct shutview_use *uses;
	size_t n;
};

static bool find_driver(const char *root, const struct kubemount *m,
			char ret[static SHUTDOWN_DRIVER_MAX])
{
	char below[PATH_MAX], path[PATH_MAX];

	for (unsigned int i = 0; i < KUBEMOUNT_FILES && kubemount_file(m, i, below, sizeof(below));
	     i++) {
		_cleanup_(cleanup_free) char *text = NULL;
		ssize_t len;

		if (snprintf(path, sizeof(path), "%s/%s", root, below) >= (int)sizeof(path))
			continue;
		len = fd_read_all(AT_FDCWD, path, KUBEMOUNT_FILE_MAX, &text);
		if (len >= 0 && kubemount_read_driver(text, (size_t)len, ret) == 0)
			return true;
	}
	return false;
}

static int take_line(struct reading *r, const char *line, size_t len)
{
	char driver[SHUTDOWN_DRIVER_MAX];
	struct shutview_use use;
	struct kubemount m;

	if (kubemount_parse(line, len, r->root, &m) <= 0 || !*m.pod_uid ||
	    !find_driver(r->root, &m, driver))
		return 0;
	use = (struct shutview_use){arena_strdup(r->arena, m.pod_uid),
				    arena_strdup(r->arena, driver)};
	if (!use.pod_uid || !use.driver)
		return -ENOMEM;
	r->uses[r->n++] = use;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

int planvolumes_read(const char *root, struct arena *arena, struct shutview_use **ret,
		     size_t *ret_n)
{
	_cleanup_(cleanup_free) char *text = NULL;
	struct reading reading = {.arena = arena};
	int r = 0;

	*ret_n = 0;
	if (!realpath(root, reading.root) || fd_read_all(AT_FDCWD, TABLE, TABLE_MAX, &text) < 0)
		return 0;
	reading.uses = arena_array(arena, count_lines(text) + 1, sizeof(*reading.uses));
	if (!reading.uses)
		return -ENOMEM;
	for (const char *line = text; r == 0 && *line;) {
		size_t len = strcspn(line, "\n");

		r = take_line(&reading, line, len);
		line += len + (line[len] == '\n');
	}
	*ret = reading.uses;
	*ret_n = reading.n;
	return r;
}
