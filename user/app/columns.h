/* SPDX-License-Identifier: Apache-2.0 */
/* Plain tables for people: columns of fixed width, any text shown harmlessly. */
#ifndef APP_COLUMNS_H
#define APP_COLUMNS_H

#include <stddef.h>

#include "base/buf.h"

struct column {
	const char *title;
	size_t width; /* 0: the last one, as wide as it gets */
};

void columns_head(struct buf *line, const struct column *columns, size_t n);

/* cells are n strings; NULL and "" are shown as a dash. What is too wide is cut, marked by two
 * dots. */
void columns_row(struct buf *line, const struct column *columns, size_t n,
		 const char *const *cells);

#endif
