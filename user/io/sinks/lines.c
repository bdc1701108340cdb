// SPDX-License-Identifier: Apache-2.0
/* Keeps a bounded number of bytes for a slow reader, drops the rest, and comes back after errors. */
#include "io/sinks/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/sinks/out.h"

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
		sink->dropped += out_lines_waiting(sink->out);
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
	if (sink->out && out_bytes_waiting(sink->out) + size > WAITING_BYTES)
		write_out(sink);
	return sink->out && out_bytes_waiting(sink->out) + size <= WAITING_BYTES;
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
	return !sink->out || !out_bytes_waiting(sink->out);
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
	else if (out_bytes_waiting(sink->out))
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
	size_t waiting = sink->out ? out_lines_waiting(sink->out) : 0;

	ret->written = sink->added - sink->dropped - waiting;
	ret->dropped = sink->dropped;
	ret->error = sink->error;
}
