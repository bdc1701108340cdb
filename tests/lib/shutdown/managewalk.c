// SPDX-License-Identifier: Apache-2.0
/* The steps of a walk: what happens to containers, the runtime, units and logind. */
#include "lib/shutdown/managewalk.h"

#include <string.h>

#include "lib/shutdown/managewalk_priv.h"

/* --- what happens
 * --------------------------------------------------------------------------------- */

static void send(struct managewalk *w, const struct shutdown_event *event)
{
	if (w->broken)
		return;
	for (unsigned int i = 0; i < PODS; i++)
		if (managewalk_is_occupied(w, i))
			w->sandboxes[i].given = w->sandboxes[i].owed = false;
	if (shutdown_step(w->sd, event, w->now_ns) < 0)
		managewalk_must(w, false, "a fact that is one is taken");
	managewalk_check(w);
}

static void plain(struct managewalk *w, enum shutdown_event_type type)
{
	send(w, &(struct shutdown_event){.type = type});
}

static void say(struct managewalk *w, struct managewalk_container *c)
{
	c->facts.pod_uid = c->pod < PODS ? managewalk_uids[c->pod] : NULL;
	if (!c->facts.populated) {
		struct managewalk_container fresh = {
			.there = true, .facts = c->facts, .pod = c->pod};

		fresh.nature = c->nature;
		fresh.noted = c->noted;
		fresh.facts.asked_ns = fresh.facts.kill_ns = 0;
		*c = fresh;
	}
	c->noted |= c->facts.kind != SHUTDOWN_KIND_OUTSIDE;
	if (c->noted && !c->living)
		c->left = w->on && w->handed_over;
	c->living = c->noted && c->facts.populated;
	if (c->facts.asked_ns && c->given)
		managewalk_note_asked(w, c);
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = c->facts});
}

static void end(struct managewalk *w, struct managewalk_container *c)
{
	c->facts.populated = false;
	say(w, c);
}

/* What it took is known to the second where no stall is counted in part. */
static void end_hook(struct managewalk *w, struct managewalk_container *c)
{
	uint64_t took_ns = (managewalk_now(w).ran - c->hook_at.ran) / S * S;

	c->hook = false;
	c->given_at = managewalk_now(w);
	c->unsure = w->stalled;
	if (!w->stalled)
		c->stop_ns = c->stop_ns > took_ns + LEAST ? c->stop_ns - took_ns : LEAST;
}

static void answer(struct managewalk *w, struct managewalk_container *c,
		   enum shutdown_event_type type)
{
	if (type == SHUTDOWN_EV_STOP_FAILED && c->given) {
		w->seen->failed++;
		c->failed = true;
	}
	if (type == SHUTDOWN_EV_HOOK_BEGUN && c->given && !c->asked && !c->hooked) {
		w->seen->hooks++;
		c->hooked = c->hook = true;
		c->hook_at = managewalk_now(w);
	}
	if (type == SHUTDOWN_EV_HOOK_ENDED && c->hook && !c->asked)
		end_hook(w, c);
	send(w, &(struct shutdown_event){.type = type, .id = c->facts.id});
}

/* The runtime sends its stop signal. */
static void ask(struct managewalk *w, struct managewalk_container *c)
{
	c->ask_ns = 0;
	/* A request is as old as its first signal, which may be graced's. */
	if (!c->facts.asked_ns)
		c->facts.asked_ns = c->signalled ? c->asked_at.at : w->now_ns;
	managewalk_plan_exit(w, c);
	if (w->runtime != KILLS_NOTHING)
		c->kill_ns = w->now_ns + c->stop_ns + managewalk_roll(w, 2) * 200 * MS;
	say(w, c);
}

/* The kernel sends a signal of graced's when graced runs. */
static void send_signal(struct managewalk *w, struct managewalk_container *c)
{
	c->send_ns = 0;
	if (c->facts.asked_ns || !c->facts.populated)
		return;
	c->facts.asked_ns = w->now_ns;
	if (!c->killed)
		c->asked_at = managewalk_now(w);
	say(w, c);
}

static void runtime_kills(struct managewalk *w, struct managewalk_container *c)
{
	c->kill_ns = 0;
	c->facts.kill_ns = w->now_ns;
	if (c->nature != STUCK && !c->exit_ns)
		c->exit_ns = w->now_ns + 1 + managewalk_roll(w, 2) * 100 * MS;
	say(w, c);
}

static void run_hook(struct managewalk *w, struct managewalk_container *c)
{
	bool was = c->hook;

	c->hook_ns = was || managewalk_chance(w, 4)
			     ? 0
			     : w->now_ns + 1 + managewalk_roll(w, 60) * 100 * MS;
	if (was)
		c->ask_ns = w->now_ns + 1;
	answer(w, c, was ? SHUTDOWN_EV_HOOK_ENDED : SHUTDOWN_EV_HOOK_BEGUN);
}

static void earliest(uint64_t *at, uint64_t ns)
{
	if (ns && ns < *at)
		*at = ns;
}

static uint64_t next(const struct managewalk *w)
{
	uint64_t at = UINT64_MAX;

	earliest(&at, w->wake_ns);
	earliest(&at, w->answer_ns);
	for (size_t i = 0; i < CONTAINERS; i++) {
		const struct managewalk_container *c = &w->list[i];

		earliest(&at, c->ask_ns);
		earliest(&at, c->send_ns);
		earliest(&at, c->exit_ns);
		earliest(&at, c->kill_ns);
		earliest(&at, c->fail_ns);
		earliest(&at, c->hook_ns);
	}
	for (size_t i = 0; i < PODS; i++)
		earliest(&at, w->sandboxes[i].answer_ns);
	return at;
}

static void units_answer(struct managewalk *w)
{
	w->answer_ns = 0;
	if (!w->units_pending)
		return;
	w->units_pending--;
	/* One that was given up is not waited for. */
	if (w->on && w->units_pending == 0)
		w->units_done = true;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_UNITS_STOPPED,
					 .failed = managewalk_chance(w, 4)});
}

static void fire(struct managewalk *w, struct managewalk_container *c)
{
	if (!c->there)
		return;
	if (c->exit_ns && c->exit_ns <= w->now_ns) {
		c->exit_ns = 0;
		if (c->facts.populated)
			end(w, c);
	} else if (c->ask_ns && c->ask_ns <= w->now_ns) {
		ask(w, c);
	} else if (c->send_ns && c->send_ns <= w->now_ns) {
		send_signal(w, c);
	} else if (c->kill_ns && c->kill_ns <= w->now_ns) {
		runtime_kills(w, c);
	} else if (c->hook_ns && c->hook_ns <= w->now_ns) {
		run_hook(w, c);
	} else if (c->fail_ns && c->fail_ns <= w->now_ns) {
		c->fail_ns = 0;
		answer(w, c, SHUTDOWN_EV_STOP_FAILED);
	}
}

static void sandbox_answers(struct managewalk *w, unsigned int pod)
{
	struct managewalk_sandbox *s = &w->sandboxes[pod];

	if (!s->answer_ns || s->answer_ns > w->now_ns)
		return;
	s->answer_ns = 0;
	s->owed = false;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_SANDBOX_STOPPED,
					 .uid = managewalk_uids[pod]});
}

static void run(struct managewalk *w, uint64_t ns)
{
	uint64_t to_ns = w->now_ns + ns, at;

	while (!w->broken && (at = next(w)) <= to_ns) {
		if (at > w->now_ns)
			w->now_ns = at;
		if (w->wake_ns && w->wake_ns <= w->now_ns)
			plain(w, SHUTDOWN_EV_TIMER);
		managewalk_must(w, !w->wake_ns || w->wake_ns > w->now_ns,
				"a wish that came true is over");
		if (w->answer_ns && w->answer_ns <= w->now_ns)
			units_answer(w);
		for (size_t i = 0; i < CONTAINERS; i++)
			fire(w, &w->list[i]);
		for (unsigned int i = 0; i < PODS; i++)
			sandbox_answers(w, i);
	}
	w->now_ns = to_ns;
}

static void later(uint64_t *at, uint64_t ns)
{
	if (*at)
		*at += ns;
}

/* Nothing runs, containers and the runtime alike. */
static void stall(struct managewalk *w)
{
	uint64_t ns = managewalk_roll(w, 30) * S;

	w->seen->stalls++;
	w->now_ns += ns;
	w->stalled = w->stalled || ns > 0;
	w->stalled_ns += ns;
	w->noticed_ns += w->on && ns > UNNOTICED ? ns - UNNOTICED : 0;
	later(&w->answer_ns, ns);
	for (size_t i = 0; i < CONTAINERS; i++) {
		struct managewalk_container *c = &w->list[i];

		later(&c->ask_ns, ns);
		later(&c->send_ns, ns);
		later(&c->exit_ns, ns);
		later(&c->kill_ns, ns);
		later(&c->fail_ns, ns);
		later(&c->hook_ns, ns);
	}
	for (size_t i = 0; i < PODS; i++)
		later(&w->sandboxes[i].answer_ns, ns);
	/* Or something else is the first to be handled. */
	if (w->wake_ns && w->wake_ns <= w->now_ns && !managewalk_chance(w, 3))
		plain(w, SHUTDOWN_EV_TIMER);
}

/* In no pod; whether a rule names it, and which, is found out anew. */
static void put_outside(struct managewalk *w, struct managewalk_container *c)
{
	w->seen->changed += c->turned;
	c->facts.outside = true;
	c->facts.sidecar = 0;
	c->facts.kind = managewalk_chance(w, 3) ? SHUTDOWN_KIND_OUTSIDE : SHUTDOWN_KIND_CONTAINER;
	c->facts.group = (uint32_t)managewalk_roll(w, GROUPS);
}

static void create(struct managewalk *w)
{
	size_t i = managewalk_roll(w, CONTAINERS);
	struct managewalk_container *c = &w->list[i];

	if (c->there && c->facts.populated)
		return;
	w->seen->late += w->on && !w->released;
	*c = (struct managewalk_container){
		.there = true,
		.noted = c->noted,
		.pod = (unsigned int)managewalk_roll(w, PODS + 1),
		.nature = (enum nature)managewalk_roll(w, NATURES),
		.appeared = managewalk_now(w),
		.facts = {.id = i + 1,
			  .kind = managewalk_chance(w, 6)
					  ? (enum shutdown_kind)managewalk_roll(w, 4)
					  : SHUTDOWN_KIND_CONTAINER,
			  .populated = true,
			  .hook = managewalk_chance(w, 2),
			  .grace = {.set = !managewalk_chance(w, 4),
				    .s = (int64_t)managewalk_roll(w, 20)},
			  .stop_signal = managewalk_chance(w, 2) ? 0 : 3,
			  .sidecar =
				  (uint32_t)(managewalk_chance(w, 2) ? 0 : managewalk_roll(w, 4))},
	};
	/* An end that takes for ever would be one that is never seen. */
	if (c->nature == STUCK && !managewalk_chance(w, 4))
		c->nature = DEAF;
	if (c->pod == PODS && !managewalk_chance(w, 4))
		put_outside(w, c);
	say(w, c);
}

static void change(struct managewalk *w)
{
	struct managewalk_container *c = &w->list[managewalk_roll(w, CONTAINERS)];

	if (!c->there)
		return;
	switch (managewalk_roll(w, 6)) {
	case 0:
		*c = (struct managewalk_container){};
		send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE,
						 .id = (uint64_t)(c - w->list) + 1});
		return;
	case 1:
		end(w, c);
		return;
	case 2:
		if (c->facts.populated)
			runtime_kills(w, c);
		return;
	case 3:
		if (c->facts.populated && !c->facts.asked_ns)
			ask(w, c);
		return;
	case 4:
		answer(w, c, SHUTDOWN_EV_STOP_FAILED);
		return;
	default:
		if (c->facts.outside)
			put_outside(w, c);
		else if (!c->turned)
			c->facts.kind = (enum shutdown_kind)managewalk_roll(w, 4);
		say(w, c);
	}
}

static void plan(struct managewalk *w)
{
	struct shutdown_group groups[GROUPS] = {};
	struct shutdown_event event = {.type = SHUTDOWN_EV_PLAN, .plan.groups = groups};

	if (w->on)
		return;
	w->n_groups = managewalk_roll(w, GROUPS + 1);
	for (size_t i = 0; i < w->n_groups; i++) {
		w->groups[i] = managewalk_chance(w, 4) ? 0 : managewalk_roll(w, 15) * S;
		groups[i] = (struct shutdown_group){.ns = w->groups[i],
						    .in_full = managewalk_chance(w, 8)};
	}
	event.plan.n = w->n_groups;
	for (size_t i = 0; i < PODS; i++)
		w->pods[i] = (struct shutdown_pod){.uid = managewalk_uids[i],
						   .group = (uint32_t)managewalk_roll(w, GROUPS)};
	send(w, &event);
	for (size_t i = 0; i < PODS; i++)
		send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = w->pods[i]});
}

static void forget(struct managewalk *w)
{
	memset(w->started, 0, sizeof(w->started));
	memset(w->done, 0, sizeof(w->done));
	memset(w->sandboxes, 0, sizeof(w->sandboxes));
	w->joined_ns = 0;
	w->released = w->units_done = w->stalled = w->held_late = w->handed_over = false;
	for (size_t i = 0; i < CONTAINERS; i++) {
		struct managewalk_container *c = &w->list[i];
		struct managewalk_container fresh = {
			.there = c->there, .facts = c->facts, .pod = c->pod};

		fresh.nature = c->nature;
		fresh.noted = c->noted;
		fresh.living = c->living;
		fresh.appeared = c->appeared;
		fresh.exit_ns = c->exit_ns;
		*c = fresh;
	}
}

static void announce(struct managewalk *w)
{
	static const uint64_t limits[] = {0, 500, 5000, 30000, 60000, 60000, 120000};
	struct shutdown_event event = {.type = SHUTDOWN_EV_ANNOUNCED};
	uint64_t limit_ns = limits[managewalk_roll(w, 7)] * MS;

	w->seen->again += w->on;
	w->seen->unlocked += !w->on && !w->lock;
	if (!w->on) {
		w->seen->shutdowns++;
		forget(w);
		for (size_t i = 0; i < CONTAINERS; i++)
			if (w->list[i].there)
				say(w, &w->list[i]);
		w->announced_ns = w->now_ns;
		w->limit_ns = limit_ns ? limit_ns : 5 * S;
	} else if (limit_ns) {
		w->limit_ns = limit_ns;
	}
	w->on = true;
	/* Some answers come after the sequencer has gone on without them. */
	w->answer_ns = managewalk_chance(w, 6) ? 0 : w->now_ns + 1 + managewalk_roll(w, 8) * S;
	event.announced.limit_ns = limit_ns;
	send(w, &event);
}

static void cancel(struct managewalk *w)
{
	w->seen->cancelled += w->on;
	w->on = w->flushing = false;
	plain(w, SHUTDOWN_EV_CANCELLED);
}

static void logind(struct managewalk *w)
{
	switch (managewalk_roll(w, 5)) {
	case 0:
		w->asked = false;
		plain(w, SHUTDOWN_EV_LOGIND_DOWN);
		return;
	case 1:
		plain(w, SHUTDOWN_EV_LOGIND_UP);
		return;
	case 2:
		if (!w->lock || !managewalk_chance(w, 3))
			return;
		w->lock = w->flushing = false;
		w->seen->lost++;
		w->released |= w->on;
		w->held_late = w->on;
		plain(w, SHUTDOWN_EV_LOCK_LOST);
		return;
	default:
		if (!w->asked)
			return;
		w->asked = false;
		w->lock = !w->on && !managewalk_chance(w, 4);
		plain(w, w->lock ? SHUTDOWN_EV_LOCK_TAKEN : SHUTDOWN_EV_LOCK_REFUSED);
	}
}

/* --- the process is killed, and another comes ------------------------------------------------- */

/* What it requested of the runtime and has no answer yet ends with it. */
static void cut_off(struct managewalk *w, struct managewalk_container *c)
{
	c->ask_ns = c->send_ns = c->kill_ns = c->fail_ns = c->hook_ns = 0;
	/* The next process has the same rules. */
	if (c->facts.outside && c->turned) {
		c->facts.kind = SHUTDOWN_KIND_CONTAINER;
		c->facts.group = c->group;
	}
	if (c->asked && !c->facts.asked_ns)
		c->facts.asked_ns = c->asked_at.at;
	if (c->exit_ns && c->exit_ns <= w->now_ns && c->facts.populated) {
		c->exit_ns = 0;
		c->facts.populated = false;
	}
	if (!c->given || c->asked)
		return;
	c->given = c->failed || c->hooked;
	c->failed |= c->hooked;
	c->unsure |= c->hooked;
	c->hook = false;
}

static void hear(struct managewalk *w, struct managewalk_container *c)
{
	c->facts.pod_uid = c->pod < PODS ? managewalk_uids[c->pod] : NULL;
	shutdown_note(w->sd, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER,
						      .container = c->facts});
}

static void hear_all(struct managewalk *w)
{
	struct shutdown_group groups[GROUPS] = {};

	for (size_t i = 0; i < w->n_groups; i++)
		groups[i].ns = w->groups[i];
	if (w->lock)
		shutdown_step(w->sd, &(struct shutdown_event){.type = SHUTDOWN_EV_LOCK_TAKEN},
			      w->now_ns);
	shutdown_step(w->sd,
		      &(struct shutdown_event){.type = SHUTDOWN_EV_PLAN,
					       .plan.groups = groups,
					       .plan.n = w->n_groups},
		      w->now_ns);
	for (size_t i = 0; i < PODS; i++)
		shutdown_note(w->sd,
			      &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = w->pods[i]});
	for (size_t i = 0; i < CONTAINERS; i++)
		if (w->list[i].there)
			hear(w, &w->list[i]);
}

static void change_process(struct managewalk *w, struct shutdown_event *announced,
			   struct shutdown_run *run, struct shutdown_run_turn *turns)
{
	struct shutdown_config config = {
		.mode = SHUTDOWN_MANAGE, .effect = managewalk_take, .userdata = w};

	announced->announced.run = shutdown_save_run(w->sd, run) ? run : NULL;
	announced->announced.turns = turns;
	for (size_t i = 0; i < CONTAINERS; i++)
		announced->announced.n_turns +=
			shutdown_save_turn(w->sd, i + 1, &turns[announced->announced.n_turns]);
	w->sd = shutdown_free(w->sd);
	if (shutdown_new(&config, &w->sd) < 0)
		managewalk_must(w, false, "memory suffices");
}

static bool has_turn(const struct shutdown_event *announced, uint64_t id)
{
	for (size_t i = 0; i < announced->announced.n_turns; i++)
		if (announced->announced.turns[i].id == id)
			return true;
	return false;
}

static void note_restart(struct managewalk *w, const struct shutdown_run *run,
			 const struct shutdown_event *announced)
{
	bool driven[PODS] = {};

	w->seen->restarts++;
	w->wake_ns = 0;
	w->asked = w->flushing = false;
	w->handed_over = run->handed_over;
	w->joined_ns = w->now_ns - w->announced_ns > SHUTDOWN_TICK_NS ? w->now_ns : 0;
	w->units_pending = 0;
	if (!run->units_stopped)
		w->units_wanted = w->units_done = false;
	w->answer_ns = managewalk_chance(w, 6) ? 0 : w->now_ns + 1 + managewalk_roll(w, 8) * S;
	for (size_t i = 0; i < CONTAINERS; i++) {
		struct managewalk_container *c = &w->list[i];

		if (c->there && c->given && c->pod < PODS)
			driven[c->pod] = true;
		if (c->there)
			cut_off(w, c);
		if (c->there && !managewalk_is_managed(c))
			*c = (struct managewalk_container){.there = true,
							   .facts = c->facts,
							   .pod = c->pod,
							   .nature = c->nature,
							   .appeared = c->appeared};
		if (!c->facts.populated)
			c->facts.asked_ns = c->facts.kill_ns = 0;
		c->noted = c->there && c->facts.kind != SHUTDOWN_KIND_OUTSIDE;
		c->living = c->noted && c->facts.populated;
		c->left = w->handed_over && c->living && !has_turn(announced, i + 1);
	}
	for (size_t i = 0; i < PODS; i++)
		w->sandboxes[i] = (struct managewalk_sandbox){.driven = driven[i]};
}

static void restart(struct managewalk *w)
{
	struct shutdown_event announced = {.type = SHUTDOWN_EV_ANNOUNCED};
	struct shutdown_run_turn turns[CONTAINERS];
	struct shutdown_run run;
	uint64_t ns = managewalk_roll(w, 6) * S;

	/* Nothing is done in between, and so nothing for a lock. */
	if (!w->on || (w->lock && managewalk_is_near_limit(w, ns)))
		return;
	/* A stall that it has not seen cannot be known to the next one. */
	if (w->wake_ns && w->wake_ns <= w->now_ns)
		plain(w, SHUTDOWN_EV_TIMER);
	change_process(w, &announced, &run, turns);
	w->now_ns += ns;
	note_restart(w, &run, &announced);
	hear_all(w);
	announced.announced.at_ns = w->announced_ns;
	announced.announced.limit_ns = w->limit_ns;
	send(w, &announced);
}

static void step(struct managewalk *w)
{
	switch (managewalk_roll(w, 17)) {
	case 0:
	case 1:
	case 2:
	case 3:
		run(w, managewalk_roll(w, 20) * 100 * MS);
		break;
	case 4:
		run(w, managewalk_roll(w, 20) * S);
		break;
	case 5:
		stall(w);
		break;
	case 6:
	case 7:
		create(w);
		break;
	case 8:
	case 9:
		change(w);
		break;
	case 10:
		w->runtime = (enum runtime)managewalk_roll(w, RUNTIMES);
		break;
	case 11:
		managewalk_chance(w, 3) ? cancel(w) : announce(w);
		break;
	case 12:
	case 13:
		logind(w);
		break;
	case 14:
		restart(w);
		break;
	case 15:
		w->flushing = false;
		plain(w, SHUTDOWN_EV_FLUSHED);
		break;
	default:
		plan(w);
		plain(w, SHUTDOWN_EV_TIMER);
	}
}

/* From here on nothing but time passes: what can end has ended, and the lock is released. */
static void settle(struct managewalk *w)
{
	if (!w->on)
		return;
	run(w, 200 * S);
	managewalk_must(w, !w->lock, "it always releases");
	for (size_t i = 0; i < CONTAINERS; i++)
		managewalk_must(w,
				!managewalk_is_managed(&w->list[i]) || w->list[i].nature == STUCK ||
					(w->list[i].facts.outside && !w->list[i].turned),
				"what a SIGKILL can end has ended");
}

const char *managewalk_once(shutwalk_roll_fn dice, void *userdata, unsigned int steps,
			    struct managewalk_seen *seen)
{
	struct managewalk w = {
		.roll = dice, .userdata = userdata, .seen = seen, .now_ns = 1000 * S};
	const struct shutdown_config config = {
		.mode = SHUTDOWN_MANAGE, .effect = managewalk_take, .userdata = &w};

	if (shutdown_new(&config, &w.sd) < 0)
		return "out of memory";
	plan(&w);
	for (size_t i = 0; i < CONTAINERS; i++)
		create(&w);
	if (!managewalk_chance(&w, 4)) {
		plain(&w, SHUTDOWN_EV_LOGIND_UP);
		w.asked = false;
		w.lock = true;
		plain(&w, SHUTDOWN_EV_LOCK_TAKEN);
	}
	announce(&w);
	for (unsigned int i = 0; i < steps && !w.broken; i++)
		step(&w);
	if (!w.broken)
		settle(&w);
	shutdown_free(w.sd);
	return w.broken;
}
