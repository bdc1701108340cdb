// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that goes along with a node's shutdown: the sequencer (core/shutdown) is told
 * what logind says and, while a shutdown is going on, what becomes of pods and their containers;
 * what it wants becomes effects.
 */
#include "core/engine/shutdown_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Longer than a source takes to answer or to give up: the question was lost. */
#define LOST_NS 15000000000ULL

static enum meta_source source_of(const struct engine *e, const char *uid)
{
	const struct epod *p = engine_pods_find(e, uid);

	return meta_lister(e->names.sources, p ? p->is_static : meta_is_static_uid(uid));
}

static void ask_status(struct engine *e, const char *uid)
{
	enum meta_source source = source_of(e, uid);
	struct engine_shutdown_question *q = &e->shutdown->questions[source];

	if (strlen(uid) >= sizeof(q->uid) || (q->uid[0] && e->out.now_ns < q->at_ns + LOST_NS))
		return;
	if (!names_ask_status(&e->names, uid, source))
		return;
	strcpy(q->uid, uid);
	q->at_ns = e->out.now_ns;
}

static void status_answered(struct engine *e, const char *uid)
{
	for (int source = 0; source < META_SOURCE_COUNT; source++)
		if (strcmp(e->shutdown->questions[source].uid, uid) == 0)
			e->shutdown->questions[source].uid[0] = '\0';
}

static void on_effect(void *userdata, const struct shutdown_effect *effect)
{
	static const enum effect_type types[] = {
		[SHUTDOWN_TAKE_LOCK] = EFFECT_TAKE_LOCK,
		[SHUTDOWN_FLUSH] = EFFECT_FLUSH,
		[SHUTDOWN_DROP_LOCK] = EFFECT_DROP_LOCK,
		[SHUTDOWN_LIST_HOLDERS] = EFFECT_LIST_HOLDERS,
		[SHUTDOWN_LOOK] = EFFECT_READ_COUNTS,
		[SHUTDOWN_KILL] = EFFECT_KILL,
	};
	struct engine_shutdown *s = userdata;

	if (effect->type == SHUTDOWN_WAKE_AT)
		s->wake_ns = effect->at_ns;
	else if (effect->type == SHUTDOWN_TELL)
		engine_shutdown_report(s->engine, effect->record);
	else if (effect->type == SHUTDOWN_ASK_STATUS)
		ask_status(s->engine, effect->uid);
	else
		output_effect(&s->engine->out,
			      &(struct effect){.type = types[effect->type], .id = effect->id});
}

/* The sequencer has decided by all it knows. */
static void judged(struct engine_shutdown *s)
{
	struct shutdown_status status;

	shutdown_get_status(s->sequencer, &status);
	s->going = status.going;
	s->unjudged = false;
	s->given = (struct given){
		.watched = status.state != SHUTDOWN_AWAY,
		.going = status.going,
		.announced_ns = status.announced_ns,
		.plan = &s->plan,
	};
	output_change(&s->engine->out, &(struct change){.type = CHANGE_SHUTDOWN});
}

static int open_sequencer(struct engine *e, const struct obs_shutdown_plan *plan)
{
	const struct shutdown_config config = {
		.mode = plan->mode,
		.overdue_slack_ns = plan->overdue_slack_ns,
		.status_wait_ns = plan->status_wait_ns,
		.deaf_grace_ns = plan->deaf_grace_ns,
		.effect = on_effect,
	};
	struct engine_shutdown *s = calloc(1, sizeof(*s));
	struct shutdown_config own = config;
	int r;

	if (!s)
		return -ENOMEM;
	s->engine = e;
	own.userdata = s;
	r = shutdown_new(&own, &s->sequencer);
	if (r < 0) {
		free(s);
		return r;
	}
	e->shutdown = s;
	judged(s);
	return 0;
}

void engine_shutdown_done(struct engine *e)
{
	struct engine_shutdown *s = e->shutdown;

	if (!s)
		return;
	shutdown_free(s->sequencer);
	arena_free(&s->arena);
	free(s);
	e->shutdown = NULL;
}

/* One step of the sequencer. What it refuses it has counted. */
static int step(struct engine *e, const struct shutdown_event *event)
{
	struct engine_shutdown *s = e->shutdown;
	int r;

	/* What there is to decide about has to be known when it begins. */
	if (event->type == SHUTDOWN_EV_ANNOUNCED && !s->going)
		engine_shutdown_tell_all(e);
	r = shutdown_step(s->sequencer, event, e->out.now_ns);
	judged(s);
	if (event->type == SHUTDOWN_EV_ANNOUNCED)
		output_change(&e->out, &(struct change){.type = CHANGE_SHUTDOWN_BEGUN});
	return r == -ENOMEM ? r : 0;
}

/* --- the plan ------------------------------------------------------------------------------- */

static int tell_plan(struct engine *e)
{
	const struct shutplan *plan = &e->shutdown->plan;
	struct shutdown_group groups[SHUTDOWN_MAX_GROUPS];
	struct shutdown_event event = {.type = SHUTDOWN_EV_PLAN};
	size_t n = plan->n < SHUTDOWN_MAX_GROUPS ? plan->n : SHUTDOWN_MAX_GROUPS;

	for (size_t i = 0; i < n; i++)
		groups[i] = (struct shutdown_group){
			.ns = plan->groups[i].ns,
			.in_full = plan->rules == SHUTPLAN_TWO_PHASES && i + 1 < plan->n,
		};
	event.plan.groups = groups;
	event.plan.n = n;
	return step(e, &event);
}

/* A new plan replaces the one before; one that has no memory leaves none. */
static int set_plan(struct engine *e, const struct obs_shutdown_plan *obs)
{
	struct shutplan_range ranges[OBS_RANGES_MAX];
	struct engine_shutdown *s = e->shutdown;
	size_t n = obs->n_ranges <= OBS_RANGES_MAX ? obs->n_ranges : 0;
	int r;

	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct shutplan_range){.priority = obs->ranges[i].priority,
						    .seconds = obs->ranges[i].seconds};
	arena_free(&s->arena);
	memset(&s->plan, 0, sizeof(s->plan));
	r = shutplan_of_ranges(ranges, n, &s->arena, &s->plan);
	s->plan.rules = obs->two_phases ? SHUTPLAN_TWO_PHASES : SHUTPLAN_RANGES;
	return r;
}

/* Once no shutdown is under way; without memory, at the next occasion. */
static int take_next(struct engine *e)
{
	struct engine_shutdown *s = e->shutdown;
	int r;

	if (s->going || !s->has_next)
		return 0;
	r = set_plan(e, &s->next);
	if (r >= 0)
		r = tell_plan(e);
	s->has_next = r < 0;
	return r;
}

int engine_on_shutdown_plan(struct engine *e, const struct obs *obs)
{
	int r = e->shutdown ? 0 : open_sequencer(e, &obs->shutdown_plan);

	if (r == -EINVAL) {
		e->stats.unexpected++;
		return 0;
	}
	if (r < 0)
		return r;
	e->shutdown->next = obs->shutdown_plan;
	e->shutdown->has_next = true;
	return take_next(e);
}

/* --- what logind says ----------------------------------------------------------------------- */

static size_t list_holders(const struct obs_shutdown *obs, struct shutdown_holder *ret)
{
	size_t n = obs->n_holders < SHUTDOWN_MAX_HOLDERS ? obs->n_holders : SHUTDOWN_MAX_HOLDERS;

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct shutdown_holder){.who = obs->holders[i].who,
						  .uid = obs->holders[i].uid,
						  .pid = obs->holders[i].pid};
	return n;
}

/* Where one source lists all pods it is told of once. */
static int tell_lister(struct engine *e, const struct obs_shutdown *told)
{
	enum meta_source source = meta_lister(e->names.sources, told->is_static);
	struct shutdown_event event = {.type = SHUTDOWN_EV_API};
	int r = 0;

	event.lister.kubelet = source == META_KUBELET;
	event.lister.reachable = told->reachable;
	event.lister.absent = told->absent;
	for (int is_static = 0; r == 0 && is_static < 2; is_static++) {
		event.lister.is_static = is_static;
		if (meta_lister(e->names.sources, is_static) == source)
			r = step(e, &event);
	}
	return r;
}

/* A source that lists pods has answered. */
static void note_answer(struct engine *e, enum meta_source source)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_LISTED};

	for (int is_static = 0; is_static < 2; is_static++) {
		event.lister.is_static = is_static;
		if (meta_lister(e->names.sources, is_static) == source)
			engine_shutdown_note(e, &event);
	}
}

int engine_on_shutdown(struct engine *e, const struct obs *obs)
{
	const struct obs_shutdown *told = &obs->shutdown;
	struct shutdown_holder holders[SHUTDOWN_MAX_HOLDERS];
	struct shutdown_event event = {.type = told->event};

	if (!e->shutdown) {
		e->stats.unexpected++;
		return 0;
	}
	switch (event.type) {
	case SHUTDOWN_EV_ANNOUNCED:
		event.announced.at_ns = told->announced_ns;
		event.announced.limit_ns = told->limit_ns;
		event.announced.action = told->action;
		break;
	case SHUTDOWN_EV_HOLDERS:
		event.holders.list = holders;
		event.holders.n = list_holders(told, holders);
		event.holders.failed = told->failed;
		break;
	case SHUTDOWN_EV_API:
		return tell_lister(e, told);
	case SHUTDOWN_EV_LOGIND_UP:
	case SHUTDOWN_EV_LOGIND_DOWN:
	case SHUTDOWN_EV_LOCK_TAKEN:
	case SHUTDOWN_EV_LOCK_REFUSED:
	case SHUTDOWN_EV_LOCK_LOST:
	case SHUTDOWN_EV_CANCELLED:
	case SHUTDOWN_EV_FLUSHED:
	case SHUTDOWN_EV_STOPPING:
		break;
	default:
		e->stats.unexpected++;
		return 0;
	}
	return step(e, &event);
}

/* --- what happens to pods and their containers ---------------------------------------------- */

static void touched_cgroup(struct engine *e, uint64_t id)
{
	const struct cgnode *node = cgmap_get(&e->map, id);

	if (node && node->pod)
		engine_shutdown_tell_pod(e, node->pod->uid);
}

static uint64_t cgroup_of(const struct obs *obs)
{
	switch (obs->type) {
	case OBS_INIT:
		return obs->init.id;
	case OBS_SIGNAL:
		return obs->signal.id;
	case OBS_EXIT:
		return obs->exit.id;
	case OBS_CGROUP_NEW:
	case OBS_CGROUP_FOUND:
		return obs->cgroup.id;
	case OBS_CGROUP_EMPTY:
	case OBS_CGROUP_GONE:
		return obs->empty.id;
	case OBS_COUNTS:
		return obs->counts.id;
	case OBS_NAMES:
		return obs->names.id;
	default:
		return 0;
	}
}

static void note_changes(struct engine *e, const struct obs *obs)
{
	uint64_t id = cgroup_of(obs);

	if (id)
		touched_cgroup(e, id);
	else if (obs->type == OBS_POD)
		engine_shutdown_tell_pod(e, obs->pod.uid);
	else if (obs->type == OBS_CONTAINER && obs->container.pod_uid[0])
		engine_shutdown_tell_pod(e, obs->container.pod_uid);
	else if (obs->type == OBS_LISTED)
		engine_shutdown_tell_all(e);
	/* Who cannot tell that its list is whole has answered all the same. */
	if (obs->type == OBS_POD || obs->type == OBS_LISTED)
		note_answer(e, (enum meta_source)(obs->type == OBS_POD ? obs->pod.source
								       : obs->listed.source));
}

/* It decides once, however much has changed. */
void engine_shutdown_saw(struct engine *e, const struct obs *obs)
{
	struct engine_shutdown *s = e->shutdown;

	if (!s)
		return;
	/* Also while there is none: what is gone is not there when one begins. */
	if (obs->type == OBS_CGROUP_GONE)
		engine_shutdown_note(e, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
								 .id = obs->empty.id});
	if (obs->type == OBS_NAMES && !obs->names.more && !obs->names.container_id[0])
		status_answered(e, obs->names.pod_uid);
	if (s->going)
		note_changes(e, obs);
	if (s->unjudged) {
		shutdown_settle(s->sequencer, e->out.now_ns);
		judged(s);
	}
	(void)take_next(e);
}

void engine_shutdown_forget(struct engine *e, const char *uid)
{
	if (e->shutdown)
		engine_shutdown_note(e, &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE,
								 .uid = uid});
}

void engine_shutdown_expire(struct engine *e, uint64_t now_ns)
{
	if (e->shutdown && e->shutdown->wake_ns && e->shutdown->wake_ns <= now_ns)
		step(e, &(struct shutdown_event){.type = SHUTDOWN_EV_TIMER});
}

uint64_t engine_shutdown_wake_ns(const struct engine *e)
{
	return e->shutdown ? e->shutdown->wake_ns : 0;
}

bool engine_in_shutdown(const struct engine *e)
{
	return e->shutdown && e->shutdown->going;
}

bool engine_get_shutdown(const struct engine *e, struct shutdown_status *ret,
			 struct shutdown_stats *ret_stats)
{
	if (!e->shutdown)
		return false;
	shutdown_get_status(e->shutdown->sequencer, ret);
	shutdown_get_stats(e->shutdown->sequencer, ret_stats);
	return true;
}

size_t engine_get_shutdown_groups(const struct engine *e, struct engine_shutdown_group *ret,
				  size_t max)
{
	const struct shutplan *plan = e->shutdown ? &e->shutdown->plan : NULL;
	size_t n = 0;

	for (size_t i = 0; plan && i < plan->n; i++) {
		int32_t priority = plan->groups[i].priority;

		if (!n || ret[n - 1].priority != priority) {
			if (n == max)
				break;
			ret[n++] = (struct engine_shutdown_group){.priority = priority};
		}
		shutdown_count_pods(e->shutdown->sequencer, (uint32_t)i, ret[n - 1].pods);
	}
	return n;
}

struct given engine_shutdown_given(const struct engine *e)
{
	return e->shutdown ? e->shutdown->given : (struct given){};
}
