/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a line of /proc/PID/mountinfo (show_mountinfo() of fs/proc_namespace.c). */
#ifndef WIRE_KERNEL_MOUNTINFO_H
#define WIRE_KERNEL_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

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
