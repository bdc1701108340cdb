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
#ifndef IO_LOOP_STEPS_H
#define IO_LOOP_STEPS_H

#include <systemd/sd-event.h>

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

#endif
