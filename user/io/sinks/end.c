// SPDX-License-Identifier: Apache-2.0
#include "io/sinks/end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * O_NONBLOCK belongs to the open file, which the shell and other commands share; opening the pipe
 * or terminal anew gives a description of our own.
 */
static int open_own(int fd, mode_t mode)
{
	char path[64];

	if (!S_ISFIFO(mode) && !S_ISCHR(mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

int end_open(int fd, bool owned, bool live, struct end *ret)
{
	struct stat st;
	int own;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct end){.fd = fd,
			    .owned = owned,
			    .live = live,
			    .socket = S_ISSOCK(st.st_mode),
			    .dev = st.st_dev,
			    .ino = st.st_ino};
	own = live ? open_own(fd, st.st_mode) : -1;
	if (own >= 0) {
		if (owned)
			close(fd);
		ret->fd = own;
		ret->owned = true;
	}
	ret->shared = live && own < 0 && !S_ISREG(st.st_mode) && !ret->socket;
	return 0;
}

void end_close(struct end *end)
{
	if (end->owned)
		close(end->fd);
	end->fd = -1;
}

/* A pipe that polls as writable takes PIPE_BUF bytes at once. */
static bool shared_ready(const struct end *end)
{
	struct pollfd p = {.fd = end->fd, .events = POLLOUT};

	return poll(&p, 1, 0) != 0;
}

static ssize_t write_some(const struct end *end, const char *data, size_t size)
{
	if (end->shared) {
		if (!shared_ready(end)) {
			errno = EAGAIN;
			return -1;
		}
		if (size > PIPE_BUF)
			size = PIPE_BUF;
	}
	if (end->socket)
		return send(end->fd, data, size, MSG_NOSIGNAL | (end->live ? MSG_DONTWAIT : 0));
	return write(end->fd, data, size);
}

ssize_t end_write(const struct end *end, const char *data, size_t size)
{
	ssize_t n;

	do
		n = write_some(end, data, size);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n ? n : -EIO; /* of no use, and would be tried for ever */
	if (errno == EAGAIN && end->live)
		return -EAGAIN;
	/* A terminal that hung up is a reader that left. */
	return errno == EIO && isatty(end->fd) ? -EPIPE : -errno;
}

bool end_cut(const struct end *end, size_t partial)
{
	struct stat st;
	off_t at;

	if (!partial || fstat(end->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	at = lseek(end->fd, 0, SEEK_CUR);
	if (at < 0 || at != st.st_size || (size_t)at < partial)
		return false;
	if (ftruncate(end->fd, at - (off_t)partial) < 0)
		return false;
	lseek(end->fd, at - (off_t)partial, SEEK_SET);
	return true;
}
