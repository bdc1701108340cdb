// SPDX-License-Identifier: Apache-2.0
/* Buffers lines for a slow reader and never waits for it, unless asked to; holds them while a file
 * cannot be written, opens it again, and drops what does not fit. */
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
#include "io/proc/clock.h"

#define MS_NS 1000000ULL

/* Above this much the caller is asked to pause; it may still add what it has begun. */
#define BEHIND_BYTES (1u << 20)

/* Without a reader to wait for, a bigger write is a cheaper one. */
#define BATCH_BYTES (64u << 10)

/* Where lines go: a file, a pipe, a socket or a terminal. */
struct end {
	int fd;
	bool owned, live, socket;
	bool shared; /* live, but the descriptor may block */
	dev_t dev;
	ino_t ino;
};

struct out {
	struct end end;
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

static int end_open(int fd, bool owned, bool live, struct end *ret)
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

static void end_close(struct end *end)
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

/* How many bytes are out; -EAGAIN: a live one takes none now; else -errno. */
static ssize_t end_write(const struct end *end, const char *data, size_t size)
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

/* A disk that fills up in the middle of a line leaves half a line. Cuts it off again, when no other
 * process has written behind it. */
static bool cut_partial_line(const struct end *end, size_t partial)
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
	cut_partial_line(&out->end, partial);
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

/* What waits at most, for a slow reader or for a disk that is full: a thousand stops. */
#define WAITING_BYTES (2u << 20)

#define RETRY_NS 1000000000ULL

/* No line that is looked at to be mended is longer. */
#define TAIL_BYTES (64u << 10)

struct linesink {
	char *path;	/* NULL: standard output */
	struct end end; /* fd -1: it cannot be written now */
	linesink_gap_fn gap_fn;
	void *userdata;
	struct line_queue queue;
	size_t part;	/* bytes of the first line of queue that are out */
	bool unended;	/* behind half a line, that cannot be continued, is no newline yet */
	bool gap_first; /* that line is one of gap_fn, which is no line of the caller's */
	uint64_t added, written, dropped;
	int error;
	uint64_t tried_ns;
};

static int open_end(const char *path, struct end *ret)
{
	int fd, r;

	if (path)
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			  0600);
	else
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	r = end_open(fd, true, true, ret);
	if (r < 0)
		close(fd);
	return r;
}

DEFINE_CLEANUP(struct linesink *, linesink_free);

/* There may be space for it later. */
static bool is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

int linesink_new(const char *path, linesink_gap_fn gap_fn, void *userdata, struct linesink **ret)
{
	_cleanup_(cleanup_linesink_free) struct linesink *sink = calloc(1, sizeof(*sink));
	int r;

	if (!sink)
		return -ENOMEM;
	sink->end.fd = -1;
	sink->gap_fn = gap_fn;
	sink->userdata = userdata;
	sink->queue.max = WAITING_BYTES;
	if (path) {
		sink->path = strdup(path);
		if (!sink->path)
			return -ENOMEM;
	}
	r = open_end(path, &sink->end);
	if (r < 0 && !is_full(r))
		return r;
	sink->error = r;
	*ret = TAKE_PTR(sink);
	return 0;
}

struct linesink *linesink_free(struct linesink *sink)
{
	if (!sink)
		return NULL;
	if (sink->end.fd >= 0)
		end_close(&sink->end);
	line_queue_free(&sink->queue);
	free(sink->path);
	free(sink);
	return NULL;
}

static uint64_t lines_waiting(const struct linesink *sink)
{
	return sink->added - sink->written - sink->dropped;
}

static size_t bytes_waiting(const struct linesink *sink)
{
	size_t size;

	line_queue_at(&sink->queue, &size);
	return size;
}

static bool is_gone(const struct linesink *sink)
{
	return !sink->path && sink->error == -EPIPE;
}

/* The lines wait until it can be written again; a reader of standard output that left does not come
 * back. */
static void fail(struct linesink *sink, int error)
{
	/* What begins to read a pipe begins with a whole line. */
	if (sink->end.fd >= 0 && (cut_partial_line(&sink->end, sink->part) || error == -EPIPE))
		sink->part = 0;
	if (sink->end.fd >= 0)
		end_close(&sink->end);
	sink->error = error;
	if (!is_gone(sink))
		return;
	sink->dropped += lines_waiting(sink);
	line_queue_free(&sink->queue);
	sink->queue.gap = (struct line_gap){};
	sink->gap_first = false;
}

/* So many bytes at the front of what waits are out. */
static void took(struct linesink *sink, const char *at, size_t n)
{
	size_t end = sink->part + n, whole = 0;

	for (size_t i = sink->part; i < end; i++) {
		if (at[i] != '\n')
			continue;
		whole = i + 1;
		sink->written += !sink->gap_first;
		sink->gap_first = false;
	}
	line_queue_take(&sink->queue, whole);
	sink->part = end - whole;
}

/* 0: nothing waits. -EAGAIN: a slow reader. Else -errno. */
static int write_lines(struct linesink *sink)
{
	for (;;) {
		size_t size;
		const char *at = line_queue_at(&sink->queue, &size);
		ssize_t n;

		if (!size)
			return 0;
		n = end_write(&sink->end, at + sink->part, size - sink->part);
		if (n < 0)
			return (int)n;
		took(sink, at, (size_t)n);
	}
}

/* After a gap: what is missing there. */
static bool end_gap(struct linesink *sink)
{
	_cleanup_(buf_free) struct buf line = {};
	struct line_gap gap;

	if (!line_queue_end_gap(&sink->queue, &gap))
		return false;
	sink->gap_fn(sink->userdata, &line, &gap);
	if (buf_error(&line) == 0 &&
	    line_queue_add(&sink->queue, buf_str(&line), line.len, gap.last_ns)) {
		sink->gap_first = true;
		return true;
	}
	sink->queue.gap = gap;
	return false;
}

static void write_out(struct linesink *sink)
{
	int r;

	do
		r = write_lines(sink);
	while (r == 0 && end_gap(sink));
	if (r == 0 || r == -EAGAIN)
		sink->error = 0;
	else
		fail(sink, r);
}

/* More may come at once than waits for a slow reader; one that is not slow takes it at once. */
void linesink_add(struct linesink *sink, const char *line, size_t size, uint64_t now_ns)
{
	if (sink->end.fd >= 0 && !sink->queue.gap.lines &&
	    bytes_waiting(sink) + size > WAITING_BYTES)
		write_out(sink);
	sink->added++;
	if (is_gone(sink) || !line_queue_add(&sink->queue, line, size, now_ns))
		sink->dropped++;
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

/* The unfinished line at the end of the file that is open; 0: there is none. ret holds TAIL_BYTES.
 */
static size_t unfinished_line(const struct linesink *sink, char *ret, off_t *ret_size)
{
	_cleanup_(cleanup_close) int fd = -1;
	char path[64];
	struct stat st;

	if (sink->end.fd < 0 || fstat(sink->end.fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	/* Ours is for writing alone. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sink->end.fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	*ret_size = st.st_size;
	return fd < 0 ? 0 : read_tail(fd, st.st_size, ret);
}

static void end_line(struct linesink *sink)
{
	ssize_t n;

	sink->unended = true;
	n = end_write(&sink->end, "\n", 1);
	if (n >= 0)
		sink->unended = false;
	else if (n != -EAGAIN)
		fail(sink, (int)n);
}

void linesink_mend(struct linesink *sink, const char *lines, size_t size)
{
	_cleanup_(cleanup_free) char *tail = malloc(TAIL_BYTES);
	off_t end = 0;
	size_t len = tail ? unfinished_line(sink, tail, &end) : 0;

	if (!len ||
	    (begins_one(tail, len, lines, size) && ftruncate(sink->end.fd, end - (off_t)len) == 0))
		return;
	end_line(sink);
}

/* Half a line that could not be cut off is continued where it was left, if nothing else came behind
 * it; else that line begins anew. */
static void resume(struct linesink *sink, const struct end *before)
{
	bool same = sink->end.dev == before->dev && sink->end.ino == before->ino;
	_cleanup_(cleanup_free) char *tail = malloc(TAIL_BYTES);
	size_t len, size, part = sink->part;
	const char *first = line_queue_at(&sink->queue, &size);
	off_t end = -1;

	if ((!part && !sink->unended) || !tail)
		return;
	len = unfinished_line(sink, tail, &end);
	if (same && (end < 0 || (len == part && memcmp(tail, first, len) == 0)))
		return;
	sink->part = 0;
	sink->unended = false;
	if (len)
		end_line(sink);
}

bool linesink_is_idle(const struct linesink *sink)
{
	return !bytes_waiting(sink) && !sink->queue.gap.lines;
}

bool linesink_drops(const struct linesink *sink)
{
	return sink->queue.gap.lines > 0;
}

static int open_again(struct linesink *sink)
{
	struct end before = sink->end;
	int r = open_end(sink->path, &sink->end);

	if (r < 0) {
		sink->end.fd = -1;
		sink->error = r;
		return r;
	}
	resume(sink, &before);
	if (sink->end.fd >= 0)
		write_out(sink);
	return 0;
}

void linesink_flush(struct linesink *sink, uint64_t now_ns)
{
	if (sink->end.fd >= 0)
		write_out(sink);
	else if (is_gone(sink) || (sink->tried_ns && now_ns - sink->tried_ns < RETRY_NS))
		return;
	else
		open_again(sink);
	if (sink->end.fd < 0)
		sink->tried_ns = now_ns;
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
	int r;

	if (!sink->path)
		return sink->error;
	if (sink->end.fd >= 0)
		write_out(sink);
	r = path ? take_path(sink, path) : 0;
	if (r < 0)
		return r;
	if (sink->end.fd >= 0)
		fail(sink, 0);
	return open_again(sink);
}

bool linesink_finish(struct linesink *sink, int timeout_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * MS_NS;
	int left_ms;

	if (sink->end.fd >= 0)
		write_out(sink);
	else if (!is_gone(sink))
		open_again(sink);
	while (sink->end.fd >= 0 && bytes_waiting(sink) && (left_ms = clock_left_ms(until_ns))) {
		struct pollfd p = {.fd = sink->end.fd, .events = POLLOUT};
		int n = poll(&p, 1, left_ms);

		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		write_out(sink);
	}
	return linesink_is_idle(sink);
}

void linesink_get_stats(const struct linesink *sink, struct linesink_stats *ret)
{
	*ret = (struct linesink_stats){
		.written = sink->written,
		.dropped = sink->dropped,
		.waiting = lines_waiting(sink),
		.error = sink->error,
	};
}
