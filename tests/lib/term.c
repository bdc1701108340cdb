// SPDX-License-Identifier: Apache-2.0
/* Counts columns and looks for what is not to be printed. */
#include "lib/term.h"

#include <string.h>

#include "lib/claim.h"

void term_check(const struct buf *text, unsigned int columns)
{
	unsigned int width = 0;

	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		width = c == '\n' ? 0 : width + ((c & 0xc0) != 0x80);
		assert_in_range(width, 0, columns);
		assert_true(c == '\n' || c >= 0x20);
	}
	assert_null(strstr(buf_str(text), "\xe2\x80\xae"));
}
