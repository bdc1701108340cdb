// SPDX-License-Identifier: Apache-2.0
/* The worker's loop: which call an update leads to, and what its end leads to
 * (tests/kubelet/README.md, "Sync calls" and "Requeue delays"). */
#include <errno.h>
#include <string.h>

#include "kubelet/model/pod_worker_priv.h"

#define TRANSIENT_NS	  1000000000ULL
#define RUNTIME_GRACE	  1 /* of a pod that only the runtime knows */
#define NETWORK_NOT_READY "network is not ready"

/* A runtime pod has been replaced by the pod where one is known. The type is not kept:
 * what is replayed is a sync, and nobody has waited for it. */
static void merge(struct podworker_record *rec, const struct podworker_kept *update)
{
	struct pod_seconds grace = rec->active.grace;

	rec->active = *update;
	rec->active.type = PODWORKER_SYNC;
	rec->active.start_ns = 0;
	if (!update->grace.set)
		rec->active.grace = grace;
	rec->status.has_active = true;
}

/* The kubelet's acknowledgement of the termination comes with the call. */
static void make_call(struct podworker_record *rec, const struct podworker_kept *update,
		      struct podworker_call *ret)
{
	struct podworker_call call = {
		.kind = PODWORKER_CALL_SYNC_POD,
		.type = update->type,
		.is_static = update->is_static,
		.mirror = update->mirror,
		.newer_than_ns = rec->last_call_ns,
		.start_ns = update->start_ns,
	};

	memcpy(call.uid, rec->uid, sizeof(call.uid));
	if (rec->status.terminated_ns) {
		call.kind = PODWORKER_CALL_TERMINATED_POD;
	} else if (rec->status.terminating_ns) {
		rec->status.started_terminating = true;
		call.kind = PODWORKER_CALL_TERMINATING_POD;
		call.grace = update->grace;
		call.status_fn = rec->status_fn;
	}
	if (update->has_running) {
		call.kind = PODWORKER_CALL_TERMINATING_RUNTIME_POD;
		call.grace = (struct pod_seconds){true, RUNTIME_GRACE};
		call.newer_than_ns = call.status_fn = 0;
	}
	rec->call = call.kind;
	*ret = call;
}

static void requeue(const struct podworker *pw, const struct podworker_record *rec, uint64_t now_ns,
		    uint64_t delay_ns)
{
	struct podworker_effect effect = {.type = PODWORKER_REQUEUE, .uid = rec->uid};

	if (__builtin_add_overflow(now_ns, delay_ns, &effect.at_ns))
		effect.at_ns = UINT64_MAX;
	podworker_tell(pw, &effect);
}

uint64_t podworker_jittered(uint64_t delay_ns, uint32_t jitter)
{
	uint64_t more;

	if (jitter > PODWORKER_JITTER_MAX)
		jitter = PODWORKER_JITTER_MAX;
	/* In this order it cannot overflow, and loses less than a microsecond. */
	more = delay_ns / 1000 * jitter;
	return __builtin_add_overflow(delay_ns, more, &more) ? UINT64_MAX : more;
}

/* Whether a pod that has not started may do so now. */
static bool start_pod(struct podworker *pw, struct podworker_record *rec,
		      const struct podworker_kept *update, uint64_t now_ns, uint32_t jitter)
{
	switch (podworker_may_start(pw, rec->uid, update->is_static)) {
	case PODWORKER_MAY_START:
		rec->status.started_ns = podworker_stamp(now_ns);
		return true;
	case PODWORKER_NOT_YET:
		rec->status.has_pending = true;
		rec->status.working = false;
		requeue(pw, rec, now_ns, podworker_jittered(pw->config.backoff_ns, jitter));
		return false;
	default:
		rec->status.terminated_ns = podworker_stamp(now_ns);
		podworker_finish(pw, rec);
		podworker_tell_stage(pw, rec);
		return false;
	}
}

const char *podworker_ready(const struct podworker *pw)
{
	const struct podworker_record *rec = TAILQ_FIRST(&pw->ready);

	return rec ? rec->uid : NULL;
}

int podworker_start(struct podworker *pw, const char *uid, uint64_t now_ns, uint32_t jitter,
		    struct podworker_call *ret)
{
	struct podworker_record *rec = podworker_find(pw, uid);
	struct podworker_kept update;

	if (!rec || !rec->signalled || rec->call)
		return -ENOENT;
	TAILQ_REMOVE(&pw->ready, rec, ready);
	rec->signalled = false;
	update = rec->pending;
	rec->status.has_pending = false;
	rec->context = true;
	/* What only the runtime knows is terminating, and needs no start. */
	if (!rec->status.started_ns && !update.has_running &&
	    !start_pod(pw, rec, &update, now_ns, jitter))
		return 0;
	merge(rec, &update);
	make_call(rec, &update, ret);
	return 1;
}

/* The earliest of the back-offs, or -1 where there is none. */
static int64_t earliest_ns(const struct podworker_outcome *outcome, uint64_t now_ns)
{
	int64_t now = now_ns < INT64_MAX ? (int64_t)now_ns : INT64_MAX, earliest = -1, left;

	for (size_t i = 0; i < outcome->n_errors; i++) {
		if (!outcome->errors[i].backs_off)
			continue;
		if (__builtin_sub_overflow(outcome->errors[i].until_ns, now, &left) || left < 0)
			left = 0;
		if (earliest < 0 || left < earliest)
			earliest = left;
	}
	return earliest;
}

static bool is_network_error(const struct podworker_outcome *outcome)
{
	for (size_t i = 0; i < outcome->n_errors; i++)
		if (outcome->errors[i].text && strstr(outcome->errors[i].text, NETWORK_NOT_READY))
			return true;
	return false;
}

uint64_t podworker_requeue_ns(const struct podworker_config *config, bool moved,
			      const struct podworker_outcome *outcome, uint64_t now_ns)
{
	uint64_t delay = config->backoff_ns;
	int64_t backoff;

	if (moved)
		return 0;
	if (outcome->result == PODWORKER_OK || outcome->result == PODWORKER_TERMINAL) {
		delay = config->resync_ns;
	} else if (is_network_error(outcome)) {
		delay = TRANSIENT_NS;
	} else {
		backoff = earliest_ns(outcome, now_ns);
		if (backoff >= 0)
			delay = (uint64_t)backoff < config->resync_ns ? (uint64_t)backoff
								      : config->resync_ns;
	}
	return podworker_jittered(delay, outcome->jitter);
}

static void complete_sync(struct podworker *pw, struct podworker_record *rec, uint64_t now_ns)
{
	if (!rec->status.terminating_ns)
		rec->status.terminating_ns = podworker_stamp(now_ns);
	rec->status.started_terminating = true;
	podworker_replay(pw, rec);
}

static void complete_terminating(struct podworker *pw, struct podworker_record *rec,
				 uint64_t now_ns)
{
	struct podworker_effect stopped = {.type = PODWORKER_STOPPED, .uid = rec->uid};

	rec->status.terminated_ns = podworker_stamp(now_ns);
	for (size_t i = 0; i < rec->n_waiters; i++) {
		stopped.waiter = rec->waiters[i];
		podworker_tell(pw, &stopped);
	}
	rec->n_waiters = 0;
	rec->status_fn = 0;
	podworker_replay(pw, rec);
}

void podworker_complete_work(struct podworker *pw, struct podworker_record *rec)
{
	if (rec->status.has_pending)
		podworker_signal(pw, rec);
	else
		rec->status.working = false;
}

/* What follows a call that ended well. *ret_moved: it leads to a call of another kind. False: there
 * is no more work. */
static bool move_on(struct podworker *pw, struct podworker_record *rec,
		    enum podworker_call_kind kind, bool terminal, uint64_t now_ns, bool *ret_moved)
{
	switch (kind) {
	case PODWORKER_CALL_TERMINATED_POD:
		podworker_finish(pw, rec);
		podworker_tell_stage(pw, rec);
		return false;
	case PODWORKER_CALL_TERMINATING_RUNTIME_POD:
		podworker_remove(pw, rec);
		return false;
	case PODWORKER_CALL_TERMINATING_POD:
		complete_terminating(pw, rec, now_ns);
		*ret_moved = true;
		return true;
	default:
		if (terminal)
			complete_sync(pw, rec, now_ns);
		*ret_moved = terminal;
		return true;
	}
}

int podworker_done(struct podworker *pw, const char *uid, const struct podworker_outcome *outcome,
		   uint64_t now_ns)
{
	struct podworker_record *rec = podworker_find(pw, uid);
	enum podworker_call_kind kind;
	bool moved = false;

	if (!rec || !rec->call) {
		pw->unexpected++;
		return -ENOENT;
	}
	kind = rec->call;
	rec->call = PODWORKER_CALL_NONE;
	/* What was signalled meanwhile could not be ready before. */
	if (rec->signalled)
		TAILQ_INSERT_TAIL(&pw->ready, rec, ready);
	if (outcome->result != PODWORKER_NO_STATUS)
		rec->last_call_ns = now_ns;
	if ((outcome->result == PODWORKER_OK || outcome->result == PODWORKER_TERMINAL) &&
	    !move_on(pw, rec, kind, outcome->result == PODWORKER_TERMINAL, now_ns, &moved))
		return 0;
	podworker_tell_stage(pw, rec);
	requeue(pw, rec, now_ns, podworker_requeue_ns(&pw->config, moved, outcome, now_ns));
	podworker_complete_work(pw, rec);
	return 0;
}
