// SPDX-License-Identifier: Apache-2.0
/* The steps of a walk: the world does something, and core/shutdown gets it. */
#include "lib/shutdown/shutwalk.h"

#include "lib/shutdown/shutwalk_priv.h"

#define MS (SHUTWALK_S / 1000)

const char *const shutwalk_uids[SHUTWALK_PODS] = {"web", "dns", "api"};

uint64_t shutwalk_roll(struct shutwalk *w, uint64_t sides)
{
	return w->roll(w->userdata) % sides;
}

bool shutwalk_chance(struct shutwalk *w, uint64_t of)
{
	return shutwalk_roll(w, of) == 0;
}

static bool is_fact(const struct shutdown_event *event)
{
	return event->type >= SHUTDOWN_EV_CONTAINER && event->type <= SHUTDOWN_EV_POD_GONE;
}

static void see(struct shutwalk *w, uint64_t now_ns)
{
	if (now_ns > w->seen_ns)
		w->seen_ns = now_ns;
}

/* Facts by themselves, or as steps: what is known already is nothing to decide about. */
static int tell(struct shutwalk *w, const struct shutdown_event *event, uint64_t now_ns)
{
	int r;

	if (!is_fact(event) || shutwalk_chance(w, 2)) {
		see(w, now_ns);
		return shutdown_step(w->sd, event, now_ns);
	}
	r = shutdown_note(w->sd, event);
	if (r <= 0)
		return r;
	see(w, now_ns);
	shutdown_settle(w->sd, now_ns);
	return 0;
}

static void send_at(struct shutwalk *w, const struct shutdown_event *event, uint64_t now_ns)
{
	if (w->broken)
		return;
	w->effects = 0;
	if (tell(w, event, now_ns) < 0)
		shutwalk_break(w, "a fact that is one is taken");
	shutwalk_check(w);
}

/* Time in which nothing ran, or seemed to, is not a source's. */
static void forgive(struct shutwalk *w, uint64_t ns)
{
	w->kubelet_ns += ns;
	w->lost_ns += ns;
	for (size_t i = 0; i < 2; i++) {
		w->sources[i].since_ns += ns;
		if (w->sources[i].owed_ns)
			w->sources[i].owed_ns += ns;
	}
}

void shutwalk_send(struct shutwalk *w, const struct shutdown_event *event)
{
	/* Some clocks are read late. */
	uint64_t back_ns = shutwalk_chance(w, 16) ? shutwalk_roll(w, 3) * SHUTWALK_S : 0;

	forgive(w, back_ns);
	send_at(w, event, w->now_ns - back_ns);
}

static void plain(struct shutwalk *w, enum shutdown_event_type type)
{
	shutwalk_send(w, &(struct shutdown_event){.type = type});
}

/* What logind says of who else holds. */
static void answer(struct shutwalk *w)
{
	struct shutdown_holder list[3] = {{"kubelet", 1000, 9}};
	struct shutdown_event event = {.type = SHUTDOWN_EV_HOLDERS, .holders.list = list};

	w->listing = false;
	if (w->bus == SHUTWALK_SILENT) {
		w->listing = true;
		return;
	}
	event.holders.failed = w->list_failed = w->bus == SHUTWALK_FAILS;
	if (!w->list_failed) {
		if (w->listed_kubelet)
			w->kubelet_ns = w->now_ns;
		if (w->other)
			event.holders.n++;
		if (w->kubelet)
			list[event.holders.n++] = (struct shutdown_holder){"kubelet", 0, 7};
		w->listed = true;
		w->listed_kubelet = w->kubelet;
		w->n_listed = event.holders.n;
	}
	shutwalk_send(w, &event);
}

/* Without a look, signals to the others are not seen. */
static void look(struct shutwalk *w, struct shutwalk_container *c)
{
	c->looking = false;
	if (!c->known || shutwalk_chance(w, 4))
		return;
	c->facts.looked_ns = w->now_ns;
	c->facts.signalled_ns = c->others_ns;
	shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER,
						  .container = c->facts});
}

/* A source that was asked answers. */
static void list(struct shutwalk *w, size_t i)
{
	w->sources[i].asked = false;
	if (!w->sources[i].answers || w->sources[i].silent)
		return;
	w->sources[i].owed_ns = 0;
	shutwalk_send(w,
		      &(struct shutdown_event){.type = SHUTDOWN_EV_LISTED, .lister.is_static = i});
}

static void answer_all(struct shutwalk *w)
{
	for (int i = 0; i < 4 && w->listing && w->bus != SHUTWALK_SILENT; i++)
		answer(w);
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].looking)
			look(w, &w->containers[i]);
	for (size_t i = 0; i < 2; i++)
		if (w->sources[i].asked)
			list(w, i);
}

/* Timers fire when they want to. */
static void run(struct shutwalk *w, uint64_t ns)
{
	uint64_t to_ns = w->now_ns + ns;

	while (!w->broken && w->wake_ns && w->wake_ns <= to_ns) {
		if (w->wake_ns > w->now_ns)
			w->now_ns = w->wake_ns;
		send_at(w, &(struct shutdown_event){.type = SHUTDOWN_EV_TIMER}, w->now_ns);
		if (w->wake_ns && w->wake_ns <= w->now_ns)
			shutwalk_break(w, "a wish that came true is made no more");
		answer_all(w);
	}
	w->now_ns = to_ns;
}

static void stall(struct shutwalk *w)
{
	uint64_t ns = shutwalk_roll(w, 40) * SHUTWALK_S;

	w->seen->stalls++;
	w->now_ns += ns;
	forgive(w, ns);
	/* Nobody can tell of what was before the announcement was heard. */
	if (w->on && ns > SHUTWALK_UNNOTICED)
		w->stalled_ns += ns - SHUTWALK_UNNOTICED;
	if (w->wake_ns && w->wake_ns <= w->now_ns) {
		send_at(w, &(struct shutdown_event){.type = SHUTDOWN_EV_TIMER}, w->now_ns);
	}
}

static void change_source(struct shutwalk *w)
{
	size_t i = shutwalk_roll(w, 2);

	if (shutwalk_chance(w, 3)) {
		w->sources[i].silent = !w->sources[i].silent;
		return;
	}
	w->sources[i].answers = !w->sources[i].answers;
	w->sources[i].since_ns = w->now_ns;
	shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_API,
						  .lister.is_static = i,
						  .lister.kubelet = i,
						  .lister.reachable = w->sources[i].answers});
}

static void change_world(struct shutwalk *w)
{
	switch (shutwalk_roll(w, 5)) {
	case 0:
		w->kubelet = !w->kubelet;
		break;
	case 1:
		w->other = !w->other;
		break;
	case 2:
		w->bus = shutwalk_chance(w, 2) ? SHUTWALK_ANSWERS
					       : (enum shutwalk_bus)shutwalk_roll(w, 3);
		break;
	case 3:
		change_source(w);
		return;
	default:
		answer(w);
		return;
	}
	answer_all(w);
}

static void plan(struct shutwalk *w)
{
	struct shutdown_event event = {.type = SHUTDOWN_EV_PLAN, .plan.groups = w->groups};

	if (w->on)
		return;
	w->n_groups = shutwalk_roll(w, SHUTWALK_GROUPS + 1);
	for (size_t i = 0; i < w->n_groups; i++)
		w->groups[i] = (struct shutdown_group){shutwalk_roll(w, 12) * SHUTWALK_S,
						       shutwalk_chance(w, 8)};
	event.plan.n = w->n_groups;
	shutwalk_send(w, &event);
}

static void announce(struct shutwalk *w)
{
	static const uint64_t limits[] = {0, 1, 500, 2000, 2001, 5000, 30000, 30000, 60000, 120000};
	struct shutdown_event event = {.type = SHUTDOWN_EV_ANNOUNCED};
	bool no_delay = shutwalk_chance(w, 40);
	uint64_t limit_ns = no_delay		     ? 0
			    : shutwalk_chance(w, 12) ? UINT64_MAX
						     : limits[shutwalk_roll(w, 10)] * MS;

	if (!w->on) {
		w->seen->shutdowns++;
		w->announced_ns =
			w->now_ns - (shutwalk_chance(w, 8) ? shutwalk_roll(w, 20) * SHUTWALK_S : 0);
		event.announced.at_ns = w->announced_ns;
		/* What was cancelled is over. */
		if (w->announced_ns < w->cancelled_ns)
			w->announced_ns = w->cancelled_ns;
		w->late_ns = w->now_ns - w->announced_ns > SHUTDOWN_TICK_NS ? w->now_ns : 0;
		w->limit_ns = limit_ns || no_delay ? limit_ns : 5 * SHUTWALK_S;
		w->free_ns = w->now_ns;
		w->kubelet_ns = w->empty_ns = 0;
		w->any_stopped = false;
		for (size_t i = 0; i < 2; i++) {
			w->sources[i].since_ns = w->now_ns;
			w->sources[i].owed_ns = 0;
		}
		w->listed = w->list_failed = w->listed_kubelet = w->released = false;
		w->list_ns = w->now_ns;
		for (size_t i = 0; i < SHUTWALK_GROUPS; i++)
			w->group_done[i] = false;
		for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
			w->containers[i].killed = false;
		for (size_t i = 0; i < SHUTWALK_PODS; i++)
			w->pods[i].stopped = w->pods[i].was_there = false;
	} else if (limit_ns || no_delay) {
		w->limit_ns = limit_ns;
	}
	w->on = true;
	event.announced.limit_ns = limit_ns;
	event.announced.no_delay = no_delay;
	event.announced.action = (enum shutdown_action)shutwalk_roll(w, SHUTDOWN_ACTION_COUNT);
	send_at(w, &event, w->now_ns);
	answer_all(w);
}

static void cancel(struct shutwalk *w)
{
	w->seen->cancelled += w->on;
	if (w->on)
		w->cancelled_ns = w->now_ns;
	w->on = false;
	w->flushing = false;
	send_at(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CANCELLED}, w->now_ns);
}

/* Logind answers Inhibit: refused in a shutdown, but for what was granted just before it. */
static void answer_lock(struct shutwalk *w)
{
	if (!w->asked)
		return;
	w->asked = false;
	if (w->on ? shutwalk_chance(w, 4) : !shutwalk_chance(w, 4)) {
		w->lock = true;
		plain(w, SHUTDOWN_EV_LOCK_TAKEN);
	} else {
		w->seen->refused++;
		plain(w, SHUTDOWN_EV_LOCK_REFUSED);
	}
}

static void lose(struct shutwalk *w)
{
	switch (shutwalk_roll(w, 4)) {
	case 0:
		w->asked = false;
		plain(w, SHUTDOWN_EV_LOGIND_DOWN);
		break;
	case 1:
		plain(w, SHUTDOWN_EV_LOGIND_UP);
		break;
	case 2:
		/* An answer that was long on its way. */
		if (!w->on || !w->released || w->lock)
			break;
		w->lock = true;
		plain(w, SHUTDOWN_EV_LOCK_TAKEN);
		break;
	default:
		if (!w->lock || shutwalk_chance(w, 2))
			break;
		w->lock = w->flushing = false;
		w->seen->lost++;
		plain(w, SHUTDOWN_EV_LOCK_LOST);
	}
}

static void flushed(struct shutwalk *w)
{
	bool was = w->flushing;

	w->flushing = false;
	plain(w, shutwalk_chance(w, 8) ? SHUTDOWN_EV_STOPPING : SHUTDOWN_EV_FLUSHED);
	w->seen->held_on += was && w->lock && !w->flushing;
}

static void step(struct shutwalk *w)
{
	switch (shutwalk_roll(w, 22)) {
	case 0:
	case 1:
	case 2:
		run(w, shutwalk_roll(w, 20) * 100 * MS);
		break;
	case 3:
		run(w, shutwalk_roll(w, 20) * SHUTWALK_S);
		break;
	case 4:
		stall(w);
		break;
	case 5:
	case 6:
	case 7:
		shutwalk_stop(w);
		break;
	case 8:
	case 9:
		shutwalk_change(w);
		break;
	case 10:
		shutwalk_create(w);
		break;
	case 11:
		shutwalk_remove(w);
		break;
	case 12:
	case 13:
		shutwalk_change_pod(w);
		break;
	case 14:
	case 15:
		change_world(w);
		break;
	case 16:
		shutwalk_chance(w, 2) ? announce(w) : cancel(w);
		break;
	case 17:
		lose(w);
		break;
	case 18:
		flushed(w);
		break;
	case 19:
	case 20:
		shutwalk_change_volume(w);
		break;
	default:
		plan(w);
		plain(w, SHUTDOWN_EV_TIMER);
	}
	if (shutwalk_chance(w, 2))
		answer_lock(w);
}

/* Whatever it was: from here on nothing but time passes, and where logind waits for ever, all that
 * was stopped ends. */
static void settle(struct shutwalk *w)
{
	bool forever = w->limit_ns > 1000 * SHUTWALK_S;

	if (!w->on)
		return;
	for (size_t i = 0; forever && i < SHUTWALK_CONTAINERS; i++) {
		struct shutwalk_container *c = &w->containers[i];

		if (!c->known)
			continue;
		c->facts.populated = false;
		shutwalk_tell_container(w, c);
	}
	run(w, forever ? SHUTDOWN_VOLUMES_MAX_NS + 20 * SHUTWALK_S : 130 * SHUTWALK_S);
	if (w->lock)
		shutwalk_break(w, "it always lets go");
}

static void prepare(struct shutwalk *w)
{
	w->kubelet = !shutwalk_chance(w, 4);
	w->other = shutwalk_chance(w, 8);
	plan(w);
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		shutwalk_create(w);
	shutwalk_change_pod(w);
	plain(w, SHUTDOWN_EV_LOGIND_UP);
	answer_lock(w);
	run(w, shutwalk_roll(w, 3) * SHUTWALK_S);
	announce(w);
}

const char *shutwalk_once(shutwalk_roll_fn dice, void *userdata, unsigned int steps,
			  struct shutwalk_seen *seen)
{
	struct shutwalk w = {
		.roll = dice, .userdata = userdata, .seen = seen, .now_ns = 1000 * SHUTWALK_S};

	w.config = (struct shutdown_config){
		.mode = shutwalk_chance(&w, 3) ? SHUTDOWN_OBSERVE : SHUTDOWN_ASSIST,
		.overdue_slack_ns = shutwalk_roll(&w, 4) * SHUTWALK_S,
		.status_wait_ns = shutwalk_roll(&w, 4) * 2 * SHUTWALK_S,
		.deaf_grace_ns = shutwalk_roll(&w, 3) * SHUTWALK_S,
		.volumes = shutwalk_chance(&w, 2),
		.effect = shutwalk_take,
		.userdata = &w,
	};
	if (shutdown_new(&w.config, &w.sd) < 0)
		return "out of memory";
	prepare(&w);
	for (unsigned int i = 0; i < steps && !w.broken; i++)
		step(&w);
	if (!w.broken)
		settle(&w);
	shutdown_free(w.sd);
	return w.broken;
}
