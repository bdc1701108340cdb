/* SPDX-License-Identifier: Apache-2.0 */
/* One row of fixed columns: cells are filled in, then laid out, cut and padded. */
#ifndef WIRE_ROWS_H
#define WIRE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ROWS_COLUMNS_MAX 16

struct rows_column {
	const char *title;
	unsigned int width;
	bool keep_end; /* what is too long loses its middle and not its end */
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

/* Adds the row, which has a cell for each of the columns, as a line of at most the sum of their
 * widths and a space between each two. 0 or buf_error(); on failure out holds what it held. */
int rows_add(struct buf *out, const struct rows_row *row, const struct rows_column *columns,
	     bool colour);

/* A cell with a text that may be hostile; what is empty is a dash. */
void rows_text(struct rows_row *row, const char *text);

/* Adds the columns' titles as a row. As rows_add(). */
int rows_title(struct buf *out, const struct rows_column *columns, size_t n, const char *colour);

/* Frees the texts; fits _cleanup_(rows_free). */
void rows_free(struct rows_row *row);

#endif
