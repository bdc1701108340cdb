// SPDX-License-Identifier: Apache-2.0
/*
 * How pods live and end, by what happens in their cgroups.
 *
 * Containers come and go in a pod that goes on: one that fails its probe is told to stop by the
 * runtime exactly as one whose pod ends. What tells the end is the sandbox, which the runtime stops
 * last; and where the kubelet lists the pod, its word, for it may give a pod a new sandbox.
 */
#include <string.h>

#include "base/time.h"
#include "core/engine/pods_priv.h"

/* The stops of one end follow each other's exits at once; what comes later is about another. */
#define WAVE_NS (10 * NS_PER_S)

/* Why a pod ended the kubelet says with its last containers, and removes its cgroup a moment later;
 * but it is asked only now and then. */
#define WORD_NS (3 * NS_PER_S)

/* Both are kept under the same key, which takes longer to reckon than the rest. */
struct pod *pods_cgroups(const struct pods *pods, const struct epod *p)
{
	struct pod *pod = map_get(&pods->map->pods, p->key);

	return pod && !pod->is_double && strcmp(pod->uid, p->uid) == 0 ? pod : NULL;
}

bool pods_is_empty(const struct pods *pods, const struct epod *p)
{
	const struct pod *pod = pods_cgroups(pods, p);
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (node->populated && !node->removed)
				return false;
	return true;
}

/* The kubelet 1.20 makes a second cgroup of each pod on a unified hierarchy, by the name that
 * its other driver has for it, and leaves it there: nothing was ever in that. */
static bool is_left_over(const struct cgnode *node)
{
	return node->kind == GRACED_WATCH_POD && !node->entered && node->pod->entered;
}

bool pods_is_removed(const struct pods *pods, const struct epod *p)
{
	const struct pod *pod = pods_cgroups(pods, p);
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed && !is_left_over(node))
				return false;
	return true;
}

/* The stop of what is taken for the sandbox by its shape is taken for its pod's end, until a
 * container begins in that. */
bool pods_is_sandbox(const struct pods *pods, const struct cgnode *node)
{
	return sandbox_of(pods->names, node) != SANDBOX_NOT;
}

uint32_t pods_running(const struct pods *pods, const struct epod *p)
{
	const struct pod *pod = pods_cgroups(pods, p);
	const struct cgnode *node;
	uint32_t n = 0;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			n += !node->removed && node->stop && stop_is_running(node->stop) &&
			     !pods_is_sandbox(pods, node);
	return n;
}

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

/* A new life: begun after what was taken for the end of the last one. Where the kubelet told that
 * end it was no earlier than the last process's: 1.20 puts a static pod back in the cgroup that it
 * left. */
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
	pods_because(p, trigger, at_ns);
	pods_update(pods, p, EPOD_KILL);
	pods_drive(pods, p);
}

void pods_end_unheard(struct pods *pods, struct epod *p)
{
	deadline_set(&pods->unheard, &p->unheard, 0);
	if (p->life.stage == POD_STAGE_SYNC)
		pods_conclude(pods, p, POD_CGROUP_REMOVED, p->stop_ns ? p->stop_ns : p->removed_ns);
}

static void expire_unheard(struct pods *pods, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&pods->unheard)) && first->at_ns <= now_ns)
		pods_end_unheard(pods,
				 (struct epod *)((char *)first - offsetof(struct epod, unheard)));
}

void pods_expire(struct pods *pods, uint64_t now_ns)
{
	expire_unheard(pods, now_ns);
	truth_expire(pods, now_ns);
}

void pods_end(struct pods *pods)
{
	expire_unheard(pods, UINT64_MAX);
	pods_release_held(pods, true);
}

/* Who lists it is asked why it ended; without memory to wait for the answer, nobody is. */
static void await_word(struct pods *pods, struct epod *p, struct cgnode *node)
{
	p->over = true;
	if (p->listed &&
	    deadline_set(&pods->unheard, &p->unheard, pods->out->now_ns + WORD_NS) == 0)
		names_ask_pod(pods->names, node->pod, pods->out->now_ns);
	else
		pods_end_unheard(pods, p);
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
		p->stop_ns = 0;
	if (is_alive_again(p, node)) {
		pods_restart(pods, p);
		p = followed(pods, node);
		if (p && !p->listed)
			names_ask_pod(pods->names, node->pod, pods->out->now_ns);
		return;
	}
	if (p->life.stage != POD_STAGE_NONE)
		return;
	p->held = true;
	pods_because(p, POD_STARTED, pods->out->now_ns);
	pods_update(pods, p, EPOD_ANEW);
	pods_drive(pods, p);
}

void pods_entered(struct pods *pods, struct cgnode *node)
{
	struct epod *p = followed(pods, node);

	if (!node->pod || node->removed)
		return;
	/* It lives again before anybody has said why it ended. */
	if (p && p->unheard.pos)
		pods_end_unheard(pods, p);
	populate(node);
	if (!cgmap_pod_of(pods->map, node))
		return;
	follow(pods, node);
	p = followed(pods, node);
	if (p)
		truth_look(pods, p, pods->out->now_ns);
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
		pods_conclude(pods, p, POD_STOP_SIGNAL, p->stop_ns);
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

	if (p && gaps >> GAP_EVENTS_LOST & 1 && !pods_is_sandbox(pods, node))
		truth_lost(pods, p);
}

/* Empty is what is below it, too. */
static void depopulate(struct cgnode *node)
{
	struct cgnode *other;

	node->populated = false;
	if (node->kind != GRACED_WATCH_POD)
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

	if (!node->pod || !node->populated)
		return;
	depopulate(node);
	if (p)
		truth_look(pods, p, at_ns);
	if (!p || !pods_is_empty(pods, p))
		return;
	set_empty(p, POD_LAST_EXIT, at_ns, seen);
	pods_drive(pods, p);
}

void pods_removed(struct pods *pods, struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(pods, node);

	if (!node->pod || node->removed)
		return;
	if (p && node->populated)
		set_empty(p, POD_CGROUP_REMOVED, at_ns, false);
	depopulate(node);
	node->removed = true;
	if (!p)
		return;
	truth_look(pods, p, at_ns);
	if (!pods_is_removed(pods, p)) {
		pods_drive(pods, p);
		return;
	}
	p->removed_ns = at_ns;
	if (p->life.stage == POD_STAGE_SYNC)
		await_word(pods, p, node);
	else
		pods_drive(pods, p);
}
