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
	shutdown_do(sd, SHUTDOWN_WAKE_AT, 0, at_ns);
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
		.containers = sd->containers.count,
		.living = survey->living,
		.stopping = survey->stopping,
		.pods = sd->pods.count - survey->pods_over,
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
	for (size_t i = 0; (pod = map_next(&sd->pods, &i));) {
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

static const char *const modes[SHUTDOWN_MODE_COUNT] = {
	[SHUTDOWN_OBSERVE] = "observe",
	[SHUTDOWN_ASSIST] = "assist",
	[SHUTDOWN_MANAGE] = "manage",
};

const char *shutdown_mode_name(enum shutdown_mode mode)
{
	return (unsigned int)mode < SHUTDOWN_MODE_COUNT ? modes[mode] : NULL;
}

int shutdown_mode_parse(const char *text, enum shutdown_mode *ret)
{
	for (int i = 0; i < SHUTDOWN_MODE_COUNT; i++) {
		if (strcmp(modes[i], text) != 0)
			continue;
		*ret = (enum shutdown_mode)i;
		return 0;
	}
	return -EINVAL;
}

static const char *const states[SHUTDOWN_STATE_COUNT] = {
	[SHUTDOWN_AWAY] = "away",	  [SHUTDOWN_ASKING] = "asking",
	[SHUTDOWN_HOLDING] = "holding",	  [SHUTDOWN_GOING] = "going",
	[SHUTDOWN_FLUSHING] = "flushing", [SHUTDOWN_UNLOCKED] = "unlocked",
	[SHUTDOWN_RELEASED] = "released",
};

const char *shutdown_state_name(enum shutdown_state state)
{
	return (unsigned int)state < SHUTDOWN_STATE_COUNT ? states[state] : NULL;
}

int shutdown_state_parse(const char *text, enum shutdown_state *ret)
{
	for (int i = 0; i < SHUTDOWN_STATE_COUNT; i++) {
		if (strcmp(states[i], text) != 0)
			continue;
		*ret = (enum shutdown_state)i;
		return 0;
	}
	return -EINVAL;
}

const char *shutdown_action_name(enum shutdown_action action)
{
	static const char *const names[SHUTDOWN_ACTION_COUNT] = {
		[SHUTDOWN_UNKNOWN] = "unknown", [SHUTDOWN_POWER_OFF] = "power-off",
		[SHUTDOWN_REBOOT] = "reboot",	[SHUTDOWN_HALT] = "halt",
		[SHUTDOWN_KEXEC] = "kexec",	[SHUTDOWN_SOFT_REBOOT] = "soft-reboot",
	};

	return (unsigned int)action < SHUTDOWN_ACTION_COUNT ? names[action] : NULL;
}

enum shutdown_action shutdown_action_of(const char *type)
{
	if (strcmp(type, "poweroff") == 0)
		return SHUTDOWN_POWER_OFF;
	for (int i = SHUTDOWN_UNKNOWN + 1; i < SHUTDOWN_ACTION_COUNT; i++)
		if (strcmp(shutdown_action_name((enum shutdown_action)i), type) == 0)
			return (enum shutdown_action)i;
	return SHUTDOWN_UNKNOWN;
}

const char *shutdown_reason_name(enum shutdown_reason reason)
{
	static const char *const names[SHUTDOWN_REASON_COUNT] = {
		[SHUTDOWN_NO_OTHER_LOCK] = "no-other-lock",
		[SHUTDOWN_LOCKS_UNKNOWN] = "locks-unknown",
		[SHUTDOWN_ALL_EMPTY] = "all-empty",
		[SHUTDOWN_NOBODY_STOPS] = "nobody-stops",
		[SHUTDOWN_PODS_ENDED] = "pods-ended",
		[SHUTDOWN_VOLUMES_LEFT] = "volumes-left",
		[SHUTDOWN_STATUS_LATE] = "status-late",
		[SHUTDOWN_API_UNREACHABLE] = "api-unreachable",
		[SHUTDOWN_API_SERVER_STOPPED] = "api-server-stopped",
		[SHUTDOWN_LIMIT] = "limit",
		[SHUTDOWN_ALL_STOPPED] = "all-stopped",
	};

	return (unsigned int)reason < SHUTDOWN_REASON_COUNT ? names[reason] : NULL;
}

const char *shutdown_pod_state_name(enum shutdown_pod_state state)
{
	static const char *const names[SHUTDOWN_POD_STATE_COUNT] = {
		[SHUTDOWN_POD_RUNNING] = "running",
		[SHUTDOWN_POD_STOPPING] = "stopping",
		[SHUTDOWN_POD_ENDED] = "ended",
	};

	return (unsigned int)state < SHUTDOWN_POD_STATE_COUNT ? names[state] : NULL;
}

const char *shutdown_report_name(enum shutdown_report what)
{
	static const char *const names[SHUTDOWN_REPORT_COUNT] = {
		[SHUTDOWN_REPORT_ANNOUNCED] = "announced",
		[SHUTDOWN_REPORT_GROUP_STARTED] = "group-started",
		[SHUTDOWN_REPORT_GROUP_DONE] = "group-done",
		[SHUTDOWN_REPORT_LATE] = "container-late",
		[SHUTDOWN_REPORT_OVERDUE] = "pod-overdue",
		[SHUTDOWN_REPORT_KILLED] = "container-killed",
		[SHUTDOWN_REPORT_SURVIVES] = "container-survives",
		[SHUTDOWN_REPORT_RELEASED] = "released",
		[SHUTDOWN_REPORT_HELD_UP] = "held-up",
		[SHUTDOWN_REPORT_CANCELLED] = "cancelled",
		[SHUTDOWN_REPORT_ENDED] = "ended",
	};

	return (unsigned int)what < SHUTDOWN_REPORT_COUNT ? names[what] : NULL;
}

const char *shutdown_write_name(enum shutdown_write result)
{
	static const char *const names[SHUTDOWN_WRITE_COUNT] = {
		[SHUTDOWN_WRITTEN] = "written",	      [SHUTDOWN_WRITE_THERE] = "already-there",
		[SHUTDOWN_WRITE_GONE] = "gone",	      [SHUTDOWN_WRITE_CONFLICT] = "conflict",
		[SHUTDOWN_WRITE_REFUSED] = "refused", [SHUTDOWN_WRITE_GAVE_UP] = "gave-up",
	};

	return (unsigned int)result < SHUTDOWN_WRITE_COUNT ? names[result] : NULL;
}

const char *shutdown_withheld_name(enum shutdown_withheld why)
{
	static const char *const names[SHUTDOWN_WITHHELD_COUNT] = {
		[SHUTDOWN_WITHHELD_ALIVE] = "alive",	 [SHUTDOWN_WITHHELD_LOST] = "records-lost",
		[SHUTDOWN_WITHHELD_UNNAMED] = "unnamed", [SHUTDOWN_WITHHELD_KUBELET] = "kubelet",
		[SHUTDOWN_WITHHELD_LATE] = "late",
	};

	return (unsigned int)why < SHUTDOWN_WITHHELD_COUNT ? names[why] : NULL;
}
