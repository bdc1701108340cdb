// SPDX-License-Identifier: Apache-2.0
/* Lays out rows of a plain table. */
#include "app/columns.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static void add_cell(struct buf *line, size_t width, const char *text)
{
	_cleanup_(buf_free) struct buf shown = {};

	utf8_add_visible(&shown, text, strlen(text));
	if (!width) {
		buf_add(line, buf_str(&shown), shown.len);
		return;
	}
	if (shown.len > width) {
		buf_truncate(&shown, width - 2);
		buf_adds(&shown, "..");
	}
	buf_printf(line, "%-*s  ", (int)width, buf_str(&shown));
}

void columns_head(struct buf *line, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_cell(line, columns[i].width, columns[i].title);
	buf_addc(line, '\n');
}

void columns_row(struct buf *line, const struct column *columns, size_t n, const char *const *cells)
{
	for (size_t i = 0; i < n; i++)
		add_cell(line, columns[i].width, cells[i] && *cells[i] ? cells[i] : "-");
	buf_addc(line, '\n');
}
