// SPDX-License-Identifier: Apache-2.0
/* Keys of graced top, and which rows they leave on the screen. */
#include "core/top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop/advice.h"

#define ORDERS_MAX 5

/* Negative, 0 or positive, as qsort() has it. */
typedef int (*compare_fn)(const struct top_data *data, size_t a, size_t b);

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What has no deadline comes last. */
static int stopping_deadline(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->stopping[a].deadline_ns - 1, d->stopping[b].deadline_ns - 1);
}

static int stopping_asked(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->stopping[a].at_ns, d->stopping[b].at_ns);
}

static int stopping_name(const struct top_data *d, size_t a, size_t b)
{
	return strcmp(d->stopping[a].name, d->stopping[b].name);
}

static int stopped_time(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->stopped[b].at_ns, d->stopped[a].at_ns);
}

static int stopped_badness(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->stopped[b].badness, d->stopped[a].badness) ?: stopped_time(d, a, b);
}

static int stopped_name(const struct top_data *d, size_t a, size_t b)
{
	return strcmp(d->stopped[a].name, d->stopped[b].name);
}

static int stopped_took(const struct top_data *d, size_t a, size_t b)
{
	const struct top_stop *x = &d->stopped[a], *y = &d->stopped[b];

	if (x->took_known != y->took_known)
		return x->took_known ? -1 : 1;
	return compare(y->took_ns, x->took_ns);
}

/* The one that came closest to its deadline, or overran it most, first; unknown ones last. */
static int stopped_margin(const struct top_data *d, size_t a, size_t b)
{
	const struct top_stop *x = &d->stopped[a], *y = &d->stopped[b];

	if (x->margin_known != y->margin_known)
		return x->margin_known ? -1 : 1;
	return (x->margin_ns > y->margin_ns) - (x->margin_ns < y->margin_ns);
}

/* Those that are deaf before those that were. */
static int deaf_now(const struct top_data *d, size_t a, size_t b)
{
	return d->deaf[b].now - d->deaf[a].now;
}

static int deaf_time(const struct top_data *d, size_t a, size_t b)
{
	return deaf_now(d, a, b) ?: compare(d->deaf[b].last_ns, d->deaf[a].last_ns);
}

static int deaf_times(const struct top_data *d, size_t a, size_t b)
{
	return deaf_now(d, a, b) ?: compare(d->deaf[b].times, d->deaf[a].times);
}

static int deaf_name(const struct top_data *d, size_t a, size_t b)
{
	return deaf_now(d, a, b) ?: strcmp(d->deaf[a].name, d->deaf[b].name);
}

static int killer_kills(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->killers[b].kills, d->killers[a].kills);
}

static int killer_time(const struct top_data *d, size_t a, size_t b)
{
	return compare(d->killers[b].last_ns, d->killers[a].last_ns);
}

static int killer_name(const struct top_data *d, size_t a, size_t b)
{
	return strcmp(d->killers[a].who, d->killers[b].who);
}

static const struct {
	const char *name; /* NULL ends */
	compare_fn compare;
} orders[TOP_SECTIONS][ORDERS_MAX + 1] = {
	[TOP_STOPPING] = {{"deadline", stopping_deadline},
			  {"asked", stopping_asked},
			  {"name", stopping_name}},
	[TOP_STOPPED] = {{"time", stopped_time},
			 {"worst", stopped_badness},
			 {"margin", stopped_margin},
			 {"took", stopped_took},
			 {"name", stopped_name}},
	[TOP_DEAF] = {{"time", deaf_time}, {"stops", deaf_times}, {"name", deaf_name}},
	[TOP_KILLERS] = {{"kills", killer_kills}, {"time", killer_time}, {"name", killer_name}},
};

int top_new(const struct filter *records, struct top **ret)
{
	struct top *top = calloc(1, sizeof(*top));

	if (!top)
		return -ENOMEM;
	top->records = *records;
	/* Signals say at once who is deaf. */
	top->records.signals = true;
	*ret = top;
	return 0;
}

const struct top_data *top_data(const struct top *top)
{
	return top->paused ? &top->held : &top->live;
}

const char *top_order_name(const struct top *top, enum top_section section)
{
	return orders[section][top->order[section].by].name;
}

/* --- rows -------------------------------------------------------------------------------------- */

static bool contains(const struct top *top, const char *text)
{
	return text && strcasestr(text, top->filter);
}

static bool contains_reason(const struct top *top, bool deaf, enum unheard reason)
{
	return contains(top, unheard_name(reason)) || (deaf && contains(top, "deaf"));
}

static bool matches(const struct top *top, enum top_section section, size_t i)
{
	const struct top_data *d = top_data(top);

	if (!*top->filter)
		return true;
	switch (section) {
	case TOP_STOPPING:
		return contains(top, d->stopping[i].name) || contains(top, d->stopping[i].by) ||
		       contains_reason(top, d->stopping[i].deaf, d->stopping[i].reason);
	case TOP_STOPPED:
		return contains(top, d->stopped[i].name) || contains(top, d->stopped[i].by) ||
		       contains(top, outcome_name(d->stopped[i].outcome)) ||
		       contains(top, cause_name(d->stopped[i].cause)) ||
		       contains_reason(top, d->stopped[i].reason, d->stopped[i].reason);
	case TOP_DEAF:
		return contains_reason(top, true, UNHEARD_NONE) || contains(top, d->deaf[i].name) ||
		       contains(top, advice_name(d->deaf[i].topic)) ||
		       contains(top, advice_in_words(d->deaf[i].topic));
	default:
		return contains(top, d->killers[i].who) || contains(top, d->killers[i].victim);
	}
}

struct sorting {
	const struct top_data *data;
	compare_fn compare;
	bool reverse;
};

/* Rows that are alike stay in the order of their array, so that none moves without a reason. */
static int in_order(const void *a, const void *b, void *userdata)
{
	const struct sorting *s = userdata;
	size_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
	int r = s->compare(s->data, x, y);

	if (s->reverse)
		r = -r;
	return r ? r : compare(x, y);
}

size_t top_rows(const struct top *top, enum top_section section, uint16_t ret[TOP_ROWS_MAX])
{
	const struct top_order *order = &top->order[section];
	struct sorting sorting = {
		.data = top_data(top),
		.compare = orders[section][order->by].compare,
		.reverse = order->reverse,
	};
	size_t n = 0;

	for (size_t i = 0; i < sorting.data->n[section]; i++)
		if (matches(top, section, i))
			ret[n++] = (uint16_t)i;
	qsort_r(ret, n, sizeof(*ret), in_order, &sorting);
	return n;
}

/* --- the height of sections -------------------------------------------------------------------- */

/* The focus stays on the screen where there is no room for all. */
static bool is_shown(const struct top *top, size_t lines, enum top_section section)
{
	return section == top->focus || (!top->alone && lines >= 2 * TOP_SECTIONS);
}

void top_fit(struct top *top, size_t lines)
{
	/* How many rows a section gets in a turn. */
	static const size_t weight[TOP_SECTIONS] = {
		[TOP_STOPPING] = 2, [TOP_STOPPED] = 2, [TOP_DEAF] = 1, [TOP_KILLERS] = 1};
	size_t wants[TOP_SECTIONS] = {}, left = lines, given = 1;
	uint16_t rows[TOP_ROWS_MAX];

	memset(top->room, 0, sizeof(top->room));
	for (unsigned int i = 0; i < TOP_SECTIONS; i++) {
		size_t n = top_rows(top, i, rows);

		if (!is_shown(top, lines, i) || left < 2)
			continue;
		wants[i] = n ? n : 1; /* or a line that says that there is none */
		left--;
	}
	while (left && given) {
		given = 0;
		for (unsigned int i = 0; i < TOP_SECTIONS; i++) {
			for (size_t k = 0; k < weight[i] && left && top->room[i] < wants[i]; k++) {
				top->room[i]++;
				left--;
				given++;
			}
		}
	}
	for (unsigned int i = 0; i < TOP_SECTIONS; i++) {
		size_t last = wants[i] > top->room[i] ? wants[i] - top->room[i] : 0;

		if (top->from[i] > last)
			top->from[i] = last;
	}
}

/* --- keys -------------------------------------------------------------------------------------- */

static void pause_or_resume(struct top *top)
{
	if (!top->paused)
		top->held = top->live;
	top->paused = !top->paused;
}

static void scroll(struct top *top, int key)
{
	size_t *from = &top->from[top->focus], page = top->room[top->focus];

	page = page ? page : 1;
	switch (key) {
	case TOP_KEY_UP:
		*from -= *from > 0;
		break;
	case TOP_KEY_DOWN:
		*from += 1;
		break;
	case TOP_KEY_PAGE_UP:
		*from -= *from < page ? *from : page;
		break;
	case TOP_KEY_PAGE_DOWN:
		*from += page;
		break;
	case TOP_KEY_HOME:
		*from = 0;
		break;
	default:
		*from = TOP_ROWS_MAX;
		break;
	}
}

static void sort_next(struct top *top)
{
	struct top_order *order = &top->order[top->focus];

	order->by++;
	if (order->by >= ORDERS_MAX || !orders[top->focus][order->by].name)
		order->by = 0;
	order->reverse = false;
	top->from[top->focus] = 0;
}

static void show_alone(struct top *top, enum top_section section)
{
	top->alone = !(top->alone && top->focus == section);
	top->focus = section;
}

/* The last character, whatever it consists of. */
static void erase(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static void type(struct top *top, int key)
{
	size_t n = strlen(top->filter);

	if (key == '\n' || key == '\r') {
		top->typing = false;
	} else if (key == 0x1b) {
		top->typing = false;
		top->filter[0] = '\0';
	} else if (key == TOP_KEY_BACKSPACE || key == 0x7f || key == '\b') {
		erase(top->filter);
	} else if (key == ('u' & 0x1f)) {
		top->filter[0] = '\0';
	} else if (key >= 0x20 && key < 256 && n + 1 < sizeof(top->filter)) {
		top->filter[n] = (char)key;
		top->filter[n + 1] = '\0';
	}
}

static enum top_wish press_letter(struct top *top, int key)
{
	key = key == 'k' ? TOP_KEY_UP : key == 'j' ? TOP_KEY_DOWN : key;
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case 'l' & 0x1f:
		return TOP_REDRAW;
	case ' ':
	case 'p':
		pause_or_resume(top);
		break;
	case 'h':
	case '?':
		top->help = true;
		break;
	case '/':
		top->typing = true;
		break;
	case 0x1b:
		top->filter[0] = '\0';
		top->alone = false;
		break;
	case 's':
		sort_next(top);
		break;
	case 'r':
		top->order[top->focus].reverse = !top->order[top->focus].reverse;
		break;
	case '0':
		top->alone = false;
		break;
	case '1' ... '0' + TOP_SECTIONS:
		show_alone(top, (enum top_section)(key - '1'));
		break;
	case '\t':
		top->focus = (top->focus + 1) % TOP_SECTIONS;
		break;
	case TOP_KEY_BACK_TAB:
		top->focus = (top->focus + TOP_SECTIONS - 1) % TOP_SECTIONS;
		break;
	default:
		if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
			scroll(top, key);
		break;
	}
	return TOP_NOTHING;
}

enum top_wish top_press(struct top *top, int key)
{
	if (top->help) {
		top->help = false;
		return TOP_NOTHING;
	}
	if (top->typing) {
		type(top, key);
		return TOP_NOTHING;
	}
	return press_letter(top, key);
}
