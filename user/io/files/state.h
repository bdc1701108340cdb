/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small file of the daemon's that its successor reads, also after the next boot.
 */
#ifndef IO_FILES_STATE_H
#define IO_FILES_STATE_H

#include <stddef.h>

/*
 * Puts that content in the file's place: whoever opens it finds all of the old one or of the new
 * one. Its directory is made, 0700, when only that is missing. Not synced, as a disk may take long
 * and who stops the machine syncs it. -errno, with the old one still there; -EINVAL for a path
 * without a directory, -ENAMETOOLONG.
 */
int statefile_write(const char *path, const char *data, size_t size);

#endif
