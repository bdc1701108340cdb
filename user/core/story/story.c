// SPDX-License-Identifier: Apache-2.0
/* The sentence of each way to end. */
#include "core/story/part.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/time.h"
#include "core/story/phrase.h"

static void add_asker(struct buf *out, const struct record_stop *stop)
{
	const struct record_sender *s = &stop->stop_signal.sender;

	buf_adds(out, " from ");
	phrase_add_culprit(out, stop, s);
}

static const char *const senders_by_cause[CAUSE_COUNT] = {
	[CAUSE_KERNEL] = "the kernel",
	[CAUSE_SUPERVISOR] = "its parent",
	[CAUSE_SAME_CONTAINER] = "another process of its container",
	[CAUSE_SAME_POD] = "another container of its pod",
	[CAUSE_OTHER_POD] = "another container",
	[CAUSE_HOST] = "a process of the host",
};

/* Who sent the signal that ended init, or the process whose end init passed on. */
static void add_killer(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	const struct record_sigref *kill = &stop->kill_signal;
	const struct record_member *via = record_find_member(stop, stop->via.process.pid);

	if (via && via->fatal.number == sig)
		phrase_add_sender(out, stop, &via->fatal);
	else if (kill->known && kill->number == sig)
		phrase_add_culprit(out, stop, &kill->sender);
	else
		buf_adds(out, senders_by_cause[stop->cause] ?: "an unknown sender");
}

/* --- the sentence ------------------------------------------------------------------------------ */

static const char *const memories[CAUSE_COUNT] = {
	[CAUSE_OOM_CONTAINER] = ": the container's memory limit was reached",
	[CAUSE_OOM_POD] = ": the pod's memory limit was reached",
	[CAUSE_OOM_NODE] = ": the node's memory, or a limit above the pod, ran out",
	[CAUSE_OOM_UNKNOWN] = "; whose memory ran out is not known",
};

static void add_oom(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *by =
		stop->kill_signal.known ? &stop->kill_signal : &stop->stop_signal;
	const struct record_asked unknown = {.sender = SENDER_HOST};

	if (stop->cause != CAUSE_OOM_USERSPACE) {
		buf_printf(out, " was killed by the OOM killer%s", memories[stop->cause] ?: "");
		return;
	}
	buf_adds(out, stop->kill_signal.known ? " was killed to free memory by "
					      : " was stopped to free memory by ");
	if (by->known)
		phrase_add_culprit(out, stop, &by->sender);
	else
		phrase_add_sender(out, stop, &unknown);
}

static void add_runtime_lost(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *keeper = &stop->keeper_signal;

	buf_adds(out, " was killed by ");
	add_killer(out, stop, 9);
	buf_adds(out, " because its shim had ended");
	if (!keeper->known)
		return;
	buf_adds(out, ": ");
	phrase_add_culprit(out, stop, &keeper->sender);
	buf_adds(out, " had sent that one ");
	phrase_add_signal(out, keeper->number);
}

/* Of init, or of the process whose end it passed on. */
static void add_parent_death(struct buf *out, const struct record_stop *stop, const char *what)
{
	buf_adds(out, what);
	phrase_add_parent_death(out, record_find_member(stop, stop->via.process.pid));
}

static void add_killed(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	/* As in events: SIGHUP or SIGINT is its status. */
	if (sig != 9) {
		buf_adds(out, " was ended by reboot(2)");
		return;
	}
	switch (stop->cause) {
	case CAUSE_SELF:
		buf_adds(out, " killed itself");
		return;
	case CAUSE_PID_NAMESPACE:
		buf_adds(out, " was killed because the init of its pid namespace had ended");
		return;
	case CAUSE_PARENT_DEATH:
		add_parent_death(out, stop, " was killed");
		return;
	case CAUSE_RUNTIME_LOST:
		add_runtime_lost(out, stop);
		return;
	case CAUSE_UNKNOWN:
		buf_adds(out, stop->kill_signal.known ? " was killed by "
						      : " was killed; by whom was not seen");
		if (stop->kill_signal.known)
			add_killer(out, stop, sig);
		return;
	default:
		buf_adds(out, " was killed by ");
		add_killer(out, stop, sig);
		if (stop->cause == CAUSE_NO_GRACE)
			buf_adds(out, phrase_may_miss_request(stop)
					      ? "; no request to stop was seen"
					      : ", which had not asked it to stop");
	}
}

/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: bit n for signal n. */
#define FAULTS (1U << 4 | 1U << 5 | 1U << 7 | 1U << 8 | 1U << 11 | 1U << 31)

/* By a process: the cause says which. */
static bool is_sent(const struct record_stop *stop)
{
	return senders_by_cause[stop->cause] && stop->cause != CAUSE_KERNEL &&
	       !record_may_be_terminal(stop);
}

static void add_own_crash(struct buf *out, const struct record_stop *stop)
{
	if (!stop->abort_ns || stop->via.process.pid) {
		buf_adds(out, ", sent by no other process");
		return;
	}
	buf_adds(out, ", ");
	phrase_add_time(out, 0, stop->abort_ns);
	buf_adds(out, " after it raised SIGABRT, as abort() does; PID 1 does not get that");
}

/* By another signal than SIGKILL. */
static void add_died(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	bool crashed = stop->outcome == OUTCOME_CRASHED;
	bool sent = is_sent(stop);

	buf_adds(out, sent				  ? " died of "
		      : crashed && phrase_dumps_core(sig) ? " crashed: "
							  : " was ended by ");
	phrase_add_signal(out, sig);
	if (sent) {
		buf_adds(out, ", sent by ");
		add_killer(out, stop, sig);
	} else if (stop->cause == CAUSE_PARENT_DEATH)
		add_parent_death(out, stop, ", sent");
	else if (record_may_be_terminal(stop))
		buf_adds(out, " from its terminal, or from a process of the host");
	else if (!crashed && stop->stop_signal.known && stop->stop_signal.number == sig)
		add_asker(out, stop);
	else if (crashed && stop->cause == CAUSE_SELF)
		add_own_crash(out, stop);
	else if (crashed && stop->cause == CAUSE_UNKNOWN)
		buf_adds(out, "; who sent it was not seen");
	else if (crashed)
		buf_adds(out, sig <= 31 && FAULTS >> sig & 1 ? "" : " from the kernel");
}

/* What ended the process that is named, by the record's own cause. */
static void add_end(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	if (stop->outcome == OUTCOME_OOM_KILLED)
		add_oom(out, stop);
	else if (stop->outcome == OUTCOME_KILLED)
		add_killed(out, stop, sig);
	else
		add_died(out, stop, sig);
}

/* The signal that ended the process whose end init passed on; 0: it exited. */
static uint32_t via_died_of(const struct record_stop *stop, const struct record_member *m)
{
	if (m)
		return record_died_of(&m->exit);
	if (record_died_of(&stop->exit))
		return record_died_of(&stop->exit);
	return record_code_of(&stop->exit) > 128 ? record_code_of(&stop->exit) - 128 : 0;
}

static void add_code(struct buf *out, const struct record_stop *stop)
{
	buf_printf(out, " exited with code %u", record_code_of(&stop->exit));
}

/* Init passed the end of a child on. */
static void add_via(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *m = record_find_member(stop, stop->via.process.pid);
	uint32_t sig = via_died_of(stop, m);

	phrase_add_process(out, &stop->via.process);
	buf_adds(out, !m || m->parent_pid == stop->process.pid ? ", child of " : ", below ");
	phrase_add_init(out, stop);
	buf_addc(out, ',');
	if (sig)
		add_end(out, stop, sig);
	else
		add_code(out, stop);
	buf_adds(out, ". ");
	phrase_add_init(out, stop);
	if (record_died_of(&stop->exit))
		buf_adds(out, " sent itself the same signal");
	else if (sig && record_code_of(&stop->exit) != 128 + sig)
		add_code(out, stop);
	else
		buf_printf(out, " passed %u on", record_code_of(&stop->exit));
	if (m && stop->exit.at_ns > m->exit.at_ns + NS_PER_S) {
		buf_addc(out, ' ');
		phrase_add_time(out, m->exit.at_ns, stop->exit.at_ns);
		buf_adds(out, " later");
	}
	if (stop->via.how == VIA_INFERRED)
		buf_printf(out, ", as far as can be seen: it may have been %s",
			   sig ? "another child's, or its own" : "its own code");
}

/* If it passed the signal to several: the one whose end it passed on, or else the first. */
static const struct record_process *passed_to(const struct record_stop *stop)
{
	const struct record_member *m = record_find_member(stop, stop->via.process.pid);

	if (stop->via.process.pid && m && m->asked.number == stop->forward.number &&
	    m->asked.process.pid == stop->process.pid)
		return &m->process;
	return &stop->forward.to;
}

/* Whom init passed its stop signal, and what became of that one. */
static void add_passed(struct buf *out, const struct record_stop *stop)
{
	const struct record_process *target = passed_to(stop);
	const struct record_member *to = record_find_member(stop, target->pid);

	if (stop->forward.number == 9) {
		buf_adds(out, " killed ");
		phrase_add_process(out, target);
		return;
	}
	buf_adds(out, " passed ");
	phrase_add_signal(out, stop->forward.number);
	buf_adds(out, " to ");
	phrase_add_process(out, target);
	if (to && record_died_of(&to->exit) && record_died_of(&to->exit) == stop->forward.number)
		buf_adds(out, ", which died of it");
	else if (to && to->exit.known && !record_died_of(&to->exit))
		buf_printf(out, ", which exited with code %u", record_code_of(&to->exit));
	else if (stop->forward.result == RESULT_IGNORED && !(to && record_heard(to)))
		buf_adds(out, phrase_child_is_shielded(stop) ? ", which has no handler for it"
							     : ", which ignores it");
}

/* Init, by its name when it did that. */
static void add_passer(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *to = record_find_member(stop, passed_to(stop)->pid);
	bool known = to && to->asked.process.pid == stop->process.pid && stop->process.pid;

	if (known)
		phrase_add_process_then(out, &stop->process, to->asked.process.comm);
	else
		phrase_add_init(out, stop);
}

/* The stop signal: "it", unless what was passed on is another one. */
static void add_it(struct buf *out, const struct record_stop *stop)
{
	if (stop->forward.count && stop->forward.number != stop->stop_signal.number)
		phrase_add_signal(out, stop->stop_signal.number);
	else
		buf_adds(out, "it");
}

/* What init left behind, or what was killed before, without having ended by itself. */
static void add_cut(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *cut = record_first_cut(stop);

	if (!cut) {
		buf_printf(out, "%u of its processes %s killed", stop->cut,
			   stop->cut == 1 ? "was" : "were");
		return;
	}
	phrase_add_process(out, &cut->process);
	if (cut->asked.number) {
		buf_adds(out, " was sent ");
		phrase_add_signal(out, cut->asked.number);
		buf_adds(out, cut->disposition == DISPOSITION_IGNORED ? ", which it ignores," : "");
	} else {
		buf_adds(out, record_is_late(stop, cut) ? " began after " : " never received ");
		add_it(out, stop);
	}
	buf_adds(out, " and was killed ");
	if (cut->by == ENDED_PID_NAMESPACE) {
		buf_adds(out, "when ");
		phrase_add_init(out, stop);
		buf_adds(out, " ended");
	} else {
		phrase_add_time(out, cut->asked.number ? cut->asked.at_ns : stop->stop_signal.at_ns,
				cut->exit.at_ns);
		buf_adds(out, cut->asked.number ? " later" : " after the request");
		if (cut->by == ENDED_PARENT_DEATH) {
			phrase_add_parent_death(out, cut);
		} else if (cut->fatal.number) {
			buf_adds(out, " by ");
			phrase_add_sender(out, stop, &cut->fatal);
		}
	}
	if (stop->cut > 1)
		buf_printf(out, " (and %u more)", stop->cut - 1);
}

static void add_after_request(struct buf *out, const struct record_stop *stop, const char *comma)
{
	if (stop->latency_known) {
		buf_printf(out, "%s ", comma);
		phrase_add_time(out, 0, stop->latency_ns);
	}
	buf_adds(out, " after ");
	phrase_add_signal(out, stop->stop_signal.number);
	if (stop->cause == CAUSE_PARENT_DEATH)
		add_parent_death(out, stop, ", sent");
	else
		add_asker(out, stop);
}

/* By the signal, by itself as it was asked to, or without having heard that. */
static void add_ended_how(struct buf *out, const struct record_stop *stop)
{
	uint32_t sig = record_died_of(&stop->exit);

	if (stop->outcome == OUTCOME_TERMINATED && sig) {
		add_died(out, stop, sig);
	} else if (stop->outcome == OUTCOME_GRACEFUL && stop->cause == CAUSE_SELF) {
		add_code(out, stop);
		buf_adds(out, " by itself");
		add_after_request(out, stop, ",");
		buf_adds(out, ", which it did not hear");
	} else if (!sig && record_code_of(&stop->exit)) {
		add_code(out, stop);
		add_after_request(out, stop, ",");
	} else {
		buf_adds(out, " ended");
		add_after_request(out, stop, "");
	}
}

static void add_ended_well(struct buf *out, const struct record_stop *stop)
{
	if (!stop->forward.count) {
		phrase_add_init(out, stop);
	} else {
		add_passer(out, stop);
		add_passed(out, stop);
		buf_adds(out, ", and");
	}
	add_ended_how(out, stop);
}

static void add_heard(struct buf *out, const struct record_stop *stop)
{
	buf_adds(out, stop->deliver_ns ? " took " : " was sent ");
	phrase_add_signal(out, stop->stop_signal.number);
	if (stop->deliver_ns) {
		buf_adds(out, " after ");
		phrase_add_time(out, stop->stop_signal.at_ns, stop->deliver_ns);
	}
	if (stop->forward.count) {
		buf_addc(out, ',');
		add_passed(out, stop);
		buf_addc(out, ',');
	}
	buf_adds(out, " and did not end");
}

static void add_grace(struct buf *out, const struct record_stop *stop)
{
	char text[DURATION_SIZE];

	if (grace_known(&stop->grace))
		buf_printf(out, " its %sgrace period of %s",
			   stop->grace.from == GRACE_ASSUMED ? "assumed " : "",
			   duration_format(stop->grace.ns, text));
	else
		buf_adds(out, " its grace period");
}

/* What the kill came so long after is no reason for it. */
static bool is_overdue(const struct grace *grace, uint64_t after_ns)
{
	return after_ns > grace->ns &&
	       (after_ns - grace->ns >= 5 * NS_PER_S || after_ns - grace->ns > grace->ns);
}

/* When the SIGKILL came: its grace period was over, or so long after the request. */
static void add_kill_time(struct buf *out, const struct record_stop *stop)
{
	uint64_t from_ns = stop->stop_signal.at_ns;
	uint64_t at_ns = stop->kill_signal.known ? stop->kill_signal.at_ns : stop->exit.at_ns;
	bool expired = stop->cause == CAUSE_GRACE_EXPIRED && grace_known(&stop->grace);
	bool overdue = expired && stop->grace.ns && at_ns > from_ns &&
		       is_overdue(&stop->grace, at_ns - from_ns);
	bool over = expired && stop->grace.ns && !overdue;

	if (!over) {
		buf_addc(out, ' ');
		phrase_add_time(out, from_ns, at_ns);
		buf_adds(out, " later");
	}
	if (overdue) {
		buf_adds(out, ", ");
		phrase_add_time(out, from_ns + stop->grace.ns, at_ns);
	}
	if (over || overdue || stop->cause == CAUSE_KILLED_EARLY) {
		buf_adds(out, over ? " when" : overdue ? " after" : ", before");
		add_grace(out, stop);
		buf_adds(out, " was over");
	} else if (expired) {
		buf_adds(out, ": its grace period is 0");
	} else if (stop->cause == CAUSE_DEAF_GRACE) {
		buf_adds(out, ", as shutdown.deafGrace says");
	}
}

/* Init, by its name when the stop signal came. */
static void add_asked_init(struct buf *out, const struct record_stop *stop)
{
	const char *comm = NULL;

	for (size_t i = 0; i < RECORD_REQUESTS; i++)
		if (stop->requests[i].at_ns == stop->stop_signal.at_ns)
			comm = stop->requests[i].target_comm;
	if (stop->process.pid)
		phrase_add_process_then(out, &stop->process, comm);
	else
		phrase_add_init(out, stop);
}

/* It was asked, and then killed. */
static void add_expired(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *kill = &stop->kill_signal;
	const struct record_asked by = {
		.sender = kill->known ? kill->sender.kind : SENDER_UNKNOWN,
		.process = kill->sender.process,
	};

	if (stop->deaf || stop->reason) {
		phrase_add_init(out, stop);
		buf_addc(out, ' ');
		phrase_add_reason(out, stop);
	} else {
		add_asked_init(out, stop);
		add_heard(out, stop);
	}
	buf_adds(out, "; ");
	phrase_add_sender(out, stop, &by);
	buf_adds(out, " killed it");
	add_kill_time(out, stop);
}

/* What init was sent before it ended, and which is no stop signal of its container. */
static void add_beside(struct buf *out, const struct record_stop *stop,
		       const struct record_request *r)
{
	phrase_add_time(out, r->taken_ns ?: r->at_ns, stop->exit.at_ns);
	buf_adds(out, r->taken_ns ? " after it took " : " after it was sent ");
	phrase_add_signal(out, r->number);
	buf_adds(out, " from ");
	phrase_add_sender(out, stop, &r->asked);
}

static void add_by_itself(struct buf *out, const struct record_stop *stop)
{
	const struct record_request *beside = record_beside(stop);

	phrase_add_init(out, stop);
	add_code(out, stop);
	if (stop->stop_signal.known) {
		add_after_request(out, stop, ",");
	} else if (stop->cause == CAUSE_SUPERVISOR) {
		buf_adds(out, ", as timeout does when its time is over");
		buf_adds(out, beside ? "" : "; no request to stop was seen");
	} else if (beside) {
		buf_adds(out, ", ");
		add_beside(out, stop, beside);
	} else {
		/* One from inside that it did not hear is no request. */
		buf_printf(out, " by itself; no request to stop%s was seen",
			   stop->deaf ? " from outside" : "");
	}
}

static void add_unseen(struct buf *out, const struct record_stop *stop)
{
	if (stop->outcome == OUTCOME_OOM_KILLED) {
		phrase_add_init(out, stop);
		buf_adds(out, " was killed by the OOM killer, as its runtime reports; its end was "
			      "not seen");
		return;
	}
	buf_adds(out, "What ended ");
	phrase_add_init(out, stop);
	if (stop->stop_signal.known) {
		buf_adds(out, " after ");
		phrase_add_signal(out, stop->stop_signal.number);
		add_asker(out, stop);
	}
	buf_adds(out, " was not seen");
	if (stop->exit.reported)
		buf_printf(out, ". Its runtime reports exit code %d", stop->exit.code);
}

static void add_death(struct buf *out, const struct record_stop *stop)
{
	phrase_add_init(out, stop);
	add_end(out, stop, record_died_of(&stop->exit));
}

static void add_oom_kills(struct buf *out, const struct record_stop *stop)
{
	buf_printf(out, "In its life the OOM killer ended %" PRIu64 " of its processes",
		   stop->oom_kills);
}

/* --- which of them ----------------------------------------------------------------------------- */

static bool is_unseen(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_UNKNOWN || !stop->exit.known;
}

static bool has_ended_well(const struct record_stop *stop)
{
	return stop->stop_signal.known &&
	       (stop->outcome == OUTCOME_GRACEFUL || stop->outcome == OUTCOME_TERMINATED);
}

static bool is_passed_on(const struct record_stop *stop)
{
	return stop->via.process.pid;
}

/* It was killed as what followed from a request. */
static bool is_escalation(const struct record_stop *stop)
{
	return stop->stop_signal.known &&
	       (stop->cause == CAUSE_GRACE_EXPIRED || stop->cause == CAUSE_KILLED_EARLY ||
		stop->cause == CAUSE_DEAF_GRACE);
}

static bool is_death(const struct record_stop *stop)
{
	return record_died_of(&stop->exit) || stop->outcome == OUTCOME_OOM_KILLED;
}

static bool is_any(const struct record_stop *stop)
{
	return true;
}

typedef bool (*applies_fn)(const struct record_stop *stop);
typedef void (*add_fn)(struct buf *out, const struct record_stop *stop);

/* The first that applies says what ended it. */
static const struct {
	applies_fn applies;
	add_fn add;
} sentences[] = {
	{is_unseen, add_unseen}, {has_ended_well, add_ended_well},
	{is_passed_on, add_via}, {is_escalation, add_expired},
	{is_death, add_death},	 {is_any, add_by_itself},
};

static bool has_cut_well(const struct record_stop *stop)
{
	return stop->cut && !is_unseen(stop) && has_ended_well(stop);
}

static bool has_cut_killed(const struct record_stop *stop)
{
	return stop->cut && !is_unseen(stop) && !is_passed_on(stop) && is_escalation(stop);
}

static bool has_oom_kills(const struct record_stop *stop)
{
	return stop->outcome != OUTCOME_OOM_KILLED && stop->oom_kills;
}

static bool has_left(const struct record_stop *stop)
{
	return stop->gaps >> GAP_NOT_EMPTY & 1 && stop->exit.known;
}

/* Those whose end would be known. */
static void add_left(struct buf *out, const struct record_stop *stop)
{
	bool missed = stop->processes_gaps >> LIST_GAP_MISSED & 1;
	size_t n = 0;

	buf_adds(out, "Other processes of its cgroup were left");
	if (stop->empty_ns > stop->exit.at_ns) {
		buf_adds(out, " for ");
		phrase_add_time(out, stop->exit.at_ns, stop->empty_ns);
	}
	for (size_t i = 1; i < stop->n_processes && !missed; i++) {
		if (stop->processes[i].exit.known)
			continue;
		buf_adds(out, n++ ? ", " : ": ");
		phrase_add_process(out, &stop->processes[i].process);
	}
	if (!n)
		buf_adds(out, "; which, no record has");
	else if (stop->processes_other || stop->processes_gaps)
		buf_adds(out, ", and perhaps others");
}

/* Who passed an end on may have passed on what it was sent: the number that the child died of. */
static bool has_passed_beside(const struct record_stop *stop)
{
	const struct record_request *beside = record_beside(stop);
	const struct record_member *child = record_find_member(stop, stop->via.process.pid);

	if (!is_passed_on(stop) || is_unseen(stop) || !beside)
		return false;
	return child ? child->fatal.number == beside->number
		     : (stop->exit.status >> 8 & 0xff) == 128 + beside->number;
}

static void add_passed_beside(struct buf *out, const struct record_stop *stop)
{
	buf_adds(out, "That was ");
	add_beside(out, stop, record_beside(stop));
}

/* Nothing else says why it took so long. */
static bool has_waited(const struct record_stop *stop)
{
	return story_waited(stop) && !stop->reason && !is_unseen(stop) && !is_passed_on(stop);
}

/* Each that applies follows, after what parts it from the words before. */
static const struct {
	applies_fn applies;
	const char *between;
	add_fn add;
} clauses[] = {
	{has_passed_beside, ". ", add_passed_beside},
	{has_cut_well, "; ", add_cut},
	{has_waited, ". ", story_add_waited},
	{has_cut_killed, ". ", add_cut},
	{has_left, ". ", add_left},
	{has_oom_kills, ". ", add_oom_kills},
};

void story_add_why(struct buf *out, const struct record_stop *stop)
{
	size_t i = 0;

	while (!sentences[i].applies(stop))
		i++;
	sentences[i].add(out, stop);
	for (i = 0; i < sizeof(clauses) / sizeof(*clauses); i++) {
		if (!clauses[i].applies(stop))
			continue;
		buf_adds(out, clauses[i].between);
		clauses[i].add(out, stop);
	}
	buf_addc(out, '.');
}

void story_add_signal(struct buf *out, const struct record_signal *signal)
{
	const struct record_stop stop = {
		.pod = signal->pod,
		.container = signal->container,
		.process = signal->target,
		.reason = signal->reason,
		.stop_signal = {.known = true, .number = signal->number, .sender = signal->sender},
	};

	phrase_add_culprit(out, &stop, &signal->sender);
	buf_adds(out, " sent ");
	phrase_add_signal(out, signal->number);
	buf_adds(out, " to ");
	phrase_add_init(out, &stop);
	if (signal->reason || signal->deaf) {
		buf_adds(out, ", which ");
		phrase_add_reason(out, &stop);
	} else {
		buf_printf(out, " (%s)", record_result_name(signal->result));
	}
	buf_addc(out, '.');
}
