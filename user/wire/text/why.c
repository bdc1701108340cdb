// SPDX-License-Identifier: Apache-2.0
#include "wire/text/why.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/story/story.h"
#include "wire/text/wrap.h"

#define INDENT	  2
#define ID_LENGTH 12 /* of a container without a name */

static void add_visible(struct buf *out, const char *text)
{
	utf8_add_visible(out, text, strlen(text));
}

static void add_subject(struct buf *out, const struct record_stop *stop)
{
	const struct record_container *c = &stop->container;
	const char *ns = record_namespace(&stop->pod, c);

	if (ns) {
		add_visible(out, ns);
		buf_addc(out, '/');
	}
	if (stop->pod.name) {
		add_visible(out, stop->pod.name);
		buf_addc(out, ' ');
	}
	if (c->name)
		add_visible(out, c->name);
	else if (c->id)
		utf8_add_visible(out, c->id, strnlen(c->id, ID_LENGTH));
	else if (c->cgroup)
		add_visible(out, c->cgroup);
	else
		buf_addc(out, '-');
}

/* "2026-11-21 15:04:05" */
static void add_when(struct buf *out, int64_t wall_ns, const struct grid_view *view)
{
	int64_t zone_s = view->zone ? view->zone(wall_ns / (int64_t)NS_PER_S) : 0;
	char text[RFC3339_SIZE];

	if (__builtin_add_overflow(wall_ns, zone_s * (int64_t)NS_PER_S, &wall_ns))
		return;
	rfc3339_format(wall_ns, text);
	buf_printf(out, "%.10s %.8s", text, text + 11);
}

/* --- a story ----------------------------------------------------------------------------------- */

static void add_head(struct buf *out, const struct record *record, const struct grid_view *view)
{
	const struct record_stop *stop = &record->stop;

	add_when(out, record->wall_ns, view);
	buf_adds(out, "  ");
	add_subject(out, stop);
	buf_printf(out, "  %s (%s)\n", outcome_name(stop->outcome), cause_name(stop->cause));
}

static void add_sentence(struct buf *out, const struct record_stop *stop, unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};

	story_add_why(&text, stop);
	for (unsigned int gap = 0, n = 0; gap < GAP_COUNT; gap++)
		if (stop->gaps >> gap & 1)
			buf_printf(&text, "%s%s",
				   n++ ? ", " : " Gaps in the evidence: ", gap_name(gap));
	if (stop->gaps)
		buf_addc(&text, '.');
	wrap_line(out, 0, buf_str(&text), width);
}

static void add_event(struct buf *out, const struct record_stop *stop,
		      const struct story_event *event, uint64_t from_ns, unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};
	char after[DURATION_SIZE];

	duration_format(event->at_ns - from_ns, after);
	buf_printf(&text, "+%s ", event->at_ns == from_ns ? "0s" : after);
	story_add_event(&text, stop, event);
	wrap_line(out, INDENT, buf_str(&text), width);
}

static void add_events(struct buf *out, const struct record_stop *stop, unsigned int width)
{
	struct story_event events[STORY_EVENTS];
	size_t more, n = story_events(stop, events, &more);

	if (n)
		buf_addc(out, '\n');
	for (size_t i = 0; i < n; i++)
		add_event(out, stop, events + i, events[0].at_ns, width);
	if (more)
		buf_printf(out, "%*s... and %zu more events\n", INDENT, "", more);
}

static void add_remedies(struct buf *out, const struct record_stop *stop, unsigned int width)
{
	const char *text, *page;

	for (size_t i = 0; story_remedy(stop, i, &text, &page); i++) {
		_cleanup_(buf_free) struct buf line = {};

		buf_printf(&line, "What to do: %s", text);
		if (page)
			buf_printf(&line, " See docs/fix.md#%s.", page);
		buf_adds(out, i ? "" : "\n");
		wrap_line(out, 0, buf_str(&line), width);
	}
}

int why_story(struct buf *out, const struct record *record, const struct grid_view *view)
{
	add_head(out, record, view);
	add_sentence(out, &record->stop, view->width);
	add_events(out, &record->stop, view->width);
	add_remedies(out, &record->stop, view->width);
	return buf_error(out);
}

/* --- a list ------------------------------------------------------------------------------------ */

int why_line(struct buf *out, const struct record *record, const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf text = {};
	size_t fits;

	add_when(&text, record->wall_ns, view);
	buf_adds(&text, "  ");
	add_subject(&text, &record->stop);
	buf_printf(&text, "  %s: ", outcome_name(record->stop.outcome));
	story_add_why(&text, &record->stop);
	fits = view->width ? utf8_fit(buf_str(&text), text.len, view->width) : text.len;
	buf_add(out, buf_str(&text), fits);
	buf_addc(out, '\n');
	return buf_error(out) ?: buf_error(&text);
}
