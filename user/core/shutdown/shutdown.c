// SPDX-License-Identifier: Apache-2.0
/* A step of a shutdown: its time, its event, the rules, and when it wants to be woken; what each
 * event does in each state, with the records, effects and wishes that the rules also make. */
#include "core/shutdown/shutdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "core/shutdown/priv.h"

/* --- states and events ------------------------------------------------------------------------ */

/* For so long the taint is attempted: what fails then must not hold up the pods' statuses. */
#define CORDON_NS (5 * NS_PER_S)

#define BACKOFF_FIRST_NS 1000000000ULL
#define STEADY_NS	 60000000000ULL /* a lock held so long is no sign of trouble when lost */

/* What a cell of the table does. */
typedef int (*act_fn)(struct shutdown *sd, const struct shutdown_event *event);

static int nothing(struct shutdown *sd, const struct shutdown_event *event)
{
	return 0;
}

static int unexpected(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->stats.unexpected++;
	return 0;
}

static int query(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->retry_ns = 0;
	shutdown_do(sd, EFFECT_TAKE_LOCK, 0, 0);
	return 0;
}

static int forget_retry(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->retry_ns = 0;
	sd->backoff_ns = 0;
	return 0;
}

static int taken(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->retry_ns = 0;
	sd->taken_ns = sd->now_ns;
	return 0;
}

static int refused(struct shutdown *sd, const struct shutdown_event *event)
{
	uint64_t next_ns = sd->backoff_ns ? 2 * sd->backoff_ns : BACKOFF_FIRST_NS;

	sd->backoff_ns = next_ns < SHUTDOWN_BACKOFF_MAX_NS ? next_ns : SHUTDOWN_BACKOFF_MAX_NS;
	sd->retry_ns = shutdown_sum(sd->now_ns, sd->backoff_ns);
	return 0;
}

/* A lock that comes and goes is not taken again without a pause. */
static int lost(struct shutdown *sd, const struct shutdown_event *event)
{
	if (sd->now_ns - sd->taken_ns < STEADY_NS)
		return refused(sd, event);
	sd->backoff_ns = 0;
	return query(sd, event);
}

static int retry(struct shutdown *sd, const struct shutdown_event *event)
{
	if (sd->retry_ns && sd->now_ns >= sd->retry_ns)
		return query(sd, event);
	return 0;
}

/* The same shutdown as before, perhaps better known by now. */
static int again(struct shutdown *sd, const struct shutdown_event *event)
{
	uint64_t at_ns = event->announced.at_ns;

	/* logind waits from its own announcement on. */
	if (sd->by_hand && !event->announced.by_hand) {
		sd->by_hand = false;
		sd->by_hand_ns = sd->now_ns - sd->announced_ns;
	}
	/* It cannot have been announced before another was cancelled. */
	if (at_ns && at_ns < sd->cancelled_ns)
		at_ns = sd->cancelled_ns;
	if (at_ns && at_ns < sd->announced_ns) {
		if (sd->announced_ns - at_ns > SHUTDOWN_TICK_NS)
			sd->joined_ns = sd->now_ns;
		sd->announced_ns = at_ns;
	}
	if (event->announced.limit_ns || event->announced.no_delay)
		sd->limit_ns = event->announced.limit_ns;
	if (event->announced.action > SHUTDOWN_UNKNOWN &&
	    event->announced.action < SHUTDOWN_ACTION_COUNT)
		sd->action = event->announced.action;
	return 0;
}

static int begin(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->retry_ns = 0;
	sd->announced_ns = sd->now_ns;
	sd->limit_ns = SHUTDOWN_LIMIT_DEFAULT_NS;
	sd->action = SHUTDOWN_UNKNOWN;
	sd->by_hand = event->announced.by_hand;
	sd->lost_ns = sd->empty_ns = sd->joined_ns = sd->by_hand_ns = 0;
	sd->done_ns = sd->now_ns;
	sd->listed_ns = 0;
	for (size_t i = 0; i < 2; i++) {
		sd->sources[i].since_ns = sd->now_ns;
		sd->sources[i].owed_ns = 0;
	}
	sd->any_stopped = sd->handed_over = false;
	sd->writes_ns = 0;
	sd->statuses = (struct shutdown_statuses){};
	sd->taint = (struct shutdown_taint){};
	sd->plan.at = 0;
	sd->plan.driven = sd->plan.begun = sd->plan.started = sd->plan.turned = false;
	sd->holders = (struct shutdown_holders){};
	shutdown_forget_marks(sd);
	sd->stats.announced++;
	again(sd, event);
	if (event->announced.run)
		shutdown_resume(sd, event);
	if (sd->config.unschedulable)
		shutdown_do(sd, EFFECT_CORDON, 0, shutdown_sum(sd->now_ns, CORDON_NS));
	shutdown_report_plain(sd, SHUTDOWN_REPORT_ANNOUNCED);
	return 0;
}

static int over(struct shutdown *sd, const struct shutdown_event *event)
{
	shutdown_leave_statuses(sd);
	shutdown_clear_taint(sd);
	if (sd->config.unschedulable)
		shutdown_do(sd, EFFECT_UNCORDON, 0, 0);
	shutdown_drive_cancel(sd);
	sd->stats.cancelled++;
	sd->cancelled_ns = sd->now_ns;
	shutdown_report_plain(sd, SHUTDOWN_REPORT_CANCELLED);
	sd->announced_ns = sd->limit_ns = 0;
	sd->action = SHUTDOWN_UNKNOWN;
	return 0;
}

static int over_query(struct shutdown *sd, const struct shutdown_event *event)
{
	over(sd, event);
	sd->backoff_ns = 0;
	return query(sd, event);
}

static int note_api(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_source *source = &sd->sources[event->lister.is_static];

	if (source->reachable != event->lister.reachable)
		source->since_ns = shutdown_counted(sd);
	source->reachable = event->lister.reachable;
	source->kubelet = event->lister.kubelet;
	source->absent = event->lister.absent;
	sd->surveyed = false;
	return 0;
}

/* 1: it owed that answer. */
static int note_listed(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_source *source = &sd->sources[event->lister.is_static];
	bool owed = source->owed_ns != 0;

	source->owed_ns = 0;
	return owed;
}

static int note_volumes(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->volumes.read |= !event->failed;
	sd->volumes.failed = event->failed;
	return 0;
}

static int note_unmounter(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->volumes.unmounter = event->lives;
	sd->volumes.unmounter_known = true;
	return 0;
}

static int note_evidence(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->evidence = event->evidence;
	sd->surveyed = false;
	/* Nothing else decided here depends on it. */
	return sd->config.statuses || sd->config.taint;
}

static int flush(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->flush_ns = sd->now_ns;
	sd->flushed = false;
	shutdown_do(sd, EFFECT_FLUSH, 0, shutdown_flush_end(sd));
	return 0;
}

static int flushed(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->flushed = true;
	return 0;
}

static int drop(struct shutdown *sd, const struct shutdown_event *event)
{
	sd->stats.released++;
	sd->handed_over = true;
	sd->done_ns = shutdown_counted(sd);
	shutdown_do(sd, EFFECT_DROP_LOCK, 0, 0);
	return 0;
}

static int ended(struct shutdown *sd, const struct shutdown_event *event)
{
	shutdown_report_plain(sd, SHUTDOWN_REPORT_ENDED);
	return 0;
}

#define KEEP SHUTDOWN_STATE_COUNT /* the state stays as it is */

struct cell {
	enum shutdown_state next;
	act_fn act;
};

#define STAY(act_)         \
	{                  \
		KEEP, act_ \
	}
#define TO(next_, act_)                \
	{                              \
		SHUTDOWN_##next_, act_ \
	}
#define ALL(act_)                                                                                  \
	{                                                                                          \
		STAY(act_), STAY(act_), STAY(act_), STAY(act_), STAY(act_), STAY(act_), STAY(act_) \
	}
#define NIL STAY(nothing)
#define ODD STAY(unexpected)

static const struct cell table[SHUTDOWN_ALL_EVENTS][SHUTDOWN_STATE_COUNT] = {
	/* clang-format off */
	/*			      AWAY		     ASKING		    HOLDING	       GOING		      FLUSHING		   UNLOCKED		  RELEASED */
	[SHUTDOWN_EV_LOGIND_UP] =    {TO(ASKING, query),	     STAY(query),		    NIL,	       NIL,		      NIL,		   NIL,			  NIL},
	[SHUTDOWN_EV_LOGIND_DOWN] =  {NIL,		     TO(AWAY, forget_retry), NIL,	       NIL,		      NIL,		   NIL,			  NIL},
	[SHUTDOWN_EV_LOCK_TAKEN] =   {TO(HOLDING, taken),    TO(HOLDING, taken),    NIL,	       NIL,		      NIL,		   TO(GOING, taken),	  STAY(drop)},
	[SHUTDOWN_EV_LOCK_REFUSED] = {NIL,		     STAY(refused),	    ODD,	       ODD,		      ODD,		   NIL,			  NIL},
	[SHUTDOWN_EV_LOCK_LOST] =    {ODD,		     ODD,		    TO(ASKING, lost),  TO(UNLOCKED, nothing), TO(RELEASED, nothing), ODD,		  ODD},
	[SHUTDOWN_EV_ANNOUNCED] =    {TO(UNLOCKED, begin),   TO(UNLOCKED, begin),   TO(GOING, begin),  STAY(again),	      STAY(again),	   STAY(again),		  STAY(again)},
	[SHUTDOWN_EV_CANCELLED] =    {NIL,		     NIL,		    NIL,	       TO(HOLDING, over),     TO(HOLDING, over),   TO(ASKING, over_query),  TO(ASKING, over_query)},
	[SHUTDOWN_EV_HOLDERS] =	     ALL(shutdown_note_holders),
	[SHUTDOWN_EV_FLUSHED] =	     {NIL,		     NIL,		    NIL,	       NIL,		      STAY(flushed),	   NIL,			  NIL},
	[SHUTDOWN_EV_STOPPING] =     {NIL,		     NIL,		    NIL,	       STAY(ended),	      STAY(ended),	   STAY(ended),		  STAY(ended)},
	[SHUTDOWN_EV_TIMER] =	     {NIL,		     STAY(retry),	    NIL,	       NIL,		      NIL,		   NIL,			  NIL},
	[SHUTDOWN_EV_PLAN] =	     {STAY(shutdown_note_plan),	     STAY(shutdown_note_plan),	    STAY(shutdown_note_plan),   ODD,		      ODD,		   ODD,			  ODD},
	[SHUTDOWN_EV_CONTAINER] =    ALL(shutdown_note_container),
	[SHUTDOWN_EV_CONTAINER_GONE] = ALL(shutdown_forget_container),
	[SHUTDOWN_EV_POD] =	     ALL(shutdown_note_pod),
	[SHUTDOWN_EV_POD_GONE] =     ALL(shutdown_forget_pod),
	[SHUTDOWN_EV_API] =	     ALL(note_api),
	[SHUTDOWN_EV_LISTED] =	     ALL(note_listed),
	[SHUTDOWN_EV_UNITS_STOPPED] = ALL(shutdown_units_stopped),
	[SHUTDOWN_EV_STOP_FAILED] =  ALL(shutdown_stop_answered),
	[SHUTDOWN_EV_VOLUME] =	     ALL(shutdown_note_volume),
	[SHUTDOWN_EV_VOLUME_GONE] =  ALL(shutdown_forget_volume),
	[SHUTDOWN_EV_VOLUMES] =	     ALL(note_volumes),
	[SHUTDOWN_EV_UNMOUNTER] =    ALL(note_unmounter),
	[SHUTDOWN_EV_HOOK_BEGUN] =   ALL(shutdown_stop_answered),
	[SHUTDOWN_EV_HOOK_ENDED] =   ALL(shutdown_stop_answered),
	[SHUTDOWN_EV_SANDBOX_STOPPED] = ALL(shutdown_sandbox_stopped),
	[SHUTDOWN_EV_STATUS] =	     ALL(shutdown_note_status),
	[SHUTDOWN_EV_TAINT] =	     ALL(shutdown_note_taint),
	[SHUTDOWN_EV_EVIDENCE] =     ALL(note_evidence),
	[SHUTDOWN_EV_FLUSH] =	     {ODD,		     ODD,		    ODD,	       TO(FLUSHING, flush),   ODD,		   TO(RELEASED, nothing), ODD},
	[SHUTDOWN_EV_HOLD_ON] =	     {ODD,		     ODD,		    ODD,	       ODD,		      TO(GOING, nothing),  ODD,			  ODD},
	[SHUTDOWN_EV_DROP] =	     {ODD,		     ODD,		    ODD,	       ODD,		      TO(RELEASED, drop),  ODD,			  ODD},
	/* clang-format on */
};

/* The state is the new one when act runs. */
int shutdown_advance(struct shutdown *sd, int type, const struct shutdown_event *event)
{
	const struct cell *cell = &table[type][sd->state];
	bool was_on = shutdown_is_on(sd);

	if (cell->next != KEEP)
		sd->state = cell->next;
	if (was_on != shutdown_is_on(sd))
		sd->surveyed = false;
	return cell->act(sd, event);
}

/* --- a step ---------------------------------------------------------------------------------- */

/* Any wish that comes next is handed on, also that there is none. */
#define WISH_USED UINT64_MAX

/* A timer that comes late shows that nothing ran in between, this program, the kubelet and the
 * runtime alike: none of that time is a container's. */
static void note_time(struct shutdown *sd, uint64_t now_ns)
{
	if (now_ns > sd->now_ns)
		sd->now_ns = now_ns;
	if (shutdown_is_on(sd) && sd->wake_ns &&
	    sd->now_ns > shutdown_sum(sd->wake_ns, SHUTDOWN_TICK_NS / 2))
		sd->lost_ns += sd->now_ns - sd->wake_ns;
}

static void set_timer(struct shutdown *sd)
{
	uint64_t at_ns = sd->next_ns == UINT64_MAX ? 0 : sd->next_ns;

	if (at_ns == sd->wake_ns)
		return;
	sd->wake_ns = at_ns;
	shutdown_do(sd, EFFECT_WAKE_AT, 0, at_ns);
}

static void decide(struct shutdown *sd)
{
	sd->next_ns = UINT64_MAX;
	shutdown_watch_volumes(sd);
	if (sd->retry_ns)
		shutdown_want(sd, sd->retry_ns);
	if (shutdown_is_on(sd))
		shutdown_judge(sd);
	shutdown_watch_volumes(sd);
	set_timer(sd);
}

int shutdown_step(struct shutdown *sd, const struct shutdown_event *event, uint64_t now_ns)
{
	int r;

	if ((unsigned int)event->type >= SHUTDOWN_EVENT_COUNT)
		return -EINVAL;
	note_time(sd, now_ns);
	if (event->type == SHUTDOWN_EV_TIMER)
		sd->wake_ns = WISH_USED;
	r = shutdown_advance(sd, event->type, event);
	decide(sd);
	return r < 0 ? r : 0;
}

int shutdown_note(struct shutdown *sd, const struct shutdown_event *event)
{
	int r;

	switch (event->type) {
	case SHUTDOWN_EV_CONTAINER:
	case SHUTDOWN_EV_CONTAINER_GONE:
	case SHUTDOWN_EV_POD:
	case SHUTDOWN_EV_POD_GONE:
	case SHUTDOWN_EV_LISTED:
	case SHUTDOWN_EV_VOLUME:
	case SHUTDOWN_EV_VOLUME_GONE:
	case SHUTDOWN_EV_EVIDENCE:
		r = shutdown_advance(sd, event->type, event);
		break;
	default:
		return -EINVAL;
	}
	sd->stats.refused += r == -ENOMEM;
	return r;
}

void shutdown_settle(struct shutdown *sd, uint64_t now_ns)
{
	note_time(sd, now_ns);
	decide(sd);
}

int shutdown_new(const struct shutdown_config *config, struct shutdown **ret)
{
	struct shutdown *sd;

	if ((unsigned int)config->mode >= SHUTDOWN_MODE_COUNT || !config->effect)
		return -EINVAL;
	sd = calloc(1, sizeof(*sd));
	if (!sd)
		return -ENOMEM;
	sd->config = *config;
	sd->cgroups = config->cgroups ? config->cgroups : &sd->own;
	TAILQ_INIT(&sd->containers);
	*ret = sd;
	return 0;
}

struct shutdown *shutdown_free(struct shutdown *sd)
{
	if (!sd)
		return NULL;
	shutdown_forget_all(sd);
	shutdown_forget_volumes(sd);
	free(sd);
	return NULL;
}

void shutdown_get_status(struct shutdown *sd, struct shutdown_status *ret)
{
	const struct shutdown_survey *survey = shutdown_survey(sd);
	bool going = shutdown_is_on(sd);

	*ret = (struct shutdown_status){
		.state = sd->state,
		.action = sd->action,
		.locked = shutdown_is_locked(sd),
		.going = going,
		.announced_ns = sd->announced_ns,
		.limit_ns = sd->limit_ns,
		.deadline_ns = going ? shutdown_deadline(sd) : 0,
		.containers = sd->n_containers,
		.living = survey->living,
		.stopping = survey->stopping,
		.pods = sd->n_pods - survey->pods_over,
		.pods_stopped = survey->pods_stopped,
		.pods_ended = survey->pods_ended,
		.group = sd->plan.at,
	};
}

void shutdown_count_pods(struct shutdown *sd, uint32_t group,
			 uint64_t ret[static SHUTDOWN_POD_STATE_COUNT])
{
	uint32_t last = sd->plan.n ? sd->plan.n - 1 : 0;
	const struct shutdown_pod_rec *pod;

	/* It marks those that are stopped. */
	shutdown_survey(sd);
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		if (pod->was_over || (pod->facts.group < last ? pod->facts.group : last) != group)
			continue;
		if (pod->facts.ended)
			ret[SHUTDOWN_POD_ENDED]++;
		else
			ret[pod->stopped ? SHUTDOWN_POD_STOPPING : SHUTDOWN_POD_RUNNING]++;
	}
}

void shutdown_get_stats(const struct shutdown *sd, struct shutdown_stats *ret)
{
	*ret = sd->stats;
	ret->lost_ns = sd->lost_ns;
}

/* --- words ---------------------------------------------------------------------------------- */

enum shutdown_action shutdown_action_of(const char *type)
{
	int action = words_find(&words_shutdown_action, type);

	if (strcmp(type, "poweroff") == 0)
		return SHUTDOWN_POWER_OFF;
	return action < 0 ? SHUTDOWN_UNKNOWN : (enum shutdown_action)action;
}
