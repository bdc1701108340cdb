/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through a shutdown in mode manage: pods that end, are slow, deaf or stuck, a runtime that
 * works, hangs, fails or kills nothing, containers that appear, cancellations and stalls as dice
 * have it, checked after every step against what must be true of any of them.
 */
#ifndef TESTS_LIB_SHUTDOWN_MANAGEWALK_H
#define TESTS_LIB_SHUTDOWN_MANAGEWALK_H

#include "lib/shutdown/shutwalk.h"

/* How often walks came by. */
struct managewalk_seen {
	uint64_t shutdowns, cancelled, again, unlocked, lost, stalls;
	uint64_t outside, changed, stops, signals, kills, survived, late, sidecars, waited, hooks,
		failed, empty, sandboxes, restarts;
	uint64_t groups, timed_out, units_late, all_stopped, limit;
};

/* As shutwalk_once(). */
const char *managewalk_once(shutwalk_roll_fn roll, void *userdata, unsigned int steps,
			    struct managewalk_seen *seen);

#endif
