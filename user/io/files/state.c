// SPDX-License-Identifier: Apache-2.0
/* A temporary file in the same directory, then rename(2): as the kubelet writes its own
 * (docs/kubelet-rules.md, "Shutdown state file"). */
#include "io/files/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && mkdir(path, 0700) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_temporary(int dirfd, const char *name, const char *data, size_t size)
{
	_cleanup_(cleanup_close) int fd = -1;

	/* One that a process before this left behind goes. */
	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	errno = 0;
	return write(fd, data, size) == (ssize_t)size ? 0 : errno ? -errno : -EIO;
}

int statefile_write(const char *path, const char *data, size_t size)
{
	_cleanup_(cleanup_close) int dirfd = -1;
	const char *name = strrchr(path, '/');
	char dir[PATH_MAX], temporary[NAME_MAX + 1];
	int r;

	if (!name || name == path)
		return -EINVAL;
	if ((size_t)(name - path) >= sizeof(dir) ||
	    snprintf(temporary, sizeof(temporary), ".tmp-%s", name + 1) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	dirfd = open_dir(dir);
	if (dirfd < 0)
		return dirfd;
	r = write_temporary(dirfd, temporary, data, size);
	if (r == 0 && renameat(dirfd, temporary, dirfd, name + 1) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, temporary, 0);
	return r;
}
