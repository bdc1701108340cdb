/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one way into the engine: an observation is recorded, then judged. Records that the engine
 * reports go to the sink at once; an effect that has an answer waits in a queue until the engine
 * has returned, and is then carried out by the sink.
 */
#ifndef APP_LIVE_FEED_H
#define APP_LIVE_FEED_H

#include "core/engine/engine.h"
#include "core/facts/observation.h"

struct feed;

/* Where the engine's effects go; a NULL function is left out. */
struct feed_sink {
	void *userdata;
	/* An observation, before the engine takes it. */
	void (*observe)(void *userdata, const struct obs *obs);
	void (*record)(void *userdata, const struct record *record);
	/* Carries out one effect, and feeds its answer. NULL in a replay, where the answers are in
	 * the recording. */
	void (*carry_out)(void *userdata, const struct effect *effect);
};

/* Starts an engine. -errno. */
int feed_new(const struct engine_config *config, const struct feed_sink *sink, struct feed **ret);
struct feed *feed_free(struct feed *f);

struct engine *feed_engine(const struct feed *f);

/* An observation of this type made now, all members zero. */
void feed_begin(struct obs *ret, enum obs_type type);

/* May be called while an effect is carried out; then the new effects wait their turn. */
void feed_obs(struct feed *f, const struct obs *obs);

/* The engine's effect function; userdata is the feed. */
void feed_effect(void *userdata, const struct effect *effect);
/* Carries out what waits, answers included. No-op while it is running already. */
void feed_run(struct feed *f);

/* Effects wait from now on ... */
void feed_hold(struct feed *f);
/* ... and those that came since are set aside; later ones are carried out at once again. */
void feed_set_aside(struct feed *f);
/* Carries out what was set aside. */
void feed_run_aside(struct feed *f);

/* Effects that did not fit into the queue. */
uint64_t feed_dropped(const struct feed *f);

#endif
