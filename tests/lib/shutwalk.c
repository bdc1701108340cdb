// SPDX-License-Identifier: Apache-2.0
/* The steps of a walk: the world does something, and core/shutdown is told. */
#include "lib/shutwalk.h"

#include "lib/shutwalk_priv.h"

#define MS (SHUTWALK_S / 1000)

const char *const shutwalk_uids[SHUTWALK_PODS] = {"web", "dns", "api"};

static uint64_t roll(struct shutwalk *w, uint64_t sides)
{
	return w->roll(w->userdata) % sides;
}

static bool chance(struct shutwalk *w, uint64_t of)
{
	return roll(w, of) == 0;
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

	if (!is_fact(event) || chance(w, 2)) {
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

static void send(struct shutwalk *w, const struct shutdown_event *event)
{
	/* Some clocks are read late. */
	uint64_t back_ns = chance(w, 16) ? roll(w, 3) * SHUTWALK_S : 0;

	send_at(w, event, w->now_ns - back_ns);
}

static void plain(struct shutwalk *w, enum shutdown_event_type type)
{
	send(w, &(struct shutdown_event){.type = type});
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
	event.holders.failed = w->told_failed = w->bus == SHUTWALK_FAILS;
	if (!w->told_failed) {
		if (w->other)
			event.holders.n++;
		if (w->kubelet)
			list[event.holders.n++] = (struct shutdown_holder){"kubelet", 0, 7};
		w->told = true;
		w->told_kubelet = w->kubelet;
		w->told_n = event.holders.n;
	}
	send(w, &event);
}

/* As long as nobody looks, what others were told is not seen. */
static void look(struct shutwalk *w, struct shutwalk_container *c)
{
	c->looking = false;
	if (!c->told || chance(w, 4))
		return;
	c->facts.looked_ns = w->now_ns;
	c->facts.told_ns = c->others_ns;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = c->facts});
}

static void answer_all(struct shutwalk *w)
{
	for (int i = 0; i < 4 && w->listing && w->bus != SHUTWALK_SILENT; i++)
		answer(w);
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].looking)
			look(w, &w->containers[i]);
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
	uint64_t ns = roll(w, 40) * SHUTWALK_S;

	w->seen->stalls++;
	w->now_ns += ns;
	w->api_ns += ns;
	/* Nobody can tell of what was before the announcement was heard. */
	if (w->on && ns > SHUTWALK_UNNOTICED)
		w->stalled_ns += ns - SHUTWALK_UNNOTICED;
	if (w->wake_ns && w->wake_ns <= w->now_ns) {
		send_at(w, &(struct shutdown_event){.type = SHUTDOWN_EV_TIMER}, w->now_ns);
	}
}

/* Of a pod that nobody tells of and that has no container nothing is known. */
static void forget_unused(struct shutwalk *w, size_t pod)
{
	if (pod >= SHUTWALK_PODS || w->pods[pod].told)
		return;
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].told && w->containers[i].pod == pod)
			return;
	w->pods[pod].facts.group = 0;
}

static void tell_container(struct shutwalk *w, struct shutwalk_container *c)
{
	c->told = true;
	c->facts.pod_uid = c->pod < SHUTWALK_PODS ? shutwalk_uids[c->pod] : NULL;
	if (!c->facts.populated)
		c->killed = false;
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = c->facts});
}

static struct shutwalk_container *any(struct shutwalk *w)
{
	return &w->containers[roll(w, SHUTWALK_CONTAINERS)];
}

static void create(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);
	uint64_t id = (uint64_t)(c - w->containers) + 1;

	if (c->told)
		return;
	*c = (struct shutwalk_container){
		.pod = (unsigned int)roll(w, SHUTWALK_PODS + 1),
		.facts = {.id = id,
			  .kind = chance(w, 3) ? (enum shutdown_kind)roll(w, 4)
					       : SHUTDOWN_KIND_CONTAINER,
			  .populated = true,
			  .timeout_known = !chance(w, 6),
			  .timeout_ns = roll(w, 8) * 2 * SHUTWALK_S},
	};
	tell_container(w, c);
}

static void remove_container(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->told)
		return;
	c->told = c->killed = false;
	forget_unused(w, c->pod);
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER_GONE, .id = c->facts.id});
}

static void ask(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->told || !c->facts.populated || c->facts.asked_ns)
		return;
	c->facts.asked_ns = w->now_ns - (chance(w, 4) ? 300 * MS : 0);
	c->facts.signal = 15;
	c->facts.deaf = chance(w, 2);
	if (chance(w, 3))
		c->others_ns = w->now_ns - (chance(w, 2) ? 10 * SHUTWALK_S : 0);
	if (chance(w, 4))
		c->facts.ending_ns = c->facts.asked_ns - roll(w, 20) * SHUTWALK_S;
	c->stalled_ns = w->stalled_ns;
	tell_container(w, c);
}

static void change(struct shutwalk *w)
{
	struct shutwalk_container *c = any(w);

	if (!c->told)
		return;
	if (chance(w, 2))
		c->facts.populated = false;
	else if (chance(w, 2))
		c->facts.kill_ns = w->now_ns;
	else if (chance(w, 2))
		c->others_ns = w->now_ns;
	else
		c->facts.kind = (enum shutdown_kind)roll(w, 4);
	tell_container(w, c);
}

static void change_pod(struct shutwalk *w)
{
	size_t i = roll(w, SHUTWALK_PODS);
	struct shutwalk_pod *pod = &w->pods[i];

	if (pod->told && chance(w, 6)) {
		pod->told = false;
		forget_unused(w, i);
		send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_POD_GONE,
						 .uid = shutwalk_uids[i]});
		return;
	}
	/* The order of pods is the plan's, and stays. */
	if (!w->on)
		pod->facts.group = (uint32_t)roll(w, SHUTWALK_GROUPS + 1);
	pod->told = true;
	pod->facts.uid = shutwalk_uids[i];
	pod->facts.stopping = chance(w, 3);
	pod->facts.ended = chance(w, 3);
	pod->facts.api_server = i == 2 && chance(w, 2);
	pod->facts.unlisted = chance(w, 6);
	send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_POD, .pod = pod->facts});
}

static void change_world(struct shutwalk *w)
{
	switch (roll(w, 5)) {
	case 0:
		w->kubelet = !w->kubelet;
		break;
	case 1:
		w->other = !w->other;
		break;
	case 2:
		w->bus = chance(w, 2) ? SHUTWALK_ANSWERS : (enum shutwalk_bus)roll(w, 3);
		break;
	case 3:
		w->api = !w->api;
		w->api_ns = w->now_ns;
		send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_API, .reachable = w->api});
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
	w->n_groups = roll(w, SHUTWALK_GROUPS + 1);
	for (size_t i = 0; i < w->n_groups; i++)
		w->groups[i] = (struct shutdown_group){roll(w, 12) * SHUTWALK_S, chance(w, 8)};
	event.plan.n = w->n_groups;
	send(w, &event);
}

static void announce(struct shutwalk *w)
{
	static const uint64_t limits[] = {0, 1, 500, 2000, 2001, 5000, 30000, 30000, 60000, 120000};
	struct shutdown_event event = {.type = SHUTDOWN_EV_ANNOUNCED};
	uint64_t limit_ns = chance(w, 12) ? UINT64_MAX : limits[roll(w, 10)] * MS;

	if (!w->on) {
		w->seen->shutdowns++;
		w->announced_ns = w->now_ns - (chance(w, 8) ? roll(w, 20) * SHUTWALK_S : 0);
		event.announced.at_ns = w->announced_ns;
		/* What was cancelled is over. */
		if (w->announced_ns < w->cancelled_ns)
			w->announced_ns = w->cancelled_ns;
		w->late_ns = w->now_ns - w->announced_ns > SHUTDOWN_TICK_NS ? w->now_ns : 0;
		w->limit_ns = limit_ns ? limit_ns : 5 * SHUTWALK_S;
		w->api_ns = w->now_ns;
		w->told = w->told_failed = w->told_kubelet = w->released = false;
		for (size_t i = 0; i < SHUTWALK_GROUPS; i++)
			w->group_done[i] = false;
		for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
			w->containers[i].killed = false;
	} else if (limit_ns) {
		w->limit_ns = limit_ns;
	}
	w->on = true;
	event.announced.limit_ns = limit_ns;
	event.announced.action = (enum shutdown_action)roll(w, SHUTDOWN_ACTION_COUNT);
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
	if (w->on ? chance(w, 4) : !chance(w, 4)) {
		w->lock = true;
		plain(w, SHUTDOWN_EV_LOCK_TAKEN);
	} else {
		w->seen->refused++;
		plain(w, SHUTDOWN_EV_LOCK_REFUSED);
	}
}

static void lose(struct shutwalk *w)
{
	switch (roll(w, 4)) {
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
		if (!w->lock || chance(w, 2))
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
	plain(w, chance(w, 8) ? SHUTDOWN_EV_STOPPING : SHUTDOWN_EV_FLUSHED);
	w->seen->held_on += was && w->lock && !w->flushing;
}

static void step(struct shutwalk *w)
{
	switch (roll(w, 20)) {
	case 0:
	case 1:
	case 2:
		run(w, roll(w, 20) * 100 * MS);
		break;
	case 3:
		run(w, roll(w, 20) * SHUTWALK_S);
		break;
	case 4:
		stall(w);
		break;
	case 5:
	case 6:
	case 7:
		ask(w);
		break;
	case 8:
	case 9:
		change(w);
		break;
	case 10:
		create(w);
		break;
	case 11:
		remove_container(w);
		break;
	case 12:
	case 13:
		change_pod(w);
		break;
	case 14:
	case 15:
		change_world(w);
		break;
	case 16:
		chance(w, 2) ? announce(w) : cancel(w);
		break;
	case 17:
		lose(w);
		break;
	case 18:
		flushed(w);
		break;
	default:
		plan(w);
		plain(w, SHUTDOWN_EV_TIMER);
	}
	if (chance(w, 2))
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

		if (!c->told)
			continue;
		c->facts.populated = false;
		tell_container(w, c);
	}
	run(w, forever ? 20 * SHUTWALK_S : 130 * SHUTWALK_S);
	if (w->lock)
		shutwalk_break(w, "it always lets go");
}

static void prepare(struct shutwalk *w)
{
	w->kubelet = !chance(w, 4);
	w->other = chance(w, 8);
	plan(w);
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		create(w);
	change_pod(w);
	plain(w, SHUTDOWN_EV_LOGIND_UP);
	answer_lock(w);
	run(w, roll(w, 3) * SHUTWALK_S);
	announce(w);
}

const char *shutwalk_once(shutwalk_roll_fn dice, void *userdata, unsigned int steps,
			  struct shutwalk_seen *seen)
{
	struct shutwalk w = {
		.roll = dice, .userdata = userdata, .seen = seen, .now_ns = 1000 * SHUTWALK_S};

	w.config = (struct shutdown_config){
		.mode = chance(&w, 3) ? SHUTDOWN_OBSERVE : SHUTDOWN_ASSIST,
		.overdue_slack_ns = roll(&w, 4) * SHUTWALK_S,
		.status_wait_ns = roll(&w, 4) * 2 * SHUTWALK_S,
		.deaf_grace_ns = roll(&w, 3) * SHUTWALK_S,
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
