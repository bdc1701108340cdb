// SPDX-License-Identifier: Apache-2.0
#include "wire/kernel/mountinfo.h"

#include <string.h>

bool mountinfo_next(const char **at, const char *end, struct mountinfo_field *ret)
{
	const char *start = *at, *stop;

	if (start >= end)
		return false;
	stop = memchr(start, ' ', (size_t)(end - start));
	if (!stop)
		stop = end;
	*ret = (struct mountinfo_field){start, (size_t)(stop - start)};
	*at = stop < end ? stop + 1 : end;
	return true;
}

bool mountinfo_is(struct mountinfo_field field, const char *word)
{
	return field.len == strlen(word) && memcmp(field.at, word, field.len) == 0;
}

/* The byte that \ooo at the beginning stands for; -1: it is none. */
static int octal(const char *at, const char *end)
{
	int value = 0;

	if (end - at < 4 || at[0] != '\\')
		return -1;
	for (int i = 1; i < 4; i++) {
		if (at[i] < '0' || at[i] > '7')
			return -1;
		value = value * 8 + (at[i] - '0');
	}
	return value > 0 && value < 256 ? value : -1;
}

bool mountinfo_unescape(struct mountinfo_field field, char *ret, size_t size)
{
	const char *end = field.at + field.len;
	size_t n = 0;

	for (const char *at = field.at; at < end; at++) {
		int c = octal(at, end);

		if (n + 1 >= size || !*at)
			return false;
		ret[n++] = c >= 0 ? (char)c : *at;
		at += c >= 0 ? 3 : 0;
	}
	ret[n] = '\0';
	return true;
}
