// SPDX-License-Identifier: Apache-2.0
/* Runs the event loop step by step and measures each. */
#include "io/loop/steps.h"

#include "io/proc/clock.h"

const struct histogram_bounds steps_bounds = {
	.n = 6,
	.at = {1000000, 5000000, 10000000, 50000000, 100000000, 500000000},
};

static void begin(struct steps *steps)
{
	steps->wall_ns = clock_monotonic_ns();
	steps->cpu_ns = clock_thread_ns();
}

static void end(struct steps *steps)
{
	if (!steps->wall_ns)
		return;
	histogram_observe(&steps->wall, &steps_bounds, clock_monotonic_ns() - steps->wall_ns);
	histogram_observe(&steps->cpu, &steps_bounds, clock_thread_ns() - steps->cpu_ns);
}

/* As sd_event_run(), whose parts these are. */
int steps_run(struct steps *steps, sd_event *event)
{
	int r = sd_event_prepare(event);

	end(steps);
	if (r == 0)
		r = sd_event_wait(event, UINT64_MAX);
	begin(steps);
	return r > 0 ? sd_event_dispatch(event) : r;
}

void steps_note_delay(struct steps *steps, uint64_t due_us)
{
	uint64_t due_ns = due_us * 1000, now_ns = clock_monotonic_ns();

	histogram_observe(&steps->delay, &steps_bounds, now_ns > due_ns ? now_ns - due_ns : 0);
}
