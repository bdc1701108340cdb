// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a token, and as the claims of one: what is known of its end is in range, and the
 * warning comes before it by a day at most. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/kubernetes/token.h"

static void check(const char *token)
{
	struct credential got = {CREDENTIAL_CERTIFICATE, -1, -1};
	bool known = jwt_read(token, &got);

	assert(known == (got.kind == CREDENTIAL_TOKEN));
	if (!known) {
		assert(got.kind == CREDENTIAL_NONE && got.expires_s == 0);
		return;
	}
	assert(got.expires_s >= 1 && got.expires_s <= CREDENTIAL_LAST_S);
	assert(got.warn_s < got.expires_s && got.warn_s >= got.expires_s - CREDENTIAL_DAY_S);
}

/* "e30." and the bytes by base64url, so that a mutation of the claims is one of the text. */
static void wrap(const uint8_t *data, size_t size, char *to)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	to = stpcpy(to, "e30.");
	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		unsigned int bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < n ? data[i + k] : 0);
		for (size_t k = 0; k <= n; k++)
			*to++ = alphabet[bits >> (18 - 6 * k) & 63];
	}
	strcpy(to, ".s");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_free) char *text = malloc(size + 1), *token = malloc(size * 2 + 16);

	assert(text && token);
	memcpy(text, data, size);
	text[size] = '\0';
	check(text);
	wrap(data, size, token);
	check(token);
	return 0;
}
