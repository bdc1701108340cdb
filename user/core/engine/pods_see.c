// SPDX-License-Identifier: Apache-2.0
/*
 * How pods live and end, by what happens in their cgroups.
 *
 * Containers come and go while their pod lives: the runtime stops a container that fails its probe
 * exactly as one whose pod ends. A pod ends with its sandbox, which the runtime stops last. Where
 * the kubelet lists the pod, only the kubelet decides, for it may give a pod a new sandbox.
 */
#include <string.h>

#include "base/time.h"
#include "core/engine/pods_priv.h"

/* The stops of one end follow each other's exits at once; what comes later is about another. */
#define WAVE_NS (10 * NS_PER_S)

/* The kubelet reports why a pod ended with its last containers, and removes its cgroup a moment
 * later; but it is queried only now and then. */
#define REASON_NS (3 * NS_PER_S)

static struct epod *followed(const struct pods *pods, const struct cgnode *node)
{
	const struct pod *pod = cgmap_pod_of(pods->map, node);
	struct epod *p = pod ? map_get(&pods->by_uid, pod->key) : NULL;

	return p && strcmp(p->uid, pod->uid) == 0 ? p : NULL;
}

static bool is_above(const struct cgnode *node, const struct cgnode *below)
{
	size_t n = node->path ? strlen(node->path) : 0;

	if (!n || !below->path)
		return true;
	return strncmp(below->path, node->path, n) == 0 && below->path[n] == '/';
}

/* Its cgroups have the pod's own among them, as a rule: that is populated as its containers are. */
static void populate(struct cgnode *node)
{
	struct cgnode *other;

	node->populated = true;
	node->pod->entered = true;
	LIST_FOREACH(other, &node->pod->nodes, in_pod)
		if (other->kind == GRACED_WATCH_POD && is_above(other, node))
			other->populated = other->entered = true;
}

/* A new life began after what was taken for the end of the last one. If the kubelet reported that
 * end, the end was no earlier than the last process's: 1.20 puts a static pod back in the cgroup
 * that it left. */
static bool is_alive_again(const struct epod *p, const struct cgnode *node)
{
	uint64_t start_ns = node->stop->init.start_ns;

	if (p->by_kernel)
		return p->life.stage >= POD_STAGE_TERMINATING && start_ns > p->concluded_ns;
	return p->life.stage >= POD_STAGE_TERMINATED && start_ns > p->since_ns &&
	       start_ns > p->empty_ns;
}

void pods_conclude(struct pods *pods, struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	p->by_kernel = true;
	p->concluded_ns = p->over ? p->removed_ns : pods->out->now_ns;
	pods_set_trigger(p, trigger, at_ns);
	pods_update(pods, p, EPOD_KILL);
	pods_drive(pods, p);
}

void pods_end_unexplained(struct pods *pods, struct epod *p)
{
	deadline_set(&pods->unexplained, &p->unexplained, 0);
	if (p->life.stage == POD_STAGE_SYNC)
		pods_conclude(pods, p, pods_why(pods, p, POD_CGROUP_REMOVED),
			      p->stop_ns ? p->stop_ns : p->removed_ns);
}

static void expire_unexplained(struct pods *pods, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&pods->unexplained)) && first->at_ns <= now_ns)
		pods_end_unexplained(
			pods, (struct epod *)((char *)first - offsetof(struct epod, unexplained)));
}

void pods_expire(struct pods *pods, uint64_t now_ns)
{
	expire_unexplained(pods, now_ns);
	truth_expire(pods, now_ns);
}

void pods_end(struct pods *pods)
{
	expire_unexplained(pods, UINT64_MAX);
	pods_release_held(pods, true);
}

/* Asks its source why it ended, if there is memory to wait for the answer. */
static void await_reason(struct pods *pods, struct epod *p, struct cgnode *node)
{
	p->over = true;
	if (p->listed &&
	    deadline_set(&pods->unexplained, &p->unexplained, pods->out->now_ns + REASON_NS) == 0)
		names_ask_pod(pods->names, node->pod, pods->out->now_ns);
	else
		pods_end_unexplained(pods, p);
}

static void follow(struct pods *pods, const struct cgnode *node)
{
	struct epod *p = followed(pods, node);

	if (!p)
		p = pods_want(pods, node->pod->uid, pods->out->now_ns);
	if (!p)
		return;
	p->qos = node->pod->qos;
	p->is_static |= node->pod->is_static;
	if (p->stop_ns && node->stop->init.start_ns > p->stop_ns && p->life.stage <= POD_STAGE_SYNC)
		p->stop_ns = p->given_until_ns = 0;
	if (is_alive_again(p, node)) {
		pods_restart(pods, p);
		p = followed(pods, node);
		if (p && !p->listed)
			names_ask_pod(pods->names, node->pod, pods->out->now_ns);
		return;
	}
	if (p->life.stage != POD_STAGE_NONE) {
		pods_start(pods, p);
		return;
	}
	p->held = true;
	pods_set_trigger(p, POD_STARTED, pods->out->now_ns);
	pods_update(pods, p, EPOD_ANEW);
	pods_start(pods, p);
	pods_drive(pods, p);
}

void pods_entered(struct pods *pods, struct cgnode *node)
{
	struct epod *p = followed(pods, node);

	if (node->removed)
		return;
	if (!node->pod) {
		node->populated = true;
		return;
	}
	/* It lives again before its source has said why it ended. */
	if (p && p->unexplained.pos)
		pods_end_unexplained(pods, p);
	populate(node);
	if (!cgmap_pod_of(pods->map, node))
		return;
	follow(pods, node);
	p = followed(pods, node);
	if (p)
		truth_check(pods, p, pods->out->now_ns);
}

void pods_signalled(struct pods *pods, const struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(pods, node);

	if (!p)
		return;
	if (p->life.stage == POD_STAGE_SYNC &&
	    (!p->stop_ns || (p->exit_ns > p->stop_ns && at_ns > p->exit_ns + WAVE_NS)))
		p->stop_ns = at_ns;
	truth_signalled(pods, p, node, at_ns);
	if (p->life.stage != POD_STAGE_SYNC)
		return;
	if (!p->listed && pods_is_sandbox(pods, node))
		pods_conclude(pods, p, pods_why(pods, p, POD_STOP_SIGNAL), p->stop_ns);
}

void pods_exited(struct pods *pods, const struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(pods, node);

	if (p && at_ns > p->exit_ns && !pods_is_sandbox(pods, node))
		p->exit_ns = at_ns;
}

void pods_judged(struct pods *pods, const struct cgnode *node, uint32_t gaps)
{
	struct epod *p = followed(pods, node);

	if (p)
		pods_note_shutdown(pods, p);
	if (p && gaps >> GAP_EVENTS_LOST & 1 && !pods_is_sandbox(pods, node))
		truth_lost(pods, p);
}

/* Empty is what is below it, too. */
static void depopulate(struct cgnode *node)
{
	struct cgnode *other;

	node->populated = false;
	if (!node->pod || node->kind != GRACED_WATCH_POD)
		return;
	LIST_FOREACH(other, &node->pod->nodes, in_pod)
		if (is_above(node, other))
			other->populated = false;
}

static void set_empty(struct epod *p, enum pod_trigger why, uint64_t at_ns, bool seen)
{
	p->empty_ns = at_ns;
	p->empty_why = why;
	p->empty_seen = seen;
}

void pods_emptied(struct pods *pods, struct cgnode *node, uint64_t at_ns, bool seen)
{
	struct epod *p = followed(pods, node);

	if (!node->populated)
		return;
	depopulate(node);
	if (p)
		truth_check(pods, p, at_ns);
	if (!p || !pods_is_empty(pods, p))
		return;
	set_empty(p, POD_LAST_EXIT, at_ns, seen);
	pods_drive(pods, p);
}

void pods_removed(struct pods *pods, struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(pods, node);

	if (node->removed)
		return;
	if (!node->pod) {
		node->populated = false;
		node->removed = true;
		return;
	}
	if (p && node->populated)
		set_empty(p, POD_CGROUP_REMOVED, at_ns, false);
	depopulate(node);
	node->removed = true;
	if (!p)
		return;
	truth_check(pods, p, at_ns);
	if (!pods_is_removed(pods, p)) {
		pods_drive(pods, p);
		return;
	}
	p->removed_ns = at_ns;
	if (p->life.stage == POD_STAGE_SYNC)
		await_reason(pods, p, node);
	else
		pods_drive(pods, p);
}
