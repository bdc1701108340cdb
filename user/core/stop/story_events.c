// SPDX-License-Identifier: Apache-2.0
/* What happened in a stop, in its order, and what of it there is no room for. */
#include <stdlib.h>
#include <string.h>

#include "core/stop/story.h"

/* All that a record can have: requests, two for each process, init's end, and what follows. */
#define EVENTS_MAX (RECORD_REQUESTS + 2 * RECORD_MEMBERS + 4)

struct events {
	struct story_event list[EVENTS_MAX];
	size_t n;
};

static void add_at(struct events *e, uint64_t at_ns, enum story_what what, uint32_t index)
{
	if (at_ns && e->n < EVENTS_MAX)
		e->list[e->n++] = (struct story_event){at_ns, what, index};
}

static int by_time(const void *a, const void *b)
{
	const struct story_event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static unsigned int worth(const struct record_stop *stop, const struct story_event *event)
{
	const struct record_member *m = stop->processes + event->index;

	if (event->what != STORY_PASSED && event->what != STORY_ENDED)
		return 2;
	return m->cut || (stop->via.process.pid && m->process.pid == stop->via.process.pid);
}

/* What explains the stop least, to leave out: the last event of a process that was not cut. */
static size_t least(const struct record_stop *stop, const struct events *e)
{
	size_t ret = 0;

	for (size_t i = 1; i < e->n; i++)
		if (worth(stop, e->list + i) <= worth(stop, e->list + ret))
			ret = i;
	return ret;
}

/* A signal from inside the container is no request, but may be why init exited. */
static void add_requests(struct events *e, const struct record_stop *stop)
{
	bool listed = !stop->stop_signal.known;

	for (uint32_t i = 0; i < RECORD_REQUESTS && stop->requests[i].number; i++) {
		listed |= stop->requests[i].at_ns == stop->stop_signal.at_ns;
		add_at(e, stop->requests[i].at_ns, STORY_ASKED, i);
	}
	if (!listed)
		add_at(e, stop->stop_signal.at_ns, STORY_ASKED, RECORD_REQUESTS);
}

static void add_of_processes(struct events *e, const struct record_stop *stop)
{
	for (uint32_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->asked.number)
			add_at(e, m->asked.at_ns, STORY_PASSED, i);
		if (m->exit.known)
			add_at(e, m->exit.at_ns, STORY_ENDED, i);
	}
}

size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_EVENTS],
		    size_t *ret_more)
{
	struct events e = {};

	add_requests(&e, stop);
	add_of_processes(&e, stop);
	if (stop->kill_signal.known && !stop->via.process.pid)
		add_at(&e, stop->kill_signal.at_ns, STORY_KILLED, 0);
	if (stop->exit.known)
		add_at(&e, stop->exit.at_ns, STORY_EXITED, 0);
	add_at(&e, stop->empty_ns, STORY_EMPTIED, 0);
	qsort(e.list, e.n, sizeof(*e.list), by_time);
	*ret_more = e.n > STORY_EVENTS ? e.n - STORY_EVENTS : 0;
	while (e.n > STORY_EVENTS) {
		size_t at = least(stop, &e);

		memmove(e.list + at, e.list + at + 1, (--e.n - at) * sizeof(*e.list));
	}
	memcpy(ret, e.list, e.n * sizeof(*ret));
	return e.n;
}
