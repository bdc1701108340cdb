// SPDX-License-Identifier: Apache-2.0
/* Encodes claims by base64url. */
#include "lib/net/jwtgen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *encode(const char *from, char *to)
{
	size_t n = strlen(from);

	for (size_t i = 0; i < n; i += 3) {
		unsigned int bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? (unsigned char)from[i + k] : 0);
		for (size_t k = 0; k < (n - i < 3 ? n - i + 1 : 4); k++)
			*to++ = alphabet[bits >> (18 - 6 * k) & 63];
	}
	return to;
}

const char *jwtgen(const char *claims, char ret[static JWTGEN_SIZE])
{
	char *to = encode("{\"alg\":\"RS256\",\"kid\":\"1\"}", ret);

	*to++ = '.';
	to = encode(claims, to);
	strcpy(to, ".c2lnbmF0dXJl");
	return ret;
}

const char *jwtgen_life(int64_t issued_s, int64_t expires_s, char ret[static JWTGEN_SIZE])
{
	char claims[128];

	snprintf(claims, sizeof(claims), "{\"exp\":%" PRId64 ",\"iat\":%" PRId64 "}", expires_s,
		 issued_s);
	return jwtgen(claims, ret);
}
