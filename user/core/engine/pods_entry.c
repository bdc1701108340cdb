// SPDX-License-Identifier: Apache-2.0
/* What is known of a pod that is followed. */
#include <string.h>

#include "base/time.h"
#include "core/engine/pods_priv.h"

/* An API server's cache may be behind what a kubelet has. */
#define API_LAG_NS (10 * NS_PER_S)

void pods_set_trigger(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	p->trigger = trigger;
	p->trigger_ns = at_ns;
	p->between = false;
}

bool pods_is_empty(const struct pods *pods, const struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
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
	return node->kind == GRACED_WATCH_POD && !node->entered && node->cgroups->entered;
}

bool pods_is_removed(const struct pods *pods, const struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
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
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;
	uint32_t n = 0;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			n += !node->removed && node->stop && stop_is_running(node->stop) &&
			     !pods_is_sandbox(pods, node);
	return n;
}

/* The time that the API has is that at which the grace period is over. */
uint64_t pods_deletion_ns(const struct pods *pods, const struct epod *p)
{
	const struct pod_reported *w = &p->reported;
	int64_t at;

	if (!w->deleting || !(w->known & META_POD_DELETION_GRACE) ||
	    w->deletion_grace_ns > INT64_MAX)
		return 0;
	if (__builtin_sub_overflow(w->deleted_wall_ns, (int64_t)w->deletion_grace_ns, &at) ||
	    __builtin_sub_overflow(at, pods->out->host.wall_offset_ns, &at))
		return 0;
	/* By a clock that is ahead of the node's it is not known when. */
	return at > 0 && (uint64_t)at <= pods->out->now_ns ? (uint64_t)at : 0;
}

static uint64_t given_until(const struct stop *stop)
{
	if (!stop || !stop->request->seen || !(stop->hearing & STOP_IN_SHUTDOWN))
		return 0;
	return stop->given_ns ? stop->request->at_ns + stop->given_ns : EPOD_GIVEN_UNKNOWN;
}

/* What a shutdown requested of it has lapsed in vain: the shutdown was cancelled, and it lives on.
 * Until then this may be a container whose turn has not come. */
static bool outlived_shutdown(const struct pods *pods, const struct epod *p,
			      const struct stop *stop)
{
	return p->life.stage <= POD_STAGE_SYNC && stop && stop_is_running(stop) &&
	       !stop->request->seen && stop->init.start_ns < p->stop_ns &&
	       pods->out->now_ns >= p->stop_ns + stop_lapse_after_ns(stop);
}

/* One that is not known leaves the pod's unknown. */
static uint64_t latest(uint64_t a, uint64_t b)
{
	if (a == EPOD_GIVEN_UNKNOWN || b == EPOD_GIVEN_UNKNOWN)
		return EPOD_GIVEN_UNKNOWN;
	return a > b ? a : b;
}

void pods_note_shutdown(struct pods *pods, struct epod *p)
{
	const struct pod_cgroups *pod = pods_cgroups(p);
	const struct cgnode *node;
	uint64_t until_ns = p->given_until_ns, now_ns = 0;
	bool outlived = false;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod) {
			if (pods_is_sandbox(pods, node))
				continue;
			outlived |= outlived_shutdown(pods, p, node->stop);
			now_ns = latest(now_ns, given_until(node->stop));
		}
	until_ns = outlived && !now_ns ? 0 : latest(until_ns, now_ns);
	if (until_ns == p->given_until_ns)
		return;
	p->given_until_ns = until_ns;
	output_changed_pod(pods->out, p);
}

/* What the kubelet, a controller or the API makes of a pod that the shutdown stopped. */
enum pod_trigger pods_why(struct pods *pods, struct epod *p, enum pod_trigger why)
{
	pods_note_shutdown(pods, p);
	if (!p->given_until_ns || !p->stop_ns)
		return why;
	switch (why) {
	case POD_DELETION:
		return pods_deletion_ns(pods, p) > p->stop_ns ? POD_NODE_SHUTDOWN : why;
	case POD_PHASE:
	case POD_REMOVED:
	case POD_STOP_SIGNAL:
	case POD_CGROUP_REMOVED:
		return POD_NODE_SHUTDOWN;
	default:
		return why;
	}
}

bool pods_is_missing(const struct pods *pods, const struct epod *p)
{
	enum meta_source source = meta_lister(pods->names->sources, p->is_static);
	uint64_t lag_ns = source == META_API ? API_LAG_NS : 0;

	return !p->listed && p->first_ns + lag_ns < pods->list_ns[source];
}
