// SPDX-License-Identifier: Apache-2.0
/* Stops as they are kept: flat, so that a line of a file holds one, and judged when they come back.
 */
#include "core/stop/keep.h"

#include <errno.h>
#include <string.h>

#include "core/stop/asked.h"

/* What grows or moves here changes the numbers that are kept. */
_Static_assert(KEPT_VERSION == 1 && STOP_STATE_COUNT == 6 && RELATION_COUNT == 12 &&
		       SENDER_KIND_COUNT == 10 && OOM_LEVEL_UNKNOWN == 4,
	       "KEPT_VERSION follows the enums of stops");

#define SIGKILL_NR 9
#define SIGNALS	   64

static bool is_last_from(const char *text)
{
	for (; *text; text++)
		if (*text < '0' || *text >= '0' + RELATION_COUNT)
			return false;
	return true;
}

void stop_keep(const struct stop *stop, struct kept_stop *ret)
{
	size_t n = strlen(stop->last_from);

	*ret = stop->saved;
	ret->not_reaped = stop_is_held(stop);
	while (n && ret->last_from[n - 1] == '0' + RELATION_NONE)
		ret->last_from[--n] = '\0';
}

const struct stop_signal *stop_kept_signal(const struct stop *stop, enum stop_kept which)
{
	const struct stop_signal *const signals[STOP_KEPT_OTHER] = {
		[STOP_KEPT_REQUEST] = stop->request,
		[STOP_KEPT_CANDIDATE] = &stop_aside_of(stop)->candidate,
		[STOP_KEPT_INSIDE] = &stop_aside_of(stop)->inside,
		[STOP_KEPT_KILL] = stop->kill,
		[STOP_KEPT_KEEPER] = &stop_aside_of(stop)->keeper,
	};
	const struct stop_signal *others = stop_aside_of(stop)->others;

	if (which >= STOP_KEPT_OTHER)
		return others[which - STOP_KEPT_OTHER].seen ? &others[which - STOP_KEPT_OTHER]
							    : NULL;
	return signals[which]->seen ? signals[which] : NULL;
}

bool stop_keep_signal(const struct stop *stop, enum stop_kept which, struct kept_signal *ret)
{
	const struct stop_signal *s = stop_kept_signal(stop, which);

	if (!s)
		return false;
	*ret = (struct kept_signal){
		.kill = which == STOP_KEPT_KILL || which == STOP_KEPT_KEEPER,
		.inside = which == STOP_KEPT_INSIDE,
		.other = which >= STOP_KEPT_OTHER || which == STOP_KEPT_KEEPER,
		.sent = s->sent,
		.exec_ns = which == STOP_KEPT_REQUEST ? stop->exec_ns : 0,
		.n_others = which >= STOP_KEPT_OTHER ? stop->aside->n_others : 0,
		.hearing = s->shell ? STOP_SHELL : 0,
		.kind = s->sender.kind,
		.relation = s->sender.relation,
		.sender = s->sender.proc,
		.mind_pid = s->sender.mind.pid,
		.mind_start_ns = s->sender.mind.start_ns,
	};
	memcpy(ret->ancestors, s->sender.ancestors, sizeof(ret->ancestors));
	if (which == STOP_KEPT_CANDIDATE) {
		ret->kill = ret->inside = true;
		ret->numbers = stop->aside->numbers;
		ret->suppressed = stop->aside->suppressed;
	}
	return true;
}

static bool is_over(const struct kept_stop *kept)
{
	return kept->state == STOP_IDLE || kept->state == STOP_REPORTED;
}

/* Who runs has not exited, nor left an empty cgroup. */
static bool can_be(const struct kept_stop *kept)
{
	bool runs = kept->state >= STOP_RUNNING && kept->state <= STOP_KILLED;

	if (kept->state >= STOP_STATE_COUNT || kept->rank > GRACED_INIT_PID1 ||
	    kept->oom > OOM_LEVEL_UNKNOWN || !is_last_from(kept->last_from))
		return false;
	return !runs || (!kept->exit_seen && !kept->exit_ns && !kept->empty_ns);
}

int stop_restore(struct cgmap *map, struct stop *stop, const struct kept_stop *kept)
{
	if (!can_be(kept))
		return -EINVAL;
	/* Forgets the signals of what was there. */
	stop_begin(map, stop, &kept->init, kept->rank);
	*stop = (struct stop){
		.saved = *kept,
		.node = stop->node,
		.wake = stop->wake,
		.request = &stop_no_signal,
		.kill = &stop_no_signal,
		.before = kept->counts,
		.held = kept->not_reaped && is_over(kept) ? STOP_HELD : STOP_HELD_UNASKED,
		.kept = true,
	};
	stop->moved &= is_over(kept);
	return 0;
}

static enum stop_kept other_place(const struct stop *stop)
{
	enum stop_kept which = STOP_KEPT_OTHER;

	while (which < STOP_KEPT_COUNT - 1 && stop_kept_signal(stop, which))
		which++;
	return which;
}

static enum stop_kept kept_as(const struct stop *stop, const struct kept_signal *kept)
{
	if (kept->other)
		return kept->kill ? STOP_KEPT_KEEPER : other_place(stop);
	if (kept->kill)
		return kept->inside ? STOP_KEPT_CANDIDATE : STOP_KEPT_KILL;
	return kept->inside ? STOP_KEPT_INSIDE : STOP_KEPT_REQUEST;
}

/* A life that is over and reported has no signals any more, and one without a request only those
 * that are no request. */
static bool may_have(const struct stop *stop, enum stop_kept which)
{
	if (stop->state == STOP_EXITED || stop->state == STOP_KILLED)
		return true;
	if (which == STOP_KEPT_KILL)
		return false;
	return stop->state == STOP_REQUESTED ||
	       (which != STOP_KEPT_REQUEST && stop->state == STOP_RUNNING);
}

/* NULL without memory. */
static struct stop_signal *signal_in(struct stop *stop, enum stop_kept which)
{
	struct stop_aside *aside;

	if (which == STOP_KEPT_REQUEST)
		return asked_want(stop, &stop->request);
	if (which == STOP_KEPT_KILL)
		return asked_want(stop, &stop->kill);
	aside = stop_want_aside(stop);
	if (!aside)
		return NULL;
	if (which >= STOP_KEPT_OTHER)
		return &aside->others[which - STOP_KEPT_OTHER];
	if (which == STOP_KEPT_KEEPER)
		return &aside->keeper;
	return which == STOP_KEPT_CANDIDATE ? &aside->candidate : &aside->inside;
}

static bool can_be_signal(const struct kept_signal *kept, enum stop_kept which)
{
	bool is_kill = which == STOP_KEPT_KILL || which == STOP_KEPT_KEEPER,
	     is_candidate = which == STOP_KEPT_CANDIDATE;

	return kept->number >= 1 && kept->number <= SIGNALS &&
	       is_kill == (kept->number == SIGKILL_NR) && is_candidate == (kept->numbers != 0) &&
	       kept->kind < SENDER_KIND_COUNT && kept->relation < RELATION_COUNT;
}

/* Each of those that are kept has the number of all; before it was written there are n at least. */
static void restore_others(struct stop_aside *aside, uint32_t n, uint32_t all)
{
	if (all > n)
		n = all;
	if (n > aside->n_others)
		aside->n_others = n;
}

static struct sender_mind mind_kept(const struct kept_signal *kept)
{
	if (!kept->mind_pid)
		return (struct sender_mind){kept->sender.pid, kept->sender.start_ns};
	return (struct sender_mind){kept->mind_pid, kept->mind_start_ns};
}

int stop_restore_signal(struct cgmap *map, struct stop *stop, const struct kept_signal *kept)
{
	enum stop_kept which = kept_as(stop, kept);
	struct cgnode *from = cgmap_get(map, kept->sender.watch_id);
	struct stop_signal *s;

	if (!stop->kept || !may_have(stop, which) || stop_kept_signal(stop, which) ||
	    !can_be_signal(kept, which))
		return -EINVAL;
	s = signal_in(stop, which);
	if (!s)
		return -ENOMEM;
	*s = (struct stop_signal){
		.seen = true,
		.sent = kept->sent,
		.shell = kept->hearing & STOP_SHELL,
		.sender.kind = (enum sender_kind)kept->kind,
		.sender.relation = (enum relation)kept->relation,
		.sender.proc = kept->sender,
		.sender.mind = mind_kept(kept),
		.sender.node = from ? cgnode_ref(from) : NULL,
	};
	memcpy(s->sender.ancestors, kept->ancestors, sizeof(kept->ancestors));
	if (which == STOP_KEPT_REQUEST)
		stop->exec_ns = kept->exec_ns;
	if (which >= STOP_KEPT_OTHER)
		restore_others(stop->aside, which - STOP_KEPT_OTHER + 1, kept->n_others);
	if (which == STOP_KEPT_CANDIDATE) {
		stop->aside->numbers = kept->numbers;
		stop->aside->suppressed = kept->suppressed;
	}
	return 0;
}

void stop_restored(struct stop *stop)
{
	if (stop->state == STOP_KILLED && !stop->kill->seen)
		stop->state = STOP_REQUESTED;
	if (stop->state == STOP_REQUESTED && !stop->request->seen)
		stop->state = STOP_RUNNING;
	if (!stop->request->seen) {
		asked_clear(stop);
		stop->forward = (struct stop_forward){};
	}
	if (stop->state == STOP_IDLE || stop->state == STOP_REPORTED)
		return;
	stop->blind |= stop_is_running(stop);
	for (uint32_t n = 1; n <= SIGNALS; n++)
		if (stop_last_from(stop, n) != RELATION_NONE)
			stop->unsure_from |= UINT64_C(1) << (n - 1);
	stop->restarted |= stop->blind || !stop->empty_ns;
}
