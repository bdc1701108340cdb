/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people: columns that are chosen and sized by what is in them.
 *
 * Rows are added as values and written by grid_flush(), all together, or again and again for a live
 * table. Two spaces separate columns. A cell is a dash where nothing is known; one that ends its
 * line is left empty then.
 *
 * In a file or a pipe nothing is cut and nothing is wrapped. On a terminal whose width the columns
 * exceed, these steps are taken one by one until they fit:
 *   1. names are cut to 40 columns, or to a third of the terminal if that is more;
 *   2. one space separates columns;
 *   3. columns that have a shorter form take it, the last one first;
 *   4. the last column continues on the next line, if it is one that may, or is cut if rows are
 * flat;
 *   5. the extra columns of the table are left out, the last one first; those that fit come back;
 *   6. names are cut in their middle or at their end, the widest first;
 *   7. columns of the answer are left out, the last one first, but for the first one.
 * So all but names is whole or absent.
 *
 * The first titles or rows decide which columns there are, and on a terminal how wide each is; what
 * is wider in a later row takes its shorter form and is cut. They are decided, and the titles
 * written, anew only when the terminal has another width, or when a column comes that was empty and
 * is never left out. A live table begins with the columns' typical widths, and gives what is left
 * of the terminal to its last column and its names.
 */
#ifndef WIRE_TEXT_GRID_H
#define WIRE_TEXT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define GRID_COLUMNS_MAX 24
#define GRID_SORTS_MAX	 8
#define GRID_CELLS_MAX	 (GRID_COLUMNS_MAX + GRID_SORTS_MAX)
#define GRID_NO_KEY	 INT64_MAX

/* How and where a table is shown. Strings are borrowed. All zero: into a pipe, by default columns,
 * without colours, in UTC. */
struct grid_view {
	unsigned int width; /* columns of the terminal; 0: no limit */
	unsigned int lines; /* ... and its lines; 0: it does not scroll */
	bool colour, no_titles;
	bool wide;	     /* also columns that are for that alone, and no limit */
	bool flat;	     /* on a terminal, a row is one line: nothing continues on the next */
	bool live;	     /* rows follow each other: begins with the columns' typical widths */
	const char *also;    /* name of a column of wide tables that is shown in any; NULL: none */
	const char *columns; /* names, separated by commas: these alone, in this order; NULL: no */
	const char *sort; /* names, separated by commas, "-" before one to reverse it; NULL: no */
	/* Seconds to add to UTC at that time for the reader's clock; NULL: none. */
	int32_t (*zone)(int64_t wall_s);
};

/* How a text stands out in a view that has colours, and on the screen of graced top. */
enum grid_style {
	GRID_PLAIN,
	GRID_TITLE,
	GRID_DIM,
	GRID_GOOD,
	GRID_WARN,
	GRID_BAD,
	GRID_ALARM,
	GRID_BAR,   /* of a screen alone: its first and last line */
	GRID_FOCUS, /* ... the title of the section that keys scroll and sort */
	GRID_STYLES,
};

/* What a column writes a row's value into. */
struct grid_cell {
	struct buf *text; /* printable, and each character takes one column of a terminal */
	enum grid_style style;
	int64_t key; /* what a column of numbers is sorted by; GRID_NO_KEY: unknown */
	const struct grid_view *view;
	const struct grid_column *column;
};

/* A column is a name, a value by its place and what writes such values, and its widths. */
struct grid_column {
	const char *name;  /* in lists of columns */
	const char *title; /* NULL: the name in capitals; "": all titles of the table are, and it is
			    * shown without them */
	void (*add)(struct grid_cell *cell, const void *value);
	/* What of a row the value is in; NULL: the row. Where it returns NULL nothing is known. */
	const void *(*of)(const void *row);
	size_t at;    /* the value's place in that; 0: all of it, or what comes first */
	size_t known; /* 1 + the place of a bool, false: it is not known; 0: it may be known */
	const char *(*word)(unsigned int value); /* of grid_add_word() */
	/* Makes a text of it shorter; NULL: cannot be. */
	void (*shorten)(struct buf *text);
	/* Widths that most rows need, for a live table; of a last column that may continue the
	 * second one is the least. */
	unsigned int typical, typical_short;
	unsigned int least; /* a name, and a last column that may continue: not narrower */
	bool keep_end;	    /* a name that is cut loses its middle */
	bool continues;	    /* as the last column, on the next line */
	bool optional;	    /* shown once a row has a value for it */
	bool wide;	    /* shown in wide tables alone, or when it is named */
	bool number;	    /* sorted by the cells' keys */
	bool runs;	    /* a time that goes on by itself: what it is changes no row */
};

/* What rows of columns consist of. A text and a word do not compile unless the member is a text,
 * or of the enum that the words are of. */
#define GRID_AT(function, type, member) .add = function, .at = offsetof(type, member)
#define GRID_TYPE(type, member)		__typeof__(((type *)NULL)->member)
#define GRID_TEXT(type, member)        \
	.add = grid_add_text,          \
	.at = offsetof(type, member) / \
	      __builtin_types_compatible_p(GRID_TYPE(type, member), const char *)
#define GRID_WORD(type, member, names)                                            \
	.add = grid_add_word, .word = names,                                      \
	.at = offsetof(type, member) /                                            \
	      __builtin_types_compatible_p(const char *(GRID_TYPE(type, member)), \
					   __typeof__(names))
#define GRID_KNOWN(type, member) .known = 1 + offsetof(type, member)
/* A column of names that may be cut. */
#define GRID_NAME		 .least = 12, .keep_end = true

/* The order in which columns are kept: lists of names, separated by commas. answers: those that
 * answer what the table is asked for; extras: others. What is in neither is never left out. */
struct grid_table {
	const struct grid_column *columns;
	size_t n;
	const char *answers, *extras; /* NULL: none */
};

/* How the columns are shown. */
struct grid_layout {
	uint32_t shown; /* bits 1 << cell */
	unsigned int gap, width[GRID_CELLS_MAX];
	bool is_short[GRID_CELLS_MAX];
	size_t last;	    /* the cell that ends a line */
	unsigned int yield; /* least width of a last column that may continue; 0: its own width */
};

struct grid_row;

/* Made by grid_init(); fits _cleanup_(grid_done), also when all of it is zero. */
struct grid {
	const struct grid_table *table;
	struct grid_view view;
	/* Each cell of a row, first those that are shown, then those that are sorted by. */
	uint8_t at[GRID_CELLS_MAX]; /* its column in the table */
	bool descends[GRID_CELLS_MAX];
	size_t n, n_cells;
	unsigned int widths[GRID_CELLS_MAX], shorts[GRID_CELLS_MAX]; /* the widest so far */
	bool filled[GRID_CELLS_MAX];				     /* a row has a value for it */
	unsigned int rank[GRID_CELLS_MAX]; /* in the order, from 1 on; 0: never left out */
	unsigned int answers, ranks;	   /* how many are answers, and in all */
	struct grid_layout layout;	   /* as it was decided */
	bool decided, titled, titles_due;
	struct grid_row *rows;
	size_t n_rows;
	int error; /* negative errno: a row is missing */
};

/* The names in the view are known. */
void grid_init(struct grid *ret, const struct grid_table *table, const struct grid_view *view);
void grid_done(struct grid *grid);

/* Looks for the names of a list, with a "-" before each where sorted. True: all are columns of the
 * table, each once. False: *ret and *ret_len are the first that is not. */
bool grid_knows(const struct grid_table *table, const char *list, bool sorted, const char **ret,
		size_t *ret_len);

/* The terminal has another width now. */
void grid_set_width(struct grid *grid, unsigned int width);

/* Shows an optional column from the beginning. */
void grid_expect(struct grid *grid, const char *name);

/* Keeps what the columns make of a row. */
void grid_add(struct grid *grid, const void *row);

/* Whether two rows are alike in all that is shown of them, but for times that go on by themselves;
 * one that is known in one row alone is a difference. False also when memory is out. */
bool grid_is_same(const struct grid *grid, const void *a, const void *b);

/* Has the next flush decide on the columns and write titles, although there may be no row, or this
 * was done already. */
void grid_add_titles(struct grid *grid);

/* Adds what was kept as lines, and keeps nothing. 0, or the grid's error or buf_error(), which
 * stick in out. */
int grid_flush(struct grid *grid, struct buf *out);

/* The escape sequence of a style; of GRID_PLAIN the one that ends any other. */
const char *grid_escape(enum grid_style style);

/* Adds a text that may be hostile, as utf8_add_visible() shows it; nothing for NULL. */
void grid_text(struct grid_cell *cell, const char *text);

/* For columns, by the type of their value: a text (const char *) and the first characters of one,
 * which are enough of an id; the word for an enum; a uint32_t, 0 being unknown. */
void grid_add_text(struct grid_cell *cell, const void *value);
void grid_add_id(struct grid_cell *cell, const void *value);
void grid_add_word(struct grid_cell *cell, const void *value);
void grid_add_number(struct grid_cell *cell, const void *value);

/* A uint64_t of nanoseconds, 0 being unknown: less than 100 s as "30s" where they are whole. */
void grid_add_duration(struct grid_cell *cell, const void *value);

/* An int64_t of nanoseconds since 1970: the time of day, with milliseconds and the offset of its
 * zone: "15:04:05.123Z", "16:04:05.123+01"; and the day: "2026-11-21". */
void grid_add_time(struct grid_cell *cell, const void *value);
void grid_add_day(struct grid_cell *cell, const void *value);

#endif
