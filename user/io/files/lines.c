// SPDX-License-Identifier: Apache-2.0
/* Reads a file in large pieces and hands out its lines without copying them. */
#include "io/files/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10)

struct lines {
	int fd;
	bool end;
	size_t max, at, len, room;
	char *data; /* the bytes from at to len are not handed out yet */
};

int lines_open(const char *path, size_t max, struct lines **ret)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	struct stat st;
	int r = 0;

	if (!lines)
		return -ENOMEM;
	lines->max = max;
	lines->room = max + 1 + PIECE;
	lines->data = malloc(lines->room);
	lines->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
				      : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (lines->fd < 0)
		r = -errno;
	else if (!lines->data)
		r = -ENOMEM;
	else if (fstat(lines->fd, &st) == 0 && S_ISDIR(st.st_mode))
		r = -EISDIR;
	if (r < 0) {
		lines_free(lines);
		return r;
	}
	*ret = lines;
	return 0;
}

struct lines *lines_free(struct lines *lines)
{
	if (!lines)
		return NULL;
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->data);
	free(lines);
	return NULL;
}

/* Makes room behind what is left and reads on; false: there is no more, or *ret_error. */
static bool fill(struct lines *lines, int *ret_error)
{
	ssize_t n;

	if (lines->end)
		return false;
	memmove(lines->data, lines->data + lines->at, lines->len - lines->at);
	lines->len -= lines->at;
	lines->at = 0;
	do
		n = read(lines->fd, lines->data + lines->len, lines->room - lines->len);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		*ret_error = -errno;
		return false;
	}
	lines->end = n == 0;
	lines->len += (size_t)n;
	return n > 0;
}

int lines_next(struct lines *lines, struct lines_line *ret)
{
	size_t looked = 0;
	int error = 0;

	for (;;) {
		size_t left = lines->len - lines->at;
		char *start = lines->data + lines->at;
		char *newline = memchr(start + looked, '\n', left - looked);
		size_t len = newline ? (size_t)(newline - start) : left;

		if (len > lines->max)
			return -EMSGSIZE;
		if (newline || (lines->end && left)) {
			*ret = (struct lines_line){start, len, newline != NULL};
			lines->at += len + (newline != NULL);
			return 1;
		}
		looked = left;
		if (!fill(lines, &error) && (error < 0 || lines->at == lines->len))
			return error;
	}
}
