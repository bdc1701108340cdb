/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way into the engine: an observation is recorded, then judged. Records that the engine
 * reports go to the sinks at once; an effect that wants an answer waits in a queue until the engine
 * has returned, and is then carried out by the manager's carry_out.
 */
#ifndef APP_LIVE_FEED_H
#define APP_LIVE_FEED_H

#include "core/engine/engine.h"
#include "core/facts/observation.h"

struct manager;

/* Effects that wait. All zero is an empty queue. */
struct feed_queue {
	struct effect *list; /* from first to n - 1 */
	size_t first, n, room;
	uint64_t dropped; /* effects that did not fit */
	bool drop_lock;	  /* among them: the engine asks for that only once */
	bool running;
};

/* May be called while an effect is carried out; then the new effects wait their turn. */
void feed(struct manager *m, const struct obs *obs);

/* An observation of this type made now, all members zero. */
void feed_begin(struct obs *ret, enum obs_type type);

/* The engine's effect function; userdata is the manager. */
void feed_effect(void *userdata, const struct effect *effect);
/* Carries out what waits, answers included. No-op while it is running already. */
void feed_run(struct manager *m);

/* Effects wait from now on ... */
void feed_hold(struct manager *m);
/* ... and those that came since are set aside; later ones are carried out at once again. */
void feed_set_aside(struct manager *m, struct feed_queue *ret);
/* Carries them out, and leaves an empty queue. */
void feed_ask(struct manager *m, struct feed_queue *aside);

void feed_queue_done(struct feed_queue *queue);

#endif
