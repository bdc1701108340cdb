/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through a node shutdown: pods, budgets, deaths, cancellations, stalls, steps of a clock and
 * failures of the bus as dice say, held after every step against what must be true of any of them.
 */
#ifndef TESTS_LIB_SHUTDOWN_SHUTWALK_H
#define TESTS_LIB_SHUTDOWN_SHUTWALK_H

#include <stdint.h>

/* Any number; a walk is as good as its dice. */
typedef uint64_t (*shutwalk_roll_fn)(void *userdata);

/* How often walks came by: a walk that never gets anywhere shows nothing. */
struct shutwalk_seen {
	uint64_t shutdowns, cancelled, killed, deaf, again, survived, stalls;
	uint64_t lost, refused, late_locks, held_on, groups, status_asked, looks, held_up;
	uint64_t reasons[16]; /* by enum shutdown_reason */
};

/* One shutdown of that many steps, and what it takes to its end. NULL, or the sentence that it
 * broke; "out of memory" is one, too. */
const char *shutwalk_once(shutwalk_roll_fn roll, void *userdata, unsigned int steps,
			  struct shutwalk_seen *seen);

#endif
