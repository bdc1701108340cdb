// SPDX-License-Identifier: Apache-2.0
/* The engine's part that knows when a verdict goes out: what it waits for, and how long. */
#include "core/engine/sandbox.h"
#include "core/engine/stops.h"

/* How long after the exit of what may be a runtime's stage the container's init may exec. */
#define STAGE_NS 3000000000ULL

/*
 * How long an empty cgroup waits for what a dying PID 1 kills elsewhere: its own cgroup is left in
 * cgroup_exit(), the namespace is torn down after that in exit_notify() (kernel/exit.c).
 */
#define TEARDOWN_NS 5000000ULL

/* How long one that was moved may take to be found in another container. */
#define MOVED_NS STOPS_WAIT_NS

/* How often an init that was reported as held is looked at. */
#define HELD_NS 1000000000ULL

/* Stops that may wait although their cgroups are gone. */
#define GONE_MAX 1024
/* One that is held may stay for ever, and leaves room for those that wait for a moment. */
#define HELD_MAX (GONE_MAX / 4)

void stops_advance(struct stops *stops, struct stop *stop, enum stop_event event)
{
	if (!stop_advance(stop, event))
		stops->stats.unexpected++;
}

/* Records about this container were lost: its init's exit may be one of them. */
static void probe_init(struct stops *stops, const struct stop *stop)
{
	struct effect probe = {
		.type = EFFECT_PROBE_INIT,
		.id = stop->node->id,
		.pid = stop->init.pid,
		.start_ns = stop->init.start_ns,
		.holder = stop->held == STOP_HELD_ASKED_AGAIN,
		.moved = stop->left_ns,
	};

	if (stop->init.pid)
		output_effect(stops->out, &probe);
}

/* A name has until its deadline, whatever else was asked before it. */
static uint64_t name_until(const struct stops *stops, const struct stop *stop)
{
	uint64_t wait_ns = stops->name_wait_ns ? stops->name_wait_ns : STOPS_WAIT_NS;

	uint64_t from_ns = stop->exit_seen  ? stop->exit_ns
			   : stop->empty_ns ? stop->empty_ns
					    : stop->gone_ns;

	/* A source that an earlier engine queried has to be queried again. */
	return (from_ns > stops->out->attached_ns ? from_ns : stops->out->attached_ns) + wait_ns;
}

static bool lacks_name(const struct stop *stop)
{
	return stop->node && stop->node->names == NAMES_QUERIED;
}

/* Its name, or what its pod is about to do. */
static bool awaits_name(const struct stops *stops, const struct stop *stop)
{
	if (lacks_name(stop))
		return true;
	return stop->node && stop->node->pod && stop->node->cgroups->queries &&
	       (stops_pod_terminating(stops, stop) == TRI_UNKNOWN ||
		stops_lacks_grace(stops, stop));
}

/*
 * systemd may call a remaining process the main one; then the exit seen was not the service's end.
 * On a busy node neither the exit nor the answer was read when it came: it has its moment from when
 * we look.
 */
static bool awaits_main(const struct stop *stop, const struct obs *obs)
{
	return stop->node->kind == GRACED_WATCH_SERVICE && lacks_name(stop) &&
	       obs->counts.populated && !stop->empty_ns &&
	       obs->at_ns < stop->asked_ns + STOPS_WAIT_NS;
}

/*
 * What exited in there without ever having exec'd may be a stage of a runtime that is not known by
 * its name: the init is about to exec, and then this was none.
 */
static bool awaits_exec(const struct stop *stop, const struct obs *obs)
{
	return stop_is_exit_guess(stop) && obs->counts.populated && !stop->empty_ns &&
	       obs->at_ns < stop->exit_ns + STAGE_NS;
}

/*
 * What was reported has left its cgroup, as counts say that were read. What ends there from now on
 * is another life, whose records may all be lost. The record of the emptiness is lost, or in the
 * ring.
 */
static void vacate_by_look(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	stops_advance(stops, stop, STOP_EV_EMPTY);
	stop_vacate(stop, at_ns);
	stop->empty_due = true;
}

/* The record of an emptiness that a look has shown: nothing has ended in the cgroup since. */
static bool is_empty_due(const struct stop *stop, uint64_t at_ns)
{
	return stop->empty_due && stop->state == STOP_IDLE &&
	       stop->counts.exits == stop->base.exits && at_ns < stop->idle_ns + STOPS_WAIT_NS;
}

/* Its end was held at the first look: the second is due. */
static bool awaits_look(const struct stop *stop)
{
	return stop->held == STOP_HELD_ONCE || stop->held == STOP_HELD_ASKED_AGAIN;
}

static void answered(struct stops *stops, struct stop *stop, const struct obs *obs)
{
	if (awaits_main(stop, obs) || awaits_look(stop))
		return;
	if (awaits_exec(stop, obs)) {
		stops_wake(stops, stop, stop->exit_ns + STAGE_NS);
		return;
	}
	if (stop->empty_ns && awaits_name(stops, stop) && obs->at_ns < name_until(stops, stop)) {
		stops_wake(stops, stop, name_until(stops, stop));
		return;
	}
	stops_publish(stops, stop, obs->counts.populated && !stop->empty_ns);
	if (!obs->counts.populated && stop->state == STOP_REPORTED)
		vacate_by_look(stops, stop, obs->at_ns);
}

/*
 * A life whose records were all lost has ended, or one that was reported has left its cgroup and
 * the record of that was lost; and the cgroup may stay. What shows that is looked at twice: records
 * of a life that begins or ends just now are in the ring. The second look is the one that was asked
 * for when the interval was over and the ring had been read.
 */
static void weigh_unseen(struct stops *stops, struct stop *stop, const struct obs *obs)
{
	bool is_over = stop_is_unseen_life(stop) || stop->state == STOP_REPORTED;
	bool second = stop->unseen_asked && obs->counts.looked;

	stop->unseen_asked = false;
	if (obs->counts.populated || !is_over) {
		stop->unseen_ns = 0;
	} else if (second && stop->state == STOP_REPORTED) {
		stops_empty(stops, stop, obs->at_ns);
	} else if (second) {
		stops_begin_unseen(stops, stop, obs->at_ns);
		stops_advance(stops, stop, STOP_EV_EXIT);
		stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	} else if (!stop->unseen_ns) {
		stop->unseen_ns = obs->at_ns ?: 1;
		stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	}
}

int stops_on_counts(struct stops *stops, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(stops->map, obs->counts.id);
	struct stop *stop = stop_in(node);
	uint64_t lost;

	if (!node && obs->counts.id)
		output_find_cgroup(stops->out, obs->counts.id);
	if (!stop)
		return 0;
	lost = stop->counts.lost;
	stop_count(stop, &obs->counts.counts);
	if (obs->counts.looked) {
		stop->looked_ns = obs->at_ns;
		stop->signalled_ns = obs->counts.told_at_ns;
	}
	if (stop->counts.lost > lost)
		output_changed(stops->out, node);
	if (stop->state == STOP_EXITED && stop->asked_ns)
		answered(stops, stop, obs);
	else if (stop->counts.lost > lost && stop_is_running(stop))
		probe_init(stops, stop);
	weigh_unseen(stops, stop, obs);
	if (!obs->counts.populated)
		pods_emptied(stops->pods, node, obs->at_ns, false);
	return 0;
}

/* At the second look: it is held. */
static void held_found(struct stop *stop, const struct obs_probe *probe)
{
	struct stop_aside *aside = probe->holder.pid ? stop_want_aside(stop) : NULL;

	stop->held = STOP_HELD;
	if (!aside)
		return;
	aside->holder = probe->holder;
	aside->holder_parent = probe->holder_parent;
}

static void held_seen(struct stops *stops, struct stop *stop, const struct obs *obs)
{
	const struct obs_probe *probe = &obs->probe;

	if (stop->held != STOP_HELD_ASKED && stop->held != STOP_HELD_ASKED_AGAIN)
		return;
	if (!probe->held)
		stop->held = STOP_HELD_NOT;
	else if (awaits_look(stop))
		held_found(stop, probe);
	else
		stop->held = STOP_HELD_ONCE;
	if (stop->held == STOP_HELD_ONCE)
		stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	else if (stop->held == STOP_HELD || !stop->asked_ns)
		stops_wake(stops, stop, obs->at_ns);
}

/* The kernel half forgets, with its cgroup, that it is to be waited for. */
static bool reap_is_seen(const struct stops *stops, const struct stop *stop)
{
	return stops->out->host.reaps && !stop->gone_ns;
}

/* It was reported as held. A look may overtake the record that is in the ring. */
static void held_looked_at(struct stops *stops, struct stop *stop, const struct obs *obs)
{
	if (obs->probe.held || stop->held != STOP_HELD)
		return;
	if (reap_is_seen(stops, stop)) {
		stop->held = STOP_HELD_ENDED;
		stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	} else {
		stops_held_ends(stops, stop, obs->at_ns);
	}
}

/* The exit's own record may still be in the ring: the verdict without it waits for a moment. */
int stops_on_probe(struct stops *stops, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(stops->map, obs->probe.id);
	struct stop *stop = node ? node->stop : NULL;

	if (!stop || stop->init.pid != obs->probe.pid || stop->init.start_ns != obs->probe.start_ns)
		return 0;
	if (stop->state == STOP_EXITED)
		held_seen(stops, stop, obs);
	else if (stop_is_held(stop))
		held_looked_at(stops, stop, obs);
	/* Not found in its container after a restart of the daemon: it was moved while none ran. */
	stop->moved |= obs->probe.alive && (stop->left_ns || stop->probed);
	if (obs->probe.alive || !stop_is_running(stop) || stop->left_ns)
		return 0;
	stop->probed = true;
	names_query_exit(stops->names, stop->node);
	stops_wake(stops, stop, obs->at_ns + STOPS_WAIT_NS);
	return 0;
}

/* The record may be older than the look that found it gone: the answer to another one counts. */
void stops_seen_there(struct stops *stops, struct stop *stop)
{
	if (!stop->probed || stop->left_ns || !stop_is_running(stop))
		return;
	stop->probed = stop->moved = false;
	stops_take_grace(stops, stop);
	stops_watch(stops, stop);
	pods_entered(stops->pods, stop->node);
	probe_init(stops, stop);
}

/* A container's; what exits beside its init is no sandbox. */
static enum sandbox sandbox_of_stop(const struct stops *stops, const struct stop *stop)
{
	bool is_init = stop->node && stop->node->stop == stop;

	return is_init ? sandbox_of(stops->names, stop->node) : SANDBOX_NOT;
}

/* In a shutdown that graced drives it has stopped the kubelet, and what the API plans for a pod
 * matters no longer. */
static bool ends_with_node(const struct stops *stops, const struct stop *stop)
{
	const struct given *given = stops->given;

	return given->managed && given->going && stops_pod_since(stop) >= given->announced_ns;
}

/* Why something is missing in its record that a source could provide. */
static uint32_t lapse_of(const struct stops *stops, const struct stop *stop, bool is_sandbox)
{
	const struct pod_cgroups *pod = stop->node ? cgmap_pod_of(stops->map, stop->node) : NULL;
	uint32_t lapse = names_lapse(stops->names, stop->node, is_sandbox);

	/* A source that is slow to say what the pod is about to do is no exception. */
	if (pod && !ends_with_node(stops, stop) &&
	    stops_pod_terminating(stops, stop) == TRI_UNKNOWN)
		lapse |= pod->lapse;
	return lapse;
}

static uint32_t gaps_of(const struct stops *stops, const struct stop *stop, bool not_empty)
{
	enum sandbox sandbox = sandbox_of_stop(stops, stop);
	uint32_t gaps = stop_gaps(stop);

	if (not_empty)
		gaps |= 1u << GAP_NOT_EMPTY;
	gaps |= names_gaps(lapse_of(stops, stop, sandbox == SANDBOX_KNOWN));
	if (gaps >> GAP_SUPPRESSED & 1 && (stops->limited || stops->limited_ns > stop->since_ns))
		gaps |= 1u << GAP_SHED;
	if (sandbox == SANDBOX_GUESSED)
		gaps |= 1u << GAP_SANDBOX_GUESSED;
	return gaps;
}

/* NULL: no source knows this container and no query is pending, so that none will report its exit. */
static struct podtab_container *exit_entry(struct stops *stops, const struct cgnode *node)
{
	if (node->names == NAMES_QUERIED)
		return podtab_want_container(&stops->names->tab, node->ident.container_id,
					     stops->out->now_ns);
	return node->container ? node->container->meta : NULL;
}

/* Whether a source may report how the container exited. */
static bool has_exit_source(const struct stops *stops, const struct cgnode *node)
{
	const uint32_t sources = 1u << META_CRI | 1u << META_KUBELET | 1u << META_API;

	return node && node->pod && node->ident.container_id[0] && stops->names->sources & sources;
}

/* The runtime sends the stop signal for the kubelet, and for a person who runs crictl stop. */
static bool was_asked(const struct stop *stop)
{
	enum sender_kind kind = stop->request->sender.kind;

	return stop->request->seen && (kind == SENDER_RUNTIME || kind == SENDER_KUBELET);
}

/* Keeps how the kernel saw the exit, to be compared with what sources report. */
static void note_exit(struct stops *stops, const struct stop *stop)
{
	const struct cgnode *node = stop->node;
	struct podtab_container *c;

	/* A process that dies beside the init is no exit of the container. */
	if (!has_exit_source(stops, node) || node->stop != stop)
		return;
	c = exit_entry(stops, node);
	if (!c || c->kind == META_KIND_SANDBOX)
		return;
	c->again = c->ended;
	c->ended = true;
	c->asked = was_asked(stop);
	c->sought = false;
	c->exit = (struct exit_seen){
		.seen = stop->exit_seen,
		.status = stop->status,
		.at_ns = stop->exit_ns,
		.wall_ns = (int64_t)(stop->exit_ns + (uint64_t)stops->out->host.wall_offset_ns),
		.start_ns = stop->again ? stop_life_ns(stop) : stop->init.start_ns,
		.oom_victim = stop->oom_victim,
		.oom_beside = stop->counts.oom_kills > stop->base.oom_kills,
		.oom_sure = stop_gaps(stop) == 0 && !stop->unseen_lapsed,
		.runtime = node->ident.runtime,
		.qos = node->cgroups->qos,
		.is_static = node->cgroups->is_static,
	};
	pods_exit_noted(stops->pods, c);
	if (c->known & META_CTR_EXIT && c->exit_from == META_CRI)
		stops_compare_exit(stops, c);
	else
		names_query_exit(stops->names, node);
	stops_compare_restart(stops, c);
}

/* Its cgroup was removed, and it waits for nothing more. */
static void leave_gone(struct stops *stops, struct stop *stop)
{
	stop->gone_ns = 0;
	stops->n_gone--;
	stop->next_over = stops->over;
	stops->over = stop;
}

void stops_publish(struct stops *stops, struct stop *stop, bool not_empty)
{
	uint32_t gaps;

	stops_wake(stops, stop, 0);
	if (stop->node)
		output_changed(stops->out, stop->node);
	stop->reported_unnamed = stop->node && !stop->node->path;
	stop_infer_request(stops->map, stop);
	stops_take_grace(stops, stop);
	gaps = gaps_of(stops, stop, not_empty);
	stops_report_verdict(stops, stop, gaps);
	stops->stats.stops++;
	if (stop->node && stop->node->stop == stop) {
		pods_judged(stops->pods, stop->node, gaps);
		stops->has_judged |= stop->node->pod != NULL;
	}
	note_exit(stops, stop);
	stops_advance(stops, stop, STOP_EV_REPORT);
	if (stop->empty_ns) {
		stops_advance(stops, stop, STOP_EV_EMPTY);
		stop_vacate(stop, stops->out->now_ns);
	}
	if (stop_is_held(stop))
		stops_wake(stops, stop, stops->out->now_ns + HELD_NS);
	else if (stop->gone_ns)
		leave_gone(stops, stop);
}

void stops_held_ends(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	stop->held = STOP_HELD_NOT;
	stops_wake(stops, stop, 0);
	stops_report_reaped(stops, stop, at_ns);
	if (stop->node)
		output_changed(stops->out, stop->node);
	if (stop->gone_ns)
		leave_gone(stops, stop);
}

/* Its death kills the others in its pid namespace, maybe outside its cgroup; none was counted yet. */
static bool awaits_teardown(const struct stop *stop)
{
	return stop->takes_others && !stop->asked_ns &&
	       stop->counts.collateral == stop->base.collateral;
}

/* What was in its pid namespace may not leave that, and then it never ends. */
static bool may_be_held(const struct stop *stop)
{
	return stop->takes_others && stop->exit_seen && (stop->empty_ns || stop->gone_ns) &&
	       !stop->reap_ns && stop->held < STOP_HELD;
}

/* Its cgroup was removed, and an answer or the second look is due. */
static bool gone_awaits_look(const struct stop *stop)
{
	return stop->gone_ns && may_be_held(stop) && stop->held != STOP_HELD_UNASKED;
}

/* True: the verdict waits for the answer. */
static bool query_held(struct stops *stops, struct stop *stop, uint64_t now_ns)
{
	if (!may_be_held(stop) || (stop->held != STOP_HELD_UNASKED && stop->held != STOP_HELD_ONCE))
		return false;
	stop->held = stop->held == STOP_HELD_UNASKED ? STOP_HELD_ASKED : STOP_HELD_ASKED_AGAIN;
	stops_wake(stops, stop, now_ns + TEARDOWN_NS);
	probe_init(stops, stop);
	return true;
}

/* The parent waits for it some microseconds after its cgroup is empty, as a rule. */
static bool awaits_reap(const struct stops *stops, const struct stop *stop)
{
	return stops->out->host.reaps && stop->exit_seen && !stop->reap_ns &&
	       stops->out->now_ns < stop->empty_ns + TEARDOWN_NS;
}

void stops_left(struct stops *stops, struct stop *stop, uint32_t pid, uint64_t at_ns)
{
	if (!stop_is_running(stop) || stop->init.pid != pid) {
		stops_empty(stops, stop, at_ns);
		return;
	}
	stop->left_ns = at_ns;
	stops->any_left = true;
	stops_wake(stops, stop, at_ns + MOVED_NS);
	probe_init(stops, stop);
}

/* It was moved to no container, or to one that has an init: its end is not followed there. */
static void end_left(struct stops *stops, struct stop *stop)
{
	stop->empty_ns = stop->left_ns;
	stop->left_ns = 0;
	stops_advance(stops, stop, STOP_EV_EXIT);
}

void stops_empty(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	if (stop_is_unseen_life(stop))
		stops_begin_unseen(stops, stop, at_ns);
	if (stop->state == STOP_REPORTED || is_empty_due(stop, at_ns)) {
		stop->empty_ns = at_ns;
		stops_report_empty(stops, stop);
	}
	if (!stop_advance(stop, STOP_EV_EMPTY)) {
		stops->stats.unexpected++;
		return;
	}
	if (stop->state == STOP_IDLE)
		stop_vacate(stop, at_ns);
	if (stop->state != STOP_EXITED)
		return;
	stop->empty_ns = at_ns;
	/* A verdict that waits for its name only goes out when that comes, or at its deadline. */
	if (awaits_teardown(stop) || awaits_reap(stops, stop))
		stops_wake(stops, stop, at_ns + TEARDOWN_NS);
	else if (query_held(stops, stop, stops->out->now_ns))
		return;
	else if (awaits_name(stops, stop) && !stop->asked_ns)
		stops_wake(stops, stop, name_until(stops, stop));
	else
		stops_publish(stops, stop, false);
}

void stops_named(struct stops *stops, struct stop *stop)
{
	bool over = stop->gone_ns ? !gone_awaits_look(stop)
				  : stop->empty_ns && !awaits_teardown(stop) &&
					    !awaits_reap(stops, stop) && !awaits_look(stop);

	if (stop->state == STOP_EXITED && over && !awaits_name(stops, stop))
		stops_publish(stops, stop, false);
}

/* The runtime may yet report an exit that no engine observed. */
static bool awaits_word(struct stops *stops, struct stop *stop)
{
	bool asked = stop->kept && !stop->exit_seen && names_query_exit(stops->names, stop->node);

	stop->kept = false;
	return asked;
}

/* A runtime removes the cgroup at once, and answers with the name later. */
static bool gone_waits(struct stops *stops, struct stop *stop)
{
	uint64_t now_ns = stops->out->now_ns;
	bool named_late = (awaits_word(stops, stop) || awaits_name(stops, stop)) &&
			  now_ns < name_until(stops, stop);

	if (gone_awaits_look(stop) || query_held(stops, stop, now_ns))
		return true;
	if (named_late)
		stops_wake(stops, stop, name_until(stops, stop));
	return named_late;
}

bool stops_gone(struct stops *stops, struct stop *stop)
{
	bool has_room = stops->n_gone < GONE_MAX;
	uint64_t now_ns = stops->out->now_ns;

	if (stop->gone_ns)
		return false;
	/* The record of its emptiness was lost, too. */
	if (stop_is_unseen_life(stop))
		stops_begin_unseen(stops, stop, stops->out->now_ns);
	/* Told as not empty, and the record of its emptiness was lost. */
	if (stop->state == STOP_REPORTED)
		stops_empty(stops, stop, stops->out->now_ns);
	if (stop->left_ns)
		end_left(stops, stop);
	/* Its exit was lost: a cgroup with a process in it cannot be removed. */
	if (stop_is_running(stop))
		stops_advance(stops, stop, STOP_EV_EXIT);
	if (stop->state != STOP_EXITED && !stop_is_held(stop))
		return true;
	stop->gone_ns = now_ns ?: 1;
	if (stop->state == STOP_EXITED && gone_waits(stops, stop) && has_room) {
		stops->n_gone++;
		return false;
	}
	stop->gone_ns = 0;
	if (stop->state == STOP_EXITED)
		stops_publish(stops, stop, false);
	if (stops->n_gone >= HELD_MAX || !stop_is_held(stop))
		return true;
	stop->gone_ns = now_ns ?: 1;
	stops->n_gone++;
	stops_wake(stops, stop, now_ns + HELD_NS);
	return false;
}

static void expire_exited(struct stops *stops, struct stop *stop, uint64_t now_ns)
{
	bool over = stop->gone_ns || (stop->empty_ns && !awaits_teardown(stop));

	/* What is asked of the counts below takes as long. */
	if (query_held(stops, stop, now_ns) &&
	    (stop->gone_ns || stop->asked_ns || !awaits_teardown(stop)))
		return;
	if (over && awaits_name(stops, stop) && now_ns < name_until(stops, stop)) {
		stops_wake(stops, stop, name_until(stops, stop));
		return;
	}
	if (stop->gone_ns) {
		stops_publish(stops, stop, false);
		return;
	}
	if (stop->asked_ns || (stop->empty_ns && !awaits_teardown(stop))) {
		stops_publish(stops, stop, !stop->empty_ns);
		return;
	}
	stop->asked_ns = now_ns;
	stops_wake(stops, stop, now_ns + STOPS_WAIT_NS);
	output_read_counts(stops->out, stop->node->id);
}

void stops_resume(struct stops *stops, struct stop *stop)
{
	if (stop_is_held(stop))
		stops_wake(stops, stop, stops->out->now_ns + HELD_NS);
	else if (awaits_name(stops, stop))
		stops_wake(stops, stop, name_until(stops, stop));
	else
		expire_exited(stops, stop, stops->out->now_ns);
}

static void expire_held(struct stops *stops, struct stop *stop, uint64_t now_ns)
{
	if (stop->held == STOP_HELD_ENDED) {
		stops_held_ends(stops, stop, now_ns);
		return;
	}
	stops_wake(stops, stop, now_ns + HELD_NS);
	probe_init(stops, stop);
}

static void expire(struct stops *stops, struct stop *stop, uint64_t now_ns)
{
	stops_wake(stops, stop, 0);
	if (stop_is_held(stop))
		expire_held(stops, stop, now_ns);
	if (stop->left_ns)
		end_left(stops, stop);
	if (stop->state == STOP_EXITED) {
		expire_exited(stops, stop, now_ns);
	} else if (stop->probed && stop_is_running(stop)) {
		stops_advance(stops, stop, STOP_EV_EXIT);
		expire_exited(stops, stop, now_ns);
	} else if (stops_look_due(stops, stop, now_ns)) {
		stops_watch(stops, stop);
	} else if (stop->state == STOP_REQUESTED && now_ns < stop_lapse_ns(stop)) {
		stops_watch(stops, stop);
	} else if (stop->state == STOP_REQUESTED) {
		stop_lapse(stops->map, stop);
		output_changed(stops->out, stop->node);
	} else if (stop->unseen_ns) {
		stop->unseen_ns = 0;
		stop->unseen_asked = true;
		output_read_counts(stops->out, stop->node->id);
	}
}

void stops_expire(struct stops *stops, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&stops->deadlines)) && first->at_ns <= now_ns)
		expire(stops, stop_of_wake(first), now_ns);
}

void stops_bury(struct stops *stops)
{
	struct stop *stop;

	while ((stop = stops->over)) {
		struct cgnode *node = stop->node;

		stops->over = stop->next_over;
		output_changed(stops->out, node);
		sandbox_settle(stops->names, node);
		node->stop = stop_free(stops->map, &stops->deadlines, stop);
		cgmap_remove(stops->map, node->id);
	}
}

void stops_leave_id(struct stops *stops, struct cgnode *node)
{
	if (node->stop->state == STOP_EXITED)
		stops_publish(stops, node->stop, false);
	if (node->stop->gone_ns)
		leave_gone(stops, node->stop);
	stops_bury(stops);
}

/* What waits goes out; no record comes any more. */
static void end_stop(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	bool looked = stop->unseen_ns || stop->unseen_asked;
	bool unseen = looked && stop_is_unseen_life(stop);

	if (unseen)
		stops_begin_unseen(stops, stop, at_ns);
	/* Found gone, and the wait for its exit's record ends here. */
	if (unseen || (stop->probed && stop_is_running(stop)))
		stops_advance(stops, stop, STOP_EV_EXIT);
	if (stop->left_ns)
		end_left(stops, stop);
	if (stop->state == STOP_EXITED)
		stops_publish(stops, stop, !unseen && !stop->empty_ns);
}

void stops_end(struct stops *stops, uint64_t at_ns)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&stops->map->nodes, &pos))) {
		if (node->stop)
			end_stop(stops, node->stop, at_ns);
	}
}
