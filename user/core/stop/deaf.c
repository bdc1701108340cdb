// SPDX-License-Identifier: Apache-2.0
/* Why init did not act on the request that counts. */
#include "core/stop/asked.h"
#include "core/stop/processes.h"

#define SIGKILL_NR 9

/* The signal lay there until the end; every thread that does not block it would have taken it. */
static enum unheard untaken(const struct stop *stop)
{
	if (stop->request->flags & GRACED_SIG_STOPPED)
		return UNHEARD_STOPPED;
	if (stop->request->flags & GRACED_SIG_BLOCKED &&
	    !(stop->request->flags & GRACED_SIG_OPEN) && stop->hearing & STOP_ENDS_BLOCKED)
		return UNHEARD_BLOCKED;
	return UNHEARD_NONE;
}

/* It was taken, and init had to be killed all the same. */
static enum unheard in_vain(const struct stop *stop)
{
	const uint32_t trap = STOP_SHELL | STOP_AWAITS_CHILD;
	const struct stop_forward *f = &stop->forward;

	if (stop->hearing & STOP_RERAISED)
		return UNHEARD_RERAISED;
	if (f->count && f->at_ns >= stop->request->at_ns)
		return stop->hearing & STOP_FORWARD_TAKEN || f->count >= GRACED_FORWARDS_MAX ||
				       processes_outlived(stop)
			       ? UNHEARD_NONE
			       : UNHEARD_CHILD_IGNORED;
	if ((stop->hearing & trap) == trap)
		return UNHEARD_TRAP;
	return stop->hearing & STOP_RAISED_OTHER ? UNHEARD_RERAISED : UNHEARD_NONE;
}

static bool is_before_exec(const struct stop *stop)
{
	return stop->request->at_ns < stop->exec_ns;
}

/*
 * The program that init exec'd last would have dropped the request as the one before did, for
 * by_signal; none where that is not known. What exits by itself may have reset its handlers before.
 */
static enum unheard before_exec(const struct stop *stop, enum unheard by_signal)
{
	const struct stop_signal *request = stop->request;
	uint32_t flags = request->flags & GRACED_SIG_SHIELDED;
	enum unheard by_last;

	flags |= stop->hearing & STOP_LAST_DEFAULT ? GRACED_SIG_DFL : 0;
	flags |= stop->hearing & STOP_LAST_IGNORED ? GRACED_SIG_IGN : 0;
	by_last = unheard_by(request->number, RESULT_IGNORED, flags, false);
	if (by_last == UNHEARD_NONE)
		return UNHEARD_BEFORE_EXEC;
	return stop->status & 0x7f ? by_last : by_signal;
}

void stop_looked_at(struct stop *stop, const struct obs_look *look)
{
	if (stop->request->seen && look->proc.pid == stop->init.pid &&
	    look->begin_ns >= stop->request->at_ns &&
	    look->caught >> (stop->request->number - 1) & 1)
		stop->hearing |= STOP_CATCHES_LATER;
}

/* Init had a handler for it later: at a look, at its end, or when it heard another one. */
static bool is_caught_later(const struct stop *stop, const struct stop_signal *s)
{
	const struct stop_signal *request = stop->request;

	return stop->hearing & STOP_CATCHES_LATER ||
	       (request->at_ns > s->at_ns && !stop_signal_unheard(request) &&
		!(request->flags & (GRACED_SIG_DFL | GRACED_SIG_IGN)));
}

enum unheard stop_signal_reason(const struct stop *stop, const struct stop_signal *s)
{
	bool dropped = stop_signal_unheard(s);
	enum unheard ret =
		unheard_by(s->number, dropped ? RESULT_IGNORED : s->result, s->flags, s->shell);

	/* What is known of later is so of the request's number. */
	if (!dropped || !ret || s->number != stop->request->number)
		return ret;
	if (stop->hearing & STOP_LAST_UNKNOWN && !is_caught_later(stop, s))
		return UNHEARD_NONE;
	if (s->at_ns < stop->exec_ns)
		return before_exec(stop, ret);
	return is_caught_later(stop, s) ? UNHEARD_BEFORE_HANDLER : ret;
}

enum unheard stop_unheard(const struct stop *stop)
{
	const uint32_t holes = 1u << GAP_EVENTS_LOST | 1u << GAP_SUPPRESSED | 1u << GAP_SHED |
			       1u << GAP_DAEMON_DOWN | 1u << GAP_INIT_UNSEEN;
	const struct stop_signal *request = stop->request;
	enum unheard by_signal;

	if (!request->seen)
		return UNHEARD_NONE;
	by_signal = stop_signal_reason(stop, request);
	if (stop_signal_unheard(request) || by_signal == UNHEARD_SUSPENDS)
		return by_signal;
	/* The rest follows from signals that were not seen, too. */
	if (stop_gaps(stop) & holes)
		return UNHEARD_NONE;
	if (!stop->exit_seen)
		return stop->hearing & STOP_RERAISED ? UNHEARD_RERAISED : UNHEARD_NONE;
	if (stop->hearing & STOP_UNTAKEN)
		return stop_ended_by(stop) ? untaken(stop) : UNHEARD_NONE;
	return stop->kill->seen && stop_ended_by(stop) == SIGKILL_NR ? in_vain(stop) : UNHEARD_NONE;
}

bool stop_is_deaf(const struct stop *stop)
{
	enum unheard why = stop_unheard(stop);

	return is_before_exec(stop)
		       ? why == UNHEARD_NO_HANDLER || why == UNHEARD_SHELL
		       : stop->deaf && why != UNHEARD_BEFORE_HANDLER && why != UNHEARD_NONE;
}
