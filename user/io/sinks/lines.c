// SPDX-License-Identifier: Apache-2.0
/* Buffers lines for a slow reader and never waits for it, unless asked to; drops what does not fit,
 * and opens a file again after errors. */
#include "io/sinks/lines.h"

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
#include "base/cleanup.h"
#include "io/files/fd.h"

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

/* A disk that fills up in the middle of a line leaves half a line. Cuts it off again, when no other
 * process has written behind it. */
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

static size_t lines_waiting(const struct out *out)
{
	size_t lines = 0;

	for (size_t i = out->done; i < out->buf.len; i++)
		lines += out->buf.data[i] == '\n';
	return lines;
}

static size_t bytes_waiting(const struct out *out)
{
	return out->buf.len - out->done;
}

bool out_is_behind(const struct out *out)
{
	return !out->error && bytes_waiting(out) >= BEHIND_BYTES;
}

int out_fd(const struct out *out)
{
	return out->fd;
}

/* What waits for a slow reader at most. */
#define WAITING_BYTES (256u << 10)

#define RETRY_NS 1000000000ULL

/* No line that is looked at to be mended is longer. */
#define TAIL_BYTES (64u << 10)

struct linesink {
	char *path; /* NULL: standard output */
	struct out *out;
	uint64_t added, dropped;
	int error;
	uint64_t tried_ns;
};

static int open_out(const char *path, struct out **ret)
{
	int fd, r;

	if (path)
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			  0600);
	else
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	r = out_new(fd, true, true, ret);
	if (r < 0)
		close(fd);
	return r;
}

DEFINE_CLEANUP(struct linesink *, linesink_free);

int linesink_new(const char *path, struct linesink **ret)
{
	_cleanup_(cleanup_linesink_free) struct linesink *sink = calloc(1, sizeof(*sink));
	int r;

	if (!sink)
		return -ENOMEM;
	if (path) {
		sink->path = strdup(path);
		if (!sink->path)
			return -ENOMEM;
	}
	r = open_out(path, &sink->out);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sink);
	return 0;
}

struct linesink *linesink_free(struct linesink *sink)
{
	if (!sink)
		return NULL;
	out_free(sink->out);
	free(sink->path);
	free(sink);
	return NULL;
}

/* What did not get out is lost with the descriptor. */
static void fail(struct linesink *sink, int error)
{
	if (sink->out)
		sink->dropped += lines_waiting(sink->out);
	sink->out = out_free(sink->out);
	sink->error = error;
}

static void write_out(struct linesink *sink)
{
	int r = out_flush(sink->out);

	if (r < 0)
		fail(sink, r);
	else if (r == 0)
		sink->error = 0;
}

/* More may come at once than is kept for a slow reader; one that is not slow takes it at once. */
static bool has_room(struct linesink *sink, size_t size)
{
	if (sink->out && bytes_waiting(sink->out) + size > WAITING_BYTES)
		write_out(sink);
	return sink->out && bytes_waiting(sink->out) + size <= WAITING_BYTES;
}

void linesink_add(struct linesink *sink, const char *line, size_t size)
{
	int r;

	sink->added++;
	if (!has_room(sink, size)) {
		sink->dropped++;
		return;
	}
	r = out_add(sink->out, line, size);
	if (r < 0) {
		sink->dropped++;
		fail(sink, r);
	}
}

static bool begins_one(const char *tail, size_t len, const char *lines, size_t size)
{
	const char *end = lines + size, *newline;

	for (; lines < end; lines = newline + 1) {
		newline = memchr(lines, '\n', (size_t)(end - lines));
		if (!newline)
			return false;
		if (len <= (size_t)(newline - lines) && memcmp(lines, tail, len) == 0)
			return true;
	}
	return false;
}

/* The bytes behind the last newline of a file of that size; ret holds TAIL_BYTES. */
static size_t read_tail(int fd, off_t size, char *ret)
{
	size_t want = size < (off_t)TAIL_BYTES ? (size_t)size : TAIL_BYTES, begin;

	if (pread(fd, ret, want, size - (off_t)want) != (ssize_t)want)
		return 0;
	for (begin = want; begin > 0 && ret[begin - 1] != '\n'; begin--)
		;
	memmove(ret, ret + begin, want - begin);
	return want - begin;
}

void linesink_mend(struct linesink *sink, const char *lines, size_t size)
{
	_cleanup_(cleanup_close) int fd = -1;
	_cleanup_(cleanup_free) char *tail = malloc(TAIL_BYTES);
	char path[64];
	struct stat st;
	size_t len;

	if (!tail || !sink->out || fstat(out_fd(sink->out), &st) < 0 || !S_ISREG(st.st_mode))
		return;
	/* Ours is for writing alone. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out_fd(sink->out));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	len = fd < 0 ? 0 : read_tail(fd, st.st_size, tail);
	if (!len || (begins_one(tail, len, lines, size) &&
		     ftruncate(out_fd(sink->out), st.st_size - (off_t)len) == 0))
		return;
	if (write(out_fd(sink->out), "\n", 1) < 0)
		fail(sink, -errno);
}

bool linesink_is_idle(const struct linesink *sink)
{
	return !sink->out || !bytes_waiting(sink->out);
}

static void retry(struct linesink *sink, uint64_t now_ns)
{
	int r;

	/* A reader of standard output that left does not come back. */
	if (!sink->path && sink->error == -EPIPE)
		return;
	if (sink->tried_ns && now_ns - sink->tried_ns < RETRY_NS)
		return;
	sink->tried_ns = now_ns;
	r = open_out(sink->path, &sink->out);
	if (r < 0)
		sink->error = r;
}

void linesink_flush(struct linesink *sink, uint64_t now_ns)
{
	if (!sink->out)
		retry(sink, now_ns);
	else if (bytes_waiting(sink->out))
		write_out(sink);
}

static int take_path(struct linesink *sink, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	free(sink->path);
	sink->path = copy;
	return 0;
}

int linesink_reopen(struct linesink *sink, const char *path)
{
	struct out *out;
	int r = 0;

	if (!sink->path)
		return sink->error;
	if (sink->out)
		write_out(sink);
	if (path)
		r = take_path(sink, path);
	if (r >= 0)
		r = open_out(sink->path, &out);
	fail(sink, r < 0 ? r : 0);
	if (r < 0)
		return r;
	sink->out = out;
	return 0;
}

void linesink_finish(struct linesink *sink, int timeout_ms)
{
	if (sink->out && out_finish(sink->out, timeout_ms) != 0)
		fail(sink, sink->error);
}

void linesink_get_stats(const struct linesink *sink, struct linesink_stats *ret)
{
	size_t waiting = sink->out ? lines_waiting(sink->out) : 0;

	ret->written = sink->added - sink->dropped - waiting;
	ret->dropped = sink->dropped;
	ret->error = sink->error;
}
