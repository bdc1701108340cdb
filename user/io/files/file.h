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

/*
 * A small file that one process adds to and now and then writes anew, and that its successor reads.
 * Nothing is synced: it outlives the process, and is not meant to outlive the boot.
 */

struct keepfile;

/* A sentence for a person, with the path, without a full stop. */
struct keepfile_why {
	char text[512];
};

/*
 * Opens the file, made with mode 0600 when it is missing, in a directory that is made, 0700, when
 * only that is missing; and holds it, so that no other process opens it. A symbolic link, what is
 * no regular file or has another name as well, what another user owns or may write, and a
 * directory in which others may make files are refused: -ELOOP, -EINVAL, -EPERM. -EBUSY: another
 * process holds it. Else -errno. *ret_why is filled on failure. The caller frees, which leaves the
 * file.
 */
int keepfile_open(const char *path, struct keepfile **ret, struct keepfile_why *ret_why);
struct keepfile *keepfile_free(struct keepfile *file);

/* Whether it could be opened, held by another or not, without making anything: 0, 1 when only the
 * directory or the file is still to be made; else as keepfile_open(). */
int keepfile_check(const char *path, struct keepfile_why *ret_why);

/* Adds what is in it, of at most max bytes. -EFBIG, or -errno. */
int keepfile_read(const struct keepfile *file, size_t max, struct buf *ret);

/* Adds to its end. -errno, and the file is as it was, as far as that can be had. */
int keepfile_append(struct keepfile *file, const char *data, size_t size);

/* Puts another content in its place: who opens it finds all of the old one or of the new one.
 * -errno, with the old one still there. */
int keepfile_replace(struct keepfile *file, const char *data, size_t size);

/* Empties it. -errno. */
int keepfile_clear(struct keepfile *file);

/* Its bytes. */
size_t keepfile_size(const struct keepfile *file);

#endif
