// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part for scope all: processes that are nobody's init, followed from the first signal
 * that may end them to their death by one.
 */
#include "core/engine/priv.h"

#define MAX_PROCS 4096 /* followed at once */

static struct stop *find(const struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = map_get(&e->procs, proc->pid);

	return stop && stop->init.start_ns == proc->start_ns ? stop : NULL;
}

static void forget(struct engine *e, struct stop *stop)
{
	map_remove(&e->procs, stop->init.pid);
	stop_free(&e->map, &e->proc_ages, stop);
}

static struct stop *proc_new(struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = stop_new(cgmap_get(&e->map, proc->watch_id));

	if (!stop)
		return NULL;
	stop_advance(stop, STOP_EV_INIT);
	stop_begin(&e->map, stop, proc, GRACED_INIT_NONE);
	stop->late = proc->start_ns < e->out.attached_ns;
	return stop;
}

/* Those that survived their signals are told by nobody when they end: the oldest makes way. */
static void make_room(struct engine *e)
{
	struct deadline *oldest = deadline_first(&e->proc_ages);

	if (e->procs.count < MAX_PROCS || !oldest)
		return;
	forget(e, stop_of_wake(oldest));
	e->stats.procs_forgotten++;
}

struct stop *engine_proc_of(struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = find(e, proc);

	if (e->config.scope != SCOPE_ALL || !proc->pid)
		return NULL;
	if (!stop) {
		stop = map_get(&e->procs, proc->pid);
		if (stop)
			forget(e, stop);
		make_room(e);
		stop = proc_new(e, proc);
		if (!stop)
			return NULL;
		if (map_put(&e->procs, proc->pid, stop) < 0)
			return stop_free(&e->map, &e->proc_ages, stop);
	}
	/* One without an age stays until its pid comes again. */
	deadline_set(&e->proc_ages, &stop->wake, e->out.now_ns ? e->out.now_ns : 1);
	return stop;
}

void engine_proc_signalled(struct engine *e, struct stop *stop, const struct obs *obs,
			   struct sender *sender)
{
	if (!stop->base_told) {
		stop->base_told = true;
		stop->base.lost = obs->signal.lost;
		stop->base.suppressed = obs->signal.suppressed;
	}
	if (stop->state == STOP_REQUESTED && obs->at_ns >= stop_lapse_ns(stop))
		stop_lapse(&e->map, stop);
	if (stop_signalled(&e->map, stop, &obs->signal, obs->at_ns, ENGINE_STOP_SET, true,
			   sender) == STOP_NOTE_UNEXPECTED)
		e->stats.unexpected++;
}

/*
 * The counts are its cgroup's. Losses since its first signal may be of its own records, and ones
 * before that too when none was seen; other counts say nothing of it.
 */
static void base_take(struct stop *stop)
{
	struct graced_counts base = stop->counts;

	base.lost = stop->base.lost;
	base.suppressed = stop->base.suppressed;
	stop->base = base;
}

int engine_on_proc_exit(struct engine *e, const struct obs *obs)
{
	bool known = find(e, &obs->exit.proc);
	struct stop *stop = engine_proc_of(e, &obs->exit.proc);

	if (!stop)
		return 0;
	if (stop->state == STOP_REQUESTED && obs->at_ns >= stop_lapse_ns(stop))
		stop_lapse(&e->map, stop);
	engine_expect(e, stop, STOP_EV_EXIT);
	stop_exited(stop, &obs->exit, obs->at_ns);
	base_take(stop);
	/* It may be one whose signals were forgotten. */
	if (!known && e->stats.procs_forgotten)
		stop->counts.lost++;
	stop->empty_ns = obs->at_ns;
	/* Its deadline is of this queue, and telling takes it out of the other. */
	deadline_set(&e->proc_ages, &stop->wake, 0);
	if (stop->status & 0x7f)
		engine_tell(e, stop, false);
	forget(e, stop);
	return 0;
}

void engine_procs_done(struct engine *e)
{
	struct stop *stop;
	size_t pos = 0;

	while ((stop = map_next(&e->procs, &pos)))
		stop_free(&e->map, &e->proc_ages, stop);
	map_done(&e->procs);
	deadline_queue_done(&e->proc_ages);
}
