/* SPDX-License-Identifier: Apache-2.0 */
/* Files that decide what the daemon does, read only when nobody else can have written them. */
#ifndef IO_FILES_TRUSTED_H
#define IO_FILES_TRUSTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

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
 * all links and directories on the way belong to one of these, and let nobody else change them. So
 * it leads there until one of these changes that. 0; -errno, -EPERM for a way that is not trusted,
 * -ELOOP also for one that is too long to judge.
 */
int trusted_way(const char *path);

#endif
