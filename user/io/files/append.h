/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small file that one process adds to and now and then writes anew, and that its successor reads.
 * Nothing is synced: it outlives the process, and is not meant to outlive the boot.
 */
#ifndef IO_FILES_APPEND_H
#define IO_FILES_APPEND_H

#include <stddef.h>

#include "base/buf.h"

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
