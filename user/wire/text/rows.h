/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table of at most ROWS_WIDTH columns: cells are filled in, then laid out and padded. A
 * row that is written at once has columns of fixed width, and is cut to them. Rows that are kept
 * are written together, each column as wide as its widest cell; where that is too much, the last
 * column goes on in the next line, and if that is not enough the widest ones are cut. */
#ifndef WIRE_TEXT_ROWS_H
#define WIRE_TEXT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ROWS_COLUMNS_MAX 16
#define ROWS_WIDTH	 120

struct rows_column {
	const char *title;
	unsigned int width; /* where rows are kept: the least */
	bool keep_end;	    /* what is cut loses its middle and not its end */
};

/* All zero is an empty row. Its cells are strings, one behind the other in text. */
struct rows_row {
	struct buf text;
	unsigned int count;
	size_t begin[ROWS_COLUMNS_MAX];
	const char *colour[ROWS_COLUMNS_MAX]; /* an escape sequence, NULL for none */
};

/* Begins the next cell, the first one first, and returns what its text is added to. The text must
 * be safe to print, and characters outside ASCII must take one column. */
struct buf *rows_cell(struct rows_row *row, const char *colour);

/* All zero is none. */
struct rows {
	struct rows_row *rows;
	size_t n;
	int error; /* negative errno: a row is missing */
};

/* Adds the row, which has a cell for each of the columns, as a line, a space between each two. 0
 * or buf_error(); on failure out holds what it held. */
int rows_add(struct buf *out, const struct rows_row *row, const struct rows_column *columns,
	     bool colour);

/* A cell with a text that may be hostile; NULL and what is empty is a dash. */
void rows_text(struct rows_row *row, const char *text);

/* Adds the columns' titles as a row. As rows_add(). */
int rows_title(struct buf *out, const struct rows_column *columns, size_t n, const char *colour);

/* Takes the row, which is empty then. */
void rows_keep(struct rows *rows, struct rows_row *row);

/* Keeps the columns' titles as a row. */
void rows_keep_title(struct rows *rows, const struct rows_column *columns, size_t n);

/* Adds the rows kept, in lines. 0, or the rows' error or buf_error(), which stick in out. */
int rows_put(struct buf *out, const struct rows *rows, const struct rows_column *columns, size_t n,
	     bool colour);

/* Each frees what it is given; they fit _cleanup_(). */
void rows_free(struct rows_row *row);
void rows_free_kept(struct rows *rows);

#endif
