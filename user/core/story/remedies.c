// SPDX-License-Identifier: Apache-2.0
/* What happened in a stop, and what to do about one that did not go well. */
#include <stdlib.h>
#include <string.h>

#include "core/stop/advice.h"
#include "core/story/part.h"

/* --- what happened ----------------------------------------------------------------------------- */

/* All that a record can have: requests, two for each process, init's end, and what follows. */
#define EVENTS_MAX (RECORD_REQUESTS + 2 * RECORD_MEMBERS + 4)

struct events {
	struct story_event list[EVENTS_MAX];
	size_t n;
};

static void add_at(struct events *e, uint64_t at_ns, enum story_what what, uint32_t index)
{
	if (at_ns && e->n < EVENTS_MAX)
		e->list[e->n++] = (struct story_event){at_ns, what, index};
}

static int by_time(const void *a, const void *b)
{
	const struct story_event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static unsigned int worth(const struct record_stop *stop, const struct story_event *event)
{
	const struct record_member *m = stop->processes + event->index;

	if (event->what != STORY_PASSED && event->what != STORY_ENDED)
		return 2;
	return m->cut || (stop->via.process.pid && m->process.pid == stop->via.process.pid);
}

/* What explains the stop least, to leave out: the last event of a process that was not cut. */
static size_t least(const struct record_stop *stop, const struct events *e)
{
	size_t ret = 0;

	for (size_t i = 1; i < e->n; i++)
		if (worth(stop, e->list + i) <= worth(stop, e->list + ret))
			ret = i;
	return ret;
}

/* A signal from inside the container is no request, but may be why init exited. */
static void add_requests(struct events *e, const struct record_stop *stop)
{
	bool listed = !stop->stop_signal.known;

	for (uint32_t i = 0; i < RECORD_REQUESTS && stop->requests[i].number; i++) {
		listed |= stop->requests[i].at_ns == stop->stop_signal.at_ns;
		add_at(e, stop->requests[i].at_ns, STORY_ASKED, i);
	}
	if (!listed)
		add_at(e, stop->stop_signal.at_ns, STORY_ASKED, RECORD_REQUESTS);
}

static void add_of_processes(struct events *e, const struct record_stop *stop)
{
	for (uint32_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->asked.number)
			add_at(e, m->asked.at_ns, STORY_PASSED, i);
		if (m->exit.known)
			add_at(e, m->exit.at_ns, STORY_ENDED, i);
	}
}

size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_EVENTS],
		    size_t *ret_more)
{
	struct events e = {};

	add_requests(&e, stop);
	add_of_processes(&e, stop);
	if (stop->kill_signal.known && !stop->via.process.pid)
		add_at(&e, stop->kill_signal.at_ns, STORY_KILLED, 0);
	if (stop->exit.known)
		add_at(&e, stop->exit.at_ns, STORY_EXITED, 0);
	add_at(&e, stop->empty_ns, STORY_EMPTIED, 0);
	qsort(e.list, e.n, sizeof(*e.list), by_time);
	*ret_more = e.n > STORY_EVENTS ? e.n - STORY_EVENTS : 0;
	while (e.n > STORY_EVENTS) {
		size_t at = least(stop, &e);

		memmove(e.list + at, e.list + at + 1, (--e.n - at) * sizeof(*e.list));
	}
	memcpy(ret, e.list, e.n * sizeof(*ret));
	return e.n;
}

/* --- what to do -------------------------------------------------------------------------------- */

struct remedy {
	bool (*applies)(const struct record_stop *stop);
	const char *text, *page;
};

static bool is_oom_of_limit(const struct record_stop *stop)
{
	return stop->cause == CAUSE_OOM_CONTAINER || stop->cause == CAUSE_OOM_POD;
}

static bool is_oom_of_node(const struct record_stop *stop)
{
	return stop->cause == CAUSE_OOM_NODE || stop->cause == CAUSE_OOM_USERSPACE;
}

#define BY(ended) (1u << ENDED_##ended)

/* Whether one was cut by one of these, and whether it had been asked. */
static bool has_cut(const struct record_stop *stop, bool asked, uint32_t by)
{
	for (size_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->cut && (m->asked.number > 0) == asked && by >> m->by & 1)
			return true;
	}
	return false;
}

/* With the container, or by what ends that. */
static bool is_cut_unasked(const struct record_stop *stop)
{
	return has_cut(stop, false, BY(UNKNOWN) | BY(PID_NAMESPACE) | BY(KERNEL) | BY(RUNTIME)) &&
	       !stop->reason;
}

static bool is_cut_by_its_own(const struct record_stop *stop)
{
	return has_cut(stop, false, BY(CONTAINER));
}

static bool is_cut_asked(const struct record_stop *stop)
{
	return has_cut(stop, true, ~(BY(HOST) | BY(POD))) && stop->outcome != OUTCOME_KILLED;
}

static bool is_cut_by_other(const struct record_stop *stop)
{
	return has_cut(stop, true, BY(HOST) | BY(POD)) || has_cut(stop, false, BY(HOST) | BY(POD));
}

static bool is_oom_unknown(const struct record_stop *stop)
{
	return stop->cause == CAUSE_OOM_UNKNOWN;
}

static bool is_slow(const struct record_stop *stop)
{
	return stop->cause == CAUSE_GRACE_EXPIRED && !stop->reason;
}

static bool is_early(const struct record_stop *stop)
{
	return stop->cause == CAUSE_KILLED_EARLY;
}

static bool is_no_grace(const struct record_stop *stop)
{
	return stop->cause == CAUSE_NO_GRACE;
}

static bool is_runtime_lost(const struct record_stop *stop)
{
	return stop->cause == CAUSE_RUNTIME_LOST;
}

static bool is_killed_by_other(const struct record_stop *stop)
{
	return is_cut_by_other(stop) ||
	       ((stop->outcome == OUTCOME_KILLED || stop->outcome == OUTCOME_TERMINATED) &&
		!record_may_be_terminal(stop) &&
		(stop->cause == CAUSE_HOST || stop->cause == CAUSE_OTHER_POD ||
		 stop->cause == CAUSE_SAME_POD || stop->cause == CAUSE_SAME_CONTAINER));
}

static bool is_of_supervisor(const struct record_stop *stop)
{
	return stop->cause == CAUSE_SUPERVISOR;
}

static bool is_crash(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_CRASHED;
}

static bool is_failure(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_FAILED && stop->cause == CAUSE_SELF;
}

static const struct remedy remedies[] = {
	{is_oom_of_limit, "Raise the limit, or have the program use less (its heap, its workers).",
	 NULL},
	{is_oom_of_node, "Give the pod a memory request that it keeps to, or the node more memory.",
	 NULL},
	{is_oom_unknown, "Compare the memory of the container with its limit, and with the node's.",
	 NULL},
	{is_cut_unasked,
	 "Have each process asked: exec the application in place of npm and sh, or an init that "
	 "signals the whole group (tini -g, dumb-init).",
	 "exec-in-a-script"},
	{is_cut_by_its_own,
	 "It is the application that kills this process without asking: if that one has something to "
	 "finish, have it sent a signal first, and waited for.",
	 NULL},
	{is_cut_asked,
	 "Have that process end sooner on the signal, or what killed it wait longer: some parents "
	 "give less than the grace period.",
	 "it-hears-and-takes-10-seconds-all-the-same"},
	{is_slow,
	 "See what it waits for (a client, a lock, a queue), end that on the signal, or give it a "
	 "longer grace period.",
	 "it-hears-and-takes-10-seconds-all-the-same"},
	{is_early,
	 "Look for a shorter timeout in what stopped it: docker stop -t, stop_grace_period, "
	 "kubectl delete --grace-period, the shutdown of a node.",
	 NULL},
	{is_no_grace,
	 "Stop it by what asks first (docker stop, kubectl delete): docker kill, docker rm -f and a "
	 "grace period of 0 do not.",
	 NULL},
	{is_runtime_lost,
	 "See why its shim ended: the log of the runtime, and the kernel's of OOM kills.", NULL},
	{is_killed_by_other, "It was no stop: see why the sender of that signal kills processes.",
	 NULL},
	{is_of_supervisor,
	 "Its own parent ended it, as timeout and watchdogs do: give it more time there, or see what "
	 "took it so long.",
	 NULL},
	{is_crash, "See the program's own log and its core dump.", NULL},
	{is_failure, "See the program's own log: it ended by itself.", NULL},
};

#define WARNING(w) (AUDIT_REASON_COUNT + (w))

/* Of topics of core/stop/advice. */
static const char *const pages[ADVICE_TOPICS] = {
	[AUDIT_SHIELD] = "a-handler-in-the-program",
	[AUDIT_SIG_IGN] = "ignored-or-blocked",
	[AUDIT_BLOCKED] = "ignored-or-blocked",
	[AUDIT_BUSY] = "ignored-or-blocked",
	[AUDIT_THREADS] = "ignored-or-blocked",
	[AUDIT_DEFAULT_IGNORE] = "stopsignal",
	[AUDIT_SUSPENDS] = "stopsignal",
	[AUDIT_SHELL] = "exec-in-a-script",
	[WARNING(AUDIT_SHELL_WAITS)] = "trap-and-wait",
	[WARNING(AUDIT_CHILD_UNSIGNALLED)] = "exec-in-a-script",
	[WARNING(AUDIT_CHILD_IGNORES)] = "ignored-or-blocked",
	[WARNING(AUDIT_RERAISES)] = "node",
	[WARNING(AUDIT_SHELL_BETWEEN)] = "exec-in-a-script",
	[WARNING(AUDIT_SCRIPT_SHELL)] = "node",
	[WARNING(AUDIT_NOT_AWAITED)] = "exec-in-a-script",
	[WARNING(AUDIT_KILLED_SOON)] = "it-hears-and-takes-10-seconds-all-the-same",
};

bool story_remedy_of_audit(const struct audit_record *look, size_t index, const char **ret_text,
			   const char **ret_page)
{
	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++) {
		if (!advice_is_trouble(topic) || !advice_applies(topic, look) || index--)
			continue;
		*ret_text = advice_remedy(topic);
		*ret_page = pages[topic];
		return true;
	}
	return false;
}

bool story_remedy(const struct record_stop *stop, size_t index, const char **ret_text,
		  const char **ret_page)
{
	unsigned int topic = advice_of_unheard(stop->reason);

	if (topic < ADVICE_TOPICS && !index) {
		*ret_text = advice_remedy(topic);
		*ret_page = pages[topic];
		return true;
	}
	index -= topic < ADVICE_TOPICS;
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		if (!remedies[i].applies(stop) || index--)
			continue;
		*ret_text = remedies[i].text;
		*ret_page = remedies[i].page;
		return true;
	}
	return false;
}
