// SPDX-License-Identifier: Apache-2.0
/* What sources provide for the stop of a container: its grace period, its stop signals, whether its
 * pod is terminating. */
#include "core/engine/sandbox.h"
#include "core/engine/stops.h"

#include <string.h>

#include "base/time.h"

/* The kubelet's shortest period, which it gives what it evicts, and how late that may end. */
#define EVICTION_FROM_NS  1900000000ULL
#define EVICTION_UNTIL_NS 3000000000ULL

#define SIGTERM_NR  15
#define BIT_OF(sig) (1ULL << ((sig)-1))

/*
 * A source was asked since the kill how it is with the pod, and a node shutdown would have been
 * seen. What is left is a deletion whose period is longer than the spec's, which may have come
 * after the stop signal, and what the kubelet gives the pods it evicts: 2 s.
 */
static bool would_know(const struct stops *stops, const struct stop *stop,
		       const struct podtab_pod *pod, const struct grace *grace)
{
	uint64_t after_ns = stop->kill->at_ns - stop->request->at_ns;

	if (grace->from == GRACE_UNIT)
		return true;
	if (!pod || !stop->kill->seen || !(pod->known & META_POD_DELETING) || pod->gone ||
	    pod->state_ns < stop->kill->at_ns || !stops->given->watched)
		return false;
	if (grace->from == GRACE_DELETION && pod->known & META_POD_GRACE &&
	    pod->deletion_grace_ns > pod->grace_ns)
		return false;
	if (pod->deleting && !(pod->known & META_POD_DELETION_GRACE))
		return false;
	return after_ns < EVICTION_FROM_NS || after_ns > EVICTION_UNTIL_NS;
}

static bool is_by_runtime(const struct stop_signal *signal)
{
	return signal->seen && signal->sender.kind == SENDER_RUNTIME;
}

/* By its spec it would have been killed before, and no source has said since whether it is being
 * deleted, and with what. */
static bool was_deleted_unseen(const struct stops *stops, const struct stop *stop,
			       const struct grace *grace)
{
	const struct podtab_pod *pod = names_pod(stops->names, stop->node);
	uint64_t end_ns = stop->kill->seen ? stop->kill->at_ns : stop->exit_ns;

	return grace->from == GRACE_SPEC && pod && pod->state_ns < stop->request->at_ns &&
	       end_ns > stop->request->at_ns &&
	       grace_is_outlived(grace, end_ns - stop->request->at_ns);
}

/* What came of the stop, where that contradicts its pod's spec or the container's own timeout. */
static struct grace observed(const struct stops *stops, const struct stop *stop,
			     const struct grace *grace)
{
	uint64_t from_ns = stop->request->at_ns;

	if (!stop->request->seen)
		return *grace;
	if (was_deleted_unseen(stops, stop, grace))
		return (struct grace){.from = GRACE_HIDDEN};
	if (is_by_runtime(stop->request) && is_by_runtime(stop->kill))
		return grace_observed(grace, stop->kill->at_ns - from_ns, true);
	if (stop->exit_seen && !stop->kill->seen)
		return grace_observed(grace, stop->exit_ns - from_ns, false);
	return *grace;
}

/* By what a node shutdown gives it. */
static void shorten(const struct given *given, const struct stop *stop, struct grace *grace)
{
	if (given_by_graced(given, stop)) {
		*grace = (struct grace){.from = GRACE_SHUTDOWN, .ns = stop->given_ns};
		return;
	}
	if (grace->from != GRACE_SPEC && grace->from != GRACE_DELETION)
		return;
	if (stop->given_unknown)
		*grace = (struct grace){.from = GRACE_HIDDEN};
	else if (stop->given_ns && stop->given_ns < grace->ns)
		*grace = (struct grace){.from = GRACE_SHUTDOWN, .ns = stop->given_ns};
}

static struct grace grace_now(const struct stops *stops, const struct stop *stop,
			      const struct podtab_pod *pod)
{
	const struct podtab_container *own = names_container(stops->names, stop->node);
	struct grace grace;

	/* The runtime kills a sandbox without asking it first, or gives it a time of its own. */
	if (stop->node && stop->node->stop == stop &&
	    sandbox_of(stops->names, stop->node) != SANDBOX_NOT)
		return (struct grace){};
	grace = grace_of(pod, own, names_spec(stops->names, stop->node, own),
			 stops->assumed_grace_ns);
	shorten(stops->given, stop, &grace);
	grace.sure = would_know(stops, stop, pod, &grace);
	return observed(stops, stop, &grace);
}

void stops_take_grace(struct stops *stops, struct stop *stop)
{
	const struct podtab_pod *pod = names_pod(stops->names, stop->node);

	if (given_note(stops->given, pod, stop))
		output_changed(stops->out, stop->node);
	stop->grace = grace_now(stops, stop, pod);
}

/* Its request lapses by the period that is in force. */
static void renew_grace(struct stops *stops, struct stop *stop)
{
	if (stop->state != STOP_REQUESTED && stop->state != STOP_KILLED)
		return;
	stops_take_grace(stops, stop);
	if (stop->state == STOP_REQUESTED && !stop->probed)
		stops_watch(stops, stop);
}

void stops_renew_all(struct stops *stops)
{
	struct cgnode *node;
	size_t pos = 0;

	while ((node = map_next(&stops->map->nodes, &pos)))
		if (node->stop)
			renew_grace(stops, node->stop);
}

void stops_renew_pod(struct stops *stops, const char *uid)
{
	struct pod_cgroups *pod = cgmap_pod(stops->map, uid);
	struct cgnode *node;

	if (pod)
		LIST_FOREACH(node, &pod->nodes, in_pod)
			if (node->stop)
				renew_grace(stops, node->stop);
}

bool stops_lacks_grace(const struct stops *stops, const struct stop *stop)
{
	const struct podtab_pod *pod = names_pod(stops->names, stop->node);

	return pod && stop->exit_seen && stop->kill->seen && pod->state_ns < stop->kill->at_ns &&
	       stop_gaps(stop) >> GAP_GRACE_UNCERTAIN & 1;
}

uint64_t stops_signal_set(const struct stops *stops, const struct cgnode *node,
			  enum sender_kind from)
{
	uint32_t own = names_stop_signal(stops->names, node);

	if (!own)
		return STOPS_SIGNAL_SET;
	return BIT_OF(own) | (from == SENDER_SYSTEMD ? BIT_OF(SIGTERM_NR) : 0);
}

uint64_t stops_pod_since(const struct stop *stop)
{
	return stop->request->seen ? stop->request->at_ns : stop->exit_ns;
}

/* A pod that is not being deleted may be the next moment: what a source said before that counts
 * only if it says that the pod is being deleted.
 */
enum record_tri stops_pod_terminating(const struct stops *stops, const struct stop *stop)
{
	const struct podtab_pod *meta = names_pod(stops->names, stop->node);
	uint64_t since = stops_pod_since(stop);

	if (!meta || !(meta->known & META_POD_DELETING))
		return TRI_UNKNOWN;
	if (meta->deleting || meta->gone)
		return TRI_TRUE;
	return since && meta->state_ns >= since ? TRI_FALSE : TRI_UNKNOWN;
}

/* --- what a node's shutdown gives ----------------------------------------------------------------
 */

size_t given_group(const struct shutplan *plan, const struct podtab_pod *meta, bool is_static)
{
	return shutplan_group_of(plan, meta ? (int32_t)meta->priority : 0, is_static);
}

/* The announcement and the kernel's records come by different ways, and the kubelet is as quick. */
#define ANNOUNCED_WITHIN_NS NS_PER_S

/* What stops it may be the shutdown that is under way. */
static bool may_be_of_shutdown(const struct stop *stop, const struct given *given)
{
	const struct stop_signal *request = stop->request, *kill = stop->kill;

	return given->going && request->seen && request->sender.relation == RELATION_MANAGER &&
	       request->at_ns + ANNOUNCED_WITHIN_NS >= given->announced_ns &&
	       !(kill->seen && kill->at_ns < given->announced_ns);
}

static const struct seconds unset;

/* The shortest period that any group's pods are given. */
static uint64_t least_given_ns(const struct shutplan *plan, bool is_static)
{
	uint64_t least_ns = UINT64_MAX;

	for (size_t i = 0; i < plan->n; i++) {
		size_t group = shutplan_group_of(plan, plan->groups[i].priority, is_static);
		struct seconds given = shutplan_stop_s(plan, group, unset, unset);

		if (given.set && given.s >= 0 && (uint64_t)given.s * NS_PER_S < least_ns)
			least_ns = (uint64_t)given.s * NS_PER_S;
	}
	return least_ns;
}

/* Its own period, by its spec or by its deletion. */
static uint64_t longest_own_ns(const struct podtab_pod *meta)
{
	uint64_t spec_ns = meta->known & META_POD_GRACE ? meta->grace_ns : 0;
	uint64_t deletion_ns = meta->known & META_POD_DELETION_GRACE ? meta->deletion_grace_ns : 0;

	return spec_ns > deletion_ns ? spec_ns : deletion_ns;
}

/* What graced asked to stop has what graced gave it; of pods, what others ask to stop may have
 * less than its own. */
static void note_managed(const struct given *given, const struct podtab_pod *meta,
			 struct stop *stop)
{
	uint64_t ns = 0;
	bool gave = shutdown_gave(given->sequencer, stop->node, &ns);

	if (gave)
		stop->given_ns = ns;
	/* Once the container has exited the sequencer knows its request no more. */
	if (stop->given_ns || meta)
		stop->given_unknown = !stop->given_ns;
}

static void note_planned(const struct given *given, const struct podtab_pod *meta,
			 struct stop *stop)
{
	const bool is_static = stop->node->cgroups->is_static;
	const struct seconds seconds = shutplan_stop_s(
		given->plan, given_group(given->plan, meta, is_static), unset, unset);

	stop->given_unknown = !(meta->known & META_POD_PRIORITY) &&
			      least_given_ns(given->plan, is_static) < longest_own_ns(meta);
	if (!stop->given_unknown && seconds.set && seconds.s >= 0 &&
	    (!stop->given_ns || (uint64_t)seconds.s * NS_PER_S < stop->given_ns))
		stop->given_ns = (uint64_t)seconds.s * NS_PER_S;
}

bool given_note(const struct given *given, const struct podtab_pod *meta, struct stop *stop)
{
	const uint64_t before_ns = stop->given_ns;
	const bool before = stop->given_unknown;
	const uint32_t hearing = stop->hearing;

	if (!stop->node || !may_be_of_shutdown(stop, given))
		return false;
	if (given->managed)
		note_managed(given, meta, stop);
	else if (given->plan && given->plan->n && meta)
		note_planned(given, meta, stop);
	if (given->managed ? stop->given_ns : given->plan && given->plan->n)
		stop->hearing |= STOP_IN_SHUTDOWN;
	return stop->given_ns != before_ns || stop->given_unknown != before ||
	       stop->hearing != hearing;
}
