/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single files: read line by line with a bound on the length of a line, read only when they can be
 * trusted, and replaced as a whole.
 */
#ifndef IO_FILES_FILE_H
#define IO_FILES_FILE_H

#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

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
/* Leaves a line out that is longer than max. 0 or -errno of reading. */
int lines_skip(struct lines *lines);

/*
 * For a small file of the daemon's that its successor reads, also after the next boot: puts that
 * content in the file's place: who opens it finds all of the old one or of the new
 * one. Its directory is made, 0700, when only that is missing. Not synced, as a disk may take long
 * and who stops the machine syncs it. -errno, with the old one still there; -EINVAL for a path
 * without a directory, -ENAMETOOLONG.
 */
int statefile_write(const char *path, const char *data, size_t size);

/* Files that decide what the daemon does, read only when no other user can have written them. */

/* A sentence for a person, with the path, without a full stop. */
struct trusted_why {
	char text[512];
};

/*
 * Adds a regular file of at most max bytes, owned by root or this user and not writable by others,
 * nor, when it is secret, readable by them. Waits for no FIFO. -errno, -EPERM for a file that is
 * not trusted; *ret_why is filled then.
 */
int trusted_read(const char *path, bool secret, size_t max, struct buf *ret,
		 struct trusted_why *ret_why);

/*
 * Whether an absolute path leads where only root or this user could have led it: its end and
 * all links and directories on the way belong to one of these, and permit no other user to change
 * them. So it leads there until one of these changes that. 0; -errno, -EPERM for a way that is not
 * trusted, -ELOOP also for one that is too long to judge.
 */
int trusted_way(const char *path);

/*
 * Has a file that was replaced (statefile_write()) written to the disk, while this process goes on:
 * a disk may take long, and fsync(2) waits for it. The kernel's asynchronous I/O does not: its
 * fsync is run by a thread of the kernel (aio_fsync() of fs/aio.c, Linux 4.18).
 */

/* All zero is one that is not open. */
struct filesync {
	aio_context_t context;
	unsigned int pending;
	int failed; /* the one under way, so far: -errno */
	int error;  /* the last one that is over */
};

/*
 * Begins with what the file and its directory hold by now. 0; -EBUSY while an earlier one is under
 * way; else -errno, -ENOSYS for a kernel without it. An error of an earlier one is returned until
 * one has completed, and keeps none from being begun.
 */
int filesync_begin(struct filesync *sync, const char *path);

/* Waits for what is under way, as the end of the process would. */
void filesync_close(struct filesync *sync);

#endif
