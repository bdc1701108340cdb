// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that sees how pods live and end by what happens in their cgroups.
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
struct pod *engine_pods_cgroups(const struct engine *e, const struct epod *p)
{
	struct pod *pod = map_get(&e->map.pods, p->key);

	return pod && !pod->is_double && strcmp(pod->uid, p->uid) == 0 ? pod : NULL;
}

bool engine_pods_is_empty(const struct engine *e, const struct epod *p)
{
	const struct pod *pod = engine_pods_cgroups(e, p);
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

bool engine_pods_is_removed(const struct engine *e, const struct epod *p)
{
	const struct pod *pod = engine_pods_cgroups(e, p);
	const struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (!node->removed && !is_left_over(node))
				return false;
	return true;
}

/* The stop of what is taken for the sandbox by its shape is taken for its pod's end, until a
 * container begins in that. */
bool engine_pods_is_sandbox(const struct engine *e, const struct cgnode *node)
{
	return sandbox_of(&e->names, node) != SANDBOX_NOT;
}

uint32_t engine_pods_running(const struct engine *e, const struct epod *p)
{
	const struct pod *pod = engine_pods_cgroups(e, p);
	const struct cgnode *node;
	uint32_t n = 0;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			n += !node->removed && node->stop && stop_is_running(node->stop) &&
			     !engine_pods_is_sandbox(e, node);
	return n;
}

static struct epod *followed(const struct engine *e, const struct cgnode *node)
{
	const struct pod *pod = cgmap_pod_of(&e->map, node);
	struct epod *p = pod ? map_get(&e->pods.by_uid, pod->key) : NULL;

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

void engine_pods_conclude(struct engine *e, struct epod *p, enum pod_trigger trigger,
			  uint64_t at_ns)
{
	p->by_kernel = true;
	p->concluded_ns = p->over ? p->removed_ns : e->out.now_ns;
	engine_pods_because(p, trigger, at_ns);
	engine_pods_update(e, p, EPOD_KILL);
	engine_pods_drive(e, p);
}

void engine_pods_end_unheard(struct engine *e, struct epod *p)
{
	deadline_set(&e->pods.unheard, &p->unheard, 0);
	if (p->life.stage == POD_STAGE_SYNC)
		engine_pods_conclude(e, p, POD_CGROUP_REMOVED,
				     p->stop_ns ? p->stop_ns : p->removed_ns);
}

void engine_pods_expire(struct engine *e, uint64_t now_ns)
{
	struct deadline *first;

	while ((first = deadline_first(&e->pods.unheard)) && first->at_ns <= now_ns)
		engine_pods_end_unheard(
			e, (struct epod *)((char *)first - offsetof(struct epod, unheard)));
}

/* Who lists it is asked why it ended; without memory to wait for the answer, nobody is. */
static void await_word(struct engine *e, struct epod *p, struct cgnode *node)
{
	p->over = true;
	if (p->listed && deadline_set(&e->pods.unheard, &p->unheard, e->out.now_ns + WORD_NS) == 0)
		names_ask_pod(&e->names, node->pod, e->out.now_ns);
	else
		engine_pods_end_unheard(e, p);
}

static void follow(struct engine *e, const struct cgnode *node)
{
	struct epod *p = followed(e, node);

	if (!p)
		p = engine_pods_want(e, node->pod->uid, e->out.now_ns);
	if (!p)
		return;
	p->qos = node->pod->qos;
	p->is_static |= node->pod->is_static;
	if (p->stop_ns && node->stop->init.start_ns > p->stop_ns && p->life.stage <= POD_STAGE_SYNC)
		p->stop_ns = 0;
	if (is_alive_again(p, node)) {
		engine_pods_restart(e, p);
		p = followed(e, node);
		if (p && !p->listed)
			names_ask_pod(&e->names, node->pod, e->out.now_ns);
		return;
	}
	if (p->life.stage != POD_STAGE_NONE)
		return;
	p->held = true;
	engine_pods_because(p, POD_STARTED, e->out.now_ns);
	engine_pods_update(e, p, EPOD_ANEW);
	engine_pods_drive(e, p);
}

void engine_pods_entered(struct engine *e, struct cgnode *node)
{
	struct epod *p = followed(e, node);

	if (!node->pod || node->removed)
		return;
	/* It lives again before anybody has said why it ended. */
	if (p && p->unheard.pos)
		engine_pods_end_unheard(e, p);
	populate(node);
	if (!cgmap_pod_of(&e->map, node))
		return;
	follow(e, node);
	p = followed(e, node);
	if (p)
		engine_truth_look(e, p, e->out.now_ns);
}

void engine_pods_signalled(struct engine *e, const struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(e, node);

	if (!p)
		return;
	if (p->life.stage == POD_STAGE_SYNC &&
	    (!p->stop_ns || (p->exit_ns > p->stop_ns && at_ns > p->exit_ns + WAVE_NS)))
		p->stop_ns = at_ns;
	engine_truth_signalled(e, p, node, at_ns);
	if (p->life.stage != POD_STAGE_SYNC)
		return;
	if (!p->listed && engine_pods_is_sandbox(e, node))
		engine_pods_conclude(e, p, POD_STOP_SIGNAL, p->stop_ns);
}

void engine_pods_exited(struct engine *e, const struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(e, node);

	if (p && at_ns > p->exit_ns && !engine_pods_is_sandbox(e, node))
		p->exit_ns = at_ns;
}

void engine_pods_judged(struct engine *e, const struct cgnode *node, uint32_t gaps)
{
	struct epod *p = followed(e, node);

	if (p && gaps >> GAP_EVENTS_LOST & 1 && !engine_pods_is_sandbox(e, node))
		engine_truth_lost(e, p);
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

void engine_pods_emptied(struct engine *e, struct cgnode *node, uint64_t at_ns, bool seen)
{
	struct epod *p = followed(e, node);

	if (!node->pod || !node->populated)
		return;
	depopulate(node);
	if (p)
		engine_truth_look(e, p, at_ns);
	if (!p || !engine_pods_is_empty(e, p))
		return;
	set_empty(p, POD_LAST_EXIT, at_ns, seen);
	engine_pods_drive(e, p);
}

void engine_pods_removed(struct engine *e, struct cgnode *node, uint64_t at_ns)
{
	struct epod *p = followed(e, node);

	if (!node->pod || node->removed)
		return;
	if (p && node->populated)
		set_empty(p, POD_CGROUP_REMOVED, at_ns, false);
	depopulate(node);
	node->removed = true;
	if (!p)
		return;
	engine_truth_look(e, p, at_ns);
	if (!engine_pods_is_removed(e, p)) {
		engine_pods_drive(e, p);
		return;
	}
	p->removed_ns = at_ns;
	if (p->life.stage == POD_STAGE_SYNC)
		await_word(e, p, node);
	else
		engine_pods_drive(e, p);
}
