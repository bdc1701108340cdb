// SPDX-License-Identifier: Apache-2.0
/* Decides when the taint is set for an earlier boot, and when it is removed. */
#include "core/boot/proof.h"

#include <stdio.h>

bool proof_order_holds(const struct proof_order *order)
{
	bool any = false;

	if (!order->starting || order->n > PROOF_UNITS_MAX)
		return false;
	for (size_t i = 0; i < order->n; i++) {
		const struct proof_unit *unit = &order->units[i];

		if (!unit->idle || (unit->queued && !unit->after))
			return false;
		any |= unit->queued;
	}
	return any;
}

static void enter(struct proof *p, enum proof_stage stage, uint64_t now_ns)
{
	p->stage = stage;
	p->stage_ns = p->list_ns = now_ns;
	p->listing = p->listed = false;
}

void proof_begin(struct proof *p, enum boot_end end, const char *dead, const char *now_boot,
		 uint64_t now_ns)
{
	*p = (struct proof){.end = PROOF_CLEAN};
	snprintf(p->dead, sizeof(p->dead), "%s", dead);
	snprintf(p->boot, sizeof(p->boot), "%s", now_boot);
	enter(p, end == BOOT_END_UNCLEAN ? PROOF_LOOKING : PROOF_OVER, now_ns);
}

/* What is set has to be removed, however it ended. */
static enum proof_command finish(struct proof *p, enum proof_end end, uint64_t now_ns)
{
	bool set = p->stage != PROOF_LOOKING;

	p->end = end;
	enter(p, set ? PROOF_CLEARING : PROOF_OVER, now_ns);
	return set ? PROOF_CLEAR : PROOF_NOTHING;
}

/* The earlier boot's end is the proof. In this boot nothing may run that could be mistaken for
 * it. */
static bool is_proven(const struct proof *p)
{
	const struct death_facts earlier = {.boot = p->dead, .now_boot = p->boot};
	const struct proof_facts *f = &p->facts;

	return death_is_proven(&earlier) && f->complete && !f->lost && f->occupied == 0 &&
	       !f->shutdown;
}

static uint64_t limit_of(enum proof_stage stage)
{
	switch (stage) {
	case PROOF_LOOKING:
		return PROOF_LOOK_NS;
	case PROOF_SETTING:
		return PROOF_SET_NS;
	case PROOF_STANDING:
		return PROOF_STAND_NS;
	default:
		return PROOF_CLEAR_NS;
	}
}

uint64_t proof_deadline(const struct proof *p)
{
	return p->stage_ns + limit_of(p->stage);
}

static bool is_late(const struct proof *p, uint64_t now_ns)
{
	return now_ns >= proof_deadline(p);
}

static enum proof_command list(struct proof *p, uint64_t now_ns)
{
	if (p->listing || now_ns < p->list_ns)
		return PROOF_NOTHING;
	p->listing = true;
	return PROOF_LIST;
}

static enum proof_command judge_look(struct proof *p, uint64_t now_ns)
{
	if (p->facts_known && !is_proven(p))
		return finish(p, PROOF_UNPROVEN, now_ns);
	if (p->order_known && !p->holds)
		return finish(p, PROOF_NOT_HELD, now_ns);
	if (is_late(p, now_ns))
		return finish(p, PROOF_NO_ANSWER, now_ns);
	if (!p->facts_known || !p->order_known)
		return PROOF_NOTHING;
	if (!p->listed)
		return list(p, now_ns);
	if (p->waiting == 0)
		return finish(p, PROOF_NOT_NEEDED, now_ns);
	enter(p, PROOF_SETTING, now_ns);
	return PROOF_SET;
}

static enum proof_command judge_stand(struct proof *p, uint64_t now_ns)
{
	if (!is_proven(p))
		return finish(p, PROOF_UNPROVEN, now_ns);
	if (p->listed && p->waiting == 0)
		return finish(p, PROOF_GONE, now_ns);
	if (is_late(p, now_ns))
		return finish(p, PROOF_STOOD, now_ns);
	return list(p, now_ns);
}

static enum proof_command judge(struct proof *p, uint64_t now_ns)
{
	switch (p->stage) {
	case PROOF_LOOKING:
		return judge_look(p, now_ns);
	case PROOF_SETTING:
		if (!is_proven(p))
			return finish(p, PROOF_UNPROVEN, now_ns);
		return is_late(p, now_ns) ? finish(p, PROOF_NOT_SET, now_ns) : PROOF_NOTHING;
	case PROOF_STANDING:
		return judge_stand(p, now_ns);
	case PROOF_CLEARING:
		/* The edge goes on trying. */
		if (is_late(p, now_ns))
			enter(p, PROOF_OVER, now_ns);
		return PROOF_NOTHING;
	default:
		return PROOF_NOTHING;
	}
}

/* A list that failed while the taint stands is tried again; before, there is nothing to wait for. */
static enum proof_command take_list(struct proof *p, const struct proof_event *event,
				    uint64_t now_ns)
{
	if (!p->listing)
		return PROOF_NOTHING;
	p->listing = false;
	p->listed = !event->failed;
	p->waiting = event->waiting;
	p->list_ns = now_ns + PROOF_LIST_NS;
	if (event->failed && p->stage == PROOF_LOOKING)
		return finish(p, PROOF_NO_ANSWER, now_ns);
	return judge(p, now_ns);
}

/* One that failed may have been carried out all the same. */
static enum proof_command take_set(struct proof *p, const struct proof_event *event,
				   uint64_t now_ns)
{
	if (p->stage != PROOF_SETTING)
		return PROOF_NOTHING;
	if (event->failed)
		return finish(p, PROOF_NOT_SET, now_ns);
	enter(p, PROOF_STANDING, now_ns);
	return judge(p, now_ns);
}

enum proof_command proof_step(struct proof *p, const struct proof_event *event, uint64_t now_ns)
{
	switch (event->type) {
	case PROOF_EV_FACTS:
		p->facts = event->facts;
		p->facts_known = true;
		break;
	case PROOF_EV_ORDER:
		p->order_known = true;
		p->holds = event->holds && !event->failed;
		break;
	case PROOF_EV_LISTED:
		return take_list(p, event, now_ns);
	case PROOF_EV_SET:
		return take_set(p, event, now_ns);
	case PROOF_EV_CLEARED:
		if (p->stage == PROOF_CLEARING)
			enter(p, PROOF_OVER, now_ns);
		break;
	case PROOF_EV_TIMER:
		break;
	}
	return judge(p, now_ns);
}

uint64_t proof_wake(const struct proof *p)
{
	bool lists = p->stage == PROOF_STANDING && !p->listing;
	uint64_t end_ns = proof_deadline(p);

	if (p->stage == PROOF_OVER)
		return UINT64_MAX;
	return lists && p->list_ns < end_ns ? p->list_ns : end_ns;
}
