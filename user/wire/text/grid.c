// SPDX-License-Identifier: Apache-2.0
/* Keeps rows as texts, chooses and sizes columns by them, and writes lines. */
#include "wire/text/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "base/cleanup.h"

#define GAP	  2
/* A wider cell does not widen its column where there is no limit: one name must not push the rows
 * of all others apart. */
#define PAD_MAX	  128
#define NAME_MOST 40 /* of a name where room is short, on terminals of up to 120 columns */

/* Cells are strings, one behind the other in text. */
struct grid_row {
	struct buf text;
	size_t begin[GRID_CELLS_MAX];
	enum grid_style style[GRID_CELLS_MAX];
	int64_t key[GRID_CELLS_MAX];
	size_t order;
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

/* The list's names have the ranks after `before`. Returns the last one. */
static unsigned int take_ranks(struct grid *grid, const char *list, unsigned int before)
{
	unsigned int rank = before;
	bool descends;
	size_t len;

	for (const char *name; (name = next_name(list, false, &descends, &len));
	     list = rest_of(name, len)) {
		size_t column = find_column(grid->table, name, len);

		rank++;
		for (size_t i = 0; i < grid->n; i++)
			if (grid->at[i] == column)
				grid->rank[i] = rank;
	}
	return rank;
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
	ret->answers = take_ranks(ret, table->answers, 0);
	ret->ranks = take_ranks(ret, table->extras, ret->answers);
}

void grid_set_width(struct grid *grid, unsigned int width)
{
	unsigned int wanted = grid->view.wide ? 0 : width;

	if (grid->view.width == wanted)
		return;
	grid->view.width = wanted;
	grid->decided = false;
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
	return (unsigned int)utf8_columns(text, strlen(text));
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
	grid->decided = false;
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

static bool is_shown(const struct grid_layout *l, size_t cell)
{
	return l->shown >> cell & 1;
}

/* The last column takes what the others leave. */
static bool yields(const struct grid *grid, const struct grid_layout *l)
{
	return l->yield && column_of(grid, l->last)->continues;
}

/* What the columns take; a last one that yields no more than it has to. */
static unsigned int taken(const struct grid *grid, const struct grid_layout *l)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < grid->n; i++) {
		if (!is_shown(l, i))
			continue;
		sum += i != l->last	 ? l->width[i] + l->gap
		       : yields(grid, l) ? l->yield
					 : l->width[i];
	}
	return sum;
}

static bool fits(const struct grid *grid, const struct grid_layout *l)
{
	return !grid->view.width || taken(grid, l) <= grid->view.width;
}

static void find_last(const struct grid *grid, struct grid_layout *l)
{
	for (size_t i = 0; i < grid->n; i++)
		if (is_shown(l, i))
			l->last = i;
}

/* A time of day has the offset of its zone in place of the Z: before a row shows which one, that of
 * 1970. */
static unsigned int time_columns(const struct grid *grid, size_t cell, bool is_short,
				 unsigned int in_utc)
{
	unsigned int seen = is_short ? grid->shorts[cell] : grid->widths[cell];
	int32_t zone_s = grid->view.zone(0);

	if (seen)
		return seen;
	return in_utc + (zone_s % 3600 ? 4 : zone_s ? 2 : 0);
}

/* What most rows need. */
static unsigned int typical_of(const struct grid *grid, size_t cell, bool is_short)
{
	const struct grid_column *column = column_of(grid, cell);
	unsigned int width = is_short ? column->typical_short : column->typical;

	if (!grid->view.live)
		return 0;
	if (column->add == grid_add_time && grid->view.zone)
		width = time_columns(grid, cell, is_short, width);
	return width;
}

/* On a terminal what a live table's rows had so far does not count: more will come. */
static unsigned int width_of(const struct grid *grid, size_t cell, bool is_short)
{
	unsigned int width = typical_of(grid, cell, is_short);

	if (!width || !grid->view.width)
		width = wider(width, is_short ? grid->shorts[cell] : grid->widths[cell]);
	/* A dash where nothing is known. */
	width = wider(width, 1);
	return grid->view.no_titles ? width : wider(width, title_columns(column_of(grid, cell)));
}

/* Nothing of it is known, and it does not have to be there. */
static bool is_empty(const struct grid *grid, size_t cell)
{
	return column_of(grid, cell)->optional && !grid->filled[cell] && !grid->view.columns;
}

/* As they would be without a limit. */
static void begin_layout(const struct grid *grid, struct grid_layout *ret)
{
	*ret = (struct grid_layout){.gap = GAP};
	for (size_t i = 0; i < grid->n; i++) {
		ret->width[i] = width_of(grid, i, false);
		ret->shown |= (uint32_t)!is_empty(grid, i) << i;
	}
	find_last(grid, ret);
}

static void shorten(const struct grid *grid, struct grid_layout *l)
{
	for (size_t i = grid->n; i-- > 0 && !fits(grid, l);) {
		if (!is_shown(l, i) || !column_of(grid, i)->shorten)
			continue;
		l->is_short[i] = true;
		l->width[i] = width_of(grid, i, true);
	}
}

/* Shows the column of a rank, or leaves it out. */
static void show_rank(const struct grid *grid, struct grid_layout *l, unsigned int rank, bool shows)
{
	for (size_t i = 0; i < grid->n; i++) {
		if (grid->rank[i] != rank || is_empty(grid, i))
			continue;
		l->shown = shows ? l->shown | 1u << i : l->shown & ~(1u << i);
	}
	find_last(grid, l);
}

/* Columns of a rank above `after`, up to the rank last, which goes first. */
static void leave_out(const struct grid *grid, struct grid_layout *l, unsigned int after,
		      unsigned int last)
{
	unsigned int rank = last;

	for (; rank > after && !fits(grid, l); rank--)
		show_rank(grid, l, rank, false);
	/* Where a wide one is gone, narrower ones may find room after all. */
	while (rank++ < last) {
		show_rank(grid, l, rank, true);
		if (!fits(grid, l))
			show_rank(grid, l, rank, false);
	}
}

/* A column that may be cut: not one that takes what is left. */
static bool is_name(const struct grid *grid, const struct grid_layout *l, size_t cell)
{
	return is_shown(l, cell) && column_of(grid, cell)->least &&
	       !(cell == l->last && yields(grid, l));
}

/* One long name must not be the end of all other columns. */
static void bound_names(const struct grid *grid, struct grid_layout *l)
{
	unsigned int most = wider(NAME_MOST, grid->view.width / 3);

	for (size_t i = 0; i < grid->n; i++) {
		unsigned int least = column_of(grid, i)->least;

		if (least && i != l->last && l->width[i] > wider(least, most))
			l->width[i] = wider(least, most);
	}
}

/* Makes the widest name narrower, or the narrowest one wider, by a column. False: none may be. */
static bool resize(const struct grid *grid, struct grid_layout *l, const unsigned int *most)
{
	size_t found = grid->n;

	for (size_t i = 0; i < grid->n; i++) {
		unsigned int width = l->width[i], best = found < grid->n ? l->width[found] : 0;

		if (!is_name(grid, l, i))
			continue;
		if (most ? width < most[i] && (found == grid->n || width < best)
			 : width > column_of(grid, i)->least && width >= best)
			found = i;
	}
	if (found == grid->n)
		return false;
	l->width[found] += most ? 1 : -1;
	return true;
}

static unsigned int left_over(const struct grid *grid, const struct grid_layout *l)
{
	unsigned int sum = taken(grid, l);

	return sum < grid->view.width ? grid->view.width - sum : 0;
}

/* What a last column that continues has to get, if all fits then, and if not. */
static unsigned int yield_of(const struct grid *grid, const struct grid_layout *l, bool roomy)
{
	const struct grid_column *last = column_of(grid, l->last);
	unsigned int width = roomy ? wider(last->typical, last->least) : last->least;

	if (grid->view.live)
		return !roomy && last->typical_short ? last->typical_short : width;
	return width < l->width[l->last] ? width : l->width[l->last];
}

/* Extras go before the answer gets less room than it needs. */
static void make_room(const struct grid *grid, struct grid_layout *l)
{
	const struct grid_column *last = column_of(grid, l->last);
	/* A row that has one line cuts its last column, to its typical width if it has one. */
	bool yields_first =
		last->continues && (grid->view.live || !grid->view.flat || last->typical);
	bool chosen = grid->view.columns;

	if (yields_first && !fits(grid, l))
		l->yield = yield_of(grid, l, true);
	if (!chosen)
		leave_out(grid, l, grid->answers, grid->ranks);
	if (!fits(grid, l) && yields(grid, l))
		l->yield = yield_of(grid, l, false);
	while (!fits(grid, l) && resize(grid, l, NULL))
		;
	if (!chosen)
		leave_out(grid, l, 1, grid->answers);
}

/* To the last column what it needs, to names what they want, and to the last column the rest. */
static void hand_out(const struct grid *grid, struct grid_layout *l, const unsigned int *most)
{
	unsigned int needs = yields(grid, l) ? yield_of(grid, l, true) : 0;

	while (l->yield < needs && left_over(grid, l))
		l->yield++;
	while (left_over(grid, l) && resize(grid, l, most))
		;
	if (needs)
		l->width[l->last] = l->yield + left_over(grid, l);
	else
		l->width[l->last] += left_over(grid, l);
}

/* Before a live table's first row; they will get no wider. */
static void widen_names(const struct grid *grid, struct grid_layout *l)
{
	for (size_t i = 0; i < grid->n; i++)
		if (is_name(grid, l, i) && column_of(grid, i)->keep_end)
			l->width[i] = wider(l->width[i], typical_of(grid, i, false) * 3 / 2);
}

static void lay_out(const struct grid *grid, struct grid_layout *l)
{
	bool live = grid->view.live;
	unsigned int most[GRID_CELLS_MAX];

	begin_layout(grid, l);
	if (!grid->view.width)
		return;
	if (!live && fits(grid, l)) {
		l->width[l->last] += left_over(grid, l);
		return;
	}
	bound_names(grid, l);
	widen_names(grid, l);
	for (size_t i = 0; i < grid->n; i++)
		most[i] = live ? wider(l->width[i], NAME_MOST) : l->width[i];
	if (!fits(grid, l))
		l->gap = 1;
	shorten(grid, l);
	make_room(grid, l);
	hand_out(grid, l, most);
}

/* A column that is not left out for want of room has its first value. */
static bool has_come(const struct grid *grid)
{
	for (size_t i = 0; i < grid->n; i++)
		if ((!grid->rank[i] || !grid->view.width) && !is_shown(&grid->layout, i) &&
		    !is_empty(grid, i))
			return true;
	return false;
}

/* Columns stay as they are; but where nothing is cut they get wider. */
static void decide(struct grid *grid)
{
	if (!grid->decided || has_come(grid)) {
		lay_out(grid, &grid->layout);
		grid->decided = grid->n_rows || grid->titles_due;
		grid->titled = false;
		return;
	}
	for (size_t i = 0; i < grid->n && !grid->view.width; i++)
		grid->layout.width[i] = width_of(grid, i, false);
}

/* --- lines ------------------------------------------------------------------------------------- */

/* One cell, and the columns that it has taken. */
static unsigned int add_text(struct buf *out, const struct grid *grid, size_t cell,
			     const char *text, unsigned int indent)
{
	const struct grid_column *column = column_of(grid, cell);
	const struct grid_layout *l = &grid->layout;
	size_t begin = out->len;

	if (cell == l->last && yields(grid, l) && !grid->view.flat)
		add_wrapped(out, text, l->width[cell], indent);
	else if (grid->view.width)
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
static const char *text_of(const struct grid *grid, const struct grid_row *row, size_t cell,
			   struct buf *copy)
{
	const struct grid_column *column = column_of(grid, cell);
	const struct grid_layout *l = &grid->layout;
	const char *text = row ? row->text.data + row->begin[cell] : title_of(column, copy);
	bool narrow = l->is_short[cell] || (grid->view.width && columns_of(text) > l->width[cell]);

	if (!*text && cell != l->last)
		return "-";
	if (!row || !column->shorten || !narrow)
		return text;
	buf_reset(copy);
	buf_adds(copy, text);
	column->shorten(copy);
	return buf_str(copy);
}

/* Spaces are owed until something follows, so that no line ends in them. */
static void add_line(struct buf *out, const struct grid *grid, const struct grid_row *row)
{
	const struct grid_layout *l = &grid->layout;
	_cleanup_(buf_free) struct buf copy = {};
	unsigned int owed = 0, indent = 0, width;

	for (size_t i = 0; i < grid->n; i++) {
		enum grid_style style = row ? row->style[i] : GRID_TITLE;
		const char *text;

		if (!is_shown(l, i))
			continue;
		text = text_of(grid, row, i, &copy);
		if (!grid->view.colour || !*text)
			style = GRID_PLAIN;
		for (; owed > 0 && *text; owed--)
			buf_addc(out, ' ');
		if (style != GRID_PLAIN)
			buf_adds(out, grid_escape(style));
		width = add_text(out, grid, i, text, indent);
		if (style != GRID_PLAIN)
			buf_adds(out, grid_escape(GRID_PLAIN));
		owed += l->gap + (width < l->width[i] ? l->width[i] - width : 0);
		indent += l->gap + l->width[i];
	}
	buf_addc(out, '\n');
}

static void add_titles(struct buf *out, struct grid *grid)
{
	if (grid->view.no_titles || grid->titled)
		return;
	add_line(out, grid, NULL);
	grid->titled = true;
}

int grid_flush(struct grid *grid, struct buf *out)
{
	if (grid->error && !out->error)
		out->error = grid->error;
	if (!grid->n_rows && !grid->titles_due)
		return buf_error(out);
	decide(grid);
	if (grid->n_cells > grid->n && grid->n_rows)
		qsort_r(grid->rows, grid->n_rows, sizeof(*grid->rows), compare_rows, grid);
	add_titles(out, grid);
	for (size_t i = 0; i < grid->n_rows; i++)
		add_line(out, grid, &grid->rows[i]);
	grid->titles_due = false;
	drop_rows(grid);
	return buf_error(out);
}
