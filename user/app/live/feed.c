// SPDX-License-Identifier: Apache-2.0
/* Records an observation before the engine sees it, so that a replay sees the same, and has the
 * effects carried out when the engine has returned. */
#include "app/live/feed.h"

#include <stdlib.h>
#include <string.h>

#include "app/live/manager.h"
#include "app/log/say.h"
#include "io/proc/clock.h"
#include "wire/recording/recording.h"

/* One observation asks for a few things at most; this many wait only when answers ask again. */
#define QUEUE_MAX 65536

static void push(struct feed_queue *queue, const struct effect *effect)
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

static void record(struct manager *m, const struct obs *obs)
{
	buf_reset(&m->line);
	if (rec_write_obs(&m->line, obs) < 0) {
		say("cannot write an observation down: out of memory");
		manager_end(m, 1);
		return;
	}
	out_add(m->recording, buf_str(&m->line), m->line.len);
}

static void report(struct manager *m, const struct record *record)
{
	if (m->sinks)
		sinks_record(m->sinks, record);
	if (m->hooks && m->hooks->record)
		m->hooks->record(m->hooks->userdata, record);
}

void feed_effect(void *userdata, const struct effect *effect)
{
	struct manager *m = userdata;

	if (effect->type == EFFECT_REPORT)
		report(m, effect->record);
	else if (!m->carry_out)
		return; /* In a replay the answers are in the recording. */
	else if (effect->type == EFFECT_WAKE_AT)
		m->carry_out(m, effect); /* It has no answer, and a full queue must not drop it. */
	else
		push(&m->queue, effect);
}

void feed_hold(struct manager *m)
{
	m->queue.running = true;
}

void feed_set_aside(struct manager *m, struct feed_queue *ret)
{
	*ret = m->queue;
	m->queue = (struct feed_queue){.dropped = ret->dropped, .drop_lock = ret->drop_lock};
}

void feed_ask(struct manager *m, struct feed_queue *aside)
{
	for (size_t i = aside->first; i < aside->n; i++)
		m->carry_out(m, aside->list + i);
	feed_run(m);
	feed_queue_done(aside);
}

static bool next(struct feed_queue *queue, struct effect *ret)
{
	if (queue->first < queue->n) {
		*ret = queue->list[queue->first++];
		return true;
	}
	*ret = (struct effect){.type = EFFECT_DROP_LOCK};
	return queue->drop_lock;
}

void feed_run(struct manager *m)
{
	struct feed_queue *queue = &m->queue;
	struct effect effect;

	if (queue->running)
		return;
	queue->running = true;
	while (next(queue, &effect)) {
		if (effect.type == EFFECT_DROP_LOCK)
			queue->drop_lock = false;
		m->carry_out(m, &effect);
	}
	queue->first = queue->n = 0;
	queue->running = false;
}

void feed(struct manager *m, const struct obs *obs)
{
	if (m->recording)
		record(m, obs);
	engine_step(m->engine, obs, feed_effect, m);
	feed_run(m);
}

void feed_begin(struct obs *ret, enum obs_type type)
{
	memset(ret, 0, sizeof(*ret));
	ret->type = type;
	ret->at_ns = clock_boot_ns();
}

void feed_queue_done(struct feed_queue *queue)
{
	free(queue->list);
	*queue = (struct feed_queue){};
}
