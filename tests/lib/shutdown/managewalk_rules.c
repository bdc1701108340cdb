// SPDX-License-Identifier: Apache-2.0
/* What must be true of every shutdown in mode manage, independently of how core/shutdown comes to
 * it. */
#include <string.h>

#include "lib/shutdown/managewalk_priv.h"
#include "lib/shutdown/margin.h"

const char *const managewalk_uids[PODS] = {"web", "dns", "api"};

uint64_t managewalk_roll(struct managewalk *w, uint64_t sides)
{
	return w->roll(w->userdata) % sides;
}

bool managewalk_chance(struct managewalk *w, uint64_t of)
{
	return managewalk_roll(w, of) == 0;
}

void managewalk_must(struct managewalk *w, bool holds, const char *sentence)
{
	if (!holds && !w->broken)
		w->broken = sentence;
}

struct managewalk_moment managewalk_now(const struct managewalk *w)
{
	return (struct managewalk_moment){w->now_ns, w->now_ns - w->stalled_ns,
					  w->now_ns - w->noticed_ns};
}

/* --- what is true of the world ---------------------------------------------------------------- */

bool managewalk_is_managed(const struct managewalk_container *c)
{
	/* A rule decides until the container's turn. */
	return c->there && c->facts.populated && !c->left &&
	       (c->facts.kind == SHUTDOWN_KIND_CONTAINER || (c->facts.outside && c->turned));
}

/* The kubelet's least is for pods. */
static uint64_t least(const struct managewalk_container *c)
{
	return c->facts.outside ? 0 : LEAST;
}

static size_t group_of(const struct managewalk *w, const struct managewalk_container *c)
{
	size_t group = c->pod < PODS ? w->pods[c->pod].group : 0;

	if (c->facts.outside)
		group = c->turned ? c->group : c->facts.group;

	if (w->n_groups == 0)
		return 0;
	return group < w->n_groups ? group : w->n_groups - 1;
}

static bool is_empty(const struct managewalk *w, size_t group)
{
	for (size_t i = 0; i < CONTAINERS; i++)
		if (managewalk_is_managed(&w->list[i]) && group_of(w, &w->list[i]) == group)
			return false;
	return true;
}

static uint64_t deadline(const struct managewalk *w)
{
	return w->announced_ns + w->limit_ns - margin_ns(w->limit_ns);
}

/* It came after the last group and the limit: what restarts it does so for ever. */
static bool is_too_late(const struct managewalk *w, const struct managewalk_container *c)
{
	struct shutdown_status status;

	if (!c->facts.outside || c->turned || w->now_ns < deadline(w))
		return false;
	shutdown_get_status(w->sd, &status);
	return status.group >= w->n_groups;
}

static bool any_managed(const struct managewalk *w)
{
	for (size_t i = 0; i < CONTAINERS; i++)
		if (managewalk_is_managed(&w->list[i]) && !is_too_late(w, &w->list[i]))
			return true;
	return false;
}

/* Those before it are over, or were empty when their turn came, whatever begins in them later. */
static bool are_done(struct managewalk *w, size_t before)
{
	for (size_t i = 0; i < before; i++) {
		w->done[i] |= !w->started[i] && is_empty(w, i);
		if (!w->done[i])
			return false;
	}
	return true;
}

/* A main container, or a later sidecar, of its pod lives. */
static bool is_obstructed(const struct managewalk *w, const struct managewalk_container *c)
{
	if (!c->facts.sidecar || c->pod == PODS)
		return false;
	for (size_t i = 0; i < CONTAINERS; i++) {
		const struct managewalk_container *other = &w->list[i];

		if (other != c && managewalk_is_managed(other) && other->pod == c->pod &&
		    (!other->facts.sidecar || other->facts.sidecar > c->facts.sidecar))
			return true;
	}
	return false;
}

bool managewalk_awaits_names(const struct managewalk *w)
{
	if (!w->joined_ns || w->now_ns >= w->joined_ns + SHUTDOWN_JOIN_NS)
		return false;
	for (size_t i = 0; i < w->n_groups; i++)
		if (w->started[i] && !w->done[i])
			return false;
	for (size_t i = 0; i < CONTAINERS; i++)
		if (w->list[i].there && w->list[i].facts.populated &&
		    w->list[i].facts.kind == SHUTDOWN_KIND_UNKNOWN)
			return true;
	return false;
}

bool managewalk_is_occupied(const struct managewalk *w, unsigned int pod)
{
	for (size_t i = 0; i < CONTAINERS; i++) {
		const struct managewalk_container *c = &w->list[i];

		if (c->there && c->pod == pod && c->facts.populated &&
		    c->facts.kind != SHUTDOWN_KIND_SANDBOX)
			return true;
	}
	return false;
}

/* Some sandbox has yet to be stopped, for so long at the most. */
static bool awaits_sandbox(const struct managewalk *w, uint64_t since_ns, uint64_t now_ns)
{
	for (size_t i = 0; i < PODS; i++)
		if (w->sandboxes[i].owed)
			return now_ns - since_ns < SHUTDOWN_SANDBOX_NS;
	return false;
}

bool managewalk_is_near_limit(const struct managewalk *w, uint64_t within_ns)
{
	return w->now_ns + within_ns >= deadline(w);
}

/* The group under way; n_groups: none. */
static size_t current(const struct managewalk *w)
{
	for (size_t i = 0; i < w->n_groups; i++)
		if (w->started[i] && !w->done[i])
			return i;
	return w->n_groups;
}

/* --- what it wants ------------------------------------------------------------------------------ */

/* Its grace period begins. What of its group remains is known where no stall is counted in part. */
static void turn(struct managewalk *w, struct managewalk_container *c)
{
	size_t at = current(w);
	uint64_t left_ns = 0, own_ns = w->n_groups ? w->groups[group_of(w, c)] : UINT64_MAX;

	c->group = c->facts.group;
	c->turned = true;
	c->turn_at = managewalk_now(w);
	c->grace_s = INT64_MAX;
	c->has_end = w->n_groups > 0;
	c->end_ran = c->turn_at.ran;
	c->end_counted = c->turn_at.counted;
	if (at < w->n_groups) {
		c->end_ran = w->started_at[at].ran + w->groups[at];
		c->end_counted = w->started_at[at].counted + w->groups[at];
		left_ns = c->end_ran > c->turn_at.ran ? c->end_ran - c->turn_at.ran : 0;
	}
	if (w->n_groups == 0)
		c->grace_s = c->facts.grace.set ? c->facts.grace.s : 30;
	else if (!w->stalled)
		c->grace_s = (int64_t)((left_ns < own_ns ? left_ns : own_ns) / S);
	if (w->n_groups && !w->stalled && c->facts.grace.set && c->facts.grace.s < c->grace_s)
		c->grace_s = c->facts.grace.s;
}

static struct managewalk_container *managed_of(struct managewalk *w, uint64_t id)
{
	struct managewalk_container *c = id >= 1 && id <= CONTAINERS ? &w->list[id - 1] : NULL;

	managewalk_must(w, w->on, "nothing is done outside a shutdown");
	managewalk_must(w, c && managewalk_is_managed(c), "nothing outside managed is touched");
	return c && managewalk_is_managed(c) ? c : NULL;
}

static void check_sidecar(struct managewalk *w, const struct managewalk_container *c)
{
	uint64_t waited_ns = managewalk_now(w).ran - c->turn_at.ran;

	if (!c->facts.sidecar || c->pod == PODS)
		return;
	w->seen->sidecars++;
	w->seen->waited += waited_ns > 0;
	managewalk_must(w,
			!is_obstructed(w, c) || c->grace_s == INT64_MAX ||
				managewalk_now(w).counted - c->turn_at.counted >=
					(uint64_t)c->grace_s * S,
			"a sidecar waits for main containers and later sidecars");
}

/* What StopContainer is given: what is left of its grace period, in whole seconds, at least 2. One
 * outside pods has waited for a process alone that was killed: it has all of its own. */
static int64_t stop_s(const struct managewalk *w, const struct managewalk_container *c)
{
	int64_t waited_s = (int64_t)((managewalk_now(w).ran - c->turn_at.ran) / S);
	int64_t left_s = c->grace_s > waited_s ? c->grace_s - waited_s : 0;

	if (c->facts.outside)
		return c->grace_s > 0 ? c->grace_s : 0;
	return left_s < 2 ? 2 : left_s;
}

void managewalk_plan_exit(struct managewalk *w, struct managewalk_container *c)
{
	if (c->exit_ns || c->nature >= DEAF)
		return;
	c->exit_ns = w->now_ns + 1 + (c->nature == QUICK ? 100 * MS : managewalk_roll(w, 30) * S);
}

void managewalk_note_asked(struct managewalk *w, struct managewalk_container *c)
{
	if (c->asked)
		return;
	c->asked = true;
	c->asked_at = managewalk_now(w);
	/* A hook that took all of its time has left it the least. */
	c->unsure |= c->hook && w->stalled;
	if (c->hook && managewalk_now(w).ran - c->hook_at.ran >= c->stop_ns)
		c->stop_ns = LEAST;
}

static void check_hook(struct managewalk *w, const struct managewalk_container *c,
		       const struct effect *effect)
{
	managewalk_must(w, !effect->hook_ns || (c->facts.hook && !c->facts.asked_ns),
			"a hook that there is comes before the stop signal");
	managewalk_must(w, effect->hook_ns <= effect->at_ns && effect->hook_ns % S == 0,
			"a hook has no more than its container");
	managewalk_must(w,
			effect->at_ns == LEAST || effect->hook_ns == effect->at_ns ||
				!c->facts.hook || c->facts.asked_ns,
			"a hook has all that its container has");
	managewalk_must(w, !effect->hook_ns || !c->facts.grace.set || c->facts.grace.s > 0,
			"a container without a grace period runs no hook");
}

static void take_stop(struct managewalk *w, const struct effect *effect)
{
	struct managewalk_container *c = managed_of(w, effect->id);
	uint64_t most_ns;

	if (!c)
		return;
	managewalk_must(w, w->units_done || w->now_ns >= w->units_ns + SHUTDOWN_UNITS_NS,
			"units are stopped before containers");
	managewalk_must(w, are_done(w, group_of(w, c)) || c->moved, "groups are ended in order");
	managewalk_must(w, !c->given, "a container is stopped once");
	managewalk_must(w, !is_too_late(w, c), "what is restarted for ever is stopped no more");
	if (!c->turned)
		turn(w, c);
	most_ns = w->n_groups ? w->groups[group_of(w, c)] : UINT64_MAX;
	managewalk_must(w, effect->at_ns >= least(c) && effect->at_ns % S == 0,
			"no container of a pod has less than 2 s");
	managewalk_must(w, effect->at_ns <= least(c) || c->moved || effect->at_ns <= most_ns,
			"no container has more than its group");
	managewalk_must(w,
			effect->at_ns <= least(c) || !c->facts.grace.set ||
				effect->at_ns <= (uint64_t)c->facts.grace.s * S,
			"no container has more than its pod");
	if (c->grace_s != INT64_MAX && !w->stalled && !c->moved)
		managewalk_must(w, effect->at_ns == (uint64_t)stop_s(w, c) * S,
				"a container has what the kubelet would leave it");
	check_hook(w, c, effect);
	check_sidecar(w, c);
	w->seen->stops++;
	w->seen->outside += c->facts.outside;
	c->given = true;
	if (c->pod < PODS)
		w->sandboxes[c->pod].driven = true;
	c->given_at = managewalk_now(w);
	c->stop_ns = effect->at_ns;
	if (c->facts.asked_ns)
		managewalk_note_asked(w, c);
	switch (c->facts.outside && w->runtime == RUNS_HOOKS ? FAILS : w->runtime) {
	case HANGS:
		break;
	case FAILS:
		c->fail_ns = w->now_ns + 1 + managewalk_roll(w, 40) * 100 * MS;
		break;
	case RUNS_HOOKS:
		c->hook_ns = w->now_ns + 1 + managewalk_roll(w, 30) * 100 * MS;
		break;
	default:
		c->ask_ns = w->now_ns + 1 +
			    (w->runtime == LAGS ? managewalk_roll(w, 40) : 0) * 100 * MS;
	}
}

static void take_signal(struct managewalk *w, const struct effect *effect)
{
	struct managewalk_container *c = managed_of(w, effect->id);

	if (!c)
		return;
	managewalk_must(w, c->given && !c->asked, "who was asked is not asked again");
	managewalk_must(w, c->failed || managewalk_now(w).counted - c->given_at.counted >= UNSEEN,
			"a runtime has 2 s to ask");
	managewalk_must(w,
			c->failed || !c->hook ||
				managewalk_now(w).counted - c->hook_at.counted >= c->stop_ns,
			"a hook comes before the stop signal");
	managewalk_must(w, effect->signal == (c->facts.stop_signal ? c->facts.stop_signal : 15),
			"it is the container's own stop signal");
	w->seen->signals++;
	c->signalled = true;
	managewalk_note_asked(w, c);
	if (managewalk_chance(w, 2))
		c->send_ns = w->now_ns + 1 + managewalk_roll(w, 20) * 100 * MS;
	managewalk_plan_exit(w, c);
}

static void take_kill(struct managewalk *w, uint64_t id)
{
	struct managewalk_container *c = managed_of(w, id);
	uint64_t counted_ns;

	if (!c)
		return;
	managewalk_must(w, c->asked, "who is killed was asked before");
	counted_ns = managewalk_now(w).counted - c->asked_at.counted;
	managewalk_must(w, c->killed || counted_ns >= least(c),
			"no container of a pod has less than 2 s before SIGKILL");
	managewalk_must(w,
			c->killed || c->unsure || counted_ns >= c->stop_ns ||
				(c->has_end && managewalk_now(w).counted >= c->end_counted),
			"nothing is killed before its time");
	w->seen->kills += !c->killed;
	c->killed = true;
	c->killed_ns = w->now_ns;
	if (c->nature != STUCK && !c->exit_ns)
		c->exit_ns = w->now_ns + 1;
}

static void take_sandbox(struct managewalk *w, const char *uid)
{
	unsigned int pod = 0;
	struct managewalk_sandbox *s;

	managewalk_must(w, w->on, "nothing is done outside a shutdown");
	while (pod < PODS - 1 && strcmp(managewalk_uids[pod], uid) != 0)
		pod++;
	s = &w->sandboxes[pod];
	managewalk_must(w, strcmp(managewalk_uids[pod], uid) == 0 && s->driven,
			"no sandbox is stopped but that of a pod that was");
	managewalk_must(w, !managewalk_is_occupied(w, pod),
			"no sandbox is stopped while something else is in the pod");
	managewalk_must(w, !s->given, "a sandbox is stopped once");
	w->seen->sandboxes++;
	s->given = s->owed = true;
	s->answer_ns = w->runtime == HANGS ? 0 : w->now_ns + 1 + managewalk_roll(w, 40) * 100 * MS;
	w->sandbox_at = managewalk_now(w);
}

static void take_drop(struct managewalk *w)
{
	managewalk_must(w, w->lock, "only a lock that is held is released");
	w->lock = w->flushing = false;
	w->handed_over = true;
	if (w->released || w->held_late)
		return;
	managewalk_must(w, w->on, "the lock goes in a shutdown alone");
	managewalk_must(w, w->now_ns >= deadline(w) || !any_managed(w),
			"the lock is held while a managed container lives and time remains");
	managewalk_must(w,
			w->now_ns >= deadline(w) || !awaits_sandbox(w, w->sandbox_at.counted,
								    managewalk_now(w).counted),
			"the lock is held until sandboxes are stopped, for 2 s");
	managewalk_must(w, w->now_ns >= deadline(w) || !managewalk_awaits_names(w),
			"a process that was started anew holds until it knows what lives");
	w->released = true;
}

static void take_record(struct managewalk *w, const struct shutdown_record *r)
{
	size_t g = r->group;

	switch (r->what) {
	case SHUTDOWN_REPORT_GROUP_STARTED:
		managewalk_must(w, g < w->n_groups && !w->started[g], "a group begins once");
		managewalk_must(w, are_done(w, g),
				"no group begins before those before it are over");
		managewalk_must(w, !is_empty(w, g), "empty groups are skipped");
		w->started[g] = true;
		w->started_at[g] = managewalk_now(w);
		w->seen->groups++;
		for (size_t i = 0; i < CONTAINERS; i++)
			if (managewalk_is_managed(&w->list[i]) && !w->list[i].turned &&
			    group_of(w, &w->list[i]) <= g)
				turn(w, &w->list[i]);
		break;
	case SHUTDOWN_REPORT_GROUP_DONE:
		managewalk_must(w, w->started[g], "a group ends that began");
		managewalk_must(w,
				is_empty(w, g) ||
					managewalk_now(w).counted - w->started_at[g].counted >=
						w->groups[g],
				"a group has its time while a container of it lives");
		managewalk_must(w, r->timed_out == !is_empty(w, g),
				"a group with survivors timed out");
		w->done[g] = true;
		w->seen->timed_out += r->timed_out;
		break;
	case SHUTDOWN_REPORT_RELEASED:
		managewalk_must(w, r->reason == SHUTDOWN_ALL_STOPPED || r->reason == SHUTDOWN_LIMIT,
				"manage has two reasons");
		managewalk_must(w,
				(r->reason == SHUTDOWN_LIMIT) == (w->now_ns >= deadline(w)) ||
					r->reason == SHUTDOWN_ALL_STOPPED,
				"the limit is a reason when it has come");
		managewalk_must(w, r->reason != SHUTDOWN_ALL_STOPPED || !any_managed(w),
				"all are stopped when all are empty");
		managewalk_must(w, r->locked == w->lock, "a record has whether the lock is held");
		w->seen->all_stopped += r->reason == SHUTDOWN_ALL_STOPPED;
		w->seen->limit += r->reason == SHUTDOWN_LIMIT;
		if (!w->lock)
			w->released = true;
		break;
	case SHUTDOWN_REPORT_SURVIVES:
		w->seen->survived++;
		break;
	default:
		break;
	}
}

static void take_units(struct managewalk *w, bool stop)
{
	if (stop) {
		managewalk_must(w, w->on && !w->units_wanted,
				"units are stopped once in a shutdown");
		w->units_wanted = true;
		w->units_ns = w->now_ns;
		w->units_pending++;
		return;
	}
	managewalk_must(w, w->units_wanted, "only units that were stopped are started");
	w->units_wanted = false;
}

void managewalk_take(void *userdata, const struct effect *effect)
{
	struct managewalk *w = userdata;

	switch (effect->type) {
	case EFFECT_TAKE_LOCK:
		w->asked = true;
		break;
	case EFFECT_FLUSH:
		w->flushing = true;
		break;
	case EFFECT_DROP_LOCK:
		take_drop(w);
		break;
	case EFFECT_KILL:
		take_kill(w, effect->id);
		break;
	case EFFECT_STOP:
		take_stop(w, effect);
		break;
	case EFFECT_SIGNAL:
		take_signal(w, effect);
		break;
	case EFFECT_STOP_SANDBOX:
		take_sandbox(w, effect->pod_uid);
		break;
	case EFFECT_STOP_UNITS:
	case EFFECT_START_UNITS:
		take_units(w, effect->type == EFFECT_STOP_UNITS);
		break;
	case EFFECT_WAKE_AT:
		managewalk_must(w, !effect->at_ns || effect->at_ns > w->now_ns,
				"it wants to be woken later, and never spins");
		w->wake_ns = effect->at_ns;
		break;
	case EFFECT_REPORT:
		take_record(w, effect->step);
		break;
	case EFFECT_LIST_HOLDERS:
		break;
	default:
		managewalk_must(w, false, "manage looks at nothing and waits for no status");
	}
}

/* --- what must be true between two steps
 * ----------------------------------------------------------- */

/* One whose group has come is given to the runtime, but for a sidecar that waits. */
static void check_given(struct managewalk *w, struct managewalk_container *c)
{
	size_t g = group_of(w, c);
	bool due = w->n_groups == 0 || (w->started[g] || w->done[g]);

	if (is_too_late(w, c) || (!due && !c->turned))
		return;
	if (!c->turned)
		turn(w, c);
	managewalk_must(
		w, c->given || (c->facts.sidecar && c->pod < PODS),
		"a container whose group has come is stopped at once, also one that appears");
	managewalk_must(w, c->given || is_obstructed(w, c),
			"a sidecar that nothing obstructs is stopped");
	managewalk_must(w,
			c->given || c->grace_s == INT64_MAX ||
				managewalk_now(w).ran - c->turn_at.ran < (uint64_t)c->grace_s * S,
			"a sidecar waits for its grace period at most");
}

static void check_asked(struct managewalk *w, const struct managewalk_container *c)
{
	uint64_t from = c->hooked && c->hook ? c->hook_at.ran + c->stop_ns : c->given_at.ran;

	if (!c->given || c->asked)
		return;
	managewalk_must(w, !c->failed,
			"a container whose runtime fails is asked directly, at once");
	managewalk_must(w, managewalk_now(w).ran < from + UNSEEN,
			"a container whose runtime hangs is asked directly after 2 s");
}

static void check_killed(struct managewalk *w, const struct managewalk_container *c)
{
	uint64_t ran_ns = managewalk_now(w).ran - c->asked_at.ran;
	bool dying = c->facts.kill_ns && w->now_ns < c->facts.kill_ns + SHUTDOWN_SURVIVES_NS;

	managewalk_must(w, !c->killed || w->now_ns < c->killed_ns + SHUTDOWN_SURVIVES_NS,
			"what survives is killed again");
	if (!c->asked || c->killed || dying)
		return;
	managewalk_must(w, ran_ns < c->stop_ns,
			"nothing that was asked outlives its deadline unkilled");
	managewalk_must(w, !c->has_end || ran_ns < least(c) || managewalk_now(w).ran < c->end_ran,
			"nothing that was asked late outlives its group unkilled");
}

static void check_groups(struct managewalk *w, size_t at)
{
	for (size_t i = 0; i < w->n_groups; i++) {
		if (i < at && !w->done[i]) {
			managewalk_must(w, !w->started[i] && is_empty(w, i),
					"a group is passed when over");
			w->done[i] = true;
		}
		if (w->started[i] && !w->done[i])
			managewalk_must(w,
					managewalk_now(w).ran - w->started_at[i].ran < w->groups[i],
					"no group lasts beyond its budget");
		if (w->started[i] && !w->done[i])
			managewalk_must(w, !is_empty(w, i), "a group is over when it is empty");
	}
}

static void check_sandboxes(struct managewalk *w)
{
	for (unsigned int i = 0; i < PODS; i++)
		managewalk_must(
			w,
			!w->sandboxes[i].driven || w->sandboxes[i].given ||
				managewalk_is_occupied(w, i),
			"the sandbox of a pod that was stopped is stopped once it is empty");
}

void managewalk_check(struct managewalk *w)
{
	bool names = managewalk_awaits_names(w);
	bool awaits = names || awaits_sandbox(w, w->sandbox_at.ran, managewalk_now(w).ran);
	struct shutdown_status status;

	shutdown_get_status(w->sd, &status);
	managewalk_must(w, status.locked == w->lock, "it knows whether it holds");
	managewalk_must(w, status.going == w->on, "it knows whether there is a shutdown");
	managewalk_must(w, w->on == w->units_wanted, "units are stopped while a shutdown is on");
	if (!w->on)
		return;
	if (w->units_done || w->now_ns >= w->units_ns + SHUTDOWN_UNITS_NS) {
		check_groups(w, status.group);
		for (size_t i = 0; i < CONTAINERS; i++) {
			if (!managewalk_is_managed(&w->list[i]))
				continue;
			if (w->list[i].turned || !names)
				check_given(w, &w->list[i]);
			check_asked(w, &w->list[i]);
			check_killed(w, &w->list[i]);
		}
		check_sandboxes(w);
		managewalk_must(w, status.state != SHUTDOWN_GOING || any_managed(w) || awaits,
				"the lock goes when all are empty");
		managewalk_must(w, status.state != SHUTDOWN_UNLOCKED || any_managed(w) || awaits,
				"a shutdown without a lock is over when all are empty");
	}
	if (!w->lock)
		return;
	managewalk_must(w, w->now_ns < w->announced_ns + w->limit_ns,
			"the lock never outlasts logind's limit");
	managewalk_must(w, status.state != SHUTDOWN_GOING || w->now_ns < deadline(w),
			"it releases a margin before the limit");
}
