/* SPDX-License-Identifier: Apache-2.0 */
/* Times and boots as users name them. */
#ifndef APP_QUERY_WHEN_H
#define APP_QUERY_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 3339, "2026-11-21 15:04" and "15:04" with or without seconds, "2026-11-21", "today",
 * "yesterday" in local time, or a duration before now, as nanoseconds since 1970. */
bool when_parse(const char *text, int64_t *ret_wall_ns);

/* A number counts boots as journalctl does: from the last one down, or from the first one up. */
bool when_parse_boot(const char *text, long *ret);

/* An id of 32 hexadecimal digits, with or without dashes. */
bool when_is_boot_id(const char *text);

/* The index among n boots, the oldest first; false: there is no such. */
bool when_boot_index(long offset, size_t n, size_t *ret);

/* Logs that the records have no such boot, and returns 1. last: the id of the last one of n without
 * dashes; NULL: n is 0. */
int when_no_boot(long offset, size_t n, const char *last);

#endif
