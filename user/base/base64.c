// SPDX-License-Identifier: Apache-2.0
/* No library that is linked reads base64 of both alphabets. */
#include "base/base64.h"

static int value_of(char c, const char last[static 2])
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == last[0] ? 62 : c == last[1] ? 63 : -1;
}

size_t base64_decode(const char *from, size_t n, const char last[static 2], void *ret)
{
	unsigned char *to = ret;
	unsigned int bits = 0;
	size_t len = 0;

	if (n % 4 == 1)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int value = value_of(from[i], last);

		if (value < 0)
			return 0;
		bits = bits << 6 | (unsigned int)value;
		if (i % 4)
			to[len++] = (unsigned char)(bits >> (6 - i % 4 * 2));
	}
	return len;
}
