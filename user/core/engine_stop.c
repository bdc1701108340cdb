// SPDX-License-Identifier: Apache-2.0
/* The engine's part that follows inits: from their exec over signals to exit and emptiness. */
#include "core/engine_priv.h"

#include <errno.h>

#define MAX_PROCS 4096 /* processes followed at once with scope all */

static void wake(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	/* Without memory for a deadline the verdict goes out with the cgroup's end. */
	deadline_set(&e->deadlines, &stop->wake, at_ns);
}

struct stop *engine_stop_of(struct engine *e, uint64_t id)
{
	struct cgnode *node = cgmap_get(&e->map, id);

	if (!node && id && cgmap_add_unknown(&e->map, id, &node) == 0) {
		engine_node_known(e, node, 0);
		engine_find_cgroup(e, id);
	}
	return node ? node->stop : NULL;
}

static void expect(struct engine *e, struct stop *stop, enum stop_event event)
{
	if (!stop_advance(stop, event))
		e->stats.unexpected++;
}

/* The init's own record was lost: whoever is called init now has been it all the time. */
static void adopt(struct engine *e, struct stop *stop, const struct graced_proc *proc)
{
	if (stop->state != STOP_IDLE && stop->state != STOP_TOLD)
		return;
	expect(e, stop, STOP_EV_INIT);
	stop_begin(&e->map, stop, proc, GRACED_INIT_NONE);
	stop->grace_ns = e->config.assumed_grace_ns;
}

int engine_on_init(struct engine *e, const struct obs *obs)
{
	struct stop *stop = engine_stop_of(e, obs->init.id);

	if (!stop)
		return 0;
	if (!stop_advance(stop, STOP_EV_INIT)) {
		e->stats.unexpected++;
		return 0;
	}
	stop_begin(&e->map, stop, &obs->init.proc, obs->init.rank);
	stop->late = !e->attached;
	stop->grace_ns = e->config.assumed_grace_ns;
	wake(e, stop, 0);
	return 0;
}

/* Scope all: a process that is nobody's init, followed from its first fatal signal on. */
static struct stop *proc_stop(struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = map_get(&e->procs, proc->pid);

	if (stop && stop->init.start_ns == proc->start_ns)
		return stop;
	if (e->config.scope != SCOPE_ALL || !proc->pid)
		return NULL;
	if (stop)
		stop_free(&e->map, &e->deadlines, map_remove(&e->procs, proc->pid));
	if (e->procs.count >= MAX_PROCS) {
		e->stats.cgroups_refused++;
		return NULL;
	}
	stop = stop_new(cgmap_get(&e->map, proc->watch_id));
	if (!stop)
		return NULL;
	stop_advance(stop, STOP_EV_INIT);
	stop_begin(&e->map, stop, proc, GRACED_INIT_NONE);
	if (map_put(&e->procs, proc->pid, stop) < 0)
		return stop_free(&e->map, &e->deadlines, stop);
	return stop;
}

/* A stop that outlived its request: the lapse is what the deadline is for until init exits. */
static void noted(struct engine *e, struct stop *stop, enum stop_note note)
{
	if (note == STOP_NOTE_UNEXPECTED)
		e->stats.unexpected++;
	if (note == STOP_NOTE_REQUEST)
		wake(e, stop, stop_lapse_ns(stop));
	if (stop->node && note != STOP_NOTE_NONE)
		engine_ask_names(e, stop->node);
}

int engine_on_signal(struct engine *e, const struct obs *obs)
{
	const struct obs_signal *sig = &obs->signal;
	bool init = sig->flags & GRACED_SIG_INIT;
	struct sender sender;
	struct stop *stop;

	stop = init ? engine_stop_of(e, sig->id) : proc_stop(e, &sig->target);
	if (!stop)
		return 0;
	if (init)
		adopt(e, stop, &sig->target);
	sender_judge(&e->map, sig, stop->node, e->host.self_pid, &sender);
	if (sig->sig == 9 || (sig->sig <= 64 && ENGINE_STOP_SET >> (sig->sig - 1) & 1))
		engine_report_signal(e, obs, stop->node, &sender);
	noted(e, stop, stop_signalled(&e->map, stop, sig, obs->at_ns, ENGINE_STOP_SET, &sender));
	sender_done(&e->map, &sender);
	return 0;
}

static void exit_take(struct engine *e, struct stop *stop, const struct obs *obs)
{
	const struct obs_exit *x = &obs->exit;

	expect(e, stop, STOP_EV_EXIT);
	stop->exit_seen = true;
	stop->status = x->status;
	stop->exit_ns = obs->at_ns;
	stop->init = x->proc;
	stop->counts = x->counts;
	stop->takes_others = x->flags & GRACED_EXIT_NS_OTHERS;
	if (x->flags & GRACED_EXIT_OOM_VICTIM && !stop->oom_victim) {
		stop->oom_victim = true;
		stop->oom = OOM_LEVEL_UNKNOWN;
	}
}

static int on_proc_exit(struct engine *e, const struct obs *obs)
{
	struct stop *stop = proc_stop(e, &obs->exit.proc);

	if (!stop)
		return 0;
	exit_take(e, stop, obs);
	stop->base = stop->counts;
	stop->empty_ns = obs->at_ns;
	engine_tell(e, stop, false);
	map_remove(&e->procs, obs->exit.proc.pid);
	stop_free(&e->map, &e->deadlines, stop);
	return 0;
}

int engine_on_exit(struct engine *e, const struct obs *obs)
{
	struct stop *stop;

	if (!(obs->exit.flags & GRACED_EXIT_INIT))
		return on_proc_exit(e, obs);
	stop = engine_stop_of(e, obs->exit.id);
	if (!stop)
		return 0;
	adopt(e, stop, &obs->exit.proc);
	if (stop->state >= STOP_EXITED) {
		e->stats.unexpected++;
		return 0;
	}
	exit_take(e, stop, obs);
	wake(e, stop, obs->at_ns + ENGINE_WAIT_NS);
	engine_ask_names(e, stop->node);
	return 0;
}

static enum oom_level oom_level_of(const struct obs_oom *oom, const struct cgnode *node)
{
	const struct cgnode *parent = node->parent;

	if (!(oom->flags & GRACED_OOM_LEVEL_KNOWN))
		return OOM_LEVEL_UNKNOWN;
	if (oom->flags & GRACED_OOM_BELOW || oom->level_id == node->id)
		return OOM_LEVEL_CONTAINER;
	if (parent && parent->kind == GRACED_WATCH_POD && oom->level_id == parent->id)
		return OOM_LEVEL_POD;
	return OOM_LEVEL_NODE;
}

int engine_on_oom(struct engine *e, const struct obs *obs)
{
	struct stop *stop = engine_stop_of(e, obs->oom.id);
	enum oom_level level;

	if (!stop)
		return 0;
	level = oom_level_of(&obs->oom, stop->node);
	if (obs->oom.flags & GRACED_OOM_INIT && stop->state < STOP_EXITED) {
		stop->oom_victim = true;
		stop->oom = level;
	}
	engine_report_oom(e, obs, stop->node, level);
	return 0;
}

static bool init_is_running(const struct stop *stop)
{
	return stop->state == STOP_RUNNING || stop->state == STOP_REQUESTED ||
	       stop->state == STOP_KILLED;
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

	if (init_is_running(stop) && stop->init.pid)
		engine_effect(e, &probe);
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
		engine_tell(e, stop, obs->counts.populated && !stop->empty_ns);
	else if (lost)
		probe_init(e, stop);
	return 0;
}

/* The exit's own record may still be in the ring: the verdict without it waits for a moment. */
int engine_on_probe(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->probe.id);
	struct stop *stop = node ? node->stop : NULL;

	if (!stop || obs->probe.alive || !init_is_running(stop))
		return 0;
	if (stop->init.pid != obs->probe.pid)
		return 0;
	stop->probed = true;
	wake(e, stop, obs->at_ns + ENGINE_WAIT_NS);
	return 0;
}

static uint32_t gaps_of(const struct stop *stop, bool not_empty)
{
	uint32_t gaps = stop_gaps(stop);

	if (not_empty)
		gaps |= 1u << GAP_NOT_EMPTY;
	if (stop->node && stop->node->names == NAMES_ASKED)
		gaps |= 1u << GAP_NAME_LATE;
	return gaps;
}

void engine_tell(struct engine *e, struct stop *stop, bool not_empty)
{
	wake(e, stop, 0);
	engine_report_stop(e, stop, gaps_of(stop, not_empty));
	e->stats.stops++;
	expect(e, stop, STOP_EV_TELL);
	if (stop->empty_ns)
		expect(e, stop, STOP_EV_EMPTY);
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
		wake(e, stop, at_ns + ENGINE_TEARDOWN_NS);
	else if (!stop->node || stop->node->names != NAMES_ASKED)
		engine_tell(e, stop, false);
	else if (!stop->wake.pos)
		wake(e, stop, at_ns + ENGINE_WAIT_NS);
}

void engine_stop_named(struct engine *e, struct stop *stop)
{
	if (stop->state == STOP_EXITED && stop->empty_ns && !awaits_teardown(stop))
		engine_tell(e, stop, false);
}

void engine_stop_gone(struct engine *e, struct stop *stop)
{
	/* Its exit was lost: a cgroup with a process in it cannot be removed. */
	if (init_is_running(stop))
		expect(e, stop, STOP_EV_EXIT);
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
	wake(e, stop, now_ns + ENGINE_WAIT_NS);
	engine_effect(e, &(struct effect){.type = EFFECT_READ_COUNTS, .id = stop->node->id});
}

static void expire(struct engine *e, struct stop *stop, uint64_t now_ns)
{
	wake(e, stop, 0);
	if (stop->state == STOP_EXITED) {
		expire_exited(e, stop, now_ns);
	} else if (stop->probed && init_is_running(stop)) {
		expect(e, stop, STOP_EV_EXIT);
		expire_exited(e, stop, now_ns);
	} else if (stop->state == STOP_REQUESTED) {
		stop_lapse(&e->map, stop);
	}
}

void engine_expire(struct engine *e, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&e->deadlines)) && first->at_ns <= now_ns)
		expire(e, (struct stop *)((char *)first - offsetof(struct stop, wake)), now_ns);
}

int engine_on_end(struct engine *e, const struct obs *obs)
{
	struct cgnode *node;
	size_t pos = 0;

	(void)obs;
	while ((node = map_next(&e->map.nodes, &pos)))
		if (node->stop && node->stop->state == STOP_EXITED)
			engine_tell(e, node->stop, !node->stop->empty_ns);
	return 0;
}
