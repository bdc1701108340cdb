// SPDX-License-Identifier: Apache-2.0
/* Opens and reads small files and directories without following links. */
#include "io/files/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int fd_write_full(int fd, const char *data, size_t size, off_t at)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(fd, data + done, size - done, at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

ssize_t fd_read_full(int fd, char *buf, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, buf + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

ssize_t fd_read_into(int dirfd, const char *path, char *ret, size_t size)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = fd_read_full(fd, ret, size - 1);
	if (n >= 0)
		ret[n] = 0;
	return n;
}

ssize_t fd_read_all(int dirfd, const char *path, size_t max, char **ret)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_(cleanup_free) char *text = NULL;
	size_t size = 4096, got = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *bigger = realloc(text, size + 1);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		text = bigger;
		n = fd_read_full(fd, text + got, size - got);
		if (n < 0)
			return n;
		got += (size_t)n;
		if (got > max)
			return -EFBIG;
		if (got < size)
			break;
		size *= 2;
	}
	text[got] = 0;
	*ret = TAKE_PTR(text);
	return (ssize_t)got;
}

int fd_read_sized(int fd, off_t size, size_t max, char **ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t n;

	if (size < 0 || (size_t)size > max)
		return -EFBIG;
	text = malloc((size_t)size + 1);
	if (!text)
		return -ENOMEM;
	n = fd_read_full(fd, text, (size_t)size + 1);
	if (n < 0)
		return (int)n;
	if (n != size)
		return -EBUSY;
	*ret = TAKE_PTR(text);
	return 0;
}

int fd_open_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY);

	return fd < 0 ? -errno : fd;
}

int fd_opendir(int dirfd, const char *name, DIR **ret)
{
	_cleanup_(cleanup_close) int fd = fd_open_dir(dirfd, name);
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	TAKE_FD(fd);
	*ret = dir;
	return 0;
}
