// SPDX-License-Identifier: Apache-2.0
/* What to do about a stop that did not go well. */
#include <signal.h>
#include <string.h>

#include "core/stop/advice.h"
#include "core/story/part.h"
#include "core/story/phrase.h"

#define OF(cause)   (1ull << CAUSE_##cause)
#define WAITS(what) (1ull << (32 + WAIT_FOR_##what))
#define ANY	    UINT32_MAX

struct remedy {
	uint64_t of; /* bits 1 << enum cause, and 1 << (32 + enum wait_for) */
	bool (*applies)(const struct record_stop *stop); /* NULL: to all stops of these */
	const char *text, *page;
};

#define SIGTERM_NR 15

/* In a wait status, wait(2). */
#define CORE_DUMPED 0x80

#define BY(ended) (1u << ENDED_##ended)

static bool is_slow(const struct record_stop *stop)
{
	return stop->cause == CAUSE_GRACE_EXPIRED && !stop->reason && !record_is_unmanaged(stop);
}

/* It was passed the signal, and does not act on it: SIG_IGN, or PID 1 of a pid namespace without a
 * handler. What blocks it may take it from a signalfd. */
static bool is_deaf(const struct record_stop *stop, const struct record_member *m)
{
	return m->asked.number && m->asked.result != RESULT_OVERFLOW &&
	       (m->disposition == DISPOSITION_IGNORED ||
		(m->disposition == DISPOSITION_DEFAULT && !record_heard(m)));
}

static bool is_asked(const struct record_stop *stop, const struct record_member *m)
{
	return m->asked.number && !is_deaf(stop, m);
}

/* What init started for its stop, which took too long. */
static bool is_started(const struct record_stop *stop, const struct record_member *m)
{
	return is_slow(stop) && !m->asked.number && record_is_late(stop, m);
}

static bool is_unasked(const struct record_stop *stop, const struct record_member *m)
{
	return !m->asked.number && !is_started(stop, m);
}

static bool is_any(const struct record_stop *stop, const struct record_member *m)
{
	return true;
}

/* Whether such a one was cut by one of these. */
static bool has_cut(const struct record_stop *stop,
		    bool (*is)(const struct record_stop *, const struct record_member *),
		    uint32_t by)
{
	for (size_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->cut && is(stop, m) && by >> m->by & 1)
			return true;
	}
	return false;
}

/* Init, all of the container, or a process that was asked to stop: what another one does is no
 * reason for the stop to take long. */
static bool was_asked(const struct record_stop *stop, const struct wait *w)
{
	const struct record_member *m = record_find_member(stop, w->pid);

	return !w->pid || w->pid == stop->process.pid || (m && m->asked.number);
}

/* What it waited for at the last look that found something, if that is why. */
static enum wait_for waits_for(const struct record_stop *stop)
{
	if (!is_slow(stop) || !story_waited(stop) || !was_asked(stop, stop->waited_for))
		return WAIT_FOR_NOTHING;
	return stop->waited_for[0].what;
}

/* postgres has one process for each client, and asks none of them to stop. */
static bool waits_for_postgres(const struct record_stop *stop)
{
	return is_slow(stop) && story_waited(stop) && stop->stop_signal.number == SIGTERM_NR &&
	       stop->waited_for[0].what == WAIT_FOR_CLIENTS &&
	       strcmp(stop->waited_for[0].comm, "postgres") == 0;
}

#define WITH_CONTAINER \
	(BY(UNKNOWN) | BY(PID_NAMESPACE) | BY(KERNEL) | BY(PARENT_DEATH) | BY(RUNTIME))

/* For one that was there until the end. */
static bool waits_for_deaf(const struct record_stop *stop)
{
	return is_slow(stop) && has_cut(stop, is_deaf, WITH_CONTAINER);
}

static bool has_deaf(const struct record_stop *stop)
{
	return waits_for_deaf(stop) ||
	       (stop->outcome != OUTCOME_KILLED && has_cut(stop, is_deaf, ~(BY(HOST) | BY(POD))));
}

static bool waits_for_exec(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_KILLED && !stop->reason && story_waited(stop) &&
	       stop->waited_for->what == WAIT_FOR_CHILD && wait_is_vfork(stop->waited_for) &&
	       !waits_for_deaf(stop);
}

/* Nothing that was found says better what init waited for. */
static bool may_wait_for_others(const struct record_stop *stop)
{
	enum wait_for what = waits_for(stop);

	return !waits_for_postgres(stop) && !waits_for_deaf(stop) && !waits_for_exec(stop) &&
	       (what == WAIT_FOR_NOTHING || what == WAIT_FOR_CHILD || what == WAIT_FOR_TIME);
}

/* With the container, or by what ends that. Where it is known what init waited for, those that
 * ended with it are its own. */
static bool is_cut_unasked(const struct record_stop *stop)
{
	return has_cut(stop, is_unasked, WITH_CONTAINER) && !stop->reason &&
	       may_wait_for_others(stop);
}

static bool is_cut_by_its_own(const struct record_stop *stop)
{
	return has_cut(stop, is_unasked, BY(CONTAINER));
}

static bool is_cut_asked(const struct record_stop *stop)
{
	return has_cut(stop, is_asked, ~(BY(HOST) | BY(POD))) && stop->outcome != OUTCOME_KILLED;
}

static bool is_cut_by_other(const struct record_stop *stop)
{
	return has_cut(stop, is_any, BY(HOST) | BY(POD));
}

static const char *init_exe(const struct record_stop *stop)
{
	return stop->n_processes && stop->processes->exe ? stop->processes->exe : "";
}

static const char *init_comm(const struct record_stop *stop)
{
	return stop->process.comm ?: "";
}

/* A shell runs a trap once its child has ended, and passes nothing on by itself. */
static bool is_trap_that_returns(const struct record_stop *stop)
{
	uint64_t taken_ns = story_taken_ns(stop);

	if (!is_slow(stop) || !taken_ns || stop->forward.count ||
	    !audit_is_shell(init_exe(stop), init_comm(stop)))
		return false;
	for (size_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if (m->exit.known && !m->cut && m->exit.at_ns > taken_ns &&
		    m->parent_pid == stop->process.pid)
			return true;
	}
	return false;
}

/* For what it started itself, as a handler does to clean up. */
static bool waits_for_started(const struct record_stop *stop)
{
	return has_cut(stop, is_started, WITH_CONTAINER) && !is_cut_unasked(stop) &&
	       may_wait_for_others(stop) && !is_trap_that_returns(stop);
}

static bool is_in_kernel(enum wait_for what)
{
	return what == WAIT_FOR_IO || what == WAIT_FOR_KERNEL;
}

/* Not for a moment. */
static bool waits_for_kernel(const struct record_stop *stop)
{
	return is_in_kernel(waits_for(stop)) && stop->waited_for[0].looks > 1;
}

static bool is_slow_unseen(const struct record_stop *stop)
{
	enum wait_for what = waits_for(stop);

	return is_slow(stop) && !waits_for_postgres(stop) && !waits_for_deaf(stop) &&
	       !is_trap_that_returns(stop) && !waits_for_started(stop) &&
	       (what == WAIT_FOR_NOTHING || what == WAIT_FOR_TIME ||
		(is_in_kernel(what) && !waits_for_kernel(stop)));
}

static bool waits_for_clients(const struct record_stop *stop)
{
	return waits_for(stop) == WAIT_FOR_CLIENTS && !waits_for_postgres(stop);
}

static bool waits_for_child(const struct record_stop *stop)
{
	return waits_for(stop) == WAIT_FOR_CHILD && !is_cut_unasked(stop) &&
	       !waits_for_deaf(stop) && !is_trap_that_returns(stop) && !waits_for_exec(stop) &&
	       !waits_for_started(stop);
}

static bool is_signalled_by_other(const struct record_stop *stop)
{
	return is_cut_by_other(stop) ||
	       (!stop->stop_signal.known &&
		(stop->outcome == OUTCOME_KILLED || stop->outcome == OUTCOME_TERMINATED) &&
		!record_may_be_terminal(stop) &&
		(stop->cause == CAUSE_HOST || stop->cause == CAUSE_OTHER_POD ||
		 stop->cause == CAUSE_SAME_POD || stop->cause == CAUSE_SAME_CONTAINER));
}

static bool is_killed_by_other(const struct record_stop *stop)
{
	return is_signalled_by_other(stop) && !phrase_may_miss_request(stop);
}

static bool is_perhaps_stopped_by_other(const struct record_stop *stop)
{
	return is_signalled_by_other(stop) && phrase_may_miss_request(stop);
}

static bool is_without_request(const struct record_stop *stop)
{
	return !phrase_may_miss_request(stop);
}

/* Not what its parent killed in the stop without having asked it. */
static bool is_given_time(const struct record_stop *stop)
{
	const struct record_member *m = record_find_member(stop, stop->via.process.pid);

	return !stop->stop_signal.known || !m || !m->cut || m->asked.number ||
	       m->by != ENDED_CONTAINER;
}

/* By its own child, say: that is no expired grace period. */
static bool is_killed_inside(const struct record_stop *stop)
{
	return stop->stop_signal.known && stop->outcome == OUTCOME_KILLED;
}

static bool is_killed(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_KILLED;
}

/* Of init, or of the child whose end it passed on; NULL: how that ended was not seen. */
static const struct record_exit *crash_of(const struct record_stop *stop)
{
	const struct record_member *m = record_find_member(stop, stop->via.process.pid);
	const struct record_exit *exit = stop->via.process.pid && m ? &m->exit : &stop->exit;

	return stop->outcome == OUTCOME_CRASHED && record_died_of(exit) ? exit : NULL;
}

static bool is_crash_unseen(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_CRASHED && !crash_of(stop);
}

static bool crashed_by(const struct record_stop *stop, uint32_t signal)
{
	return crash_of(stop) && record_died_of(crash_of(stop)) == signal &&
	       (stop->cause == CAUSE_SELF || stop->cause == CAUSE_KERNEL);
}

static bool is_over_cpu_time(const struct record_stop *stop)
{
	return crashed_by(stop, SIGXCPU);
}

static bool is_over_file_size(const struct record_stop *stop)
{
	return crashed_by(stop, SIGXFSZ);
}

static bool is_call_refused(const struct record_stop *stop)
{
	return crashed_by(stop, SIGSYS);
}

static bool is_dumped(const struct record_stop *stop)
{
	return crash_of(stop) && crash_of(stop)->status & CORE_DUMPED;
}

static bool is_undumped(const struct record_stop *stop)
{
	const struct record_exit *exit = crash_of(stop);

	return exit && !is_dumped(stop) && phrase_dumps_core(record_died_of(exit));
}

static bool is_coreless(const struct record_stop *stop)
{
	const struct record_exit *exit = crash_of(stop);

	return exit && !is_dumped(stop) && !phrase_dumps_core(record_died_of(exit));
}

static bool is_failure(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_FAILED && stop->cause == CAUSE_SELF && !record_beside(stop);
}

static bool is_after_signal(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_FAILED && stop->cause == CAUSE_SELF && record_beside(stop);
}

static bool is_before_handler(const struct record_stop *stop)
{
	return stop->reason == UNHEARD_BEFORE_HANDLER;
}

static bool is_guess(const struct record_stop *stop)
{
	return stop->via.process.pid && stop->via.how == VIA_INFERRED && record_badness(stop) > 0 &&
	       stop->outcome != OUTCOME_FAILED;
}

static const struct remedy remedies[] = {
	{ANY, is_guess,
	 "That the container ended by what ended its child is a guess: see the program's own log first.",
	 NULL},
	{ANY, is_before_handler,
	 "Install the handler first thing in the program, and stop it only once it is ready: graced try "
	 "waits for that by --ready-log and --ready-port.",
	 "a-handler-in-the-program"},
	{OF(OOM_CONTAINER) | OF(OOM_POD), NULL,
	 "Raise the limit, or have the program use less (its heap, its workers).", NULL},
	{OF(OOM_NODE) | OF(OOM_USERSPACE), NULL,
	 "Give the pod a memory request that it keeps to, or the node more memory.", NULL},
	{OF(OOM_UNKNOWN), NULL,
	 "Compare the memory of the container with its limit, and with the node's.", NULL},
	{ANY, is_trap_that_returns,
	 "Its trap ran, and the shell did not exit: end the trap with exit, within the grace period.",
	 "trap-and-wait"},
	{ANY, is_cut_unasked,
	 "Have each process asked, and waited for: exec the application in place of what starts it (a "
	 "shell, npm); a parent that stays has to pass the signal on, and to end last.",
	 "exec-in-a-script"},
	{ANY, is_cut_by_its_own,
	 "It is the application that kills this process without asking: if that one has something to "
	 "finish, have it sent a signal first, and waited for.",
	 NULL},
	{ANY, is_cut_asked,
	 "Have that process end sooner on the signal, or what killed it wait longer: some parents "
	 "give less than the grace period.",
	 "it-hears-and-takes-10-seconds-all-the-same"},
#define SLOW_PAGE "it-hears-and-takes-10-seconds-all-the-same"
	{ANY, waits_for_postgres,
	 "SIGTERM has postgres wait for its clients. Its fast shutdown is SIGINT: STOPSIGNAL SIGINT.",
	 SLOW_PAGE},
	{ANY, has_deaf,
	 "Have the process that does not hear the signal act on it, or have its parent send one "
	 "that it acts on (stopsignal of supervisord), and wait for it with a limit.",
	 "ignored-or-blocked"},
	{ANY, waits_for_clients,
	 "Close idle connections when the stop begins, and those in use after a time that is within "
	 "the grace period.",
	 SLOW_PAGE},
	{ANY, waits_for_exec,
	 "See what that child does before it executes its program (open() of a FIFO waits for the "
	 "other end): until then its parent takes no signal.",
	 SLOW_PAGE},
	{ANY, waits_for_child,
	 "See why that child does not end: has it been asked, and does it act on it?", SLOW_PAGE},
	{ANY, waits_for_started,
	 "What it started after the signal did not end in time: have that take less time, or not be "
	 "started in a stop, or give it a longer grace period.",
	 SLOW_PAGE},
	{WAITS(READER), NULL,
	 "Have what it writes read (the log driver, the other end of the pipe), or write without "
	 "waiting.",
	 SLOW_PAGE},
	{WAITS(LOCK), NULL, "See who holds that lock, and wait for it with a limit.", SLOW_PAGE},
	{WAITS(CPU) | WAITS(MEMORY), NULL,
	 "The limit applies while the container stops, too: raise it.", SLOW_PAGE},
	{WAITS(FORK), NULL,
	 "Raise the limit of processes: what it starts to stop with counts, too.", SLOW_PAGE},
	{ANY, waits_for_kernel,
	 "See what it does in the kernel: a file system or device that does not answer, as a rule.",
	 SLOW_PAGE},
	{WAITS(THAW) | WAITS(TRACER) | WAITS(CONT), NULL,
	 "See who holds it (docker pause, a debugger, SIGSTOP): it hears nothing.", SLOW_PAGE},
	{WAITS(HANDLER), NULL, "Have its handler do less, or give it a longer grace period.",
	 SLOW_PAGE},
	{ANY, is_slow_unseen,
	 "See what it waits for (a client, a lock, a queue), end that on the signal, or give it a "
	 "longer grace period.",
	 "it-hears-and-takes-10-seconds-all-the-same"},
	{OF(KILLED_EARLY), NULL,
	 "Look for a shorter timeout in what stopped it: docker stop -t, stop_grace_period, "
	 "kubectl delete --grace-period, the shutdown of a node.",
	 NULL},
	{OF(GRACE_EXPIRED), record_is_unmanaged,
	 "No manager asked it to stop, so it had no grace period: have that sender wait longer, or stop it "
	 "by a manager (docker stop, kubectl delete).",
	 NULL},
	{OF(NO_GRACE), phrase_may_miss_request,
	 "Not all was seen, and a request before the SIGKILL may be missing. If there was none, stop it "
	 "by what asks first (docker stop, kubectl delete).",
	 NULL},
	{OF(NO_GRACE), is_without_request,
	 "Stop it by what asks first (docker stop, kubectl delete): docker kill, docker rm -f, a grace "
	 "period of 0 and STOPSIGNAL SIGKILL do not.",
	 NULL},
	{OF(RUNTIME_LOST), NULL,
	 "See why its shim ended: the log of the runtime, and the kernel's of OOM kills.", NULL},
	{ANY, is_killed_by_other,
	 "It was no stop: see why the sender of that signal kills processes.", NULL},
	{ANY, is_perhaps_stopped_by_other,
	 "Not all was seen, and a request before that signal may be missing. If there was none, see why "
	 "its sender kills processes.",
	 NULL},
	{OF(SUPERVISOR), is_given_time,
	 "Its own parent ended it, as timeout and watchdogs do: give it more time there, or see what "
	 "took it so long.",
	 NULL},
	{OF(SAME_CONTAINER), is_killed_inside,
	 "It was stopping, and a process of its own container killed it: see why that one does not wait.",
	 NULL},
	{OF(SELF), is_killed, "See the program's own log: it ended itself.", NULL},
	{OF(KERNEL), is_killed,
	 "See its limit of CPU time (ulimit -t, RLIMIT_CPU), and the kernel's log: a machine check, or a "
	 "tracer that ended (PTRACE_O_EXITKILL).",
	 NULL},
	{ANY, is_crash_unseen, "See the program's own log and its core dump, if there is one.",
	 NULL},
	{ANY, is_over_cpu_time,
	 "See its limit of CPU time (ulimit -t, RLIMIT_CPU; RLIMIT_RTTIME of a real-time thread).",
	 NULL},
	{ANY, is_over_file_size, "See its limit of a file's size (ulimit -f, RLIMIT_FSIZE).", NULL},
	{ANY, is_call_refused,
	 "See its seccomp profile, which does not allow a system call that it made: the kernel's log may have "
	 "its number.",
	 NULL},
	{ANY, is_dumped, "See the program's own log and the core that was written.", NULL},
	{ANY, is_undumped,
	 "See the program's own log; no core was written (ulimit -c, kernel.core_pattern).", NULL},
	{ANY, is_coreless,
	 "See why that signal came, and have the program handle it: its default is to end the program, "
	 "without a core.",
	 NULL},
	{ANY, is_after_signal,
	 "It may have ended by that signal, which was no request to stop: see who sent it, and the "
	 "program's own log.",
	 NULL},
	{ANY, is_failure, "See the program's own log: it ended by itself.", NULL},
};

#define WARNING(w) (AUDIT_REASON_COUNT + (w))

/* By topic of core/stop/advice: anchors of docs/fix.md. */
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

/* --- why it was not acted on ------------------------------------------------------------------- */

#define INIT_IN_FRONT                                                                               \
	"start it behind an init that passes signals on: tini in the image, or outside Kubernetes " \
	"docker run --init, init: true in compose."

static bool is_node(const struct record_stop *stop)
{
	return audit_reraises(audit_program_name(init_exe(stop), init_comm(stop)), SIGTERM_NR);
}

/* One that was asked, or that nothing asked: it lives, or what ended the container ended it. */
static bool has_left(const struct record_stop *stop, bool asked)
{
	for (size_t i = 1; i < stop->n_processes; i++) {
		const struct record_member *m = stop->processes + i;

		if ((m->asked.number > 0) == asked && !m->entered && !m->helper &&
		    (m->cut || !m->exit.known) && WITH_CONTAINER >> m->by & 1)
			return true;
	}
	return false;
}

static bool has_child_unasked(const struct record_stop *stop)
{
	return has_left(stop, false);
}

/* It would be cut if init ended. */
static bool has_child_asked(const struct record_stop *stop)
{
	return has_left(stop, true);
}

/* By the freezer, a signal or a tracer: there was no look. */
static bool is_held_unseen(const struct record_stop *stop)
{
	return !story_waited(stop);
}

static bool is_placeholder(const struct record_stop *stop)
{
	return audit_is_placeholder(init_exe(stop), init_comm(stop)) && has_child_unasked(stop);
}

/* In place of what the topic of the reason says; text NULL: as that topic. */
static const struct {
	enum unheard reason;
	bool (*applies)(const struct record_stop *stop);
	unsigned int topic;
	const char *text;
} instead[] = {
	{UNHEARD_RERAISED, has_child_asked, WARNING(AUDIT_KILLED_SOON),
	 "See why the process that it passed the signal to does not end: where init ends before it "
	 "(exit in its handler, an init in front), that one gets SIGKILL."},
	{UNHEARD_RERAISED, is_node, WARNING(AUDIT_RERAISES),
	 "Add a handler (process.on('SIGTERM', ...)), or " INIT_IN_FRONT},
	{UNHEARD_RERAISED, NULL, AUDIT_SHIELD,
	 "Have its handler end the program (exit) in place of raising the signal again, or " INIT_IN_FRONT},
	{UNHEARD_NO_HANDLER, is_placeholder, AUDIT_PLACEHOLDER, NULL},
	{UNHEARD_NO_HANDLER, has_child_unasked, AUDIT_SHIELD,
	 "Replace it by the application (exec), which as PID 1 needs a handler, or an init in front of "
	 "it; or have it handle the signal, pass it on and wait for its children. An init in front of "
	 "what is there now (--init, tini) ends the container at once, and these by SIGKILL."},
	{UNHEARD_CHILD_IGNORED, phrase_child_is_shielded, AUDIT_SHIELD,
	 "Have that child handle the signal, or start it behind an init in its own pid namespace."},
	{UNHEARD_STOPPED, is_held_unseen, WARNING(AUDIT_STOPPED),
	 "See what holds it: thaw it (docker unpause, podman unpause), continue it (kill -CONT PID), or "
	 "detach the debugger."},
	{UNHEARD_STOPPED, phrase_is_frozen, WARNING(AUDIT_FROZEN), NULL},
};

/* False: there is nothing to say of it. */
static bool remedy_of_reason(const struct record_stop *stop, const char **ret_text,
			     const char **ret_page)
{
	unsigned int topic = advice_of_unheard(stop->reason);
	const char *text = advice_remedy(topic);

	for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++) {
		if (instead[i].reason != stop->reason ||
		    (instead[i].applies && !instead[i].applies(stop)))
			continue;
		topic = instead[i].topic;
		text = instead[i].text ?: advice_remedy(topic);
		break;
	}
	if (!text)
		return false;
	*ret_text = text;
	*ret_page = pages[topic];
	return true;
}

_Static_assert(CAUSE_COUNT <= 32 && WAIT_FOR_COUNT <= 32, "what a remedy is of are bits");

static bool applies(const struct remedy *remedy, const struct record_stop *stop)
{
	uint64_t of = 1ull << stop->cause | 1ull << (32 + waits_for(stop));

	return remedy->of & of && (!remedy->applies || remedy->applies(stop));
}

bool story_remedy(const struct record_stop *stop, size_t index, const char **ret_text,
		  const char **ret_page)
{
	const char *text, *page;

	if (remedy_of_reason(stop, &text, &page) && !index--) {
		*ret_text = text;
		*ret_page = page;
		return true;
	}
	for (size_t i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		if (!applies(remedies + i, stop) || index--)
			continue;
		*ret_text = remedies[i].text;
		*ret_page = remedies[i].page;
		return true;
	}
	return false;
}
