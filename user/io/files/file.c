// SPDX-License-Identifier: Apache-2.0
/* Reads large pieces and hands out lines without copying them, judges who could have written a
 * file, and writes a temporary file before rename(2). */
#include "io/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

#define PIECE (256u << 10)

struct lines {
	int fd;
	bool end;
	size_t max, at, len, room;
	char *data; /* the bytes from at to len are not handed out yet */
};

int lines_open(const char *path, size_t max, struct lines **ret)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	struct stat st;
	int r = 0;

	if (!lines)
		return -ENOMEM;
	lines->max = max;
	lines->room = max + 1 + PIECE;
	lines->data = malloc(lines->room);
	lines->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
				      : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (lines->fd < 0)
		r = -errno;
	else if (!lines->data)
		r = -ENOMEM;
	else if (fstat(lines->fd, &st) == 0 && S_ISDIR(st.st_mode))
		r = -EISDIR;
	if (r < 0) {
		lines_free(lines);
		return r;
	}
	*ret = lines;
	return 0;
}

struct lines *lines_free(struct lines *lines)
{
	if (!lines)
		return NULL;
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->data);
	free(lines);
	return NULL;
}

/* Makes room behind what is left and reads on; false: there is no more, or *ret_error. */
static bool fill(struct lines *lines, int *ret_error)
{
	ssize_t n;

	if (lines->end)
		return false;
	memmove(lines->data, lines->data + lines->at, lines->len - lines->at);
	lines->len -= lines->at;
	lines->at = 0;
	do
		n = read(lines->fd, lines->data + lines->len, lines->room - lines->len);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		*ret_error = -errno;
		return false;
	}
	lines->end = n == 0;
	lines->len += (size_t)n;
	return n > 0;
}

int lines_next(struct lines *lines, struct lines_line *ret)
{
	size_t looked = 0;
	int error = 0;

	for (;;) {
		size_t left = lines->len - lines->at;
		char *start = lines->data + lines->at;
		char *newline = memchr(start + looked, '\n', left - looked);
		size_t len = newline ? (size_t)(newline - start) : left;

		if (len > lines->max)
			return -EMSGSIZE;
		if (newline || (lines->end && left)) {
			*ret = (struct lines_line){start, len, newline != NULL};
			lines->at += len + (newline != NULL);
			return 1;
		}
		looked = left;
		if (!fill(lines, &error) && (error < 0 || lines->at == lines->len))
			return error;
	}
}

int lines_skip(struct lines *lines)
{
	int error = 0;

	for (;;) {
		char *start = lines->data + lines->at;
		char *newline = memchr(start, '\n', lines->len - lines->at);

		lines->at = newline ? (size_t)(newline + 1 - lines->data) : lines->len;
		if (newline || !fill(lines, &error))
			return error;
	}
}

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
	int r;

	/* One that a process before this left behind goes. */
	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	r = fd_write_full(fd, data, size, 0);
	if (r < 0)
		return r;
	/* Begins to write it to the disk, and does not wait: after a loss of power some file
	 * systems would else show the new name with nothing in it. */
	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return 0;
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

/* Why a file must not be used; NULL: it may. */
static const char *distrust(const struct stat *st, bool secret)
{
	if (!S_ISREG(st->st_mode))
		return "is not a regular file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "belongs to somebody else; chown it to root";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "may be written by its group or others; chmod go-w it";
	if (secret && st->st_mode & S_IROTH)
		return "may be read by everybody, but is secret; chmod o-r it";
	return NULL;
}

/* In one piece, so that no copies of a secret are left behind as a buffer grows. */
static int read_all(int fd, size_t size, struct buf *ret)
{
	char *at = buf_reserve(ret, size + 1);
	ssize_t n;

	if (!at)
		return buf_error(ret);
	n = fd_read_full(fd, at, size + 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n > size)
		return -EBUSY; /* it grew */
	buf_commit(ret, (size_t)n);
	return 0;
}

static int explain(struct trusted_why *ret_why, const char *verb, const char *path, int r)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot %s %s: %s", verb, path,
		 strerror(-r));
	return r;
}

/* The file is judged that was opened: the path may mean another one a moment later. */
int trusted_read(const char *path, bool secret, size_t max, struct buf *ret,
		 struct trusted_why *ret_why)
{
	_cleanup_(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	const char *why;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return explain(ret_why, "open", path, -errno);
	why = distrust(&st, secret);
	if (why) {
		snprintf(ret_why->text, sizeof(ret_why->text), "%s %s", path, why);
		return -EPERM;
	}
	if ((size_t)st.st_size > max) {
		snprintf(ret_why->text, sizeof(ret_why->text), "%s is bigger than %zu KiB", path,
			 max >> 10);
		return -EFBIG;
	}
	r = read_all(fd, (size_t)st.st_size, ret);
	return r < 0 ? explain(ret_why, "read", path, r) : 0;
}

/* Names and links on a way. */
#define STEPS_MAX 128

/* In a sticky directory others may add names, but not change root's. */
static bool is_ours(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return false;
	return S_ISLNK(st->st_mode) || !(st->st_mode & (S_IWGRP | S_IWOTH)) ||
	       (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
}

/* What the path names, the directory that it is in, and what it leads to. */
static int judge(const char *path, unsigned int *steps)
{
	size_t up = (size_t)(strrchr(path, '/') - path), room = PATH_MAX - up - 1;
	char next[PATH_MAX];
	struct stat st;
	ssize_t n;
	int r;

	if (++*steps > STEPS_MAX)
		return -ELOOP;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!is_ours(&st))
		return -EPERM;
	snprintf(next, sizeof(next), "%.*s", up ? (int)up : 1, path);
	r = path[1] ? judge(next, steps) : 0;
	if (r < 0 || !S_ISLNK(st.st_mode))
		return r;
	next[up] = '/';
	n = readlink(path, next + up + 1, room);
	if (n < 0 || (size_t)n >= room)
		return n < 0 ? -errno : -ENAMETOOLONG;
	next[up + 1 + (size_t)n] = '\0';
	return judge(next[up + 1] == '/' ? next + up + 1 : next, steps);
}

int trusted_way(const char *path)
{
	unsigned int steps = 0;

	return *path == '/' ? judge(path, &steps) : -EINVAL;
}

/* --- to the disk ------------------------------------------------------------------------------ */

/* Asynchronous I/O by its system calls: one request for the file, one for its name. */

#define REQUESTS 2

static int open_context(struct filesync *sync)
{
	if (sync->context)
		return 0;
	return syscall(SYS_io_setup, REQUESTS, &sync->context) < 0 ? -errno : 0;
}

/* What is over of the one under way. */
static void take_done(struct filesync *sync)
{
	struct timespec at_once = {};
	struct io_event events[REQUESTS];
	long n;

	if (!sync->pending)
		return;
	n = syscall(SYS_io_getevents, sync->context, 0L, (long)REQUESTS, events, &at_once);
	for (long i = 0; i < n; i++) {
		sync->pending--;
		if (events[i].res < 0)
			sync->failed = (int)events[i].res;
	}
	if (!sync->pending)
		sync->error = sync->failed;
}

static struct iocb request(int fd)
{
	return (struct iocb){.aio_lio_opcode = IOCB_CMD_FSYNC, .aio_fildes = (uint32_t)fd};
}

/* The kernel holds the files for as long as it needs them. It takes what is before one that it
 * refuses. */
static int submit(struct filesync *sync, int file, int dir)
{
	struct iocb of_file = request(file), of_dir = request(dir);
	struct iocb *list[REQUESTS] = {&of_file, &of_dir};

	sync->failed = 0;
	while (sync->pending < REQUESTS) {
		long n = syscall(SYS_io_submit, sync->context, (long)(REQUESTS - sync->pending),
				 list + sync->pending);

		if (n <= 0)
			return n < 0 ? -errno : -EAGAIN;
		sync->pending += (unsigned int)n;
	}
	return 0;
}

static int begin(struct filesync *sync, const char *path)
{
	_cleanup_(cleanup_close) int file = -1;
	_cleanup_(cleanup_close) int dir = -1;
	const char *name = strrchr(path, '/');
	char above[PATH_MAX];
	int r = open_context(sync);

	if (r < 0)
		return r;
	if (!name || (size_t)(name - path) >= sizeof(above))
		return -EINVAL;
	snprintf(above, sizeof(above), "%.*s", (int)(name - path) ?: 1, path);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return -errno;
	dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : submit(sync, file, dir);
}

int filesync_begin(struct filesync *sync, const char *path)
{
	int r;

	take_done(sync);
	if (sync->pending)
		return -EBUSY;
	r = begin(sync, path);
	if (r < 0)
		sync->error = sync->failed = r;
	return sync->error;
}

void filesync_close(struct filesync *sync)
{
	if (sync->context)
		syscall(SYS_io_destroy, sync->context);
	*sync = (struct filesync){};
}

/* --- added to, and held ----------------------------------------------------------------------- */

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

static int open_kept_dir(const char *path, int *ret, struct keepfile_why *why)
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

static int judge_kept(int fd, const char *path, struct keepfile_why *why)
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
	r = judge_kept(fd, path, why);
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
	r = open_kept_dir(dir, &file->dir, ret_why);
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
	r = open_kept_dir(parent, &dir, ret_why);
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
