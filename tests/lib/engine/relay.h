/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay of two engines: what happens is fed to the first, up to some point; what that one keeps
 * is fed to the second, then what is there by then, then the rest. Times go on in between.
 */
#ifndef TESTS_LIB_ENGINE_RELAY_H
#define TESTS_LIB_ENGINE_RELAY_H

#include "lib/engine/world.h"

struct obs_list {
	struct obs *list;
	size_t n, room;
};

/* What happens, and what one engine says of it that hears it all. */
struct relay {
	const struct engine_config *config; /* NULL: as world_open() has it */
	struct obs_list fed;
	size_t attached; /* how many of those there were once it was attached */
	struct world whole;
};

/* play() opens the world and lets things happen in it; 20 s later the trace ends. */
void relay_open(struct relay *r, const struct engine_config *config, void (*play)(struct world *w));
void relay_close(struct relay *r);

/* How the baton is passed. */
struct relay_leg {
	size_t at;	  /* so many observations are the first engine's */
	size_t lost;	  /* ... and so many after them nobody's */
	bool incremental; /* it kept what changed after each, else all at the end */
};

struct relay_run {
	struct world first, second;
	struct obs_list kept;
	struct obs_list again; /* what the second would keep before it looks at what is there */
};

void relay_run(const struct relay *r, const struct relay_leg *leg, struct relay_run *ret);
void relay_run_close(struct relay_run *run);

/* How often both together reported the stop of that id; *ret is the last report. */
size_t relay_count_stops(const struct relay_run *run, const char *id,
			 const struct record_stop **ret);

/* Adds what is kept to a list. */
void relay_keep(void *list, const struct obs *obs);
void obs_list_free(struct obs_list *list);

#endif
