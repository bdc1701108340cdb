// SPDX-License-Identifier: Apache-2.0
/*
 * Moves the lives of pods: by what the kubelet says of a pod, and by what
 * the kernel says of its cgroups.
 *
 * graced follows and never acts: what would start or stop containers is the kubelet's to do.
 */
#include "base/time.h"
#include "core/engine/pods_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_ready(struct pods *pods, struct epod *p, bool ready)
{
	if (ready && !p->is_ready)
		TAILQ_INSERT_TAIL(&pods->ready, p, ready);
	else if (!ready && p->is_ready)
		TAILQ_REMOVE(&pods->ready, p, ready);
	p->is_ready = ready;
}

static void drop_out(struct pods *pods, struct epod *p)
{
	set_ready(pods, p, false);
	output_changed_pod(pods->out, p);
	truth_leave(pods, p);
	output_change(pods->out, &(struct change){.type = CHANGE_POD_FORGOTTEN, .uid = p->uid});
	deadline_set(&pods->unheard, &p->unheard, 0);
	map_remove(&pods->by_uid, p->key);
	TAILQ_REMOVE(&pods->all, p, all);
}

void pods_init(struct pods *pods, struct cgmap *map, struct names *names, struct output *out)
{
	pods->map = map;
	pods->names = names;
	pods->out = out;
	TAILQ_INIT(&pods->all);
	TAILQ_INIT(&pods->ready);
	TAILQ_INIT(&pods->dead);
}

void pods_done(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->all))) {
		TAILQ_REMOVE(&pods->all, p, all);
		free(p);
	}
	map_done(&pods->by_uid);
	deadline_queue_done(&pods->doubts);
	deadline_queue_done(&pods->unheard);
}

struct epod *pods_find(const struct pods *pods, const char *uid)
{
	struct epod *p = map_get(&pods->by_uid, map_key(uid));

	return p && strcmp(p->uid, uid) == 0 ? p : NULL;
}

/* Of two uids with one key the later finds no room. */
static int enter(struct pods *pods, struct epod *p)
{
	int r = -ENOSPC;

	if (pods->by_uid.count < PODLIFE_MAX_PODS && !map_get(&pods->by_uid, p->key))
		r = map_put(&pods->by_uid, p->key, p);
	if (r < 0) {
		pods->stats.refused++;
		return r;
	}
	TAILQ_INSERT_TAIL(&pods->all, p, all);
	output_changed_pod(pods->out, p);
	return 0;
}

void pods_leave(struct pods *pods, struct epod *p)
{
	drop_out(pods, p);
	free(p);
}

struct epod *pods_want(struct pods *pods, const char *uid, uint64_t now_ns)
{
	struct epod *p = pods_find(pods, uid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memccpy(p->uid, uid, '\0', sizeof(p->uid) - 1);
	p->key = map_key(p->uid);
	p->first_ns = now_ns;
	if (enter(pods, p) == 0)
		return p;
	free(p);
	return NULL;
}

void pods_because(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	p->trigger = trigger;
	p->trigger_ns = at_ns;
	p->between = false;
}

static struct pod_seconds seconds_of(uint32_t known, uint32_t bit, uint64_t ns)
{
	return (struct pod_seconds){known & bit, (int64_t)(ns / NS_PER_S)};
}

static struct podlife_update update_of(const struct pods *pods, const struct epod *p)
{
	const struct epod_word *w = &p->word;

	return (struct podlife_update){
		.deleting = w->deleting,
		.terminal = w->phase == META_PHASE_SUCCEEDED || w->phase == META_PHASE_FAILED,
		.quiet = pods_is_empty(pods, p),
		.deletion_grace =
			seconds_of(w->known, META_POD_DELETION_GRACE, w->deletion_grace_ns),
		.spec_grace = seconds_of(w->known, META_POD_GRACE, w->grace_ns),
	};
}

void pods_update(struct pods *pods, struct epod *p, enum epod_update how)
{
	struct podlife_update update = update_of(pods, p);

	update.anew = how == EPOD_ANEW;
	update.kill = how == EPOD_KILL;
	if (podlife_update(&p->life, &update, pods->out->now_ns))
		pods_arrived(pods, p);
	set_ready(pods, p, true);
}

void pods_sync(struct pods *pods, struct epod *p, bool orphan)
{
	struct podlife_update update;

	if (!orphan && !podlife_is_done(&p->life, true))
		return;
	update = update_of(pods, p);
	if (!podlife_step(&p->life, PODLIFE_ORPHANED, &update, pods->out->now_ns))
		return;
	if (p->life.stage != POD_STAGE_FORGOTTEN) {
		pods_arrived(pods, p);
		set_ready(pods, p, true);
		return;
	}
	drop_out(pods, p);
	TAILQ_INSERT_TAIL(&pods->dead, p, all);
}

/* What ended before that began is no reason for what came after. */
static void because_later(struct epod *p, enum pod_trigger trigger, uint64_t at_ns)
{
	if (at_ns > p->trigger_ns)
		pods_because(p, trigger, at_ns);
}

/* Whether the pod has come to the end of its stage; *ret is what happened. */
static bool has_ended(const struct pods *pods, struct epod *p, enum podlife_event *ret)
{
	switch (p->life.stage) {
	case POD_STAGE_TERMINATING:
		*ret = PODLIFE_STOPPED;
		if (p->reborn)
			return true;
		if (!p->over && !pods_is_empty(pods, p))
			return false;
		because_later(p, p->empty_why, p->empty_ns);
		return true;
	case POD_STAGE_TERMINATED:
		*ret = PODLIFE_REMOVED;
		if (p->reborn)
			return true;
		if (!p->over && !pods_is_removed(pods, p))
			return false;
		because_later(p, POD_CGROUP_REMOVED, p->removed_ns);
		return true;
	default:
		return false;
	}
}

/* What is over and not wanted, or wanted anew, is forgotten. */
static void forget_finished(struct pods *pods, struct epod *p)
{
	if (p->life.stage == POD_STAGE_FINISHED)
		pods_sync(pods, p, !p->listed || p->reborn);
}

static void advance(struct pods *pods, struct epod *p)
{
	enum podlife_event event;

	set_ready(pods, p, false);
	if (!has_ended(pods, p, &event))
		return;
	podlife_step(&p->life, event, NULL, pods->out->now_ns);
	pods_arrived(pods, p);
	set_ready(pods, p, true);
	forget_finished(pods, p);
}

static void advance_ready(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->ready)))
		advance(pods, p);
}

/* The same uid again: a static pod whose manifest came back, or one that was taken to be over. */
static void begin_again(struct pods *pods, struct epod *p)
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
		.first_ns = pods->out->now_ns,
	};
	memcpy(p->uid, old.uid, sizeof(p->uid));
	if (enter(pods, p) < 0) {
		free(p);
		return;
	}
	pods->restarted[p->is_static]++;
	pods_because(p, old.reborn ? POD_STARTED : POD_LISTED, pods->out->now_ns);
	pods_update(pods, p, EPOD_ANEW);
	advance_ready(pods);
}

static void bury(struct pods *pods)
{
	struct epod *p;

	while ((p = TAILQ_FIRST(&pods->dead))) {
		TAILQ_REMOVE(&pods->dead, p, all);
		if (p->reborn || p->listed)
			begin_again(pods, p);
		else
			free(p);
	}
}

void pods_settle(struct pods *pods)
{
	advance_ready(pods);
	bury(pods);
}

void pods_drive(struct pods *pods, struct epod *p)
{
	advance(pods, p);
	pods_settle(pods);
}

void pods_restart(struct pods *pods, struct epod *p)
{
	p->reborn = true;
	if (!p->by_kernel)
		pods_because(p, POD_STARTED, pods->out->now_ns);
	forget_finished(pods, p);
	pods_drive(pods, p);
}
