// SPDX-License-Identifier: Apache-2.0
#include "core/engine/given.h"

#include "base/time.h"

struct shutplan_pod given_pod(const struct podtab_pod *meta, bool is_static)
{
	struct shutplan_pod pod = {.is_static = is_static, .mirror = is_static};

	if (meta && meta->known & META_POD_PRIORITY) {
		pod.has_priority = true;
		pod.priority = (int32_t)meta->priority;
	}
	return pod;
}

/* The announcement and the kernel's records come by different ways, and the kubelet is as quick. */
#define ANNOUNCED_WITHIN_NS NS_PER_S

/* What stops it may be the shutdown that is under way. */
static bool may_be_of_shutdown(const struct stop *stop, const struct given *given)
{
	const struct stop_signal *request = &stop->request, *kill = &stop->kill;

	return given->going && request->seen && request->sender.relation == RELATION_MANAGER &&
	       request->at_ns + ANNOUNCED_WITHIN_NS >= given->announced_ns &&
	       !(kill->seen && kill->at_ns < given->announced_ns);
}

/* The shortest period that any group's pods are given. */
static uint64_t least_given_ns(const struct shutplan *plan, struct shutplan_pod pod)
{
	uint64_t least_ns = UINT64_MAX;

	pod.has_priority = true;
	for (size_t i = 0; i < plan->n; i++) {
		struct pod_seconds given;

		pod.priority = plan->groups[i].priority;
		given = shutplan_stop_s(plan, &pod, (struct pod_seconds){});
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
	bool gave = shutdown_gave(given->sequencer, stop->node->id, &ns);

	if (gave)
		stop->given_ns = ns;
	/* Once the container has exited the sequencer knows its request no more. */
	if (stop->given_ns || meta)
		stop->given_unknown = !stop->given_ns;
}

static void note_planned(const struct given *given, const struct podtab_pod *meta,
			 struct stop *stop)
{
	const struct shutplan_pod pod = given_pod(meta, stop->node->pod->is_static);
	const struct pod_seconds seconds =
		shutplan_stop_s(given->plan, &pod, (struct pod_seconds){});

	stop->given_unknown = !(meta->known & META_POD_PRIORITY) &&
			      least_given_ns(given->plan, pod) < longest_own_ns(meta);
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
