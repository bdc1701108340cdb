// SPDX-License-Identifier: Apache-2.0
/* The words of graced-records(5) for what a record holds. */
#include "core/stop/record.h"

#include "core/stop/sender.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const struct record_member *record_find_member(const struct record_stop *stop, uint32_t pid)
{
	for (size_t i = 0; i < stop->n_processes; i++)
		if (pid && stop->processes[i].process.pid == pid)
			return stop->processes + i;
	return NULL;
}

const struct record_member *record_first_cut(const struct record_stop *stop)
{
	for (size_t i = 1; i < stop->n_processes; i++)
		if (stop->processes[i].cut)
			return stop->processes + i;
	return NULL;
}

bool record_heard(const struct record_member *m)
{
	return m->asked.number && m->asked.result != RESULT_IGNORED;
}

bool record_is_late(const struct record_stop *stop, const struct record_member *m)
{
	return stop->stop_signal.known && m->process.start_ns > stop->stop_signal.at_ns;
}

const struct record_request *record_beside(const struct record_stop *stop)
{
	const struct record_request *ret = NULL;

	for (size_t i = 0; !stop->stop_signal.known && i < RECORD_REQUESTS; i++) {
		const struct record_request *r = stop->requests + i;

		if (!r->number || r->result == RESULT_IGNORED || r->dropped_ns ||
		    r->at_ns > stop->exit.at_ns)
			continue;
		if (!ret || r->taken_ns >= ret->taken_ns)
			ret = r;
	}
	return ret;
}

/* The signal to the child whose end init passed on, if that is not what became of init's own. */
static const struct record_asked *ended_child(const struct record_stop *stop)
{
	const struct record_member *via = record_find_member(stop, stop->via.process.pid);
	const struct record_asked *fatal = via ? &via->fatal : NULL;

	if (!fatal || !fatal->process.pid || fatal->sender == SENDER_KERNEL ||
	    (stop->kill_signal.known && stop->kill_signal.number == fatal->number))
		return NULL;
	return stop->stop_signal.known && stop->cause == CAUSE_STOP_SIGNAL ? NULL : fatal;
}

bool record_ender(const struct record_stop *stop, struct record_sender *ret)
{
	const struct record_asked *child = ended_child(stop);

	if (child)
		*ret = (struct record_sender){.kind = child->sender, .process = child->process};
	else if (stop->kill_signal.known &&
		 (stop->outcome == OUTCOME_KILLED || stop->cause == CAUSE_OOM_USERSPACE ||
		  !stop->stop_signal.known))
		*ret = record_killer(stop)->sender;
	else if (stop->stop_signal.known)
		*ret = stop->stop_signal.sender;
	else
		return false;
	return true;
}

const char *record_namespace(const struct record_pod *pod, const struct record_container *container)
{
	if (pod->known)
		return pod->namespace_;
	return container->known ? container->namespace_ : NULL;
}

const char *record_workload(const struct record_pod *pod, const struct record_container *container)
{
	if (pod->known)
		return pod->workload;
	return container->known ? container->workload : NULL;
}

const char *record_workload_kind(const struct record_pod *pod,
				 const struct record_container *container)
{
	if (pod->known)
		return pod->workload_kind;
	return container->known ? container->workload_kind : NULL;
}

const char *record_group_kind(enum meta_source source)
{
	if (source == META_DOCKER)
		return "compose";
	return source == META_PODMAN ? "quadlet" : NULL;
}

const char *record_before_exec(const struct record_stop *stop, uint64_t *ret_after_ns)
{
	uint64_t at_ns = stop->stop_signal.at_ns, start_ns = stop->process.start_ns;

	if (stop->reason != UNHEARD_BEFORE_EXEC || !start_ns || at_ns < start_ns)
		return NULL;
	for (size_t i = 0; i < RECORD_REQUESTS; i++) {
		const struct record_request *r = &stop->requests[i];

		if (!r->number || r->number != stop->stop_signal.number || r->at_ns != at_ns ||
		    !r->target_comm || !*r->target_comm)
			continue;
		*ret_after_ns = at_ns - start_ns;
		return r->target_comm;
	}
	return NULL;
}

enum record_container_kind record_container_kind_of(const struct cgpath *path, const char *name)
{
	if (path->kind == CGPATH_SANDBOX)
		return CONTAINER_KIND_SANDBOX;
	if (name || path->kind == CGPATH_CONTAINER_OUTSIDE)
		return CONTAINER_KIND_CONTAINER;
	return CONTAINER_KIND_UNKNOWN;
}

bool record_is_unmanaged(const struct record_stop *stop)
{
	const struct record_sender *sender = &stop->stop_signal.sender;
	const char *comm = sender->process.comm;

	return stop->stop_signal.known && !grace_known(&stop->grace) &&
	       (sender->kind == SENDER_HOST || sender->kind == SENDER_POD ||
		sender->kind == SENDER_CONTAINER) &&
	       !(comm && sender_may_manage(comm));
}

bool record_may_be_terminal(const struct record_stop *stop)
{
	const uint32_t of_terminal = 1u << 1 | 1u << 2 | 1u << 3; /* HUP, INT, QUIT */
	uint32_t sig = record_died_of(&stop->exit);

	return stop->outcome == OUTCOME_TERMINATED && stop->cause == CAUSE_HOST &&
	       !stop->via.process.pid && sig < 32 && of_terminal >> sig & 1;
}

unsigned int record_badness(const struct record_stop *stop)
{
	static const unsigned int of[OUTCOME_COUNT] = {
		[OUTCOME_OOM_KILLED] = RECORD_BADNESS_MAX,
		[OUTCOME_CRASHED] = 5,
		[OUTCOME_KILLED] = 4,
		[OUTCOME_FAILED] = 3,
		[OUTCOME_UNKNOWN] = 2,
	};

	if (stop->cause == CAUSE_SUPERVISOR && stop->outcome == OUTCOME_TERMINATED)
		return of[OUTCOME_FAILED];
	return stop->outcome < OUTCOME_COUNT && of[stop->outcome] ? of[stop->outcome]
								  : stop->cut > 0;
}

const char *record_last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint64_t sum_lost(const struct record_lost *lost, size_t from, size_t end, uint64_t sum)
{
	for (size_t i = from; i < end; i++)
		if (__builtin_add_overflow(sum, lost->totals[i].lost, &sum))
			return UINT64_MAX;
	return sum;
}

uint64_t record_events_lost(const struct record_lost *lost)
{
	return sum_lost(lost, 0, GRACED_EV_COUNT, lost->recursion_misses);
}

uint64_t record_cgroups_unwatched(const struct record_lost *lost)
{
	return sum_lost(lost, GRACED_STAT_WATCH_FULL, GRACED_STAT_COUNT, 0);
}
