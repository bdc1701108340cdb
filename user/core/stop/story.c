// SPDX-License-Identifier: Apache-2.0
#include "core/stop/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "core/stop/advice.h"

/* --- parts of sentences ------------------------------------------------------------------------ */

static void add_comm(struct buf *out, const char *comm)
{
	if (comm && *comm)
		utf8_add_visible(out, comm, strlen(comm));
	else
		buf_addc(out, '?');
}

static void add_process(struct buf *out, const struct record_process *p)
{
	if (!p->pid) {
		buf_adds(out, "a process");
		return;
	}
	add_comm(out, p->comm);
	buf_printf(out, "[%u]", p->ns_pid ? p->ns_pid : p->pid);
}

static void add_init(struct buf *out, const struct record_stop *stop)
{
	if (stop->process.pid)
		add_process(out, &stop->process);
	else
		buf_adds(out, "the init");
}

static void add_signal(struct buf *out, uint32_t number)
{
	char name[SIGNAME_SIZE];

	buf_adds(out, signame_format(number, name));
}

static void add_time(struct buf *out, uint64_t from_ns, uint64_t to_ns)
{
	char text[DURATION_SIZE];

	buf_adds(out, duration_format(to_ns > from_ns ? to_ns - from_ns : 0, text));
}

static const struct record_member *find_member(const struct record_stop *stop, uint32_t pid)
{
	for (size_t i = 0; i < stop->n_processes; i++)
		if (pid && stop->processes[i].process.pid == pid)
			return stop->processes + i;
	return NULL;
}

/* Who sent a signal: a process of the container as it sees it, another one as a person would look
 * for it on the host. */
static void add_sender(struct buf *out, const struct record_stop *stop, enum sender_kind kind,
		       const struct record_process *p)
{
	const struct record_member *own = find_member(stop, p->pid);

	if (own || (p->pid && p->pid == stop->process.pid)) {
		add_process(out, own ? &own->process : &stop->process);
		return;
	}

	switch (kind) {
	case SENDER_KERNEL:
		buf_adds(out, "the kernel");
		return;
	case SENDER_UNKNOWN:
	case SENDER_UNPLACED:
		buf_adds(out, "a process that is not known");
		return;
	default:
		add_comm(out, p->comm);
		buf_printf(out, "[%u]", p->pid);
		if (kind == SENDER_RUNTIME)
			buf_adds(out, " (the runtime)");
		else if (kind == SENDER_HOST)
			buf_adds(out, " (on the host)");
		else if (kind == SENDER_POD)
			buf_adds(out, " (in its pod)");
	}
}

static uint32_t died_of(const struct record_exit *exit)
{
	return exit->known ? exit->status & 0x7f : 0;
}

static uint32_t code_of(const struct record_exit *exit)
{
	return exit->status >> 8 & 0xff;
}

/* The first that was cut; NULL: none is listed. */
static const struct record_member *first_cut(const struct record_stop *stop)
{
	for (size_t i = 1; i < stop->n_processes; i++)
		if (stop->processes[i].cut)
			return stop->processes + i;
	return NULL;
}

/* --- the sentence ------------------------------------------------------------------------------ */

static const char *memory_of(enum cause cause)
{
	switch (cause) {
	case CAUSE_OOM_CONTAINER:
		return ": the container's memory limit was reached";
	case CAUSE_OOM_POD:
		return ": the pod's memory limit was reached";
	case CAUSE_OOM_NODE:
		return ": the node ran out of memory";
	default:
		return "";
	}
}

/* What ended the process that is named, by the record's own cause. */
static void add_end(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	const struct record_sigref *kill = record_killer(stop);

	if (stop->cause == CAUSE_OOM_USERSPACE) {
		buf_adds(out, " was killed to free memory by ");
		add_sender(out, stop, kill->sender.kind, &kill->sender.process);
	} else if (stop->outcome == OUTCOME_OOM_KILLED) {
		buf_printf(out, " was killed by the OOM killer%s", memory_of(stop->cause));
	} else if (stop->outcome == OUTCOME_CRASHED && stop->cause == CAUSE_KERNEL) {
		buf_adds(out, " crashed: ");
		add_signal(out, sig);
	} else {
		if (stop->cause == CAUSE_SELF && sig == 9) {
			buf_adds(out, " killed itself");
			return;
		}
		buf_adds(out, sig == 9 ? " was killed" : " died of ");
		if (sig != 9)
			add_signal(out, sig);
		if (stop->cause == CAUSE_SELF) {
			buf_adds(out, ", which it sent itself");
		} else if (kill->known) {
			buf_adds(out, sig == 9 ? " by " : ", sent by ");
			add_sender(out, stop, kill->sender.kind, &kill->sender.process);
		} else if (stop->cause == CAUSE_UNKNOWN) {
			buf_adds(out, "; by whom was not seen");
		}
	}
}

/* Init passed the end of a child on. */
static void add_via(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *m = find_member(stop, stop->via.process.pid);
	bool signalled = m && died_of(&m->exit);
	bool child = m && m->parent_pid == stop->process.pid;

	add_process(out, &stop->via.process);
	buf_adds(out, child ? ", child of " : ", below ");
	add_init(out, stop);
	buf_addc(out, ',');
	if (signalled)
		add_end(out, stop, died_of(&m->exit));
	else
		buf_printf(out, " exited with code %u", m ? code_of(&m->exit) : 0);
	buf_adds(out, ". ");
	add_init(out, stop);
	if (died_of(&stop->exit))
		buf_adds(out, " sent itself the same signal");
	else
		buf_printf(out, " passed %u on", code_of(&stop->exit));
	buf_adds(out, stop->via.how == VIA_INFERRED ? ", as far as can be seen." : ".");
}

/* Whom init passed its stop signal, and what became of that one. */
static void add_passed(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *to = find_member(stop, stop->forward.to.pid);

	if (!stop->forward.count)
		return;
	buf_adds(out, " passed ");
	add_signal(out, stop->forward.number);
	buf_adds(out, " to ");
	add_process(out, &stop->forward.to);
	if (to && died_of(&to->exit) == stop->forward.number)
		buf_adds(out, ", which died of it");
	else if (to && to->cut)
		buf_adds(out, ", which was killed");
	else if (to && to->exit.known)
		buf_printf(out, ", which exited with code %u", code_of(&to->exit));
}

/* Init left, and what it left behind was killed. */
static void add_cut(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *cut = first_cut(stop);
	uint64_t asked_ns = stop->stop_signal.at_ns;

	if (!cut) {
		buf_printf(out, "%u processes were killed", stop->cut);
		return;
	}
	add_process(out, &cut->process);
	if (!cut->asked.number)
		buf_adds(out, " never received it and");
	buf_adds(out, " was killed ");
	add_time(out, asked_ns, cut->exit.at_ns);
	buf_adds(out, " after it");
	if (cut->by == ENDED_PID_NAMESPACE) {
		buf_adds(out, ", when ");
		add_init(out, stop);
		buf_adds(out, " exited");
	} else if (cut->fatal.number) {
		buf_adds(out, ", by ");
		add_sender(out, stop, cut->fatal.sender, &cut->fatal.process);
	}
	if (stop->cut > 1)
		buf_printf(out, " (and %u more)", stop->cut - 1);
}

static void add_grace(struct buf *out, const struct record_stop *stop)
{
	char text[DURATION_SIZE];

	if (grace_known(&stop->grace) && stop->grace.ns)
		buf_printf(out, " of %s", duration_format(stop->grace.ns, text));
}

/* It ended as it was asked to, by itself or by the signal. */
static void add_ended_well(struct buf *out, const struct record_stop *stop)
{
	add_init(out, stop);
	if (stop->forward.count) {
		add_passed(out, stop);
		buf_adds(out, ", and");
	}
	buf_adds(out, died_of(&stop->exit) ? " was ended by " : " ended ");
	if (died_of(&stop->exit)) {
		add_signal(out, died_of(&stop->exit));
	} else {
		add_time(out, 0, stop->latency_ns);
		buf_adds(out, " after ");
		add_signal(out, stop->stop_signal.number);
	}
	if (stop->cut) {
		buf_adds(out, "; ");
		add_cut(out, stop);
	}
	buf_addc(out, '.');
}

/* Its time was over. */
static void add_expired(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *kill = &stop->kill_signal;

	add_init(out, stop);
	if (stop->deaf || stop->reason == UNHEARD_IGNORED) {
		buf_adds(out, stop->deaf ? " never heard " : " ignored ");
		add_signal(out, stop->stop_signal.number);
	} else {
		buf_adds(out, stop->deliver_ns ? " took " : " was sent ");
		add_signal(out, stop->stop_signal.number);
		buf_adds(out, " and did not end");
		if (stop->forward.count) {
			buf_adds(out, ": it");
			add_passed(out, stop);
		}
	}
	buf_adds(out, stop->cause == CAUSE_KILLED_EARLY ? "; before its grace period"
							: "; when its grace period");
	add_grace(out, stop);
	buf_adds(out, " was over, ");
	add_sender(out, stop, kill->sender.kind, &kill->sender.process);
	buf_adds(out, " killed it, ");
	add_time(out, stop->stop_signal.at_ns, kill->at_ns);
	buf_adds(out, " after the signal.");
}

static void add_by_itself(struct buf *out, const struct record_stop *stop)
{
	add_init(out, stop);
	buf_printf(out, " exited with code %u by itself; nobody had asked it to stop.",
		   code_of(&stop->exit));
}

void story_add_why(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *via = find_member(stop, stop->via.process.pid);
	bool expired = stop->cause == CAUSE_GRACE_EXPIRED || stop->cause == CAUSE_KILLED_EARLY;
	bool well = stop->outcome == OUTCOME_GRACEFUL || stop->outcome == OUTCOME_TERMINATED;

	if (stop->outcome == OUTCOME_UNKNOWN || !stop->exit.known) {
		buf_adds(out, "What ended ");
		add_init(out, stop);
		buf_adds(out, " was not seen.");
	} else if (via && !(well && stop->stop_signal.known)) {
		add_via(out, stop);
	} else if (expired) {
		add_expired(out, stop);
	} else if (well && stop->stop_signal.known) {
		add_ended_well(out, stop);
	} else if (died_of(&stop->exit)) {
		add_init(out, stop);
		add_end(out, stop, died_of(&stop->exit));
		buf_addc(out, '.');
	} else {
		add_by_itself(out, stop);
	}
}

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

size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_EVENTS],
		    size_t *ret_more)
{
	struct events e = {};
	size_t n;

	for (uint32_t i = 0; i < RECORD_REQUESTS && stop->requests[i].number; i++)
		add_at(&e, stop->requests[i].at_ns, STORY_ASKED, i);
	for (uint32_t i = 1; i < stop->n_processes; i++) {
		add_at(&e, stop->processes[i].asked.at_ns, STORY_PASSED, i);
		add_at(&e, stop->processes[i].exit.at_ns, STORY_ENDED, i);
	}
	if (!stop->via.process.pid)
		add_at(&e, stop->kill_signal.at_ns, STORY_KILLED, 0);
	if (stop->exit.known)
		add_at(&e, stop->exit.at_ns, STORY_EXITED, 0);
	add_at(&e, stop->empty_ns, STORY_EMPTIED, 0);
	qsort(e.list, e.n, sizeof(*e.list), by_time);
	n = e.n < STORY_EVENTS ? e.n : STORY_EVENTS;
	memcpy(ret, e.list, n * sizeof(*ret));
	*ret_more = e.n - n;
	return n;
}

static void add_result(struct buf *out, int32_t result)
{
	if (result)
		buf_printf(out, " (%s)", record_result_name(result));
}

static void add_asked(struct buf *out, const struct record_stop *stop,
		      const struct record_request *r)
{
	add_sender(out, stop, r->sender, &r->process);
	buf_adds(out, " sent ");
	add_signal(out, r->number);
	buf_adds(out, " to ");
	add_init(out, stop);
	add_result(out, r->result);
	if (r->reason)
		buf_printf(out, ", in vain: %s", unheard_name(r->reason));
	else if (r->taken_ns) {
		buf_adds(out, ", which took it after ");
		add_time(out, r->at_ns, r->taken_ns);
	}
}

static void add_how(struct buf *out, const struct record_exit *exit, enum ended_by by)
{
	if (died_of(exit)) {
		buf_adds(out, died_of(exit) == 9 ? " was killed" : " died of ");
		if (died_of(exit) != 9)
			add_signal(out, died_of(exit));
		if (by == ENDED_OOM)
			buf_adds(out, " by the OOM killer");
		else if (by == ENDED_PID_NAMESPACE)
			buf_adds(out, " with the pid namespace");
	} else {
		buf_printf(out, " exited with code %u", code_of(exit));
	}
}

static void add_ended(struct buf *out, const struct record_stop *stop,
		      const struct record_member *m)
{
	add_process(out, &m->process);
	add_how(out, &m->exit, m->by);
	if (m->fatal.number && m->by != ENDED_OOM) {
		buf_adds(out, ", sent by ");
		add_sender(out, stop, m->fatal.sender, &m->fatal.process);
	}
	if (!m->asked.number && m->cut)
		buf_adds(out, "; it had received no stop signal");
}

void story_add_event(struct buf *out, const struct record_stop *stop,
		     const struct story_event *event)
{
	const struct record_member *m = stop->processes + event->index;

	switch (event->what) {
	case STORY_ASKED:
		add_asked(out, stop, stop->requests + event->index);
		break;
	case STORY_PASSED:
		add_sender(out, stop, m->asked.sender, &m->asked.process);
		buf_adds(out, " sent ");
		add_signal(out, m->asked.number);
		buf_adds(out, " to ");
		add_process(out, &m->process);
		add_result(out, m->asked.result);
		break;
	case STORY_KILLED:
		add_sender(out, stop, stop->kill_signal.sender.kind,
			   &stop->kill_signal.sender.process);
		buf_adds(out, " killed ");
		add_init(out, stop);
		break;
	case STORY_ENDED:
		add_ended(out, stop, m);
		break;
	case STORY_EXITED:
		add_init(out, stop);
		add_how(out, &stop->exit, ENDED_UNKNOWN);
		break;
	case STORY_EMPTIED:
		buf_adds(out, "no process was left");
		break;
	}
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

static bool is_cut(const struct record_stop *stop)
{
	return stop->cut && stop->outcome != OUTCOME_KILLED;
}

static bool is_slow(const struct record_stop *stop)
{
	return stop->cause == CAUSE_GRACE_EXPIRED && !stop->reason;
}

static bool is_no_grace(const struct record_stop *stop)
{
	return stop->cause == CAUSE_NO_GRACE || stop->cause == CAUSE_KILLED_EARLY;
}

static bool is_killed_by_other(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_KILLED &&
	       (stop->cause == CAUSE_HOST || stop->cause == CAUSE_OTHER_POD ||
		stop->cause == CAUSE_SAME_POD || stop->cause == CAUSE_SAME_CONTAINER);
}

static bool is_crash(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_CRASHED;
}

static bool is_failure(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_FAILED;
}

static const struct remedy remedies[] = {
	{is_oom_of_limit, "Raise the limit, or have the program use less (its heap, its workers).",
	 NULL},
	{is_oom_of_node, "Give the pod a memory request that it keeps to, or the node more memory.",
	 NULL},
	{is_cut,
	 "Have each process asked: an init that signals the whole group (tini -g, dumb-init), or exec "
	 "in place of npm and sh.",
	 "exec-in-a-script"},
	{is_slow,
	 "See what it waits for (a client, a lock, a queue), end that on the signal, or give it a "
	 "longer grace period.",
	 "a-handler-in-the-program"},
	{is_no_grace, "See who ended it without its time: the sender above.", NULL},
	{is_killed_by_other, "See the sender above: nothing else sent that signal.", NULL},
	{is_crash, "See the program's own log and its core dump.", NULL},
	{is_failure, "See the program's own log: it ended by itself.", NULL},
};

bool story_remedy(const struct record_stop *stop, size_t index, const char **ret_text,
		  const char **ret_page)
{
	const char *reason = advice_remedy(advice_of_unheard(stop->reason));

	if (reason && !index) {
		*ret_text = reason;
		*ret_page = NULL;
		return true;
	}
	index -= reason != NULL;
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		if (!remedies[i].applies(stop) || index--)
			continue;
		*ret_text = remedies[i].text;
		*ret_page = remedies[i].page;
		return true;
	}
	return false;
}
