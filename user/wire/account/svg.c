// SPDX-License-Identifier: Apache-2.0
/*
 * Draws timelines. Three columns, from left to right: what it is, its bar, how it ended and why.
 * Their width is reckoned in characters of a monospaced font, and text is cut to its column, so
 * that nothing overlaps whatever the names are. Colour-blind people can distinguish the colours,
 * which are those of Okabe and Ito; and the words stand beside them.
 *
 * Colours are attributes, which every program draws that shows SVG; the style sheet has those for
 * readers who prefer dark.
 */
#include "wire/account/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/account/text.h"

#define WIDTH	     1280
#define EDGE	     16
#define LABEL_CHARS  30
#define CHART_X	     264
#define CHART_WIDTH  430
#define RESULT_X     716
#define RESULT_CHARS 70
#define WHY_LINES    3 /* of a stop, below its result */
#define LINE_CHARS   162
#define TITLE_CHARS  96
#define CHAR_WIDTH   7.7 /* at most, at 12 pixels */

#define ROW	 18
#define LINE	 15 /* within a row */
#define BAR	 10
#define TICKS	 8
#define TRIANGLE 5

#define FONT "ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace"

/* What is painted: the class is its name in the style sheet. */
#define INK	"class=\"ink\" fill=\"#1b1d20\""
#define SOFT	"class=\"soft\" fill=\"#5b6169\""
#define HEAD	INK " font-weight=\"bold\""
#define TITLE	HEAD " font-size=\"17\""
#define PAPER	"class=\"paper\" fill=\"#fff\""
#define GRID	"class=\"grid\" stroke=\"#dfe2e6\""
#define BAND	"class=\"band\" fill=\"#f1f3f5\""
#define EDGED	" stroke=\"#1b1d20\" stroke-opacity=\".45\" stroke-width=\".75\""
#define TRACK	"class=\"bar track\" fill=\"#e8ebee\" stroke=\"#8a9099\" stroke-width=\".75\""
#define WAITS	"class=\"bar\" fill=\"#8a8f96\"" EDGED
#define MARK	"class=\"mark\" fill=\"none\" stroke=\"#1b1d20\" stroke-width=\"2\""
#define HALO	"class=\"halo\" fill=\"none\" stroke=\"#fff\" stroke-width=\"4\""
#define OF_MANY "#5b6169" /* groups and the lock */
#define UNHEARD "fill=\"url(#graced-unheard)\""

static const char style[] =
	"<style>\n"
	".graced text{white-space:pre}\n"
	"@media screen and (prefers-color-scheme:dark){\n"
	".graced{background:#14171b}\n"
	".graced .paper{fill:#14171b}.graced .ink{fill:#e8eaed}.graced .soft{fill:#a9b0b8}\n"
	".graced .grid{stroke:#30363d}.graced .band{fill:#1e2329}.graced .bar{stroke:#e8eaed}\n"
	".graced .track{fill:#2b323a;stroke:#6b737c}\n"
	".graced .mark{stroke:#e8eaed}.graced .halo{stroke:#14171b}\n"
	"}\n"
	"</style>\n"
	"<defs><pattern id=\"graced-unheard\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
	"patternTransform=\"rotate(45)\"><path d=\"M1 0v5\" stroke=\"#fff\" stroke-width=\"2\"/>"
	"</pattern></defs>\n";

static const char *const fills[OUTCOME_COUNT] = {
	[OUTCOME_UNKNOWN] = "#8a8f96",	  [OUTCOME_GRACEFUL] = "#009e73",
	[OUTCOME_TERMINATED] = "#56b4e9", [OUTCOME_COMPLETED] = "#0072b2",
	[OUTCOME_KILLED] = "#d55e00",	  [OUTCOME_OOM_KILLED] = "#cc79a7",
	[OUTCOME_CRASHED] = "#e69f00",	  [OUTCOME_FAILED] = "#f0e442",
};

/* How a bar is filled: known; after the exit; its end is not known; a group's or a lock's. */
enum bar { BAR_FULL, BAR_TAIL, BAR_OPEN, BAR_OF_MANY };

static const char *const bars[] = {
	[BAR_FULL] = EDGED,
	[BAR_TAIL] = " fill-opacity=\".35\" stroke-dasharray=\"2 1\"" EDGED,
	[BAR_OPEN] = " fill-opacity=\".12\" stroke-dasharray=\"4 3\" stroke=\"#1b1d20\" "
		     "stroke-width=\".75\"",
	[BAR_OF_MANY] = " fill-opacity=\".6\"" EDGED,
};

/* The period by which a story's moments are placed. */
struct scale {
	uint64_t begin_ns, end_ns;
};

struct canvas {
	struct buf *out;
	double y;
	double grid; /* height of the lines from the upper axis to the lower one */
	struct scale scale;
	const struct account_story *story;
};

/* --- text ------------------------------------------------------------------------------------ */

static void add_escaped(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (text[i]) {
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '&':
			buf_adds(out, "&amp;");
			break;
		default:
			buf_addc(out, text[i]);
		}
	}
}

/* The text has one byte for each character, but for a µ, which is in no text that is cut. */
static void add_cut(struct buf *out, const char *text, size_t most)
{
	size_t len = strlen(text), tail = most / 2;

	if (len <= most) {
		add_escaped(out, text, len);
		return;
	}
	add_escaped(out, text, utf8_fit(text, len, most - 1 - tail));
	buf_adds(out, "…");
	add_escaped(out, text + len - tail, tail);
}

static void add_text(struct canvas *c, double x, const char *paint, const char *text, size_t most)
{
	buf_printf(c->out, "<text x=\"%g\" y=\"%g\" %s>", x, c->y + ROW - 5, paint);
	add_cut(c->out, text, most);
	buf_adds(c->out, "</text>\n");
}

/* How much of the text is its first line: broken at a space where there is one. */
static size_t len_of_line(const char *text, size_t most)
{
	size_t n = strlen(text);

	if (n <= most)
		return n;
	n = utf8_fit(text, n, most);
	for (size_t i = n; i > most / 2; i--)
		if (text[i] == ' ')
			return i;
	return n;
}

/* At most so many lines, the last one cut; returns how many there were. */
static unsigned int add_lines(struct canvas *c, double x, double step, const char *text,
			      size_t most, unsigned int lines)
{
	unsigned int line = 0;

	while (*text && line < lines) {
		size_t n = ++line < lines ? len_of_line(text, most) : strlen(text);
		char one[LINE_CHARS + 1];

		snprintf(one, sizeof(one), "%.*s", (int)n, text);
		if (n > most)
			snprintf(one + utf8_fit(text, n, most - 1), sizeof("…"), "…");
		add_text(c, x, SOFT, one, LINE_CHARS);
		c->y += step;
		text += n + (text[n] == ' ');
	}
	return line;
}

/* --- the scale ------------------------------------------------------------------------------- */

static double x_of(const struct scale *s, uint64_t at_ns)
{
	double length = (double)(s->end_ns - s->begin_ns);

	if (at_ns <= s->begin_ns)
		return CHART_X;
	if (at_ns >= s->end_ns)
		return CHART_X + CHART_WIDTH;
	return CHART_X + (double)(at_ns - s->begin_ns) / length * CHART_WIDTH;
}

/* What happened fills at least a third; deadlines and limits are shown as far as that allows. */
static struct scale scale_of(const struct account_story *story)
{
	uint64_t begin = story->begin_ns, end = ns_later(story->end_ns, begin + 1), most = end;
	uint64_t length = end - begin;

	for (size_t i = 0; i < story->n_stops; i++) {
		const struct account_stop *stop = story->stops[i];
		uint64_t asked = stop->of->stop_signal.at_ns;

		most = ns_later(most, stop->deadline_ns);
		if (asked && asked < begin && story->begin_ns - asked < length / 3)
			begin = asked;
	}
	for (size_t i = 0; i < story->n_groups; i++)
		if (story->groups[i].begin_ns)
			most = ns_later(most,
					story->groups[i].begin_ns + story->groups[i].length_ns);
	if (story->shutdown)
		most = ns_later(most, story->announced_ns + story->limit_ns);
	if (most > end + 2 * length)
		most = end + 2 * length;
	/* The last mark does not stand on the edge. */
	return (struct scale){begin, most + (most - begin) / 50};
}

/* A step of 1, 2 or 5 times a power of ten, or of whole minutes, hours or days. */
static uint64_t step_of(uint64_t length)
{
	static const uint32_t seconds[] = {60,	 120,  300,   600,   900,   1800,
					   3600, 7200, 14400, 21600, 43200, 86400};
	static const uint64_t factors[] = {1, 2, 5};
	uint64_t least = length / TICKS + 1, days = 1;

	for (uint64_t power = 1; power <= 10ull * NS_PER_S; power *= 10)
		for (size_t i = 0; i < 3; i++)
			if (power * factors[i] >= least && power * factors[i] < 60ull * NS_PER_S)
				return power * factors[i];
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++)
		if (seconds[i] * (uint64_t)NS_PER_S >= least)
			return seconds[i] * (uint64_t)NS_PER_S;
	while (days * 86400ull * NS_PER_S < least)
		days *= 2;
	return days * 86400ull * NS_PER_S;
}

typedef void (*tick_fn)(struct canvas *c, double x, uint64_t at_ns);

static void each_tick(struct canvas *c, tick_fn fn)
{
	const struct scale *s = &c->scale;
	uint64_t step = step_of(s->end_ns - s->begin_ns), zero = c->story->begin_ns;
	uint64_t first = zero - (zero - s->begin_ns) / step * step;

	for (uint64_t at = first; at <= s->end_ns; at += step)
		fn(c, x_of(s, at), at);
}

static void add_tick(struct canvas *c, double x, uint64_t at_ns)
{
	_cleanup_(buf_free) struct buf text = {};

	account_text_offset(&text, c->story, at_ns);
	buf_printf(c->out, "<text x=\"%.2f\" y=\"%g\" " SOFT " text-anchor=\"middle\">", x,
		   c->y + ROW - 5);
	add_escaped(c->out, buf_str(&text), text.len);
	buf_adds(c->out, "</text>\n");
}

static void add_axis(struct canvas *c)
{
	each_tick(c, add_tick);
	c->y += ROW;
}

/* --- bars and marks -------------------------------------------------------------------------- */

static double middle(const struct canvas *c)
{
	return c->y + ROW / 2.0;
}

/* From a moment to another one; both ends may lie beyond the scale. */
static void add_rect(struct canvas *c, const char *paint, const char *more, uint64_t from_ns,
		     uint64_t to_ns)
{
	double x = x_of(&c->scale, from_ns), width = x_of(&c->scale, to_ns) - x;

	if (width < 1)
		width = 1;
	buf_printf(c->out, "<rect %s%s x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%d\"/>\n", paint,
		   more, x, middle(c) - BAR / 2.0, width, BAR);
}

static void add_bar(struct canvas *c, const char *fill, enum bar kind, uint64_t from_ns,
		    uint64_t to_ns)
{
	char paint[64];

	snprintf(paint, sizeof(paint), "class=\"bar\" fill=\"%s\"", fill);
	add_rect(c, paint, bars[kind], from_ns, to_ns);
}

/* A moment without a beginning: nothing asked for it. */
static void add_diamond(struct canvas *c, const char *fill, double x)
{
	buf_printf(c->out,
		   "<path class=\"bar\" fill=\"%s\"" EDGED " d=\"M%.2f %gl5 5-5 5-5-5z\"/>\n", fill,
		   x, middle(c) - TRIANGLE);
}

/* A line or a sign, over what lies there. */
static void add_sign(struct canvas *c, double x, double y, const char *path)
{
	buf_printf(c->out, "<path " HALO " d=\"M%.2f %g%s\"/>\n", x, y, path);
	buf_printf(c->out, "<path " MARK " d=\"M%.2f %g%s\"/>\n", x, y, path);
}

static void add_line(struct canvas *c, double x)
{
	add_sign(c, x, middle(c) - 7, "v14");
}

static void add_cross(struct canvas *c, double x)
{
	add_sign(c, x - 3.5, middle(c) - 3.5, "l7 7m0-7l-7 7");
}

/* A torn edge. */
static void add_tear(struct canvas *c, double x)
{
	add_sign(c, x - 1.5, middle(c) - 8, "l3 4-3 4 3 4-3 4");
}

/* A line, or an arrow at the edge where it lies beyond it. */
static void add_mark(struct canvas *c, uint64_t at_ns)
{
	if (!at_ns)
		return;
	if (at_ns > c->scale.end_ns)
		buf_printf(c->out, "<path " INK " d=\"M%d %gv10l6-5z\"/>\n", CHART_X + CHART_WIDTH,
			   middle(c) - TRIANGLE);
	else
		add_line(c, x_of(&c->scale, at_ns));
}

/* --- rows ------------------------------------------------------------------------------------ */

static void add_band(struct canvas *c)
{
	buf_printf(c->out, "<rect " BAND " x=\"%d\" y=\"%g\" width=\"%d\" height=\"%d\"/>\n",
		   EDGE - 4, c->y, WIDTH - 2 * EDGE + 8, ROW);
}

static void begin_row(struct canvas *c, const struct buf *title)
{
	buf_adds(c->out, "<g><title>");
	add_escaped(c->out, buf_str(title), title->len);
	buf_adds(c->out, "</title>\n");
}

static void end_row(struct canvas *c)
{
	buf_adds(c->out, "</g>\n");
	c->y += ROW;
}

static void add_margin(struct buf *out, const struct account_stop *stop)
{
	uint64_t margin =
		stop->margin_ns < 0 ? 0 - (uint64_t)stop->margin_ns : (uint64_t)stop->margin_ns;

	buf_adds(out, " of ");
	account_text_duration(out, stop->of->grace.ns);
	buf_adds(out, ", ");
	account_text_duration(out, margin);
	buf_adds(out, stop->margin_ns < 0 ? " over" : " left");
}

/* "killed 30.0s of 30s, 12.0ms over, deaf, 2 cut" */
static void add_result(struct buf *out, const struct account_stop *stop)
{
	uint64_t took;

	buf_adds(out, outcome_name(stop->of->outcome));
	if (!stop->of->stop_signal.at_ns) {
		buf_adds(out, stop->of->exit.known ? ", not asked to stop" : ", exit unknown");
	} else if (account_took(stop, &took)) {
		buf_addc(out, ' ');
		account_text_duration(out, took);
		if (stop->margin_known)
			add_margin(out, stop);
		else if (!grace_known(&stop->of->grace))
			buf_adds(out, ", grace unknown");
	} else {
		buf_adds(out, ", exit unknown");
	}
	if (stop->of->deaf)
		buf_adds(out, ", deaf");
	if (stop->of->cut)
		buf_printf(out, ", %" PRIu32 " cut", stop->of->cut);
}

/* Until init took the signal, and from then on; striped where it did not act on it. */
static void add_stages(struct canvas *c, const struct record_stop *of)
{
	const char *fill = fills[of->outcome];
	uint64_t from = of->deliver_ns ? of->deliver_ns : of->stop_signal.at_ns;

	if (of->deliver_ns)
		add_rect(c, WAITS, "", of->stop_signal.at_ns, from);
	add_bar(c, fill, BAR_FULL, from, of->exit.at_ns);
	if (of->deaf || of->reason)
		add_rect(c, UNHEARD, "", of->stop_signal.at_ns, of->exit.at_ns);
}

static void add_bars(struct canvas *c, const struct account_stop *stop)
{
	const struct record_stop *of = stop->of;
	const char *fill = fills[of->outcome];

	if (stop->deadline_ns)
		add_rect(c, TRACK, "", of->stop_signal.at_ns, stop->deadline_ns);
	if (!of->exit.at_ns && of->stop_signal.at_ns)
		add_bar(c, fill, BAR_OPEN, of->stop_signal.at_ns, c->scale.end_ns);
	else if (of->stop_signal.at_ns)
		add_stages(c, of);
	if (of->exit.at_ns && of->empty_ns)
		add_bar(c, fill, BAR_TAIL, of->exit.at_ns, of->empty_ns);
	if (of->exit.at_ns && !of->stop_signal.at_ns)
		add_diamond(c, fill, x_of(&c->scale, of->exit.at_ns));
	add_mark(c, stop->deadline_ns);
	if (of->kill_signal.at_ns && of->stop_signal.at_ns)
		add_cross(c, x_of(&c->scale, of->kill_signal.at_ns));
	if (of->cut && of->exit.at_ns)
		add_tear(c, x_of(&c->scale, of->exit.at_ns));
}

/* The pod below its container, and below the result why: as high as it needs. */
static void add_below(struct canvas *c, const struct account_stop *stop, const char *why)
{
	_cleanup_(buf_free) struct buf pod = {};
	double y = c->y;
	unsigned int lines;

	c->y = y + LINE;
	if (stop->of->pod.name || stop->of->pod.uid) {
		account_text_pod(&pod, &stop->of->pod);
		add_text(c, EDGE, SOFT, buf_str(&pod), LABEL_CHARS);
	}
	lines = add_lines(c, RESULT_X, LINE, why, RESULT_CHARS, WHY_LINES);
	if (!lines && pod.len)
		lines = 1;
	c->y = y + lines * LINE;
}

static void add_stop(struct canvas *c, const struct account_pod *pod,
		     const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf name = {}, title = {}, result = {}, why = {};

	account_text_container(&title, stop);
	buf_adds(&title, ": ");
	account_text_outcome(&title, stop);
	account_text_why(&why, c->story, pod, stop);
	if (why.len) {
		buf_adds(&title, "; ");
		buf_add(&title, buf_str(&why), why.len);
	}
	account_text_container_alone(&name, stop);
	add_result(&result, stop);
	begin_row(c, &title);
	add_text(c, EDGE, INK, buf_str(&name), LABEL_CHARS);
	add_bars(c, stop);
	add_text(c, RESULT_X, INK, buf_str(&result), RESULT_CHARS);
	add_below(c, stop, buf_str(&why));
	end_row(c);
}

static void add_pod(struct canvas *c, const struct account_pod *pod)
{
	_cleanup_(buf_free) struct buf name = {};

	account_text_pod(&name, &pod->names);
	begin_row(c, &name);
	add_text(c, EDGE, INK, buf_str(&name), LABEL_CHARS);
	if (pod->terminating_ns)
		add_bar(c, fills[OUTCOME_UNKNOWN], BAR_OPEN, pod->terminating_ns,
			pod->empty_ns ? pod->empty_ns : c->scale.end_ns);
	add_text(c, RESULT_X, INK, "no record of its containers", RESULT_CHARS);
	end_row(c);
}

static void add_lock(struct canvas *c)
{
	const struct account_story *s = c->story;
	uint64_t end = account_lock_end(s);
	_cleanup_(buf_free) struct buf text = {}, result = {};

	account_text_lock(&text, s);
	if (end) {
		buf_adds(&result, "held for ");
		account_text_duration(&result, end - s->announced_ns);
	} else {
		buf_adds(&result, s->lock_held ? "end unknown" : "not held by graced");
	}
	if (s->limit_ns) {
		buf_adds(&result, ", limit ");
		account_text_duration(&result, s->limit_ns);
	}
	begin_row(c, &text);
	add_text(c, EDGE, HEAD, "delay lock", LABEL_CHARS);
	if (s->lock_held)
		add_bar(c, OF_MANY, end ? BAR_FULL : BAR_OPEN, s->announced_ns,
			end ? end : c->scale.end_ns);
	if (s->limit_ns)
		add_mark(c, s->announced_ns + s->limit_ns);
	add_text(c, RESULT_X, INK, buf_str(&result), RESULT_CHARS);
	end_row(c);
}

static void add_group(struct canvas *c, const struct account_group *group)
{
	_cleanup_(buf_free) struct buf name = {}, title = {}, result = {};

	buf_printf(&name, "group %" PRIu32, group->index);
	if (group->priority_known)
		buf_printf(&name, ", priority %" PRId64, group->priority);
	account_text_group(&title, c->story, group);
	if (group->length_ns) {
		buf_adds(&result, "has ");
		account_text_duration(&result, group->length_ns);
	}
	if (group->timed_out)
		buf_adds(&result, ", timed out");
	add_band(c);
	begin_row(c, &title);
	add_text(c, EDGE, HEAD, buf_str(&name), LABEL_CHARS);
	if (group->begin_ns)
		add_bar(c, OF_MANY, group->done_ns ? BAR_OF_MANY : BAR_OPEN, group->begin_ns,
			group->done_ns ? group->done_ns : c->scale.end_ns);
	if (group->begin_ns && group->length_ns)
		add_mark(c, group->begin_ns + group->length_ns);
	add_text(c, RESULT_X, INK, buf_str(&result), RESULT_CHARS);
	end_row(c);
}

/* From the last look on nothing is known of what was alive. */
static void add_boot_end(struct canvas *c)
{
	const struct account_boot_end *end = c->story->end;
	_cleanup_(buf_free) struct buf title = {}, result = {};

	if (!end || end->end == BOOT_END_CLEAN)
		return;
	account_text_boot_end(&title, c->story);
	buf_printf(&result, "%s", boot_end_name(end->end));
	if (boot_reason_name(end->reason))
		buf_printf(&result, ", %s", boot_reason_name(end->reason));
	begin_row(c, &title);
	add_text(c, EDGE, HEAD, "end of boot, after last look", LABEL_CHARS);
	add_bar(c, fills[OUTCOME_UNKNOWN], BAR_OPEN, end->seen_ns, c->scale.end_ns);
	add_text(c, RESULT_X, INK, buf_str(&result), RESULT_CHARS);
	end_row(c);
}

/* --- stories --------------------------------------------------------------------------------- */

/* Groups up to an index: they come before their pods. Returns the next one. */
static size_t add_groups(struct canvas *c, size_t at, uint64_t last)
{
	while (at < c->story->n_groups && c->story->groups[at].index <= last)
		add_group(c, &c->story->groups[at++]);
	return at;
}

static void add_rest(struct canvas *c)
{
	add_band(c);
	add_text(c, EDGE, HEAD, "group unknown", LABEL_CHARS);
	c->y += ROW;
}

static void add_rows(struct canvas *c)
{
	const struct account_story *s = c->story;
	bool rest = false;
	size_t group = 0;

	if (s->shutdown)
		add_lock(c);
	for (size_t i = 0; i < s->n_pods; i++) {
		const struct account_pod *pod = &s->pods[i];
		const struct account_stop *first = pod->n ? s->stops[pod->first] : NULL;
		bool known = first && first->group_known;

		group = add_groups(c, group, known ? first->group : UINT64_MAX);
		if (!known && !rest && s->n_groups)
			add_rest(c);
		rest |= !known;
		for (size_t j = 0; j < pod->n; j++)
			add_stop(c, pod, s->stops[pod->first + j]);
		if (!pod->n)
			add_pod(c, pod);
	}
	add_groups(c, group, UINT64_MAX);
	add_boot_end(c);
}

static void add_grid_line(struct canvas *c, double x, uint64_t at_ns)
{
	buf_printf(c->out, "<path " GRID " d=\"M%.2f %gv%g\"/>\n", x, c->y, c->grid);
}

/* The rows are drawn over the grid; its height is theirs. */
static void add_chart(struct canvas *c)
{
	_cleanup_(buf_free) struct buf rows = {.limit = c->out->limit};
	struct canvas over = *c;

	over.out = &rows;
	add_rows(&over);
	c->grid = over.y - c->y;
	each_tick(c, add_grid_line);
	buf_add(c->out, buf_str(&rows), rows.len);
	if (buf_error(&rows) && !c->out->error)
		c->out->error = buf_error(&rows);
	c->y = over.y;
}

typedef void (*text_fn)(struct buf *out, const struct account_story *story);

static void add_facts(struct canvas *c)
{
	static const struct {
		const char *label;
		text_fn add;
		bool of_any;
	} facts[] = {
		{"", account_text_where, true},
		{"lock: ", account_text_lock, false},
		{"left: ", account_text_left, false},
		{"boot: ", account_text_boot_end, true},
		{"", account_text_lost, true},
		{"", account_text_ended, true},
		{"partial: ", account_text_partial, true},
	};
	_cleanup_(buf_free) struct buf text = {};

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		size_t label = strlen(facts[i].label);

		if (!c->story->shutdown && !facts[i].of_any)
			continue;
		buf_reset(&text);
		buf_adds(&text, facts[i].label);
		facts[i].add(&text, c->story);
		if (text.len > label)
			add_lines(c, EDGE, ROW, buf_str(&text), LINE_CHARS, UINT32_MAX);
	}
}

static void add_story(struct canvas *c)
{
	_cleanup_(buf_free) struct buf heading = {};

	c->scale = scale_of(c->story);
	account_text_heading(&heading, c->story);
	c->y += ROW;
	add_text(c, EDGE, TITLE, buf_str(&heading), TITLE_CHARS);
	c->y += ROW + 2;
	add_facts(c);
	add_axis(c);
	add_chart(c);
	add_axis(c);
}

/* --- the legend ------------------------------------------------------------------------------ */

static uint32_t outcomes_of(const struct account *account)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < account->n; i++)
		for (size_t j = 0; j < account->stories[i]->n_stops; j++)
			bits |= 1u << account->stories[i]->stops[j]->of->outcome;
	return bits;
}

/* Returns where the next one begins. */
static double add_key(struct canvas *c, double x, const char *text)
{
	add_text(c, x + 26, SOFT, text, LABEL_CHARS);
	return x + 26 + (double)(strlen(text) + 2) * CHAR_WIDTH;
}

static void add_swatch(struct canvas *c, double x, const char *paint, const char *more)
{
	buf_printf(c->out, "<rect %s%s x=\"%g\" y=\"%g\" width=\"20\" height=\"%d\"/>\n", paint,
		   more, x, middle(c) - BAR / 2.0, BAR);
}

/* Stages, from left to right, then marks. */
static void add_legend_of_bars(struct canvas *c)
{
	static const char unknown[] = "class=\"bar\" fill=\"#8a8f96\"";
	double x = EDGE;

	add_swatch(c, x, TRACK, "");
	x = add_key(c, x, "grace period");
	add_swatch(c, x, WAITS, "");
	x = add_key(c, x, "until init took the signal");
	add_swatch(c, x, unknown, bars[BAR_TAIL]);
	x = add_key(c, x, "until no process was left");
	add_swatch(c, x, unknown, bars[BAR_OPEN]);
	add_key(c, x, "end unknown");
	c->y += ROW;
	x = EDGE;
	add_swatch(c, x, unknown, EDGED);
	add_swatch(c, x, UNHEARD, "");
	x = add_key(c, x, "signal without effect");
	add_line(c, x + 10);
	x = add_key(c, x, "deadline");
	add_cross(c, x + 10);
	x = add_key(c, x, "SIGKILL");
	add_tear(c, x + 10);
	x = add_key(c, x, "processes cut");
	add_diamond(c, fills[OUTCOME_UNKNOWN], x + 10);
	add_key(c, x, "exit, not asked to stop");
	c->y += ROW;
}

static void add_legend(struct canvas *c, uint32_t outcomes)
{
	double x = EDGE;

	for (int i = OUTCOME_COUNT - 1; i >= 0; i--) {
		const char *name = outcome_name((enum outcome)i);
		char paint[64];

		if (!(outcomes >> i & 1))
			continue;
		snprintf(paint, sizeof(paint), "class=\"bar\" fill=\"%s\"", fills[i]);
		add_swatch(c, x, paint, EDGED);
		x = add_key(c, x, name);
	}
	c->y += ROW;
	add_legend_of_bars(c);
}

int account_svg(struct buf *out, const struct account *account)
{
	_cleanup_(buf_free) struct buf body = {.limit = out->limit};
	struct canvas c = {.out = &body, .y = EDGE};

	add_legend(&c, outcomes_of(account));
	for (size_t i = 0; i < account->n; i++) {
		c.story = account->stories[i];
		add_story(&c);
	}
	c.y += EDGE;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graced\" width=\"%d\" "
		   "height=\"%g\" viewBox=\"0 0 %d %g\" font-family=\"" FONT
		   "\" font-size=\"12\">\n"
		   "<title>graced report</title>\n",
		   WIDTH, c.y, WIDTH, c.y);
	buf_adds(out, style);
	buf_printf(out, "<rect " PAPER " width=\"%d\" height=\"%g\"/>\n", WIDTH, c.y);
	buf_add(out, buf_str(&body), body.len);
	buf_adds(out, "</svg>\n");
	if (buf_error(&body) && !out->error)
		out->error = buf_error(&body);
	return buf_error(out);
}
