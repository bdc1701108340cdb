// SPDX-License-Identifier: Apache-2.0
/* The engine's part that knows when a verdict goes out: what it waits for, and how long. */
#include "core/engine_priv.h"

void engine_wake(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	/* Without memory for a deadline the verdict goes out with the cgroup's end. */
	deadline_set(&e->deadlines, &stop->wake, at_ns);
}

void engine_expect(struct engine *e, struct stop *stop, enum stop_event event)
{
	if (!stop_advance(stop, event))
		e->stats.unexpected++;
}

/* Records about this container were lost: its init's exit may be one of them. */
static void probe_init(struct engine *e, const struct stop *stop)
{
	struct effect probe = {
		.type = EFFECT_PROBE_INIT,
		.id = stop->node->id,
		.pid = stop->init.pid,
		.start_ns = stop->init.start_ns,
	};

	if (stop_is_running(stop) && stop->init.pid)
		engine_effect(e, &probe);
}

/* A name has until its deadline, whatever else was asked before it. */
static uint64_t name_until(const struct stop *stop)
{
	return (stop->exit_seen ? stop->exit_ns : stop->empty_ns) + ENGINE_WAIT_NS;
}

static bool awaits_name(const struct stop *stop)
{
	return stop->node && stop->node->names == NAMES_ASKED;
}

static void answered(struct engine *e, struct stop *stop, const struct obs *obs)
{
	if (stop->empty_ns && awaits_name(stop) && obs->at_ns < name_until(stop))
		engine_wake(e, stop, name_until(stop));
	else
		engine_tell(e, stop, obs->counts.populated && !stop->empty_ns);
}

int engine_on_counts(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->counts.id);
	struct stop *stop = node ? node->stop : NULL;
	bool lost;

	if (!node && obs->counts.id)
		engine_find_cgroup(e, obs->counts.id);
	if (!stop)
		return 0;
	lost = obs->counts.counts.lost > stop->counts.lost;
	stop->counts = obs->counts.counts;
	if (stop->state == STOP_EXITED && stop->asked_ns)
		answered(e, stop, obs);
	else if (lost)
		probe_init(e, stop);
	return 0;
}

/* The exit's own record may still be in the ring: the verdict without it waits for a moment. */
int engine_on_probe(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->probe.id);
	struct stop *stop = node ? node->stop : NULL;

	if (!stop || obs->probe.alive || !stop_is_running(stop))
		return 0;
	if (stop->init.pid != obs->probe.pid || stop->init.start_ns != obs->probe.start_ns)
		return 0;
	stop->probed = true;
	engine_wake(e, stop, obs->at_ns + ENGINE_WAIT_NS);
	return 0;
}

static uint32_t gaps_of(const struct stop *stop, bool not_empty)
{
	uint32_t gaps = stop_gaps(stop);

	if (not_empty)
		gaps |= 1u << GAP_NOT_EMPTY;
	if (awaits_name(stop))
		gaps |= 1u << GAP_NAME_LATE;
	return gaps;
}

void engine_tell(struct engine *e, struct stop *stop, bool not_empty)
{
	engine_wake(e, stop, 0);
	stop->told_unnamed = stop->node && !stop->node->path;
	engine_report_stop(e, stop, gaps_of(stop, not_empty));
	e->stats.stops++;
	engine_expect(e, stop, STOP_EV_TELL);
	if (stop->empty_ns)
		engine_expect(e, stop, STOP_EV_EMPTY);
}

/* Nobody it takes along was counted yet, and its namespace has members outside its cgroup. */
static bool awaits_teardown(const struct stop *stop)
{
	return stop->takes_others && !stop->asked_ns &&
	       stop->counts.collateral == stop->base.collateral;
}

void engine_stop_empty(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	if (stop->state == STOP_TOLD) {
		stop->empty_ns = at_ns;
		engine_report_empty(e, stop);
	}
	if (!stop_advance(stop, STOP_EV_EMPTY)) {
		e->stats.unexpected++;
		return;
	}
	if (stop->state != STOP_EXITED)
		return;
	stop->empty_ns = at_ns;
	/* A verdict that waits for its name only goes out when that comes, or at its deadline. */
	if (awaits_teardown(stop))
		engine_wake(e, stop, at_ns + ENGINE_TEARDOWN_NS);
	else if (awaits_name(stop) && !stop->asked_ns)
		engine_wake(e, stop, name_until(stop));
	else
		engine_tell(e, stop, false);
}

void engine_stop_named(struct engine *e, struct stop *stop)
{
	if (stop->state == STOP_EXITED && stop->empty_ns && !awaits_teardown(stop))
		engine_tell(e, stop, false);
}

void engine_stop_gone(struct engine *e, struct stop *stop)
{
	/* Told as not empty, and the record of its emptiness was lost. */
	if (stop->state == STOP_TOLD)
		engine_stop_empty(e, stop, e->now_ns);
	/* Its exit was lost: a cgroup with a process in it cannot be removed. */
	if (stop_is_running(stop))
		engine_expect(e, stop, STOP_EV_EXIT);
	if (stop->state == STOP_EXITED)
		engine_tell(e, stop, false);
}

static void expire_exited(struct engine *e, struct stop *stop, uint64_t now_ns)
{
	if (stop->asked_ns || (stop->empty_ns && !awaits_teardown(stop))) {
		engine_tell(e, stop, !stop->empty_ns);
		return;
	}
	stop->asked_ns = now_ns;
	engine_wake(e, stop, now_ns + ENGINE_WAIT_NS);
	engine_effect(e, &(struct effect){.type = EFFECT_READ_COUNTS, .id = stop->node->id});
}

static void expire(struct engine *e, struct stop *stop, uint64_t now_ns)
{
	engine_wake(e, stop, 0);
	if (stop->state == STOP_EXITED) {
		expire_exited(e, stop, now_ns);
	} else if (stop->probed && stop_is_running(stop)) {
		engine_expect(e, stop, STOP_EV_EXIT);
		expire_exited(e, stop, now_ns);
	} else if (stop->state == STOP_REQUESTED) {
		stop_lapse(&e->map, stop);
	}
}

void engine_expire(struct engine *e, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&e->deadlines)) && first->at_ns <= now_ns)
		expire(e, stop_of_wake(first), now_ns);
}

int engine_on_end(struct engine *e, const struct obs *obs)
{
	struct cgnode *node;
	size_t pos = 0;

	(void)obs;
	while ((node = map_next(&e->map.nodes, &pos))) {
		/* Found gone, and the wait for its exit's record ends here. */
		if (node->stop && node->stop->probed && stop_is_running(node->stop))
			engine_expect(e, node->stop, STOP_EV_EXIT);
		if (node->stop && node->stop->state == STOP_EXITED)
			engine_tell(e, node->stop, !node->stop->empty_ns);
	}
	return 0;
}
