// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that drives the pod worker: what the kubelet wants of a pod becomes updates,
 * and the calls that the worker wants made end when the kernel says that what they are for is so.
 *
 * graced follows and never acts: what would start or stop containers is the kubelet's to do. So
 * static pods are no different from others here, and nothing is requeued: which of one name may run
 * and when is seen, not decided.
 */
#include "base/time.h"
#include "core/engine/pods_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop_out(struct engine *e, struct epod *p)
{
	output_changed_pod(&e->out, p);
	engine_truth_leave(e, p);
	output_change(&e->out, &(struct change){.type = CHANGE_POD_FORGOTTEN, .uid = p->uid});
	deadline_set(&e->pods.unheard, &p->unheard, 0);
	map_remove(&e->pods.by_uid, p->key);
	TAILQ_REMOVE(&e->pods.all, p, all);
}

static void on_effect(void *userdata, const struct podworker_effect *effect)
{
	struct engine *e = userdata;
	struct epod *p;

	if (effect->type != PODWORKER_MOVED)
		return;
	p = engine_pods_find(e, effect->uid);
	if (!p)
		return;
	if (effect->stage != POD_STAGE_FORGOTTEN) {
		engine_pods_arrived(e, p, effect->stage);
		return;
	}
	drop_out(e, p);
	TAILQ_INSERT_TAIL(&e->pods.dead, p, all);
}

int engine_pods_new(struct engine *e)
{
	const struct podworker_config config = {.effect = on_effect, .userdata = e};

	TAILQ_INIT(&e->pods.all);
	TAILQ_INIT(&e->pods.dead);
	return podworker_new(&config, &e->pods.worker);
}

void engine_pods_done(struct engine *e)
{
	struct epod *p;

	e->pods.worker = podworker_free(e->pods.worker);
	while ((p = TAILQ_FIRST(&e->pods.all))) {
		TAILQ_REMOVE(&e->pods.all, p, all);
		free(p);
	}
	map_done(&e->pods.by_uid);
	deadline_queue_done(&e->pods.doubts);
	deadline_queue_done(&e->pods.unheard);
}

struct epod *engine_pods_find(const struct engine *e, const char *uid)
{
	struct epod *p = map_get(&e->pods.by_uid, map_key(uid));

	return p && strcmp(p->uid, uid) == 0 ? p : NULL;
}

/* Of two uids with one key the later finds no room. */
static int enter(struct engine *e, struct epod *p)
{
	int r = map_get(&e->pods.by_uid, p->key) ? -ENOSPC : map_put(&e->pods.by_uid, p->key, p);

	if (r < 0) {
		e->pods.refused++;
		return r;
	}
	TAILQ_INSERT_TAIL(&e->pods.all, p, all);
	output_changed_pod(&e->out, p);
	return 0;
}

void engine_pods_leave(struct engine *e, struct epod *p)
{
	drop_out(e, p);
	free(p);
}

struct epod *engine_pods_want(struct engine *e, const char *uid, uint64_t now_ns)
{
	struct epod *p = engine_pods_find(e, uid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memccpy(p->uid, uid, '\0', sizeof(p->uid) - 1);
	p->key = map_key(p->uid);
	p->first_ns = now_ns;
	if (enter(e, p) == 0)
		return p;
	free(p);
	return NULL;
}

void engine_pods_because(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	p->trigger = trigger;
	p->trigger_ns = at_ns;
	p->between = false;
}

struct pod_seconds engine_pods_seconds(uint32_t known, uint32_t bit, uint64_t ns)
{
	return (struct pod_seconds){known & bit, (int64_t)(ns / NS_PER_S)};
}

int engine_pods_update(struct engine *e, struct epod *p, enum podworker_type type)
{
	const struct epod_word *w = &p->word;
	const struct podworker_pod pod = {
		.uid = p->uid,
		.deleting = w->deleting,
		.phase = (enum meta_phase)w->phase,
		.deletion_grace = engine_pods_seconds(w->known, META_POD_DELETION_GRACE,
						      w->deletion_grace_ns),
		.spec_grace = engine_pods_seconds(w->known, META_POD_GRACE, w->grace_ns),
		.runtime = engine_pods_is_empty(e, p) ? PODWORKER_RUNTIME_QUIET
						      : PODWORKER_RUNTIME_RUNS,
	};
	const struct podworker_update update = {.type = type, .pod = &pod};
	int r = podworker_update(e->pods.worker, &update, e->out.now_ns);

	if (r >= 0)
		return 0;
	/* What the worker has no room for it has no record of. */
	if (!podworker_status(e->pods.worker, p->uid))
		engine_pods_leave(e, p);
	return r;
}

static bool is_terminal(const struct epod *p)
{
	return p->word.phase == META_PHASE_SUCCEEDED || p->word.phase == META_PHASE_FAILED;
}

/* What ended before that began is no reason for what came after. */
static void because_later(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	if (at_ns > p->trigger_ns)
		engine_pods_because(p, trigger, at_ns);
}

/* Whether the call that runs for p has come to its end, and how. */
static bool has_ended(const struct engine *e, struct epod *p, enum podworker_result *ret)
{
	*ret = PODWORKER_OK;
	switch (p->call) {
	case PODWORKER_CALL_NONE:
		return false;
	case PODWORKER_CALL_TERMINATING_POD:
		if (p->reborn)
			return true;
		if (!p->over && !engine_pods_is_empty(e, p))
			return false;
		because_later(p, p->empty_why, p->empty_ns);
		return true;
	case PODWORKER_CALL_TERMINATED_POD:
		if (p->reborn)
			return true;
		if (!p->over && !engine_pods_is_removed(e, p))
			return false;
		because_later(p, POD_CGROUP_REMOVED, p->removed_ns);
		return true;
	default:
		if (is_terminal(p))
			*ret = PODWORKER_TERMINAL;
		return true;
	}
}

/* Who is over and wanted by nobody, or wanted anew, is forgotten. */
static void forget_finished(struct engine *e, const struct epod *p)
{
	if (p->stage == POD_STAGE_FINISHED)
		podworker_sync_one(e->pods.worker, p->uid, !p->listed || p->reborn, e->out.now_ns);
}

static void end_call(struct engine *e, struct epod *p)
{
	struct podworker_outcome outcome = {};

	if (!has_ended(e, p, &outcome.result))
		return;
	p->call = PODWORKER_CALL_NONE;
	podworker_done(e->pods.worker, p->uid, &outcome, e->out.now_ns);
	forget_finished(e, p);
}

static void make_call(struct engine *e, const char *ready)
{
	struct podworker_call call;
	char uid[POD_UID_MAX];
	struct epod *p;

	memcpy(uid, ready, strlen(ready) + 1);
	if (podworker_start(e->pods.worker, uid, e->out.now_ns, 0, &call) != 1)
		return;
	p = engine_pods_find(e, uid);
	p->call = call.kind;
	end_call(e, p);
}

static void make_calls(struct engine *e)
{
	const char *ready;

	while ((ready = podworker_ready(e->pods.worker)))
		make_call(e, ready);
}

/* The same uid again: a static pod whose manifest came back, or one that was taken to be over. */
static void begin_again(struct engine *e, struct epod *p)
{
	const struct epod old = *p;

	*p = (struct epod){
		.qos = old.qos,
		.is_static = old.is_static,
		.listed = old.listed,
		.was_listed = old.listed,
		.unconfirmed = old.unconfirmed,
		.word = old.word,
		.told = old.told,
		.key = old.key,
		.first_ns = e->out.now_ns,
	};
	memcpy(p->uid, old.uid, sizeof(p->uid));
	if (enter(e, p) < 0) {
		free(p);
		return;
	}
	e->pods.restarted[p->is_static]++;
	engine_pods_because(p, old.reborn ? POD_STARTED : POD_LISTED, e->out.now_ns);
	if (engine_pods_update(e, p, PODWORKER_CREATE) == 0)
		make_calls(e);
}

static void bury(struct engine *e)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&e->pods.dead))) {
		TAILQ_REMOVE(&e->pods.dead, p, all);
		if (p->reborn || p->listed)
			begin_again(e, p);
		else
			free(p);
	}
}

void engine_pods_settle(struct engine *e)
{
	make_calls(e);
	bury(e);
}

void engine_pods_drive(struct engine *e, struct epod *p)
{
	end_call(e, p);
	engine_pods_settle(e);
}

void engine_pods_restart(struct engine *e, struct epod *p)
{
	p->reborn = true;
	if (!p->by_kernel)
		engine_pods_because(p, POD_STARTED, e->out.now_ns);
	forget_finished(e, p);
	engine_pods_drive(e, p);
}
