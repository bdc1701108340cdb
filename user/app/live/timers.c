// SPDX-License-Identifier: Apache-2.0
/* Wakes the engine when it wished to be, and looks after the tracer's own totals. */
#include "app/live/timers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/live/feed.h"
#include "app/live/manager.h"
#include "app/live/scan.h"
#include "io/proc/clock.h"

#define CHORES_US     500000
#define LOOK_CHORES   20 /* after how many of them containers without an init are looked at again */
#define WAKE_GRAIN_US 1000
#define PAUSED_US     50000
#define WRITTEN_US    1000 /* a record that is being written is looked for again */

/* A smaller step of the wall clock bends no printed time by more than this. */
#define CLOCK_STEP_NS 1000000

static void arm_wake(struct manager *m)
{
	uint64_t us = m->wake_at_ns / 1000 + (m->wake_at_ns % 1000 != 0);

	sd_event_source_set_time(m->wake, us);
	sd_event_source_set_enabled(m->wake, m->wake_at_ns ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void timers_wake_at(struct manager *m, uint64_t at_ns)
{
	m->wake_at_ns = at_ns;
	if (m->wake)
		arm_wake(m);
}

static int on_wake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *m = userdata;
	struct obs obs;

	if (m->paused) {
		sd_event_source_set_time_relative(m->wake, PAUSED_US);
		return sd_event_source_set_enabled(m->wake, SD_EVENT_ONESHOT);
	}
	/* What happened before this moment must be told before it. */
	if (!ring_drain(m->ring)) {
		sd_event_source_set_time_relative(m->wake, WRITTEN_US);
		return sd_event_source_set_enabled(m->wake, SD_EVENT_ONESHOT);
	}
	feed_begin(&obs, OBS_TIMER);
	if (!m->wake_at_ns || m->wake_at_ns > obs.at_ns) {
		arm_wake(m);
		return 0;
	}
	m->wake_at_ns = 0;
	feed(m, &obs);
	return 0;
}

static void tell_clock(struct manager *m)
{
	int64_t offset = clock_wall_offset_ns(), moved = offset - m->told.wall_offset_ns;
	struct obs obs;

	if (moved <= CLOCK_STEP_NS && moved >= -CLOCK_STEP_NS)
		return;
	m->told.wall_offset_ns = offset;
	feed_begin(&obs, OBS_CLOCK);
	obs.clock.wall_offset_ns = offset;
	feed(m, &obs);
}

struct sweep {
	struct manager_lost_of *lost_of;
	struct swept {
		struct graced_counts counts;
		bool gone; /* the cgroup was removed */
	} * swept;	   /* beside each of lost_of */
	size_t n, room;
};

static int take_losses(void *userdata, uint64_t id, const struct graced_watch *watch)
{
	struct sweep *sweep = userdata;
	void *bigger;

	if (!watch->counts.lost && !watch->gone)
		return 0;
	if (sweep->n == sweep->room) {
		size_t room = sweep->room ? sweep->room * 2 : 64;

		bigger = reallocarray(sweep->lost_of, room, sizeof(*sweep->lost_of));
		if (!bigger)
			return -ENOMEM;
		sweep->lost_of = bigger;
		bigger = reallocarray(sweep->swept, room, sizeof(*sweep->swept));
		if (!bigger)
			return -ENOMEM;
		sweep->swept = bigger;
		sweep->room = room;
	}
	sweep->lost_of[sweep->n] = (struct manager_lost_of){id, watch->counts.lost};
	sweep->swept[sweep->n++] = (struct swept){watch->counts, watch->gone};
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct manager_lost_of *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool is_news(const struct manager *m, const struct manager_lost_of *now)
{
	const struct manager_lost_of *before = NULL;

	if (m->told.n_lost_of)
		before = bsearch(now, m->told.lost_of, m->told.n_lost_of, sizeof(*now), by_id);
	return !before || before->lost != now->lost;
}

static void tell_counts(struct manager *m, const struct sweep *sweep, size_t i)
{
	struct graced_watch watch;
	struct obs obs;

	feed_begin(&obs, OBS_COUNTS);
	obs.counts.id = sweep->lost_of[i].id;
	obs.counts.populated = scan_populated(m, obs.counts.id);
	/* Read after that: where nothing was left, all that ended in there is counted. */
	if (kern_watch_get(m->kern, obs.counts.id, &watch) < 0)
		return;
	obs.counts.counts = watch.counts;
	feed(m, &obs);
}

/* The kernel half keeps the entry of a cgroup whose removal had no room in the ring. */
static void tell_gone(struct manager *m, const struct sweep *sweep, size_t i)
{
	struct obs obs;

	feed_begin(&obs, OBS_CGROUP_GONE);
	obs.empty.id = sweep->lost_of[i].id;
	obs.empty.counts = sweep->swept[i].counts;
	feed(m, &obs);
	kern_watch_delete(m->kern, obs.empty.id);
}

/* Which cgroups the losses were about. False: some have to be looked for again; final: there is no
 * later time for that. */
static bool tell_losses(struct manager *m, bool final)
{
	struct sweep sweep = {};
	bool all = kern_watch_each(m->kern, take_losses, &sweep) >= 0, drained;

	for (size_t i = 0; i < sweep.n; i++)
		if (!sweep.swept[i].gone && is_news(m, sweep.lost_of + i))
			tell_counts(m, &sweep, i);
	/* What was recorded of a cgroup that is gone by now is in the ring. */
	drained = ring_drain(m->ring) || final;
	for (size_t i = 0; drained && i < sweep.n; i++)
		if (sweep.swept[i].gone)
			tell_gone(m, &sweep, i);
	if (sweep.n)
		qsort(sweep.lost_of, sweep.n, sizeof(*sweep.lost_of), by_id);
	free(sweep.swept);
	free(m->told.lost_of);
	m->told.lost_of = sweep.lost_of;
	m->told.n_lost_of = sweep.n;
	return all && drained;
}

static uint64_t sum_lost(const struct obs_lost *lost)
{
	uint64_t sum = lost->recursion_misses;

	for (int i = 0; i < GRACED_STAT_COUNT; i++)
		sum += lost->totals[i].lost;
	return sum;
}

static uint64_t sum_suppressed(const struct obs_lost *lost)
{
	uint64_t sum = 0;

	for (int i = 0; i < GRACED_STAT_COUNT; i++)
		sum += lost->totals[i].suppressed;
	return sum;
}

void timers_tell_lost(struct manager *m, bool final)
{
	bool more_lost, more_suppressed;
	struct obs obs;

	feed_begin(&obs, OBS_LOST);
	if (kern_read_stats(m->kern, obs.lost.totals) < 0)
		return;
	obs.lost.recursion_misses = kern_recursion_misses(m->kern);
	more_lost = sum_lost(&obs.lost) != sum_lost(&m->told.lost);
	more_suppressed = sum_suppressed(&obs.lost) != sum_suppressed(&m->told.lost);
	m->told.sweep_due |= more_lost;
	if (final || more_lost || more_suppressed) {
		m->told.lost = obs.lost;
		feed(m, &obs);
	}
	/* Counts are read ahead of the records; what was made before must not look later. */
	if (m->told.sweep_due && (ring_drain(m->ring) || final))
		m->told.sweep_due = !tell_losses(m, final);
}

static int on_chores(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *m = userdata;
	int r;

	if (!m->paused) {
		tell_clock(m);
		timers_tell_lost(m, false);
		lookup_tell_changes(m);
		scan_find_inits(m, ++m->chores_done % LOOK_CHORES == 0);
	}
	r = sd_event_source_set_time_relative(source, CHORES_US);
	return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	manager_end(userdata, 0);
	return 0;
}

int timers_start(struct manager *m)
{
	int r;

	r = sd_event_add_time(m->event, &m->wake, CLOCK_BOOTTIME, 0, WAKE_GRAIN_US, on_wake, m);
	if (r < 0)
		return r;
	arm_wake(m);
	return sd_event_add_time_relative(m->event, &m->chores, CLOCK_MONOTONIC, CHORES_US,
					  CHORES_US / 10, on_chores, m);
}

int timers_limit(struct manager *m, uint64_t duration_ns)
{
	return sd_event_add_time_relative(m->event, &m->duration, CLOCK_MONOTONIC,
					  duration_ns / 1000, WAKE_GRAIN_US, on_limit, m);
}

void timers_stop(struct manager *m)
{
	m->wake = sd_event_source_disable_unref(m->wake);
	m->chores = sd_event_source_disable_unref(m->chores);
	m->duration = sd_event_source_disable_unref(m->duration);
}
