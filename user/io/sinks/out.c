// SPDX-License-Identifier: Apache-2.0
#include "io/sinks/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "io/proc/clock.h"

#define MS_NS 1000000ULL

/* Above this much the caller is asked to pause; it may still add what it has begun. */
#define BEHIND_BYTES (1u << 20)

/* Without a reader to wait for, a bigger write is a cheaper one. */
#define BATCH_BYTES (64u << 10)

struct out {
	struct end end;
	struct buf buf;
	size_t done; /* bytes of buf that are out */
	int error;
};

int out_new(int fd, bool owned, bool live, struct out **ret)
{
	struct out *out = calloc(1, sizeof(*out));
	int r;

	if (!out)
		return -ENOMEM;
	r = end_open(fd, owned, live, &out->end);
	if (r < 0) {
		free(out);
		return r;
	}
	*ret = out;
	return 0;
}

struct out *out_free(struct out *out)
{
	if (!out)
		return NULL;
	end_close(&out->end);
	buf_free(&out->buf);
	free(out);
	return NULL;
}

static void fail_out(struct out *out, int error)
{
	size_t partial = 0;

	while (partial < out->done && out->buf.data[out->done - partial - 1] != '\n')
		partial++;
	end_cut(&out->end, partial);
	out->error = error;
}

int out_flush(struct out *out)
{
	if (out->error)
		return out->error;
	while (out->done < out->buf.len) {
		ssize_t n =
			end_write(&out->end, out->buf.data + out->done, out->buf.len - out->done);

		if (n == -EAGAIN)
			return 1;
		if (n < 0) {
			fail_out(out, (int)n);
			return out->error;
		}
		out->done += (size_t)n;
	}
	/* What a burst took is not held for the next one. */
	if (out->buf.room > 2 * BATCH_BYTES)
		buf_free(&out->buf);
	else
		buf_reset(&out->buf);
	out->done = 0;
	return 0;
}

int out_finish(struct out *out, int timeout_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * MS_NS;
	struct pollfd p = {.fd = out->end.fd, .events = POLLOUT};
	int r;

	while ((r = out_flush(out)) > 0) {
		int left_ms = clock_left_ms(until_ns), n = poll(&p, 1, left_ms);

		if (n == 0 || !left_ms)
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
	if (!out->end.live && out->buf.len >= BATCH_BYTES)
		return out_flush(out);
	return 0;
}

bool out_is_behind(const struct out *out)
{
	return !out->error && out->buf.len - out->done >= BEHIND_BYTES;
}

int out_fd(const struct out *out)
{
	return out->end.fd;
}

/* --- the end of a descriptor ------------------------------------------------------------------ */

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
