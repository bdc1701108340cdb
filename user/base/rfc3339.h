/* SPDX-License-Identifier: Apache-2.0 */
/* Wall-clock time as RFC 3339 writes it: in UTC with nine decimals where it is written here. */
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include <stdint.h>

#define RFC3339_SIZE 31 /* "2026-11-21T15:04:05.123456789Z" and its NUL */

/* Writes the time that is wall_ns nanoseconds after 1970-01-01T00:00:00Z (before it when negative)
 * and returns ret. Every int64_t has a time, in the years 1677 to 2262. */
const char *rfc3339_format(int64_t wall_ns, char ret[static RFC3339_SIZE]);

/* Reads a time with any offset; fractions are cut at nanoseconds. -EINVAL for anything else,
 * -ERANGE for times outside of int64_t. */
int rfc3339_parse(const char *text, int64_t *ret_wall_ns);

#endif
