// SPDX-License-Identifier: Apache-2.0
/* Saves pods for a checkpoint, loads them after a restart, and moves them to where they are then. */
#include <errno.h>

#include "core/engine/pods_priv.h"

_Static_assert(KEPT_POD_DOUBTS == DISCREPANCY_STATES, "one for each that begins and ends");

/* What grows or moves here changes the numbers that are kept. */
_Static_assert(KEPT_VERSION == 1 && POD_TRIGGER_COUNT == 14 && POD_STAGE_COUNT == 6 &&
		       DISCREPANCY_COUNT == 7,
	       "KEPT_VERSION follows the enums of pods");

#define WORDS (META_POD_GRACE | META_POD_DELETING | META_POD_DELETION_GRACE)

void pods_save(const struct pods *pods, const struct epod *p, struct kept_pod *ret)
{
	*ret = p->saved;
	/* Each list moves it on, which matters only while it stops. */
	if (!ret->truth.stop_ns)
		ret->truth.ready_ns = 0;
}

/* Only stage sync is held back; any other stage was reported. */
static bool can_be(const struct kept_pod *k)
{
	bool published = k->held ? k->life.stage == POD_STAGE_SYNC &&
					   (!k->published || k->published == POD_STAGE_FINISHED)
				 : k->published == k->life.stage;

	return k->uid[0] && published && k->qos <= CGPATH_QOS_BESTEFFORT &&
	       !(k->reported.known & ~WORDS) && k->reported.phase <= META_PHASE_UNKNOWN &&
	       k->reported.end <= META_END_DEADLINE && k->trigger < POD_TRIGGER_COUNT &&
	       k->empty_why < POD_TRIGGER_COUNT && k->truth.ready <= TRI_TRUE &&
	       !(k->truth.open >> DISCREPANCY_COUNT);
}

static void take(const struct kept_pod *k, struct epod *p)
{
	p->saved = *k;
	p->unconfirmed = p->listed;
	p->was_listed |= p->listed;
	p->kept = true;
}

int pods_load(struct pods *pods, const struct kept_pod *k)
{
	struct epod *p = pods_find(pods, k->uid);

	if (!k->over && !can_be(k))
		return -EINVAL;
	if (p)
		pods_leave(pods, p);
	if (k->over)
		return 0;
	if (!podlife_is_valid(&k->life, k->is_static))
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
static void settle_populated(struct pod_cgroups *pod)
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

static bool has_cgroup(const struct pod_cgroups *pod)
{
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed)
				return true;
	return false;
}

/* Its cgroups are gone, or it never had one: then the kubelet is yet to make them. */
static bool has_ended(const struct epod *p, const struct pod_cgroups *pod)
{
	if (has_cgroup(pod))
		return false;
	return pod || !p->listed;
}

static void settle(struct pods *pods, struct epod *p)
{
	struct pod_cgroups *pod = pods_cgroups(p);
	bool listens = pods->names->sources >> meta_lister(pods->names->sources, p->is_static) & 1;

	p->kept = false;
	if (pod)
		settle_populated(pod);
	/* Without a source that lists it, it cannot be confirmed. */
	p->listed &= listens;
	p->unconfirmed &= listens;
	output_changed_pod(pods->out, p);
	if (p->life.stage == POD_STAGE_SYNC && p->cgroups_over) {
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
