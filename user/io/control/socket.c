// SPDX-License-Identifier: Apache-2.0
/* Makes the socket's directory and the socket in it, under a lock that ends with its holder. */
#include "io/control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/files/fd.h"

#define BACKLOG 16

struct place {
	struct sockaddr_un address;
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	const char *name; /* in address */
};

static int fail(struct control_why *why, int error, const char *path, const char *what)
{
	snprintf(why->text, sizeof(why->text), "%s: %s", path, what);
	return error;
}

static int split(const char *path, struct place *ret, struct control_why *why)
{
	size_t len = strlen(path);
	char *slash;

	*ret = (struct place){.address.sun_family = AF_UNIX};
	if (len >= sizeof(ret->address.sun_path))
		return fail(why, -ENAMETOOLONG, path, "a socket's path has at most 107 bytes");
	memcpy(ret->address.sun_path, path, len);
	slash = strrchr(ret->address.sun_path, '/');
	if (path[0] != '/' || !slash[1])
		return fail(why, -EINVAL, path, "this is not the absolute path of a file");
	ret->name = slash + 1;
	len = slash == ret->address.sun_path ? 1 : (size_t)(slash - ret->address.sun_path);
	memcpy(ret->dir, path, len);
	return 0;
}

static int open_dir(const char *path, int *ret, struct control_why *why)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	if (st.st_uid != geteuid())
		return fail(why, -EPERM, path, "the directory is somebody else's");
	if (st.st_mode & 077)
		return fail(why, -EPERM, path, "others may enter the directory; chmod 0700 it");
	*ret = TAKE_FD(fd);
	return 0;
}

/* Whether somebody listens there. What was left behind refuses. */
static bool is_live(const struct place *place)
{
	_cleanup_(cleanup_close) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ||
	       connect(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) == 0 ||
	       (errno != ECONNREFUSED && errno != ENOENT);
}

static int clear(const struct place *place, int dir, struct control_why *why)
{
	const char *path = place->address.sun_path;
	struct stat st;

	if (fstatat(dir, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(why, -errno, path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return fail(why, -EEXIST, path, "what is there is no socket");
	if (is_live(place))
		return fail(why, -EADDRINUSE, path, "another graced daemon listens there");
	return unlinkat(dir, place->name, 0) < 0 ? fail(why, -errno, path, strerror(errno)) : 0;
}

static int make(const struct place *place, struct control_socket *sock, struct control_why *why)
{
	const char *path = place->address.sun_path;
	_cleanup_(cleanup_close) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) < 0 ||
	    listen(fd, BACKLOG) < 0 ||
	    fstatat(sock->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		int e = -errno;

		return fail(why, e, path, strerror(-e));
	}
	sock->dev = st.st_dev;
	sock->ino = st.st_ino;
	sock->fd = TAKE_FD(fd);
	return 0;
}

int control_socket_open(const char *path, struct control_socket *ret, struct control_why *ret_why)
{
	_cleanup_(cleanup_close) int dir = -1;
	struct control_socket made;
	struct place place;
	int r = split(path, &place, ret_why);

	if (r >= 0)
		r = open_dir(place.dir, &dir, ret_why);
	if (r < 0)
		return r;
	/* Two that start at once must not both find a dead one's socket and remove each other's. */
	if (flock(dir, LOCK_EX | LOCK_NB) < 0)
		return fail(ret_why, -EADDRINUSE, path, "another graced daemon is starting there");
	made = (struct control_socket){.fd = -1, .dir = dir};
	snprintf(made.name, sizeof(made.name), "%s", place.name);
	r = clear(&place, dir, ret_why);
	if (r >= 0)
		r = make(&place, &made, ret_why);
	flock(dir, LOCK_UN);
	if (r < 0)
		return r;
	TAKE_FD(dir);
	*ret = made;
	return 0;
}

void control_socket_close(struct control_socket *sock)
{
	struct stat st;

	if (fstatat(sock->dir, sock->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == sock->dev && st.st_ino == sock->ino)
		unlinkat(sock->dir, sock->name, 0);
	close(sock->fd);
	close(sock->dir);
}
