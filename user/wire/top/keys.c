// SPDX-License-Identifier: Apache-2.0
/* Reads the keys of xterm, tmux, screen, rxvt and the kernel's console, which send the same
 * sequences for those that are used here. Whatever else comes, like a mouse's report, is skipped. */
#include "wire/top/keys.h"

#include <string.h>

#include "core/top/top.h"

#define ESCAPE	     0x1b
#define SEQUENCE_MAX 32 /* what is longer is no key */

static const struct {
	const char *text; /* behind the escape */
	int key;
} sequences[] = {
	{"[A", TOP_KEY_UP},    {"OA", TOP_KEY_UP},	 {"[B", TOP_KEY_DOWN},
	{"OB", TOP_KEY_DOWN},  {"[5~", TOP_KEY_PAGE_UP}, {"[6~", TOP_KEY_PAGE_DOWN},
	{"[H", TOP_KEY_HOME},  {"OH", TOP_KEY_HOME},	 {"[1~", TOP_KEY_HOME},
	{"[7~", TOP_KEY_HOME}, {"[F", TOP_KEY_END},	 {"OF", TOP_KEY_END},
	{"[4~", TOP_KEY_END},  {"[8~", TOP_KEY_END},	 {"[Z", TOP_KEY_BACK_TAB},
};

/* The length of a control sequence, "[" and what follows it up to its final byte; 0: it goes on. */
static size_t sequence_length(const char *bytes, size_t n)
{
	size_t i = 1;

	if (bytes[0] == 'O')
		return n > 1 ? 2 : 0;
	while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x40)
		i++;
	if (i >= SEQUENCE_MAX)
		return i;
	return i < n ? i + 1 : 0;
}

static int find(const char *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].text) == n && memcmp(sequences[i].text, bytes, n) == 0)
			return sequences[i].key;
	return -1;
}

size_t keys_read(const char *bytes, size_t n, bool last, int *ret_key)
{
	size_t length;

	*ret_key = (unsigned char)bytes[0];
	if (bytes[0] != ESCAPE)
		return 1;
	if (n == 1)
		return last ? 1 : 0;
	if (bytes[1] != '[' && bytes[1] != 'O')
		return 1;
	length = sequence_length(bytes + 1, n - 1);
	if (!length && !last)
		return 0;
	*ret_key = length ? find(bytes + 1, length) : -1;
	return length ? length + 1 : n;
}
