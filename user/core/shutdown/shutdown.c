// SPDX-License-Identifier: Apache-2.0
/* A step of a shutdown: its time, its event, the rules, and when it wants to be woken. */
#include "core/shutdown/shutdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/shutdown/priv.h"

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
