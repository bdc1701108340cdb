// SPDX-License-Identifier: Apache-2.0
/* The rules of mode manage: graced ends the pods of one group after the other, as the kubelet would
 * (docs/kubelet-rules.md, "Kill phase", "Grace in a shutdown", "Sidecar order"). */
#include <signal.h>

#include "base/time.h"
#include "core/pods/kill_grace.h"
#include "core/shutdown/plan.h"
#include "core/shutdown/priv.h"

/* --- units ---------------------------------------------------------------------------------- */

static void stop_units(struct shutdown *sd)
{
	struct shutdown_drive *d = &sd->drive;

	d->units_ns = sd->now_ns;
	d->units_sure = false;
	d->units_owed++;
	shutdown_do(sd, EFFECT_STOP_UNITS, 0, 0);
}

/* What would restart a container is stopped first. True: the groups may begin. */
static bool units_are_stopped(struct shutdown *sd)
{
	struct shutdown_drive *d = &sd->drive;
	uint64_t end_ns;

	if (d->stage == SHUTDOWN_DRIVE_IDLE) {
		d->stage = SHUTDOWN_DRIVE_UNITS;
		stop_units(sd);
	}
	if (d->stage == SHUTDOWN_DRIVE_GROUPS)
		return true;
	end_ns = shutdown_sum(d->units_ns, SHUTDOWN_UNITS_NS);
	if (d->units_owed > 0 && sd->now_ns < end_ns) {
		shutdown_want(sd, end_ns);
		return false;
	}
	d->stage = SHUTDOWN_DRIVE_GROUPS;
	return true;
}

int shutdown_units_stopped(struct shutdown *sd, const struct shutdown_event *event)
{
	if (sd->drive.units_owed == 0) {
		sd->stats.unexpected++;
		return 0;
	}
	sd->drive.units_owed--;
	sd->drive.units_sure = !event->failed && sd->drive.units_owed == 0;
	return 0;
}

void shutdown_drive_cancel(struct shutdown *sd)
{
	if (sd->drive.stage != SHUTDOWN_DRIVE_IDLE)
		shutdown_do(sd, EFFECT_START_UNITS, 0, 0);
	sd->drive.stage = SHUTDOWN_DRIVE_IDLE;
	sd->drive.units_sure = false;
}

/* --- what each container is given ------------------------------------------------------------ */

static uint64_t group_end(const struct shutdown *sd)
{
	const struct shutdown_plan *plan = &sd->plan;

	if (plan->n == 0)
		return UINT64_MAX;
	if (plan->at == plan->n)
		return shutdown_counted(sd);
	return shutdown_sum(plan->started_ns, plan->groups[plan->at].ns);
}

/* A container that appears later has what is left of the group under way, and no more than its own
 * group has. */
static int64_t grace_of(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	uint64_t own_ns, left_ns;

	if (sd->plan.n == 0)
		return rec->facts.grace.set ? rec->facts.grace.s : SHUTPLAN_GRACE_DEFAULT_S;
	own_ns = sd->plan.groups[shutdown_group_of(sd, rec)].ns;
	left_ns = beyond(group_end(sd), shutdown_counted(sd));
	if (own_ns < left_ns)
		left_ns = own_ns;
	return shutplan_override_s((int64_t)(left_ns / NS_PER_S), rec->facts.grace);
}

/* How long it has once it is given that, after it has waited for its turn. The kubelet's least is
 * for pods, and nothing else waits. */
static uint64_t time_of(const struct shutdown_container_rec *rec, uint64_t wait_ns)
{
	const struct killgrace_kill kill = {.grace_s = rec->turn.grace_s, .wait_ns = wait_ns};

	if (!rec->facts.outside)
		return (uint64_t)killgrace_steps(&kill).stop_s * NS_PER_S;
	return kill.grace_s > 0 ? (uint64_t)kill.grace_s * NS_PER_S : 0;
}

/* Its grace period runs, though a sidecar has yet to wait. */
static void begin_turn(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	struct shutdown_turn *turn = &rec->turn;

	turn->begun_ns = shutdown_counted(sd);
	turn->end_ns = group_end(sd);
	turn->grace_s = grace_of(sd, rec);
	turn->stop_ns = time_of(rec, 0);
	sd->surveyed = false;
	if (turn->late)
		shutdown_report_container(sd, rec, SHUTDOWN_REPORT_LATE, false);
}

/* What begins after graced has released its lock is systemd's to stop. What runs containers outside
 * pods may restart each that is stopped, time and again: that ends with the last group and logind's
 * limit. */
static bool may_begin(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	if (rec->turn.left)
		return false;
	if (rec->facts.outside && sd->plan.at == sd->plan.n && sd->now_ns >= shutdown_deadline(sd))
		return false;
	return sd->plan.n == 0 || shutdown_group_of(sd, rec) <= sd->plan.at;
}

static void begin_turns(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;

	TAILQ_FOREACH(rec, &sd->containers, all)
		if (shutdown_is_managed(rec) && !rec->turn.begun_ns && may_begin(sd, rec))
			begin_turn(sd, rec);
}

/* When a sidecar is stopped, if no container ends until then: what still lives may never end. */
static uint64_t stop_at(struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	const struct shutdown_turn *turn = &rec->turn;
	uint64_t grace_ns = turn->grace_s > 0 ? (uint64_t)turn->grace_s * NS_PER_S : 0, waits[2];
	struct killgrace_turn mains = {.exit_ns = UINT64_MAX};
	struct killgrace_turn sidecars[] = {{.running = true}, {.exit_ns = UINT64_MAX}};

	if (!rec->facts.sidecar || !rec->pod)
		return turn->begun_ns;
	shutdown_survey(sd);
	mains.running = rec->pod->mains > 0;
	sidecars[1].running = rec->pod->last_sidecar > rec->facts.sidecar;
	killgrace_order(&mains, 1, sidecars, 2, grace_ns, waits);
	return shutdown_sum(turn->begun_ns, waits[0]);
}

static void give(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	struct shutdown_turn *turn = &rec->turn;
	const struct killgrace_kill kill = {
		.grace_s = turn->grace_s,
		.wait_ns = shutdown_counted(sd) - turn->begun_ns,
	};
	const struct killgrace_steps steps = killgrace_steps(&kill);
	bool outside = rec->facts.outside;
	int64_t left_s = outside ? turn->grace_s : turn->grace_s - steps.wait_s;
	struct effect effect = {.type = EFFECT_STOP, .id = rec->facts.id};

	turn->given_ns = shutdown_counted(sd);
	turn->given_at = sd->now_ns;
	turn->stop_ns = time_of(rec, kill.wait_ns);
	if (rec->pod)
		rec->pod->driven = true;
	effect.at_ns = turn->stop_ns;
	/* A hook comes before the stop signal. */
	if (rec->facts.hook && !rec->facts.asked_ns && left_s > 0)
		effect.hook_ns = (uint64_t)left_s * NS_PER_S;
	sd->config.effect(sd->config.userdata, &effect);
}

/* --- hooks that run before the stop signal ---------------------------------------------------- */

/* What a hook has used, to the second, is no longer the container's. */
static void end_hook(struct shutdown *sd, struct shutdown_turn *turn)
{
	const struct killgrace_kill kill = {
		.grace_s = (int64_t)(turn->stop_ns / NS_PER_S),
		.has_prestop = true,
		.prestop_ns = shutdown_counted(sd) - turn->hook_ns,
	};

	turn->stop_ns = (uint64_t)killgrace_steps(&kill).stop_s * NS_PER_S;
	turn->hook_ns = 0;
	turn->given_ns = shutdown_counted(sd);
	turn->given_at = sd->now_ns;
}

/* True: it runs. */
static bool judge_hook(struct shutdown *sd, struct shutdown_turn *turn)
{
	uint64_t end_ns = shutdown_sum(turn->hook_ns, turn->stop_ns);

	if (!turn->hook_ns)
		return false;
	if (shutdown_counted(sd) < end_ns) {
		shutdown_want_counted(sd, end_ns);
		return true;
	}
	end_hook(sd, turn);
	return false;
}

/* STOP_FAILED, HOOK_BEGUN or HOOK_ENDED. */
int shutdown_stop_answered(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_container_rec *rec = shutdown_container(sd, event->id);
	struct shutdown_turn *turn = rec ? &rec->turn : NULL;

	if (!turn || !shutdown_is_on(sd) || !turn->given_ns)
		return 0;
	if (event->type == SHUTDOWN_EV_STOP_FAILED) {
		turn->failed = true;
	} else if (event->type == SHUTDOWN_EV_HOOK_ENDED) {
		if (turn->hook_ns && !turn->asked_ns)
			end_hook(sd, turn);
	} else if (!turn->asked_ns && !turn->hooked) {
		turn->hooked = true;
		turn->hook_ns = shutdown_counted(sd);
	}
	return 0;
}

/* --- stop signal and SIGKILL ------------------------------------------------------------------ */

/* The first processes of a container are its runtime's: until its init is there, only its time
 * runs. */
static void send_stop(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	const struct effect effect = {
		.type = EFFECT_SIGNAL,
		.id = rec->facts.id,
		.signal = rec->facts.stop_signal ? rec->facts.stop_signal : SIGTERM,
	};

	rec->turn.asked_ns = shutdown_counted(sd);
	rec->turn.unsent = rec->facts.no_init;
	if (!rec->turn.unsent)
		sd->config.effect(sd->config.userdata, &effect);
}

/* It has its time from when the kernel sent the signal, which may be long after graced decided to. */
static void note_sent(const struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t sent_ns = beyond(rec->facts.asked_ns, sd->lost_ns);

	if (rec->turn.asked_ns && sent_ns > rec->turn.asked_ns && sent_ns <= shutdown_counted(sd))
		rec->turn.asked_ns = sent_ns;
}

/* True: it was asked to stop, by the runtime or, where that fails or hangs, by graced. */
static bool is_asked(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	struct shutdown_turn *turn = &rec->turn;
	uint64_t late_ns;

	if (!turn->asked_ns && rec->facts.asked_ns)
		turn->asked_ns = shutdown_counted(sd);
	note_sent(sd, rec);
	if (turn->unsent && rec->facts.asked_ns)
		turn->unsent = false;
	if (turn->unsent && !rec->facts.no_init)
		send_stop(sd, rec);
	if (turn->asked_ns)
		return true;
	if (!turn->failed && judge_hook(sd, turn))
		return false;
	late_ns = shutdown_sum(turn->given_ns, SHUTDOWN_UNSEEN_NS);
	if (!turn->failed && shutdown_counted(sd) < late_ns) {
		shutdown_want_counted(sd, late_ns);
		return false;
	}
	send_stop(sd, rec);
	return true;
}

/* One that was asked late has no more than its group, but in a pod never less than any there has. */
static uint64_t deadline(const struct shutdown_container_rec *rec)
{
	const struct shutdown_turn *turn = &rec->turn;
	uint64_t own_ns = shutdown_sum(turn->asked_ns, turn->stop_ns);
	uint64_t least_ns = shutdown_sum(turn->asked_ns, shutdown_least(rec));
	uint64_t last_ns = turn->end_ns > least_ns ? turn->end_ns : least_ns;

	return own_ns < last_ns ? own_ns : last_ns;
}

/* Another's SIGKILL that came just now has its second, too. */
static bool is_dying(struct shutdown *sd, const struct shutdown_container *c)
{
	uint64_t late_ns = shutdown_sum(c->kill_ns, SHUTDOWN_SURVIVES_NS);

	if (!c->kill_ns || sd->now_ns >= late_ns)
		return false;
	shutdown_want(sd, late_ns);
	return true;
}

static void judge_asked(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t end_ns = deadline(rec);

	if (shutdown_counted(sd) < end_ns) {
		shutdown_want_counted(sd, end_ns);
		return;
	}
	if (is_dying(sd, &rec->facts))
		return;
	shutdown_kill(sd, rec, false);
	sd->stats.killed++;
	shutdown_report_container(sd, rec, SHUTDOWN_REPORT_KILLED, false);
}

static void judge_killed(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t late_ns = shutdown_sum(rec->turn.killed_ns, SHUTDOWN_SURVIVES_NS);

	if (sd->now_ns < late_ns) {
		shutdown_want(sd, late_ns);
		return;
	}
	if (!rec->survives_reported) {
		rec->survives_reported = true;
		shutdown_report_container(sd, rec, SHUTDOWN_REPORT_SURVIVES, false);
	}
	shutdown_kill(sd, rec, false);
}

static void judge_turn(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	uint64_t at_ns;

	if (!rec->turn.given_ns) {
		at_ns = stop_at(sd, rec);
		if (shutdown_counted(sd) < at_ns) {
			shutdown_want_counted(sd, at_ns);
			return;
		}
		give(sd, rec);
	}
	if (rec->turn.killed_ns)
		judge_killed(sd, rec);
	else if (is_asked(sd, rec))
		judge_asked(sd, rec);
}

/* --- groups ---------------------------------------------------------------------------------- */

static void start_group(struct shutdown *sd)
{
	sd->plan.started_ns = shutdown_counted(sd);
	sd->plan.turned_ns = sd->now_ns;
	sd->plan.begun = sd->plan.started = true;
	shutdown_report_group(sd, SHUTDOWN_REPORT_GROUP_STARTED, false);
}

/* False: it goes on. */
static bool group_is_over(struct shutdown *sd)
{
	size_t living = shutdown_survey(sd)->managed_in[sd->plan.at];
	bool timed_out = shutdown_counted(sd) >= group_end(sd);

	if (!timed_out && living > 0) {
		shutdown_want_counted(sd, group_end(sd));
		return false;
	}
	shutdown_report_group(sd, SHUTDOWN_REPORT_GROUP_DONE, living > 0);
	return true;
}

/* The kubelet's wait in full of an older release is not reproduced. */
static void judge_groups(struct shutdown *sd)
{
	struct shutdown_plan *plan = &sd->plan;

	for (; plan->at < plan->n; plan->at++) {
		if (!plan->started && shutdown_survey(sd)->managed_in[plan->at] == 0)
			continue;
		if (!plan->started) {
			start_group(sd);
			/* Also those of a group without time. */
			begin_turns(sd);
		}
		if (!group_is_over(sd))
			return;
		plan->started = false;
	}
}

/* --- sandboxes --------------------------------------------------------------------------------- */

static void stop_sandbox(struct shutdown *sd, struct shutdown_pod_rec *pod)
{
	pod->sandbox_given = true;
	pod->sandbox_answered = false;
	sd->drive.sandbox_ns = shutdown_counted(sd);
	sd->surveyed = false;
	shutdown_do_pod(sd, EFFECT_STOP_SANDBOX, pod->pod->uid, 0);
}

/* Stops each pod whose last container has ended, as the kubelet's killPodWithSyncResult(). */
static void stop_sandboxes(struct shutdown *sd)
{
	struct shutdown_pod_rec *pod;

	if (shutdown_survey(sd)->sandboxes_due == 0)
		return;
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));)
		if (pod->driven && !pod->occupied && !pod->sandbox_given)
			stop_sandbox(sd, pod);
}

int shutdown_sandbox_stopped(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_pod_rec *pod = event->uid ? shutdown_pod(sd, event->uid) : NULL;

	if (!pod || !pod->sandbox_given || pod->sandbox_answered)
		return 0;
	pod->sandbox_answered = true;
	sd->surveyed = false;
	return 0;
}

/* A runtime that hangs is not waited for. */
static bool sandboxes_are_awaited(struct shutdown *sd)
{
	uint64_t end_ns = shutdown_sum(sd->drive.sandbox_ns, SHUTDOWN_SANDBOX_NS);

	if (shutdown_survey(sd)->sandboxes_owed == 0 || shutdown_counted(sd) >= end_ns)
		return false;
	shutdown_want_counted(sd, end_ns);
	return true;
}

/* What a source has yet to answer about may be a container that graced ends. A process that came to
 * a shutdown under way may not have queried all of them. */
static bool names_are_awaited(struct shutdown *sd)
{
	const struct shutdown_survey *s = shutdown_survey(sd);
	size_t awaited = sd->joined_ns ? s->unanswered + s->unnamed : s->unanswered;
	uint64_t since_ns = sd->joined_ns ? sd->joined_ns : sd->announced_ns;
	uint64_t end_ns = shutdown_sum(since_ns, SHUTDOWN_JOIN_NS);

	if (awaited == 0 || sd->now_ns >= end_ns)
		return false;
	shutdown_want(sd, end_ns);
	return true;
}

void shutdown_drive(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;

	if (!units_are_stopped(sd))
		return;
	if (sd->plan.started || !names_are_awaited(sd)) {
		judge_groups(sd);
		begin_turns(sd);
	}
	TAILQ_FOREACH(rec, &sd->containers, all)
		if (shutdown_is_managed(rec) && rec->turn.begun_ns)
			judge_turn(sd, rec);
	stop_sandboxes(sd);
}

static bool is_any_left(struct shutdown *sd)
{
	const struct shutdown_container_rec *rec;

	if (shutdown_survey(sd)->managed == 0)
		return false;
	TAILQ_FOREACH(rec, &sd->containers, all)
		if (shutdown_is_managed(rec) && (rec->turn.begun_ns || may_begin(sd, rec)))
			return true;
	return false;
}

bool shutdown_drive_has_stopped(struct shutdown *sd)
{
	return sd->drive.stage == SHUTDOWN_DRIVE_GROUPS && sd->plan.at == sd->plan.n &&
	       !is_any_left(sd) && !names_are_awaited(sd);
}

bool shutdown_drive_is_over(struct shutdown *sd)
{
	return shutdown_drive_has_stopped(sd) && !sandboxes_are_awaited(sd);
}

/* --- what the next process has to know -------------------------------------------------------- */

bool shutdown_save_run(const struct shutdown *sd, struct shutdown_run *ret)
{
	const struct shutdown_plan *plan = &sd->plan;

	*ret = (struct shutdown_run){};
	if (!shutdown_is_on(sd))
		return false;
	if (sd->config.mode == SHUTDOWN_ASSIST && sd->config.statuses) {
		ret->announced_ns = sd->announced_ns;
		ret->kubelet_held = sd->holders.kubelet || sd->holders.kubelet_ns;
		return true;
	}
	if (sd->drive.stage == SHUTDOWN_DRIVE_IDLE)
		return false;
	ret->announced_ns = sd->announced_ns;
	ret->units_stopped = sd->drive.stage == SHUTDOWN_DRIVE_GROUPS;
	ret->handed_over = sd->handed_over;
	ret->lost_ns = sd->lost_ns;
	ret->group = plan->at;
	ret->group_ns = plan->started ? plan->started_ns : 0;
	return true;
}

bool shutdown_save_turn(const struct shutdown *sd, uint64_t id, struct shutdown_run_turn *ret)
{
	const struct shutdown_container_rec *rec = shutdown_container(sd, id);
	const struct shutdown_turn *turn = rec ? &rec->turn : NULL;

	if (!turn || !turn->begun_ns || !shutdown_is_on(sd))
		return false;
	*ret = turn->saved;
	ret->id = id;
	return true;
}

bool shutdown_gave(const struct shutdown *sd, const struct cgnode *node, uint64_t *ret_ns)
{
	const struct shutdown_container_rec *rec = node->turn;
	const struct shutdown_turn *turn = rec ? &rec->turn : NULL;

	if (!turn || !turn->given_at || turn->hook_ns || !shutdown_is_on(sd) ||
	    rec->facts.asked_ns < turn->given_at)
		return false;
	*ret_ns = shutdown_given(sd, rec);
	return true;
}

bool shutdown_saw_pod(const struct shutdown *sd, const char *uid)
{
	const struct shutdown_pod_rec *pod = shutdown_pod(sd, uid);

	return shutdown_is_on(sd) && pod && pod->stopped && pod->was_occupied;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int64_t within(int64_t grace_s)
{
	if (grace_s < 0)
		return 0;
	return grace_s < INT32_MAX ? grace_s : INT32_MAX;
}

/*
 * Its deadline stays. The runtime's own has ended with the process that requested the stop: what is
 * not known to be asked is requested again, as a runtime sends its stop signal once. A hook is not
 * run again; where it ended is not known, and the container is asked directly.
 */
static void resume_turn(struct shutdown *sd, const struct shutdown_run_turn *saved)
{
	struct shutdown_container_rec *rec = shutdown_container(sd, saved->id);
	bool asked = rec && rec->facts.asked_ns && saved->asked_ns;
	uint64_t now_ns = shutdown_counted(sd);
	struct shutdown_turn *turn;

	if (rec && rec->pod && saved->given_ns)
		rec->pod->driven = true;
	if (!rec || !shutdown_is_managed(rec) || !saved->begun_ns)
		return;
	turn = &rec->turn;
	*turn = (struct shutdown_turn){
		.begun_ns = least(saved->begun_ns, now_ns),
		.grace_s = within(saved->grace_s),
		.end_ns = saved->end_ns,
		.stop_ns = saved->stop_ns,
		.asked_ns = asked ? least(saved->asked_ns, now_ns) : 0,
		.killed_ns = asked ? least(saved->killed_ns, sd->now_ns) : 0,
		.hooked = saved->hooked,
		.failed = saved->failed || saved->hooked,
	};
	if (saved->given_ns && (asked || turn->failed))
		turn->given_ns = least(saved->given_ns, now_ns);
	if (turn->given_ns && saved->hook_ns && !asked) {
		turn->hook_ns = least(saved->hook_ns, now_ns);
		end_hook(sd, turn);
	}
}

/* The earlier process had released the lock: what it had not begun to stop is left to others. */
static void leave_others(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;

	TAILQ_FOREACH(rec, &sd->containers, all)
		rec->turn.left = rec->facts.populated && !rec->turn.begun_ns;
}

static void resume_groups(struct shutdown *sd, const struct shutdown_event *announced)
{
	const struct shutdown_run *run = announced->announced.run;
	struct shutdown_plan *plan = &sd->plan;

	sd->drive.stage = SHUTDOWN_DRIVE_GROUPS;
	plan->at = run->group < plan->n ? run->group : plan->n;
	plan->begun = plan->started = plan->at < plan->n && run->group_ns;
	plan->started_ns = least(run->group_ns, shutdown_counted(sd));
	for (size_t i = 0; i < announced->announced.n_turns; i++)
		resume_turn(sd, &announced->announced.turns[i]);
	/* Whether they still are is known to systemd alone. */
	if ((sd->config.statuses || sd->config.taint) && !run->handed_over)
		stop_units(sd);
}

void shutdown_resume(struct shutdown *sd, const struct shutdown_event *announced)
{
	const struct shutdown_run *run = announced->announced.run;

	/* Since then it has held until now at the longest. */
	if (sd->config.mode == SHUTDOWN_ASSIST && run->kubelet_held)
		sd->holders.kubelet_ns = shutdown_counted(sd);
	if (sd->config.mode != SHUTDOWN_MANAGE)
		return;
	sd->announced_ns = least(run->announced_ns, sd->now_ns);
	sd->lost_ns = least(run->lost_ns, sd->now_ns - sd->announced_ns);
	sd->handed_over = run->handed_over;
	if (run->units_stopped)
		resume_groups(sd, announced);
	if (sd->handed_over)
		leave_others(sd);
	sd->surveyed = false;
}
