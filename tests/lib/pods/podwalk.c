// SPDX-License-Identifier: Apache-2.0
/* Steps of a walk; what must hold is in podwalk_rules.c. */
#include "lib/pods/podwalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pods/podwalk_priv.h"

#define SECOND 1000000000ULL

static const char *const uids[PODWALK_PODS] = {"u0", "u1", "u2", "u3", "u4",
					       "u5", "u6", "u7", "u8", "u9"};
static const char *const names[] = {"a", "b", "c"};

const char *podwalk_uid(size_t i)
{
	return uids[i];
}

static uint64_t roll(struct podwalk *w, uint64_t sides)
{
	return w->roll(w->userdata) % sides;
}

static int index_of(const char *uid)
{
	for (int i = 0; i < PODWALK_PODS; i++)
		if (strcmp(uids[i], uid) == 0)
			return i;
	return -1;
}

static void stop_told(struct podwalk *w, uint64_t waiter)
{
	uint8_t *told = &w->waiters[waiter % PODWALK_WAITERS];

	w->seen.stopped++;
	if (waiter == 0 || waiter > w->last_waiter)
		w->broken = "nobody is told who did not ask";
	if (waiter + PODWALK_WAITERS > w->last_waiter && (*told)++ > 0)
		w->broken = "a waiter is told once, or never";
}

static void moved(struct podwalk *w, struct podwalk_pod *pod, enum pod_stage stage)
{
	if (stage <= pod->stage)
		w->broken = "a pod's life goes one way";
	w->seen.finished += stage == POD_STAGE_FINISHED;
	w->seen.forgotten += stage == POD_STAGE_FORGOTTEN;
	if (stage == POD_STAGE_FORGOTTEN)
		*pod = (struct podwalk_pod){};
	else
		pod->stage = stage;
}

static void told(void *userdata, const struct podworker_effect *effect)
{
	struct podwalk *w = userdata;
	int i = index_of(effect->uid);

	if (i < 0) {
		w->broken = "effects are about pods that there are";
		return;
	}
	switch (effect->type) {
	case PODWORKER_STOPPED:
		stop_told(w, effect->waiter);
		break;
	case PODWORKER_CANCEL:
		w->seen.cancelled++;
		break;
	case PODWORKER_MOVED:
		moved(w, &w->pods[i], effect->stage);
		break;
	case PODWORKER_REQUEUE:
		if (effect->at_ns < w->now)
			w->broken = "what is due is not past";
	}
}

static int begin(struct podwalk *w)
{
	const struct podworker_config config = {.effect = told, .userdata = w};

	memset(w->pods, 0, sizeof(w->pods));
	return podworker_new(&config, &w->pw);
}

struct podwalk *podwalk_new(podwalk_roll_fn roll_fn, void *userdata)
{
	struct podwalk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->roll = roll_fn;
	w->userdata = userdata;
	w->now = SECOND;
	if (begin(w) < 0) {
		free(w);
		return NULL;
	}
	return w;
}

struct podwalk *podwalk_free(struct podwalk *w)
{
	if (w)
		podworker_free(w->pw);
	free(w);
	return NULL;
}

const struct podwalk_seen *podwalk_seen(const struct podwalk *w)
{
	return &w->seen;
}

static struct pod_seconds some_grace(struct podwalk *w)
{
	static const int64_t some[] = {0, 1, 2, 5, 30, 30, 60, -7, INT64_MAX, INT64_MIN};
	uint64_t r = roll(w, 2 * sizeof(some) / sizeof(some[0]));

	if (r >= sizeof(some) / sizeof(some[0]))
		return (struct pod_seconds){};
	return (struct pod_seconds){true, some[r]};
}

/* Whether a pod is static, and what it is called, never changes. */
static struct podworker_pod some_pod(struct podwalk *w, size_t i)
{
	uint64_t r = roll(w, 64);
	struct podworker_pod pod = {
		.uid = uids[i],
		.namespace_ = "ns",
		.name = names[i % (sizeof(names) / sizeof(names[0]))],
		.is_static = i % 2,
		.deleting = r % 8 == 0,
		.mirror = r % 2,
		.ended_here = r % 16 == 3,
		.runtime = (enum podworker_runtime)(r % 3),
		.spec_grace = some_grace(w),
	};

	if (pod.deleting)
		pod.deletion_grace = some_grace(w);
	if (r >= 56)
		pod.phase = r % 2 ? META_PHASE_FAILED : META_PHASE_SUCCEEDED;
	return pod;
}

static struct podworker_kill some_kill(struct podwalk *w)
{
	struct podworker_kill kill = {
		.evict = roll(w, 3) == 0, .grace = some_grace(w), .status_fn = roll(w, 4)};

	if (roll(w, 2)) {
		kill.waiter = ++w->last_waiter;
		w->waiters[kill.waiter % PODWALK_WAITERS] = 0;
	}
	return kill;
}

/* What an update may do to the grace period. */
static const char *check_grace(struct podwalk *w, const struct podworker_record *rec,
			       const struct podworker_status *before,
			       const struct podworker_update *update)
{
	const struct podworker_status *s = &rec->status;
	const struct pod_seconds *deletion = &rec->pending.deletion_grace;

	w->seen.shortened += before->grace_s > s->grace_s;
	if (!before->terminating_ns && s->terminating_ns && !s->terminated_ns && s->grace_s < 1)
		return "what is told to end has a grace period";
	if (before->grace_s > 0 && s->grace_s < 1)
		return "a grace period stays one";
	/* A deletion's 0 counts as unset, and lets an override of the same update raise it. */
	if (before->grace_s > 0 && s->grace_s > before->grace_s &&
	    !(update->kill && update->kill->grace.set && deletion->set && deletion->s == 0))
		return "a grace period does not grow";
	return NULL;
}

static const char *step_update(struct podwalk *w)
{
	size_t i = roll(w, PODWALK_PODS);
	struct podworker_pod pod = some_pod(w, i);
	struct podworker_running running = {uids[i], "ns", pod.name};
	struct podworker_kill kill = some_kill(w);
	struct podworker_update update = {.type = (enum podworker_type)roll(w, 4),
					  .start_ns = roll(w, 2) ? w->now : 0};
	const struct podworker_record *rec = podworker_find(w->pw, uids[i]);
	struct podworker_status before = {};

	if (rec)
		before = rec->status;
	if (roll(w, 5))
		update.pod = &pod;
	if (!update.pod || roll(w, 8) == 0)
		update.running = &running;
	if (roll(w, 3) == 0)
		update.kill = &kill;
	if (podworker_update(w->pw, &update, w->now) < 0)
		return "there is room for what there is";
	rec = podworker_find(w->pw, uids[i]);
	if (!rec)
		return update.pod || before.synced_ns ? "an update makes a record" : NULL;
	return check_grace(w, rec, &before, &update);
}

static const char *begin_call(struct podwalk *w, const struct podworker_call *call)
{
	int i = index_of(call->uid);
	struct podwalk_pod *pod = &w->pods[i];

	w->seen.calls[call->kind]++;
	if (pod->call)
		return "a pod has one call at a time";
	if (call->kind == PODWORKER_CALL_SYNC_POD && pod->acknowledged)
		return "what has begun to terminate is not synced";
	if (call->kind != PODWORKER_CALL_TERMINATED_POD && pod->stage >= POD_STAGE_TERMINATED)
		return "what is terminated does not run again";
	if (call->kind == PODWORKER_CALL_TERMINATING_POD && call->grace.set && call->grace.s < 1)
		return "a call has no grace period below 1";
	pod->call = call->kind;
	pod->acknowledged |= call->kind != PODWORKER_CALL_SYNC_POD;
	return NULL;
}

static const char *start(struct podwalk *w, const char *uid)
{
	struct podworker_call call;
	int i = index_of(uid), r;

	r = podworker_start(w->pw, uid, w->now, (uint32_t)roll(w, 600), &call);
	if (r < 0)
		return "what is ready starts";
	if (r > 0 && index_of(call.uid) != i)
		return "the pod that starts is the one that was ready";
	w->seen.waited += r == 0;
	return r > 0 ? begin_call(w, &call) : NULL;
}

static const char *step_start(struct podwalk *w)
{
	const char *uid = roll(w, 4) ? podworker_ready(w->pw) : uids[roll(w, PODWALK_PODS)];
	const struct podworker_record *rec = uid ? podworker_find(w->pw, uid) : NULL;
	struct podworker_call call;

	if (uid && (!rec || !rec->signalled || rec->call))
		return podworker_start(w->pw, uid, w->now, 0, &call) == -ENOENT
			       ? NULL
			       : "what is not ready does not start";
	return uid ? start(w, uid) : NULL;
}

static const char *done(struct podwalk *w, size_t i, const struct podworker_outcome *outcome)
{
	enum podworker_call_kind kind = w->pods[i].call;
	bool well = outcome->result == PODWORKER_OK || outcome->result == PODWORKER_TERMINAL;
	int r;

	w->pods[i].call = PODWORKER_CALL_NONE;
	/* The pod's own end is one that was begun. */
	w->pods[i].acknowledged |=
		kind == PODWORKER_CALL_SYNC_POD && outcome->result == PODWORKER_TERMINAL;
	r = podworker_done(w->pw, uids[i], outcome, w->now);
	if (r != (kind ? 0 : -ENOENT))
		return "a call ends once";
	if (well && kind == PODWORKER_CALL_TERMINATING_RUNTIME_POD &&
	    podworker_status(w->pw, uids[i]))
		return "what only the runtime knew is forgotten with it";
	return NULL;
}

static const char *step_done(struct podwalk *w)
{
	static const char *const texts[] = {"x", "network is not ready: y", "", NULL};
	const struct podworker_error errors[2] = {
		{texts[roll(w, 4)], roll(w, 2), (int64_t)roll(w, UINT64_MAX)},
		{texts[roll(w, 4)], roll(w, 2), (int64_t)w->now + (int64_t)roll(w, 50)},
	};
	struct podworker_outcome outcome = {
		.result = (enum podworker_result)roll(w, 5),
		.errors = errors,
		.n_errors = roll(w, 3),
		.jitter = (uint32_t)roll(w, 1000),
	};

	return done(w, roll(w, PODWALK_PODS), &outcome);
}

static const char *step_sync_known(struct podwalk *w)
{
	const char *wanted[PODWALK_PODS];
	uint64_t which = roll(w, 1 << PODWALK_PODS) | roll(w, 1 << PODWALK_PODS);
	size_t n = 0;

	for (size_t i = 0; i < PODWALK_PODS; i++)
		if (which >> i & 1)
			wanted[n++] = uids[i];
	podworker_sync_known(w->pw, wanted, n, w->now, NULL, NULL);
	return NULL;
}

static const char *step_housekeep(struct podwalk *w)
{
	struct podworker_pod config[PODWALK_PODS];
	struct podworker_running running[PODWALK_PODS];
	size_t n = 0, m = 0;
	struct podworker_house house;

	for (size_t i = 0; i < PODWALK_PODS; i++) {
		uint64_t r = roll(w, 8);

		if (r % 4 > 0)
			config[n++] = some_pod(w, i);
		if (r / 4 > 0)
			running[m++] = (struct podworker_running){uids[i], "ns", names[i % 3]};
	}
	if (podworker_housekeep(w->pw, config, n, running, m, w->now, &house) < 0)
		return "there is room for what there is";
	if (house.desired[0] + house.desired[1] != n)
		return "what is desired is counted";
	return house.active[0] > house.desired[0] || house.orphaned > m ? "parts are no more"
									: NULL;
}

static const char *step_clock(struct podwalk *w)
{
	switch (roll(w, 8)) {
	case 0:
		w->now = 0;
		break;
	case 1:
		w->now = UINT64_MAX;
		break;
	case 2:
		w->now -= roll(w, 100 * SECOND);
		break;
	default:
		w->now = w->now % (1000000 * SECOND) + roll(w, 20 * SECOND);
	}
	return NULL;
}

/* Nothing survives it (docs/kubelet-rules.md, "Kubelet restart"). */
static const char *step_restart(struct podwalk *w)
{
	w->seen.restarts++;
	podworker_free(w->pw);
	w->pw = NULL;
	return begin(w) < 0 ? "there is memory" : NULL;
}

const char *podwalk_step(struct podwalk *w)
{
	uint64_t r = roll(w, 256);
	const char *broken;

	if (r < 90)
		broken = step_update(w);
	else if (r < 160)
		broken = step_start(w);
	else if (r < 230)
		broken = step_done(w);
	else if (r < 238)
		broken = step_sync_known(w);
	else if (r < 244)
		broken = step_housekeep(w);
	else if (r < 255)
		broken = step_clock(w);
	else
		broken = step_restart(w);
	if (!broken)
		broken = w->broken;
	return broken ? broken : podwalk_rules(w);
}

/* Runs every worker until none is left to run, and all calls end well. */
static const char *drain(struct podwalk *w)
{
	const struct podworker_outcome well = {.result = PODWORKER_OK};
	const char *uid, *broken = NULL;
	int calls = 0;

	for (size_t i = 0; i < PODWALK_PODS; i++)
		if (w->pods[i].call)
			broken = done(w, i, &well);
	while (!broken && (uid = podworker_ready(w->pw))) {
		int i = index_of(uid);

		if (calls++ > 4 * PODWALK_PODS)
			return "workers come to rest";
		broken = start(w, uid);
		if (!broken && w->pods[i].call)
			broken = done(w, (size_t)i, &well);
		if (!broken)
			broken = podwalk_rules(w);
	}
	return broken;
}

const char *podwalk_settle(struct podwalk *w)
{
	const char *broken = NULL;

	/* One sync for the orphans to end by, one to forget them. */
	for (int i = 0; i < 2 && !broken; i++) {
		podworker_sync_known(w->pw, NULL, 0, w->now, NULL, NULL);
		broken = drain(w);
	}
	podworker_sync_known(w->pw, NULL, 0, w->now, NULL, NULL);
	if (!broken)
		broken = w->broken;
	return !broken && !TAILQ_EMPTY(&w->pw->all) ? "no pod is stuck" : broken;
}
