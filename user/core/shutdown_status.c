// SPDX-License-Identifier: Apache-2.0
/* The status of pods that are stopped in a shutdown: when it is asked for, and how long the lock
 * stays for it. */
#include "core/shutdown_priv.h"

static void ask_all(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	for (size_t i = 0; (pod = map_next(&sd->pods, &i));) {
		if (!pod->unseen)
			continue;
		pod->asked = true;
		sd->config.effect(sd->config.userdata,
				  &(struct shutdown_effect){.type = SHUTDOWN_ASK_STATUS,
							    .uid = pod->uid});
	}
	sd->survey.pods_unasked = 0;
}

/* A source's own rhythm is too slow for it: at once when a pod is empty, and again at every tick
 * until that can be seen. */
void shutdown_ask_status(struct shutdown *sd)
{
	const struct shutdown_survey *s = shutdown_survey(sd);

	if (sd->config.mode != SHUTDOWN_ASSIST || sd->state != SHUTDOWN_GOING ||
	    s->pods_unseen == 0)
		return;
	if (s->pods_unasked > 0 || sd->now_ns >= sd->ask_ns) {
		ask_all(sd);
		sd->ask_ns = shutdown_sum(sd->now_ns, SHUTDOWN_TICK_NS);
	}
	shutdown_want(sd, sd->ask_ns);
}

/* A question that failed before the shutdown says nothing of it. */
static bool is_away(struct shutdown *sd)
{
	uint64_t away_ns = shutdown_sum(sd->api_ns, SHUTDOWN_API_AWAY_NS);

	if (sd->api)
		return false;
	if (shutdown_counted(sd) >= away_ns)
		return true;
	shutdown_want_counted(sd, away_ns);
	return false;
}

bool shutdown_status_lets_go(struct shutdown *sd, enum shutdown_reason *ret)
{
	const struct shutdown_survey *s = shutdown_survey(sd);
	uint64_t end_ns = shutdown_sum(sd->empty_ns, sd->config.status_wait_ns);

	if (!sd->any_stopped) {
		*ret = SHUTDOWN_NOBODY_STOPS;
	} else if (s->pods_unended == 0) {
		*ret = SHUTDOWN_PODS_ENDED;
	} else if (s->pods_awaited == 0 || is_away(sd)) {
		*ret = SHUTDOWN_API_UNREACHABLE;
	} else if (s->api_stopped) {
		*ret = SHUTDOWN_API_SERVER_STOPPED;
	} else if (shutdown_counted(sd) >= end_ns) {
		*ret = SHUTDOWN_STATUS_LATE;
	} else {
		shutdown_want_counted(sd, end_ns);
		return false;
	}
	return true;
}
