// SPDX-License-Identifier: Apache-2.0
/* Judges directories and files by who may write to them, after opening them. */
#include "io/sources/files/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"

static int judge(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return -EPERM;
	return st->st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

static int open_judged(int dirfd, const char *path, int flags, int *ret_fd)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = judge(&st);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int podsrc_files_open_root(const char *path, int *ret_fd)
{
	return open_judged(AT_FDCWD, path, 0, ret_fd);
}

int podsrc_files_open_dir(int dirfd, const char *name, int *ret_fd)
{
	return open_judged(dirfd, name, O_NOFOLLOW, ret_fd);
}

int podsrc_files_open(int dirfd, const char *name, struct podsrc_files_stamp *ret_stamp,
		      int *ret_fd)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	/* A socket, or a device without a driver. */
	if (fd < 0 && errno == ENXIO)
		return -EINVAL;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = judge(&st);
	if (r < 0)
		return r;
	*ret_stamp = (struct podsrc_files_stamp){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
	};
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int podsrc_files_read(int fd, const struct podsrc_files_stamp *stamp, size_t max, char **ret,
		      size_t *ret_len)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t size = (size_t)stamp->size;
	ssize_t n;

	if (stamp->size < 0 || size > max)
		return -EFBIG;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	n = fd_read_full(fd, text, size + 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n != size)
		return -EBUSY;
	*ret = TAKE_PTR(text);
	*ret_len = size;
	return 0;
}
