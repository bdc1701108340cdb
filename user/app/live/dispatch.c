// SPDX-License-Identifier: Apache-2.0
/* Carries out the engine's effects and feeds the answers back. */
#include "app/live/dispatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/live/feed.h"
#include "app/live/lookup.h"
#include "app/live/manager.h"
#include "app/live/scan.h"
#include "app/live/timers.h"
#include "io/proc/host.h"
#include "io/proc/proc.h"

/* One observation asks for a few things at most; this many wait only when answers ask again. */
#define QUEUE_MAX 65536

static void push(struct dispatch *queue, const struct effect *effect)
{
	struct effect *list;
	size_t room;

	if (queue->n == queue->room) {
		room = queue->room ? queue->room * 2 : 16;
		list = room <= QUEUE_MAX ? reallocarray(queue->list, room, sizeof(*list)) : NULL;
		if (!list) {
			queue->dropped++;
			queue->drop_lock |= effect->type == EFFECT_DROP_LOCK;
			return;
		}
		queue->list = list;
		queue->room = room;
	}
	queue->list[queue->n] = *effect;
	queue->list[queue->n++].record = NULL;
}

static void report(struct manager *m, const struct record *record)
{
	if (m->sinks)
		sinks_record(m->sinks, record);
	if (m->hooks && m->hooks->record)
		m->hooks->record(m->hooks->userdata, record);
}

void dispatch_effect(void *userdata, const struct effect *effect)
{
	struct manager *m = userdata;

	if (effect->type == EFFECT_REPORT) {
		report(m, effect->record);
		return;
	}
	/* No answer comes of it, and a full queue must not swallow it. */
	if (effect->type == EFFECT_WAKE_AT && m->kern) {
		timers_wake_at(m, effect->at_ns);
		return;
	}
	/* In a replay the answers are in the recording. */
	if (m->kern)
		push(&m->queue, effect);
}

/* Without an entry there is nothing to tell; the engine waits a bounded time for an answer. */
static void read_counts(struct manager *m, uint64_t id)
{
	struct graced_watch watch;
	struct obs obs;

	if (kern_watch_get(m->kern, id, &watch) < 0)
		return;
	feed_begin(&obs, OBS_COUNTS);
	obs.counts.id = id;
	obs.counts.counts = watch.counts;
	obs.counts.looked = true;
	obs.counts.told_at_ns = watch.told_at_ns;
	obs.counts.populated = scan_populated(m, id);
	feed(m, &obs);
}

static void probe_init(struct manager *m, const struct effect *effect)
{
	struct obs obs;

	feed_begin(&obs, OBS_PROBE);
	obs.probe.id = effect->id;
	obs.probe.pid = effect->pid;
	obs.probe.start_ns = effect->start_ns;
	/* Where pids are not the host's, no process is known to be gone. */
	obs.probe.alive =
		!host_in_initial_pidns() || procfs_alive((pid_t)effect->pid, effect->start_ns);
	feed(m, &obs);
}

static void carry_out(struct manager *m, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_READ_COUNTS:
		read_counts(m, effect->id);
		break;
	case EFFECT_FIND_CGROUP:
		scan_find(m, effect->id);
		break;
	case EFFECT_PROBE_INIT:
		probe_init(m, effect);
		break;
	case EFFECT_FIND_NAMES:
		lookup_names(m, effect);
		break;
	case EFFECT_FIND_POD:
		lookup_pod(m, effect);
		break;
	case EFFECT_FIND_EXIT:
		lookup_exit(m, effect);
		break;
	case EFFECT_IDENTIFY:
		lookup_identify(m, effect);
		break;
	case EFFECT_SET_STOP:
		kern_watch_set_stop(m->kern, effect->id, effect->signal);
		break;
	case EFFECT_SET_INIT:
		scan_set_init(m, effect->id, effect->pid);
		break;
	case EFFECT_SET_WATCH:
		scan_correct(m, effect->id, effect->kind);
		break;
	case EFFECT_TAKE_LOCK:
	case EFFECT_DROP_LOCK:
	case EFFECT_LIST_HOLDERS:
	case EFFECT_FLUSH:
	case EFFECT_KILL:
		if (m->hooks && m->hooks->shutdown)
			m->hooks->shutdown(m->hooks->userdata, effect);
		break;
	case EFFECT_WAKE_AT:
	case EFFECT_REPORT:
		break;
	}
}

void dispatch_hold(struct manager *m)
{
	m->queue.running = true;
}

void dispatch_set_aside(struct manager *m, struct dispatch *ret)
{
	*ret = m->queue;
	m->queue = (struct dispatch){.dropped = ret->dropped, .drop_lock = ret->drop_lock};
}

void dispatch_ask(struct manager *m, struct dispatch *aside)
{
	for (size_t i = aside->first; i < aside->n; i++)
		carry_out(m, aside->list + i);
	dispatch_run(m);
	dispatch_done(aside);
}

static bool next(struct dispatch *queue, struct effect *ret)
{
	if (queue->first < queue->n) {
		*ret = queue->list[queue->first++];
		return true;
	}
	*ret = (struct effect){.type = EFFECT_DROP_LOCK};
	return queue->drop_lock;
}

void dispatch_run(struct manager *m)
{
	struct dispatch *queue = &m->queue;
	struct effect effect;

	if (queue->running)
		return;
	queue->running = true;
	while (next(queue, &effect)) {
		if (effect.type == EFFECT_DROP_LOCK)
			queue->drop_lock = false;
		carry_out(m, &effect);
	}
	queue->first = queue->n = 0;
	queue->running = false;
}

void dispatch_done(struct dispatch *queue)
{
	free(queue->list);
	*queue = (struct dispatch){};
}
