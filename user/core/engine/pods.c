// SPDX-License-Identifier: Apache-2.0
/*
 * Moves the lives of pods: by what the kubelet says of a pod, and by what
 * the kernel says of its cgroups.
 *
 * graced follows and never acts: what would start or stop containers is the kubelet's to do.
 */
#include "base/time.h"
#include "core/engine/engine.h"
#include "core/engine/pods_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_ready(struct pods *pods, struct epod *p, bool ready)
{
	if (ready && !p->is_ready)
		TAILQ_INSERT_TAIL(&pods->ready, p, ready);
	else if (!ready && p->is_ready)
		TAILQ_REMOVE(&pods->ready, p, ready);
	p->is_ready = ready;
}

static void drop_out(struct pods *pods, struct epod *p)
{
	set_ready(pods, p, false);
	pods->name_freed |= p->is_static;
	output_changed_pod(pods->out, p);
	truth_leave(pods, p);
	deadline_set(&pods->unexplained, &p->unexplained, 0);
	TAILQ_REMOVE(&pods->all, p, all);
	pods->n--;
	p->pod->life = NULL;
	podmap_leave(&pods->map->pods, p->pod);
	p->pod = NULL;
}

void pods_init(struct pods *pods, struct cgmap *map, struct names *names, struct output *out)
{
	pods->map = map;
	pods->names = names;
	pods->out = out;
	TAILQ_INIT(&pods->all);
	TAILQ_INIT(&pods->ready);
	TAILQ_INIT(&pods->dead);
	TAILQ_INIT(&pods->forgotten);
}

void pods_bury(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->forgotten))) {
		TAILQ_REMOVE(&pods->forgotten, p, all);
		free(p);
	}
}

void pods_done(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->all))) {
		TAILQ_REMOVE(&pods->all, p, all);
		p->pod->life = NULL;
		free(p);
	}
	pods_bury(pods);
	deadline_queue_done(&pods->checks);
	deadline_queue_done(&pods->unexplained);
}

/* The second of two uids with one key is refused. */
static int enter(struct pods *pods, struct epod *p)
{
	int r = -ENOSPC;

	if (pods->n < PODLIFE_MAX_PODS)
		r = podmap_reach(&pods->map->pods, p->uid, &p->pod);
	if (r < 0) {
		pods->stats.refused++;
		return r;
	}
	p->pod->life = p;
	pods->n++;
	TAILQ_INSERT_TAIL(&pods->all, p, all);
	output_changed_pod(pods->out, p);
	return 0;
}

void pods_leave(struct pods *pods, struct epod *p)
{
	drop_out(pods, p);
	TAILQ_INSERT_TAIL(&pods->forgotten, p, all);
}

struct epod *pods_want(struct pods *pods, const char *uid, uint64_t now_ns)
{
	struct epod *p = pods_find(pods, uid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memccpy(p->uid, uid, '\0', sizeof(p->uid) - 1);
	p->first_ns = now_ns;
	if (enter(pods, p) == 0)
		return p;
	free(p);
	return NULL;
}

/* --- reports ------------------------------------------------------------------------------- */

/* The kubelet takes 1 s where nothing is known, which would be no truth about the pod. */
static struct grace own_grace(const struct epod *p)
{
	const int64_t grace_s = p->life.grace_s;
	bool deletion = p->reported.known & META_POD_DELETION_GRACE;
	struct grace grace = {};

	if (grace_s <= 0 || !(deletion || p->reported.known & META_POD_GRACE))
		return grace;
	grace.ns = (uint64_t)grace_s * NS_PER_S;
	grace.from = deletion && p->reported.deletion_grace_ns / NS_PER_S <= (uint64_t)grace_s
			     ? GRACE_DELETION
			     : GRACE_SPEC;
	return grace;
}

/* A shutdown gives it less, from its stop signal on. */
static struct grace grace_of_pod(const struct epod *p)
{
	struct grace grace = own_grace(p);
	uint64_t until_ns = p->given_until_ns;

	if (!until_ns || p->life.stage < POD_STAGE_TERMINATING)
		return grace;
	if (until_ns == EPOD_GIVEN_UNKNOWN || until_ns < p->terminating_ns)
		return (struct grace){.from = GRACE_HIDDEN};
	until_ns -= p->terminating_ns;
	if (!grace_known(&grace) || until_ns < grace.ns)
		grace = (struct grace){.from = GRACE_SHUTDOWN, .ns = until_ns};
	return grace;
}

static uint64_t deadline_of(const struct epod *p, const struct grace *grace)
{
	uint64_t at_ns;

	if (!grace_known(grace) || !p->terminating_ns ||
	    __builtin_add_overflow(p->terminating_ns, grace->ns, &at_ns))
		return 0;
	return at_ns;
}

/* What is not known between two answers is left out. */
static void fill_end(struct pods *pods, struct epod *p, struct record_pod_state *r)
{
	pods_note_shutdown(pods, p);
	r->grace = grace_of_pod(p);
	if (p->terminating_between) {
		r->gaps |= 1u << GAP_TIME_UNCERTAIN;
	} else {
		r->deadline_ns = deadline_of(p, &r->grace);
		r->terminating_ns = p->terminating_ns;
	}
	r->exit_ns = p->exit_ns;
	if (r->state >= POD_STAGE_TERMINATED && p->empty_seen)
		r->empty_ns = p->empty_ns;
	if (r->state >= POD_STAGE_FINISHED)
		r->removed_ns = p->removed_ns;
}

/* What at_boot_ns lacks to be when it happened. */
static uint32_t state_gaps(const struct pods *pods, const struct epod *p, enum pod_stage state,
			   enum pod_trigger trigger)
{
	if (trigger == POD_RESTART)
		return 1u << GAP_DAEMON_DOWN;
	if (trigger == POD_STARTED && state == POD_STAGE_SYNC)
		return p->first_ns < pods->out->attached_ns ? 1u << GAP_ATTACHED_LATE : 0;
	return p->between ? 1u << GAP_TIME_UNCERTAIN : 0;
}

void pods_note_lapse(const struct pods *pods, struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);

	if (!pod)
		return;
	p->name_lapse = (uint8_t)names_lapse_of_pod(pod);
	p->spec_lapse = (uint8_t)names_lapse_of_spec(pod);
}

/* Why its names, or the grace period that it ends with, are not known. */
static uint32_t lapse_gaps(struct pods *pods, struct epod *p, const struct record_pod_state *r)
{
	uint32_t lapse = 0;

	pods_note_lapse(pods, p);
	/* An answer that did not come made the time uncertain. */
	if (r->gaps >> GAP_TIME_UNCERTAIN & 1)
		lapse |= p->spec_lapse & ~LAPSE_LATE;
	if (!r->pod.name)
		lapse |= p->name_lapse;
	if (r->state >= POD_STAGE_TERMINATING && !grace_known(&r->grace))
		lapse |= p->spec_lapse;
	return names_gaps(lapse);
}

static void report(struct pods *pods, struct epod *p, enum pod_stage state,
		   enum pod_trigger trigger, uint64_t at_ns)
{
	struct record *rec =
		output_record(pods->out, RECORD_POD, sizeof(pods->out->record.pod_state), at_ns);
	struct record_pod_state *r = &rec->pod_state;

	output_id(pods->out, p->uid, pod_stage_name(state), at_ns, r->id);
	r->pod = subject_of(pods_meta(p), p->uid, p->qos, p->is_static);
	r->state = state;
	r->previous = p->published;
	r->trigger = trigger;
	r->at_ns = at_ns;
	r->gaps = state_gaps(pods, p, state, trigger);
	if (state >= POD_STAGE_TERMINATING)
		fill_end(pods, p, r);
	r->gaps |= lapse_gaps(pods, p, r);
	pods->stats.states[state]++;
	output_report(pods->out);
}

/* Whether a source was asked for its name and has yet to answer. */
static bool awaits_name(const struct pods *pods, const struct epod *p)
{
	const struct podtab_pod *meta = pods_meta(p);
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;

	if (!pod || (meta && meta->name))
		return false;
	LIST_FOREACH(node, &pod->nodes, in_pod)
		if (node->names == NAMES_QUERIED)
			return true;
	return false;
}

static void release(struct pods *pods, struct epod *p, bool now)
{
	if (!p->held || (!now && (!pods->out->attached || awaits_name(pods, p))))
		return;
	p->held = false;
	output_changed_pod(pods->out, p);
	report(pods, p, POD_STAGE_SYNC, POD_STARTED, p->first_ns);
	p->published = POD_STAGE_SYNC;
}

void pods_named(struct pods *pods, const char *uid)
{
	struct epod *p = pods_find(pods, uid);

	if (!p)
		return;
	pods_note_lapse(pods, p);
	release(pods, p, false);
}

void pods_release_held(struct pods *pods, bool all)
{
	struct epod *p;

	TAILQ_FOREACH(p, &pods->all, all)
		release(pods, p, all);
}

void pods_report_held(struct pods *pods)
{
	pods_release_held(pods, false);
}

static void arrived(struct pods *pods, struct epod *p)
{
	const enum pod_stage stage = p->life.stage;

	p->since_ns = p->trigger_ns;
	output_changed_pod(pods->out, p);
	/* When a pod that ended during a restart began to end is not known. */
	if (stage >= POD_STAGE_TERMINATING && !p->terminating_ns && p->trigger != POD_RESTART) {
		p->terminating_ns = p->trigger_ns;
		p->terminating_between = p->between;
	}
	/* Already reported when its end was concluded, wrongly. */
	if (p->reborn && p->by_kernel)
		return;
	if (p->held && stage == POD_STAGE_SYNC) {
		release(pods, p, false);
		return;
	}
	release(pods, p, true);
	report(pods, p, stage, p->trigger, p->trigger_ns);
	p->published = stage;
	if (stage >= POD_STAGE_TERMINATED)
		truth_ended(pods, p);
}

/* --- lives --------------------------------------------------------------------------------- */

static struct seconds seconds_of(uint32_t known, uint32_t bit, uint64_t ns)
{
	return (struct seconds){known & bit, (int64_t)(ns / NS_PER_S)};
}

static struct podlife_update update_of(const struct pods *pods, const struct epod *p)
{
	const struct pod_reported *w = &p->reported;

	return (struct podlife_update){
		.deleting = w->deleting,
		.terminal = meta_phase_is_terminal(w->phase),
		.quiet = pods_is_empty(pods, p),
		.deletion_grace =
			seconds_of(w->known, META_POD_DELETION_GRACE, w->deletion_grace_ns),
		.spec_grace = seconds_of(w->known, META_POD_GRACE, w->grace_ns),
	};
}

static bool has_same_name(const struct podtab_pod *a, const struct podtab_pod *b)
{
	return b && b->name && b->namespace_ && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->namespace_, b->namespace_) == 0;
}

/* Whether another static pod has the full name of p, and has to finish first. */
static bool is_name_held(const struct pods *pods, const struct epod *p)
{
	const struct podtab_pod *meta = pods_meta(p);
	const struct epod *other;
	bool earlier = true;

	if (!p->is_static || !meta || !meta->name || !meta->namespace_)
		return false;
	TAILQ_FOREACH(other, &pods->all, all) {
		if (other == p)
			earlier = false;
		else if (other->is_static && podlife_holds_name(&other->life, earlier) &&
			 has_same_name(meta, pods_meta(other)))
			return true;
	}
	return false;
}

void pods_start(struct pods *pods, struct epod *p)
{
	if (podlife_start(&p->life, pods->out->now_ns))
		output_changed_pod(pods->out, p);
}

static void start_waiting(struct pods *pods)
{
	struct epod *p;

	if (!pods->name_freed)
		return;
	pods->name_freed = false;
	TAILQ_FOREACH(p, &pods->all, all)
		if (podlife_is_waiting(&p->life) && !is_name_held(pods, p))
			pods_start(pods, p);
}

void pods_update(struct pods *pods, struct epod *p, enum epod_update how)
{
	struct podlife_update update = update_of(pods, p);

	update.anew = how == EPOD_ANEW;
	update.kill = how == EPOD_KILL;
	update.waits = p->life.stage == POD_STAGE_NONE && is_name_held(pods, p);
	if (podlife_update(&p->life, &update, pods->out->now_ns))
		arrived(pods, p);
	set_ready(pods, p, true);
}

void pods_sync(struct pods *pods, struct epod *p, bool orphan)
{
	struct podlife_update update;

	if (!orphan && !podlife_is_done(&p->life, true))
		return;
	update = update_of(pods, p);
	if (!podlife_step(&p->life, PODLIFE_ORPHANED, &update, pods->out->now_ns))
		return;
	if (p->life.stage != POD_STAGE_FORGOTTEN) {
		arrived(pods, p);
		set_ready(pods, p, true);
		return;
	}
	drop_out(pods, p);
	TAILQ_INSERT_TAIL(&pods->dead, p, all);
}

/* What ended before that began is no reason for what came after. */
static void set_later_trigger(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	if (at_ns > p->trigger_ns)
		pods_set_trigger(p, trigger, at_ns);
}

/* Why a pod that nothing left since it began to end has ended all the same. */
static void set_quiet_trigger(struct epod *p)
{
	if (p->removed_ns)
		set_later_trigger(p, POD_CGROUP_REMOVED, p->removed_ns);
	else if (p->was_listed && !p->listed)
		set_later_trigger(p, POD_REMOVED, p->truth.gone_ns);
	else if (meta_phase_is_terminal(p->reported.phase))
		set_later_trigger(p, POD_PHASE, p->list_ns);
}

static bool left_since_end(const struct epod *p)
{
	return p->empty_ns && p->empty_ns >= p->terminating_ns;
}

/* The kubelet may be making its first container, or its sandbox anew, until it says that the pod is
 * over, or removes its cgroup: of a container under way nothing is seen before its first process. */
static bool may_start(const struct pods *pods, const struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;
	bool stands = false;

	if (p->cgroups_over || p->removed_ns || meta_phase_is_terminal(p->reported.phase) ||
	    left_since_end(p))
		return false;
	if (!pod)
		return p->listed;
	LIST_FOREACH(node, &pod->nodes, in_pod) {
		if (node->removed && node->kind == GRACED_WATCH_POD)
			return false;
		stands |= !node->removed;
	}
	return stands;
}

/* Whether the pod has come to the end of its stage; *ret is what happened. */
static bool has_ended(const struct pods *pods, struct epod *p, enum podlife_event *ret)
{
	switch (p->life.stage) {
	case POD_STAGE_TERMINATING:
		*ret = PODLIFE_STOPPED;
		if (p->reborn)
			return true;
		if (!p->cgroups_over && (!pods_is_empty(pods, p) || may_start(pods, p)))
			return false;
		if (left_since_end(p))
			set_later_trigger(p, p->empty_why, p->empty_ns);
		else
			set_quiet_trigger(p);
		return true;
	case POD_STAGE_TERMINATED:
		*ret = PODLIFE_REMOVED;
		if (p->reborn)
			return true;
		if (!p->cgroups_over && !pods_is_removed(pods, p))
			return false;
		set_later_trigger(p, POD_CGROUP_REMOVED, p->removed_ns);
		return true;
	default:
		return false;
	}
}

/* What is over and not wanted, or wanted anew, is forgotten. */
static void forget_finished(struct pods *pods, struct epod *p)
{
	if (p->life.stage == POD_STAGE_FINISHED)
		pods_sync(pods, p, !p->listed || p->reborn);
}

static void advance(struct pods *pods, struct epod *p)
{
	enum podlife_event event;

	set_ready(pods, p, false);
	if (!has_ended(pods, p, &event))
		return;
	podlife_step(&p->life, event, NULL, pods->out->now_ns);
	arrived(pods, p);
	set_ready(pods, p, true);
	pods->name_freed |= p->is_static && p->life.stage == POD_STAGE_FINISHED;
	forget_finished(pods, p);
}

static void advance_ready(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->ready)))
		advance(pods, p);
}

/* The same uid again: a static pod whose manifest came back, or one that was taken to be over. */
static void begin_again(struct pods *pods, const struct epod *old)
{
	struct epod *p = calloc(1, sizeof(*p));

	if (!p) {
		pods->stats.refused++;
		return;
	}
	*p = (struct epod){
		.qos = old->qos,
		.is_static = old->is_static,
		.listed = old->listed,
		.was_listed = old->listed,
		.unconfirmed = old->unconfirmed,
		.reported = old->reported,
		.published = old->published,
		.first_ns = pods->out->now_ns,
	};
	memcpy(p->uid, old->uid, sizeof(p->uid));
	if (enter(pods, p) < 0) {
		free(p);
		return;
	}
	pods->restarted[p->is_static]++;
	pods_set_trigger(p, old->reborn ? POD_STARTED : POD_LISTED, pods->out->now_ns);
	pods_update(pods, p, EPOD_ANEW);
	advance_ready(pods);
}

static void part_with_dead(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->dead))) {
		TAILQ_REMOVE(&pods->dead, p, all);
		TAILQ_INSERT_TAIL(&pods->forgotten, p, all);
		if (p->reborn || p->listed)
			begin_again(pods, p);
	}
}

void pods_settle(struct pods *pods)
{
	advance_ready(pods);
	part_with_dead(pods);
	start_waiting(pods);
}

void pods_drive(struct pods *pods, struct epod *p)
{
	advance(pods, p);
	pods_settle(pods);
}

void pods_restart(struct pods *pods, struct epod *p)
{
	p->reborn = true;
	if (!p->by_kernel)
		pods_set_trigger(p, POD_STARTED, pods->out->now_ns);
	forget_finished(pods, p);
	pods_drive(pods, p);
}

/* --- views --------------------------------------------------------------------------------- */

static void count_containers(const struct pods *pods, const struct epod *p, struct podview *ret)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;

	if (!pod)
		return;
	LIST_FOREACH(node, &pod->nodes, in_pod) {
		bool runs = node->stop && stop_is_running(node->stop);

		if (node->kind != GRACED_WATCH_CONTAINER || node->removed)
			continue;
		if (pods_is_sandbox(pods, node)) {
			ret->sandbox_running |= runs;
			continue;
		}
		ret->containers++;
		ret->running += runs;
	}
}

static void view(const struct pods *pods, const struct epod *p, struct podview *ret)
{
	struct grace grace = {};

	if (p->life.stage >= POD_STAGE_TERMINATING)
		grace = grace_of_pod(p);
	*ret = (struct podview){
		.pod = subject_of(pods_meta(p), p->uid, p->qos, p->is_static),
		.stage = p->life.stage,
		.first_ns = p->first_ns,
		.since_ns = p->since_ns,
		.grace_ns = grace.ns,
		.deadline_ns = deadline_of(p, &grace),
		.desired = p->listed,
		.deleting = p->reported.deleting,
		.waiting = podlife_is_waiting(&p->life),
		.ready_known = p->truth.ready != TRI_UNKNOWN,
		.ready = p->truth.ready == TRI_TRUE,
		.ready_stop_ns = truth_ready_since(p),
		.discrepancies = p->truth.open,
	};
	count_containers(pods, p, ret);
}

void pods_each(const struct pods *pods, void (*fn)(void *userdata, const struct podview *pod),
	       void *userdata)
{
	const struct epod *p;
	struct podview one;

	TAILQ_FOREACH(p, &pods->all, all) {
		view(pods, p, &one);
		fn(userdata, &one);
	}
}

void pods_count(const struct pods *pods, struct pod_counts *ret)
{
	const struct epod *p;

	*ret = (struct pod_counts){
		.restarted = {pods->restarted[0], pods->restarted[1]},
		.orphaned = pods->orphaned,
	};
	TAILQ_FOREACH(p, &pods->all, all) {
		enum pod_stage stage =
			p->life.stage < POD_STAGE_TERMINATED ? p->life.stage : POD_STAGE_TERMINATED;
		enum pod_config config = POD_ORPHAN;

		if (p->listed) {
			config = POD_DESIRED;
			ret->desired[p->is_static]++;
			ret->active[p->is_static] += p->life.stage < POD_STAGE_TERMINATED;
		} else if (!p->was_listed) {
			config = POD_RUNTIME_ONLY;
		}
		ret->working[stage][config][p->is_static && config != POD_RUNTIME_ONLY]++;
	}
}
