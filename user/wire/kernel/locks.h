/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/locks: a lock, and behind it those that wait for it, under its number. */
#ifndef WIRE_KERNEL_LOCKS_H
#define WIRE_KERNEL_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct locks_line {
	uint64_t number;
	bool waits;	/* for the lock of that number */
	uint32_t pid;	/* who took it, or waits; 0: not known, as for locks of an open file */
	uint64_t inode; /* of the file; 0: not known */
};

/* Reads a line as fs/locks.c, lock_get_status(), writes it. False: it is not one. */
bool locks_parse(const char *line, struct locks_line *ret);

#endif
