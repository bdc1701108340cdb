/* SPDX-License-Identifier: Apache-2.0 */
/* A file read line by line, with a bound on the length of a line. */
#ifndef IO_FILES_LINES_H
#define IO_FILES_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines;

struct lines_line {
	const char *at; /* without its newline, not NUL-terminated; valid until the next call */
	size_t len;
	bool ended; /* it has a newline: only a file's last line may not */
};

/* "-" is standard input. -errno, -EISDIR for a directory. */
int lines_open(const char *path, size_t max, struct lines **ret);
struct lines *lines_free(struct lines *lines);

/* 1: a line. 0: the end. -EMSGSIZE: a line longer than max; else -errno of reading. */
int lines_next(struct lines *lines, struct lines_line *ret);

#endif
