/* SPDX-License-Identifier: Apache-2.0 */
/* Where lines go: a file, a pipe, a socket or a terminal, which may be slow, full or gone. */
#ifndef IO_SINKS_END_H
#define IO_SINKS_END_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
