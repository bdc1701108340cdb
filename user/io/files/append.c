// SPDX-License-Identifier: Apache-2.0
/* Holds the file by a lock on it; a new one is locked before it takes the old one's name. */
#include "io/files/append.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "io/files/fd.h"

#define FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK)

/* The holder may be putting another one in its place; it does so rarely. */
#define ATTEMPTS 8

struct keepfile {
	int dir, fd;
	char name[NAME_MAX + 1];  /* in dir */
	char other[NAME_MAX + 1]; /* what is written beside it */
	size_t size;
};

static int fail(struct keepfile_why *why, int error, const char *path, const char *what)
{
	snprintf(why->text, sizeof(why->text), "%.380s: %.120s", path, what);
	return error;
}

static int fail_errno(struct keepfile_why *why, const char *path)
{
	int error = -errno;

	return fail(why, error, path, strerror(-error));
}

/* dir holds PATH_MAX bytes. */
static int split(const char *path, char *dir, const char **ret_name, struct keepfile_why *why)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (path[0] != '/' || !slash[1])
		return fail(why, -EINVAL, path, "this is not the absolute path of a file");
	if (len >= PATH_MAX || strlen(slash + 1) + strlen(".new") > NAME_MAX)
		return fail(why, -ENAMETOOLONG, path, "the path is too long");
	snprintf(dir, PATH_MAX, "%.*s", len ? (int)len : 1, path);
	*ret_name = slash + 1;
	return 0;
}

static int open_dir(const char *path, int *ret, struct keepfile_why *why)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct stat st;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail_errno(why, path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return fail(why, -EPERM, path, "the directory is somebody else's");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail(why, -EPERM, path, "others may make files in it; chmod go-w it");
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return fail_errno(why, path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int judge(int fd, const char *path, struct keepfile_why *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail_errno(why, path);
	if (!S_ISREG(st.st_mode))
		return fail(why, -EINVAL, path, "this is not a regular file");
	if (st.st_nlink > 1)
		return fail(why, -EINVAL, path, "this has other names, too");
	if (st.st_uid != geteuid())
		return fail(why, -EPERM, path, "this is somebody else's");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail(why, -EPERM, path, "others may write it; chmod go-w it");
	return 0;
}

static int open_file(const struct keepfile *file, const char *path, int flags, int *ret,
		     struct keepfile_why *why)
{
	_cleanup_(cleanup_close) int fd = openat(file->dir, file->name, FLAGS | flags, 0600);
	int r;

	if (fd < 0 && errno == ELOOP)
		return fail(why, -ELOOP, path, "this is a symbolic link");
	if (fd < 0)
		return fail_errno(why, path);
	r = judge(fd, path, why);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

/* No other process writes to it: this is its size. */
static bool is_there(const struct keepfile *file, int fd, size_t *ret_size)
{
	struct stat ours, now;

	if (fstat(fd, &ours) < 0 || fstatat(file->dir, file->name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    ours.st_dev != now.st_dev || ours.st_ino != now.st_ino)
		return false;
	*ret_size = (size_t)ours.st_size;
	return true;
}

/* Between opening and locking, who held it may have added to it, or put another one in its place.
 */
static int hold(struct keepfile *file, const char *path, struct keepfile_why *why)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		_cleanup_(cleanup_close) int fd = -1;
		int r = open_file(file, path, O_CREAT, &fd, why);

		if (r < 0)
			return r;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK)
				return fail_errno(why, path);
			break;
		}
		if (is_there(file, fd, &file->size)) {
			file->fd = TAKE_FD(fd);
			return 0;
		}
	}
	return fail(why, -EBUSY, path, "another graced daemon has it");
}

DEFINE_CLEANUP(struct keepfile *, keepfile_free);

int keepfile_open(const char *path, struct keepfile **ret, struct keepfile_why *ret_why)
{
	_cleanup_(cleanup_keepfile_free) struct keepfile *file = calloc(1, sizeof(*file));
	const char *name;
	char dir[PATH_MAX];
	int r;

	if (!file)
		return fail(ret_why, -ENOMEM, path, strerror(ENOMEM));
	file->dir = file->fd = -1;
	r = split(path, dir, &name, ret_why);
	if (r < 0)
		return r;
	snprintf(file->name, sizeof(file->name), "%s", name);
	snprintf(file->other, sizeof(file->other), "%s.new", name);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return fail_errno(ret_why, dir);
	r = open_dir(dir, &file->dir, ret_why);
	if (r >= 0)
		r = hold(file, path, ret_why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(file);
	return 0;
}

struct keepfile *keepfile_free(struct keepfile *file)
{
	if (!file)
		return NULL;
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir >= 0)
		close(file->dir);
	free(file);
	return NULL;
}

int keepfile_check(const char *path, struct keepfile_why *ret_why)
{
	_cleanup_(cleanup_close) int dir = -1;
	_cleanup_(cleanup_close) int fd = -1;
	struct keepfile file = {};
	const char *name;
	char parent[PATH_MAX];
	int r;

	r = split(path, parent, &name, ret_why);
	if (r < 0)
		return r;
	snprintf(file.name, sizeof(file.name), "%s", name);
	r = open_dir(parent, &dir, ret_why);
	file.dir = dir;
	if (r >= 0)
		r = open_file(&file, path, 0, &fd, ret_why);
	return r == -ENOENT ? 1 : r;
}

int keepfile_read(const struct keepfile *file, size_t max, struct buf *ret)
{
	char *at;
	ssize_t n;

	if (file->size > max)
		return -EFBIG;
	at = buf_reserve(ret, file->size);
	if (!at)
		return buf_error(ret);
	if (lseek(file->fd, 0, SEEK_SET) < 0)
		return -errno;
	n = fd_read_full(file->fd, at, file->size);
	if (n < 0)
		return (int)n;
	buf_commit(ret, (size_t)n);
	return 0;
}

/* Where it cannot be written whole it is not written at all. */
static int write_at(int fd, size_t at, const char *data, size_t size)
{
	int r = fd_write_full(fd, data, size, (off_t)at);

	/* A part of it, without its end, is none to a reader, so this may fail. */
	if (r < 0 && ftruncate(fd, (off_t)at) < 0)
		return -errno;
	return r;
}

int keepfile_append(struct keepfile *file, const char *data, size_t size)
{
	int r = write_at(file->fd, file->size, data, size);

	if (r >= 0)
		file->size += size;
	return r;
}

static int make_other(const struct keepfile *file, const char *data, size_t size, int *ret)
{
	_cleanup_(cleanup_close) int fd = -1;
	int r;

	if (unlinkat(file->dir, file->other, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(file->dir, file->other, FLAGS | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	r = write_at(fd, 0, data, size);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

int keepfile_replace(struct keepfile *file, const char *data, size_t size)
{
	_cleanup_(cleanup_close) int fd = -1;
	int r = make_other(file, data, size, &fd);

	if (r >= 0 && renameat(file->dir, file->other, file->dir, file->name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(file->dir, file->other, 0);
		return r;
	}
	close(file->fd);
	file->fd = TAKE_FD(fd);
	file->size = size;
	return 0;
}

int keepfile_clear(struct keepfile *file)
{
	if (ftruncate(file->fd, 0) < 0)
		return -errno;
	file->size = 0;
	return 0;
}

size_t keepfile_size(const struct keepfile *file)
{
	return file->size;
}
