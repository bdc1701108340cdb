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
#include "io/proc/mounts.h"

#define TABLE	  "/proc/self/mountinfo"
#define TABLE_MAX ((size_t)64 << 20)

struct reading {
	char root[PATH_MAX]; /* without symbolic links, as the kernel shows it */
	struct arena *arena;
	struct shutview_use *uses;
	size_t n;
};

static int take_line(struct reading *r, const char *line, size_t len)
{
	char driver[SHUTDOWN_DRIVER_MAX];
	struct shutview_use use;
	struct kubemount m;

	if (kubemount_parse(line, len, r->root, &m) <= 0 || !*m.pod_uid ||
	    !mounts_read_driver(r->root, &m, driver))
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
