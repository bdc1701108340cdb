/* SPDX-License-Identifier: Apache-2.0 */
/* A stop as it is kept for the next engine, and as that one takes it up. */
#ifndef CORE_STOP_KEEP_H
#define CORE_STOP_KEEP_H

#include "core/facts/saved.h"
#include "core/stop/stop.h"

/* *ret is written whole; id is the caller's. */
void stop_keep(const struct stop *stop, struct kept_stop *ret);
/* Signals of a stop that are kept. */
enum stop_kept {
	STOP_KEPT_REQUEST,
	STOP_KEPT_CANDIDATE,
	STOP_KEPT_INSIDE,
	STOP_KEPT_KILL,
	STOP_KEPT_KEEPER,
	STOP_KEPT_OTHER, /* the first of STOP_OTHERS */
	STOP_KEPT_COUNT = STOP_KEPT_OTHER + STOP_OTHERS,
};
/* NULL: there was no such signal. */
const struct stop_signal *stop_kept_signal(const struct stop *stop, enum stop_kept which);
/* False: likewise. */
bool stop_keep_signal(const struct stop *stop, enum stop_kept which, struct kept_signal *ret);

/*
 * Takes up a life for stop's node; its signals come after it. What the kernel half counts from now
 * on begins at 0. 0; -EINVAL for what no stop can be, and then stop is as it was.
 */
int stop_restore(struct cgmap *map, struct stop *stop, const struct kept_stop *kept);
/* Takes up a signal of that life. 0 or -EINVAL likewise; -ENOMEM, and its gap is noted. */
int stop_restore_signal(struct cgmap *map, struct stop *stop, const struct kept_signal *kept);
/* All is taken up: a state whose signal did not come steps back. */
void stop_restored(struct stop *stop);

#endif
