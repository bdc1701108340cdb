// SPDX-License-Identifier: Apache-2.0
/* Hands an observation to the recording before the engine sees it, so that a replay sees the same,
 * and has the effects carried out when the engine has returned. */
#include "app/live/feed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/proc/clock.h"

/* One observation has a few effects at most; this many wait only when answers have effects again. */
#define QUEUE_MAX 65536

struct queue {
	struct effect *list; /* from first to n - 1 */
	size_t first, n, room;
	uint64_t dropped; /* effects that did not fit */
	/* Among them: what the engine wants only once. */
	bool start_units, drop_lock;
	bool running;
};

struct feed {
	struct feed_sink sink;
	struct engine *engine;
	struct queue queue, aside;
};

static void push(struct queue *queue, const struct effect *effect)
{
	struct effect *list;
	size_t room;

	if (queue->n == queue->room) {
		room = queue->room ? queue->room * 2 : 16;
		list = room <= QUEUE_MAX ? reallocarray(queue->list, room, sizeof(*list)) : NULL;
		if (!list) {
			queue->dropped++;
			queue->start_units |= effect->type == EFFECT_START_UNITS;
			queue->drop_lock |= effect->type == EFFECT_DROP_LOCK;
			return;
		}
		queue->list = list;
		queue->room = room;
	}
	queue->list[queue->n] = *effect;
	queue->list[queue->n++].record = NULL;
}

void feed_effect(void *userdata, const struct effect *effect)
{
	struct feed *f = userdata;
	const struct feed_sink *sink = &f->sink;

	if (effect->type == EFFECT_REPORT) {
		if (sink->record)
			sink->record(sink->userdata, effect->record);
	} else if (!sink->carry_out) {
		return;
	} else if (effect->type == EFFECT_WAKE_AT) {
		/* It has no answer, and a full queue must not drop it. */
		sink->carry_out(sink->userdata, effect);
	} else {
		push(&f->queue, effect);
	}
}

void feed_hold(struct feed *f)
{
	f->queue.running = true;
}

void feed_set_aside(struct feed *f)
{
	f->aside = f->queue;
	f->queue = (struct queue){.dropped = f->aside.dropped,
				  .start_units = f->aside.start_units,
				  .drop_lock = f->aside.drop_lock};
}

void feed_run_aside(struct feed *f)
{
	for (size_t i = f->aside.first; i < f->aside.n; i++)
		f->sink.carry_out(f->sink.userdata, f->aside.list + i);
	feed_run(f);
	free(f->aside.list);
	f->aside = (struct queue){};
}

static bool next(struct queue *queue, struct effect *ret)
{
	if (queue->first < queue->n) {
		*ret = queue->list[queue->first++];
		return true;
	}
	if (!queue->start_units && !queue->drop_lock)
		return false;
	*ret = (struct effect){.type = queue->start_units ? EFFECT_START_UNITS : EFFECT_DROP_LOCK};
	return true;
}

void feed_run(struct feed *f)
{
	struct queue *queue = &f->queue;
	struct effect effect;

	if (queue->running)
		return;
	queue->running = true;
	while (next(queue, &effect)) {
		if (effect.type == EFFECT_START_UNITS)
			queue->start_units = false;
		if (effect.type == EFFECT_DROP_LOCK)
			queue->drop_lock = false;
		f->sink.carry_out(f->sink.userdata, &effect);
	}
	queue->first = queue->n = 0;
	queue->running = false;
}

void feed_obs(struct feed *f, const struct obs *obs)
{
	if (f->sink.observe)
		f->sink.observe(f->sink.userdata, obs);
	engine_step(f->engine, obs, feed_effect, f);
	feed_run(f);
}

void feed_begin(struct obs *ret, enum obs_type type)
{
	memset(ret, 0, sizeof(*ret));
	ret->type = type;
	ret->at_ns = clock_boot_ns();
}

struct engine *feed_engine(const struct feed *f)
{
	return f->engine;
}

uint64_t feed_dropped(const struct feed *f)
{
	return f->queue.dropped;
}

int feed_new(const struct engine_config *config, const struct feed_sink *sink, struct feed **ret)
{
	struct feed *f = calloc(1, sizeof(*f));
	int r = f ? engine_new(config, &f->engine) : -ENOMEM;

	if (r < 0) {
		free(f);
		return r;
	}
	f->sink = *sink;
	*ret = f;
	return 0;
}

struct feed *feed_free(struct feed *f)
{
	if (!f)
		return NULL;
	engine_free(f->engine);
	free(f->queue.list);
	free(f->aside.list);
	free(f);
	return NULL;
}
