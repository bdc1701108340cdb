// SPDX-License-Identifier: Apache-2.0
/* Lays out the sections of graced top in lines and columns. */
#include "wire/top/screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/stop/advice.h"
#include "core/top/top.h"
#include "wire/text/table.h"

#define CELL_SIZE  64
#define NAME_LEAST 12 /* of the column that takes what others leave */
#define MICRO	   "\xc2\xb5"
#define NOT_KNOWN  "-"
#define DAY_S	   86400
#define HEAD	   "graced top  "

/* A column of a section; width 0: it takes what the others leave. */
struct column {
	const char *title;
	unsigned int width;
	unsigned int from; /* the least width of a screen that has it */
	/* Its width beside another one that takes what is left, a quarter of the screen if that is
	 * more; 0: it has all. */
	unsigned int most;
};

#define COLUMNS_MAX 8

static const struct column columns[TOP_SECTIONS][COLUMNS_MAX + 1] = {
	[TOP_STOPPING] = {{"STOPPING", 0, 0},
			  {"ASKED", 8, 60},
			  {"SIGNAL", 11, 120},
			  {"BY", 18, 100},
			  {"DEADLINE", 8, 70},
			  {"LEFT", 7, 0},
			  {"MARGIN", 12, 50},
			  {"NOTE", 13, 72}},
	[TOP_STOPPED] = {{"STOPPED", 0, 0},
			 {"AT", 8, 60},
			 {"OUTCOME", 10, 0},
			 {"CAUSE", 14, 110},
			 {"TOOK", 7, 50},
			 {"MARGIN", 7, 0},
			 {"BY", 18, 72},
			 {"NOTE", 13, 124}},
	[TOP_DEAF] = {{"DEAF", 0, 0},
		      {"WHEN", 4, 0},
		      {"WHY", 25, 56},
		      {"REASON", 14, 110},
		      {"STOPS", 5, 0},
		      {"LAST", 8, 72}},
	[TOP_KILLERS] = {{"WHO KILLS", 0, 0, 28},
			 {"KILLS", 5, 0},
			 {"EARLY", 5, 50},
			 {"LAST", 8, 60},
			 {"LAST VICTIM", 0, 72}},
};

static const char *const nothing[TOP_SECTIONS] = {
	[TOP_STOPPING] = "no container is being stopped",
	[TOP_STOPPED] = "no container has stopped since graced top was started",
	[TOP_DEAF] = "no container is known to be deaf, or to have been",
	[TOP_KILLERS] = "no container was killed since graced top was started",
};

/* Where the next cell of a row goes. */
struct pen {
	const struct screen *screen;
	const struct top *top;
	screen_put_fn put;
	void *userdata;
	const struct column *columns, *column; /* NULL: none */
	unsigned int line, at;
	int error;
};

/* --- texts ------------------------------------------------------------------------------------- */

/* Shows a text that may be hostile in width columns; one that is cut keeps both of its ends. */
static void put_cut(struct pen *pen, unsigned int width, enum grid_style style, const char *text)
{
	_cleanup_(buf_free) struct buf shown = {};
	_cleanup_(buf_free) struct buf cut = {};
	size_t tail = width ? (width - 1) / 2 : 0;

	utf8_add_visible(&shown, text, strlen(text));
	if (buf_error(&shown) < 0) {
		pen->error = buf_error(&shown);
	} else if (shown.len <= width) {
		pen->put(pen->userdata, pen->line, pen->at, style, buf_str(&shown));
	} else if (width) {
		buf_add(&cut, shown.data, width - 1 - tail);
		buf_adds(&cut, pen->screen->utf8 ? "…" : "~");
		buf_adds(&cut, shown.data + shown.len - tail);
		pen->put(pen->userdata, pen->line, pen->at, style, buf_str(&cut));
	}
}

/* Our own texts: ASCII, cut at their end. */
static void put_text(struct pen *pen, unsigned int width, enum grid_style style, const char *text)
{
	char cut[512];

	snprintf(cut, sizeof(cut), "%.*s", (int)width, text);
	if (*cut)
		pen->put(pen->userdata, pen->line, pen->at, style, cut);
}

static void format_clock(const struct pen *pen, uint64_t at_ns, char ret[CELL_SIZE])
{
	int64_t wall_ns = (int64_t)at_ns + top_data(pen->top)->wall_offset_ns;
	int64_t s = wall_ns / (int64_t)NS_PER_S + pen->screen->zone_s;

	s = (s % DAY_S + DAY_S) % DAY_S;
	snprintf(ret, CELL_SIZE, "%02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60),
		 (int)(s % 60));
}

/* The letter for micro is ASCII where the terminal shows nothing else. */
static void format_duration(const struct pen *pen, uint64_t ns, char ret[CELL_SIZE])
{
	char text[DURATION_SIZE], *micro;

	micro = strstr(duration_format(ns, text), MICRO);
	if (micro && !pen->screen->utf8)
		snprintf(ret, CELL_SIZE, "%.*su%s", (int)(micro - text), text,
			 micro + strlen(MICRO));
	else
		snprintf(ret, CELL_SIZE, "%s", text);
}

/* Tenths of a second are what a person can read of a number that runs. */
static void format_left(int64_t ns, char ret[CELL_SIZE])
{
	uint64_t abs_ns = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 && abs_ns >= NS_PER_S / 10 ? "-" : "";
	char text[DURATION_SIZE];

	if (abs_ns < 60 * NS_PER_S)
		snprintf(ret, CELL_SIZE, "%s%u.%us", sign, (unsigned int)(abs_ns / NS_PER_S),
			 (unsigned int)(abs_ns / (NS_PER_S / 10) % 10));
	else
		snprintf(ret, CELL_SIZE, "%s%s", sign, duration_format(abs_ns, text));
}

/* --- cells ------------------------------------------------------------------------------------- */

static bool is_there(const struct pen *pen, const struct column *column)
{
	return pen->screen->columns >= column->from;
}

static unsigned int fixed_of(const struct pen *pen, const struct column *column)
{
	unsigned int quarter = pen->screen->columns / 4;

	if (column->width || !column->most)
		return column->width;
	return column->most > quarter ? column->most : quarter;
}

static unsigned int width_of(const struct pen *pen, const struct column *column)
{
	unsigned int others = 0;

	if (column->width)
		return column->width;
	for (const struct column *c = pen->columns; c->title; c++) {
		if (c == column || !is_there(pen, c))
			continue;
		if (!c->width && column->most)
			return fixed_of(pen, column);
		others += fixed_of(pen, c) + 1;
	}
	return pen->screen->columns > others + NAME_LEAST ? pen->screen->columns - others
							  : NAME_LEAST;
}

/* How many columns the cell has, up to the edge of the screen. */
static unsigned int room_of(const struct pen *pen)
{
	unsigned int width = width_of(pen, pen->column), screen = pen->screen->columns;

	if (pen->at >= screen || !is_there(pen, pen->column))
		return 0;
	return width < screen - pen->at ? width : screen - pen->at;
}

static void next_cell(struct pen *pen)
{
	if (is_there(pen, pen->column))
		pen->at += width_of(pen, pen->column) + 1;
	pen->column++;
}

static void cell(struct pen *pen, enum grid_style style, const char *text)
{
	unsigned int room = room_of(pen);

	if (room)
		put_cut(pen, room, style, *text ? text : NOT_KNOWN);
	next_cell(pen);
}

static void cell_clock(struct pen *pen, uint64_t at_ns)
{
	char text[CELL_SIZE] = "";

	if (at_ns)
		format_clock(pen, at_ns, text);
	cell(pen, GRID_PLAIN, text);
}

/* µ is no ASCII, and safe. */
static void cell_duration(struct pen *pen, bool known, uint64_t ns)
{
	char text[CELL_SIZE] = NOT_KNOWN;

	if (known)
		format_duration(pen, ns, text);
	if (room_of(pen))
		pen->put(pen->userdata, pen->line, pen->at, GRID_PLAIN, text);
	next_cell(pen);
}

static void cell_number(struct pen *pen, uint64_t number)
{
	char text[CELL_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	cell(pen, GRID_PLAIN, number ? text : "");
}

/* What is left of the grace period, a block for each part. */
static void cell_bar(struct pen *pen, enum grid_style style, uint64_t left_ns, uint64_t of_ns)
{
	const char *full = pen->screen->utf8 ? "█" : "#", *empty = pen->screen->utf8 ? "·" : ".";
	unsigned int room = room_of(pen);
	char text[3 * 64 + 1] = "";
	double part = of_ns ? (double)left_ns / (double)of_ns : 0;
	unsigned int blocks = (unsigned int)(part * room + 0.999);

	for (unsigned int i = 0; of_ns && i < room && i < 64; i++)
		strcat(text, i < blocks ? full : empty);
	if (*text)
		pen->put(pen->userdata, pen->line, pen->at, style, text);
	else if (room)
		pen->put(pen->userdata, pen->line, pen->at, GRID_PLAIN, NOT_KNOWN);
	next_cell(pen);
}

/* --- rows -------------------------------------------------------------------------------------- */

static enum grid_style left_style(int64_t left_ns, uint64_t grace_ns)
{
	if (left_ns <= 0)
		return GRID_BAD;
	return (uint64_t)left_ns < grace_ns / 4 ? GRID_WARN : GRID_GOOD;
}

/* no-handler is what deaf means. */
static const char *note_of(bool deaf, enum unheard reason)
{
	const char *name = unheard_name(reason);

	if (deaf && (reason == UNHEARD_NONE || reason == UNHEARD_NO_HANDLER))
		return "deaf";
	return name ? name : "";
}

static void put_note(struct pen *pen, enum grid_style style, const char *text)
{
	if (*text)
		cell(pen, style, text);
	else
		next_cell(pen);
}

static void row_stopping(struct pen *pen, size_t i)
{
	const struct top_data *d = top_data(pen->top);
	const struct top_stop *s = &d->stopping[i];
	int64_t left_ns = (int64_t)(s->deadline_ns - d->now_ns);
	enum grid_style style = left_style(left_ns, s->grace_ns);
	char signal[SIGNAME_SIZE], left[CELL_SIZE] = "";

	if (s->deadline_ns)
		format_left(left_ns, left);
	else
		style = GRID_PLAIN;
	cell(pen, s->deaf ? GRID_ALARM : GRID_PLAIN, s->name);
	cell_clock(pen, s->at_ns);
	cell(pen, GRID_PLAIN, signame_format(s->signal, signal));
	cell(pen, GRID_PLAIN, s->by);
	cell_clock(pen, s->deadline_ns);
	cell(pen, style, left);
	cell_bar(pen, style, left_ns > 0 ? (uint64_t)left_ns : 0, s->grace_ns);
	put_note(pen, GRID_ALARM, s->killed ? "killed" : note_of(s->deaf, s->reason));
}

static void row_stopped(struct pen *pen, size_t i)
{
	const struct top_stop *s = &top_data(pen->top)->stopped[i];
	const char *cause = cause_name(s->cause), *note = note_of(false, s->reason);
	bool cut = s->badness == 1; /* it ended well, and a process of it did not */
	char margin[CELL_SIZE] = "";

	if (s->margin_known)
		format_left(s->margin_ns, margin);
	cell(pen, GRID_PLAIN, s->name);
	cell_clock(pen, s->at_ns);
	cell(pen, cut ? GRID_WARN : table_outcome_style(s->outcome), outcome_name(s->outcome));
	cell(pen, GRID_PLAIN, cause ? cause : "");
	cell_duration(pen, s->took_known, s->took_ns);
	cell(pen, s->margin_known && s->margin_ns < 0 ? GRID_BAD : GRID_PLAIN, margin);
	cell(pen, GRID_PLAIN, s->by);
	if (!*note)
		note = cut ? "cut" : s->complete ? "" : "partial";
	put_note(pen, GRID_DIM, note);
}

static void row_deaf(struct pen *pen, size_t i)
{
	const struct top_deaf *deaf = &top_data(pen->top)->deaf[i];
	const char *why = advice_in_words(deaf->topic), *reason = advice_name(deaf->topic);

	cell(pen, deaf->now ? GRID_PLAIN : GRID_DIM, deaf->name);
	cell(pen, deaf->now ? GRID_PLAIN : GRID_DIM, deaf->now ? "now" : "was");
	cell(pen, deaf->now ? GRID_BAD : GRID_DIM, why ? why : "");
	cell(pen, GRID_PLAIN, reason ? reason : "");
	cell_number(pen, deaf->times);
	cell_clock(pen, deaf->last_ns);
}

static void row_killer(struct pen *pen, size_t i)
{
	const struct top_killer *k = &top_data(pen->top)->killers[i];

	cell(pen, GRID_PLAIN, k->who);
	cell_number(pen, k->kills);
	cell_number(pen, k->early);
	cell_clock(pen, k->last_ns);
	cell(pen, GRID_PLAIN, k->victim);
}

static void (*const rows[TOP_SECTIONS])(struct pen *pen, size_t i) = {
	[TOP_STOPPING] = row_stopping,
	[TOP_STOPPED] = row_stopped,
	[TOP_DEAF] = row_deaf,
	[TOP_KILLERS] = row_killer,
};

/* --- sections ---------------------------------------------------------------------------------- */

static void begin_row(struct pen *pen, enum top_section section)
{
	pen->column = pen->columns = columns[section];
	pen->at = 0;
}

static void pad(struct pen *pen, enum grid_style style)
{
	char blank[512];
	size_t n = pen->screen->columns < sizeof(blank) ? pen->screen->columns : sizeof(blank) - 1;

	memset(blank, ' ', n);
	blank[n] = '\0';
	pen->at = 0;
	pen->put(pen->userdata, pen->line, 0, style, blank);
}

static void put_title(struct pen *pen, enum top_section section, size_t n)
{
	const struct top *top = pen->top;
	enum grid_style style = section == top->focus ? GRID_FOCUS : GRID_TITLE;
	char text[CELL_SIZE];

	begin_row(pen, section);
	pad(pen, style);
	snprintf(text, sizeof(text), "%u %s %zu by %s%s", section + 1, pen->column->title, n,
		 top->order[section].reverse ? "-" : "", top_order_name(top, section));
	put_text(pen, room_of(pen), style, text);
	next_cell(pen);
	while (pen->column->title) {
		put_text(pen, room_of(pen), style, pen->column->title);
		next_cell(pen);
	}
	pen->line++;
}

static void put_section(struct pen *pen, enum top_section section)
{
	const struct top *top = pen->top;
	uint16_t list[TOP_ROWS_MAX];
	size_t n = top_rows(top, section, list), from = top->from[section];

	if (!top->room[section])
		return;
	put_title(pen, section, n);
	if (!n) {
		pen->at = 0;
		put_text(pen, pen->screen->columns, GRID_DIM,
			 top_data(top)->n[section] ? "no row matches the filter"
						   : nothing[section]);
		pen->line++;
	}
	for (size_t i = from; i < n && i < from + top->room[section]; i++) {
		begin_row(pen, section);
		rows[section](pen, list[i]);
		pen->line++;
	}
}

/* --- first and last line, help ----------------------------------------------------------------- */

static void put_head(struct pen *pen)
{
	const struct top_data *d = top_data(pen->top);
	_cleanup_(buf_free) struct buf text = {};
	const char *shown;
	char now[CELL_SIZE];

	format_clock(pen, d->now_ns, now);
	buf_printf(&text, HEAD "%s %s", now, pen->screen->zone);
	if (pen->top->paused)
		buf_adds(&text, "  PAUSED");
	buf_printf(&text,
		   "  stopping %" PRIu64 "  stopped %" PRIu64 "  killed %" PRIu64 " (%" PRIu64
		   " early)",
		   d->all_stopping, d->all_stopped, d->killed, d->early);
	if (d->lost)
		buf_printf(&text, "  lost events %" PRIu64, d->lost);
	if (d->missed)
		buf_printf(&text, "  missed records %" PRIu64, d->missed);
	pen->line = 0;
	pad(pen, GRID_BAR);
	shown = buf_str(&text);
	/* A long name of the node hides no number. */
	if (text.len > strlen(HEAD) &&
	    text.len + 2 + strlen(pen->screen->node) > pen->screen->columns)
		shown += strlen(HEAD);
	put_cut(pen, pen->screen->columns, GRID_BAR, shown);
	pen->at = (unsigned int)strlen(shown) + 2;
	if (pen->at < pen->screen->columns)
		put_cut(pen, pen->screen->columns - pen->at, GRID_BAR, pen->screen->node);
	if (buf_error(&text) < 0)
		pen->error = buf_error(&text);
}

static void put_foot(struct pen *pen)
{
	static const char keys[] = "q quit  space pause  / filter  tab section  s sort  r reverse  "
				   "1-4 alone  h help";
	_cleanup_(buf_free) struct buf text = {};

	if (pen->top->typing)
		buf_printf(&text, "filter: %s_", pen->top->filter);
	else if (pen->screen->message)
		buf_adds(&text, pen->screen->message);
	else if (*pen->top->filter)
		buf_printf(&text, "filter: %s (esc ends it)  %s", pen->top->filter, keys);
	else
		buf_adds(&text, keys);
	pen->line = pen->screen->lines - 1;
	pad(pen, GRID_BAR);
	put_cut(pen, pen->screen->columns, GRID_BAR, buf_str(&text));
	if (buf_error(&text) < 0)
		pen->error = buf_error(&text);
}

static void put_help(struct pen *pen)
{
	static const char *const lines[] = {
		"q             quit",
		"space, p      pause: the screen stands still, and go on",
		"/             filter: show rows that contain a text; enter keeps it, esc ends it",
		"tab           go to the next section; shift-tab to the one before it",
		"s, r          sort the section by its next column; reverse its order",
		"up, down      scroll it by a row (k, j), a page (page up, page down), to an end",
		"1 2 3 4       show that section alone; again, 0 or esc: all",
		"ctrl-l        draw the screen anew",
		"h, ?          this text",
		"",
		"STOPPING      asked to stop, and run; LEFT and MARGIN: of the grace period",
		"STOPPED       what became of each; MARGIN: what was left, BY: who ended it",
		"DEAF          now: would not act on a stop signal, and why; was: did not",
		"WHO KILLS     EARLY: of the kills those before the end of the grace period",
		"",
		"Any key goes back.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pen->line = (unsigned int)i + 1;
		pen->at = 0;
		if (pen->line + 1 < pen->screen->lines)
			put_text(pen, pen->screen->columns, GRID_PLAIN, lines[i]);
	}
}

int screen_draw(const struct screen *screen, struct top *top, screen_put_fn put, void *userdata)
{
	struct pen pen = {.screen = screen, .top = top, .put = put, .userdata = userdata};

	if (screen->lines < 1 || screen->columns < 1)
		return 0;
	top_fit(top, screen->lines > 2 ? screen->lines - 2 : 0);
	put_head(&pen);
	pen.line = 1;
	if (top->help)
		put_help(&pen);
	else
		for (unsigned int i = 0; i < TOP_SECTIONS; i++)
			put_section(&pen, i);
	if (screen->lines > 1)
		put_foot(&pen);
	return pen.error;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Of xterm, tmux, screen, rxvt and the kernel's console, which send the same sequences for those
 * that are used here. Whatever else comes, like a mouse's report, is skipped. */

#define ESCAPE	     0x1b
#define SEQUENCE_MAX 32 /* what is longer is no key */

static const struct {
	const char *text; /* behind the escape */
	int key;
} sequences[] = {
	{"[A", TOP_KEY_UP},    {"OA", TOP_KEY_UP},	 {"[B", TOP_KEY_DOWN},
	{"OB", TOP_KEY_DOWN},  {"[5~", TOP_KEY_PAGE_UP}, {"[6~", TOP_KEY_PAGE_DOWN},
	{"[H", TOP_KEY_HOME},  {"OH", TOP_KEY_HOME},	 {"[1~", TOP_KEY_HOME},
	{"[7~", TOP_KEY_HOME}, {"[F", TOP_KEY_END},	 {"OF", TOP_KEY_END},
	{"[4~", TOP_KEY_END},  {"[8~", TOP_KEY_END},	 {"[Z", TOP_KEY_BACK_TAB},
};

/* The length of a control sequence, "[" and what follows it up to its final byte; 0: it goes on. */
static size_t sequence_length(const char *bytes, size_t n)
{
	size_t i = 1;

	if (bytes[0] == 'O')
		return n > 1 ? 2 : 0;
	while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x40)
		i++;
	if (i >= SEQUENCE_MAX)
		return i;
	return i < n ? i + 1 : 0;
}

static int find(const char *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].text) == n && memcmp(sequences[i].text, bytes, n) == 0)
			return sequences[i].key;
	return -1;
}

size_t keys_read(const char *bytes, size_t n, bool last, int *ret_key)
{
	size_t length;

	*ret_key = (unsigned char)bytes[0];
	if (bytes[0] != ESCAPE)
		return 1;
	if (n == 1)
		return last ? 1 : 0;
	if (bytes[1] != '[' && bytes[1] != 'O')
		return 1;
	length = sequence_length(bytes + 1, n - 1);
	if (!length && !last)
		return 0;
	*ret_key = length ? find(bytes + 1, length) : -1;
	return length ? length + 1 : n;
}
