// SPDX-License-Identifier: Apache-2.0
#include "core/engine/shutdowns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/engine/engine.h"

/* Turns that a checkpoint may have: each several times. */
#define TURNS_MAX (4 * SHUTDOWN_MAX_CONTAINERS)

/* --- what the next engine has to know -------------------------------------------------------- */

static bool has_loaded(const struct shutdowns *s)
{
	return s->loaded.announced_ns != 0;
}

static void drop_loaded(struct shutdowns *s)
{
	free(s->turns);
	s->turns = NULL;
	s->n_turns = s->room_turns = 0;
	s->loaded = (struct shutdown_run){};
}

void shutdowns_load_run(struct shutdowns *s, const struct shutdown_run *run)
{
	if (!run->announced_ns || run->announced_ns != s->loaded.announced_ns)
		drop_loaded(s);
	s->loaded = *run;
}

int shutdowns_load_turn(struct shutdowns *s, const struct shutdown_run_turn *turn)
{
	if (s->n_turns == s->room_turns && 2 * s->room_turns > TURNS_MAX)
		return -ENOSPC;
	if (!ROOM_FOR_ONE(s->turns, s->n_turns, s->room_turns, 16))
		return -ENOMEM;
	s->turns[s->n_turns++] = *turn;
	return 0;
}

bool shutdowns_save_run(const struct shutdowns *s, struct shutdown_run *ret)
{
	*ret = has_loaded(s) ? s->loaded : s->run;
	return ret->announced_ns != 0;
}

bool shutdowns_save_turn(const struct shutdowns *s, uint64_t id, struct shutdown_run_turn *ret)
{
	if (s->going)
		return shutdown_save_turn(s->sequencer, id, ret);
	for (size_t i = s->n_turns; i > 0; i--)
		if (s->turns[i - 1].id == id) {
			*ret = s->turns[i - 1];
			return true;
		}
	return false;
}

bool shutdowns_save_seen(const struct shutdowns *s, const struct epod *p)
{
	if (s->going)
		return s->writes && shutdown_saw_pod(s->sequencer, p->uid);
	return has_loaded(s) && p->seen_in_shutdown;
}

bool shutdowns_want_exits(const struct shutdowns *s)
{
	return s->going ? s->writes : has_loaded(s);
}

/* The state file has the time of the announcement by a clock that is slewed. */
static bool is_loaded(const struct shutdowns *s, uint64_t announced_ns)
{
	uint64_t saved_ns = s->loaded.announced_ns;
	uint64_t apart_ns =
		saved_ns > announced_ns ? saved_ns - announced_ns : announced_ns - saved_ns;

	return has_loaded(s) && announced_ns && apart_ns < SHUTDOWN_TICK_NS;
}

static void note_run(struct shutdowns *s)
{
	const struct shutdown_run *was = &s->run;
	struct shutdown_run run;
	bool same;

	shutdown_save_run(s->sequencer, &run);
	same = run.announced_ns == was->announced_ns && run.units_stopped == was->units_stopped &&
	       run.handed_over == was->handed_over && run.group == was->group &&
	       run.group_ns == was->group_ns && run.lost_ns == was->lost_ns &&
	       run.kubelet_held == was->kubelet_held;
	s->run = run;
	if (!same)
		s->out->marks.run = s->out->marks.on;
}

/* The sequencer has decided by all it knows. */
static void judged(struct shutdowns *s)
{
	struct shutdown_status status;

	note_run(s);

	shutdown_get_status(s->sequencer, &status);
	s->going = status.going;
	s->unjudged = false;
	s->given = (struct given){
		.watched = status.state != SHUTDOWN_AWAY,
		.going = status.going,
		.announced_ns = status.announced_ns,
		.plan = &s->plan,
		.managed = s->managed,
		.sequencer = s->sequencer,
	};
}

static int open_sequencer(struct shutdowns *s, const struct obs_shutdown_plan *plan)
{
	const struct shutdown_config config = {
		.cgroups = s->map,
		.policy = plan->policy,
		.effect = shutdowns_take_effect,
		.userdata = s,
	};
	int r = shutdown_new(&config, &s->sequencer);

	if (r < 0)
		return r;
	s->managed = plan->mode == SHUTDOWN_MANAGE;
	s->writes = plan->statuses;
	judged(s);
	return 0;
}

/* One step of the sequencer. What it refuses it has counted. */
static int step(struct shutdowns *s, const struct shutdown_event *event)
{
	bool begins = event->type == SHUTDOWN_EV_ANNOUNCED && !s->going;
	int r;

	/* What there is to decide about has to be known when it begins. */
	s->resuming = begins && event->announced.run;
	if (begins) {
		shutdowns_note_evidence(s);
		shutdowns_note_all(s);
		shutdowns_note_all_outside(s);
	}
	r = shutdown_step(s->sequencer, event, s->out->now_ns);
	s->resuming = false;
	if (begins || event->type == SHUTDOWN_EV_CANCELLED)
		drop_loaded(s);
	judged(s);
	if (event->type == SHUTDOWN_EV_ANNOUNCED)
		stops_renew_all(s->stops);
	return r == -ENOMEM ? r : 0;
}

/* --- the plan ------------------------------------------------------------------------------- */

static int step_plan(struct shutdowns *s)
{
	const struct shutplan *plan = &s->plan;
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
	return step(s, &event);
}

/* A new plan replaces the one before; one that has no memory leaves none. */
static int set_plan(struct shutdowns *s, const struct obs_shutdown_plan *obs)
{
	struct shutplan_range ranges[OBS_RANGES_MAX];
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
static int take_next(struct shutdowns *s)
{
	int r;

	if (s->going || !s->has_next)
		return 0;
	r = set_plan(s, &s->next);
	if (r >= 0)
		r = step_plan(s);
	s->has_next = r < 0;
	return r;
}

/* A rule that comes later could not be obeyed by what is decided already. */
void shutdowns_on_rule(struct shutdowns *s, const struct obs *obs)
{
	if (s->sequencer || s->n_rules == MANAGED_RULES_MAX)
		s->unexpected++;
	else
		s->rules[s->n_rules++] = obs->shutdown_rule;
}

int shutdowns_on_plan(struct shutdowns *s, const struct obs *obs)
{
	int r = s->sequencer ? 0 : open_sequencer(s, &obs->shutdown_plan);

	if (r == -EINVAL) {
		s->unexpected++;
		return 0;
	}
	if (r < 0)
		return r;
	s->next = obs->shutdown_plan;
	s->has_next = true;
	return take_next(s);
}

/* --- what logind says ----------------------------------------------------------------------- */

static void list_holders(const struct obs_shutdown *obs,
			 struct shutdown_holder ret[static SHUTDOWN_MAX_HOLDERS])
{
	for (size_t i = 0; i < SHUTDOWN_MAX_HOLDERS && i < obs->n_holders; i++)
		ret[i] = (struct shutdown_holder){.who = obs->holders[i].who,
						  .uid = obs->holders[i].uid,
						  .pid = obs->holders[i].pid};
}

/* Where one source lists all pods, static ones and others, both are its listers. */
static int step_lister(struct shutdowns *s, const struct obs_shutdown *said)
{
	enum meta_source source = meta_lister(s->names->sources, said->is_static);
	struct shutdown_event event = {.type = SHUTDOWN_EV_API};
	int r = 0;

	event.lister.kubelet = source == META_KUBELET;
	event.lister.reachable = said->reachable;
	event.lister.absent = said->absent;
	for (int is_static = 0; r == 0 && is_static < 2; is_static++) {
		event.lister.is_static = is_static;
		if (meta_lister(s->names->sources, is_static) == source)
			r = step(s, &event);
	}
	return r;
}

/* A source that lists pods has answered. */
static void note_answer(struct shutdowns *s, enum meta_source source)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_LISTED};

	for (int is_static = 0; is_static < 2; is_static++) {
		event.lister.is_static = is_static;
		if (meta_lister(s->names->sources, is_static) == source)
			shutdowns_note(s, &event);
	}
}

static void mark_turn(struct shutdowns *s, uint64_t id)
{
	struct cgnode *node = cgmap_get(s->map, id);

	if (node)
		output_changed(s->out, node);
}

static void describe_announced(struct shutdowns *s, const struct obs_shutdown *said,
			       struct shutdown_event *ret)
{
	ret->announced.at_ns = said->announced_ns;
	ret->announced.limit_ns = said->limit_ns;
	ret->announced.no_delay = said->no_delay;
	ret->announced.action = said->action;
	ret->announced.by_hand = said->by_hand;
	if (!is_loaded(s, said->announced_ns))
		return;
	ret->announced.run = &s->loaded;
	ret->announced.turns = s->turns;
	ret->announced.n_turns = s->n_turns;
}

int shutdowns_on_event(struct shutdowns *s, const struct obs *obs)
{
	const struct obs_shutdown *said = &obs->shutdown;
	struct shutdown_holder holders[SHUTDOWN_MAX_HOLDERS];
	struct shutdown_event event = {.type = said->event};

	if (!s->sequencer) {
		s->unexpected++;
		return 0;
	}
	switch (event.type) {
	case SHUTDOWN_EV_ANNOUNCED:
		describe_announced(s, said, &event);
		break;
	case SHUTDOWN_EV_HOLDERS:
		list_holders(said, holders);
		event.holders.list = holders;
		event.holders.n = said->n_holders;
		event.holders.failed = said->failed;
		break;
	case SHUTDOWN_EV_API:
		return step_lister(s, said);
	case SHUTDOWN_EV_UNITS_STOPPED:
		event.failed = said->failed;
		break;
	case SHUTDOWN_EV_STOP_FAILED:
	case SHUTDOWN_EV_HOOK_BEGUN:
	case SHUTDOWN_EV_HOOK_ENDED:
		event.id = said->id;
		mark_turn(s, said->id);
		break;
	case SHUTDOWN_EV_SANDBOX_STOPPED:
		event.uid = said->pod_uid;
		break;
	case SHUTDOWN_EV_STATUS:
		event.status.uid = said->pod_uid;
		event.status.result = (enum shutdown_write)said->result;
		break;
	case SHUTDOWN_EV_LOGIND_UP:
	case SHUTDOWN_EV_LOGIND_DOWN:
	case SHUTDOWN_EV_LOCK_TAKEN:
	case SHUTDOWN_EV_LOCK_REFUSED:
	case SHUTDOWN_EV_LOCK_LOST:
	case SHUTDOWN_EV_CANCELLED:
	case SHUTDOWN_EV_FLUSHED:
	case SHUTDOWN_EV_TAINT:
	case SHUTDOWN_EV_STOPPING:
		break;
	default:
		s->unexpected++;
		return 0;
	}
	return step(s, &event);
}

/* --- the kubelet's mounts ------------------------------------------------------------------- */

int shutdowns_on_volume(struct shutdowns *s, const struct obs *obs)
{
	const struct obs_volume *said = &obs->volume;
	struct shutdown_event event = {.type = said->event};

	if (!s->sequencer) {
		s->unexpected++;
		return 0;
	}
	switch (event.type) {
	case SHUTDOWN_EV_VOLUME:
		event.volume = (struct shutdown_volume){
			.id = said->id,
			.device = said->device,
			.pod_uid = said->pod_uid,
			.plugin = said->plugin,
			.driver = said->driver,
			.name = said->volume,
		};
		shutdowns_note(s, &event);
		return 0;
	case SHUTDOWN_EV_VOLUME_GONE:
		event.id = said->id;
		shutdowns_note(s, &event);
		return 0;
	case SHUTDOWN_EV_VOLUMES:
		event.failed = said->failed;
		return step(s, &event);
	case SHUTDOWN_EV_UNMOUNTER:
		event.lives = said->lives;
		return step(s, &event);
	default:
		s->unexpected++;
		return 0;
	}
}

/* --- what happens to pods and their containers ---------------------------------------------- */

static void touched_cgroup(struct shutdowns *s, uint64_t id)
{
	struct cgnode *node = cgmap_get(s->map, id);

	if (node && node->pod)
		shutdowns_note_pod(s, node->pod->uid);
	else if (node)
		shutdowns_note_outside(s, node);
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

static void note_changes(struct shutdowns *s, const struct obs *obs)
{
	uint64_t id = cgroup_of(obs);

	if (id)
		touched_cgroup(s, id);
	else if (obs->type == OBS_POD)
		shutdowns_note_pod(s, obs->pod.uid);
	else if (obs->type == OBS_CONTAINER && obs->container.pod_uid[0])
		shutdowns_note_pod(s, obs->container.pod_uid);
	else if (obs->type == OBS_CONTAINER)
		shutdowns_note_outside(s, names_described(s->names, &obs->container));
	else if (obs->type == OBS_LISTED)
		shutdowns_note_all(s);
	/* A source that cannot say that its list is complete has answered all the same. */
	if (obs->type == OBS_POD || obs->type == OBS_LISTED)
		note_answer(s, (enum meta_source)(obs->type == OBS_POD ? obs->pod.source
								       : obs->listed.source));
}

static void status_answered(struct shutdowns *s, const char *uid)
{
	for (int source = 0; source < META_SOURCE_COUNT; source++)
		if (strcmp(s->questions[source].uid, uid) == 0)
			s->questions[source].uid[0] = '\0';
}

/* It decides once, however much has changed. */
void shutdowns_saw(struct shutdowns *s, const struct obs *obs)
{
	if (!s->sequencer)
		return;
	if (obs->type == OBS_NAMES && !obs->names.more && !obs->names.container_id[0])
		status_answered(s, obs->names.pod_uid);
	if (s->going)
		note_changes(s, obs);
	/* Timers report verdicts, too. */
	if (s->going && s->stops->has_judged)
		shutdowns_note_all(s);
	s->stops->has_judged = false;
	if (s->unjudged) {
		shutdown_settle(s->sequencer, s->out->now_ns);
		judged(s);
	}
	(void)take_next(s);
}

void shutdowns_forget_pod(struct shutdowns *s, const char *uid)
{
	if (s->sequencer)
		shutdowns_note(s,
			       &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE, .uid = uid});
}

void shutdowns_forget_container(struct shutdowns *s, struct cgnode *node)
{
	if (node->turn)
		shutdowns_note(s, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
							   .node = node,
							   .id = node->id});
}

void shutdowns_expire(struct shutdowns *s, uint64_t now_ns)
{
	if (s->sequencer && s->wake_ns && s->wake_ns <= now_ns)
		step(s, &(struct shutdown_event){.type = SHUTDOWN_EV_TIMER});
}

void shutdowns_lost(struct shutdowns *s, const struct obs_lost *totals)
{
	const struct graced_stat *t = totals->totals;
	uint64_t sum = totals->recursion_misses;

	for (int i = 0; i < GRACED_STAT_COUNT; i++)
		sum += t[i].lost;
	s->evidence.lost |= sum > 0;
	s->evidence.cgroups_lost |= totals->recursion_misses > 0 || t[GRACED_EV_CGROUP_NEW].lost ||
				    t[GRACED_STAT_WATCH_FULL].lost || t[GRACED_STAT_QUOTA].lost;
	if (s->going)
		shutdowns_note_evidence(s);
}

/* --- for others ------------------------------------------------------------------------------ */

bool shutdowns_get(const struct shutdowns *s, struct shutdown_status *ret,
		   struct shutdown_stats *ret_stats)
{
	if (!s->sequencer)
		return false;
	shutdown_get_status(s->sequencer, ret);
	shutdown_get_stats(s->sequencer, ret_stats);
	return true;
}

size_t shutdowns_get_groups(const struct shutdowns *s, struct engine_shutdown_group *ret,
			    size_t max)
{
	const struct shutplan *plan = s->sequencer ? &s->plan : NULL;
	size_t n = 0;

	for (size_t i = 0; plan && i < plan->n; i++) {
		int32_t priority = plan->groups[i].priority;

		if (!n || ret[n - 1].priority != priority) {
			if (n == max)
				break;
			ret[n++] = (struct engine_shutdown_group){.priority = priority};
		}
		shutdown_count_pods(s->sequencer, (uint32_t)i, ret[n - 1].pods);
	}
	return n;
}

void shutdowns_done(struct shutdowns *s)
{
	drop_loaded(s);
	s->sequencer = shutdown_free(s->sequencer);
	arena_free(&s->arena);
}
