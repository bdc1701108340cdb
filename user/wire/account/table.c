// SPDX-License-Identifier: Apache-2.0
/* Writes an account as lines and tables. */
#include "wire/account/account.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/account/text.h"
#include "wire/text/wrap.h"

#define GOOD_MAX 10 /* rows of good stops on a terminal; others are counted */

/* A container, or a pod whose containers have left no record (stop is NULL). */
struct row {
	const struct account_story *story;
	const struct account_pod *pod;
	const struct account_stop *stop;
};

static const enum grid_style outcome_styles[OUTCOME_COUNT] = {
	[OUTCOME_KILLED] = GRID_BAD,  [OUTCOME_OOM_KILLED] = GRID_BAD, [OUTCOME_CRASHED] = GRID_BAD,
	[OUTCOME_FAILED] = GRID_WARN, [OUTCOME_UNKNOWN] = GRID_WARN,
};

static const void *stop_of(const void *row)
{
	return ((const struct row *)row)->stop;
}

static const void *record_of(const void *row)
{
	const struct account_stop *stop = stop_of(row);

	return stop ? stop->of : NULL;
}

static void add_group(struct grid_cell *cell, const void *value)
{
	cell->key = *(const uint32_t *)value;
	buf_printf(cell->text, "%" PRId64, cell->key);
}

static void add_container(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	if (r->stop)
		account_text_container(cell->text, r->stop);
	else
		account_text_pod(cell->text, &r->pod->names);
}

static void add_moment(struct grid_cell *cell, const struct row *r, uint64_t at_ns,
		       const char *otherwise)
{
	if (!at_ns) {
		buf_adds(cell->text, otherwise);
		return;
	}
	account_text_offset(cell->text, r->story, at_ns);
	cell->key = (int64_t)at_ns;
}

static void add_asked(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	add_moment(cell, r, r->stop ? r->stop->of->stop_signal.at_ns : r->pod->terminating_ns, "");
}

static void add_died(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	if (r->stop)
		add_moment(cell, r, r->stop->of->exit.at_ns, "unknown");
}

static void add_empty(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	add_moment(cell, r, r->stop ? r->stop->of->empty_ns : r->pod->empty_ns, "unknown");
}

static bool was_asked(const struct row *r)
{
	return r->stop && r->stop->of->stop_signal.at_ns;
}

static void add_took(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;
	uint64_t took;

	if (r->stop && account_took(r->stop, &took)) {
		account_text_duration(cell->text, took);
		cell->key = (int64_t)took;
	} else if (was_asked(r)) {
		buf_adds(cell->text, "unknown");
	}
}

static void add_grace(struct grid_cell *cell, const void *value)
{
	const struct grace *grace = value;

	if (!grace_known(grace))
		return;
	account_text_duration(cell->text, grace->ns);
	cell->key = (int64_t)grace->ns;
}

static void add_margin(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	if (r->stop && r->stop->margin_known) {
		account_text_margin(cell->text, r->stop->margin_ns);
		cell->key = r->stop->margin_ns;
		cell->style = r->stop->margin_ns < 0 ? GRID_BAD : GRID_PLAIN;
	} else if (was_asked(r)) {
		buf_adds(cell->text, "unknown");
	}
}

static void add_outcome(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;

	if (r->stop)
		account_text_outcome(cell->text, r->stop);
	else
		buf_adds(cell->text, "unknown");
	cell->style = r->stop ? outcome_styles[r->stop->of->outcome] : GRID_WARN;
}

/* NOTE says why. */
static void shorten_outcome(struct buf *text)
{
	if (text->len)
		buf_truncate(text, strcspn(text->data, ","));
}

static void add_note(struct grid_cell *cell, const void *row)
{
	const struct row *r = row;
	size_t begin = cell->text->len;

	if (r->stop)
		account_text_note(cell->text, r->story, r->pod, r->stop,
				  cell->view->wide ? UINT32_MAX : ~(1u << GAP_ATTACHED_LATE));
	else
		buf_adds(cell->text, "no record of its containers");
	if (cell->text->len == begin)
		buf_addc(cell->text, '-');
}

static const struct grid_column columns[] = {
	{"group", .of = stop_of, GRID_AT(add_group, struct account_stop, group),
	 GRID_KNOWN(struct account_stop, group_known), .number = true, .optional = true},
	{"container", .add = add_container, .least = 20, .keep_end = true},
	{"id", .of = record_of, GRID_AT(grid_add_id, struct record_stop, container.id),
	 .wide = true},
	{"outcome", .add = add_outcome, .shorten = shorten_outcome},
	{"asked", .add = add_asked, .number = true},
	{"died", .add = add_died, .number = true},
	{"empty", .add = add_empty, .number = true},
	{"took", .add = add_took, .number = true},
	{"grace", .of = record_of, GRID_AT(add_grace, struct record_stop, grace), .number = true},
	{"margin", .add = add_margin, .number = true},
	{"note", .add = add_note, .typical = 36, .least = 20, .continues = true},
};

const struct grid_table account_columns = {
	.columns = columns,
	.n = sizeof(columns) / sizeof(*columns),
	.answers = "container,outcome,took,grace,note",
	.extras = "margin,asked,died,empty,group",
};

/* --- lines about the story --------------------------------------------------------------------- */

struct text_line {
	const char *label;
	const struct buf *text;
};

static void add_label(struct grid_cell *cell, const void *value)
{
	buf_printf(cell->text, "  %s", *(const char *const *)value);
}

static void add_text(struct grid_cell *cell, const void *row)
{
	const struct buf *text = ((const struct text_line *)row)->text;

	buf_add(cell->text, buf_str(text), text->len);
}

static const struct grid_column line_columns[] = {
	{"label", .title = "", GRID_AT(add_label, struct text_line, label), .typical = 9},
	{"text", .title = "", .add = add_text, .least = 40, .continues = true},
};

typedef void (*text_fn)(struct buf *out, const struct account_story *story);

static void add_lines(struct buf *out, const struct account_story *story,
		      const struct grid_view *view)
{
	static const struct {
		const char *label;
		text_fn add;
		bool of_any;
	} lines[] = {
		{"when", account_text_where, true},	 {"lock", account_text_lock, false},
		{"left", account_text_left, false},	 {"boot", account_text_boot_end, true},
		{"", account_text_lost, true},		 {"", account_text_ended, true},
		{"partial", account_text_partial, true},
	};
	static const struct grid_table table = {.columns = line_columns, .n = 2};
	const struct grid_view own = {
		.width = view->wide ? 0 : view->width, .live = true, .no_titles = true};
	_cleanup_(grid_done) struct grid grid = {};
	_cleanup_(buf_free) struct buf text = {};

	grid_init(&grid, &table, &own);

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (!story->shutdown && !lines[i].of_any)
			continue;
		buf_reset(&text);
		lines[i].add(&text, story);
		if (text.len)
			grid_add(&grid, &(struct text_line){lines[i].label, &text});
	}
	for (size_t i = 0; i < story->n_groups; i++) {
		buf_reset(&text);
		account_text_group(&text, story, &story->groups[i]);
		grid_add(&grid, &(struct text_line){"", &text});
	}
	grid_flush(&grid, out);
}

static bool is_trouble(const struct row *row)
{
	return !row->stop || account_badness(row->stop) > 0;
}

/* Adds the rows of trouble, or all others, at most so many. Returns how many there are. */
static size_t add_rows_of(struct grid *grid, const struct account_story *story, bool trouble,
			  size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < story->n_pods; i++) {
		const struct account_pod *pod = &story->pods[i];

		for (size_t j = 0; j < pod->n || (j == 0 && !pod->n); j++) {
			const struct row row = {story, pod,
						pod->n ? story->stops[pod->first + j] : NULL};

			if (is_trouble(&row) == trouble && n++ < most)
				grid_add(grid, &row);
		}
	}
	return n;
}

/* Whether more than a few good stops are counted, to keep the trouble on the screen. */
static bool is_brief(const struct grid_view *view)
{
	return view->width && !view->wide && !view->columns && !view->sort && !view->no_titles;
}

static void add_rows(struct buf *out, const struct account_story *story,
		     const struct grid_view *view)
{
	_cleanup_(grid_done) struct grid grid = {};
	size_t good;

	grid_init(&grid, &account_columns, view);
	add_rows_of(&grid, story, true, SIZE_MAX);
	good = add_rows_of(&grid, story, false, is_brief(view) ? GOOD_MAX : SIZE_MAX);
	grid_flush(&grid, out);
	if (is_brief(view) && good > GOOD_MAX)
		buf_printf(out, "and %zu more that stopped well (-o wide has them)\n",
			   good - GOOD_MAX);
}

static void add_headline(struct buf *out, const struct account_story *story,
			 const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf verdict = {};

	buf_adds(out, view->colour ? grid_escape(GRID_TITLE) : "");
	account_text_heading(out, story);
	buf_adds(out, view->colour ? grid_escape(GRID_PLAIN) : "");
	buf_addc(out, '\n');
	account_text_verdict(&verdict, story);
	buf_adds(out, "  ");
	wrap_text(out, buf_str(&verdict), 2, 2, view->wide ? 0 : view->width);
}

static bool scrolls(const struct buf *out, const struct grid_view *view)
{
	unsigned int lines = 1; /* of the prompt */

	for (size_t i = 0; i < out->len; i++)
		lines += out->data[i] == '\n';
	return view->lines && !view->no_titles && lines > view->lines;
}

int account_table(struct buf *out, const struct account *account, const struct grid_view *view)
{
	for (size_t i = 0; i < account->n; i++) {
		if (i && !view->no_titles)
			buf_addc(out, '\n');
		if (!view->no_titles) {
			add_headline(out, account->stories[i], view);
			add_lines(out, account->stories[i], view);
		}
		add_rows(out, account->stories[i], view);
	}
	for (size_t i = 0; i < account->n && scrolls(out, view); i++) {
		buf_addc(out, '\n');
		add_headline(out, account->stories[i], view);
	}
	return buf_error(out);
}
