// SPDX-License-Identifier: Apache-2.0
/* Runs the event loop step by step and measures each; has work done in a later step. */
#include "io/loop/loop.h"

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

/* --- deferred work ---------------------------------------------------------------------------- */

static int add(struct defer *defer, sd_event *event)
{
	sd_event_source *source;
	int r = sd_event_add_defer(event, &source, defer->handler, defer->userdata);

	if (r < 0)
		return r;
	sd_event_source_set_priority(source, defer->priority);
	sd_event_source_disable_unref(defer->source);
	defer->source = source;
	return 0;
}

int defer_open(struct defer *defer, sd_event *event, sd_event_handler_t handler, void *userdata)
{
	int r;

	*defer = (struct defer){.handler = handler, .userdata = userdata};
	r = add(defer, event);
	return r < 0 ? r : sd_event_source_set_enabled(defer->source, SD_EVENT_OFF);
}

void defer_close(struct defer *defer)
{
	defer->source = sd_event_source_disable_unref(defer->source);
}

void defer_enable(struct defer *defer)
{
	if (sd_event_source_get_enabled(defer->source, NULL) > 0)
		return;
	/* Without memory the work is done out of turn. */
	if (add(defer, sd_event_source_get_event(defer->source)) < 0)
		sd_event_source_set_enabled(defer->source, SD_EVENT_ONESHOT);
}

void defer_disable(struct defer *defer)
{
	sd_event_source_set_enabled(defer->source, SD_EVENT_OFF);
}

/* --- timers ------------------------------------------------------------------------------------- */

int timer_new(sd_event *event, clockid_t clock, uint64_t grain_us, sd_event_time_handler_t handler,
	      void *userdata, sd_event_source **ret)
{
	int r = sd_event_add_time(event, ret, clock, 0, grain_us, handler, userdata);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static int set(sd_event_source *timer, int error, int enabled)
{
	return error < 0 ? error : sd_event_source_set_enabled(timer, enabled);
}

/* Not before: a timer that comes too early would find nothing to do. */
int timer_at(sd_event_source *timer, uint64_t at_ns)
{
	return set(timer, sd_event_source_set_time(timer, at_ns / 1000 + (at_ns % 1000 != 0)),
		   at_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

int timer_after(sd_event_source *timer, uint64_t us)
{
	return set(timer, sd_event_source_set_time_relative(timer, us), SD_EVENT_ONESHOT);
}
