/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and reads what only root could have put there, for io/sources/files. Everything below the
 * first directory is opened one name at a time and never through a link; each directory and file
 * must belong to root (or to this process's user) and be writable by nobody else.
 *
 * All return 0 or -errno: -ENOENT for what is not there, -EPERM for what others may have written,
 * -EFBIG for what is bigger than it may be.
 */
#ifndef IO_SOURCES_FILES_DIR_H
#define IO_SOURCES_FILES_DIR_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* Which file it is, and as of when: equal for a file that was not written since. */
struct podsrc_files_stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

/* The directory that an administrator named: links on the way to it are theirs, and followed. */
int podsrc_files_open_root(const char *path, int *ret_fd);

int podsrc_files_open_dir(int dirfd, const char *name, int *ret_fd);

/* Opens a regular file for reading; waits for no FIFO. -EINVAL for anything else. */
int podsrc_files_open(int dirfd, const char *name, struct podsrc_files_stamp *ret_stamp,
		      int *ret_fd);

/* The whole of an open file of at most max bytes; the caller frees *ret. -EBUSY for one that
 * changes its size meanwhile. */
int podsrc_files_read(int fd, const struct podsrc_files_stamp *stamp, size_t max, char **ret,
		      size_t *ret_len);

#endif
