/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of graced top: which text stands where, in which style.
 *
 * Whatever a name holds, each text is one line of printable characters of one column each, and ends
 * before the screen does. Names are shown as utf8_add_visible() shows them, and cut in their middle
 * where they are too long. What is not known is a dash.
 */
#ifndef WIRE_TOP_SCREEN_H
#define WIRE_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/top/top.h"
#include "wire/text/grid.h"

struct screen {
	unsigned int columns, lines;
	bool utf8;	     /* the terminal shows it; else texts are ASCII */
	int32_t zone_s;	     /* of local time, ahead of UTC */
	const char *zone;    /* its name */
	const char *node;    /* the node's */
	const char *message; /* stands in the last line; NULL: none */
};

/* Receives the texts of a screen that is blank before. */
typedef void (*screen_put_fn)(void *userdata, unsigned int line, unsigned int column,
			      enum grid_style style, const char *text);

/* Lays it out, which fits the sections of top to it. 0, or -ENOMEM: parts are missing. */
int screen_draw(const struct screen *screen, struct top *top, screen_put_fn put, void *userdata);

/* What a terminal sends for a key: a byte, or a sequence as of ECMA-48. */

/*
 * Reads the first key of n > 0 bytes. *ret_key: a byte or one of enum top_key, -1 for a sequence
 * that is ignored. How many bytes it takes; 0: it may go on in bytes that have not come yet. last:
 * no more come, so that a lone escape is the key of that name.
 */
size_t keys_read(const char *bytes, size_t n, bool last, int *ret_key);

#endif
