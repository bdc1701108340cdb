/* SPDX-License-Identifier: Apache-2.0 */
/* JSON web tokens with the claims of a test, and an invalid signature. */
#ifndef TESTS_LIB_NET_JWTGEN_H
#define TESTS_LIB_NET_JWTGEN_H

#include <stdint.h>

#define JWTGEN_SIZE 2048

/* claims: any text of less than 1.4 KiB. Returns ret. */
const char *jwtgen(const char *claims, char ret[static JWTGEN_SIZE]);
/* The same with iat and exp, in seconds since 1970. */
const char *jwtgen_life(int64_t issued_s, int64_t expires_s, char ret[static JWTGEN_SIZE]);

#endif
