// SPDX-License-Identifier: Apache-2.0
/* Asks the cgroup of a process whether it is frozen. */
#include "io/cgroup/freezer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "io/cgroup/fs.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

#define CONTROLLER "freezer"

void freezer_find(struct freezer *ret)
{
	ret->has_v1 = hierarchy_detect(CONTROLLER, &ret->v1) == 0 && !ret->v1.unified;
	ret->has_v2 = hierarchy_detect("unified", &ret->v2) == 0;
}

/* The text of a file of the process's cgroup; "" when there is none. */
static void read_file(const struct hierarchy *h, pid_t pid, const char *file, char *ret,
		      size_t size)
{
	char cgroup[PATH_MAX], path[2 * PATH_MAX + 32];

	*ret = 0;
	if (procfs_cgroup_of(pid, h->unified ? NULL : CONTROLLER, cgroup, sizeof(cgroup)) < 0)
		return;
	snprintf(path, sizeof(path), "%s%s/%s", h->mount, cgroup, file);
	if (fd_read_into(AT_FDCWD, path, ret, size) < 0)
		*ret = 0;
}

bool freezer_holds(const struct freezer *freezer, pid_t pid)
{
	uint64_t frozen = 0;
	char text[256];

	if (freezer->has_v1) {
		read_file(&freezer->v1, pid, "freezer.state", text, sizeof(text));
		if (strncmp(text, "FROZEN", strlen("FROZEN")) == 0)
			return true;
	}
	if (!freezer->has_v2)
		return false;
	read_file(&freezer->v2, pid, "cgroup.events", text, sizeof(text));
	return cgfs_parse_key(text, "frozen", &frozen) == 0 && frozen;
}
