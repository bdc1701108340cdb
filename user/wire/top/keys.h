/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal sends for a key: a byte, or a sequence as of ECMA-48. */
#ifndef WIRE_TOP_KEYS_H
#define WIRE_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the first key of n > 0 bytes. *ret_key: a byte or one of enum top_key, -1 for a sequence
 * that is ignored. How many bytes it takes; 0: it may go on in bytes that have not come yet. last:
 * no more come, so that a lone escape is the key of that name.
 */
size_t keys_read(const char *bytes, size_t n, bool last, int *ret_key);

#endif
