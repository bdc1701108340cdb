// SPDX-License-Identifier: Apache-2.0
/* Reads who somebody says to be from an Authorization header. */
#include "wire/http/basic_auth.h"

#include <string.h>
#include <strings.h>

/* -1: not of the alphabet. */
static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Padding may be missing, but not half of it. The number of bytes; 0 for none that can be used. */
static size_t decode(const char *from, size_t n, char ret[static BASICAUTH_SIZE])
{
	unsigned int bits = 0;
	size_t pads = 0, len = 0;

	while (pads < 2 && pads < n && from[n - 1 - pads] == '=')
		pads++;
	if (pads && n % 4)
		return 0;
	n -= pads;
	if (n % 4 == 1 || n / 4 * 3 + 3 > BASICAUTH_SIZE)
		return 0;
	for (size_t i = 0; i < n; i++) {
		int value = value_of(from[i]);

		if (value < 0)
			return 0;
		bits = bits << 6 | (unsigned int)value;
		if (i % 4)
			ret[len++] = (char)(bits >> (6 - i % 4 * 2));
	}
	return len;
}

bool basicauth_parse(const char *header, struct basicauth *ret)
{
	char both[BASICAUTH_SIZE];
	const char *colon, *at;
	size_t len;

	if (!header || strncasecmp(header, "Basic ", 6) != 0)
		return false;
	at = header + 6 + strspn(header + 6, " ");
	len = decode(at, strcspn(at, " "), both);
	colon = memchr(both, ':', len);
	if (!colon || memchr(both, '\0', len))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->user, both, (size_t)(colon - both));
	memcpy(ret->password, colon + 1, len - (size_t)(colon - both) - 1);
	explicit_bzero(both, sizeof(both));
	return true;
}

bool basicauth_same(const void *a, const void *b, size_t size)
{
	const volatile unsigned char *x = a, *y = b;
	unsigned char differ = 0;

	for (size_t i = 0; i < size; i++)
		differ |= x[i] ^ y[i];
	return differ == 0;
}
