// SPDX-License-Identifier: Apache-2.0
/* Saves pods for a checkpoint, loads them after a restart, and moves them to where they are then. */
#include <errno.h>
#include <string.h>

#include "core/engine/pods_priv.h"

_Static_assert(KEPT_POD_DOUBTS == DISCREPANCY_STATES, "one for each that begins and ends");

/* What grows or moves here changes the numbers that are kept. */
_Static_assert(KEPT_VERSION == 1 && POD_TRIGGER_COUNT == 14 && POD_STAGE_COUNT == 6 &&
		       DISCREPANCY_COUNT == 7,
	       "KEPT_VERSION follows the enums of pods");

#define WORDS (META_POD_GRACE | META_POD_DELETING | META_POD_DELETION_GRACE)

static void save_reported(const struct epod_reported *w, struct kept_pod *ret)
{
	ret->known = w->known;
	ret->phase = w->phase;
	ret->end = w->end;
	ret->deleting = w->deleting;
	ret->grace_ns = w->grace_ns;
	ret->deletion_grace_ns = w->deletion_grace_ns;
	ret->deleted_wall_ns = w->deleted_wall_ns;
}

static void save_truth(const struct epod_truth *t, struct kept_pod *ret)
{
	ret->ready = t->ready;
	/* Each list moves it on, which matters only while it stops. */
	ret->ready_ns = t->stop_ns ? t->ready_ns : 0;
	ret->unready_ns = t->unready_ns;
	ret->heard_ns = t->heard_ns;
	ret->gone_ns = t->gone_ns;
	ret->truth_stop_ns = t->stop_ns;
	ret->lost = t->lost;
	ret->measured = t->measured;
	ret->open = t->open;
	memcpy(ret->doubt_ns, t->since_ns, sizeof(ret->doubt_ns));
}

static void save_life(const struct podlife *l, struct kept_pod *ret)
{
	ret->stage = l->stage;
	ret->synced_ns = l->synced_ns;
	ret->started_ns = l->started_ns;
	ret->worker_terminating_ns = l->terminating_ns;
	ret->worker_terminated_ns = l->terminated_ns;
	ret->grace_s = l->grace_s;
	ret->deleted = l->deleted;
	ret->restart_requested = l->restart_requested;
}

void pods_save(const struct pods *pods, const struct epod *p, struct kept_pod *ret)
{
	*ret = (struct kept_pod){
		.qos = p->qos,
		.is_static = p->is_static,
		.listed = p->listed,
		.was_listed = p->was_listed,
		.published = p->published,
		.trigger = p->trigger,
		.empty_why = p->empty_why,
		.trigger_ns = p->trigger_ns,
		.first_ns = p->first_ns,
		.since_ns = p->since_ns,
		.terminating_ns = p->terminating_ns,
		.between = p->between,
		.terminating_between = p->terminating_between,
		.concluded_ns = p->concluded_ns,
		.held = p->held,
		.by_kernel = p->by_kernel,
		.is_orphan = p->is_orphan,
		.stop_ns = p->stop_ns,
		.exit_ns = p->exit_ns,
		.empty_ns = p->empty_ns,
		.removed_ns = p->removed_ns,
		.empty_seen = p->empty_seen,
		.cgroups_over = p->over,
		.seen_in_shutdown = p->seen_in_shutdown,
		.given_until_ns = p->given_until_ns,
	};
	strcpy(ret->uid, p->uid);
	save_reported(&p->reported, ret);
	save_truth(&p->truth, ret);
	save_life(&p->life, ret);
}

/* Only stage sync is held back; any other stage was reported. */
static bool can_be(const struct kept_pod *k)
{
	bool published = k->held ? k->stage == POD_STAGE_SYNC &&
					   (!k->published || k->published == POD_STAGE_FINISHED)
				 : k->published == k->stage;

	return k->uid[0] && published && k->qos <= CGPATH_QOS_BESTEFFORT && !(k->known & ~WORDS) &&
	       k->phase <= META_PHASE_UNKNOWN && k->end <= META_END_DEADLINE &&
	       k->trigger < POD_TRIGGER_COUNT && k->empty_why < POD_TRIGGER_COUNT &&
	       k->ready <= TRI_TRUE && !(k->open >> DISCREPANCY_COUNT);
}

static void take_truth(const struct kept_pod *k, struct epod_truth *ret)
{
	ret->ready = (enum record_tri)k->ready;
	ret->ready_ns = k->ready_ns;
	ret->unready_ns = k->unready_ns;
	ret->heard_ns = k->heard_ns;
	ret->gone_ns = k->gone_ns;
	ret->stop_ns = k->truth_stop_ns;
	ret->lost = k->lost;
	ret->measured = k->measured;
	ret->open = k->open;
	memcpy(ret->since_ns, k->doubt_ns, sizeof(ret->since_ns));
}

static struct podlife life_of(const struct kept_pod *k)
{
	return (struct podlife){
		.stage = (enum pod_stage)k->stage,
		.synced_ns = k->synced_ns,
		.started_ns = k->started_ns,
		.terminating_ns = k->worker_terminating_ns,
		.terminated_ns = k->worker_terminated_ns,
		.grace_s = k->grace_s,
		.deleted = k->deleted,
		.restart_requested = k->restart_requested,
	};
}

static void take(const struct kept_pod *k, struct epod *p)
{
	p->qos = (enum cgpath_qos)k->qos;
	p->is_static = k->is_static;
	p->listed = p->unconfirmed = k->listed;
	p->was_listed = k->was_listed || k->listed;
	p->reported = (struct epod_reported){
		.known = k->known,
		.phase = k->phase,
		.end = k->end,
		.deleting = k->deleting,
		.grace_ns = k->grace_ns,
		.deletion_grace_ns = k->deletion_grace_ns,
		.deleted_wall_ns = k->deleted_wall_ns,
	};
	p->life = life_of(k);
	p->published = (enum pod_stage)k->published;
	p->trigger = (enum pod_trigger)k->trigger;
	p->empty_why = (enum pod_trigger)k->empty_why;
	p->trigger_ns = k->trigger_ns;
	p->first_ns = k->first_ns;
	p->since_ns = k->since_ns;
	p->terminating_ns = k->terminating_ns;
	p->between = k->between;
	p->terminating_between = k->terminating_between;
	p->concluded_ns = k->concluded_ns;
	p->held = k->held;
	p->by_kernel = k->by_kernel;
	p->is_orphan = k->is_orphan;
	p->stop_ns = k->stop_ns;
	p->exit_ns = k->exit_ns;
	p->empty_ns = k->empty_ns;
	p->removed_ns = k->removed_ns;
	p->empty_seen = k->empty_seen;
	p->over = k->cgroups_over;
	p->seen_in_shutdown = k->seen_in_shutdown;
	p->given_until_ns = k->given_until_ns;
	p->kept = true;
	take_truth(k, &p->truth);
}

int pods_load(struct pods *pods, const struct kept_pod *k)
{
	const struct podlife life = life_of(k);
	struct epod *p = pods_find(pods, k->uid);

	if (!k->over && !can_be(k))
		return -EINVAL;
	if (p)
		pods_leave(pods, p);
	if (k->over)
		return 0;
	if (!podlife_is_valid(&life, k->is_static))
		return -EINVAL;
	p = pods_want(pods, k->uid, k->first_ns);
	if (!p)
		return -ENOSPC;
	take(k, p);
	return 0;
}

void pods_drop_loaded(struct pods *pods)
{
	struct epod *p, *next;

	for (p = TAILQ_FIRST(&pods->all); p; p = next) {
		next = TAILQ_NEXT(p, all);
		if (p->kept)
			pods_leave(pods, p);
	}
}

/* --- after the restart ---------------------------------------------------------------------- */

void pods_missed(struct cgnode *node, bool removed)
{
	node->populated = false;
	node->removed |= removed;
}

/* A pod's own cgroup has no process if none of its containers has one. */
static void settle_populated(struct pod *pod)
{
	struct cgnode *node;
	bool populated = false;

	LIST_FOREACH(node, &pod->nodes, in_pod)
		populated |= node->stop && node->populated && !node->removed;
	if (populated)
		return;
	LIST_FOREACH(node, &pod->nodes, in_pod)
		node->populated = false;
}

static bool has_cgroup(const struct pod *pod)
{
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed)
				return true;
	return false;
}

/* Its cgroups are gone, or it never had one: then the kubelet is yet to make them. */
static bool has_ended(const struct epod *p, const struct pod *pod)
{
	if (has_cgroup(pod))
		return false;
	return pod || !p->listed;
}

static void settle(struct pods *pods, struct epod *p)
{
	struct pod *pod = pods_cgroups(pods, p);
	bool listens = pods->names->sources >> meta_lister(pods->names->sources, p->is_static) & 1;

	p->kept = false;
	if (pod)
		settle_populated(pod);
	/* Without a source that lists it, it cannot be confirmed. */
	p->listed &= listens;
	p->unconfirmed &= listens;
	output_changed_pod(pods->out, p);
	if (p->life.stage == POD_STAGE_SYNC && p->over) {
		pods_end_unexplained(pods, p);
	} else if (p->life.stage == POD_STAGE_SYNC && has_ended(p, pod)) {
		p->terminating_ns = p->stop_ns;
		pods_conclude(pods, p, POD_RESTART, pods->out->now_ns);
	} else if (p->life.stage == POD_STAGE_TERMINATING && pods_is_empty(pods, p) &&
		   (pod ? pod->entered || pods_is_removed(pods, p) : !p->listed)) {
		pods_set_trigger(p, POD_RESTART, pods->out->now_ns);
		p->empty_ns = pods->out->now_ns;
		p->empty_why = POD_RESTART;
		p->empty_seen = false;
		pods_drive(pods, p);
	} else if (p->life.stage == POD_STAGE_TERMINATED && pods_is_removed(pods, p)) {
		pods_set_trigger(p, POD_RESTART, pods->out->now_ns);
		pods_drive(pods, p);
	}
}

/* The end of one pod's call ends no other's, and what begins anew is at the end. */
void pods_settle_loaded(struct pods *pods)
{
	struct epod *p, *next;

	for (p = TAILQ_FIRST(&pods->all); p; p = next) {
		next = TAILQ_NEXT(p, all);
		if (p->kept)
			settle(pods, p);
	}
	/* The pod that one waits for may not have been saved. */
	pods->name_freed = true;
	pods_settle(pods);
	TAILQ_FOREACH(p, &pods->all, all)
		truth_check(pods, p, pods->out->now_ns);
}
