// SPDX-License-Identifier: Apache-2.0
#include "wire/text/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static void add_spaces(struct buf *out, unsigned int n)
{
	for (; n; n--)
		buf_addc(out, ' ');
}

void wrap_text(struct buf *out, const char *text, unsigned int column_now, unsigned int indent,
	       unsigned int width)
{
	unsigned int limit = width >= WRAP_WIDTH_MIN ? width : 0;
	size_t column = column_now, len, columns;

	for (bool first = true; *text; first = false) {
		len = strcspn(text, " ");
		columns = utf8_columns(text, len);
		if (!first && limit && column + 1 + columns > limit) {
			buf_addc(out, '\n');
			add_spaces(out, indent);
			column = indent;
		} else if (!first) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += columns;
		text += len + strspn(text + len, " ");
	}
	buf_addc(out, '\n');
}

void wrap_line(struct buf *out, unsigned int indent, const char *text, unsigned int width)
{
	add_spaces(out, indent);
	wrap_text(out, text, indent, indent + WRAP_INDENT, width);
}
