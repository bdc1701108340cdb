// SPDX-License-Identifier: Apache-2.0
/* Cuts and pads cells by the columns they take. */
#include "wire/text/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define RESET	   "\033[0m"
#define LAST_LEAST 24 /* of a last column that goes on in the next line */

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

/* The bytes of the text's first line: it ends after a word or a comma, if there is one. */
static size_t line_of(const char *text, size_t width)
{
	size_t most = bytes_of(text, width), n = most;

	if (!text[most] || text[most] == ' ')
		return most;
	while (n > 0 && text[n - 1] != ' ' && text[n - 1] != ',')
		n--;
	return n > 0 ? n : most;
}

static void add_wrapped(struct buf *out, const char *text, size_t width, size_t indent)
{
	for (;;) {
		size_t n = line_of(text, width), end = n;

		while (end > 0 && text[end - 1] == ' ')
			end--;
		buf_add(out, text, end);
		text += n;
		text += strspn(text, " ");
		if (!*text)
			return;
		buf_addc(out, '\n');
		for (size_t i = 0; i < indent; i++)
			buf_addc(out, ' ');
	}
}

/* Padding is owed until something follows it, so that no line ends in spaces. */
static void add_cells(struct buf *out, const struct rows_row *row,
		      const struct rows_column *columns, bool wraps, bool colour)
{
	size_t owed = 0, indent = 0;

	for (unsigned int i = 0; i < row->count; i++) {
		const char *text = row->text.data + row->begin[i];
		const char *sequence = colour && *text ? row->colour[i] : NULL;

		for (; owed > 0 && *text; owed--)
			buf_addc(out, ' ');
		if (sequence)
			buf_adds(out, sequence);
		if (wraps && i + 1 == row->count)
			add_wrapped(out, text, columns[i].width, indent);
		else
			owed += columns[i].width - add_cut(out, text, &columns[i]) + 1;
		if (sequence)
			buf_adds(out, RESET);
		indent += columns[i].width + 1;
	}
	buf_addc(out, '\n');
}

static int add_row(struct buf *out, const struct rows_row *row, const struct rows_column *columns,
		   bool wraps, bool colour)
{
	size_t before = out->len;

	if (buf_error(&row->text) < 0)
		return buf_error(&row->text);
	add_cells(out, row, columns, wraps, colour);
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}

int rows_add(struct buf *out, const struct rows_row *row, const struct rows_column *columns,
	     bool colour)
{
	return add_row(out, row, columns, false, colour);
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

/* Makes n columns fit, none but the last narrower than it has to be. */
static void narrow(struct rows_column *wide, const struct rows_column *least, size_t n)
{
	size_t last = wide[n - 1].width < LAST_LEAST ? wide[n - 1].width : LAST_LEAST;
	size_t room = ROWS_WIDTH - (n - 1), others = 0;

	for (size_t i = 0; i + 1 < n; i++)
		others += wide[i].width;
	while (others + last > room) {
		size_t widest = n;

		for (size_t i = 0; i + 1 < n; i++)
			if (wide[i].width > least[i].width &&
			    (widest == n || wide[i].width > wide[widest].width))
				widest = i;
		if (widest == n)
			break;
		wide[widest].width--;
		others--;
	}
	if (others + wide[n - 1].width > room)
		wide[n - 1].width = (unsigned int)(room - others);
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
	narrow(wide, columns, n);
	for (size_t i = 0; i < rows->n; i++)
		add_row(out, &rows->rows[i], wide, true, colour);
	return buf_error(out);
}

void rows_free_kept(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		rows_free(&rows->rows[i]);
	free(rows->rows);
	*rows = (struct rows){};
}
