// SPDX-License-Identifier: Apache-2.0
/* Lays an account out as text of at most 120 columns. */
#include "wire/account/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/account/text.h"
#include "wire/text/rows.h"

#define RED    "\x1b[31m"
#define YELLOW "\x1b[33m"
#define BOLD   "\x1b[1m"
#define RESET  "\x1b[0m"

static const struct rows_column columns[] = {
	{"GROUP", 5, false},	{"CONTAINER", 26, true}, {"ASKED", 7, false}, {"DIED", 7, false},
	{"EMPTY", 7, false},	{"TOOK", 7, false},	 {"GRACE", 5, false}, {"MARGIN", 7, false},
	{"OUTCOME", 21, false}, {"NOTE", 4, false},
};

#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

static const char *outcome_colour(const struct account_stop *stop)
{
	switch (stop->outcome) {
	case OUTCOME_KILLED:
	case OUTCOME_OOM_KILLED:
	case OUTCOME_CRASHED:
		return RED;
	case OUTCOME_FAILED:
	case OUTCOME_UNKNOWN:
		return YELLOW;
	default:
		return NULL;
	}
}

static void add_moment(struct rows_row *row, const struct account_story *story, uint64_t at_ns,
		       const char *otherwise)
{
	struct buf *cell = rows_cell(row, NULL);

	if (at_ns)
		account_text_offset(cell, story, at_ns);
	else
		buf_adds(cell, otherwise);
}

static void add_margin(struct rows_row *row, const struct account_stop *stop)
{
	struct buf *cell = rows_cell(row, stop->margin_known && stop->margin_ns < 0 ? RED : NULL);

	if (stop->margin_known)
		account_text_margin(cell, stop->margin_ns);
	else
		buf_adds(cell, stop->asked.at_ns ? "unknown" : "-");
}

static void add_note(struct rows_row *row, const struct account_story *story,
		     const struct account_pod *pod, const struct account_stop *stop)
{
	struct buf *cell = rows_cell(row, NULL);
	size_t begin = cell->len;

	account_text_note(cell, story, pod, stop);
	if (cell->len == begin)
		buf_addc(cell, '-');
}

static void keep_stop(struct rows *rows, const struct account_story *story,
		      const struct account_pod *pod, const struct account_stop *stop)
{
	struct rows_row row = {};
	struct buf *cell = rows_cell(&row, NULL);
	uint64_t took;

	if (stop->group_known)
		buf_printf(cell, "%" PRIu32, stop->group);
	else
		buf_addc(cell, '-');
	account_text_container(rows_cell(&row, NULL), stop);
	add_moment(&row, story, stop->asked.at_ns, "-");
	add_moment(&row, story, stop->exit_ns, "unknown");
	add_moment(&row, story, stop->empty_ns, "unknown");
	cell = rows_cell(&row, NULL);
	if (account_took(stop, &took))
		account_text_duration(cell, took);
	else
		buf_adds(cell, stop->asked.at_ns ? "unknown" : "-");
	cell = rows_cell(&row, NULL);
	if (stop->grace_known)
		account_text_duration(cell, stop->grace_ns);
	else
		buf_addc(cell, '-');
	add_margin(&row, stop);
	account_text_outcome(rows_cell(&row, outcome_colour(stop)), stop);
	add_note(&row, story, pod, stop);
	rows_keep(rows, &row);
}

/* Its containers have left no record. */
static void keep_pod(struct rows *rows, const struct account_story *story,
		     const struct account_pod *pod)
{
	static const char *const middle[] = {"-", "-", "-"};
	struct rows_row row = {};

	buf_addc(rows_cell(&row, NULL), '-');
	account_text_pod(rows_cell(&row, NULL), &pod->subject);
	add_moment(&row, story, pod->terminating_ns, "-");
	buf_addc(rows_cell(&row, NULL), '-');
	add_moment(&row, story, pod->empty_ns, "unknown");
	for (size_t i = 0; i < sizeof(middle) / sizeof(*middle); i++)
		buf_adds(rows_cell(&row, NULL), middle[i]);
	buf_adds(rows_cell(&row, YELLOW), "unknown");
	buf_adds(rows_cell(&row, NULL), "no record of its containers");
	rows_keep(rows, &row);
}

typedef void (*text_fn)(struct buf *out, const struct account_story *story);

static void keep_line(struct rows *rows, const char *label, const struct buf *text)
{
	struct rows_row row = {};

	buf_printf(rows_cell(&row, NULL), "  %s", label);
	buf_add(rows_cell(&row, NULL), buf_str(text), text->len);
	rows_keep(rows, &row);
}

static void add_lines(struct buf *out, const struct account_story *story)
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
	static const struct rows_column line_columns[] = {{"", 9, false}, {"", 1, false}};
	_cleanup_(rows_free_kept) struct rows rows = {};
	_cleanup_(buf_free) struct buf text = {};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (!story->shutdown && !lines[i].of_any)
			continue;
		buf_reset(&text);
		lines[i].add(&text, story);
		if (text.len)
			keep_line(&rows, lines[i].label, &text);
	}
	for (size_t i = 0; i < story->n_groups; i++) {
		buf_reset(&text);
		account_text_group(&text, story, &story->groups[i]);
		keep_line(&rows, "", &text);
	}
	rows_put(out, &rows, line_columns, 2, false);
}

static void add_story(struct buf *out, const struct account_story *story, bool colour)
{
	_cleanup_(rows_free_kept) struct rows rows = {};

	buf_adds(out, colour ? BOLD : "");
	account_text_heading(out, story);
	buf_adds(out, colour ? RESET "\n" : "\n");
	add_lines(out, story);
	if (!story->n_pods)
		return;
	rows_keep_title(&rows, columns, N_COLUMNS);
	for (size_t i = 0; i < story->n_pods; i++) {
		const struct account_pod *pod = &story->pods[i];

		for (size_t j = 0; j < pod->n; j++)
			keep_stop(&rows, story, pod, story->stops[pod->first + j]);
		if (!pod->n)
			keep_pod(&rows, story, pod);
	}
	rows_put(out, &rows, columns, N_COLUMNS, colour);
}

int account_table(struct buf *out, const struct account *account, bool colour)
{
	for (size_t i = 0; i < account->n; i++) {
		if (i)
			buf_addc(out, '\n');
		add_story(out, account->stories[i], colour);
	}
	return buf_error(out);
}
