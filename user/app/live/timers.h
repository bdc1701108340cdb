/* SPDX-License-Identifier: Apache-2.0 */
/* What happens by time: the engine's wish to be woken, the tracer's own chores, --duration. */
#ifndef APP_LIVE_TIMERS_H
#define APP_LIVE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

struct manager;

/* -errno */
int timers_start(struct manager *m);
void timers_stop(struct manager *m);

/* Feeds OBS_TIMER at that time of CLOCK_BOOTTIME, after all that the ring holds by then; replaces
 * the earlier wish, 0 cancels it. */
void timers_wake_at(struct manager *m, uint64_t at_ns);

/* Starts to count --duration. */
int timers_limit(struct manager *m, uint64_t duration_ns);

/* Feeds what changed in the tracer's own totals, and per cgroup when records were lost; always
 * feeds the totals when final. */
void timers_tell_lost(struct manager *m, bool final);

#endif
