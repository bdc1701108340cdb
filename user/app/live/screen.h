/* SPDX-License-Identifier: Apache-2.0 */
/* How tables are shown: by the options, and by what standard output is. */
#ifndef APP_LIVE_SCREEN_H
#define APP_LIVE_SCREEN_H

#include "app/config/options.h"
#include "wire/text/grid.h"

/* Columns of the terminal at standard output, 80 if it gives none; 0: no terminal. */
unsigned int screen_width(void);

/* Borrows from the options. Into a file or pipe it depends on nothing but them and, where the table
 * has times of day, on the local time zone. */
struct grid_view screen_view(const struct options *options);

/* Adds a text with sentences, as it may go to standard output: for a terminal of another code set
 * than UTF-8 without letters that are not ASCII. And the same, written there. */
void screen_add(struct buf *out, const struct buf *text);
void screen_print(const struct buf *text);

/* Whether the columns that the options name are those of the table, of which name is the command's.
 * 0, or the exit status after wrong use was logged. */
int screen_check(const struct options *options, const struct grid_table *table);

#endif
