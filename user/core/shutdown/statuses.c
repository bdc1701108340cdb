// SPDX-License-Identifier: Apache-2.0
/*
 * The last status of pods, where graced writes it to the API, and the node's out-of-service taint.
 *
 * A status is written once no container of the pod can run any more: all of them are empty, and
 * the kubelet is stopped (manage), or has ended its part without writing (assist).
 */
#include <string.h>

#include "core/shutdown/death.h"
#include "core/shutdown/priv.h"

/* Others that write at the same time are heard so often. */
#define CONFLICTS_MAX 8

/* --- who else writes ---------------------------------------------------------------------------- */

/* The kubelet writes what changes at once, and all it has every 10 s (docs/kubelet-rules.md,
 * "Status merge"). One whose process has ended writes no more. */
static uint64_t kubelet_end_ns(const struct shutdown *sd, const struct shutdown_pod_rec *pod)
{
	const struct shutdown_holders *h = &sd->holders;
	uint64_t from_ns = pod->empty_ns > h->kubelet_ns ? pod->empty_ns : h->kubelet_ns;

	if (!h->known || h->kubelet || !h->kubelet_ns)
		return UINT64_MAX;
	if (sd->volumes.unmounter_known && !sd->volumes.unmounter)
		return from_ns;
	return shutdown_sum(from_ns, SHUTDOWN_KUBELET_WRITES_NS);
}

/* A kubelet that still runs could start what has ended again. */
static bool is_kubelet_stopped(const struct shutdown *sd)
{
	return sd->config.stops_kubelet && sd->drive.units_sure &&
	       sd->drive.stage == SHUTDOWN_DRIVE_GROUPS;
}

/* A process that was started in the shutdown has asked systemd again, and waits for the answer. */
static bool are_units_awaited(struct shutdown *sd)
{
	uint64_t end_ns = shutdown_sum(sd->drive.units_ns, SHUTDOWN_UNITS_NS);

	if (sd->drive.stage != SHUTDOWN_DRIVE_GROUPS || sd->drive.units_owed == 0 ||
	    sd->now_ns >= end_ns)
		return false;
	shutdown_want(sd, end_ns);
	return true;
}

static bool is_writer(struct shutdown *sd, const struct shutdown_pod_rec *pod)
{
	uint64_t end_ns;

	if (sd->config.mode == SHUTDOWN_MANAGE)
		return is_kubelet_stopped(sd);
	end_ns = kubelet_end_ns(sd, pod);
	if (shutdown_counted(sd) >= end_ns)
		return true;
	if (end_ns < UINT64_MAX)
		shutdown_want_counted(sd, end_ns);
	return false;
}

/* --- which are written ------------------------------------------------------------------------ */

/* The status of static pods is the kubelet's own, which it may not have written. */
static bool is_shown(const struct shutdown_pod_rec *pod)
{
	return pod->facts.ended && !pod->facts.is_static;
}

bool shutdown_status_is_owed(const struct shutdown *sd, const struct shutdown_pod_rec *pod)
{
	const struct shutdown_pod *facts = &pod->facts;

	return sd->config.statuses && pod->stopped && pod->was_occupied && !pod->occupied &&
	       facts->named && !is_shown(pod) && !facts->lost && !sd->evidence.cgroups_lost &&
	       sd->stats.refused == 0 && !pod->written && !pod->write_failed;
}

static void judge_status(struct shutdown *sd, struct shutdown_pod_rec *pod)
{
	bool due = shutdown_status_is_owed(sd, pod) && !pod->facts.pending && is_writer(sd, pod);

	if (due == pod->writing)
		return;
	pod->writing = due;
	sd->surveyed = false;
	if (due && !sd->writes_ns)
		sd->writes_ns = shutdown_counted(sd);
	shutdown_do_pod(sd, due ? EFFECT_WRITE_STATUS : EFFECT_LEAVE_STATUS, pod->pod->uid,
			shutdown_deadline(sd));
}

void shutdown_judge_statuses(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	if (!sd->config.statuses)
		return;
	shutdown_survey(sd);
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));)
		judge_status(sd, pod);
}

int shutdown_note_status(struct shutdown *sd, const struct shutdown_event *event)
{
	const char *uid = event->status.uid;
	struct shutdown_pod_rec *pod = uid ? shutdown_pod(sd, uid) : NULL;
	enum shutdown_write result = event->status.result;

	if (!pod || !shutdown_is_on(sd)) {
		sd->stats.unexpected++;
		return 0;
	}
	sd->writes_ns = shutdown_counted(sd);
	if ((unsigned int)result < SHUTDOWN_WRITE_COUNT) {
		sd->statuses.writes[result]++;
		sd->stats.statuses.writes[result]++;
	}
	/* One that was called back may have been written all the same. */
	if (result == SHUTDOWN_WRITTEN || result == SHUTDOWN_WRITE_THERE ||
	    result == SHUTDOWN_WRITE_GONE)
		pod->written = true;
	else if (result == SHUTDOWN_WRITE_CONFLICT && ++pod->conflicts < CONFLICTS_MAX)
		pod->write_failed = false;
	else
		pod->write_failed = pod->writing;
	pod->writing = false;
	sd->surveyed = false;
	return 0;
}

/* SHUTDOWN_WITHHELD_COUNT: it was written, attempted in vain, or there is none to write. */
static enum shutdown_withheld why_withheld(struct shutdown *sd, const struct shutdown_pod_rec *pod)
{
	const struct shutdown_pod *facts = &pod->facts;

	if (!pod->stopped || !pod->was_occupied || is_shown(pod) || pod->written ||
	    pod->write_failed)
		return SHUTDOWN_WITHHELD_COUNT;
	if (pod->occupied)
		return SHUTDOWN_WITHHELD_ALIVE;
	if (facts->lost || sd->evidence.cgroups_lost || sd->stats.refused > 0)
		return SHUTDOWN_WITHHELD_LOST;
	if (!facts->named)
		return SHUTDOWN_WITHHELD_UNNAMED;
	return is_writer(sd, pod) ? SHUTDOWN_WITHHELD_LATE : SHUTDOWN_WITHHELD_KUBELET;
}

void shutdown_sum_statuses(struct shutdown *sd, struct shutdown_record *ret)
{
	struct shutdown_pod_rec *pod;

	if (!sd->config.statuses)
		return;
	shutdown_survey(sd);
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		enum shutdown_withheld why = why_withheld(sd, pod);

		if (why == SHUTDOWN_WITHHELD_COUNT || pod->withheld)
			continue;
		pod->withheld = true;
		sd->statuses.withheld[why]++;
		sd->stats.statuses.withheld[why]++;
	}
	ret->statuses_known = true;
	ret->statuses = sd->statuses;
}

bool shutdown_status_is_late(struct shutdown *sd)
{
	uint64_t wait_ns = sd->config.status_wait_ns ?: SHUTDOWN_STATUS_MAX_NS;
	uint64_t end_ns = shutdown_sum(sd->empty_ns, wait_ns);

	if (sd->now_ns >= shutdown_deadline(sd) || shutdown_counted(sd) >= end_ns)
		return true;
	shutdown_want_counted(sd, end_ns);
	return false;
}

/* True: the lock is held for statuses; else *ret is why it is released without them, if so. */
bool shutdown_statuses_hold(struct shutdown *sd, enum shutdown_reason *ret)
{
	uint64_t from_ns = sd->writes_ns > sd->empty_ns ? sd->writes_ns : sd->empty_ns;
	uint64_t silent_ns = shutdown_sum(from_ns, SHUTDOWN_WRITE_SILENT_NS);

	if (shutdown_survey(sd)->statuses_owed == 0 ||
	    (!is_kubelet_stopped(sd) && !are_units_awaited(sd)))
		return false;
	if (shutdown_survey(sd)->api_stopped)
		*ret = SHUTDOWN_API_SERVER_STOPPED;
	else if (shutdown_counted(sd) >= silent_ns)
		*ret = SHUTDOWN_API_UNREACHABLE;
	else if (shutdown_status_is_late(sd))
		*ret = SHUTDOWN_STATUS_LATE;
	else {
		shutdown_want_counted(sd, silent_ns);
		return true;
	}
	return false;
}

void shutdown_leave_statuses(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		if (pod->writing)
			shutdown_do_pod(sd, EFFECT_LEAVE_STATUS, pod->pod->uid,
					shutdown_deadline(sd));
		pod->writing = false;
	}
}

/* --- proof of death --------------------------------------------------------------------------- */

static size_t count_populated(const struct shutdown *sd)
{
	const struct shutdown_container_rec *rec;
	size_t n = 0;

	TAILQ_FOREACH(rec, &sd->containers, all)
		n += rec->facts.populated && !rec->facts.outside;
	return n;
}

/* A kubelet that is about to release its lock, or has, admits no pod until its process ends; one
 * that systemd has started since would. */
static bool may_start(const struct shutdown *sd)
{
	if (sd->config.mode == SHUTDOWN_MANAGE)
		return !is_kubelet_stopped(sd);
	return !sd->volumes.unmounter_known || !sd->volumes.unmounter;
}

static bool is_dead(const struct shutdown *sd)
{
	const struct death_facts facts = {
		.boot = sd->evidence.boot,
		.now_boot = sd->evidence.boot,
		.complete = sd->evidence.complete,
		.lost = sd->evidence.lost || sd->stats.refused > 0,
		.populated = count_populated(sd),
		.mounts_known = sd->volumes.watched && sd->volumes.read && !sd->volumes.failed,
		.mounts = sd->volumes.list.count,
		.may_start = may_start(sd),
	};

	return death_is_proven(&facts);
}

/* True: the lock is held until the taint is set, or refused. */
bool shutdown_taint_holds(struct shutdown *sd)
{
	struct shutdown_taint *t = &sd->taint;
	uint64_t end_ns;

	if (!sd->config.taint || t->answered)
		return false;
	if (are_units_awaited(sd))
		return true;
	if (!is_dead(sd))
		return false;
	if (!t->asked_ns) {
		t->asked_ns = shutdown_counted(sd);
		shutdown_do(sd, EFFECT_SET_TAINT, 0, shutdown_deadline(sd));
	}
	end_ns = shutdown_sum(t->asked_ns, SHUTDOWN_WRITE_SILENT_NS);
	if (shutdown_counted(sd) >= end_ns)
		return false;
	shutdown_want_counted(sd, end_ns);
	return true;
}

void shutdown_clear_taint(struct shutdown *sd)
{
	if (sd->taint.asked_ns)
		shutdown_do(sd, EFFECT_CLEAR_TAINT, 0, 0);
	sd->taint = (struct shutdown_taint){};
}

/* What was proven does not hold any more: something runs again. */
void shutdown_judge_taint(struct shutdown *sd)
{
	bool watched = sd->state == SHUTDOWN_GOING || sd->state == SHUTDOWN_FLUSHING;

	if (sd->taint.asked_ns &&
	    (count_populated(sd) > 0 || sd->evidence.lost || (watched && !is_dead(sd))))
		shutdown_clear_taint(sd);
}

int shutdown_note_taint(struct shutdown *sd, const struct shutdown_event *event)
{
	if (sd->taint.asked_ns)
		sd->taint.answered = true;
	else
		sd->stats.unexpected++;
	return 0;
}
