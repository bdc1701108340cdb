// SPDX-License-Identifier: Apache-2.0
/* What must be true of every shutdown, independently of how core/shutdown comes to it. */
#include <string.h>

#include "lib/shutdown/margin.h"
#include "lib/shutdown/shutwalk_priv.h"

void shutwalk_break(struct shutwalk *w, const char *sentence)
{
	if (!w->broken)
		w->broken = sentence;
}

static void must(struct shutwalk *w, bool holds, const char *sentence)
{
	if (!holds)
		shutwalk_break(w, sentence);
}

static uint64_t end(const struct shutwalk *w, uint64_t before_ns)
{
	uint64_t ns = w->limit_ns - before_ns;

	return __builtin_add_overflow(w->announced_ns, ns, &ns) ? UINT64_MAX : ns;
}

uint64_t shutwalk_deadline(const struct shutwalk *w)
{
	return end(w, margin_ns(w->limit_ns));
}

bool shutwalk_lives(const struct shutwalk_container *c)
{
	return c->known && c->facts.populated &&
	       (c->facts.kind == SHUTDOWN_KIND_CONTAINER || c->facts.kind == SHUTDOWN_KIND_UNKNOWN);
}

bool shutwalk_is_stopped(const struct shutwalk *w, const struct shutwalk_container *c)
{
	return c->facts.asked_ns ||
	       (c->pod < SHUTWALK_PODS && w->pods[c->pod].known && w->pods[c->pod].facts.stopping);
}

static uint64_t status_wait_ns(const struct shutwalk *w)
{
	return w->config.status_wait_ns ?: SHUTDOWN_STATUS_MAX_NS;
}

static size_t living(const struct shutwalk *w, bool only_stopped)
{
	size_t n = 0;

	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		n += shutwalk_lives(&w->containers[i]) &&
		     (!only_stopped || shutwalk_is_stopped(w, &w->containers[i]));
	return n;
}

static size_t group_of(const struct shutwalk *w, const struct shutwalk_container *c)
{
	size_t group = c->pod < SHUTWALK_PODS ? w->pods[c->pod].facts.group : 0;

	return group < w->n_groups ? group : w->n_groups - 1;
}

static bool is_empty(const struct shutwalk *w, size_t group)
{
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (shutwalk_lives(&w->containers[i]) && group_of(w, &w->containers[i]) == group)
			return false;
	return true;
}

/* Every group before its own is over, or has nothing left. */
static bool is_its_turn(const struct shutwalk *w, const struct shutwalk_container *c)
{
	if (w->n_groups == 0)
		return true;
	for (size_t i = 0; i < group_of(w, c); i++)
		if (!w->group_done[i] && !is_empty(w, i))
			return false;
	return true;
}

/* At least so much of the machine's running time has passed since it was asked. */
static bool has_waited(const struct shutwalk *w, const struct shutwalk_container *c, uint64_t ns)
{
	uint64_t stalled_ns = w->stalled_ns - c->stalled_ns;

	return ns <= w->seen_ns && w->seen_ns - ns >= c->facts.asked_ns + stalled_ns;
}

/* Looked at when its time had come, a moment ago: no process in it was signalled. */
static bool is_useless(const struct shutwalk *w, const struct shutwalk_container *c)
{
	const struct shutdown_container *f = &c->facts;
	uint64_t grace_ns = w->config.deaf_grace_ns;

	return grace_ns && has_waited(w, c, grace_ns) && f->looked_ns >= f->asked_ns + grace_ns &&
	       w->seen_ns - f->looked_ns < SHUTDOWN_LOOK_NS && f->signalled_ns < w->announced_ns &&
	       (!f->ending_ns || f->signalled_ns < f->ending_ns);
}

static struct shutwalk_container *known_of(struct shutwalk *w, uint64_t id)
{
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].known && w->containers[i].facts.id == id)
			return &w->containers[i];
	return NULL;
}

static void take_look(struct shutwalk *w, uint64_t id)
{
	struct shutwalk_container *c = known_of(w, id);

	must(w, c, "only a container is looked at");
	if (!c)
		return;
	must(w, c->facts.deaf && w->config.deaf_grace_ns && w->config.mode == SHUTDOWN_ASSIST,
	     "only what may be of no use is looked at");
	must(w, has_waited(w, c, w->config.deaf_grace_ns), "nothing is looked at too early");
	w->seen->looks++;
	c->looking = true;
}

static void take_kill(struct shutwalk *w, uint64_t id)
{
	struct shutwalk_container *c = known_of(w, id);
	const struct shutdown_container *f;
	bool deaf, overdue;

	must(w, c, "only a container is killed");
	if (!c)
		return;
	f = &c->facts;
	must(w, w->config.mode == SHUTDOWN_ASSIST, "observe kills nothing");
	must(w, w->on && w->lock && !w->released, "only what holds in a shutdown kills");
	must(w, w->seen_ns < shutwalk_deadline(w), "nothing is killed when time is up");
	must(w, f->kind == SHUTDOWN_KIND_CONTAINER, "only what is known for a container is killed");
	must(w, f->populated, "nothing empty is killed");
	must(w, f->asked_ns && f->asked_ns >= w->announced_ns,
	     "nothing is killed that was not asked in this shutdown");
	must(w, !f->kill_ns || c->killed, "what another has killed is left to it");
	must(w, is_its_turn(w, c), "none of a later group is killed");
	overdue = f->timeout_known && has_waited(w, c, f->timeout_ns + w->config.overdue_slack_ns);
	deaf = f->deaf && is_useless(w, c);
	must(w, overdue || deaf || c->killed, "nothing is killed before its time");
	w->seen->killed += !c->killed;
	w->seen->again += c->killed;
	w->seen->deaf += !c->killed && !overdue;
	c->killed = true;
}

static void take_drop(struct shutwalk *w)
{
	must(w, w->lock, "only a lock that is held is let go");
	w->lock = false;
	w->flushing = false;
	if (w->released) {
		w->seen->late_locks++;
		return;
	}
	w->released = true;
	w->free_ns = w->seen_ns;
	must(w, w->on, "the lock goes in a shutdown alone");
	must(w,
	     w->config.mode == SHUTDOWN_OBSERVE || w->seen_ns >= shutwalk_deadline(w) ||
		     living(w, true) == 0,
	     "assist holds while a container that is being stopped lives and time remains");
}

/* Somebody stops containers, or the kubelet has yet to. */
static bool is_driven(const struct shutwalk *w)
{
	bool kubelet = !w->listed || w->listed_kubelet;

	return living(w, true) > 0 || (living(w, false) > 0 && kubelet);
}

static void mark_pods(struct shutwalk *w)
{
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++) {
		const struct shutwalk_container *c = &w->containers[i];
		struct shutwalk_pod *pod = c->pod < SHUTWALK_PODS ? &w->pods[c->pod] : NULL;

		if (!pod || !c->known || !c->facts.populated)
			continue;
		pod->stopped |= shutwalk_lives(c) && shutwalk_is_stopped(w, c);
		pod->was_there |= c->facts.kind != SHUTDOWN_KIND_SANDBOX;
	}
	for (size_t i = 0; i < SHUTWALK_PODS; i++) {
		struct shutwalk_pod *pod = &w->pods[i];

		pod->stopped |= pod->facts.stopping;
		pod->was_there |= pod->known && !pod->stopped && !pod->facts.ended;
	}
}

/* Something is being stopped, or was: not a pod that had ended before. */
static bool stops_any(struct shutwalk *w)
{
	mark_pods(w);
	for (size_t i = 0; i < SHUTWALK_PODS; i++)
		if (w->pods[i].stopped && (w->pods[i].was_there || !w->pods[i].facts.ended))
			return true;
	return living(w, true) > 0;
}

/* It first waits for facts of a shutdown that it joined late. */
static bool is_joining(struct shutwalk *w)
{
	return w->late_ns && !w->any_stopped && !stops_any(w) && living(w, false) > 0 &&
	       w->seen_ns < w->late_ns + SHUTDOWN_JOIN_NS;
}

static bool has_living(const struct shutwalk *w, size_t pod)
{
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (shutwalk_lives(&w->containers[i]) && w->containers[i].pod == pod)
			return true;
	return false;
}

/* Nothing stops any more what lives in a pod that was stopped and whose end is awaited. */
static bool is_left(const struct shutwalk *w)
{
	for (size_t i = 0; i < SHUTWALK_PODS; i++) {
		const struct shutwalk_pod *pod = &w->pods[i];

		if (pod->stopped && !pod->facts.ended && !pod->facts.unlisted && has_living(w, i))
			return true;
	}
	return false;
}

/* What logind said before says nothing of now. */
static bool is_in_the_dark(const struct shutwalk *w)
{
	return w->list_failed || (w->listing && w->seen_ns >= w->list_ns + SHUTDOWN_LIST_NS);
}

bool shutwalk_kubelet_may_hold(const struct shutwalk *w)
{
	return w->listed ? w->listed_kubelet : !is_in_the_dark(w);
}

/* At the limit it says what is left: containers, or their status alone. */
static void check_reason(struct shutwalk *w, enum shutdown_reason reason)
{
	bool limit = reason == SHUTDOWN_LIMIT;

	must(w, !limit || w->seen_ns >= shutwalk_deadline(w),
	     "the limit is a reason when it has come");
	if (w->config.mode == SHUTDOWN_OBSERVE) {
		must(w, reason != SHUTDOWN_LOCKS_UNKNOWN || !is_driven(w),
		     "in the dark observe holds while containers are stopped");
		must(w,
		     !limit || (living(w, false) > 0 &&
				(!w->listed || w->n_listed > 0 || is_in_the_dark(w))),
		     "the limit is no reason to end what is over");
		return;
	}
	must(w, w->seen_ns >= shutwalk_deadline(w) || !shutwalk_must_wait(w),
	     "a volume that is unmounted some time is waited for");
	must(w, limit || !is_driven(w), "while containers are stopped the limit alone is a reason");
	must(w, !limit || is_driven(w) || is_joining(w) || is_left(w),
	     "the limit is a reason while containers are stopped, or left in pods that were");
	must(w,
	     reason != SHUTDOWN_STATUS_LATE || w->seen_ns >= shutwalk_deadline(w) ||
		     (w->empty_ns && w->seen_ns >= w->empty_ns + status_wait_ns(w)),
	     "a status is late by statusWait or the limit");
	must(w, reason != SHUTDOWN_STATUS_LATE || w->seen_ns < shutwalk_deadline(w) || !is_left(w),
	     "no status is late at the limit while its pod is left");
}

static void take_record(struct shutwalk *w, const struct shutdown_record *r)
{
	must(w, w->on || r->what == SHUTDOWN_REPORT_CANCELLED,
	     "records are reported in a shutdown only");
	must(w, r->living == living(w, false), "a record counts what lives");
	must(w, r->stopping == living(w, true), "a record counts what is stopped");
	switch (r->what) {
	case SHUTDOWN_REPORT_GROUP_DONE:
		must(w, r->group < w->n_groups, "only groups of the plan are reported");
		if (r->group < SHUTWALK_GROUPS)
			w->group_done[r->group] = true;
		w->seen->groups++;
		break;
	case SHUTDOWN_REPORT_SURVIVES:
		w->seen->survived++;
		break;
	case SHUTDOWN_REPORT_RELEASED:
		check_reason(w, r->reason);
		must(w, r->reason != SHUTDOWN_VOLUMES_LEFT || r->n_volumes > 0,
		     "volumes are a reason where some are left");
		w->seen->reasons[r->reason]++;
		break;
	case SHUTDOWN_REPORT_HELD_UP:
		must(w, !w->lock && r->n_holders > 0, "others hold up what graced does not");
		must(w, living(w, true) == 0, "nothing is held up while containers are stopped");
		must(w, w->seen_ns >= w->free_ns + SHUTDOWN_HELD_UP_NS,
		     "who lets go in time holds nothing up");
		w->seen->held_up++;
		break;
	default:
		break;
	}
}

/* A pod known only by its containers may be listed: no source has denied it. */
static void take_ask(struct shutwalk *w, const char *uid)
{
	size_t i = 0;

	while (i < SHUTWALK_PODS && strcmp(shutwalk_uids[i], uid) != 0)
		i++;
	must(w, w->config.mode == SHUTDOWN_ASSIST, "observe asks for no status");
	must(w, w->on && w->lock && !w->released,
	     "a status is asked for while the lock may stay for it");
	must(w, i < SHUTWALK_PODS, "a status is that of a pod");
	if (i == SHUTWALK_PODS)
		return;
	must(w, !has_living(w, i), "no status is asked for before a pod is empty");
	must(w, !w->pods[i].known || !w->pods[i].facts.ended, "nor when it is seen");
	must(w, !w->pods[i].known || !w->pods[i].facts.unlisted, "nor where nobody can show it");
	w->seen->status_asked++;
	w->sources[w->pods[i].facts.is_static].asked = true;
	if (!w->sources[w->pods[i].facts.is_static].owed_ns)
		w->sources[w->pods[i].facts.is_static].owed_ns = w->seen_ns;
}

void shutwalk_take(void *userdata, const struct effect *effect)
{
	struct shutwalk *w = userdata;

	w->effects++;
	switch (effect->type) {
	case EFFECT_TAKE_LOCK:
		must(w, !w->lock && !w->on, "a lock is asked for when there is none to hold");
		w->asked = true;
		break;
	case EFFECT_FLUSH:
		w->flushing = true;
		break;
	case EFFECT_DROP_LOCK:
		take_drop(w);
		break;
	case EFFECT_LIST_HOLDERS:
		if (!w->listing)
			w->list_ns = w->seen_ns;
		w->listing = true;
		break;
	case EFFECT_READ_COUNTS:
		take_look(w, effect->id);
		break;
	case EFFECT_KILL:
		take_kill(w, effect->id);
		break;
	case EFFECT_FIND_POD:
		take_ask(w, effect->pod_uid);
		break;
	case EFFECT_WAKE_AT:
		must(w, !effect->at_ns || effect->at_ns > w->seen_ns,
		     "it wants to be woken later, and never spins");
		w->wake_ns = effect->at_ns;
		break;
	case EFFECT_REPORT:
		take_record(w, effect->step);
		break;
	case EFFECT_WATCH_VOLUMES:
	case EFFECT_LEAVE_VOLUMES:
		shutwalk_take_volumes(w, effect->type == EFFECT_WATCH_VOLUMES);
		break;
	default:
		shutwalk_break(w,
			       "who does not manage stops nothing, and nothing is written to the "
			       "API unless it is configured");
	}
}

static void check_observe(struct shutwalk *w)
{
	must(w, living(w, false) > 0, "observe holds for containers that live");
	must(w, !w->listed || w->n_listed > 0 || is_in_the_dark(w), "observe never holds alone");
	must(w, !is_in_the_dark(w) || is_driven(w),
	     "observe holds in the dark while containers are stopped alone");
}

/* A kubelet that holds its lock is there, and it keeps the machine up. */
static bool may_answer(const struct shutwalk *w, size_t i)
{
	uint64_t kubelet_ns = i == 1 ? w->kubelet_ns : 0;
	uint64_t since_ns = w->sources[i].since_ns, owed_ns = w->sources[i].owed_ns;

	if (shutwalk_kubelet_may_hold(w))
		return true;
	if (!w->sources[i].answers && w->seen_ns >= since_ns + SHUTDOWN_API_AWAY_NS &&
	    w->seen_ns >= kubelet_ns + SHUTDOWN_API_AWAY_NS)
		return false;
	return !owed_ns || w->seen_ns < owed_ns + SHUTDOWN_API_SILENT_NS ||
	       w->seen_ns < kubelet_ns + SHUTDOWN_API_SILENT_NS;
}

static bool status_is_missing(const struct shutwalk *w, bool may_come)
{
	for (size_t i = 0; i < SHUTWALK_PODS; i++) {
		const struct shutdown_pod *pod = &w->pods[i].facts;

		if ((!w->pods[i].known || (!pod->ended && !pod->unlisted)) &&
		    (!may_come || may_answer(w, pod->is_static)))
			return true;
	}
	return false;
}

static void check_assist(struct shutwalk *w)
{
	if (is_driven(w) || is_joining(w)) {
		w->empty_ns = 0;
		return;
	}
	if (!w->empty_ns) {
		w->empty_ns = w->seen_ns;
		w->lost_ns = 0;
	}
	if (shutwalk_may_wait(w))
		return;
	must(w, w->seen_ns < w->empty_ns + w->lost_ns + status_wait_ns(w),
	     "assist waits for a status for as long as it shall");
	must(w, status_is_missing(w, false), "assist waits for a status that is missing");
	must(w, status_is_missing(w, true), "assist waits for a status that somebody can show");
}

/* What was empty when its turn came is over, whatever is started in it later. */
static void check_groups(struct shutwalk *w, size_t at)
{
	for (size_t i = 0; i < at && i < w->n_groups; i++) {
		must(w, w->group_done[i] || is_empty(w, i), "a group is passed when it is over");
		w->group_done[i] = true;
	}
}

void shutwalk_check(struct shutwalk *w)
{
	struct shutdown_status status;

	shutdown_get_status(w->sd, &status);
	must(w, status.locked == w->lock, "it knows whether it holds");
	must(w, status.going == w->on, "it knows whether there is a shutdown");
	must(w, w->effects <= 8 + 5 * SHUTWALK_CONTAINERS + 2 * SHUTWALK_GROUPS,
	     "a step does a bounded number of things");
	if (status.state == SHUTDOWN_ASKING)
		must(w, w->asked || w->wake_ns, "a lock that was refused is asked for again");
	if (w->on) {
		check_groups(w, status.group);
		w->any_stopped |= stops_any(w);
		shutwalk_mark_volumes(w);
	}
	if (!w->on || !w->lock)
		return;
	must(w, w->seen_ns < end(w, 0), "the lock never outlasts logind's limit");
	must(w, w->wake_ns && w->wake_ns <= end(w, margin_ns(w->limit_ns) / 2),
	     "it wakes in time for logind's limit");
	if (status.state != SHUTDOWN_GOING)
		return;
	must(w, w->seen_ns < shutwalk_deadline(w), "it lets go a margin before the limit");
	if (w->config.mode == SHUTDOWN_OBSERVE)
		check_observe(w);
	else
		check_assist(w);
}
