/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648), read. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* The two last digits of its alphabets. */
#define BASE64_PLAIN "+/"
#define BASE64_URL   "-_"

/* Decodes n characters without padding into ret, which has room for n / 4 * 3 + 2 bytes. Their
 * number; 0 for anything else. */
size_t base64_decode(const char *from, size_t n, const char last[static 2], void *ret);

#endif
