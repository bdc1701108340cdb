// SPDX-License-Identifier: Apache-2.0
/* Buffers lines and writes them without ever waiting for a slow reader, unless told to. */
#include "io/sinks/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* Above this much the caller is asked to pause; it may still add what it has begun. */
#define BEHIND_BYTES (1u << 20)

/* Without a reader to wait for, a bigger write is a cheaper one. */
#define BATCH_BYTES (64u << 10)

struct out {
	int fd;
	bool owned, live, socket;
	bool shared; /* live, but the descriptor may block */
	struct buf buf;
	size_t done; /* bytes of buf that are out */
	int error;
};

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

int out_new(int fd, bool owned, bool live, struct out **ret)
{
	struct out *out;
	struct stat st;
	int own;

	if (fstat(fd, &st) < 0)
		return -errno;
	out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	out->fd = fd;
	out->owned = owned;
	out->live = live;
	out->socket = S_ISSOCK(st.st_mode);
	own = live ? open_own(fd, st.st_mode) : -1;
	if (own >= 0) {
		if (owned)
			close(fd);
		out->fd = own;
		out->owned = true;
	}
	out->shared = live && own < 0 && !S_ISREG(st.st_mode) && !out->socket;
	*ret = out;
	return 0;
}

struct out *out_free(struct out *out)
{
	if (!out)
		return NULL;
	if (out->owned)
		close(out->fd);
	buf_free(&out->buf);
	free(out);
	return NULL;
}

/* A pipe that polls as writable takes PIPE_BUF bytes at once. */
static bool shared_ready(const struct out *out)
{
	struct pollfd p = {.fd = out->fd, .events = POLLOUT};

	return poll(&p, 1, 0) != 0;
}

static ssize_t write_some(struct out *out, const char *data, size_t size)
{
	if (out->shared) {
		if (!shared_ready(out)) {
			errno = EAGAIN;
			return -1;
		}
		if (size > PIPE_BUF)
			size = PIPE_BUF;
	}
	if (out->socket)
		return send(out->fd, data, size, MSG_NOSIGNAL | (out->live ? MSG_DONTWAIT : 0));
	return write(out->fd, data, size);
}

/* A disk that fills up in the middle of a line leaves half a line. Cuts it off again, when nobody
 * has written behind it. */
static void cut_partial_line(struct out *out)
{
	size_t partial = 0;
	struct stat st;
	off_t at;

	while (partial < out->done && out->buf.data[out->done - partial - 1] != '\n')
		partial++;
	if (!partial || fstat(out->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	at = lseek(out->fd, 0, SEEK_CUR);
	if (at < 0 || at != st.st_size || (size_t)at < partial)
		return;
	if (ftruncate(out->fd, at - (off_t)partial) == 0)
		lseek(out->fd, at - (off_t)partial, SEEK_SET);
}

int out_flush(struct out *out)
{
	if (out->error)
		return out->error;
	while (out->done < out->buf.len) {
		ssize_t n = write_some(out, out->buf.data + out->done, out->buf.len - out->done);

		if (n >= 0) {
			out->done += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN && out->live)
			return 1;
		out->error = -errno;
		/* A terminal that hung up is a reader that left. */
		if (out->error == -EIO && isatty(out->fd))
			out->error = -EPIPE;
		cut_partial_line(out);
		return out->error;
	}
	buf_reset(&out->buf);
	out->done = 0;
	return 0;
}

int out_finish(struct out *out, int timeout_ms)
{
	struct pollfd p = {.fd = out->fd, .events = POLLOUT};
	int r;

	while ((r = out_flush(out)) > 0) {
		int n = poll(&p, 1, timeout_ms);

		if (n == 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return r;
}

/* Keeps the memory in proportion to what is still waiting. */
static void drop_done(struct out *out)
{
	size_t left = out->buf.len - out->done;

	if (out->done < BEHIND_BYTES)
		return;
	memmove(out->buf.data, out->buf.data + out->done, left);
	buf_truncate(&out->buf, left);
	out->done = 0;
}

int out_add(struct out *out, const char *data, size_t size)
{
	if (out->error)
		return out->error;
	drop_done(out);
	buf_add(&out->buf, data, size);
	if (buf_error(&out->buf)) {
		out->error = buf_error(&out->buf);
		return out->error;
	}
	if (!out->live && out->buf.len >= BATCH_BYTES)
		return out_flush(out);
	return 0;
}

size_t out_lines_waiting(const struct out *out)
{
	size_t lines = 0;

	for (size_t i = out->done; i < out->buf.len; i++)
		lines += out->buf.data[i] == '\n';
	return lines;
}

size_t out_bytes_waiting(const struct out *out)
{
	return out->buf.len - out->done;
}

bool out_is_behind(const struct out *out)
{
	return !out->error && out_bytes_waiting(out) >= BEHIND_BYTES;
}

int out_fd(const struct out *out)
{
	return out->fd;
}
