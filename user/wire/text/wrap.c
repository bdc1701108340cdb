// SPDX-License-Identifier: Apache-2.0
#include "wire/text/wrap.h"

#include <stdbool.h>
#include <string.h>

/* Narrower terminals get lines that are longer than they are wide. */
#define WIDTH_MIN 20

static void add_spaces(struct buf *out, unsigned int n)
{
	for (; n; n--)
		buf_addc(out, ' ');
}

void wrap_line(struct buf *out, unsigned int indent, const char *text, unsigned int width)
{
	unsigned int limit = width >= WIDTH_MIN ? width : 0;
	size_t column = indent, len;

	add_spaces(out, indent);
	for (bool first = true; *text; first = false) {
		len = strcspn(text, " ");
		if (!first && limit && column + 1 + len > limit) {
			buf_addc(out, '\n');
			add_spaces(out, indent + WRAP_INDENT);
			column = indent + WRAP_INDENT;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += len;
		text += len + strspn(text + len, " ");
	}
	buf_addc(out, '\n');
}
