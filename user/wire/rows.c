// SPDX-License-Identifier: Apache-2.0
/* Cuts and pads cells by the columns they take. */
#include "wire/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define RESET "\033[0m"

void rows_free(struct rows_row *row)
{
	buf_free(&row->text);
}

struct buf *rows_cell(struct rows_row *row, const char *colour)
{
	if (row->count > 0)
		buf_addc(&row->text, '\0');
	row->begin[row->count] = row->text.len;
	row->colour[row->count] = colour;
	row->count++;
	return &row->text;
}

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t columns_of(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += begins_character(*text);
	return columns;
}

/* The bytes that the first columns columns take. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t bytes = 0;

	for (; text[bytes]; bytes++) {
		if (begins_character(text[bytes]) && columns-- == 0)
			break;
	}
	return bytes;
}

/* Adds the text, cut where it must be, and returns the columns it takes. */
static size_t add_cut(struct buf *out, const char *text, const struct rows_column *column)
{
	size_t columns = columns_of(text), width = column->width;
	size_t tail = column->keep_end ? (width - 1) / 2 : 0;

	if (columns <= width) {
		buf_adds(out, text);
		return columns;
	}
	buf_add(out, text, bytes_of(text, width - 1 - tail));
	buf_adds(out, "…");
	buf_adds(out, text + bytes_of(text, columns - tail));
	return width;
}

/* Padding is owed until something follows it, so that no line ends in spaces. */
static void add_cells(struct buf *out, const struct rows_row *row,
		      const struct rows_column *columns, bool colour)
{
	size_t owed = 0;

	for (unsigned int i = 0; i < row->count; i++) {
		const char *text = row->text.data + row->begin[i];
		const char *sequence = colour && *text ? row->colour[i] : NULL;
		size_t used;

		for (; owed > 0 && *text; owed--)
			buf_addc(out, ' ');
		if (sequence)
			buf_adds(out, sequence);
		if (i + 1 == row->count) {
			buf_adds(out, text);
		} else {
			used = add_cut(out, text, &columns[i]);
			owed += columns[i].width - used + 1;
		}
		if (sequence)
			buf_adds(out, RESET);
	}
	buf_addc(out, '\n');
}

int rows_add(struct buf *out, const struct rows_row *row, const struct rows_column *columns,
	     bool colour)
{
	size_t before = out->len;

	if (buf_error(&row->text) < 0)
		return buf_error(&row->text);
	add_cells(out, row, columns, colour);
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}

void rows_text(struct rows_row *row, const char *text)
{
	const char *shown = text && *text ? text : "-";

	utf8_add_visible(rows_cell(row, NULL), shown, strlen(shown));
}

static void fill_title(struct rows_row *row, const struct rows_column *columns, size_t n,
		       const char *colour)
{
	for (size_t i = 0; i < n; i++)
		buf_adds(rows_cell(row, colour), columns[i].title);
}

int rows_title(struct buf *out, const struct rows_column *columns, size_t n, const char *colour)
{
	_cleanup_(rows_free) struct rows_row row = {};

	fill_title(&row, columns, n, colour);
	return rows_add(out, &row, columns, colour);
}

void rows_keep(struct rows *rows, struct rows_row *row)
{
	struct rows_row *grown = reallocarray(rows->rows, rows->n + 1, sizeof(*grown));

	if (!grown) {
		rows->error = -ENOMEM;
		rows_free(row);
	} else {
		rows->rows = grown;
		rows->rows[rows->n++] = *row;
	}
	*row = (struct rows_row){};
}

void rows_keep_title(struct rows *rows, const struct rows_column *columns, size_t n)
{
	struct rows_row row = {};

	fill_title(&row, columns, n, NULL);
	rows_keep(rows, &row);
}

static void widen(struct rows_column *columns, const struct rows_row *row)
{
	for (unsigned int i = 0; i < row->count && row->text.data; i++) {
		size_t used = columns_of(row->text.data + row->begin[i]);

		if (used > columns[i].width)
			columns[i].width = (unsigned int)used;
	}
}

int rows_put(struct buf *out, const struct rows *rows, const struct rows_column *columns, size_t n,
	     bool colour)
{
	struct rows_column wide[ROWS_COLUMNS_MAX];

	if (rows->error && !out->error)
		out->error = rows->error;
	memcpy(wide, columns, n * sizeof(*columns));
	for (size_t i = 0; i < rows->n; i++)
		widen(wide, &rows->rows[i]);
	for (size_t i = 0; i < rows->n; i++)
		rows_add(out, &rows->rows[i], wide, colour);
	return buf_error(out);
}

void rows_free_kept(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows_free(&rows->rows[i]);
	free(rows->rows);
	*rows = (struct rows){};
}
