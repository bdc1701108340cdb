// SPDX-License-Identifier: Apache-2.0
/* Puts the parts of a story together. */
#include <string.h>

#include "base/signame.h"
#include "core/story/part.h"
#include "core/story/phrase.h"
#include "core/tree/tree.h"

/* Names that are listed of those that a stop has left. */
#define LEFT_MAX 12

static void begin(struct story *ret, enum story_state state, int64_t wall_ns,
		  const struct record_pod *pod, const struct record_container *container)
{
	*ret = (struct story){
		.state = state, .wall_ns = wall_ns, .pod = pod, .container = container};
}

static struct buf *add_line(struct story *s, uint64_t at_ns)
{
	s->lines[s->n_lines].at_ns = at_ns;
	return &s->lines[s->n_lines++].text;
}

static void add_events(struct story *s, const struct record_stop *stop)
{
	struct story_event events[STORY_LINES];
	size_t n = story_events(stop, events, &s->more);

	for (size_t i = 0; i < n; i++)
		story_add_event(add_line(s, events[i].at_ns), stop, events + i);
}

static void add_remedies(struct story *s, const struct record_stop *stop)
{
	while (s->n_remedies < STORY_REMEDIES &&
	       story_remedy(stop, s->n_remedies, &s->remedies[s->n_remedies].text,
			    &s->remedies[s->n_remedies].page))
		s->n_remedies++;
}

void story_of_stop(struct story *ret, const struct record *record)
{
	const struct record_stop *stop = &record->stop;

	begin(ret, STORY_ENDED, record->wall_ns, &stop->pod, &stop->container);
	ret->id = stop->id;
	ret->outcome = stop->outcome;
	ret->cause = stop->cause;
	ret->gaps = stop->gaps;
	ret->processes_gaps = stop->processes_gaps;
	story_add_why(&ret->sentence, stop);
	add_events(ret, stop);
	add_remedies(ret, stop);
}

/* Who lives of a container that is being stopped. */
static void add_left(struct buf *out, const struct tree *tree)
{
	buf_adds(out, "still there: ");
	for (size_t i = 0; i < tree->n && i < LEFT_MAX; i++) {
		buf_adds(out, i ? ", " : "");
		tree_add_name(out, tree->list + i);
	}
	if (tree->n + tree->others > LEFT_MAX)
		buf_printf(out, " and %zu more", tree->n + tree->others - LEFT_MAX);
}

/* Its stop signal came while it was frozen or stopped, and it has not taken it. That is no reason
 * of a stop before that is over: it may go on. */
static bool is_held_up(const struct record_stop *stop)
{
	for (size_t i = 0; i < RECORD_REQUESTS && stop->requests[i].number; i++) {
		const struct record_request *r = stop->requests + i;

		if (r->at_ns == stop->stop_signal.at_ns)
			return r->reason == UNHEARD_STOPPED && !r->taken_ns;
	}
	return false;
}

static bool is_dropped(enum unheard reason)
{
	return reason == UNHEARD_NO_HANDLER || reason == UNHEARD_SHELL;
}

/* The look may show that it has installed its handler since it was asked. */
static void note_handler(struct record_stop *stop, const struct audit_record *look)
{
	if (!is_dropped(stop->reason) || !look || !look->seen ||
	    look->process.pid != stop->process.pid ||
	    look->facts.signal != stop->stop_signal.number || look->audit.reason != AUDIT_HANDLER)
		return;
	stop->reason = UNHEARD_BEFORE_HANDLER;
	for (size_t i = 0; i < RECORD_REQUESTS; i++)
		if (stop->requests[i].number == stop->stop_signal.number &&
		    is_dropped(stop->requests[i].reason))
			stop->requests[i].reason = UNHEARD_BEFORE_HANDLER;
}

void story_of_stopping(struct story *ret, const struct record *record,
		       const struct audit_record *look)
{
	struct record_stop ends = record->stop;
	struct buf *last;

	begin(ret, STORY_STOPPING, record->wall_ns, &record->stop.pod, &record->stop.container);
	ret->id = record->stop.id;
	if (!ends.reason && ends.stop_signal.known && is_held_up(&ends))
		ends.reason = UNHEARD_STOPPED;
	note_handler(&ends, look);
	story_add_stopping(&ret->sentence, &ends, record->at_ns);
	add_events(ret, &ends);
	if (ret->n_lines == STORY_LINES) {
		buf_free(&ret->lines[--ret->n_lines].text);
		ret->more++;
	}
	last = add_line(ret, 0);
	if (look && look->tree)
		add_left(last, look->tree);
	else
		buf_adds(last, "which of its processes are still there could not be seen");
	/* What would help if it went on like this; without a manager, no grace period ends. */
	if (ends.stop_signal.known && !ends.kill_signal.known && !record_is_unmanaged(&ends))
		ends.cause = CAUSE_GRACE_EXPIRED;
	add_remedies(ret, &ends);
}

static void add_member(struct buf *out, const struct tree *tree, size_t i)
{
	tree_add_name(out, tree->list + i);
	buf_addc(out, ' ');
	tree_add_words(out, tree, i);
}

void story_of_running(struct story *ret, const struct audit_record *look, uint32_t pid, bool daemon)
{
	size_t members[STORY_LINES], n;

	begin(ret, STORY_RUNNING, look->wall_ns, &look->pod, &look->container);
	ret->reason = look->audit.reason;
	story_add_running(&ret->sentence, look, daemon);
	n = story_members(look, pid, members, &ret->more);
	for (size_t i = 0; i < n; i++)
		add_member(add_line(ret, 0), look->tree, members[i]);
	while (ret->n_remedies < STORY_REMEDIES &&
	       story_remedy_of_audit(look, ret->n_remedies, &ret->remedies[ret->n_remedies].text,
				     &ret->remedies[ret->n_remedies].page))
		ret->n_remedies++;
}

int story_error(const struct story *story)
{
	int r = buf_error(&story->sentence);

	for (size_t i = 0; r >= 0 && i < story->n_lines; i++)
		r = buf_error(&story->lines[i].text);
	return r;
}

void story_done(struct story *story)
{
	buf_free(&story->sentence);
	for (size_t i = 0; i < story->n_lines; i++)
		buf_free(&story->lines[i].text);
	story->n_lines = 0;
}
