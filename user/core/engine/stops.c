// SPDX-License-Identifier: Apache-2.0
/* The engine's part that follows inits: from their exec over signals to their exit. */
#include "core/engine/stops.h"

#include <errno.h>

#include "core/stop/processes.h"

/* Processes of scope all that are followed at once. */
#define MAX_PROCS 4096

static bool is_managed(const struct stop_signal *signal)
{
	return signal->seen && signal->sender.relation == RELATION_MANAGER;
}

/* A source provides the stop signal: what was sent before may be the request. */
static void signal_learnt(struct stops *stops, struct stop *stop, uint32_t number)
{
	if (!stop_learn_signal(stops->map, stop, number, stops->out->now_ns))
		return;
	stops_take_grace(stops, stop);
	stops_look(stops, stop);
	if (stop->state == STOP_REQUESTED && !stop->probed)
		stops_watch(stops, stop);
	if (is_managed(stop->request))
		pods_signalled(stops->pods, stop->node, stop->request->at_ns);
}

static bool is_inits(const struct stop *stop)
{
	return stop->node && stop->node->stop == stop;
}

static void lapse_unseen_by(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	uint64_t from_ns =
		stop->since_ns > stops->out->attached_ns ? stop->since_ns : stops->out->attached_ns;

	if (!stop_awaits_lapse(stop))
		return;
	/* By the period that a request would have had. */
	if (is_inits(stop))
		stops_take_grace(stops, stop);
	if (stop_lapse_unseen(stop, from_ns, at_ns) && is_inits(stop))
		output_changed(stops->out, stop->node);
}

/* Timers may be late: what counts is when a thing happened. */
static void lapse_by(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	if (stop->state == STOP_REQUESTED && at_ns >= stop_lapse_ns(stop))
		stop_lapse(stops->map, stop);
	lapse_unseen_by(stops, stop, at_ns);
}

/* --- scope all: processes that are no init, from the first signal that may end them to their death
 * by one ------------------------------------------------------------------------------------ */

static struct stop *proc_find(const struct stops *stops, const struct graced_proc *proc)
{
	struct stop *stop = map_get(&stops->procs, proc->pid);

	return stop && stop->init.start_ns == proc->start_ns ? stop : NULL;
}

static void proc_forget(struct stops *stops, struct stop *stop)
{
	map_remove(&stops->procs, stop->init.pid);
	stop_free(stops->map, &stops->proc_ages, stop);
}

static struct stop *proc_new(struct stops *stops, const struct graced_proc *proc)
{
	struct stop *stop = stop_new(cgmap_get(stops->map, proc->watch_id));

	if (!stop)
		return NULL;
	stop_advance(stop, STOP_EV_INIT);
	stop_begin(stops->map, stop, proc, GRACED_INIT_NONE);
	stop->late = proc->start_ns < stops->out->attached_ns;
	return stop;
}

/* No record says when one ends that survived its signals: the oldest makes way. */
static void proc_make_room(struct stops *stops)
{
	struct deadline *oldest = deadline_first(&stops->proc_ages);

	if (stops->procs.count < MAX_PROCS || !oldest)
		return;
	proc_forget(stops, stop_of_wake(oldest));
	stops->stats.procs_forgotten++;
}

static struct stop *proc_of(struct stops *stops, const struct graced_proc *proc)
{
	struct stop *stop = proc_find(stops, proc);

	if (!stops->all_processes || !proc->pid)
		return NULL;
	if (!stop) {
		stop = map_get(&stops->procs, proc->pid);
		if (stop)
			proc_forget(stops, stop);
		proc_make_room(stops);
		stop = proc_new(stops, proc);
		if (!stop)
			return NULL;
		if (map_put(&stops->procs, proc->pid, stop) < 0)
			return stop_free(stops->map, &stops->proc_ages, stop);
	}
	/* One without an age stays until its pid comes again. */
	deadline_set(&stops->proc_ages, &stop->wake, stops->out->now_ns ? stops->out->now_ns : 1);
	return stop;
}

static void proc_signalled(struct stops *stops, struct stop *stop, const struct obs *obs,
			   struct sender *sender)
{
	if (!stop->base_known) {
		stop->base_known = true;
		stop->base.lost = obs->signal.lost;
		stop->base.suppressed = obs->signal.suppressed;
	}
	lapse_by(stops, stop, obs->at_ns);
	if (stop_signalled(stops->map, stop, &obs->signal, obs->at_ns, STOPS_SIGNAL_SET, true,
			   sender) == STOP_NOTE_UNEXPECTED)
		stops->stats.unexpected++;
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

static int on_proc_exit(struct stops *stops, const struct obs *obs)
{
	bool known = proc_find(stops, &obs->exit.proc);
	struct stop *stop = proc_of(stops, &obs->exit.proc);

	if (!stop)
		return 0;
	lapse_by(stops, stop, obs->at_ns);
	stops_advance(stops, stop, STOP_EV_EXIT);
	stop_exited(stop, &obs->exit, obs->at_ns);
	proc_base_take(stop);
	/* It may be one whose signals were forgotten. */
	if (!known && stops->stats.procs_forgotten)
		stop->counts.lost++;
	stop->empty_ns = obs->at_ns;
	/* Its deadline is of this queue, and telling takes it out of the other. */
	deadline_set(&stops->proc_ages, &stop->wake, 0);
	if (stop->status & 0x7f)
		stops_publish(stops, stop, false);
	proc_forget(stops, stop);
	return 0;
}

/* --- what the kernel half records ---------------------------------------------------------- */

/* The kernel half follows a stop by it, and records it even if it leaves it out by default. */
static void want_signal(struct stops *stops, struct cgnode *node)
{
	uint32_t own = names_stop_signal(stops->names, node);

	if (!own || own == node->stop_signal)
		return;
	node->stop_signal = own;
	output_effect(stops->out,
		      &(struct effect){.type = EFFECT_SET_STOP, .id = node->id, .signal = own});
	if (node->stop)
		signal_learnt(stops, node->stop, own);
}

/* The unit says which process is the service, whatever was guessed. */
static void want_main(struct stops *stops, const struct cgnode *node)
{
	const struct podtab_container *own = names_container(stops->names, node);
	struct stop *stop = node->stop;

	if (node->kind != GRACED_WATCH_SERVICE || !own || !stop || !own->main_pid)
		return;
	if (stop->init.pid == own->main_pid && stop->state != STOP_REPORTED) {
		stop->guessed = false;
		return;
	}
	output_effect(stops->out, &(struct effect){.type = EFFECT_SET_INIT,
						   .id = node->id,
						   .pid = own->main_pid});
}

void stops_described(struct stops *stops, struct cgnode *node)
{
	want_signal(stops, node);
	want_main(stops, node);
}

int stops_cgroup_known(struct stops *stops, struct cgnode *node, uint32_t kernel_kind)
{
	bool wrong = kernel_kind && kernel_kind != node->kind;

	/* The answer decides what the kernel half takes it for, and until then it records all. */
	if (!names_query_identity(stops->names, node, wrong ? kernel_kind : 0) && wrong)
		output_set_watch(stops->out, node);
	if (!cgnode_is_container(node)) {
		/* What was taken for a container before its path was known. */
		if (node->stop)
			marks_id(&stops->out->marks, node->id);
		node->stop = stop_free(stops->map, &stops->deadlines, node->stop);
		return 0;
	}
	if (!node->stop) {
		node->stop = stop_new(node);
		if (!node->stop)
			return -ENOMEM;
		node->stop->there = !stops->out->attached;
		node->stop->idle_ns = stops->out->now_ns;
	}
	stops_described(stops, node);
	names_query(stops->names, node);
	/* Its init was seen before its path was known. */
	if (stop_is_running(node->stop) && !node->stop->kept)
		pods_entered(stops->pods, node);
	return 0;
}

static struct stop *stop_of(struct stops *stops, uint64_t id)
{
	struct cgnode *node = cgmap_get(stops->map, id);

	if (!node && id && cgmap_add_unknown(stops->map, id, &node) == 0) {
		stops_cgroup_known(stops, node, 0);
		output_find_cgroup(stops->out, id);
	}
	return stop_in(node);
}

/* Its name by now; and its start, which cut to the tick is earlier than the kernel's. */
static void renew(struct stop *stop, const struct graced_proc *proc)
{
	if (!stop_is_running(stop))
		return;
	memcpy(stop->init.comm, proc->comm, sizeof(proc->comm));
	if (proc->start_ns > stop->init.start_ns)
		stop->init.start_ns = proc->start_ns;
}

/* Another process is init: reports the verdict of the last, if it has none. Its exit was lost. */
static void make_way(struct stops *stops, struct stop *stop, uint64_t lost)
{
	if (stop->left_ns)
		stop->empty_ns = stop->left_ns;
	if (stop_is_running(stop)) {
		stop_lost_by(stop, lost);
		stops_advance(stops, stop, STOP_EV_EXIT);
	}
	if (stop->state == STOP_EXITED)
		stops_publish(stops, stop, false);
}

/*
 * It was moved out of all containers, which was reported as its end here, and it is back. What was
 * sent to it meanwhile was not recorded. Records of before its cgroup was empty may come late.
 */
static bool is_back(const struct stop *stop, const struct graced_proc *proc, uint64_t at_ns)
{
	bool is_over = stop->state == STOP_IDLE || stop->state == STOP_REPORTED;

	return is_over && stop->moved && at_ns > stop->empty_ns &&
	       process_is_same(&stop->init, proc);
}

static void begin(struct stops *stops, struct stop *stop, const struct graced_proc *proc,
		  uint32_t rank, uint64_t at_ns)
{
	bool unseen = stop->state == STOP_IDLE && stop->init_unseen;
	bool again = is_back(stop, proc, at_ns);
	struct graced_proc former = stop->init;

	stops_advance(stops, stop, STOP_EV_INIT);
	stop_begin(stops->map, stop, proc, rank);
	stop->former = former;
	stop->since_ns = at_ns;
	stop->again = again;
	stop->late = again || !stops->out->attached ||
		     (stop->there && proc->start_ns < stops->out->attached_ns);
	stop->init_unseen = unseen;
	stops_take_grace(stops, stop);
	stops_wake(stops, stop, 0);
	pods_entered(stops->pods, stop->node);
	names_query_beside(stops->names, stop->node);
}

void stops_begin_unseen(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	static const struct graced_proc unknown;
	struct graced_counts base = stop->base;

	begin(stops, stop, &unknown, GRACED_INIT_NONE, at_ns);
	stop->base = base;
	stop->init_unseen = true;
	names_query(stops->names, stop->node);
	names_query_exit(stops->names, stop->node);
}

int stops_on_no_init(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_in(cgmap_get(stops->map, obs->no_init.id));

	if (!stop || stop->state != STOP_IDLE || stop->init_unseen)
		return 0;
	stop->init_unseen = true;
	stops->stats.inits_not_found++;
	output_changed(stops->out, stop->node);
	return 0;
}

/* Records say what was lost when they were made; counts that were read may run ahead of them. */
static void base_take(struct stop *stop, const struct obs_init *init)
{
	stop->base.lost = stop->before.lost + init->lost;
	stop->base.suppressed = stop->before.suppressed + init->suppressed;
}

/* What it was sent until now is not known. */
static void is_late(struct stop *stop, uint64_t at_ns)
{
	stop->late = true;
	stop->unseen_lapsed = false;
	stop->since_ns = at_ns;
}

/* A signal on another CPU may find an init before the record of its exec is in the ring. */
static void init_overtaken(struct stops *stops, struct stop *stop, const struct obs_init *init,
			   uint64_t at_ns)
{
	renew(stop, &init->proc);
	stops_seen_there(stops, stop);
	stop->keeper_pid = stop->keeper_pid ?: init->keeper_pid;
	if (init->late)
		is_late(stop, at_ns);
	if (stop->rank == GRACED_INIT_GUESSED && init->rank == GRACED_INIT_FIRST && !stop->late &&
	    stop_is_running(stop)) {
		/* What was there before it was a stage of its runtime, which has left. */
		stop->rank = init->rank;
		stop->guessed = false;
		return;
	}
	if (stop->rank != GRACED_INIT_NONE || !stop_is_running(stop)) {
		stops->stats.unexpected++;
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
	return at_ns < stop->since_ns || process_is_same(&stop->former, proc);
}

/*
 * Takes the process that a signal's or an exit's record names as init. One that had no record of
 * its exec has been the init all the time. False: the record is late; the process is no longer the
 * init, and its verdict was reported. lost: the losses that the record states, 0 if it states none.
 */
static bool adopt(struct stops *stops, struct stop *stop, const struct graced_proc *proc,
		  uint64_t at_ns, uint64_t lost)
{
	bool same = process_is_same(&stop->init, proc) && !is_back(stop, proc, at_ns), late;

	late = same ? stop->state == STOP_IDLE || stop->state == STOP_REPORTED
		    : is_of_former(stop, proc, at_ns);
	stops->stats.unexpected += late;
	if (late)
		return false;
	if (same) {
		renew(stop, proc);
		return true;
	}
	make_way(stops, stop, lost);
	begin(stops, stop, proc, GRACED_INIT_NONE, at_ns);
	stop->record_lost = stops->out->attached;
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
 * left: what was taken for init was none. Where a service's cgroup ran empty none was: a start
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

/* The stop of a process that was moved out of its container. */
static struct stop *left_stop(struct stops *stops, const struct graced_proc *proc)
{
	bool any_left = false;
	struct cgnode *node;
	size_t pos = 0;

	while (stops->any_left && (node = map_next(&stops->map->nodes, &pos))) {
		if (!stop_in(node) || !node->stop->left_ns)
			continue;
		if (process_is_same(&node->stop->init, proc))
			return node->stop;
		any_left = true;
	}
	stops->any_left = any_left;
	return NULL;
}

/* What was moved out lives here (again), with what is known of it. */
static void lives_on(struct stops *stops, struct stop *stop)
{
	stops_watch(stops, stop);
	pods_entered(stops->pods, stop->node);
}

static void comes_back(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	is_late(stop, at_ns);
	stop->left_ns = 0;
	stop->moved = false;
	lives_on(stops, stop);
}

/* It is the init of another container already, and goes on here as it was there. */
static bool moves_in(struct stops *stops, struct stop *stop, const struct obs_init *init)
{
	struct stop *from = left_stop(stops, &init->proc);

	if (!from || from == stop || stop_is_running(stop))
		return false;
	make_way(stops, stop, init->lost);
	stops_wake(stops, from, 0);
	stop_move(stops->map, from, stop);
	output_changed(stops->out, from->node);
	lives_on(stops, stop);
	return true;
}

int stops_on_init(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_of(stops, obs->init.id);

	if (!stop || moves_in(stops, stop, &obs->init))
		return 0;
	if (process_is_same(&stop->init, &obs->init.proc) &&
	    !is_back(stop, &obs->init.proc, obs->at_ns)) {
		if (stop->left_ns)
			comes_back(stops, stop, obs->at_ns);
		else
			init_overtaken(stops, stop, &obs->init, obs->at_ns);
		return 0;
	}
	if (is_from_before(stop, obs)) {
		stops->stats.unexpected++;
		return 0;
	}
	if (was_never_main(stop, &obs->init))
		stops_advance(stops, stop, STOP_EV_VOID);
	else if (!stop_is_running(stop) || !is_handed_over(stop, obs->init.rank))
		make_way(stops, stop, obs->init.lost);
	if (stop->state == STOP_REQUESTED || stop->state == STOP_KILLED) {
		stops->stats.unexpected++;
		return 0;
	}
	begin(stops, stop, &obs->init.proc, obs->init.rank, obs->at_ns);
	stop->keeper_pid = obs->init.keeper_pid;
	stop->late |= obs->init.late;
	base_take(stop, &obs->init);
	return 0;
}

/* Until init exits its deadline is the request's lapse, or the end of a search for its exit. */
static void noted(struct stops *stops, struct stop *stop, enum stop_note note,
		  const struct obs *obs)
{
	bool opened = note == STOP_NOTE_REQUEST && stop->request->at_ns == obs->at_ns;
	uint64_t from = obs->signal.sender.watch_id;

	if (note == STOP_NOTE_UNEXPECTED)
		stops->stats.unexpected++;
	if (opened)
		stops_take_grace(stops, stop);
	if (!opened && note != STOP_NOTE_KILL)
		return;
	if (opened)
		stops_look(stops, stop);
	if (!stop->probed)
		stops_watch(stops, stop);
	if (is_managed(opened ? stop->request : stop->kill))
		pods_signalled(stops->pods, stop->node, obs->at_ns);
	names_query(stops->names, stop->node);
	if (opened && stops_pod_terminating(stops, stop) == TRI_UNKNOWN)
		names_query_pod(stops->names, cgmap_pod_of(stops->map, stop->node),
				stops_pod_since(stop));
	if (from && !cgmap_get(stops->map, from))
		output_find_cgroup(stops->out, from);
}

static void init_signalled(struct stops *stops, struct stop *stop, const struct obs *obs,
			   uint64_t stop_set, struct sender *sender)
{
	enum stop_note note;

	if (!adopt(stops, stop, &obs->signal.target, obs->at_ns, obs->signal.lost))
		return;
	stops_seen_there(stops, stop);
	lapse_by(stops, stop, obs->at_ns);
	stop->record_lost |= stop->before.lost + obs->signal.lost > stop->base.lost;
	note = stop_signalled(stops->map, stop, &obs->signal, obs->at_ns, stop_set,
			      stop_set != STOPS_SIGNAL_SET, sender);
	noted(stops, stop, note, obs);
}

/* Init signals another process of its container, having been signalled itself. */
static void forwarded(struct stops *stops, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(stops->map, obs->signal.id);

	if (node && node->stop)
		stop_forwards(node->stop, &obs->signal, obs->at_ns);
}

/* A shim may keep each container of a pod. The sender stands to each of them by itself. */
static int keeper_killed(struct stops *stops, const struct obs *obs)
{
	const struct obs_signal *sig = &obs->signal;
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&stops->map->nodes, &pos))) {
		struct stop *stop = stop_in(node);
		struct sender sender;

		if (!stop || !stop_has_keeper(stop, &sig->target))
			continue;
		sender_judge(stops->map, sig, node, stops->out->host.self_pid, &sender);
		stop_keeper_killed(stops->map, stop, sig, obs->at_ns, &sender);
		sender_done(stops->map, &sender);
		output_changed(stops->out, node);
	}
	return 0;
}

int stops_on_signal(struct stops *stops, const struct obs *obs)
{
	const struct obs_signal *sig = &obs->signal;
	bool init = sig->flags & GRACED_SIG_INIT;
	struct sender sender;
	struct stop *stop;
	uint64_t stop_set;

	if (sig->sig < 1 || sig->sig > 64) {
		stops->stats.unexpected++;
		return 0;
	}
	if (sig->flags & GRACED_SIG_TO_KEEPER)
		return keeper_killed(stops, obs);
	if (sig->flags & GRACED_SIG_FORWARDED && !init)
		forwarded(stops, obs);
	if (!init)
		stops_other_signalled(stops, obs);
	stop = init ? stop_of(stops, sig->id) : NULL;
	/* What the kernel half wrongly takes for a container has no init. */
	init = stop;
	if (!stop)
		stop = proc_of(stops, &sig->target);
	if (!stop)
		return 0;
	sender_judge(stops->map, sig, stop->node, stops->out->host.self_pid, &sender);
	stop_set = stops_signal_set(stops, stop->node, sender.kind);
	if (sig->sig == 9 || (stop_set | STOPS_SIGNAL_SET) >> (sig->sig - 1) & 1)
		stops_report_signal(stops, obs, stop, &sender);
	if (init)
		init_signalled(stops, stop, obs, stop_set, &sender);
	else
		proc_signalled(stops, stop, obs, &sender);
	sender_done(stops->map, &sender);
	return 0;
}

int stops_on_exit(struct stops *stops, const struct obs *obs)
{
	struct stop *stop;

	if (!(obs->exit.flags & GRACED_EXIT_INIT)) {
		stops_other_exited(stops, obs);
		return on_proc_exit(stops, obs);
	}
	stop = stop_of(stops, obs->exit.id);
	if (!stop)
		return on_proc_exit(stops, obs);
	if (!adopt(stops, stop, &obs->exit.proc, obs->at_ns, obs->exit.counts.lost))
		return 0;
	lapse_by(stops, stop, obs->at_ns);
	if (!stop_advance(stop, STOP_EV_EXIT)) {
		stops->stats.unexpected++;
		return 0;
	}
	stop_exited(stop, &obs->exit, obs->at_ns);
	processes_missed(stop, obs->exit.others_missed, obs->at_ns);
	pods_exited(stops->pods, stop->node, obs->at_ns);
	stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	names_query(stops->names, stop->node);
	names_query_unit(stops->names, stop->node);
	stops_take_grace(stops, stop);
	if (stops_lacks_grace(stops, stop))
		names_query_pod(stops->names, stop->node->cgroups, stop->kill->at_ns);
	if (stops_pod_terminating(stops, stop) == TRI_UNKNOWN)
		names_query_pod(stops->names, cgmap_pod_of(stops->map, stop->node),
				stops_pod_since(stop));
	return 0;
}

static enum oom_level oom_level_of(const struct stops *stops, const struct obs_oom *oom,
				   const struct cgnode *node)
{
	const struct cgnode *level = cgmap_get(stops->map, oom->level_id);

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

/* The stop whose verdict the OOM killer decides: init's, or with scope all any process's. NULL:
 * none. */
static struct stop *victim_of(struct stops *stops, struct stop *stop, const struct obs *obs)
{
	const struct obs_oom *oom = &obs->oom;

	if (!(oom->flags & GRACED_OOM_INIT))
		return proc_of(stops, &oom->victim);
	/* Its exit on another CPU may have been recorded first. */
	return adopt(stops, stop, &oom->victim, obs->at_ns, 0) ? stop : NULL;
}

int stops_on_oom(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_of(stops, obs->oom.id), *victim;
	enum oom_level level;

	if (!stop)
		return 0;
	level = oom_level_of(stops, &obs->oom, stop->node);
	victim = victim_of(stops, stop, obs);
	if (!(obs->oom.flags & GRACED_OOM_INIT))
		processes_oom(stops->map, stop, &obs->oom.victim, level);
	if (victim) {
		victim->oom_victim = true;
		victim->oom = level;
	}
	stops_report_oom(stops, obs, stop->node, level);
	return 0;
}

int stops_on_reaped(struct stops *stops, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(stops->map, obs->reaped.id);
	struct stop *stop = node ? node->stop : NULL;

	if (!stop || stop->init.pid != obs->reaped.pid ||
	    !(stop->state == STOP_EXITED || stop_is_held(stop)))
		return 0;
	stop->reap_ns = obs->at_ns;
	if (stop_is_held(stop))
		stops_held_ends(stops, stop, obs->at_ns);
	else
		stops_named(stops, stop);
	return 0;
}

int stops_on_taken(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_in(cgmap_get(stops->map, obs->taken.id));

	if (!stop || !stop_is_running(stop) || stop->init.pid != obs->taken.pid)
		return 0;
	stop->record_lost |= stop->before.lost + obs->taken.lost > stop->base.lost;
	stop_taken(stop, &obs->taken, obs->at_ns);
	output_changed(stops->out, stop->node);
	return 0;
}

int stops_on_shed(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_in(cgmap_get(stops->map, obs->shed.id));

	if (!obs->shed.id) {
		if (stops->limited && !obs->shed.on)
			stops->limited_ns = obs->at_ns;
		stops->limited = obs->shed.on;
	}
	if (stop)
		stop_shed(stop, obs->shed.on);
	return 0;
}

void stops_missed(struct stops *stops, uint64_t at_ns)
{
	struct cgnode *node;
	size_t pos = 0;

	stops->missed_ns = at_ns;
	while ((node = map_next(&stops->map->nodes, &pos)))
		if (stop_in(node) && node->stop->state != STOP_IDLE) {
			node->stop->record_lost = true;
			output_changed(stops->out, node);
		}
}

void stops_done(struct stops *stops)
{
	struct cgnode *node;
	struct stop *stop;
	size_t pos = 0;

	while ((stop = map_next(&stops->procs, &pos)))
		stop_free(stops->map, &stops->proc_ages, stop);
	map_done(&stops->procs);
	deadline_queue_done(&stops->proc_ages);
	pos = 0;
	while ((node = map_next(&stops->map->nodes, &pos)))
		node->stop = stop_free(stops->map, &stops->deadlines, node->stop);
	deadline_queue_done(&stops->deadlines);
}
