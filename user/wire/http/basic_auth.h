/* SPDX-License-Identifier: Apache-2.0 */
/* The Authorization header of HTTP's Basic scheme (RFC 7617). */
#ifndef WIRE_HTTP_BASIC_AUTH_H
#define WIRE_HTTP_BASIC_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#define BASICAUTH_SIZE 256 /* of a user and a password together, with the colon and a NUL */

struct basicauth {
	char user[BASICAUTH_SIZE];
	char password[BASICAUTH_SIZE];
};

/* Both are strings. False for any other scheme, what is no base64, has no colon, has a NUL in it,
 * or is too long: then *ret is untouched. */
bool basicauth_parse(const char *header, struct basicauth *ret);

/* Takes as long for bytes that are alike as for any others. */
bool basicauth_same(const void *a, const void *b, size_t size);

#endif
