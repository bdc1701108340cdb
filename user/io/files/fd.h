/* SPDX-License-Identifier: Apache-2.0 */
/* File descriptors: closing them with their scope, reading a small file whole. */
#ifndef IO_FILES_FD_H
#define IO_FILES_FD_H

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

DEFINE_CLEANUP(DIR *, closedir);
DEFINE_CLEANUP(FILE *, fclose);

/* All of it, from that offset on. 0 or -errno, with a part of it there. */
int fd_write_full(int fd, const char *data, size_t size, off_t at);

/* Up to size bytes, fewer only at the end of the file. How many, or -errno. */
ssize_t fd_read_full(int fd, char *ret, size_t size);

/*
 * The first size - 1 bytes of a file below dirfd (AT_FDCWD allowed), NUL-terminated, into ret.
 * Symbolic links in the last component are not followed. The number of bytes, or -errno.
 */
ssize_t fd_read_into(int dirfd, const char *path, char *ret, size_t size);

/*
 * A whole file, NUL-terminated; the caller frees *ret. -EFBIG beyond max bytes. The number of
 * bytes, or -errno.
 */
ssize_t fd_read_all(int dirfd, const char *path, size_t max, char **ret);

/* The whole of an open file that has that size; the caller frees *ret. 0, -EFBIG beyond max bytes,
 * -EBUSY for one that has another size by now, or -errno. */
int fd_read_sized(int fd, off_t size, size_t max, char **ret);

/* Opens a directory for reading, never through a symbolic link. A descriptor, or -errno. */
int fd_open_dir(int dirfd, const char *name);
/* The same, to be listed; the caller closes *ret. */
int fd_opendir(int dirfd, const char *name, DIR **ret);

#endif
