/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on their way to a file descriptor: gathered in a buffer, written when asked. A reader that
 * is slow (a pager, a terminal held with Ctrl-S) never blocks the caller: what it does not take
 * stays in the buffer, and out_is_behind() says when to stop making more.
 */
#ifndef IO_SINKS_OUT_H
#define IO_SINKS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/* Where lines go: a file, a pipe, a socket or a terminal, which may be slow, full or gone. */

struct end {
	int fd;
	bool owned, live, socket;
	bool shared; /* live, but the descriptor may block */
	dev_t dev;
	ino_t ino;
};

/* Takes the descriptor over when owned, unless it fails. live: it is never waited for. -errno. */
int end_open(int fd, bool owned, bool live, struct end *ret);
/* Leaves fd -1. */
void end_close(struct end *end);

/* How many bytes are out; -EAGAIN: a live one takes none now; -EPIPE: the reader is gone, or the
 * terminal hung up; else -errno. */
ssize_t end_write(const struct end *end, const char *data, size_t size);

/* A disk that fills up in the middle of a line leaves half a line, of that many bytes. Cuts it off
 * again, when no other process has written behind it. */
bool end_cut(const struct end *end, size_t partial);

#endif
