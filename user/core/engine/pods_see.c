// SPDX-License-Identifier: Apache-2.0
/*
 * How pods live and end, by what happens in their cgroups, and by what the kubelet or the API
 * server lists: which are wanted, and which are to end.
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
	const struct pod_cgroups *cgroups = cgmap_pod_of(pods->map, node);

	return cgroups ? cgroups->pod->life : NULL;
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
	node->cgroups->entered = true;
	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
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
	p->concluded_ns = p->cgroups_over ? p->removed_ns : pods->out->now_ns;
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
	p->cgroups_over = true;
	if (p->listed &&
	    deadline_set(&pods->unexplained, &p->unexplained, pods->out->now_ns + REASON_NS) == 0)
		names_query_pod(pods->names, node->cgroups, pods->out->now_ns);
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
	p->qos = node->cgroups->qos;
	p->is_static |= node->cgroups->is_static;
	if (p->stop_ns && node->stop->init.start_ns > p->stop_ns && p->life.stage <= POD_STAGE_SYNC)
		p->stop_ns = p->given_until_ns = 0;
	if (is_alive_again(p, node)) {
		pods_restart(pods, p);
		p = followed(pods, node);
		if (p && !p->listed)
			names_query_pod(pods->names, node->cgroups, pods->out->now_ns);
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
	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
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

/* --- what sources list -------------------------------------------------------------------------- */

static struct pod_reported reported_of(const struct meta_pod *meta)
{
	const uint32_t known =
		meta->known & (META_POD_GRACE | META_POD_DELETING | META_POD_DELETION_GRACE);

	return (struct pod_reported){
		.known = known,
		.phase = meta->phase,
		.end = meta->end,
		.deleting = known & META_POD_DELETING && meta->deleting,
		.grace_ns = known & META_POD_GRACE ? meta->grace_ns : 0,
		.deletion_grace_ns = known & META_POD_DELETION_GRACE ? meta->deletion_grace_ns : 0,
		.deleted_wall_ns = meta->deleted_wall_ns,
	};
}

static bool is_same_report(const struct pod_reported *a, const struct pod_reported *b)
{
	return a->known == b->known && a->phase == b->phase && a->end == b->end &&
	       a->deleting == b->deleting && a->grace_ns == b->grace_ns &&
	       a->deletion_grace_ns == b->deletion_grace_ns &&
	       a->deleted_wall_ns == b->deleted_wall_ns;
}

/* When the list was made. */
static uint64_t list_ns(const struct pods *pods, uint64_t asked_ns)
{
	return asked_ns && asked_ns < pods->out->now_ns ? asked_ns : pods->out->now_ns;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

/*
 * When it began to end: with the stop signal that was seen, before a list showed it; not with one
 * that came before the deletion, and so was about something else.
 */
static uint64_t end_ns(const struct pods *pods, const struct epod *p, enum pod_trigger trigger,
		       uint64_t at_ns)
{
	uint64_t asked_ns = pods_deletion_ns(pods, p);

	/* The API's second may begin after what happened in it. */
	if (p->stop_ns && (trigger == POD_NODE_SHUTDOWN || p->stop_ns + NS_PER_S >= asked_ns))
		at_ns = earlier(at_ns, p->stop_ns);
	if ((trigger == POD_PHASE || trigger >= POD_EVICTED) && !pods_running(pods, p))
		at_ns = earlier(at_ns, p->exit_ns);
	return at_ns;
}

/* Why a pod failed. */
static enum pod_trigger why_failed(uint32_t end)
{
	switch (end) {
	case META_END_EVICTED:
		return POD_EVICTED;
	case META_END_PREEMPTED:
		return POD_PREEMPTED;
	case META_END_SHUTDOWN:
		return POD_NODE_SHUTDOWN;
	case META_END_DEADLINE:
		return POD_DEADLINE;
	default:
		return POD_PHASE;
	}
}

/* Why it is to end; POD_TRIGGER_NONE: it is not. */
static enum pod_trigger why_end(const struct epod *p)
{
	if (!p->listed)
		return POD_REMOVED;
	if (p->reported.deleting)
		return POD_DELETION;
	if (p->reported.phase == META_PHASE_FAILED)
		return why_failed(p->reported.end);
	return p->reported.phase == META_PHASE_SUCCEEDED ? POD_PHASE : POD_TRIGGER_NONE;
}

/* What happened before the answer that at_ns is of, and after the one that before_ns is of. */
static void set_listed_trigger(struct pods *pods, struct epod *p, enum pod_trigger trigger,
			       uint64_t at_ns, uint64_t before_ns)
{
	uint64_t since_ns = trigger == POD_LISTED ? at_ns : end_ns(pods, p, trigger, at_ns);

	pods_set_trigger(p, trigger, since_ns);
	p->between = since_ns == at_ns && since_ns != p->stop_ns && since_ns != p->exit_ns &&
		     !truth_is_timed(pods, before_ns);
}

static void take(struct pods *pods, struct epod *p, enum epod_update how, uint64_t at_ns,
		 uint64_t before_ns)
{
	enum pod_trigger why = pods_why(pods, p, why_end(p));

	if (p->life.stage == POD_STAGE_NONE)
		set_listed_trigger(pods, p, POD_LISTED, at_ns, before_ns);
	else if (why && p->life.stage == POD_STAGE_SYNC)
		set_listed_trigger(pods, p, why, at_ns, before_ns);
	if (why)
		p->by_kernel = false;
	pods_update(pods, p, how);
	pods_drive(pods, p);
}

/* What is listed again after it was not is made anew, by the same uid. */
static void listed(struct pods *pods, const struct meta_pod *meta, uint64_t at_ns)
{
	struct epod *p = pods_want(pods, meta->uid, at_ns);
	const struct pod_reported reported = reported_of(meta);
	enum epod_update how = EPOD_UPDATE;
	const struct pod_cgroups *pod;
	uint64_t before_ns;

	if (!p)
		return;
	before_ns = p->was_listed ? p->list_ns : pods->list_ns[meta->source];
	truth_reported(pods, p, meta, at_ns);
	p->unconfirmed = false;
	if (p->listed && is_same_report(&p->reported, &reported))
		return;
	output_changed_pod(pods->out, p);
	if (p->life.stage == POD_STAGE_NONE || (!p->listed && p->was_listed))
		how = EPOD_ANEW;
	pod = pods_cgroups(p);
	p->qos = pod				      ? pod->qos
		 : meta->qos <= CGPATH_QOS_BESTEFFORT ? (enum cgpath_qos)meta->qos
						      : CGPATH_QOS_UNKNOWN;
	p->is_static |= meta->known & META_POD_STATIC && meta->is_static;
	p->listed = p->was_listed = true;
	p->reported = reported;
	take(pods, p, how, at_ns, before_ns);
}

static void gone(struct pods *pods, const struct meta_pod *meta, uint64_t at_ns)
{
	struct epod *p = pods_find(pods, meta->uid);
	uint64_t before_ns;

	if (!p || !p->listed)
		return;
	before_ns = p->list_ns;
	p->listed = p->unconfirmed = false;
	output_changed_pod(pods->out, p);
	truth_reported(pods, p, meta, at_ns);
	if (p->life.stage == POD_STAGE_FINISHED) {
		pods_sync(pods, p, true);
		pods_settle(pods);
		return;
	}
	take(pods, p, EPOD_KILL, at_ns, before_ns);
}

/* Whether it is that source's list that says whether the pod is wanted. */
static bool counts(const struct pods *pods, const struct epod *p, const struct meta_pod *meta)
{
	bool is_static = (meta->known & META_POD_STATIC && meta->is_static) || (p && p->is_static);

	return meta->source == meta_lister(pods->names->sources, is_static);
}

void pods_described(struct pods *pods, const struct meta_pod *meta)
{
	uint64_t at_ns = list_ns(pods, meta->asked_ns);
	struct epod *p;

	p = pods_find(pods, meta->uid);
	if (!meta->uid[0] || !counts(pods, p, meta))
		return;
	if (meta->gone)
		gone(pods, meta, at_ns);
	else
		listed(pods, meta, at_ns);
	p = pods_find(pods, meta->uid);
	if (p)
		truth_check(pods, p, at_ns);
}

/* What runs and is not listed. */
static bool is_new_orphan(const struct pods *pods, const struct epod *p)
{
	return !p->was_listed && !p->is_orphan && pods_is_missing(pods, p) &&
	       !pods_is_empty(pods, p);
}

static void look_at_unlisted(struct pods *pods, enum meta_source source)
{
	struct epod *p;

	TAILQ_FOREACH(p, &pods->all, all) {
		if (meta_lister(pods->names->sources, p->is_static) != source)
			continue;
		if (is_new_orphan(pods, p)) {
			p->is_orphan = true;
			output_changed_pod(pods->out, p);
			pods->orphaned++;
		}
		if (!p->listed)
			truth_check(pods, p, pods->list_ns[source]);
	}
}

/* Reports the pods that were listed before the daemon was restarted and are not in this list. */
static void miss(struct pods *pods, enum meta_source source, uint64_t asked_ns)
{
	struct meta_pod meta = {.source = source, .asked_ns = asked_ns, .gone = true};
	struct epod *p, *next;

	/* A list that was asked for before the restart may have lost its first part. */
	if (list_ns(pods, asked_ns) < pods->out->attached_ns)
		return;
	for (p = TAILQ_FIRST(&pods->all); p; p = next) {
		next = TAILQ_NEXT(p, all);
		if (!p->unconfirmed || meta_lister(pods->names->sources, p->is_static) != source)
			continue;
		strcpy(meta.uid, p->uid);
		podtab_take_pod(&pods->names->tab, &meta, pods->out->now_ns);
		pods_described(pods, &meta);
	}
}

/* A pod that was never listed is no orphan here: it is followed to its end all the same. */
static void sync_known(struct pods *pods)
{
	struct epod *p, *next;

	for (p = TAILQ_FIRST(&pods->all); p; p = next) {
		next = TAILQ_NEXT(p, all);
		pods_sync(pods, p, !p->listed && p->was_listed);
	}
}

int pods_on_listed(struct pods *pods, const struct obs *obs)
{
	const enum meta_source source = (enum meta_source)obs->listed.source;

	if (source != META_KUBELET && source != META_API)
		return 0;
	pods->list_ns[source] = list_ns(pods, obs->listed.asked_ns);
	miss(pods, source, obs->listed.asked_ns);
	look_at_unlisted(pods, source);
	sync_known(pods);
	pods_settle(pods);
	return 0;
}
