// SPDX-License-Identifier: Apache-2.0
/* Keeps rows as texts, chooses and sizes columns by them, and writes lines. */
#include "wire/text/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "base/utf8.h"

#define GAP	  2
/* A wider cell does not widen its column where there is no limit: one name must not push the rows
 * of all others apart. */
#define PAD_MAX	  128
#define NAME_MOST 40 /* of a name where room is short, on terminals of up to 120 columns */
#define SHORT_ID  12

/* Cells are strings, one behind the other in text. */
struct grid_row {
	struct buf text;
	size_t begin[GRID_CELLS_MAX];
	enum grid_style style[GRID_CELLS_MAX];
	int64_t key[GRID_CELLS_MAX];
	size_t order;
};

/* How the columns are shown now. */
struct layout {
	uint32_t shown; /* bits 1 << cell */
	unsigned int gap, width[GRID_CELLS_MAX];
	bool is_short[GRID_CELLS_MAX], is_cut[GRID_CELLS_MAX];
	size_t last;	/* the cell that ends a line */
	bool continues; /* that one does, on the next line */
};

/* --- the columns ------------------------------------------------------------------------------- */

static size_t find_column(const struct grid_table *table, const char *name, size_t len)
{
	size_t i = 0;

	while (i < table->n &&
	       (strncasecmp(table->columns[i].name, name, len) != 0 || table->columns[i].name[len]))
		i++;
	return i;
}

/* The next name of a list, and where the rest begins; NULL at the end. */
static const char *next_name(const char *list, bool sorted, bool *ret_descends, size_t *ret_len)
{
	if (!list)
		return NULL;
	*ret_descends = sorted && *list == '-';
	list += *ret_descends;
	*ret_len = strcspn(list, ",");
	return list;
}

static const char *rest_of(const char *name, size_t len)
{
	return name[len] ? name + len + 1 : NULL;
}

bool grid_knows(const struct grid_table *table, const char *list, bool sorted, const char **ret,
		size_t *ret_len)
{
	size_t max = sorted ? GRID_SORTS_MAX : GRID_COLUMNS_MAX, n = 0, len, at;
	uint32_t seen = 0;
	bool descends;

	for (const char *name; (name = next_name(list, sorted, &descends, &len));
	     list = rest_of(name, len)) {
		at = find_column(table, name, len);
		if (at == table->n || seen >> at & 1 || n++ == max) {
			*ret = name;
			*ret_len = len;
			return false;
		}
		seen |= 1u << at;
	}
	return true;
}

static void add_cell(struct grid *grid, size_t column, bool descends)
{
	grid->at[grid->n_cells] = (uint8_t)column;
	grid->descends[grid->n_cells++] = descends;
}

static void add_list(struct grid *grid, const char *list, bool sorted)
{
	bool descends;
	size_t len;

	for (const char *name; (name = next_name(list, sorted, &descends, &len));
	     list = rest_of(name, len))
		add_cell(grid, find_column(grid->table, name, len), descends);
}

static bool is_of_view(const struct grid_view *view, const struct grid_column *column)
{
	return view->wide || !column->wide || (view->also && strcmp(view->also, column->name) == 0);
}

void grid_init(struct grid *ret, const struct grid_table *table, const struct grid_view *view)
{
	*ret = (struct grid){.table = table, .view = *view};
	if (view->wide)
		ret->view.width = 0;
	add_list(ret, view->columns, false);
	for (size_t i = 0; i < table->n && !view->columns; i++)
		if (is_of_view(view, &table->columns[i]))
			add_cell(ret, i, false);
	ret->n = ret->n_cells;
	add_list(ret, view->sort, true);
}

void grid_set_width(struct grid *grid, unsigned int width)
{
	grid->view.width = grid->view.wide ? 0 : width;
}

void grid_expect(struct grid *grid, const char *name)
{
	size_t at = find_column(grid->table, name, strlen(name));

	for (size_t i = 0; i < grid->n; i++)
		grid->filled[i] |= grid->at[i] == at;
}

static const struct grid_column *column_of(const struct grid *grid, size_t cell)
{
	return &grid->table->columns[grid->at[cell]];
}

/* --- text -------------------------------------------------------------------------------------- */

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

static unsigned int columns_of(const char *text)
{
	unsigned int columns = 0;

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

static void add_cut(struct buf *out, const char *text, size_t width, bool keep_end)
{
	size_t columns = columns_of(text), tail = keep_end ? (width - 1) / 2 : 0;

	if (columns <= width) {
		buf_adds(out, text);
		return;
	}
	buf_add(out, text, bytes_of(text, width - 1 - tail));
	buf_adds(out, "…");
	buf_adds(out, text + bytes_of(text, columns - tail));
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

static unsigned int title_columns(const struct grid_column *column)
{
	return columns_of(column->title ? column->title : column->name);
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

const char *grid_escape(enum grid_style style)
{
	static const char *const escapes[GRID_STYLES] = {
		[GRID_PLAIN] = "\033[0m",    [GRID_TITLE] = "\033[1m", [GRID_DIM] = "\033[2m",
		[GRID_GOOD] = "\033[32m",    [GRID_WARN] = "\033[33m", [GRID_BAD] = "\033[31m",
		[GRID_ALARM] = "\033[1;31m",
	};

	return escapes[style];
}

/* --- values ------------------------------------------------------------------------------------ */

void grid_text(struct grid_cell *cell, const char *text)
{
	if (text)
		utf8_add_visible(cell->text, text, strlen(text));
}

void grid_add_text(struct grid_cell *cell, const void *value)
{
	grid_text(cell, *(const char *const *)value);
}

void grid_add_id(struct grid_cell *cell, const void *value)
{
	const char *id = *(const char *const *)value;

	if (id)
		utf8_add_visible(cell->text, id, strnlen(id, SHORT_ID));
}

void grid_add_word(struct grid_cell *cell, const void *value)
{
	grid_text(cell, cell->column->word(*(const unsigned int *)value));
}

void grid_add_number(struct grid_cell *cell, const void *value)
{
	uint32_t number = *(const uint32_t *)value;

	if (!number)
		return;
	buf_add_u64(cell->text, number);
	cell->key = number;
}

void grid_add_duration(struct grid_cell *cell, const void *value)
{
	uint64_t ns = *(const uint64_t *)value;
	char text[DURATION_SIZE];

	if (!ns)
		return;
	if (ns % NS_PER_S == 0 && ns < 100ull * NS_PER_S)
		buf_printf(cell->text, "%us", (unsigned int)(ns / NS_PER_S));
	else
		buf_adds(cell->text, duration_format(ns, text));
	cell->key = (int64_t)(ns & INT64_MAX);
}

static int64_t zone_of(const struct grid_view *view, int64_t wall_ns)
{
	return view->zone ? view->zone(wall_ns / NS_PER_S) : 0;
}

static void format_local(const struct grid_cell *cell, int64_t wall_ns,
			 char ret[static RFC3339_SIZE])
{
	int64_t local_ns;

	if (__builtin_add_overflow(wall_ns, zone_of(cell->view, wall_ns) * NS_PER_S, &local_ns))
		local_ns = wall_ns;
	rfc3339_format(local_ns, ret);
}

void grid_add_time(struct grid_cell *cell, const void *value)
{
	int64_t wall_ns = *(const int64_t *)value;
	int64_t zone_s = zone_of(cell->view, wall_ns), minutes = llabs(zone_s) / 60;
	char text[RFC3339_SIZE];

	format_local(cell, wall_ns, text);
	buf_add(cell->text, text + strlen("2026-11-21T"), strlen("15:04:05.123"));
	if (zone_s == 0)
		buf_addc(cell->text, 'Z');
	else
		buf_printf(cell->text, "%c%02u", zone_s < 0 ? '-' : '+',
			   (unsigned int)(minutes / 60));
	if (minutes % 60)
		buf_printf(cell->text, "%02u", (unsigned int)(minutes % 60));
	cell->key = wall_ns;
}

void grid_add_day(struct grid_cell *cell, const void *value)
{
	int64_t wall_ns = *(const int64_t *)value;
	char text[RFC3339_SIZE];

	format_local(cell, wall_ns, text);
	buf_add(cell->text, text, strlen("2026-11-21"));
	cell->key = wall_ns;
}

/* --- rows -------------------------------------------------------------------------------------- */

static void row_free(struct grid_row *row)
{
	buf_free(&row->text);
}

static bool is_nothing(const char *text)
{
	return !*text || strcmp(text, "-") == 0;
}

static unsigned int short_width(const struct grid_column *column, const char *text)
{
	_cleanup_(buf_free) struct buf copy = {};

	buf_adds(&copy, text);
	column->shorten(&copy);
	return columns_of(buf_str(&copy));
}

static unsigned int wider(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static void measure(struct grid *grid, size_t cell, const char *text)
{
	const struct grid_column *column = column_of(grid, cell);
	unsigned int width = columns_of(text);

	if (!grid->view.width && width > PAD_MAX)
		width = 0;
	grid->widths[cell] = wider(grid->widths[cell], width);
	if (grid->view.width && column->shorten)
		width = short_width(column, text);
	grid->shorts[cell] = wider(grid->shorts[cell], width);
	grid->filled[cell] |= !is_nothing(text);
}

/* NULL: it is not known. */
static const void *value_of(const struct grid_column *column, const void *row)
{
	const char *object = column->of ? column->of(row) : row;

	if (!object || (column->known && !*(const bool *)(object + column->known - 1)))
		return NULL;
	return object + column->at;
}

static void fill(const struct grid *grid, struct grid_row *row, const void *of)
{
	for (size_t i = 0; i < grid->n_cells; i++) {
		const struct grid_column *column = column_of(grid, i);
		const void *value = value_of(column, of);
		struct grid_cell cell = {.text = &row->text,
					 .key = GRID_NO_KEY,
					 .view = &grid->view,
					 .column = column};

		row->begin[i] = row->text.len;
		if (value)
			column->add(&cell, value);
		row->style[i] = cell.style;
		row->key[i] = cell.key;
		buf_addc(&row->text, '\0');
	}
}

void grid_add(struct grid *grid, const void *of)
{
	struct grid_row row = {.order = grid->n_rows}, *grown;
	int r;

	fill(grid, &row, of);
	r = buf_error(&row.text);
	grown = r ? NULL : reallocarray(grid->rows, grid->n_rows + 1, sizeof(*grown));
	if (!grown) {
		grid->error = r ? r : -ENOMEM;
		row_free(&row);
		return;
	}
	for (size_t i = 0; i < grid->n; i++)
		measure(grid, i, row.text.data + row.begin[i]);
	grid->rows = grown;
	grid->rows[grid->n_rows++] = row;
}

static bool is_same_cell(const struct grid_column *column, const char *a, const char *b)
{
	return column->runs ? is_nothing(a) == is_nothing(b) : strcmp(a, b) == 0;
}

bool grid_is_same(const struct grid *grid, const void *a, const void *b)
{
	struct grid_row rows[2] = {};
	bool same;

	fill(grid, &rows[0], a);
	fill(grid, &rows[1], b);
	same = !buf_error(&rows[0].text) && !buf_error(&rows[1].text);
	for (size_t i = 0; i < grid->n && same; i++)
		same = is_same_cell(column_of(grid, i), rows[0].text.data + rows[0].begin[i],
				    rows[1].text.data + rows[1].begin[i]);
	row_free(&rows[0]);
	row_free(&rows[1]);
	return same;
}

static void drop_rows(struct grid *grid)
{
	for (size_t i = 0; i < grid->n_rows; i++)
		row_free(&grid->rows[i]);
	free(grid->rows);
	grid->rows = NULL;
	grid->n_rows = 0;
}

void grid_done(struct grid *grid)
{
	drop_rows(grid);
}

void grid_add_titles(struct grid *grid)
{
	grid->titles_due = true;
	grid->titled = 0;
}

static int compare_cells(const struct grid *grid, size_t cell, const struct grid_row *a,
			 const struct grid_row *b)
{
	const char *x = a->text.data + a->begin[cell], *y = b->text.data + b->begin[cell];
	int order;

	if (is_nothing(x) || is_nothing(y))
		return is_nothing(x) - is_nothing(y);
	if (column_of(grid, cell)->number)
		order = (a->key[cell] > b->key[cell]) - (a->key[cell] < b->key[cell]);
	else
		order = strcmp(x, y);
	return grid->descends[cell] ? -order : order;
}

static int compare_rows(const void *a, const void *b, void *userdata)
{
	const struct grid_row *x = a, *y = b;
	const struct grid *grid = userdata;
	int order = 0;

	for (size_t i = grid->n; i < grid->n_cells && order == 0; i++)
		order = compare_cells(grid, i, x, y);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* --- layout ------------------------------------------------------------------------------------ */

static bool is_shown(const struct layout *l, size_t cell)
{
	return l->shown >> cell & 1;
}

/* What the columns take; the last one no more than it has to. */
static unsigned int taken(const struct grid *grid, const struct layout *l)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < grid->n; i++) {
		const struct grid_column *column = column_of(grid, i);
		unsigned int width = l->width[i];

		if (!is_shown(l, i))
			continue;
		if (i == l->last && l->continues && width > column->least)
			width = column->least;
		sum += width + (i == l->last ? 0 : l->gap);
	}
	return sum;
}

static bool fits(const struct grid *grid, const struct layout *l)
{
	return !grid->view.width || taken(grid, l) <= grid->view.width;
}

static void find_last(const struct grid *grid, struct layout *l)
{
	for (size_t i = 0; i < grid->n; i++)
		if (is_shown(l, i))
			l->last = i;
}

/* As they would be without a limit. */
static void begin_layout(const struct grid *grid, struct layout *ret)
{
	*ret = (struct layout){.gap = GAP};
	for (size_t i = 0; i < grid->n; i++) {
		const struct grid_column *column = column_of(grid, i);

		if (column->optional && !grid->filled[i] && !grid->view.columns)
			continue;
		ret->shown |= 1u << i;
		ret->width[i] = grid->widths[i];
		if (grid->view.live)
			ret->width[i] = wider(ret->width[i], column->typical);
		if (!grid->view.no_titles)
			ret->width[i] = wider(ret->width[i], title_columns(column));
	}
	find_last(grid, ret);
}

static unsigned int last_turn(const struct grid *grid)
{
	unsigned int last = 0;

	for (size_t i = 0; i < grid->n; i++)
		last = wider(last, column_of(grid, i)->turn);
	return last;
}

static void shorten_column(const struct grid *grid, struct layout *l, size_t cell)
{
	const struct grid_column *column = column_of(grid, cell);
	unsigned int width = grid->shorts[cell];

	if (grid->view.live)
		width = wider(width, column->typical_short);
	if (!grid->view.no_titles)
		width = wider(width, title_columns(column));
	l->is_short[cell] = true;
	l->width[cell] = width;
}

static void shorten(const struct grid *grid, struct layout *l)
{
	for (size_t i = grid->n; i-- > 0 && !fits(grid, l);)
		if (is_shown(l, i) && column_of(grid, i)->shorten)
			shorten_column(grid, l, i);
}

/* Shows the columns of a turn, or leaves them out. */
static void show_turn(const struct grid *grid, struct layout *l, unsigned int turn, bool shows)
{
	for (size_t i = 0; i < grid->n; i++) {
		bool is_hidden = column_of(grid, i)->optional && !grid->filled[i];

		if (column_of(grid, i)->turn != turn || is_hidden)
			continue;
		l->shown = shows ? l->shown | 1u << i : l->shown & ~(1u << i);
	}
	find_last(grid, l);
}

static void leave_out(const struct grid *grid, struct layout *l)
{
	unsigned int turn = 0;

	while (turn < last_turn(grid) && !fits(grid, l))
		show_turn(grid, l, ++turn, false);
	/* Where a wide one is gone, narrower ones may find room after all. */
	for (; turn > 0; turn--) {
		show_turn(grid, l, turn, true);
		if (!fits(grid, l))
			show_turn(grid, l, turn, false);
	}
}

/* The widest column that may be cut further; grid->n: there is none. */
static size_t widest_name(const struct grid *grid, const struct layout *l)
{
	size_t widest = grid->n;

	for (size_t i = 0; i < grid->n; i++) {
		unsigned int least = column_of(grid, i)->least;

		if (is_shown(l, i) && least && l->width[i] > least &&
		    !(i == l->last && l->continues) &&
		    (widest == grid->n || l->width[i] >= l->width[widest]))
			widest = i;
	}
	return widest;
}

static void cut(const struct grid *grid, struct layout *l)
{
	size_t cell;

	while (!fits(grid, l) && (cell = widest_name(grid, l)) < grid->n) {
		l->width[cell]--;
		l->is_cut[cell] = true;
	}
}

/* One long name must not be the end of all other columns. */
static void bound_names(const struct grid *grid, struct layout *l)
{
	unsigned int most = wider(NAME_MOST, grid->view.width / 3);

	for (size_t i = 0; i < grid->n; i++) {
		unsigned int least = column_of(grid, i)->least;

		if (!least || i == l->last || l->width[i] <= wider(least, most))
			continue;
		l->width[i] = wider(least, most);
		l->is_cut[i] = true;
	}
}

static struct layout lay_out(const struct grid *grid)
{
	struct layout l;

	begin_layout(grid, &l);
	if (fits(grid, &l))
		return l;
	bound_names(grid, &l);
	if (!fits(grid, &l))
		l.gap = 1;
	shorten(grid, &l);
	if (!fits(grid, &l))
		l.continues = column_of(grid, l.last)->continues && !grid->view.flat;
	if (!fits(grid, &l) && !grid->view.columns)
		leave_out(grid, &l);
	cut(grid, &l);
	if (l.continues) {
		unsigned int all = taken(grid, &l), least = column_of(grid, l.last)->least;

		l.width[l.last] = least;
		if (all < grid->view.width)
			l.width[l.last] += grid->view.width - all;
	}
	return l;
}

/* --- lines ------------------------------------------------------------------------------------- */

/* One cell, and the columns that it has taken. */
static unsigned int add_text(struct buf *out, const struct grid *grid, const struct layout *l,
			     size_t cell, const char *text, unsigned int indent)
{
	const struct grid_column *column = column_of(grid, cell);
	size_t begin = out->len;

	if (cell == l->last && l->continues)
		add_wrapped(out, text, l->width[cell], indent);
	else if (l->is_cut[cell])
		add_cut(out, text, l->width[cell], column->keep_end);
	else
		buf_adds(out, text);
	return out->error ? 0 : columns_of(buf_str(out) + begin);
}

static const char *title_of(const struct grid_column *column, struct buf *copy)
{
	if (column->title)
		return column->title;
	buf_reset(copy);
	for (const char *at = column->name; *at; at++)
		buf_addc(copy, *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
	return buf_str(copy);
}

/* The row's text, or the title if row is NULL; copy may hold it. */
static const char *text_of(const struct grid *grid, const struct layout *l,
			   const struct grid_row *row, size_t cell, struct buf *copy)
{
	const struct grid_column *column = column_of(grid, cell);
	const char *text = row ? row->text.data + row->begin[cell] : title_of(column, copy);

	if (!*text && cell != l->last)
		return "-";
	if (!row || !l->is_short[cell])
		return text;
	buf_reset(copy);
	buf_adds(copy, text);
	column->shorten(copy);
	return buf_str(copy);
}

/* Spaces are owed until something follows, so that no line ends in them. */
static void add_line(struct buf *out, const struct grid *grid, const struct layout *l,
		     const struct grid_row *row)
{
	_cleanup_(buf_free) struct buf copy = {};
	unsigned int owed = 0, indent = 0, width;

	for (size_t i = 0; i < grid->n; i++) {
		enum grid_style style = row ? row->style[i] : GRID_TITLE;
		const char *text;

		if (!is_shown(l, i))
			continue;
		text = text_of(grid, l, row, i, &copy);
		if (!grid->view.colour || !*text)
			style = GRID_PLAIN;
		for (; owed > 0 && *text; owed--)
			buf_addc(out, ' ');
		if (style != GRID_PLAIN)
			buf_adds(out, grid_escape(style));
		width = add_text(out, grid, l, i, text, indent);
		if (style != GRID_PLAIN)
			buf_adds(out, grid_escape(GRID_PLAIN));
		owed += l->gap + (width < l->width[i] ? l->width[i] - width : 0);
		indent += l->gap + l->width[i];
	}
	buf_addc(out, '\n');
}

/* What titles depend on, but for the widths of names: which columns there are, and their forms. */
static uint64_t shape_of(const struct grid *grid, const struct layout *l)
{
	uint64_t shape = l->shown | (uint64_t)l->gap << GRID_COLUMNS_MAX;

	for (size_t i = 0; i < grid->n; i++)
		shape |= (uint64_t)l->is_short[i] << (32 + i);
	return shape;
}

static void add_titles(struct buf *out, struct grid *grid, const struct layout *l)
{
	uint64_t shape = shape_of(grid, l);

	if (grid->view.no_titles || grid->titled == shape)
		return;
	if (grid->n_rows == 0 && !grid->titles_due)
		return;
	add_line(out, grid, l, NULL);
	grid->titled = shape;
}

int grid_flush(struct grid *grid, struct buf *out)
{
	struct layout l = lay_out(grid);

	if (grid->error && !out->error)
		out->error = grid->error;
	if (grid->n_cells > grid->n && grid->n_rows)
		qsort_r(grid->rows, grid->n_rows, sizeof(*grid->rows), compare_rows, grid);
	add_titles(out, grid, &l);
	for (size_t i = 0; i < grid->n_rows; i++)
		add_line(out, grid, &l, &grid->rows[i]);
	grid->titles_due = false;
	drop_rows(grid);
	return buf_error(out);
}
