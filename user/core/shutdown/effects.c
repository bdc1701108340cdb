// SPDX-License-Identifier: Apache-2.0
/* What leaves core/shutdown: effects, records, and the wish to be woken; and by when. */
#include <string.h>

#include "base/time.h"
#include "core/pods/kill_grace.h"
#include "core/shutdown/priv.h"

void shutdown_do(struct shutdown *sd, enum effect_type type, uint64_t id, uint64_t at_ns)
{
	const struct effect effect = {.type = type, .id = id, .at_ns = at_ns};

	sd->config.effect(sd->config.userdata, &effect);
}

void shutdown_do_pod(struct shutdown *sd, enum effect_type type, const char *uid, uint64_t at_ns)
{
	struct effect effect = {.type = type, .at_ns = at_ns};

	strcpy(effect.pod_uid, uid);
	sd->config.effect(sd->config.userdata, &effect);
}

struct shutdown_record shutdown_record(struct shutdown *sd, enum shutdown_report what)
{
	const struct shutdown_survey *survey = shutdown_survey(sd);

	return (struct shutdown_record){
		.what = what,
		.at_ns = sd->now_ns,
		.mode = sd->config.mode,
		.action = sd->action,
		.locked = shutdown_is_locked(sd),
		.announced_ns = sd->announced_ns,
		.limit_ns = sd->limit_ns,
		.living = survey->living,
		.stopping = survey->stopping,
	};
}

void shutdown_report(struct shutdown *sd, const struct shutdown_record *record)
{
	const struct effect effect = {.type = EFFECT_REPORT, .step = record};

	sd->config.effect(sd->config.userdata, &effect);
}

void shutdown_report_plain(struct shutdown *sd, enum shutdown_report what)
{
	const struct shutdown_record record = shutdown_record(sd, what);

	shutdown_report(sd, &record);
}

void shutdown_report_group(struct shutdown *sd, enum shutdown_report what, bool timed_out)
{
	struct shutdown_record record = shutdown_record(sd, what);

	record.group = sd->plan.at;
	record.group_ns = sd->plan.groups[sd->plan.at].ns;
	record.planned_ns = what == SHUTDOWN_REPORT_GROUP_STARTED ? sd->plan.turned_ns : 0;
	record.timed_out = timed_out;
	shutdown_report(sd, &record);
}

uint64_t shutdown_least(const struct shutdown_container_rec *rec)
{
	return rec->facts.outside ? 0 : KILLGRACE_MIN_S * NS_PER_S;
}

/* By the clock, from when the kernel sent the signal: to the end of the group that is under way
 * then, if that is sooner than its own. */
uint64_t shutdown_given(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	const struct shutdown_turn *turn = &rec->turn;
	uint64_t sent_ns = rec->facts.asked_ns;
	uint64_t asked_ns = turn->asked_ns ? turn->asked_ns : beyond(sent_ns, sd->lost_ns);
	uint64_t left_ns = beyond(shutdown_sum(turn->end_ns, sd->lost_ns), sent_ns);

	if (!sent_ns || turn->end_ns >= shutdown_sum(asked_ns, turn->stop_ns))
		return turn->stop_ns;
	return left_ns > shutdown_least(rec) ? left_ns : shutdown_least(rec);
}

void shutdown_report_container(struct shutdown *sd, const struct shutdown_container_rec *rec,
			       enum shutdown_report what, bool deaf)
{
	struct shutdown_record record = shutdown_record(sd, what);

	record.container = rec->facts;
	record.container.pod_uid = rec->pod ? rec->pod->pod->uid : "";
	record.group = shutdown_group_of(sd, rec);
	record.deaf = deaf;
	if (rec->turn.given_ns || what == SHUTDOWN_REPORT_LATE) {
		record.container.timeout_known = true;
		record.container.timeout_ns = shutdown_given(sd, rec);
	}
	shutdown_report(sd, &record);
}

static uint64_t margin(uint64_t limit_ns)
{
	uint64_t margin_ns = limit_ns / 10;

	if (margin_ns > SHUTDOWN_MARGIN_MAX_NS)
		margin_ns = SHUTDOWN_MARGIN_MAX_NS;
	if (margin_ns < SHUTDOWN_MARGIN_MIN_NS)
		margin_ns = SHUTDOWN_MARGIN_MIN_NS;
	return margin_ns < limit_ns / 2 ? margin_ns : limit_ns / 2;
}

static uint64_t before_limit(const struct shutdown *sd, uint64_t ns)
{
	return shutdown_sum(shutdown_sum(sd->announced_ns, sd->by_hand_ns), sd->limit_ns - ns);
}

uint64_t shutdown_deadline(const struct shutdown *sd)
{
	return before_limit(sd, margin(sd->limit_ns));
}

uint64_t shutdown_flush_end(const struct shutdown *sd)
{
	uint64_t last_ns = before_limit(sd, margin(sd->limit_ns) / 2);
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

void shutdown_kill(struct shutdown *sd, struct shutdown_container_rec *rec, bool deaf)
{
	const struct effect effect = {.type = EFFECT_KILL, .id = rec->facts.id, .deaf = deaf};

	rec->turn.killed_ns = sd->now_ns;
	sd->config.effect(sd->config.userdata, &effect);
	shutdown_want(sd, shutdown_sum(sd->now_ns, SHUTDOWN_SURVIVES_NS));
}
