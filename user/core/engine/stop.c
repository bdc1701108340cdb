// SPDX-License-Identifier: Apache-2.0
/* The engine's part that follows inits: from their exec over signals to their exit. */
#include "core/engine/priv.h"

#include <errno.h>

/* Processes of scope all that are followed at once. */
#define MAX_PROCS 4096

/* A scan knows when a process started by the tick of /proc only. */
#define START_GRAIN_NS 10000000ULL

void engine_find_cgroup(struct engine *e, uint64_t id)
{
	output_effect(&e->out, &(struct effect){.type = EFFECT_FIND_CGROUP, .id = id});
}

void engine_read_counts(struct engine *e, uint64_t id)
{
	output_effect(&e->out, &(struct effect){.type = EFFECT_READ_COUNTS, .id = id});
}

void engine_set_watch(struct engine *e, const struct cgnode *node)
{
	output_effect(&e->out, &(struct effect){.type = EFFECT_SET_WATCH,
						.id = node->id,
						.kind = node->kind});
}

/* The kernel half follows a stop by it, and records it even if it leaves it out by default. */
static void want_signal(struct engine *e, struct cgnode *node)
{
	uint32_t own = names_stop_signal(&e->names, node);

	if (!own || own == node->stop_signal)
		return;
	node->stop_signal = own;
	output_effect(&e->out,
		      &(struct effect){.type = EFFECT_SET_STOP, .id = node->id, .signal = own});
	if (node->stop)
		engine_stop_learnt(e, node->stop, own);
}

/* The unit says which process is the service, whatever was guessed. */
static void want_main(struct engine *e, const struct cgnode *node)
{
	const struct podtab_container *own = names_container(&e->names, node);
	struct stop *stop = node->stop;

	if (node->kind != GRACED_WATCH_SERVICE || !own || !stop || !own->main_pid)
		return;
	if (stop->init.pid == own->main_pid && stop->state != STOP_TOLD) {
		stop->guessed = false;
		return;
	}
	output_effect(&e->out, &(struct effect){.type = EFFECT_SET_INIT,
						.id = node->id,
						.pid = own->main_pid});
}

void engine_described(struct engine *e, struct cgnode *node)
{
	want_signal(e, node);
	want_main(e, node);
}

int engine_node_known(struct engine *e, struct cgnode *node, uint32_t kernel_kind)
{
	bool wrong = kernel_kind && kernel_kind != node->kind;

	/* The answer decides what the kernel half is told, and until then it records all. */
	if (!names_ask_identity(&e->names, node, wrong ? kernel_kind : 0) && wrong)
		engine_set_watch(e, node);
	if (!cgnode_is_container(node)) {
		/* What was taken for a container before its path was known. */
		if (node->stop)
			output_change(&e->out,
				      &(struct change){.type = CHANGE_CGROUP_ID, .id = node->id});
		node->stop = stop_free(&e->map, &e->deadlines, node->stop);
		return 0;
	}
	if (!node->stop) {
		node->stop = stop_new(node);
		if (!node->stop)
			return -ENOMEM;
		node->stop->there = !e->out.attached;
		node->stop->idle_ns = e->out.now_ns;
	}
	engine_described(e, node);
	names_ask(&e->names, node);
	/* Its init was seen before its path was known. */
	if (stop_is_running(node->stop) && !node->stop->kept)
		output_change(&e->out, &(struct change){.type = CHANGE_INIT_ENTERED, .node = node});
	return 0;
}

struct stop *engine_stop_of(struct engine *e, uint64_t id)
{
	struct cgnode *node = cgmap_get(&e->map, id);

	if (!node && id && cgmap_add_unknown(&e->map, id, &node) == 0) {
		engine_node_known(e, node, 0);
		engine_find_cgroup(e, id);
	}
	return stop_in(node);
}

bool engine_same_process(const struct graced_proc *a, const struct graced_proc *b)
{
	uint64_t apart =
		a->start_ns > b->start_ns ? a->start_ns - b->start_ns : b->start_ns - a->start_ns;

	return a->pid && a->pid == b->pid && apart < START_GRAIN_NS;
}

/* Cut to the tick a start is earlier than the kernel's. */
static void start_take(struct stop *stop, const struct graced_proc *proc)
{
	if (stop_is_running(stop) && proc->start_ns > stop->init.start_ns)
		stop->init.start_ns = proc->start_ns;
}

/*
 * Another process is init now: reports the verdict of the last one, if that has none yet. The
 * record of its exit is among those that were lost by now.
 */
static void make_way(struct engine *e, struct stop *stop, uint64_t lost)
{
	if (stop_is_running(stop)) {
		stop_lost_by(stop, lost);
		engine_expect(e, stop, STOP_EV_EXIT);
	}
	if (stop->state == STOP_EXITED)
		engine_tell(e, stop, false);
}

static void begin(struct engine *e, struct stop *stop, const struct graced_proc *proc,
		  uint32_t rank, uint64_t at_ns)
{
	bool unseen = stop->state == STOP_IDLE && stop->init_unseen;
	struct graced_proc former = stop->init;

	engine_expect(e, stop, STOP_EV_INIT);
	stop_begin(&e->map, stop, proc, rank);
	stop->former = former;
	stop->since_ns = at_ns;
	stop->late = !e->out.attached || (stop->there && proc->start_ns < e->out.attached_ns);
	stop->init_unseen = unseen;
	engine_take_grace(e, stop);
	engine_wake(e, stop, 0);
	output_change(&e->out, &(struct change){.type = CHANGE_INIT_ENTERED, .node = stop->node});
	names_ask_beside(&e->names, stop->node);
}

void engine_begin_unseen(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	static const struct graced_proc unknown;
	struct graced_counts base = stop->base;

	begin(e, stop, &unknown, GRACED_INIT_NONE, at_ns);
	stop->base = base;
	stop->init_unseen = true;
	names_ask(&e->names, stop->node);
	names_ask_exit(&e->names, stop->node);
}

int engine_on_no_init(struct engine *e, const struct obs *obs)
{
	struct stop *stop = stop_in(cgmap_get(&e->map, obs->no_init.id));

	if (!stop || stop->state != STOP_IDLE || stop->init_unseen)
		return 0;
	stop->init_unseen = true;
	e->stats.inits_not_found++;
	output_changed(&e->out, stop->node);
	return 0;
}

/* Records say what was lost when they were made; counts that were read may run ahead of them. */
static void base_take(struct stop *stop, const struct obs_init *init)
{
	stop->base.lost = stop->before.lost + init->lost;
	stop->base.suppressed = stop->before.suppressed + init->suppressed;
}

/* A signal on another CPU may find an init before the record of its exec is in the ring. */
static void init_overtaken(struct engine *e, struct stop *stop, const struct obs_init *init)
{
	start_take(stop, &init->proc);
	stop->late |= init->late;
	if (stop->rank == GRACED_INIT_GUESSED && init->rank == GRACED_INIT_FIRST && !stop->late &&
	    stop_is_running(stop)) {
		/* What was there before it was a stage of its runtime, which has left. */
		stop->rank = init->rank;
		stop->guessed = false;
		return;
	}
	if (stop->rank != GRACED_INIT_NONE || !stop_is_running(stop)) {
		e->stats.unexpected++;
		return;
	}
	stop->rank = init->rank;
	stop->record_lost = false;
	base_take(stop, init);
}

/*
 * What the kernel half recorded while another process was init. A look at /proc overtakes what is
 * in the ring by then; and who is init may change between the kernel half's look and its record.
 */
static bool is_of_former(const struct stop *stop, const struct graced_proc *proc, uint64_t at_ns)
{
	return at_ns < stop->since_ns || engine_same_process(&stop->former, proc);
}

/*
 * Takes the process that a signal's or an exit's record names as init. One that had no record of
 * its exec has been the init all the time. False: the record is late; the process is no longer the
 * init, and its verdict was reported. lost: the losses that the record states, 0 if it states none.
 */
static bool adopt(struct engine *e, struct stop *stop, const struct graced_proc *proc,
		  uint64_t at_ns, uint64_t lost)
{
	bool same = engine_same_process(&stop->init, proc), late;

	late = same ? stop->state == STOP_IDLE || stop->state == STOP_TOLD
		    : is_of_former(stop, proc, at_ns);
	e->stats.unexpected += late;
	if (late)
		return false;
	if (same) {
		start_take(stop, proc);
		return true;
	}
	make_way(e, stop, lost);
	begin(e, stop, proc, GRACED_INIT_NONE, at_ns);
	stop->record_lost = e->out.attached;
	return true;
}

static bool is_service(const struct stop *stop)
{
	return stop->node->kind == GRACED_WATCH_SERVICE;
}

/* It would have had no chance against an init as good as this one. */
static bool is_from_before(const struct stop *stop, const struct obs *obs)
{
	return obs->at_ns < stop->since_ns && obs->init.rank <= stop->rank;
}

/*
 * A service that forks leaves by its first process, and its main process was there before that
 * left: what was taken for init was none. Where a service's cgroup ran empty nobody was: a start
 * that is cut to the tick may look like it. In a container the same holds of a process that was
 * taken for init only because it exited: it was a stage of a runtime.
 */
static bool was_never_main(const struct stop *stop, const struct obs_init *init)
{
	bool none = is_service(stop) ? init->rank == GRACED_INIT_PID1
				     : stop_is_exit_guess(stop) && init->rank > GRACED_INIT_GUESSED;

	return none && !stop->empty_ns && stop->state == STOP_EXITED &&
	       init->proc.start_ns < stop->exit_ns;
}

/* A service may make another of its processes the main one, while the old one lives. */
static bool is_handed_over(const struct stop *stop, uint32_t rank)
{
	return is_service(stop) && rank == GRACED_INIT_PID1;
}

int engine_on_init(struct engine *e, const struct obs *obs)
{
	struct stop *stop = engine_stop_of(e, obs->init.id);

	if (!stop)
		return 0;
	if (engine_same_process(&stop->init, &obs->init.proc)) {
		init_overtaken(e, stop, &obs->init);
		return 0;
	}
	if (is_from_before(stop, obs)) {
		e->stats.unexpected++;
		return 0;
	}
	if (was_never_main(stop, &obs->init))
		engine_expect(e, stop, STOP_EV_VOID);
	else if (!stop_is_running(stop) || !is_handed_over(stop, obs->init.rank))
		make_way(e, stop, obs->init.lost);
	if (stop->state == STOP_REQUESTED || stop->state == STOP_KILLED) {
		e->stats.unexpected++;
		return 0;
	}
	begin(e, stop, &obs->init.proc, obs->init.rank, obs->at_ns);
	stop->late |= obs->init.late;
	base_take(stop, &obs->init);
	return 0;
}

/* Timers may be late: what counts is when a thing happened. */
static void lapse_by(struct engine *e, struct stop *stop, uint64_t at_ns)
{
	if (stop->state == STOP_REQUESTED && at_ns >= stop_lapse_ns(stop))
		stop_lapse(&e->map, stop);
}

static bool is_managed(const struct stop_signal *signal)
{
	return signal->seen && signal->sender.relation == RELATION_MANAGER;
}

/* Until init exits its deadline is the request's lapse, or the end of a search for its exit. */
static void noted(struct engine *e, struct stop *stop, enum stop_note note, const struct obs *obs)
{
	bool opened = note == STOP_NOTE_REQUEST && stop->request.at_ns == obs->at_ns;
	uint64_t from = obs->signal.sender.watch_id;

	if (note == STOP_NOTE_UNEXPECTED)
		e->stats.unexpected++;
	if (opened)
		engine_take_grace(e, stop);
	if (opened && !stop->probed)
		engine_wake(e, stop, stop_lapse_ns(stop));
	if (!opened && note != STOP_NOTE_KILL)
		return;
	if (is_managed(opened ? &stop->request : &stop->kill))
		output_change(&e->out, &(struct change){.type = CHANGE_INIT_SIGNALLED,
							.node = stop->node,
							.at_ns = obs->at_ns});
	names_ask(&e->names, stop->node);
	if (opened && engine_pod_terminating(e, stop) == TRI_UNKNOWN)
		names_ask_pod(&e->names, cgmap_pod_of(&e->map, stop->node), engine_pod_since(stop));
	if (from && !cgmap_get(&e->map, from))
		engine_find_cgroup(e, from);
}

void engine_stop_learnt(struct engine *e, struct stop *stop, uint32_t number)
{
	if (!stop_learn_signal(&e->map, stop, number, e->out.now_ns))
		return;
	engine_take_grace(e, stop);
	if (stop->state == STOP_REQUESTED && !stop->probed)
		engine_wake(e, stop, stop_lapse_ns(stop));
	if (is_managed(&stop->request))
		output_change(&e->out, &(struct change){.type = CHANGE_INIT_SIGNALLED,
							.node = stop->node,
							.at_ns = stop->request.at_ns});
}

/* --- scope all: processes that are no init, from the first signal that may end them to their death
 * by one ------------------------------------------------------------------------------------ */

static struct stop *proc_find(const struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = map_get(&e->procs, proc->pid);

	return stop && stop->init.start_ns == proc->start_ns ? stop : NULL;
}

static void proc_forget(struct engine *e, struct stop *stop)
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

/* No record says when one ends that survived its signals: the oldest makes way. */
static void proc_make_room(struct engine *e)
{
	struct deadline *oldest = deadline_first(&e->proc_ages);

	if (e->procs.count < MAX_PROCS || !oldest)
		return;
	proc_forget(e, stop_of_wake(oldest));
	e->stats.procs_forgotten++;
}

static struct stop *proc_of(struct engine *e, const struct graced_proc *proc)
{
	struct stop *stop = proc_find(e, proc);

	if (e->config.scope != SCOPE_ALL || !proc->pid)
		return NULL;
	if (!stop) {
		stop = map_get(&e->procs, proc->pid);
		if (stop)
			proc_forget(e, stop);
		proc_make_room(e);
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

static void proc_signalled(struct engine *e, struct stop *stop, const struct obs *obs,
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
static void proc_base_take(struct stop *stop)
{
	struct graced_counts base = stop->counts;

	base.lost = stop->base.lost;
	base.suppressed = stop->base.suppressed;
	stop->base = base;
}

static int on_proc_exit(struct engine *e, const struct obs *obs)
{
	bool known = proc_find(e, &obs->exit.proc);
	struct stop *stop = proc_of(e, &obs->exit.proc);

	if (!stop)
		return 0;
	if (stop->state == STOP_REQUESTED && obs->at_ns >= stop_lapse_ns(stop))
		stop_lapse(&e->map, stop);
	engine_expect(e, stop, STOP_EV_EXIT);
	stop_exited(stop, &obs->exit, obs->at_ns);
	proc_base_take(stop);
	/* It may be one whose signals were forgotten. */
	if (!known && e->stats.procs_forgotten)
		stop->counts.lost++;
	stop->empty_ns = obs->at_ns;
	/* Its deadline is of this queue, and telling takes it out of the other. */
	deadline_set(&e->proc_ages, &stop->wake, 0);
	if (stop->status & 0x7f)
		engine_tell(e, stop, false);
	proc_forget(e, stop);
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

/* --- what the kernel half records ---------------------------------------------------------- */

static void init_signalled(struct engine *e, struct stop *stop, const struct obs *obs,
			   uint64_t stop_set, struct sender *sender)
{
	enum stop_note note;

	if (!adopt(e, stop, &obs->signal.target, obs->at_ns, obs->signal.lost))
		return;
	lapse_by(e, stop, obs->at_ns);
	stop->record_lost |= stop->before.lost + obs->signal.lost > stop->base.lost;
	note = stop_signalled(&e->map, stop, &obs->signal, obs->at_ns, stop_set,
			      names_stop_signal(&e->names, stop->node), sender);
	noted(e, stop, note, obs);
}

/* Init tells another of its container, having been told itself. */
static void forwarded(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->signal.id);

	if (node && node->stop)
		stop_forwards(node->stop, &obs->signal, obs->at_ns);
}

int engine_on_signal(struct engine *e, const struct obs *obs)
{
	const struct obs_signal *sig = &obs->signal;
	bool init = sig->flags & GRACED_SIG_INIT;
	struct sender sender;
	struct stop *stop;
	uint64_t stop_set;

	if (sig->sig < 1 || sig->sig > 64) {
		e->stats.unexpected++;
		return 0;
	}
	if (sig->flags & GRACED_SIG_FORWARDED && !init)
		forwarded(e, obs);
	stop = init ? engine_stop_of(e, sig->id) : NULL;
	/* In what the kernel half takes for a container, and is none, it is nobody's init. */
	init = stop;
	if (!stop)
		stop = proc_of(e, &sig->target);
	if (!stop)
		return 0;
	sender_judge(&e->map, sig, stop->node, e->out.host.self_pid, &sender);
	stop_set = engine_stop_set(e, stop->node, sender.kind);
	if (sig->sig == 9 || (stop_set | ENGINE_STOP_SET) >> (sig->sig - 1) & 1)
		engine_report_signal(e, obs, stop->node, &sender);
	if (init)
		init_signalled(e, stop, obs, stop_set, &sender);
	else
		proc_signalled(e, stop, obs, &sender);
	sender_done(&e->map, &sender);
	return 0;
}

int engine_on_exit(struct engine *e, const struct obs *obs)
{
	struct stop *stop;

	if (!(obs->exit.flags & GRACED_EXIT_INIT))
		return on_proc_exit(e, obs);
	stop = engine_stop_of(e, obs->exit.id);
	if (!stop)
		return on_proc_exit(e, obs);
	if (!adopt(e, stop, &obs->exit.proc, obs->at_ns, obs->exit.counts.lost))
		return 0;
	lapse_by(e, stop, obs->at_ns);
	if (!stop_advance(stop, STOP_EV_EXIT)) {
		e->stats.unexpected++;
		return 0;
	}
	stop_exited(stop, &obs->exit, obs->at_ns);
	output_change(&e->out, &(struct change){.type = CHANGE_INIT_EXITED,
						.node = stop->node,
						.at_ns = obs->at_ns});
	engine_wake(e, stop, obs->at_ns + ENGINE_WAIT_NS);
	names_ask(&e->names, stop->node);
	names_ask_unit(&e->names, stop->node);
	engine_take_grace(e, stop);
	if (engine_lacks_grace(e, stop))
		names_ask_pod(&e->names, stop->node->pod, stop->kill.at_ns);
	if (engine_pod_terminating(e, stop) == TRI_UNKNOWN)
		names_ask_pod(&e->names, cgmap_pod_of(&e->map, stop->node), engine_pod_since(stop));
	return 0;
}

static enum oom_level oom_level_of(const struct engine *e, const struct obs_oom *oom,
				   const struct cgnode *node)
{
	const struct cgnode *level = cgmap_get(&e->map, oom->level_id);

	if (!(oom->flags & GRACED_OOM_LEVEL_KNOWN))
		return OOM_LEVEL_UNKNOWN;
	if (oom->flags & GRACED_OOM_BELOW || oom->level_id == node->id)
		return OOM_LEVEL_CONTAINER;
	if (!oom->level_id)
		return OOM_LEVEL_NODE;
	if (!level || !level->path)
		return OOM_LEVEL_UNKNOWN;
	return level->kind == GRACED_WATCH_POD && level->pod == node->pod ? OOM_LEVEL_POD
									  : OOM_LEVEL_NODE;
}

/* Whose verdict the OOM killer decides: init's, or with scope all any process's. NULL: nobody's. */
static struct stop *victim_of(struct engine *e, struct stop *stop, const struct obs *obs)
{
	const struct obs_oom *oom = &obs->oom;

	if (!(oom->flags & GRACED_OOM_INIT))
		return proc_of(e, &oom->victim);
	/* Its exit on another CPU may have been recorded first. */
	return adopt(e, stop, &oom->victim, obs->at_ns, 0) ? stop : NULL;
}

int engine_on_oom(struct engine *e, const struct obs *obs)
{
	struct stop *stop = engine_stop_of(e, obs->oom.id), *victim;
	enum oom_level level;

	if (!stop)
		return 0;
	level = oom_level_of(e, &obs->oom, stop->node);
	victim = victim_of(e, stop, obs);
	if (victim) {
		victim->oom_victim = true;
		victim->oom = level;
	}
	engine_report_oom(e, obs, stop->node, level);
	return 0;
}

int engine_on_reaped(struct engine *e, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(&e->map, obs->reaped.id);
	struct stop *stop = node ? node->stop : NULL;

	if (!stop || stop->state != STOP_EXITED || stop->init.pid != obs->reaped.pid)
		return 0;
	stop->reap_ns = obs->at_ns;
	engine_stop_named(e, stop);
	return 0;
}
