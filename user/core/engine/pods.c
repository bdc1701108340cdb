// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that moves the lives of pods: by what the kubelet says of a pod, and by what
 * the kernel says of its cgroups.
 *
 * graced follows and never acts: what would start or stop containers is the kubelet's to do.
 */
#include "base/time.h"
#include "core/engine/pods_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_ready(struct engine *e, struct epod *p, bool ready)
{
	if (ready && !p->is_ready)
		TAILQ_INSERT_TAIL(&e->pods.ready, p, ready);
	else if (!ready && p->is_ready)
		TAILQ_REMOVE(&e->pods.ready, p, ready);
	p->is_ready = ready;
}

static void drop_out(struct engine *e, struct epod *p)
{
	set_ready(e, p, false);
	output_changed_pod(&e->out, p);
	engine_truth_leave(e, p);
	output_change(&e->out, &(struct change){.type = CHANGE_POD_FORGOTTEN, .uid = p->uid});
	deadline_set(&e->pods.unheard, &p->unheard, 0);
	map_remove(&e->pods.by_uid, p->key);
	TAILQ_REMOVE(&e->pods.all, p, all);
}

void engine_pods_new(struct engine *e)
{
	TAILQ_INIT(&e->pods.all);
	TAILQ_INIT(&e->pods.ready);
	TAILQ_INIT(&e->pods.dead);
}

void engine_pods_done(struct engine *e)
{
	struct epod *p;

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
	int r = -ENOSPC;

	if (e->pods.by_uid.count < PODLIFE_MAX_PODS && !map_get(&e->pods.by_uid, p->key))
		r = map_put(&e->pods.by_uid, p->key, p);
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

static struct pod_seconds seconds_of(uint32_t known, uint32_t bit, uint64_t ns)
{
	return (struct pod_seconds){known & bit, (int64_t)(ns / NS_PER_S)};
}

static struct podlife_update update_of(const struct engine *e, const struct epod *p)
{
	const struct epod_word *w = &p->word;

	return (struct podlife_update){
		.deleting = w->deleting,
		.terminal = w->phase == META_PHASE_SUCCEEDED || w->phase == META_PHASE_FAILED,
		.quiet = engine_pods_is_empty(e, p),
		.deletion_grace =
			seconds_of(w->known, META_POD_DELETION_GRACE, w->deletion_grace_ns),
		.spec_grace = seconds_of(w->known, META_POD_GRACE, w->grace_ns),
	};
}

void engine_pods_update(struct engine *e, struct epod *p, enum epod_update how)
{
	struct podlife_update update = update_of(e, p);

	update.anew = how == EPOD_ANEW;
	update.kill = how == EPOD_KILL;
	if (podlife_update(&p->life, &update, e->out.now_ns))
		engine_pods_arrived(e, p);
	set_ready(e, p, true);
}

void engine_pods_sync(struct engine *e, struct epod *p, bool orphan)
{
	struct podlife_update update;

	if (!orphan && !podlife_is_done(&p->life, true))
		return;
	update = update_of(e, p);
	if (!podlife_step(&p->life, PODLIFE_ORPHANED, &update, e->out.now_ns))
		return;
	if (p->life.stage != POD_STAGE_FORGOTTEN) {
		engine_pods_arrived(e, p);
		set_ready(e, p, true);
		return;
	}
	drop_out(e, p);
	TAILQ_INSERT_TAIL(&e->pods.dead, p, all);
}

/* What ended before that began is no reason for what came after. */
static void because_later(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	if (at_ns > p->trigger_ns)
		engine_pods_because(p, trigger, at_ns);
}

/* Whether the pod has come to the end of its stage; *ret is what happened. */
static bool has_ended(const struct engine *e, struct epod *p, enum podlife_event *ret)
{
	switch (p->life.stage) {
	case POD_STAGE_TERMINATING:
		*ret = PODLIFE_STOPPED;
		if (p->reborn)
			return true;
		if (!p->over && !engine_pods_is_empty(e, p))
			return false;
		because_later(p, p->empty_why, p->empty_ns);
		return true;
	case POD_STAGE_TERMINATED:
		*ret = PODLIFE_REMOVED;
		if (p->reborn)
			return true;
		if (!p->over && !engine_pods_is_removed(e, p))
			return false;
		because_later(p, POD_CGROUP_REMOVED, p->removed_ns);
		return true;
	default:
		return false;
	}
}

/* What is over and not wanted, or wanted anew, is forgotten. */
static void forget_finished(struct engine *e, struct epod *p)
{
	if (p->life.stage == POD_STAGE_FINISHED)
		engine_pods_sync(e, p, !p->listed || p->reborn);
}

static void advance(struct engine *e, struct epod *p)
{
	enum podlife_event event;

	set_ready(e, p, false);
	if (!has_ended(e, p, &event))
		return;
	podlife_step(&p->life, event, NULL, e->out.now_ns);
	engine_pods_arrived(e, p);
	set_ready(e, p, true);
	forget_finished(e, p);
}

static void advance_ready(struct engine *e)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&e->pods.ready)))
		advance(e, p);
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
	engine_pods_update(e, p, EPOD_ANEW);
	advance_ready(e);
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
	advance_ready(e);
	bury(e);
}

void engine_pods_drive(struct engine *e, struct epod *p)
{
	advance(e, p);
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
