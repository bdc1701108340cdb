// SPDX-License-Identifier: Apache-2.0
/*
 * Draws timelines. Three columns, from left to right: what it is, its bar, how it ended. Their
 * width is reckoned in characters of a monospaced font, and text is cut to its column, so that
 * nothing overlaps whatever the names are. Colour-blind people can distinguish the colours, which
 * are those of Okabe and Ito; and the words stand beside them.
 */
#include "wire/account/svg.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/account/text.h"

#define WIDTH	     1280
#define EDGE	     16
#define LABEL_CHARS  48
#define CHART_X	     388
#define CHART_WIDTH  560
#define RESULT_X     968
#define RESULT_CHARS 38
#define LINE_CHARS   162
#define TITLE_CHARS  96
#define CHAR_WIDTH   7.7 /* at most, at 12 pixels */

#define ROW	 18
#define BAR	 10
#define TICKS	 8
#define TRIANGLE 5

#define FONT "ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace"

static const char style[] =
	"<style>\n"
	".graced{--ink:#1b1d20;--soft:#5b6169;--paper:#fff;--grid:#dfe2e6;--band:#f1f3f5;"
	"background:var(--paper)}\n"
	"@media (prefers-color-scheme:dark){.graced{--ink:#e8eaed;--soft:#a9b0b8;--paper:#14171b;"
	"--grid:#30363d;--band:#1e2329}}\n"
	"@media print{.graced{--ink:#000;--soft:#444;--paper:#fff;--grid:#ccc;--band:#f1f3f5}}\n"
	".graced text{font:12px " FONT ";fill:var(--ink);white-space:pre}\n"
	".graced .title{font-size:17px;font-weight:bold}\n"
	".graced .soft{fill:var(--soft)}\n"
	".graced .head{font-weight:bold}\n"
	".graced .grid{stroke:var(--grid);stroke-width:1}\n"
	".graced .band{fill:var(--band)}\n"
	".graced .bar{stroke:var(--ink);stroke-opacity:.45;stroke-width:.75}\n"
	".graced .group{fill:var(--soft);fill-opacity:.6}\n"
	".graced .tail{fill-opacity:.35;stroke-dasharray:2 1}\n"
	".graced .open{fill-opacity:.12;stroke-dasharray:4 3;stroke-opacity:1}\n"
	".graced .mark{stroke:var(--ink);stroke-width:2;fill:none}\n"
	".graced .halo{stroke:var(--paper);stroke-width:4;fill:none}\n"
	".graced .beyond{fill:var(--ink)}\n"
	".graced .graceful{fill:#009e73}\n"
	".graced .terminated{fill:#56b4e9}\n"
	".graced .completed{fill:#0072b2}\n"
	".graced .killed{fill:#d55e00}\n"
	".graced .oom-killed{fill:#cc79a7}\n"
	".graced .crashed{fill:#e69f00}\n"
	".graced .failed{fill:#f0e442}\n"
	".graced .unknown{fill:#8a8f96}\n"
	".graced .lock{fill:var(--soft)}\n"
	"</style>\n";

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

static void add_text(struct canvas *c, double x, const char *class, const char *text, size_t most)
{
	buf_printf(c->out, "<text x=\"%g\" y=\"%g\" class=\"%s\">", x, c->y + ROW - 5, class);
	add_cut(c->out, text, most);
	buf_adds(c->out, "</text>\n");
}

/* As many lines as it takes, each broken at a space where there is one. */
static void add_lines(struct canvas *c, const char *text)
{
	while (*text) {
		size_t n = strlen(text);
		char line[LINE_CHARS + 1];

		if (n > LINE_CHARS) {
			n = utf8_fit(text, n, LINE_CHARS);
			for (size_t i = n; i > LINE_CHARS / 2; i--) {
				if (text[i] != ' ')
					continue;
				n = i;
				break;
			}
		}
		memcpy(line, text, n);
		line[n] = '\0';
		add_text(c, EDGE, "soft", line, LINE_CHARS);
		c->y += ROW;
		text += n + (text[n] == ' ');
	}
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

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What happened fills at least a third; deadlines and limits are shown as far as that allows. */
static struct scale scale_of(const struct account_story *story)
{
	uint64_t begin = story->begin_ns, end = later(story->end_ns, begin + 1), most = end;
	uint64_t length = end - begin;

	for (size_t i = 0; i < story->n_stops; i++) {
		const struct account_stop *stop = story->stops[i];
		uint64_t asked = stop->of->stop_signal.at_ns;

		most = later(most, stop->deadline_ns);
		if (asked && asked < begin && story->begin_ns - asked < length / 3)
			begin = asked;
	}
	for (size_t i = 0; i < story->n_groups; i++)
		if (story->groups[i].begin_ns)
			most = later(most, story->groups[i].begin_ns + story->groups[i].length_ns);
	if (story->shutdown)
		most = later(most, story->announced_ns + story->limit_ns);
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
	buf_printf(c->out, "<text x=\"%.2f\" y=\"%g\" class=\"soft\" text-anchor=\"middle\">", x,
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

static void add_bar(struct canvas *c, const char *class, const char *kind, uint64_t from_ns,
		    uint64_t to_ns)
{
	double x = x_of(&c->scale, from_ns), width = x_of(&c->scale, to_ns) - x;

	if (width < 1)
		width = 1;
	buf_printf(c->out,
		   "<rect class=\"bar %s %s\" x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%d\"/>\n",
		   class, kind, x, middle(c) - BAR / 2.0, width, BAR);
}

/* A moment without a beginning: nothing asked for it. */
static void add_diamond(struct canvas *c, const char *class, uint64_t at_ns)
{
	buf_printf(c->out, "<path class=\"bar %s\" d=\"M%.2f %gl5 5-5 5-5-5z\"/>\n", class,
		   x_of(&c->scale, at_ns), middle(c) - TRIANGLE);
}

/* A line, or an arrow at the edge where it lies beyond it. */
static void add_mark(struct canvas *c, uint64_t at_ns)
{
	double x = x_of(&c->scale, at_ns), y = middle(c);

	if (!at_ns)
		return;
	if (at_ns > c->scale.end_ns) {
		buf_printf(c->out, "<path class=\"beyond\" d=\"M%d %gv10l6-5z\"/>\n",
			   CHART_X + CHART_WIDTH, y - TRIANGLE);
		return;
	}
	for (int i = 0; i < 2; i++)
		buf_printf(c->out, "<path class=\"%s\" d=\"M%.2f %gv14\"/>\n", i ? "mark" : "halo",
			   x, y - 7);
}

static void add_cross(struct canvas *c, uint64_t at_ns)
{
	if (!at_ns)
		return;
	for (int i = 0; i < 2; i++)
		buf_printf(c->out, "<path class=\"%s\" d=\"M%.2f %gl7 7m0-7l-7 7\"/>\n",
			   i ? "mark" : "halo", x_of(&c->scale, at_ns) - 3.5, middle(c) - 3.5);
}

/* --- rows ------------------------------------------------------------------------------------ */

static void add_band(struct canvas *c)
{
	buf_printf(c->out, "<rect class=\"band\" x=\"%d\" y=\"%g\" width=\"%d\" height=\"%d\"/>\n",
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

/* "killed 30.0s, 12.0ms over" */
static void add_result(struct buf *out, const struct account_stop *stop)
{
	uint64_t took;

	buf_adds(out, outcome_name(stop->of->outcome));
	if (!stop->of->stop_signal.at_ns) {
		buf_adds(out, stop->of->exit.known ? ", not asked to stop" : ", exit unknown");
		return;
	}
	if (account_took(stop, &took)) {
		buf_addc(out, ' ');
		account_text_duration(out, took);
	} else {
		buf_adds(out, ", exit unknown");
	}
	if (stop->margin_known) {
		uint64_t margin = stop->margin_ns < 0 ? 0 - (uint64_t)stop->margin_ns
						      : (uint64_t)stop->margin_ns;

		buf_adds(out, ", ");
		account_text_duration(out, margin);
		buf_adds(out, stop->margin_ns < 0 ? " over" : " left");
	} else if (!grace_known(&stop->of->grace)) {
		buf_adds(out, ", grace unknown");
	}
}

static void add_bars(struct canvas *c, const struct account_stop *stop)
{
	const char *class = outcome_name(stop->of->outcome);

	if (!stop->of->exit.at_ns && stop->of->stop_signal.at_ns)
		add_bar(c, class, "open", stop->of->stop_signal.at_ns, c->scale.end_ns);
	else if (stop->of->stop_signal.at_ns)
		add_bar(c, class, "", stop->of->stop_signal.at_ns, stop->of->exit.at_ns);
	if (stop->of->exit.at_ns && stop->of->empty_ns)
		add_bar(c, class, "tail", stop->of->exit.at_ns, stop->of->empty_ns);
	if (stop->of->exit.at_ns && !stop->of->stop_signal.at_ns)
		add_diamond(c, class, stop->of->exit.at_ns);
	add_mark(c, stop->deadline_ns);
	add_cross(c, stop->of->kill_signal.at_ns);
}

static void add_stop(struct canvas *c, const struct account_pod *pod,
		     const struct account_stop *stop)
{
	_cleanup_(buf_free) struct buf name = {}, title = {}, result = {};
	size_t before;

	account_text_container(&name, stop);
	buf_add(&title, buf_str(&name), name.len);
	buf_adds(&title, ": ");
	account_text_outcome(&title, stop);
	before = title.len;
	buf_adds(&title, "; ");
	account_text_note(&title, c->story, pod, stop, stop->of->gaps);
	if (title.len == before + 2)
		buf_truncate(&title, before);
	add_result(&result, stop);
	begin_row(c, &title);
	add_text(c, EDGE, "label", buf_str(&name), LABEL_CHARS);
	add_bars(c, stop);
	add_text(c, RESULT_X, "result", buf_str(&result), RESULT_CHARS);
	end_row(c);
}

static void add_pod(struct canvas *c, const struct account_pod *pod)
{
	_cleanup_(buf_free) struct buf name = {};

	account_text_pod(&name, &pod->names);
	begin_row(c, &name);
	add_text(c, EDGE, "label", buf_str(&name), LABEL_CHARS);
	if (pod->terminating_ns)
		add_bar(c, "unknown", "open", pod->terminating_ns,
			pod->empty_ns ? pod->empty_ns : c->scale.end_ns);
	add_text(c, RESULT_X, "result", "no record of its containers", RESULT_CHARS);
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
	add_text(c, EDGE, "head", "delay lock", LABEL_CHARS);
	if (s->lock_held)
		add_bar(c, "lock", end ? "" : "open", s->announced_ns, end ? end : c->scale.end_ns);
	if (s->limit_ns)
		add_mark(c, s->announced_ns + s->limit_ns);
	add_text(c, RESULT_X, "result", buf_str(&result), RESULT_CHARS);
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
	add_text(c, EDGE, "head", buf_str(&name), LABEL_CHARS);
	if (group->begin_ns)
		add_bar(c, "group", group->done_ns ? "" : "open", group->begin_ns,
			group->done_ns ? group->done_ns : c->scale.end_ns);
	if (group->begin_ns && group->length_ns)
		add_mark(c, group->begin_ns + group->length_ns);
	add_text(c, RESULT_X, "result", buf_str(&result), RESULT_CHARS);
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
	add_text(c, EDGE, "head", "end of the boot, after the last look", LABEL_CHARS);
	add_bar(c, "unknown", "open", end->seen_ns, c->scale.end_ns);
	add_text(c, RESULT_X, "result", buf_str(&result), RESULT_CHARS);
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
	add_text(c, EDGE, "head", "group unknown", LABEL_CHARS);
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
	buf_printf(c->out, "<path class=\"grid\" d=\"M%.2f %gv%g\"/>\n", x, c->y, c->grid);
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
			add_lines(c, buf_str(&text));
	}
}

static void add_story(struct canvas *c)
{
	_cleanup_(buf_free) struct buf heading = {};

	c->scale = scale_of(c->story);
	account_text_heading(&heading, c->story);
	c->y += ROW;
	add_text(c, EDGE, "title", buf_str(&heading), TITLE_CHARS);
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
	add_text(c, x + 26, "soft", text, LABEL_CHARS);
	return x + 26 + (double)(strlen(text) + 2) * CHAR_WIDTH;
}

static void add_swatch(struct canvas *c, double x, const char *class, const char *kind)
{
	buf_printf(c->out,
		   "<rect class=\"bar %s %s\" x=\"%g\" y=\"%g\" width=\"20\" height=\"%d\"/>\n",
		   class, kind, x, middle(c) - BAR / 2.0, BAR);
}

static void add_legend(struct canvas *c, uint32_t outcomes)
{
	double x = EDGE;

	for (int i = OUTCOME_COUNT - 1; i >= 0; i--) {
		const char *name = outcome_name((enum outcome)i);

		if (!(outcomes >> i & 1))
			continue;
		add_swatch(c, x, name, "");
		x = add_key(c, x, name);
	}
	c->y += ROW;
	x = EDGE;
	add_swatch(c, x, "unknown", "tail");
	x = add_key(c, x, "until its cgroup was empty");
	add_swatch(c, x, "unknown", "open");
	x = add_key(c, x, "end unknown");
	buf_printf(c->out, "<path class=\"mark\" d=\"M%g %gv14\"/>\n", x + 10, middle(c) - 7);
	x = add_key(c, x, "deadline");
	buf_printf(c->out, "<path class=\"mark\" d=\"M%g %gl7 7m0-7l-7 7\"/>\n", x + 6.5,
		   middle(c) - 3.5);
	x = add_key(c, x, "SIGKILL");
	buf_printf(c->out, "<path class=\"bar unknown\" d=\"M%g %gl5 5-5 5-5-5z\"/>\n", x + 10,
		   middle(c) - TRIANGLE);
	add_key(c, x, "exit, not asked to stop");
	c->y += ROW;
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
		   "height=\"%g\" viewBox=\"0 0 %d %g\">\n<title>graced report</title>\n",
		   WIDTH, c.y, WIDTH, c.y);
	buf_adds(out, style);
	buf_printf(out, "<rect width=\"%d\" height=\"%g\" style=\"fill:var(--paper)\"/>\n", WIDTH,
		   c.y);
	buf_add(out, buf_str(&body), body.len);
	buf_adds(out, "</svg>\n");
	if (buf_error(&body) && !out->error)
		out->error = buf_error(&body);
	return buf_error(out);
}
