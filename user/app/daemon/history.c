// SPDX-License-Identifier: Apache-2.0
/* Keeps copies, for a record lives no longer than its report. */
#include "app/daemon/history.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/story/story.h"

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

void history_subject(const struct record_pod *pod, const struct record_container *container,
		     struct htmlsubject *ret)
{
	const char *name = container->name;

	copy(ret->namespace_, sizeof(ret->namespace_), pod->namespace_);
	copy(ret->pod, sizeof(ret->pod), pod->name ? pod->name : pod->uid);
	if (name || !container->id)
		copy(ret->container, sizeof(ret->container), name ? name : container->cgroup);
	else
		snprintf(ret->container, sizeof(ret->container), "%.12s", container->id);
}

static void fill_why(struct htmlstop *ret, const struct record_stop *stop)
{
	_cleanup_(buf_free) struct buf why = {};

	if (!record_badness(stop) && !stop->reason)
		return;
	story_add_why(&why, stop);
	copy(ret->why, sizeof(ret->why), buf_str(&why));
}

static void fill(struct htmlstop *ret, const struct record *record)
{
	const struct record_stop *stop = &record->stop;
	bool timed = stop->latency_known && grace_known(&stop->grace);

	*ret = (struct htmlstop){
		.wall_ns = record->wall_ns,
		.outcome = stop->outcome,
		.cause = stop->cause,
		.latency_known = stop->latency_known,
		.latency_ns = stop->latency_ns,
		.margin_known = timed,
		.margin_ns = timed ? (int64_t)(stop->grace.ns - stop->latency_ns) : 0,
		.complete = !stop->gaps,
		.reason = stop->reason,
		.times = 1,
	};
	fill_why(ret, stop);
	history_subject(&stop->pod, &stop->container, &ret->subject);
}

/* The same name in the same pod, or in its successor under the same name. */
static bool is_same(const struct htmlsubject *a, const struct htmlsubject *b)
{
	return strcmp(a->namespace_, b->namespace_) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->container, b->container) == 0;
}

/* Puts it first, where the one at that place was before. */
static void put_first(struct htmlstop *list, size_t at, const struct htmlstop *stop)
{
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = *stop;
}

static void add_deaf(struct history *h, struct htmlstop *stop)
{
	size_t at = 0;

	while (at < h->n_deaf && !is_same(&h->deaf[at].subject, &stop->subject))
		at++;
	if (at < h->n_deaf)
		stop->times += h->deaf[at].times;
	else if (h->n_deaf < HISTORY_DEAF)
		h->n_deaf++;
	else
		at = HISTORY_DEAF - 1;
	put_first(h->deaf, at, stop);
}

void history_record(struct history *h, const struct record *record)
{
	enum record_container_kind kind = record->stop.container.kind;
	struct htmlstop stop;

	if (record->type != RECORD_STOP || kind == CONTAINER_KIND_SANDBOX ||
	    kind == CONTAINER_KIND_PROCESS)
		return;
	fill(&stop, record);
	if (h->n_stops < HISTORY_STOPS)
		h->n_stops++;
	put_first(h->stops, h->n_stops - 1, &stop);
	if (stop.reason != UNHEARD_NONE)
		add_deaf(h, &stop);
}
