/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's mounts in a line of /proc/PID/mountinfo, as far as a volume that can be attached to
 * another node waits for their end (docs/kubelet-rules.md, "Volumes"). Takes any bytes.
 */
#ifndef WIRE_KERNEL_MOUNTS_H
#define WIRE_KERNEL_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/facts/observation.h"

/* 1: it is one; 0: any other mount; -EBADMSG: no line of that file. root is the kubelet's root
 * directory, absolute and without symbolic links or a slash at its end. */
int kubemount_parse(const char *line, size_t len, const char *root, struct kubemount *ret);

/* The kubelet writes which driver serves a CSI volume into a file before it mounts it. */
#define KUBEMOUNT_FILES	   2
#define KUBEMOUNT_FILE_MAX ((size_t)64 << 10)

/* Where that file is, below the kubelet's root directory: at one of KUBEMOUNT_FILES paths, for a
 * file system and for a block device. False where the mount is not of CSI, or names the driver
 * itself. */
bool kubemount_file(const struct kubemount *m, unsigned int i, char *ret, size_t size);
/* The driver in the file's text. 0, -ENOMEM or -EBADMSG, also for a name that is too long. */
int kubemount_read_driver(const char *text, size_t len, char ret[static SHUTDOWN_DRIVER_MAX]);

/* The fields of a line of /proc/PID/mountinfo (show_mountinfo() of fs/proc_namespace.c). */

/* Points into the line. */
struct mountinfo_field {
	const char *at;
	size_t len;
};

/* The field at *at, which moves behind it; a field may be empty. False: there is none before end. */
bool mountinfo_next(const char **at, const char *end, struct mountinfo_field *ret);
bool mountinfo_is(struct mountinfo_field field, const char *word);
/* With what the kernel wrote as \ooo (mangle_path()). False: it has a NUL or does not fit. */
bool mountinfo_unescape(struct mountinfo_field field, char *ret, size_t size);

#endif
