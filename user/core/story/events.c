// SPDX-License-Identifier: Apache-2.0
/* What happened in a stop: which events, and each in words. */
#include <stdlib.h>
#include <string.h>

#include "core/story/phrase.h"
#include "core/story/part.h"

/* --- what happened ----------------------------------------------------------------------------- */

/* What a look found has so many lines at most. */
#define SEEN_MAX   3
/* All that a record can have: requests, two for each process, init's end, and what follows. */
#define EVENTS_MAX (RECORD_REQUESTS + 2 * RECORD_MEMBERS + SEEN_MAX + 4)

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
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static unsigned int worth(const struct record_stop *stop, const struct story_event *event)
{
	const struct record_member *m;

	if (event->what == STORY_SEEN)
		return event->index ? 0 : 2;
	if (event->what != STORY_PASSED && event->what != STORY_END)
		return 2;
	m = stop->processes + event->index;
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
			add_at(e, m->exit.at_ns, STORY_END, i);
	}
}

/* reboot(2) in a pid namespace kills its init, whose status is SIGHUP or SIGINT then. */
static bool is_rebooted(const struct record_stop *stop)
{
	uint32_t died_of = record_died_of(&stop->exit);

	return stop->kill_signal.known && !stop->via.process.pid && (died_of == 1 || died_of == 2);
}

size_t story_events(const struct record_stop *stop, struct story_event ret[STORY_LINES],
		    size_t *ret_more)
{
	struct events e = {};

	add_requests(&e, stop);
	add_of_processes(&e, stop);
	for (uint32_t i = 0; i < stop->n_waited_for && i < SEEN_MAX; i++)
		add_at(&e, stop->waited_for[i].at_ns, STORY_SEEN, i);
	if (stop->kill_signal.known && !stop->via.process.pid && !is_rebooted(stop))
		add_at(&e, stop->kill_signal.at_ns, STORY_KILLED, 0);
	if (stop->exit.known)
		add_at(&e, stop->exit.at_ns, STORY_EXITED, 0);
	add_at(&e, stop->empty_ns, STORY_EMPTIED, 0);
	qsort(e.list, e.n, sizeof(*e.list), by_time);
	*ret_more = e.n > STORY_LINES ? e.n - STORY_LINES : 0;
	while (e.n > STORY_LINES) {
		size_t at = least(stop, &e);

		memmove(e.list + at, e.list + at + 1, (--e.n - at) * sizeof(*e.list));
	}
	memcpy(ret, e.list, e.n * sizeof(*ret));
	return e.n;
}

static void add_result(struct buf *out, int32_t result)
{
	if (result)
		buf_printf(out, " (%s)", record_result_name(result));
}

static void add_target_init(struct buf *out, const struct record_stop *stop, enum sender_kind kind,
			    const struct record_process *sender, const char *comm)
{
	if (kind != SENDER_KERNEL && sender->pid && sender->pid == stop->process.pid)
		buf_adds(out, "itself");
	else if (stop->process.pid)
		phrase_add_process_then(out, &stop->process, comm);
	else
		phrase_add_init(out, stop);
}

/* It waited until init went on. */
static bool is_heard_later(const struct record_stop *stop, const struct record_request *r)
{
	return r->reason == UNHEARD_STOPPED &&
	       (r->taken_ns || record_died_of(&stop->exit) == r->number);
}

static void add_asked(struct buf *out, const struct record_stop *stop,
		      const struct record_request *r)
{
	phrase_add_sender(out, stop, &r->asked);
	buf_adds(out, " sent ");
	phrase_add_signal(out, r->number);
	buf_adds(out, " to ");
	add_target_init(out, stop, r->sender, &r->process, r->target_comm);
	if (r->reason && !is_heard_later(stop, r)) {
		buf_printf(out, ", in vain: %s", unheard_remark(r->reason));
		return;
	}
	add_result(out, r->result);
	if (r->taken_ns) {
		buf_adds(out, ", which took it after ");
		phrase_add_time(out, r->at_ns, r->taken_ns);
	}
}

static bool is_own(const struct record_member *m, const struct record_asked *signal)
{
	return signal->number && signal->sender != SENDER_KERNEL && signal->process.pid &&
	       signal->process.pid == m->process.pid;
}

static void add_ended(struct buf *out, const struct record_stop *stop,
		      const struct record_member *m)
{
	uint32_t sig = record_died_of(&m->exit);

	phrase_add_process(out, &m->process);
	if (!sig) {
		buf_printf(out, " exited with code %u", record_code_of(&m->exit));
		return;
	}
	if (sig == 9 && is_own(m, &m->fatal)) {
		buf_adds(out, " killed itself");
		return;
	}
	buf_adds(out, sig == 9 ? " was killed" : " died of ");
	if (sig != 9)
		phrase_add_signal(out, sig);
	if (m->by == ENDED_OOM) {
		buf_adds(out, " by the OOM killer");
	} else if (m->by == ENDED_PID_NAMESPACE) {
		buf_adds(out, " with the pid namespace");
	} else if (m->by == ENDED_PARENT_DEATH) {
		buf_adds(out, sig == 9 ? "" : ", sent");
		phrase_add_parent_death(out, m);
	} else if (is_own(m, &m->fatal)) {
		buf_adds(out, ", which it sent itself");
	} else if (m->fatal.number) {
		buf_adds(out, sig == 9 ? " by " : ", sent by ");
		phrase_add_sender(out, stop, &m->fatal);
	}
	if (!m->asked.number && m->cut)
		buf_adds(out, "; it had received no stop signal");
}

static bool is_oom(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_OOM_KILLED && stop->cause != CAUSE_OOM_USERSPACE;
}

static void add_exited(struct buf *out, const struct record_stop *stop)
{
	uint32_t sig = record_died_of(&stop->exit);

	phrase_add_init(out, stop);
	if (!sig) {
		buf_printf(out, " exited with code %u", record_code_of(&stop->exit));
	} else if (sig == 9 && stop->kill_signal.known) {
		buf_adds(out, " ended");
	} else if (is_rebooted(stop)) {
		buf_adds(out, " was ended by reboot(2)");
	} else if (sig == 9) {
		buf_adds(out, " was killed");
		if (is_oom(stop))
			buf_adds(out, " by the OOM killer");
	} else {
		buf_adds(out, " died of ");
		phrase_add_signal(out, sig);
	}
}

static void add_kill(struct buf *out, const struct record_stop *stop)
{
	const struct record_sender *s = &stop->kill_signal.sender;
	const struct record_asked kill = {.sender = s->kind, .process = s->process};

	if (is_oom(stop) && s->kind == SENDER_KERNEL)
		buf_adds(out, "the OOM killer");
	else
		phrase_add_sender(out, stop, &kill);
	buf_adds(out, " killed ");
	add_target_init(out, stop, s->kind, &s->process, NULL);
}

static void add_signal_passed(struct buf *out, const struct record_stop *stop,
			      const struct record_member *m)
{
	phrase_add_sender(out, stop, &m->asked);
	buf_adds(out, " sent ");
	phrase_add_signal(out, m->asked.number);
	buf_adds(out, " to ");
	if (is_own(m, &m->asked))
		buf_adds(out, "itself");
	else
		phrase_add_process(out, &m->process);
	add_result(out, m->asked.result);
}

void story_add_event(struct buf *out, const struct record_stop *stop,
		     const struct story_event *event)
{
	const struct record_sigref *asked = &stop->stop_signal;
	const struct record_request unlisted = {.number = asked->number,
						.result = asked->result,
						.sender = asked->sender.kind,
						.process = asked->sender.process};

	switch (event->what) {
	case STORY_ASKED:
		if (event->index < RECORD_REQUESTS)
			add_asked(out, stop, stop->requests + event->index);
		else
			add_asked(out, stop, &unlisted);
		break;
	case STORY_PASSED:
		add_signal_passed(out, stop, stop->processes + event->index);
		break;
	case STORY_SEEN:
		story_add_wait(out, stop, stop->waited_for + event->index);
		break;
	case STORY_KILLED:
		add_kill(out, stop);
		break;
	case STORY_END:
		add_ended(out, stop, stop->processes + event->index);
		break;
	case STORY_EXITED:
		add_exited(out, stop);
		break;
	case STORY_EMPTIED:
		buf_adds(out, "no process was left");
		break;
	}
}
