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

void why_add_subject(struct buf *out, const struct record_pod *pod,
		     const struct record_container *c)
{
	const char *ns = record_namespace(pod, c);

	if (ns) {
		utf8_add_readable(out, ns);
		buf_addc(out, '/');
	}
	if (pod->name) {
		utf8_add_readable(out, pod->name);
		buf_addc(out, ' ');
	}
	if (c->name)
		utf8_add_readable(out, c->name);
	else if (c->id)
		utf8_add_visible(out, c->id, strnlen(c->id, ID_LENGTH));
	else
		utf8_add_readable(out, c->cgroup ? c->cgroup : "-");
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

static void add_head(struct buf *out, const struct story *s, const struct grid_view *view)
{
	add_when(out, s->wall_ns, view);
	buf_adds(out, "  ");
	why_add_subject(out, s->pod, s->container);
	if (s->state == STORY_ENDED)
		buf_printf(out, "  %s (%s)", outcome_name(s->outcome), cause_name(s->cause));
	else
		buf_printf(out, "  %s", story_state_name(s->state));
	if (s->state == STORY_RUNNING)
		buf_printf(out, " (%s)", audit_reason_name(s->reason));
	buf_addc(out, '\n');
}

static void add_sentence(struct buf *out, const struct story *s, unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_adds(&text, buf_str(&s->sentence));
	for (unsigned int gap = 0, n = 0; gap < GAP_COUNT; gap++)
		if (s->gaps >> gap & 1)
			buf_printf(&text, "%s%s",
				   n++ ? ", " : " Gaps in the evidence: ", gap_name(gap));
	if (s->gaps)
		buf_addc(&text, '.');
	for (unsigned int gap = 0, n = 0; gap < LIST_GAP_COUNT; gap++)
		if (s->processes_gaps >> gap & 1)
			buf_printf(&text, "%s%s",
				   n++ ? ", " : " Not all of its processes are known: ",
				   list_gap_name(gap));
	if (s->processes_gaps)
		buf_addc(&text, '.');
	wrap_line(out, 0, buf_str(&text), width);
}

static void add_line(struct buf *out, const struct story_line *line, uint64_t from_ns,
		     unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};
	char after[DURATION_SIZE];

	if (line->at_ns)
		buf_printf(&text, "+%s ",
			   line->at_ns == from_ns ? "0s"
						  : duration_format(line->at_ns - from_ns, after));
	buf_adds(&text, buf_str(&line->text));
	wrap_line(out, INDENT, buf_str(&text), width);
}

static void add_lines(struct buf *out, const struct story *s, unsigned int width)
{
	if (s->n_lines)
		buf_addc(out, '\n');
	for (size_t i = 0; i < s->n_lines; i++)
		add_line(out, s->lines + i, s->lines[0].at_ns, width);
	if (s->more)
		buf_printf(out, "%*s... and %zu more %s%s\n", INDENT, "", s->more,
			   s->state == STORY_RUNNING ? "process" : "event",
			   s->more == 1		       ? ""
			   : s->state == STORY_RUNNING ? "es"
						       : "s");
}

static void add_remedies(struct buf *out, const struct story *s, unsigned int width)
{
	for (size_t i = 0; i < s->n_remedies; i++) {
		_cleanup_(buf_free) struct buf line = {};

		buf_printf(&line, "What to do: %s", s->remedies[i].text);
		if (s->remedies[i].page)
			buf_printf(&line, " See docs/fix.md#%s.", s->remedies[i].page);
		buf_adds(out, i ? "" : "\n");
		wrap_line(out, 0, buf_str(&line), width);
	}
}

int why_story(struct buf *out, const struct story *story, const struct grid_view *view)
{
	add_head(out, story, view);
	add_sentence(out, story, view->width);
	add_lines(out, story, view->width);
	add_remedies(out, story, view->width);
	return buf_error(out) ?: story_error(story);
}

/* --- a list ------------------------------------------------------------------------------------ */

int why_line(struct buf *out, const struct record *record, size_t number,
	     const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf text = {};
	size_t fits;

	if (number)
		buf_printf(&text, "%2zu  ", number);
	add_when(&text, record->wall_ns, view);
	buf_adds(&text, "  ");
	why_add_subject(&text, &record->stop.pod, &record->stop.container);
	buf_printf(&text, "  %s: ", outcome_name(record->stop.outcome));
	story_add_why(&text, &record->stop);
	fits = view->width && utf8_columns(buf_str(&text), text.len) > view->width
		       ? utf8_fit_columns(buf_str(&text), text.len, view->width - 1)
		       : text.len;
	buf_add(out, buf_str(&text), fits);
	buf_adds(out, fits < text.len ? "…\n" : "\n");
	return buf_error(out) ?: buf_error(&text);
}
