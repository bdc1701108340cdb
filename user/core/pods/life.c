// SPDX-License-Identifier: Apache-2.0
#include "core/pods/life.h"

#include <stddef.h>

/* What an event does beside leading to a stage. */
enum act {
	NOTHING,
	GRACE = 1,  /* the update's grace periods count */
	AGAIN = 2,  /* the UID begins anew once this life is finished */
	DELETE = 4, /* it is deleted if the update says so */
	UNWANT = 8, /* it is deleted: no source has it */
};

struct cell {
	enum pod_stage stage; /* the same: it stays there */
	unsigned int acts;
};

#define NEW   POD_STAGE_NONE
#define SYNC  POD_STAGE_SYNC
#define ENDS  POD_STAGE_TERMINATING
#define ENDED POD_STAGE_TERMINATED
#define DONE  POD_STAGE_FINISHED
#define GONE  POD_STAGE_FORGOTTEN
#define END   (GRACE | DELETE)

/* clang-format off */
static const struct cell cells[POD_STAGE_FORGOTTEN][PODLIFE_EVENT_COUNT] = {
/*	  WANTED          ENDING          OVER            ANEW            STOPPED  REMOVED  ORPHANED */
[NEW]   = {{SYNC, 0},     {ENDS, END},    {ENDED, 0},     {NEW, 0},       {NEW},   {NEW},   {NEW, 0}},
[SYNC]  = {{SYNC, 0},     {ENDS, END},    {ENDS, END},    {SYNC, 0},      {SYNC},  {SYNC},  {ENDS, GRACE | UNWANT}},
[ENDS]  = {{ENDS, GRACE}, {ENDS, GRACE},  {ENDS, GRACE},  {ENDS, AGAIN},  {ENDED}, {ENDS},  {ENDS, UNWANT}},
[ENDED] = {{ENDED, 0},    {ENDED, 0},     {ENDED, 0},     {ENDED, AGAIN}, {ENDED}, {DONE},  {ENDED, UNWANT}},
[DONE]  = {{DONE, 0},     {DONE, 0},      {DONE, 0},      {DONE, AGAIN},  {DONE},  {DONE},  {GONE, 0}},
};
/* clang-format on */
/* docs/kubelet-rules.md, "Effective grace period": from the stored one (0: none) and those of the
 * pod. Only kills override it, and graced kills nothing. */
static int64_t effective_grace(int64_t stored, struct seconds deletion, struct seconds spec)
{
	int64_t grace = stored;

	if (deletion.set && (stored == 0 || deletion.s < stored))
		grace = deletion.s;
	else if (stored == 0 && spec.set)
		grace = spec.s;
	return grace < 1 ? 1 : grace;
}

/* 0 is no time. */
static void stamp(uint64_t *time_ns, uint64_t now_ns)
{
	if (!*time_ns)
		*time_ns = now_ns ? now_ns : 1;
}

static void enter(struct podlife *life, enum pod_stage stage, bool waits, uint64_t now_ns)
{
	if (life->stage == POD_STAGE_NONE) {
		stamp(&life->synced_ns, now_ns);
		if (!waits)
			stamp(&life->started_ns, now_ns);
	}
	if (stage >= POD_STAGE_TERMINATING)
		stamp(&life->terminating_ns, now_ns);
	if (stage >= POD_STAGE_TERMINATED)
		stamp(&life->terminated_ns, now_ns);
	life->stage = stage;
}

static void act(struct podlife *life, unsigned int acts, const struct podlife_update *update)
{
	const struct podlife_update unknown = {};

	if (!update)
		update = &unknown;
	if (acts & GRACE)
		life->grace_s =
			effective_grace(life->grace_s, update->deletion_grace, update->spec_grace);
	life->deleted |= acts & UNWANT || (acts & DELETE && update->deleting);
	life->restart_requested |= (acts & AGAIN) != 0;
}

bool podlife_step(struct podlife *life, enum podlife_event event,
		  const struct podlife_update *update, uint64_t now_ns)
{
	const struct cell *cell;

	if (life->stage >= POD_STAGE_FORGOTTEN)
		return false;
	cell = &cells[life->stage][event];
	act(life, cell->acts, update);
	if (cell->stage == life->stage)
		return false;
	enter(life, cell->stage, update && update->waits, now_ns);
	return true;
}

/* UpdatePod() decides in this order. */
static enum podlife_event event_of(const struct podlife *life, const struct podlife_update *update)
{
	if (update->anew && life->stage >= POD_STAGE_TERMINATING)
		return PODLIFE_ANEW;
	if (update->terminal && update->quiet)
		return PODLIFE_OVER;
	if (update->deleting || update->terminal || update->kill)
		return PODLIFE_ENDING;
	return PODLIFE_WANTED;
}

bool podlife_update(struct podlife *life, const struct podlife_update *update, uint64_t now_ns)
{
	return podlife_step(life, event_of(life, update), update, now_ns);
}

bool podlife_is_done(const struct podlife *life, bool wanted)
{
	return life->stage == POD_STAGE_FINISHED && (!wanted || life->restart_requested);
}

bool podlife_holds_name(const struct podlife *life, bool earlier)
{
	if (life->stage < POD_STAGE_SYNC || life->stage >= POD_STAGE_FINISHED)
		return false;
	return life->started_ns || (earlier && life->stage == POD_STAGE_SYNC);
}

bool podlife_is_waiting(const struct podlife *life)
{
	return life->stage == POD_STAGE_SYNC && !life->started_ns;
}

bool podlife_start(struct podlife *life, uint64_t now_ns)
{
	if (!podlife_is_waiting(life))
		return false;
	stamp(&life->started_ns, now_ns);
	return true;
}

bool podlife_is_valid(const struct podlife *life, bool is_static)
{
	if (life->stage < POD_STAGE_SYNC || life->stage > POD_STAGE_FINISHED || !life->synced_ns)
		return false;
	if (!life->terminating_ns != (life->stage < POD_STAGE_TERMINATING) ||
	    !life->terminated_ns != (life->stage < POD_STAGE_TERMINATED))
		return false;
	if (!life->started_ns && !is_static && life->stage != POD_STAGE_FINISHED)
		return false;
	return life->stage == POD_STAGE_SYNC ? life->grace_s == 0 : life->grace_s >= 0;
}
