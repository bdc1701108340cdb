// SPDX-License-Identifier: Apache-2.0
#include "core/stop/story.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/signame.h"
#include "base/utf8.h"

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

/* --- senders ----------------------------------------------------------------------------------- */

/* What the record has of the process that sent a signal beside its kind; NULL: nothing. */
static const struct record_sender *find_sender(const struct record_stop *stop,
					       const struct record_process *p)
{
	const struct record_sigref *const signals[] = {&stop->kill_signal, &stop->stop_signal,
						       &stop->keeper_signal};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i]->known && p->pid && signals[i]->sender.process.pid == p->pid)
			return &signals[i]->sender;
	return NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static void add_contained(struct buf *out, const struct record_stop *stop,
			  const struct record_sender *s, enum sender_kind kind)
{
	if (s && is_same(s->container.id, stop->container.id))
		buf_adds(out, " (in its container)");
	else if (s && s->pod.known && is_same(s->pod.uid, stop->pod.uid))
		buf_adds(out, " (in its pod)");
	else if (s && s->pod.known && s->pod.name) {
		buf_adds(out, " (in pod ");
		add_comm(out, s->pod.namespace_);
		buf_addc(out, '/');
		add_comm(out, s->pod.name);
		buf_addc(out, ')');
	} else
		buf_adds(out, kind == SENDER_POD ? " (in a pod)" : " (in a container)");
}

/* Where no process is known, or which one it is does not matter. */
static const char *const unnamed_senders[SENDER_KIND_COUNT] = {
	[SENDER_KERNEL] = "the kernel",
	[SENDER_RUNTIME] = "the runtime",
	[SENDER_KUBELET] = "the kubelet",
	[SENDER_SYSTEMD] = "systemd",
	[SENDER_GRACED] = "graced",
	[SENDER_HOST] = "a process of the host",
	[SENDER_POD] = "a process in a container",
	[SENDER_CONTAINER] = "a process in a container",
};

/* One that the record lists as its container sees it, another one as a person would look for it on
 * the host. Of a signal of the kernel the process is the one that ran then. */
static void add_sender(struct buf *out, const struct record_stop *stop, enum sender_kind kind,
		       const struct record_process *p)
{
	const struct record_member *own = record_find_member(stop, p->pid);

	if (!p->pid || kind == SENDER_KERNEL || kind == SENDER_UNKNOWN) {
		buf_adds(out, unnamed_senders[kind] ?: "an unknown sender");
		return;
	}
	if (own || p->pid == stop->process.pid) {
		add_process(out, own ? &own->process : &stop->process);
		return;
	}
	add_comm(out, p->comm);
	buf_printf(out, "[%u]", p->pid);
	if (kind == SENDER_RUNTIME)
		buf_adds(out, " (the runtime)");
	else if (kind == SENDER_HOST)
		buf_adds(out, " (on the host)");
	else if (kind == SENDER_POD || kind == SENDER_CONTAINER)
		add_contained(out, stop, find_sender(stop, p), kind);
}

static void add_asker(struct buf *out, const struct record_stop *stop)
{
	const struct record_sender *s = &stop->stop_signal.sender;

	buf_adds(out, " from ");
	add_sender(out, stop, s->kind, &s->process);
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
		add_sender(out, stop, via->fatal.sender, &via->fatal.process);
	else if (kill->known && kill->number == sig)
		add_sender(out, stop, kill->sender.kind, &kill->sender.process);
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

	if (stop->cause != CAUSE_OOM_USERSPACE) {
		buf_printf(out, " was killed by the OOM killer%s", memories[stop->cause] ?: "");
		return;
	}
	buf_adds(out, stop->kill_signal.known ? " was killed to free memory by "
					      : " was stopped to free memory by ");
	add_sender(out, stop, by->known ? by->sender.kind : SENDER_HOST, &by->sender.process);
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
	add_sender(out, stop, keeper->sender.kind, &keeper->sender.process);
	buf_adds(out, " had sent that one ");
	add_signal(out, keeper->number);
}

static void add_killed(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	/* reboot(2) in a pid namespace: SIGHUP or SIGINT is the status of an init that is killed. */
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
		buf_adds(out, " was killed because its parent had died (PR_SET_PDEATHSIG)");
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
			buf_adds(out, ", which had not asked it to stop");
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

/* By another signal than SIGKILL. */
static void add_died(struct buf *out, const struct record_stop *stop, uint32_t sig)
{
	bool crashed = stop->outcome == OUTCOME_CRASHED;
	bool sent = is_sent(stop);

	buf_adds(out, sent ? " died of " : crashed ? " crashed: " : " was ended by ");
	add_signal(out, sig);
	if (sent) {
		buf_adds(out, ", sent by ");
		add_killer(out, stop, sig);
	} else if (stop->cause == CAUSE_PARENT_DEATH)
		buf_adds(out, ", sent because its parent had died (PR_SET_PDEATHSIG)");
	else if (record_may_be_terminal(stop))
		buf_adds(out, " from its terminal, or from a process of the host");
	else if (!crashed && stop->stop_signal.known && stop->stop_signal.number == sig)
		add_asker(out, stop);
	else if (crashed && stop->cause == CAUSE_SELF)
		buf_adds(out, ", sent by no other process");
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

	add_process(out, &stop->via.process);
	buf_adds(out, !m || m->parent_pid == stop->process.pid ? ", child of " : ", below ");
	add_init(out, stop);
	buf_addc(out, ',');
	if (sig)
		add_end(out, stop, sig);
	else
		add_code(out, stop);
	buf_adds(out, ". ");
	add_init(out, stop);
	if (record_died_of(&stop->exit))
		buf_adds(out, " sent itself the same signal");
	else if (sig && record_code_of(&stop->exit) != 128 + sig)
		add_code(out, stop);
	else
		buf_printf(out, " passed %u on", record_code_of(&stop->exit));
	if (stop->via.how == VIA_INFERRED)
		buf_printf(out, ", as far as can be seen: it may have been %s",
			   sig ? "another child's" : "its own code");
	buf_addc(out, '.');
}

/* Whom init passed its stop signal, and what became of that one. */
static void add_passed(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *to = record_find_member(stop, stop->forward.to.pid);

	buf_adds(out, " passed ");
	add_signal(out, stop->forward.number);
	buf_adds(out, " to ");
	add_process(out, &stop->forward.to);
	if (to && record_died_of(&to->exit) && record_died_of(&to->exit) == stop->forward.number)
		buf_adds(out, ", which died of it");
	else if (to && to->exit.known && !record_died_of(&to->exit))
		buf_printf(out, ", which exited with code %u", record_code_of(&to->exit));
	else if (stop->forward.result == RESULT_IGNORED)
		buf_adds(out, ", which ignores it");
}

static const char *done_with(enum disposition disposition)
{
	if (disposition == DISPOSITION_IGNORED)
		return ", which it ignores,";
	return disposition == DISPOSITION_BLOCKED ? ", which it blocks," : "";
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
	add_process(out, &cut->process);
	if (cut->asked.number) {
		buf_adds(out, " was sent ");
		add_signal(out, cut->asked.number);
		buf_adds(out, done_with(cut->disposition));
	} else {
		buf_adds(out, " never received it");
	}
	buf_adds(out, " and was killed ");
	if (cut->by == ENDED_PID_NAMESPACE) {
		buf_adds(out, "when ");
		add_init(out, stop);
		buf_adds(out, " ended");
	} else {
		add_time(out, cut->asked.number ? cut->asked.at_ns : stop->stop_signal.at_ns,
			 cut->exit.at_ns);
		buf_adds(out, cut->asked.number ? " later" : " after the request");
		if (cut->fatal.number) {
			buf_adds(out, " by ");
			add_sender(out, stop, cut->fatal.sender, &cut->fatal.process);
		}
	}
	if (stop->cut > 1)
		buf_printf(out, " (and %u more)", stop->cut - 1);
}

static void add_after_request(struct buf *out, const struct record_stop *stop, const char *comma)
{
	if (stop->latency_known) {
		buf_printf(out, "%s ", comma);
		add_time(out, 0, stop->latency_ns);
	}
	buf_adds(out, " after ");
	add_signal(out, stop->stop_signal.number);
	if (stop->cause == CAUSE_PARENT_DEATH)
		buf_adds(out, ", sent because its parent had died (PR_SET_PDEATHSIG)");
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
	add_init(out, stop);
	if (stop->forward.count) {
		add_passed(out, stop);
		buf_adds(out, ", and");
	}
	add_ended_how(out, stop);
	if (stop->cut) {
		buf_adds(out, "; ");
		add_cut(out, stop);
	}
	buf_addc(out, '.');
}

static void add_unheard(struct buf *out, const struct record_stop *stop)
{
	const char *text = unheard_of_init(stop->reason);
	size_t len = strcspn(text, "$");

	buf_addc(out, ' ');
	buf_add(out, text, len);
	if (!text[len])
		return;
	add_signal(out, stop->stop_signal.number);
	buf_adds(out, text + len + 1);
}

static void add_heard(struct buf *out, const struct record_stop *stop)
{
	buf_adds(out, stop->deliver_ns ? " took " : " was sent ");
	add_signal(out, stop->stop_signal.number);
	if (stop->deliver_ns) {
		buf_adds(out, " after ");
		add_time(out, stop->stop_signal.at_ns, stop->deliver_ns);
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

/* When the SIGKILL came: its grace period was over, or so long after the request. */
static void add_kill_time(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *kill = &stop->kill_signal;
	bool expired = stop->cause == CAUSE_GRACE_EXPIRED;

	if (expired && grace_known(&stop->grace) && stop->grace.ns) {
		buf_adds(out, " when");
		add_grace(out, stop);
		buf_adds(out, " was over");
		return;
	}
	buf_addc(out, ' ');
	add_time(out, stop->stop_signal.at_ns, kill->known ? kill->at_ns : stop->exit.at_ns);
	buf_adds(out, " later");
	if (expired && grace_known(&stop->grace)) {
		buf_adds(out, ": its grace period is 0");
	} else if (stop->cause == CAUSE_KILLED_EARLY) {
		buf_adds(out, ", before");
		add_grace(out, stop);
		buf_adds(out, " was over");
	} else if (stop->cause == CAUSE_DEAF_GRACE) {
		buf_adds(out, ", as shutdown.deafGrace says");
	}
}

/* It was asked, and then killed. */
static void add_expired(struct buf *out, const struct record_stop *stop)
{
	const struct record_sigref *kill = &stop->kill_signal;

	add_init(out, stop);
	if (stop->deaf || stop->reason)
		add_unheard(out, stop);
	else
		add_heard(out, stop);
	buf_adds(out, "; ");
	add_sender(out, stop, kill->known ? kill->sender.kind : SENDER_UNKNOWN,
		   &kill->sender.process);
	buf_adds(out, " killed it");
	add_kill_time(out, stop);
	buf_addc(out, '.');
	if (stop->cut) {
		buf_addc(out, ' ');
		add_cut(out, stop);
		buf_addc(out, '.');
	}
}

static void add_by_itself(struct buf *out, const struct record_stop *stop)
{
	add_init(out, stop);
	add_code(out, stop);
	if (stop->stop_signal.known)
		add_after_request(out, stop, ",");
	else if (stop->cause == CAUSE_SUPERVISOR)
		buf_adds(out,
			 ", as timeout does when its time is over; no request to stop was seen");
	else
		buf_adds(out, " by itself; no request to stop was seen");
	buf_addc(out, '.');
}

static void add_unseen(struct buf *out, const struct record_stop *stop)
{
	if (stop->outcome == OUTCOME_OOM_KILLED) {
		add_init(out, stop);
		buf_adds(out,
			 " was killed by the OOM killer, as its runtime reports; its end was not "
			 "seen.");
		return;
	}
	buf_adds(out, "What ended ");
	add_init(out, stop);
	buf_adds(out, " was not seen.");
	if (stop->exit.reported)
		buf_printf(out, " Its runtime reports exit code %d.", stop->exit.code);
}

/* It was killed as what followed from a request. */
static bool is_escalation(const struct record_stop *stop)
{
	return stop->stop_signal.known &&
	       (stop->cause == CAUSE_GRACE_EXPIRED || stop->cause == CAUSE_KILLED_EARLY ||
		stop->cause == CAUSE_DEAF_GRACE);
}

static void add_oom_kills(struct buf *out, const struct record_stop *stop)
{
	if (stop->outcome != OUTCOME_OOM_KILLED && stop->oom_kills)
		buf_printf(out, " In its life the OOM killer ended %" PRIu64 " of its processes.",
			   stop->oom_kills);
}

void story_add_why(struct buf *out, const struct record_stop *stop)
{
	bool well = stop->outcome == OUTCOME_GRACEFUL || stop->outcome == OUTCOME_TERMINATED;

	if (stop->outcome == OUTCOME_UNKNOWN || !stop->exit.known) {
		add_unseen(out, stop);
	} else if (well && stop->stop_signal.known) {
		add_ended_well(out, stop);
	} else if (stop->via.process.pid) {
		add_via(out, stop);
	} else if (is_escalation(stop)) {
		add_expired(out, stop);
	} else if (record_died_of(&stop->exit) || stop->outcome == OUTCOME_OOM_KILLED) {
		add_init(out, stop);
		add_end(out, stop, record_died_of(&stop->exit));
		buf_addc(out, '.');
	} else {
		add_by_itself(out, stop);
	}
	add_oom_kills(out, stop);
}

/* --- what happened ----------------------------------------------------------------------------- */

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
	if (r->reason) {
		buf_printf(out, ", in vain: %s", unheard_remark(r->reason));
		return;
	}
	add_result(out, r->result);
	if (r->taken_ns) {
		buf_adds(out, ", which took it after ");
		add_time(out, r->at_ns, r->taken_ns);
	}
}

static bool is_own(const struct record_member *m, const struct record_asked *signal)
{
	return signal->process.pid && signal->process.pid == m->process.pid;
}

static void add_ended(struct buf *out, const struct record_stop *stop,
		      const struct record_member *m)
{
	uint32_t sig = record_died_of(&m->exit);

	add_process(out, &m->process);
	if (!sig) {
		buf_printf(out, " exited with code %u", record_code_of(&m->exit));
		return;
	}
	buf_adds(out, sig == 9 ? " was killed" : " died of ");
	if (sig != 9)
		add_signal(out, sig);
	if (m->by == ENDED_OOM) {
		buf_adds(out, " by the OOM killer");
	} else if (m->by == ENDED_PID_NAMESPACE) {
		buf_adds(out, " with the pid namespace");
	} else if (m->fatal.number && m->fatal.sender != SENDER_KERNEL && is_own(m, &m->fatal)) {
		buf_adds(out, ", which it sent itself");
	} else if (m->fatal.number) {
		buf_adds(out, sig == 9 ? " by " : ", sent by ");
		add_sender(out, stop, m->fatal.sender, &m->fatal.process);
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

	add_init(out, stop);
	if (!sig) {
		buf_printf(out, " exited with code %u", record_code_of(&stop->exit));
	} else if (sig == 9 && stop->kill_signal.known) {
		buf_adds(out, " ended");
	} else if (sig == 9) {
		buf_adds(out, " was killed");
		if (is_oom(stop))
			buf_adds(out, " by the OOM killer");
	} else {
		buf_adds(out, " died of ");
		add_signal(out, sig);
	}
}

static void add_kill(struct buf *out, const struct record_stop *stop)
{
	const struct record_sender *s = &stop->kill_signal.sender;

	if (is_oom(stop) && s->kind == SENDER_KERNEL)
		buf_adds(out, "the OOM killer");
	else
		add_sender(out, stop, s->kind, &s->process);
	buf_adds(out, " killed ");
	add_init(out, stop);
}

static void add_signal_passed(struct buf *out, const struct record_stop *stop,
			      const struct record_member *m)
{
	add_sender(out, stop, m->asked.sender, &m->asked.process);
	buf_adds(out, " sent ");
	add_signal(out, m->asked.number);
	buf_adds(out, " to ");
	add_process(out, &m->process);
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
	case STORY_KILLED:
		add_kill(out, stop);
		break;
	case STORY_ENDED:
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
