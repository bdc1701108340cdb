// SPDX-License-Identifier: Apache-2.0
/* A row for each pod: who, its state and since when, what runs, how long it may still take. */
#include "wire/text/pods.h"

#include <string.h>

#include "base/duration.h"
#include "base/time.h"
#include "base/utf8.h"

#define RED    "\x1b[31m"
#define YELLOW "\x1b[33m"
#define DIM    "\x1b[2m"

#define NOT_KNOWN "-"

/* 120 columns with the spaces between them, where nothing is longer. */
static const struct rows_column columns[] = {
	{"POD", 42, true},   {"STATE", 11, false}, {"SINCE", 7, false}, {"RUNNING", 7, false},
	{"GRACE", 7, false}, {"LEFT", 8, false},   {"READY", 5, false}, {"MARKS", 26, false},
};

#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

static void add_text(struct buf *cell, const char *text)
{
	utf8_add_visible(cell, text, strlen(text));
}

static void add_pod(struct buf *cell, const struct podview *v)
{
	if (v->namespace_ && v->name) {
		add_text(cell, v->namespace_);
		buf_addc(cell, '/');
	}
	add_text(cell, v->name ? v->name : v->uid ? v->uid : NOT_KNOWN);
}

/* Whole seconds as they are written elsewhere: "30s" and not "30.0s". */
static void add_duration(struct buf *cell, uint64_t ns)
{
	char text[DURATION_SIZE];

	if (ns % NS_PER_S == 0 && ns < 100ull * NS_PER_S)
		buf_printf(cell, "%us", (unsigned int)(ns / NS_PER_S));
	else
		buf_adds(cell, duration_format(ns, text));
}

static void add_age(struct buf *cell, uint64_t since_ns, uint64_t now_ns)
{
	char text[DURATION_SIZE];

	if (!since_ns)
		buf_adds(cell, NOT_KNOWN);
	else
		buf_adds(cell, duration_format(now_ns > since_ns ? now_ns - since_ns : 0, text));
}

static void add_left(struct rows_row *row, const struct pods_record *r)
{
	char text[DURATION_SIZE];
	struct buf *cell;
	int64_t left;

	if (r->gone || !pods_record_left(r, &left)) {
		buf_adds(rows_cell(row, NULL), NOT_KNOWN);
		return;
	}
	cell = rows_cell(row, left < 0 ? RED : NULL);
	if (left < 0)
		buf_addc(cell, '-');
	buf_adds(cell, duration_format(left < 0 ? 0 - (uint64_t)left : (uint64_t)left, text));
}

static void add_mark(struct buf *cell, size_t begin, bool has, const char *mark)
{
	if (!has)
		return;
	if (cell->len > begin)
		buf_addc(cell, ' ');
	buf_adds(cell, mark);
}

static void add_marks(struct rows_row *row, const struct pods_record *r)
{
	bool orphan = pods_record_is_orphan(r);
	bool differs = r->view.discrepancies;
	struct buf *cell = rows_cell(row, differs ? RED : orphan ? YELLOW : NULL);
	size_t begin = cell->len;

	add_mark(cell, begin, differs, "differs");
	add_mark(cell, begin, orphan, "orphan");
	add_mark(cell, begin, r->view.deleting, "deleting");
	add_mark(cell, begin, r->view.is_static, "static");
	add_mark(cell, begin, r->view.waiting, "waiting");
	if (cell->len == begin)
		buf_adds(cell, NOT_KNOWN);
}

static const char *colour_of(const struct pods_record *r)
{
	if (r->gone || r->view.stage == POD_STAGE_FINISHED)
		return DIM;
	return r->view.stage == POD_STAGE_SYNC ? NULL : YELLOW;
}

void pods_table_row(struct rows *rows, const struct pods_record *r)
{
	struct rows_row row = {};
	const struct podview *v = &r->view;
	const char *state = pods_record_state(r);

	add_pod(rows_cell(&row, NULL), v);
	buf_adds(rows_cell(&row, colour_of(r)), state ? state : NOT_KNOWN);
	add_age(rows_cell(&row, NULL), r->gone ? 0 : v->since_ns, r->at_ns);
	buf_printf(rows_cell(&row, NULL), "%u/%u", v->running, v->containers);
	if (v->grace_ns)
		add_duration(rows_cell(&row, NULL), v->grace_ns);
	else
		buf_adds(rows_cell(&row, NULL), NOT_KNOWN);
	add_left(&row, r);
	buf_adds(rows_cell(&row, NULL), !v->ready_known ? NOT_KNOWN : v->ready ? "yes" : "no");
	add_marks(&row, r);
	rows_keep(rows, &row);
}

void pods_table_title(struct rows *rows)
{
	rows_keep_title(rows, columns, N_COLUMNS);
}

int pods_table_put(struct buf *out, const struct rows *rows, bool colour)
{
	return rows_put(out, rows, columns, N_COLUMNS, colour);
}
