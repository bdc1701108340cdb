// SPDX-License-Identifier: Apache-2.0
/* UpdatePod: what an update means for a pod, decided in a fixed order (tests/kubelet/README.md,
 * "Pod updates"; docs/kubelet-rules.md, "Effective grace period"). */
#include <errno.h>

#include "kubelet/model/pod_worker_priv.h"

static bool is_terminal(enum meta_phase phase)
{
	return phase == META_PHASE_SUCCEEDED || phase == META_PHASE_FAILED;
}

static struct podworker_kept keep(const struct podworker_update *update)
{
	const struct podworker_pod *pod = update->pod;
	const struct podworker_kill *kill = update->kill;
	struct podworker_kept kept = {.type = update->type, .start_ns = update->start_ns};

	if (pod) {
		kept.has_pod = true;
		kept.mirror = pod->mirror;
		kept.is_static = pod->is_static;
		kept.deletion_grace = pod->deletion_grace;
		kept.spec_grace = pod->spec_grace;
	} else {
		kept.has_running = true;
	}
	if (kill)
		kept.grace = kill->grace;
	return kept;
}

/* A pod that ended before we looked only needs cleaning up. */
static int first_sight(struct podworker *pw, const struct podworker_update *update, uint64_t now_ns,
		       struct podworker_record **ret)
{
	const struct podworker_pod *pod = update->pod;
	const struct podworker_running *run = update->running;
	struct podworker_status *s;
	int r;

	if (pod)
		r = podworker_add(pw, pod->uid, pod->namespace_, pod->name, ret);
	else
		r = podworker_add(pw, run->uid, run->namespace_, run->name, ret);
	if (r < 0)
		return r;
	s = &(*ret)->status;
	s->synced_ns = podworker_stamp(now_ns);
	if (pod && is_terminal(pod->phase) && pod->runtime == PODWORKER_RUNTIME_QUIET) {
		s->terminating_ns = s->terminated_ns = s->synced_ns;
		s->started_terminating = true;
	}
	return 0;
}

/* What is known of the pod itself says more than the runtime does. */
static void prefer_pod(struct podworker_record *rec, struct podworker_kept *kept)
{
	const struct podworker_kept *known = NULL;

	rec->status.observed_runtime = true;
	if (rec->status.has_pending && rec->pending.has_pod)
		known = &rec->pending;
	else if (rec->status.has_active && rec->active.has_pod)
		known = &rec->active;
	if (!known)
		return;
	kept->has_pod = true;
	kept->has_running = false;
	kept->is_static = known->is_static;
	kept->deletion_grace = known->deletion_grace;
	kept->spec_grace = known->spec_grace;
}

/* Whether termination begins. A runtime pod that took the pod of an earlier update is deleted all
 * the same. */
static bool becomes_terminating(struct podworker_status *s, const struct podworker_update *update,
				uint64_t now_ns)
{
	if (s->terminating_ns)
		return false;
	if (!update->pod || update->pod->deleting)
		s->deleted = true;
	else if (!is_terminal(update->pod->phase)) {
		if (update->type != PODWORKER_KILL)
			return false;
		s->evicted = update->kill && update->kill->evict;
	}
	s->terminating_ns = podworker_stamp(now_ns);
	return true;
}

static void report_stopped(const struct podworker *pw, const struct podworker_record *rec,
			   const struct podworker_kill *kill)
{
	struct podworker_effect stopped = {.type = PODWORKER_STOPPED, .uid = rec->uid};

	if (!kill || !kill->waiter)
		return;
	stopped.waiter = kill->waiter;
	podworker_tell(pw, &stopped);
}

static void take_kill(struct podworker *pw, struct podworker_record *rec,
		      const struct podworker_kill *kill)
{
	if (kill && kill->waiter) {
		if (rec->n_waiters < PODWORKER_MAX_WAITERS)
			rec->waiters[rec->n_waiters++] = kill->waiter;
		else
			pw->waiters_refused++;
	}
	if (kill && kill->status_fn)
		rec->status_fn = kill->status_fn;
}

/* For a terminating pod. Whether the grace period got shorter. */
static bool take_grace(struct podworker_record *rec, struct podworker_kept *kept)
{
	bool shortened;

	rec->status.grace_s = podworker_effective_grace(rec->status.grace_s, kept->deletion_grace,
							kept->grace, kept->spec_grace, &shortened);
	kept->grace = (struct pod_seconds){true, rec->status.grace_s};
	return shortened;
}

/* Makes the update the pending one, and a worker where there is none. */
static int hand_over(struct podworker *pw, struct podworker_record *rec,
		     struct podworker_kept *kept, bool cancel)
{
	struct podworker_effect effect = {.type = PODWORKER_CANCEL, .uid = rec->uid};
	struct podworker_status *s = &rec->status;
	int r;

	if (!rec->worker) {
		r = kept->is_static ? podworker_name_wait(pw, rec->fullname, rec->uid) : 0;
		if (r < 0)
			return r;
		rec->worker = true;
	}
	if (s->has_pending && rec->pending.start_ns && rec->pending.start_ns < kept->start_ns)
		kept->start_ns = rec->pending.start_ns;
	rec->pending = *kept;
	s->has_pending = s->working = true;
	podworker_signal(pw, rec);
	if (cancel && rec->context)
		podworker_tell(pw, &effect);
	return 0;
}

/* For a record that takes updates. */
static int take(struct podworker *pw, struct podworker_record *rec,
		const struct podworker_update *update, struct podworker_kept *kept, uint64_t now_ns)
{
	struct podworker_status *s = &rec->status;
	bool became = becomes_terminating(s, update, now_ns), shortened = false;

	if (s->terminating_ns && !s->terminated_ns) {
		take_kill(pw, rec, update->kill);
		shortened = take_grace(rec, kept);
	} else {
		if (s->terminated_ns && !update->pod)
			return 1;
		report_stopped(pw, rec, update->kill);
		kept->grace = (struct pod_seconds){};
	}
	return hand_over(pw, rec, kept, became || shortened);
}

static const char *uid_of(const struct podworker_update *update)
{
	if (update->pod)
		return update->pod->uid;
	return update->running ? update->running->uid : NULL;
}

int podworker_update(struct podworker *pw, const struct podworker_update *update, uint64_t now_ns)
{
	struct podworker_kept kept = keep(update);
	struct podworker_record *rec;
	bool first;
	int r;

	if (!uid_of(update))
		return -EINVAL;
	if (!update->pod && update->type != PODWORKER_KILL)
		return 1;
	rec = podworker_find(pw, uid_of(update));
	first = !rec;
	if (first) {
		r = first_sight(pw, update, now_ns, &rec);
		if (r < 0)
			return r;
	}
	if (!update->pod)
		prefer_pod(rec, &kept);
	if (!first && rec->status.terminating_ns && update->type == PODWORKER_CREATE) {
		rec->status.restart_requested = true;
		return 1;
	}
	if (rec->status.finished)
		return 1;
	r = take(pw, rec, update, &kept, now_ns);
	if (r < 0)
		podworker_remove(pw, rec); /* it has no worker: it was first seen now */
	else
		podworker_tell_stage(pw, rec);
	return r;
}

int64_t podworker_effective_grace(int64_t stored, struct pod_seconds deletion,
				  struct pod_seconds override, struct pod_seconds spec,
				  bool *ret_shortened)
{
	int64_t grace = stored;
	bool applied = false;

	if (deletion.set && (grace == 0 || deletion.s < grace)) {
		grace = deletion.s;
		applied = true;
	}
	/* A deletion's 0 reads as none here: of 0 and an override of 10 come 10. */
	if (override.set && (grace == 0 || override.s < grace)) {
		grace = override.s;
		applied = true;
	}
	if (!applied && grace == 0 && spec.set)
		grace = spec.s;
	if (grace < 1)
		grace = 1;
	*ret_shortened = stored != 0 && stored != grace;
	return grace;
}

int64_t podworker_kill_timeout(struct pod_seconds override, struct pod_seconds spec)
{
	int64_t grace = override.set ? override.s : spec.set ? spec.s : 0, timeout;

	if (__builtin_add_overflow(grace, grace / 2, &timeout))
		return grace > 0 ? INT64_MAX : 10;
	return timeout > 10 ? timeout : 10;
}
