// SPDX-License-Identifier: Apache-2.0
/* Judges a file, or the way to one, by who could have written it. */
#include "io/files/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"

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

/* In a sticky directory others may add names, and change none of root's. */
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
