// SPDX-License-Identifier: Apache-2.0
/* The pod worker's records, taken up where another worker has left them. */
#include <errno.h>

#include "core/pods/worker_priv.h"

/* docs/kubelet-rules.md, "Pod worker invariants", and what follows from the stage. */
static bool can_be(const struct podworker_restored *r)
{
	if (r->stage < POD_STAGE_SYNC || r->stage > POD_STAGE_FINISHED || !r->synced_ns)
		return false;
	if (!r->terminating_ns != (r->stage < POD_STAGE_TERMINATING) ||
	    !r->terminated_ns != (r->stage < POD_STAGE_TERMINATED))
		return false;
	/* A call runs, or ran, for whom the worker has started. */
	if (!r->started_ns && r->stage != POD_STAGE_FINISHED)
		return false;
	return r->stage == POD_STAGE_SYNC ? r->grace_s == 0 : r->grace_s >= 0;
}

static enum podworker_call_kind call_in(enum pod_stage stage)
{
	switch (stage) {
	case POD_STAGE_TERMINATING:
		return PODWORKER_CALL_TERMINATING_POD;
	case POD_STAGE_TERMINATED:
		return PODWORKER_CALL_TERMINATED_POD;
	default:
		return PODWORKER_CALL_NONE;
	}
}

static void take(const struct podworker_restored *r, struct podworker_record *rec)
{
	rec->status = (struct podworker_status){
		.synced_ns = r->synced_ns,
		.started_ns = r->started_ns,
		.terminating_ns = r->terminating_ns,
		.terminated_ns = r->terminated_ns,
		.started_terminating = r->terminating_ns != 0,
		.deleted = r->deleted,
		.finished = r->stage == POD_STAGE_FINISHED,
		.restart_requested = r->restart_requested,
		.observed_runtime = r->observed_runtime,
		.has_active = r->started_ns != 0,
		.grace_s = r->grace_s,
	};
	rec->active = (struct podworker_kept){
		.has_pod = true,
		.deletion_grace = r->deletion_grace,
		.spec_grace = r->spec_grace,
		.grace = {r->grace_s > 0, r->grace_s},
	};
	rec->worker = rec->context = !rec->status.finished;
	rec->call = call_in(r->stage);
	rec->status.working = rec->call != PODWORKER_CALL_NONE;
	rec->told = r->stage;
}

int podworker_restore(struct podworker *pw, const struct podworker_restored *restored)
{
	struct podworker_record *rec;
	int r;

	if (!restored->uid || !can_be(restored))
		return -EINVAL;
	if (podworker_find(pw, restored->uid))
		return -EEXIST;
	r = podworker_add(pw, restored->uid, NULL, NULL, &rec);
	if (r < 0)
		return r;
	take(restored, rec);
	return 0;
}

void podworker_drop(struct podworker *pw, const char *uid)
{
	struct podworker_record *rec = podworker_find(pw, uid);

	if (!rec)
		return;
	rec->told = POD_STAGE_NONE;
	podworker_remove(pw, rec);
}
