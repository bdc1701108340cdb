// SPDX-License-Identifier: Apache-2.0
/* Follows a socket's path as the kernel does to find who could have made each step. */
#include "io/files/socket.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 8

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static bool is_others(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) ||
	       ((st->st_mode & S_IWGRP) && st->st_gid != 0 && st->st_gid != getegid());
}

/* A directory in which others can make entries is accepted if they cannot touch the entries of
 * other users; but then no link in it is followed. */
static int check_directory(const struct stat *st, bool *ret_shared)
{
	*ret_shared = is_others(st);
	if (!S_ISDIR(st->st_mode))
		return -ENOTDIR;
	return is_ours(st) && (!*ret_shared || (st->st_mode & S_ISVTX)) ? 0 : -EPERM;
}

/* Replaces the link that path[0 .. end) is by where it leads. */
static int follow(char path[static PATH_MAX], size_t end)
{
	char target[PATH_MAX], full[PATH_MAX];
	size_t base = end;
	ssize_t n;
	int len;
	char cut = path[end];

	path[end] = 0;
	n = readlink(path, target, sizeof(target) - 1);
	path[end] = cut;
	if (n < 0)
		return -errno;
	target[n] = 0;
	while (base > 1 && path[base - 1] != '/')
		base--;
	len = snprintf(full, sizeof(full), "%.*s%s%s", target[0] == '/' ? 0 : (int)base, path,
		       target, path + end);
	if ((size_t)len >= sizeof(full))
		return -ENAMETOOLONG;
	strcpy(path, full);
	return 0;
}

static size_t component_end(const char *path, size_t at)
{
	while (path[at] == '/')
		at++;
	while (path[at] && path[at] != '/')
		at++;
	return at;
}

/* One walk along the path: 1 when a link was followed and all of it is to be looked at again. */
static int walk(char path[static PATH_MAX], struct stat *ret)
{
	bool shared;
	int r;

	if (lstat("/", ret) < 0)
		return -errno;
	r = check_directory(ret, &shared);
	for (size_t end = 0; path[end] && r == 0;) {
		char cut;

		end = component_end(path, end);
		cut = path[end];
		path[end] = 0;
		r = lstat(path, ret) < 0 ? -errno : 0;
		path[end] = cut;
		if (r == 0 && S_ISLNK(ret->st_mode)) {
			r = shared || !is_ours(ret) ? -EPERM : follow(path, end);
			return r < 0 ? r : 1;
		}
		if (r == 0 && cut)
			r = check_directory(ret, &shared);
	}
	return r;
}

static int check(const char *path, struct stat *ret)
{
	char at[PATH_MAX];
	int r = 1;

	if (path[0] != '/' || strlen(path) >= sizeof(at))
		return -EINVAL;
	strcpy(at, path);
	for (int i = 0; i <= LINKS_MAX && r > 0; i++)
		r = walk(at, ret);
	if (r != 0)
		return r < 0 ? r : -ELOOP;
	if (!S_ISSOCK(ret->st_mode))
		return -ENOTSOCK;
	return is_ours(ret) && !(ret->st_mode & S_IWOTH) ? 0 : -EPERM;
}

int socket_check(const char *path, struct socket_id *ret, char ret_text[static 160])
{
	struct stat st;
	int r = check(path, &st);

	if (r < 0) {
		snprintf(ret_text, 160, "%s",
			 r == -EPERM	  ? "others than root could have put it there"
			 : r == -ENOTSOCK ? "it is no socket"
					  : strerror(-r));
		return r;
	}
	*ret = (struct socket_id){st.st_dev, st.st_ino, st.st_ctim};
	return 0;
}

int socket_find(const char *const *places, size_t *at, struct socket_id *ret,
		char ret_text[static 160])
{
	int result = -ENOENT;

	for (size_t i = *at; places[i] && result < 0; i++) {
		char why[160] = "";
		int r = socket_check(places[i], ret, why);

		if (r == -ENOENT)
			continue;
		strcpy(ret_text, why);
		*at = i;
		result = r;
	}
	return result;
}

bool socket_is_same(const struct socket_id *a, const struct socket_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

bool socket_is_replaced(const char *path, const struct socket_id *sock)
{
	struct stat st;

	return stat(path, &st) < 0 ||
	       !socket_is_same(sock, &(struct socket_id){st.st_dev, st.st_ino, st.st_ctim});
}

int socket_take_path(const char *endpoint, char ret[static SOCKET_PATH_MAX])
{
	static const char scheme[] = "unix://";

	if (strncmp(endpoint, scheme, strlen(scheme)) == 0)
		endpoint += strlen(scheme);
	if (endpoint[0] != '/' || strlen(endpoint) >= SOCKET_PATH_MAX)
		return -EINVAL;
	strcpy(ret, endpoint);
	return 0;
}
