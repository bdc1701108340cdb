/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects become actions. Records go to the sinks at once; what needs an answer waits in a queue
 * until the engine has returned, and each answer is fed as an observation of its own.
 */
#ifndef APP_LIVE_DISPATCH_H
#define APP_LIVE_DISPATCH_H

#include "core/engine/engine.h"

struct manager;

/* All zero is an empty queue. */
struct dispatch {
	struct effect *list; /* from first to n - 1 */
	size_t first, n, room;
	uint64_t dropped; /* did not fit */
	bool drop_lock;	  /* among them: nobody asks for that again */
	bool running;
};

/* Questions wait from now on ... */
void dispatch_hold(struct manager *m);
/* ... and those that came since are set aside; others are asked at once again. */
void dispatch_set_aside(struct manager *m, struct dispatch *ret);
/* Asks them, and leaves an empty queue. */
void dispatch_ask(struct manager *m, struct dispatch *aside);

/* The engine's effect function; userdata is the manager. */
void dispatch_effect(void *userdata, const struct effect *effect);

/* Carries out what waits, answers included. No-op while it is running already. */
void dispatch_run(struct manager *m);

void dispatch_done(struct dispatch *queue);

#endif
