// SPDX-License-Identifier: Apache-2.0
/* A step of a shutdown: its time, its event, the rules, and when it wants to be woken. */
#include "core/shutdown/shutdown.h"

#include <errno.h>
#include <stdlib.h>

#include "core/shutdown/priv.h"

/* Whatever is wished next is told, also that it is nothing. */
#define WISH_USED UINT64_MAX

void shutdown_do(struct shutdown *sd, enum shutdown_effect_type type, uint64_t id, uint64_t at_ns)
{
	const struct shutdown_effect effect = {.type = type, .id = id, .at_ns = at_ns};

	sd->config.effect(sd->config.userdata, &effect);
}

static bool is_locked(const struct shutdown *sd)
{
	return sd->state == SHUTDOWN_HOLDING || sd->state == SHUTDOWN_GOING ||
	       sd->state == SHUTDOWN_FLUSHING;
}

struct shutdown_record shutdown_record(struct shutdown *sd, enum shutdown_told told)
{
	const struct shutdown_survey *survey = shutdown_survey(sd);

	return (struct shutdown_record){
		.told = told,
		.at_ns = sd->now_ns,
		.mode = sd->config.mode,
		.action = sd->action,
		.locked = is_locked(sd),
		.announced_ns = sd->announced_ns,
		.limit_ns = sd->limit_ns,
		.living = survey->living,
		.stopping = survey->stopping,
	};
}

void shutdown_tell(struct shutdown *sd, const struct shutdown_record *record)
{
	const struct shutdown_effect effect = {.type = SHUTDOWN_TELL, .record = record};

	sd->config.effect(sd->config.userdata, &effect);
}

void shutdown_tell_plain(struct shutdown *sd, enum shutdown_told told)
{
	const struct shutdown_record record = shutdown_record(sd, told);

	shutdown_tell(sd, &record);
}

static uint64_t before_limit(const struct shutdown *sd, uint64_t margin_ns)
{
	if (sd->limit_ns < margin_ns)
		return sd->announced_ns;
	return shutdown_sum(sd->announced_ns, sd->limit_ns - margin_ns);
}

uint64_t shutdown_deadline(const struct shutdown *sd)
{
	return before_limit(sd, SHUTDOWN_LIMIT_MARGIN_NS);
}

uint64_t shutdown_flush_end(const struct shutdown *sd)
{
	uint64_t last_ns = before_limit(sd, SHUTDOWN_LIMIT_MARGIN_NS / 2);
	uint64_t end_ns = shutdown_sum(sd->flush_ns, SHUTDOWN_FLUSH_NS);

	return end_ns < last_ns ? end_ns : last_ns;
}

void shutdown_want(struct shutdown *sd, uint64_t at_ns)
{
	if (at_ns < sd->next_ns)
		sd->next_ns = at_ns;
}

void shutdown_want_counted(struct shutdown *sd, uint64_t at_ns)
{
	shutdown_want(sd, shutdown_sum(at_ns, sd->lost_ns));
}

void shutdown_let_go(struct shutdown *sd, enum shutdown_reason reason)
{
	struct shutdown_record record = shutdown_record(sd, SHUTDOWN_TOLD_RELEASED);

	record.reason = reason;
	record.holders = sd->holders.list;
	record.n_holders = sd->holders.n;
	record.n_listed = sd->holders.n_listed;
	shutdown_tell(sd, &record);
	shutdown_advance(sd, SHUTDOWN_EV_LET_GO, NULL);
}

/* A timer that comes late tells that nothing ran in between, this program, the kubelet and the
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
	shutdown_do(sd, SHUTDOWN_WAKE_AT, 0, at_ns);
}

static void decide(struct shutdown *sd)
{
	sd->next_ns = UINT64_MAX;
	if (sd->retry_ns)
		shutdown_want(sd, sd->retry_ns);
	if (shutdown_is_on(sd))
		shutdown_judge(sd);
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
	*ret = sd;
	return 0;
}

struct shutdown *shutdown_free(struct shutdown *sd)
{
	if (!sd)
		return NULL;
	shutdown_forget_all(sd);
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
		.locked = is_locked(sd),
		.going = going,
		.announced_ns = sd->announced_ns,
		.limit_ns = sd->limit_ns,
		.deadline_ns = going ? shutdown_deadline(sd) : 0,
		.containers = sd->containers.count,
		.living = survey->living,
		.stopping = survey->stopping,
		.pods = sd->pods.count,
		.pods_stopped = survey->pods_stopped,
		.pods_ended = survey->pods_stopped - survey->pods_unended,
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
	for (size_t i = 0; (pod = map_next(&sd->pods, &i));) {
		if ((pod->facts.group < last ? pod->facts.group : last) != group)
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
