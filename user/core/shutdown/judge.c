// SPDX-License-Identifier: Apache-2.0
/* The rules of a shutdown under way: which group it is at, which container may be ended, when the
 * lock is released. */
#include "base/time.h"
#include "core/shutdown/priv.h"

/* --- the last status of pods ---------------------------------------------------------------- */

static void query_all(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		struct shutdown_source *source = &sd->sources[pod->facts.is_static];

		if (!pod->unseen)
			continue;
		pod->asked = true;
		if (!source->owed_ns)
			source->owed_ns = shutdown_counted(sd);
		shutdown_do_pod(sd, EFFECT_FIND_POD, pod->pod->uid, 0);
	}
	sd->survey.pods_unasked = 0;
}

/* A source's own rhythm is too slow for it: at once when a pod is empty, and again at every tick
 * until that can be seen. */
static void query_status(struct shutdown *sd)
{
	const struct shutdown_survey *s = shutdown_survey(sd);

	if (sd->config.mode != SHUTDOWN_ASSIST || sd->state != SHUTDOWN_GOING ||
	    s->pods_unseen == 0)
		return;
	if (s->pods_unasked > 0 || sd->now_ns >= sd->ask_ns) {
		query_all(sd);
		sd->ask_ns = shutdown_sum(sd->now_ns, SHUTDOWN_TICK_NS);
	}
	shutdown_want(sd, sd->ask_ns);
}

/* --- other locks ---------------------------------------------------------------------------- */

static uint64_t past(uint64_t since_ns, uint64_t now_ns)
{
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

static bool logind_is_silent(const struct shutdown *sd)
{
	const struct shutdown_holders *h = &sd->holders;

	return h->failed || (h->asked && past(h->asked_ns, sd->now_ns) >= SHUTDOWN_LIST_NS);
}

bool shutdown_kubelet_may_hold(const struct shutdown *sd)
{
	return sd->holders.known ? sd->holders.kubelet : !logind_is_silent(sd);
}

/* A question that failed before the shutdown says nothing of it. A kubelet that holds its lock is
 * alive, however slow it is: its own answers may come until some time after it has released it. */
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

static bool status_releases(struct shutdown *sd, enum shutdown_reason *ret)
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
		return shutdown_status_is_late(sd) || !shutdown_kubelet_may_hold(sd);
	} else if (s->api_stopped) {
		*ret = SHUTDOWN_API_SERVER_STOPPED;
	} else {
		/* One that nothing stops any more lives on in a pod that was stopped. */
		bool left = s->pods_unseen < awaited && sd->now_ns >= shutdown_deadline(sd);

		*ret = left ? SHUTDOWN_LIMIT : SHUTDOWN_STATUS_LATE;
		return shutdown_status_is_late(sd);
	}
	return true;
}

/* --- groups, containers, the lock ----------------------------------------------------------- */

/* FNV-1a. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

/* When logind is to be asked again which locks are held: soon while that decides about the own one,
 * later while it fails or owes an answer. */
static uint64_t next_question(const struct shutdown *sd)
{
	const struct shutdown_holders *h = &sd->holders;
	bool decides = sd->config.mode != SHUTDOWN_MANAGE && sd->state == SHUTDOWN_GOING;
	bool soon = decides && !h->asked && !h->failed;

	return shutdown_sum(sd->listed_ns, soon ? SHUTDOWN_HOLDERS_NS : SHUTDOWN_TICK_NS);
}

static void judge_tick(struct shutdown *sd)
{
	if (!sd->listed_ns || sd->now_ns >= next_question(sd)) {
		sd->listed_ns = sd->now_ns;
		if (!sd->holders.asked)
			sd->holders.asked_ns = sd->now_ns;
		sd->holders.asked = true;
		shutdown_do(sd, EFFECT_LIST_HOLDERS, 0, 0);
	}
	shutdown_want(sd, next_question(sd));
}

/* The group's turn has come by the plan; the kubelet begins later, once its pod workers are done. */
static void take_turn(struct shutdown *sd)
{
	struct shutdown_plan *plan = &sd->plan;

	plan->turned_ns = plan->begun ? sd->now_ns : sd->announced_ns;
	plan->started_ns = plan->begun ? shutdown_counted(sd) : sd->announced_ns;
	if (!plan->begun)
		plan->from_ns = sd->announced_ns;
	plan->begun = plan->turned = true;
}

/* The announcement comes by another way than the kernel's records, and the kubelet is as quick. */
#define SOON_NS NS_PER_S

/* The kubelet's time for its first group runs from the announcement, preStop hooks and all; for a
 * later one from when it is seen to be at it. */
static void judge_start(struct shutdown *sd)
{
	struct shutdown_plan *plan = &sd->plan;
	uint64_t asked_ns = shutdown_survey(sd)->asked_in[plan->at];

	if (plan->started || !asked_ns || shutdown_sum(asked_ns, SOON_NS) < plan->from_ns)
		return;
	plan->started = true;
	if (plan->turned_ns != sd->announced_ns)
		plan->started_ns = shutdown_counted(sd);
	shutdown_report_group(sd, SHUTDOWN_REPORT_GROUP_STARTED, false);
}

static void end_turn(struct shutdown *sd)
{
	struct shutdown_plan *plan = &sd->plan;
	uint64_t end_ns = shutdown_sum(plan->from_ns, plan->groups[plan->at].ns);

	plan->from_ns = end_ns < sd->now_ns ? end_ns : sd->now_ns;
	plan->turned = plan->started = false;
}

/* False: it goes on. */
static bool group_is_over(struct shutdown *sd)
{
	const struct shutdown_plan *plan = &sd->plan;
	const struct shutdown_group *group = &plan->groups[plan->at];
	size_t living = shutdown_survey(sd)->living_in[plan->at];
	uint64_t end_ns = shutdown_sum(plan->started_ns, group->ns);
	bool timed_out = shutdown_counted(sd) >= end_ns;

	if (!timed_out && (living > 0 || group->in_full)) {
		shutdown_want_counted(sd, end_ns);
		return false;
	}
	if (plan->started || living > 0)
		shutdown_report_group(sd, SHUTDOWN_REPORT_GROUP_DONE, timed_out && living > 0);
	return true;
}

/* One that was stopped may be gone before logind has said who holds a lock. */
static bool group_has_any(struct shutdown *sd)
{
	const struct shutdown_plan *plan = &sd->plan;
	const struct shutdown_survey *s = shutdown_survey(sd);
	bool ended = !plan->begun && s->asked_in[plan->at] >= sd->announced_ns;

	return ended || s->living_in[plan->at] > 0 || plan->groups[plan->at].in_full;
}

/* Follows the kubelet through its groups (docs/kubelet-rules.md, "Kill phase"), by what is
 * observed. */
static void judge_groups(struct shutdown *sd)
{
	struct shutdown_plan *plan = &sd->plan;

	plan->driven |= sd->holders.kubelet || (!sd->holders.known && logind_is_silent(sd));
	if (!plan->driven)
		return;
	for (; plan->at < plan->n; plan->at++) {
		if (!plan->turned && !group_has_any(sd))
			continue;
		if (!plan->turned)
			take_turn(sd);
		judge_start(sd);
		if (!group_is_over(sd))
			return;
		end_turn(sd);
	}
}

/* Never one of a later group, and nothing while the lock is not held. */
static bool may_kill(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	return sd->config.mode == SHUTDOWN_ASSIST && sd->state == SHUTDOWN_GOING &&
	       rec->facts.kind == SHUTDOWN_KIND_CONTAINER &&
	       (sd->plan.n == 0 || shutdown_group_of(sd, rec) <= sd->plan.at);
}

/* It was asked in this shutdown and has not been killed yet. */
static bool is_pending(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	const struct shutdown_container *c = &rec->facts;

	return c->kind == SHUTDOWN_KIND_CONTAINER && c->asked_ns &&
	       c->asked_ns >= sd->announced_ns && !c->kill_ns && !rec->turn.killed_ns;
}

/* When its own time is over; UINT64_MAX: not known. */
static uint64_t overdue_ns(const struct shutdown *sd, const struct shutdown_container *c)
{
	if (!c->timeout_known)
		return UINT64_MAX;
	return shutdown_sum(shutdown_sum(c->asked_ns, c->timeout_ns), sd->config.overdue_slack_ns);
}

/* By the program that ends its pod: a hook comes before the stop signal, and may signal them all. */
static bool others_signalled(const struct shutdown *sd, const struct shutdown_container *c)
{
	bool before = c->ending_ns && c->ending_ns < sd->announced_ns;

	return c->signalled_ns >= (before ? c->ending_ns : sd->announced_ns);
}

/* When it may be plain that it cannot use its time; UINT64_MAX: never. */
static uint64_t deaf_grace_end_ns(const struct shutdown *sd, const struct shutdown_container *c)
{
	if (!sd->config.deaf_grace_ns || !c->deaf || c->hook || others_signalled(sd, c))
		return UINT64_MAX;
	return shutdown_sum(c->asked_ns, sd->config.deaf_grace_ns);
}

/* None of its processes was signalled by now: a look before the time came, or long ago, does not
 * count. */
static bool deaf_grace_expired(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t at_ns = deaf_grace_end_ns(sd, &rec->facts), looked_ns = rec->facts.looked_ns;

	if (shutdown_counted(sd) < at_ns) {
		shutdown_want_counted(sd, at_ns);
		return false;
	}
	if (rec->look_ns && looked_ns >= rec->look_ns &&
	    past(looked_ns, sd->now_ns) < SHUTDOWN_LOOK_NS)
		return true;
	if (!rec->look_ns || past(rec->look_ns, sd->now_ns) >= SHUTDOWN_LOOK_NS) {
		rec->look_ns = sd->now_ns;
		shutdown_do(sd, EFFECT_READ_COUNTS, rec->facts.id, 0);
	}
	shutdown_want(sd, shutdown_sum(rec->look_ns, SHUTDOWN_LOOK_NS));
	return false;
}

static void judge_pending(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t over_ns = overdue_ns(sd, &rec->facts);
	bool over = shutdown_counted(sd) >= over_ns;

	if (over && !rec->overdue_reported) {
		rec->overdue_reported = true;
		shutdown_report_container(sd, rec, SHUTDOWN_REPORT_OVERDUE, false);
	}
	if (!over)
		shutdown_want_counted(sd, over_ns);
	if (!may_kill(sd, rec) || (!over && !deaf_grace_expired(sd, rec)))
		return;
	shutdown_kill(sd, rec, !over);
	sd->stats.killed++;
	shutdown_report_container(sd, rec, SHUTDOWN_REPORT_KILLED, !over);
}

/* A process that a v1 freezer holds, or that is stuck in the kernel, outlives its SIGKILL. */
static void judge_killed(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t at_ns = rec->turn.killed_ns ? rec->turn.killed_ns : rec->facts.kill_ns;
	uint64_t late_ns = shutdown_sum(at_ns, SHUTDOWN_SURVIVES_NS);

	if (at_ns < sd->announced_ns)
		return;
	if (sd->now_ns < late_ns) {
		shutdown_want(sd, late_ns);
		return;
	}
	if (!rec->survives_reported) {
		rec->survives_reported = true;
		shutdown_report_container(sd, rec, SHUTDOWN_REPORT_SURVIVES, false);
	}
	if (rec->turn.killed_ns && may_kill(sd, rec))
		shutdown_kill(sd, rec, false);
}

static void judge_containers(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;

	TAILQ_FOREACH(rec, &sd->containers, all) {
		if (!shutdown_lives(rec))
			continue;
		if (is_pending(sd, rec))
			judge_pending(sd, rec);
		else if (rec->turn.killed_ns || rec->facts.kill_ns)
			judge_killed(sd, rec);
	}
}

/* Containers are being stopped, or the kubelet has yet to stop those that live. */
static bool is_driven(struct shutdown *sd)
{
	const struct shutdown_survey *s = shutdown_survey(sd);
	bool kubelet = sd->holders.known ? sd->holders.kubelet : true;

	if (sd->config.mode == SHUTDOWN_MANAGE)
		return !shutdown_drive_is_over(sd);
	return s->stopping > 0 || (s->living > 0 && kubelet);
}

/* While logind does not answer, it holds as long as assist would. */
static bool observe_releases(struct shutdown *sd, enum shutdown_reason *ret)
{
	if (shutdown_survey(sd)->living == 0)
		*ret = SHUTDOWN_ALL_EMPTY;
	else if (logind_is_silent(sd))
		*ret = is_driven(sd) ? SHUTDOWN_LIMIT : SHUTDOWN_LOCKS_UNKNOWN;
	else if (sd->holders.known && sd->holders.n == 0)
		*ret = SHUTDOWN_NO_OTHER_LOCK;
	else
		*ret = SHUTDOWN_LIMIT;
	return *ret != SHUTDOWN_LIMIT;
}

/* A graced that was started when pods were being stopped already has to receive their records
 * first. */
static bool is_joining(struct shutdown *sd)
{
	uint64_t end_ns = shutdown_sum(sd->joined_ns, SHUTDOWN_JOIN_NS);

	if (!sd->joined_ns || sd->any_stopped || shutdown_survey(sd)->living == 0 ||
	    sd->now_ns >= end_ns)
		return false;
	shutdown_want(sd, end_ns);
	return true;
}

static bool assist_releases(struct shutdown *sd, enum shutdown_reason *ret)
{
	*ret = SHUTDOWN_LIMIT;
	if (is_driven(sd) || is_joining(sd)) {
		sd->empty_ns = 0;
		return false;
	}
	if (!sd->empty_ns)
		sd->empty_ns = shutdown_counted(sd);
	if (!status_releases(sd, ret))
		return false;
	if (*ret == SHUTDOWN_PODS_ENDED && shutdown_volumes_left(sd) > 0)
		*ret = SHUTDOWN_VOLUMES_LEFT;
	return !shutdown_volumes_hold(sd) && !shutdown_taint_holds(sd);
}

static bool manage_releases(struct shutdown *sd, enum shutdown_reason *ret)
{
	*ret = shutdown_drive_has_stopped(sd) ? SHUTDOWN_ALL_STOPPED : SHUTDOWN_LIMIT;
	if (!shutdown_drive_is_over(sd)) {
		sd->empty_ns = 0;
		return false;
	}
	if (!sd->empty_ns)
		sd->empty_ns = shutdown_counted(sd);
	if (shutdown_volumes_left(sd) > 0)
		*ret = SHUTDOWN_VOLUMES_LEFT;
	return !shutdown_statuses_hold(sd, ret) && !shutdown_volumes_hold(sd) &&
	       !shutdown_taint_holds(sd);
}

static bool releases(struct shutdown *sd, enum shutdown_reason *ret)
{
	switch (sd->config.mode) {
	case SHUTDOWN_ASSIST:
		return assist_releases(sd, ret);
	case SHUTDOWN_MANAGE:
		return manage_releases(sd, ret);
	default:
		return observe_releases(sd, ret);
	}
}

/* The lock is released as soon as records are out. */
static void release_lock(struct shutdown *sd, enum shutdown_reason reason)
{
	struct shutdown_record record = shutdown_record(sd, SHUTDOWN_REPORT_RELEASED);

	record.reason = reason;
	record.holders = sd->holders.list;
	record.n_holders = sd->holders.n;
	record.n_listed = sd->holders.n_listed;
	shutdown_list_volumes(sd, &record);
	shutdown_sum_statuses(sd, &record);
	shutdown_report(sd, &record);
	shutdown_advance(sd, SHUTDOWN_EV_FLUSH, NULL);
}

/* True: the lock is on its way out. */
static bool judge_lock(struct shutdown *sd)
{
	enum shutdown_reason reason;
	bool goes = releases(sd, &reason);

	if (goes || sd->now_ns >= shutdown_deadline(sd))
		release_lock(sd, reason);
	else
		shutdown_want(sd, shutdown_deadline(sd));
	return sd->state != SHUTDOWN_GOING;
}

/* If a container begins to be stopped while records are written, the lock is held for it, too. */
static void judge_flush(struct shutdown *sd)
{
	uint64_t end_ns = shutdown_flush_end(sd);

	if (!sd->flushed && sd->now_ns < end_ns) {
		shutdown_want(sd, end_ns);
		return;
	}
	if (sd->config.mode != SHUTDOWN_OBSERVE && sd->now_ns < shutdown_deadline(sd) &&
	    is_driven(sd)) {
		shutdown_advance(sd, SHUTDOWN_EV_HOLD_ON, NULL);
		return;
	}
	shutdown_advance(sd, SHUTDOWN_EV_DROP, NULL);
}

static uint64_t hash(const struct shutdown_holders *h)
{
	uint64_t sum = HASH_START ^ h->n;

	for (size_t i = 0; i < h->n_listed; i++) {
		for (const char *at = h->who[i]; *at; at++)
			sum = (sum ^ (unsigned char)*at) * HASH_PRIME;
		sum = (sum ^ h->list[i].pid) * HASH_PRIME;
	}
	return sum ? sum : 1;
}

/* Which locks delay the shutdown after graced has released its own and no container is a reason any
 * more: reported once for each set of them. A kubelet that releases its lock a moment after its
 * last pod, as usual, has delayed nothing. */
static void judge_others(struct shutdown *sd)
{
	struct shutdown_holders *h = &sd->holders;
	struct shutdown_record record;
	uint64_t late_ns;

	if (is_driven(sd))
		sd->done_ns = shutdown_counted(sd);
	late_ns = shutdown_sum(sd->done_ns, SHUTDOWN_HELD_UP_NS);
	if (!h->known || h->n == 0 || hash(h) == h->reported)
		return;
	if (shutdown_counted(sd) < late_ns) {
		shutdown_want_counted(sd, late_ns);
		return;
	}
	h->reported = hash(h);
	record = shutdown_record(sd, SHUTDOWN_REPORT_HELD_UP);
	record.holders = h->list;
	record.n_holders = h->n;
	record.n_listed = h->n_listed;
	shutdown_report(sd, &record);
}

void shutdown_judge(struct shutdown *sd)
{
	bool manages = sd->config.mode == SHUTDOWN_MANAGE;

	judge_tick(sd);
	if (manages)
		shutdown_drive(sd);
	else
		judge_groups(sd);
	shutdown_judge_statuses(sd);
	shutdown_judge_taint(sd);
	if (sd->state == SHUTDOWN_FLUSHING)
		judge_flush(sd);
	if (sd->state == SHUTDOWN_GOING && judge_lock(sd))
		judge_flush(sd);
	if (manages && sd->state == SHUTDOWN_UNLOCKED && shutdown_drive_is_over(sd))
		release_lock(sd, SHUTDOWN_ALL_STOPPED);
	if (!manages)
		judge_containers(sd);
	query_status(sd);
	if (sd->state == SHUTDOWN_RELEASED || sd->state == SHUTDOWN_UNLOCKED)
		judge_others(sd);
}
