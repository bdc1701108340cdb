// SPDX-License-Identifier: Apache-2.0
/* The status of pods that are stopped in a shutdown: when it is queried, and how long the lock is
 * held for it. */
#include "core/shutdown/priv.h"

static void ask_all(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	for (size_t i = 0; (pod = map_next(&sd->pods, &i));) {
		struct shutdown_source *source = &sd->sources[pod->facts.is_static];

		if (!pod->unseen)
			continue;
		pod->asked = true;
		if (!source->owed_ns)
			source->owed_ns = shutdown_counted(sd);
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

/* A question that failed before the shutdown says nothing of it. A kubelet that holds its lock is
 * alive, however slow it is: its own answers may come until some time after it has let go. */
static uint64_t away_ns(const struct shutdown *sd, const struct shutdown_source *source)
{
	uint64_t from_ns = source->kubelet ? sd->holders.kubelet_ns : 0, at_ns = UINT64_MAX;

	if (!source->reachable)
		at_ns = shutdown_sum(source->since_ns > from_ns ? source->since_ns : from_ns,
				     SHUTDOWN_API_AWAY_NS);
	if (source->owed_ns) {
		uint64_t owed_ns = source->owed_ns > from_ns ? source->owed_ns : from_ns;
		uint64_t silent_ns = shutdown_sum(owed_ns, SHUTDOWN_API_SILENT_NS);

		at_ns = silent_ns < at_ns ? silent_ns : at_ns;
	}
	return at_ns;
}

/* No source that could show a status answers. */
static bool all_are_away(struct shutdown *sd)
{
	bool away = true;

	for (size_t i = 0; i < 2; i++) {
		uint64_t at_ns = away_ns(sd, &sd->sources[i]);

		if (shutdown_survey(sd)->awaited[i] == 0 || shutdown_counted(sd) >= at_ns)
			continue;
		if (at_ns < UINT64_MAX)
			shutdown_want_counted(sd, at_ns);
		away = false;
	}
	return away;
}

static bool is_late(struct shutdown *sd)
{
	uint64_t wait_ns = sd->config.status_wait_ns ?: SHUTDOWN_STATUS_MAX_NS;
	uint64_t end_ns = shutdown_sum(sd->empty_ns, wait_ns);

	if (sd->now_ns >= shutdown_deadline(sd) || shutdown_counted(sd) >= end_ns)
		return true;
	shutdown_want_counted(sd, end_ns);
	return false;
}

bool shutdown_status_lets_go(struct shutdown *sd, enum shutdown_reason *ret)
{
	const struct shutdown_survey *s = shutdown_survey(sd);
	size_t awaited = s->awaited[0] + s->awaited[1];

	if (!sd->any_stopped) {
		*ret = SHUTDOWN_NOBODY_STOPS;
	} else if (s->pods_unended == 0 || (awaited == 0 && s->pods_shown > 0)) {
		*ret = SHUTDOWN_PODS_ENDED;
	} else if (awaited == 0) {
		*ret = SHUTDOWN_API_UNREACHABLE;
	} else if (all_are_away(sd)) {
		*ret = SHUTDOWN_API_UNREACHABLE;
		/* While the kubelet holds its own lock the machine stays up in any case: to wait
		 * with it costs nothing, and the source may come back. */
		return is_late(sd) || !(sd->holders.known && sd->holders.kubelet);
	} else if (s->api_stopped) {
		*ret = SHUTDOWN_API_SERVER_STOPPED;
	} else {
		*ret = SHUTDOWN_STATUS_LATE;
		return is_late(sd);
	}
	return true;
}
