// SPDX-License-Identifier: Apache-2.0
/* Holds lines while a file cannot be written or a reader is slow, opens the file again, and drops
 * what does not fit. */
#include "io/sinks/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "io/sinks/out.h"

#define MS_NS 1000000ULL

/* What waits at most, for a slow reader or for a disk that is full: a thousand stops. */
#define WAITING_BYTES (2u << 20)

#define RETRY_NS 1000000000ULL

/* No line that is looked at to be mended is longer. */
#define TAIL_BYTES (64u << 10)

struct linesink {
	char *path;	/* NULL: standard output */
	struct end end; /* fd -1: it cannot be written now */
	line_gap_fn gap_fn;
	void *userdata;
	struct line_queue queue;
	size_t part;  /* bytes of the first line of queue that are out */
	bool unended; /* half a line that cannot be continued has to be ended first */
	uint64_t added, written, dropped;
	int error;
	uint64_t tried_ns;
	uint64_t limit; /* bytes of the file; 0: none */
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

int linesink_new(const char *path, line_gap_fn gap_fn, void *userdata, struct linesink **ret)
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
	if (sink->end.fd >= 0 && (end_cut(&sink->end, sink->part) || error == -EPIPE))
		sink->part = 0;
	if (sink->end.fd >= 0)
		end_close(&sink->end);
	sink->error = error;
	if (!is_gone(sink))
		return;
	sink->dropped += lines_waiting(sink);
	line_queue_free(&sink->queue);
	sink->queue.gap = sink->queue.standing = (struct line_gap){};
}

/* So many bytes at the front of what waits are out. */
static void took(struct linesink *sink, const char *at, size_t n)
{
	size_t end = sink->part + n, whole = 0;
	uint64_t lines = 0;

	for (size_t i = sink->part; i < end; i++) {
		if (at[i] != '\n')
			continue;
		whole = i + 1;
		lines++;
	}
	/* The one that stands for others is none of the caller's. */
	if (lines)
		sink->written += lines - (sink->queue.standing.lines > 0);
	line_queue_take(&sink->queue, whole);
	sink->part = end - whole;
}

/* 0: nothing waits. -EAGAIN: a slow reader. Else -errno. */
static int write_lines(struct linesink *sink)
{
	if (sink->unended) {
		ssize_t n = end_write(&sink->end, "\n", 1);

		if (n < 0)
			return (int)n;
		sink->unended = false;
	}
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

static void write_out(struct linesink *sink)
{
	int r;

	do
		r = write_lines(sink);
	while (r == 0 && line_queue_end_gap(&sink->queue, sink->gap_fn, sink->userdata));
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

void linesink_mend(struct linesink *sink, const char *lines, size_t size)
{
	_cleanup_(cleanup_free) char *tail = malloc(TAIL_BYTES);
	off_t end = 0;
	size_t len = tail ? unfinished_line(sink, tail, &end) : 0;

	if (!len ||
	    (begins_one(tail, len, lines, size) && ftruncate(sink->end.fd, end - (off_t)len) == 0))
		return;
	sink->unended = true;
	write_out(sink);
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
	if (same && part && (end < 0 || (len == part && memcmp(tail, first, len) == 0)))
		return;
	sink->part = 0;
	sink->unended = len || (same && end < 0);
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

void linesink_limit(struct linesink *sink, uint64_t bytes)
{
	sink->limit = bytes;
}

/* Half a line is not left behind, and a file that others have renamed stays where it is. Where the
 * name is taken by a directory, or too long, the file grows. */
static void rotate(struct linesink *sink)
{
	char before[PATH_MAX];
	struct stat st;
	int n;

	if (!sink->limit || !sink->path || sink->part || sink->unended ||
	    stat(sink->path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != sink->end.dev ||
	    st.st_ino != sink->end.ino || (uint64_t)st.st_size < sink->limit)
		return;
	n = snprintf(before, sizeof(before), "%s.1", sink->path);
	if ((size_t)n >= sizeof(before) || rename(sink->path, before) < 0)
		return;
	end_close(&sink->end);
	open_again(sink);
}

void linesink_flush(struct linesink *sink, uint64_t now_ns)
{
	if (sink->end.fd >= 0)
		write_out(sink);
	else if (is_gone(sink) || (sink->tried_ns && now_ns - sink->tried_ns < RETRY_NS))
		return;
	else
		open_again(sink);
	if (sink->end.fd >= 0)
		rotate(sink);
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

void linesink_get_stats(const struct linesink *sink, struct line_stats *ret)
{
	*ret = (struct line_stats){
		.written = sink->written,
		.dropped = sink->dropped,
		.waiting = lines_waiting(sink),
		.error = sink->error,
	};
}

void linesink_discard(struct linesink *sink, uint64_t now_ns)
{
	uint64_t lines = lines_waiting(sink);

	if (sink->end.fd >= 0 && end_cut(&sink->end, sink->part))
		sink->part = 0;
	sink->unended = sink->unended || sink->part;
	sink->part = 0;
	line_queue_discard(&sink->queue, lines, now_ns);
	sink->dropped += lines;
}
