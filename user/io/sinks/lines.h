/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on their way to a file descriptor: gathered in a buffer, written when asked. A reader that
 * is slow (a pager, a terminal held with Ctrl-S) never blocks the caller: what it does not take
 * stays in the buffer, and out_is_behind() says when to stop making more.
 */
#ifndef IO_SINKS_LINES_H
#define IO_SINKS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/line_queue.h"

struct out;

/* Takes the descriptor over when owned. live: keep what is not taken rather than block; else
 * writing waits for the reader. -errno. */
int out_new(int fd, bool owned, bool live, struct out **ret);
/* Drops what was not written. */
struct out *out_free(struct out *out);

/* Adds whole lines. 0, -ENOMEM or the error that sticks since a write failed. */
int out_add(struct out *out, const char *data, size_t size);

/*
 * Writes what can be written. 0: all of it is out. 1: some is left (live only). -EPIPE: the reader
 * is gone, or the terminal hung up. Else -errno; an incomplete line at the end of a regular file is
 * cut off again. Errors stick.
 */
int out_flush(struct out *out);

/* Waits for a slow reader, at most that long in all. As out_flush(). */
int out_finish(struct out *out, int timeout_ms);

/* So much is waiting that the caller should stop producing until out_flush() returns 0. */
bool out_is_behind(const struct out *out);

/* The descriptor to poll, for writing when out_flush() returned 1, and for a reader that leaves. */
int out_fd(const struct out *out);

/*
 * Lines of a daemon on their way to a file or to standard output. Nothing that happens there holds
 * the daemon up: lines wait in memory for a reader that is slow, for space on a disk and for a file
 * that can be opened. Those that find no room are dropped and counted, and a line says so in their
 * place.
 */
struct linesink;

struct linesink_stats {
	uint64_t written; /* lines that are wholly out */
	uint64_t dropped;
	uint64_t waiting;
	int error; /* -errno since when nothing gets out; 0: all is well */
};

/* Adds the line, with its newline, that stands for lines that were dropped. */
typedef void (*linesink_gap_fn)(void *userdata, struct buf *out, const struct line_gap *gap);

/*
 * path NULL: standard output. A file is appended to, made with mode 0600 when it is missing, and
 * never waited for, whatever it is. -errno when it cannot be opened now; a disk without space for
 * it is no failure. The caller frees, which writes nothing more.
 */
int linesink_new(const char *path, linesink_gap_fn gap_fn, void *userdata, struct linesink **ret);
struct linesink *linesink_free(struct linesink *sink);

/* Takes one line with its newline. now_ns: of any clock, for a gap. */
void linesink_add(struct linesink *sink, const char *line, size_t size, uint64_t now_ns);

/*
 * For who starts after one that was killed: an unfinished line at the end of a file is cut off when
 * one of these lines (each with its newline) begins so, and ended otherwise. To be called before
 * any line is added.
 */
void linesink_mend(struct linesink *sink, const char *lines, size_t size);

/* No line waits, nor one of a gap: each was written or dropped. */
bool linesink_is_idle(const struct linesink *sink);

/* A line was dropped, and so is each further one until all that waits is written. */
bool linesink_drops(const struct linesink *sink);

/* Writes what can be written; tries a file that failed anew once a second of now_ns (any clock). */
void linesink_flush(struct linesink *sink, uint64_t now_ns);

/* Opens the file anew, for who has renamed it, or another one (path NULL: the same); what is
 * waiting goes to the old one first, as far as it takes it, and the rest to the new one. 0, or the
 * -errno that stats have from now on. Standard output stays what it is. */
int linesink_reopen(struct linesink *sink, const char *path);

/* Waits for a slow reader, at most that long in all, and tries once more what failed. False: some
 * lines still wait. */
bool linesink_finish(struct linesink *sink, int timeout_ms);

void linesink_get_stats(const struct linesink *sink, struct linesink_stats *ret);

#endif
