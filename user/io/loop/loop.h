/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of the event loop: what is done from one look at what is ready to the next. A step
 * calls one handler, and all else that is ready waits for its end.
 *
 * Each is measured twice. Its wall time is what others wait for, but includes what other processes
 * took of the CPU meanwhile. Its CPU time is what graced itself used. Where CPUs are free they
 * differ by what the step waited for.
 *
 * How long an event that is ready waits for its own step is more than the longest step where
 * several are ready: a timer shows it.
 */
#ifndef IO_LOOP_LOOP_H
#define IO_LOOP_LOOP_H

#include <systemd/sd-event.h>
#include <time.h>

#include "core/metrics/histogram.h"

/* All zero has measured nothing. */
struct steps {
	struct histogram wall, cpu, delay;
	uint64_t wall_ns, cpu_ns; /* when the step under way began; 0: none is */
};

extern const struct histogram_bounds steps_bounds;

/* Waits until something is ready and calls one handler. What the caller does until its next call
 * belongs to the same step. -errno as sd_event_dispatch(). */
int steps_run(struct steps *steps, sd_event *event);

/* A timer is handled now that was due then, on CLOCK_MONOTONIC in microseconds. */
void steps_note_delay(struct steps *steps, uint64_t due_us);

/*
 * Work that the event loop does when it turns next, and that takes its turn.
 *
 * Among sources of the same priority, sd-event calls the one that has been ready longest. A defer
 * source is ready from when it is made, whether it is enabled or not. So one that enables itself
 * again and again is always called first, and a socket or timer never. Here each call is a source
 * of its own.
 */

/* All zero is one that is not open. */
struct defer {
	sd_event_source *source;
	sd_event_handler_t handler;
	void *userdata;
	int64_t priority; /* to be set after it was opened; 0: SD_EVENT_PRIORITY_NORMAL */
};

/* Not enabled at first. -errno. */
int defer_open(struct defer *defer, sd_event *event, sd_event_handler_t handler, void *userdata);
void defer_close(struct defer *defer);

/* The handler is called once, behind what is ready now. Without effect while it waits for that. */
void defer_enable(struct defer *defer);
void defer_disable(struct defer *defer);

/* --- timers ------------------------------------------------------------------------------------- */

/* One that is made once and set again and again, each time for one call of its handler. Not set at
 * first. -errno. */
int timer_new(sd_event *event, clockid_t clock, uint64_t grain_us, sd_event_time_handler_t handler,
	      void *userdata, sd_event_source **ret);
/* When its clock is past that, in nanoseconds; 0: never. -errno. */
int timer_at(sd_event_source *timer, uint64_t at_ns);
/* After so many microseconds. -errno. */
int timer_after(sd_event_source *timer, uint64_t us);

#endif
