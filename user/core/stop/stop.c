// SPDX-License-Identifier: Apache-2.0
/* The stop state machine and the facts it gathers. */
#include "core/stop/stop.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop/asked.h"
#include "core/stop/processes.h"

#define SIGKILL_NR	    9
#define SIGSYS_NR	    31
#define SECOND		    1000000000ULL
#define TICK_NS		    10000000ULL		   /* /proc cuts the start of an init to it */
#define GRACE_MAX	    (366 * 86400 * SECOND) /* longer ones are taken for this */
#define LAPSE_MARGIN	    (60 * SECOND)
#define LAPSE_GRACE_UNKNOWN (600 * SECOND)
#define INSIDE_NS	    (60 * SECOND) /* an exit later has another reason */
#define ABORT_NS	    (SECOND / 10) /* a fault later is no abort(); it takes 0.1 ms on an idle CPU */
/* What abort(3) ends by, by processor and library. */
#define FAULTS                                                                 \
	(1ULL << (SIGILL - 1) | 1ULL << (SIGTRAP - 1) | 1ULL << (SIGBUS - 1) | \
	 1ULL << (SIGSEGV - 1))

#define NO STOP_STATE_COUNT /* not expected: a counted no-op */

static const enum stop_state next[STOP_STATE_COUNT][STOP_EVENT_COUNT] = {
	/* clang-format off */
	/*		    INIT	   REQUEST	   KILL		LAPSE	      EXIT	   REPORT	      EMPTY	   VOID */
	[STOP_IDLE] =	   {STOP_RUNNING,  NO,		   NO,		NO,	      STOP_EXITED, NO,	      STOP_IDLE,   NO},
	[STOP_RUNNING] =   {STOP_RUNNING,  STOP_REQUESTED, STOP_KILLED, NO,	      STOP_EXITED, NO,	      STOP_EXITED, NO},
	[STOP_REQUESTED] = {NO,		   STOP_REQUESTED, STOP_KILLED, STOP_RUNNING, STOP_EXITED, NO,	      STOP_EXITED, NO},
	[STOP_KILLED] =	   {NO,		   NO,		   STOP_KILLED, NO,	      STOP_EXITED, NO,	      STOP_EXITED, NO},
	[STOP_EXITED] =	   {NO,		   NO,		   NO,		NO,	      NO,	   STOP_REPORTED, STOP_EXITED, STOP_IDLE},
	[STOP_REPORTED] =	   {STOP_RUNNING,  NO,		   NO,		NO,	      NO,	   NO,	      STOP_IDLE,   NO},
	/* clang-format on */
};

struct stop *stop_new(struct cgnode *node)
{
	struct stop *stop = calloc(1, sizeof(*stop));

	if (!stop)
		return NULL;
	stop->request = stop->kill = &stop_no_signal;
	if (node)
		stop->node = cgnode_ref(node);
	return stop;
}

struct stop *stop_free(struct cgmap *map, struct deadline_queue *queue, struct stop *stop)
{
	if (!stop)
		return NULL;
	deadline_set(queue, &stop->wake, 0);
	asked_forget_all(map, stop);
	processes_forget(map, stop);
	stop->waits = waits_free(stop->waits);
	cgnode_unref(map, stop->node);
	free(stop);
	return NULL;
}

bool stop_advance(struct stop *stop, enum stop_event event)
{
	enum stop_state to = next[stop->state][event];

	if (to == NO)
		return false;
	stop->state = to;
	return true;
}

void stop_begin(struct cgmap *map, struct stop *stop, const struct graced_proc *init, uint32_t rank)
{
	asked_forget_all(map, stop);
	processes_forget(map, stop);
	stop->waits = waits_free(stop->waits);
	*stop = (struct stop){
		.state = stop->state,
		.node = stop->node,
		.wake = stop->wake,
		.init = *init,
		.rank = rank,
		.guessed = rank == GRACED_INIT_GUESSED,
		.base = stop->counts,
		.counts = stop->counts,
		.before = stop->before,
		.shedding = stop->shedding,
		.shed = stop->shedding,
		.there = stop->there,
		.request = &stop_no_signal,
		.kill = &stop_no_signal,
	};
}

/* What was counted of a life before it came here, beside what is counted here. */
static void carry_counts(const struct stop *from, const struct stop *to, struct stop *life)
{
	const struct graced_counts *was = &from->counts, *since = &from->base;
	struct graced_counts *sums[] = {&life->before, &life->counts};

	life->before = to->before;
	life->base = life->counts = to->counts;
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		sums[i]->collateral += was->collateral - since->collateral;
		sums[i]->oom_kills += was->oom_kills - since->oom_kills;
		sums[i]->suppressed += was->suppressed - since->suppressed;
		sums[i]->suppressed_sigs |= was->suppressed_sigs;
	}
	life->record_lost |= was->lost > since->lost;
	if (life->request->seen)
		life->request_suppressed =
			to->counts.suppressed + from->request_suppressed - since->suppressed;
}

void stop_move(struct cgmap *map, struct stop *from, struct stop *to)
{
	const struct graced_proc none = {};
	uint64_t left_ns = from->left_ns;
	struct stop life = *from;

	/* Forgets the signals of what was there. */
	stop_begin(map, to, &none, from->rank);
	life.node = to->node;
	life.wake = to->wake;
	carry_counts(from, to, &life);
	life.shedding = to->shedding;
	life.shed |= to->shedding;
	life.there = to->there;
	life.left_ns = 0;
	life.moved = false;
	*to = life;
	/* They are the other's now. */
	from->request = from->kill = &stop_no_signal;
	from->aside = NULL;
	from->processes = NULL;
	from->waits = NULL;
	to->waits = waits_free(to->waits);
	to->waits_ns = 0;
	from->state = STOP_IDLE;
	stop_begin(map, from, &life.init, from->rank);
	from->there = false;
	from->idle_ns = left_ns;
}

/*
 * A SIGKILL that began the group's exit has done its work: 5.10 calls a later one delivered, newer
 * kernels ignored.
 */
static bool already_dying(const struct stop *stop, const struct obs_signal *sig)
{
	if (sig->flags & GRACED_SIG_TARGET_ZOMBIE)
		return true;
	if (sig->flags & GRACED_SIG_GROUP_EXIT && sig->result == RESULT_IGNORED)
		return true;
	if (stop->state == STOP_KILLED)
		return sig->sig != SIGKILL_NR || stop->kill->flags & GRACED_SIG_GROUP_EXIT;
	return stop->state >= STOP_EXITED;
}

static void raised_in_vain(struct stop *stop, const struct obs_signal *sig, uint64_t at_ns)
{
	stop->hearing |= stop_reraised(stop, sig->sig, sig->flags);
	if (sig->sig == SIGABRT && sig->flags & GRACED_SIG_DFL)
		stop->abort_ns = at_ns;
}

static void note_last_from(struct stop *stop, uint32_t number, enum relation from)
{
	for (uint32_t n = 1; n < number; n++)
		if (!stop->last_from[n - 1])
			stop->last_from[n - 1] = '0' + RELATION_NONE;
	stop->last_from[number - 1] = (char)('0' + from);
}

enum stop_note stop_signalled(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			      uint64_t at_ns, uint64_t stop_set, bool set_known,
			      struct sender *sender)
{
	struct stop_signal *kill;

	if (sig->sig < 1 || sig->sig > 64 || already_dying(stop, sig))
		return STOP_NOTE_NONE;
	asked_queued(stop, sig);
	if (sender->relation == RELATION_SELF && sender->kind != SENDER_KERNEL &&
	    sig->result == RESULT_IGNORED)
		raised_in_vain(stop, sig, at_ns);
	if (FAULTS >> (sig->sig - 1) & 1)
		stop->fault_ns = sig->code > 0 ? at_ns : 0;
	if (sig->result == RESULT_DELIVERED || sig->result == RESULT_LOST_INFO) {
		note_last_from(stop, (uint32_t)sig->sig, sender->relation);
		stop->unsure_from &= ~(1ULL << (sig->sig - 1));
	}
	if (sig->sig == SIGKILL_NR) {
		if (sig->result != RESULT_DELIVERED || !(kill = asked_want(stop, &stop->kill)))
			return STOP_NOTE_NONE;
		if (!stop_advance(stop, STOP_EV_KILL))
			return STOP_NOTE_UNEXPECTED;
		asked_take(map, kill, sig, at_ns, sender);
		return STOP_NOTE_KILL;
	}
	if (!(stop_set >> (sig->sig - 1) & 1)) {
		if (set_known)
			asked_note_beside(map, stop, sig, at_ns, sender);
		else if (!asked_note_candidate(map, stop, sig, at_ns, sender))
			asked_note_beside(map, stop, sig, at_ns, sender);
		return STOP_NOTE_NONE;
	}
	asked_note_inside(map, stop, sig, at_ns, sender);
	if (sig->result == RESULT_OVERFLOW)
		return STOP_NOTE_NONE;
	if (sender->relation == RELATION_UNKNOWN)
		stop->unsure_ns = at_ns;
	if (!asked_by(sender->relation)) {
		if (sender->relation != RELATION_SAME_CONTAINER)
			asked_note_beside(map, stop, sig, at_ns, sender);
		return STOP_NOTE_NONE;
	}
	if (!asked_want(stop, &stop->request))
		return STOP_NOTE_NONE;
	if (!stop_advance(stop, STOP_EV_REQUEST))
		return STOP_NOTE_UNEXPECTED;
	asked_note(map, stop, sig, at_ns, sender);
	return STOP_NOTE_REQUEST;
}

bool stop_has_keeper(const struct stop *stop, const struct graced_proc *proc)
{
	return stop_is_running(stop) && stop->keeper_pid && stop->keeper_pid == proc->pid &&
	       proc->start_ns < stop->init.start_ns + TICK_NS;
}

void stop_keeper_killed(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			uint64_t at_ns, struct sender *sender)
{
	struct stop_aside *aside = stop->state == STOP_KILLED ? NULL : stop_want_aside(stop);

	/* The first one ends it. */
	if (aside && !aside->keeper.seen)
		asked_take(map, &aside->keeper, sig, at_ns, sender);
}

void stop_forwards(struct stop *stop, const struct obs_signal *sig, uint64_t at_ns)
{
	struct stop_forward *f = &stop->forward;

	if (!stop->request->seen || sig->sender.pid != stop->init.pid ||
	    at_ns < stop->request->at_ns)
		return;
	/* f belongs to a request that lapsed, or that a manager's has replaced. */
	if (f->at_ns < stop->request->at_ns) {
		f->count = 0;
		stop->hearing &= ~(uint32_t)STOP_FORWARD_TAKEN;
	}
	/* What is ignored by a process that is dying anyway says nothing about the process. */
	if (sig->result != RESULT_IGNORED || sig->flags & GRACED_SIG_GROUP_EXIT)
		stop->hearing |= STOP_FORWARD_TAKEN;
	if (!f->count++) {
		f->number = sig->sig;
		f->result = sig->result;
		f->at_ns = at_ns;
		f->to = sig->target;
	}
}

void stop_count(struct stop *stop, const struct graced_counts *counts)
{
	const struct graced_counts *before = &stop->before;

	stop->counts = (struct graced_counts){
		.exits = before->exits + counts->exits,
		.kills = before->kills + counts->kills,
		.collateral = before->collateral + counts->collateral,
		.oom_kills = before->oom_kills + counts->oom_kills,
		.lost = before->lost + counts->lost,
		.suppressed = before->suppressed + counts->suppressed,
		.suppressed_sigs = before->suppressed_sigs | counts->suppressed_sigs,
	};
}

void stop_lost_by(struct stop *stop, uint64_t lost)
{
	if (stop->before.lost + lost > stop->counts.lost)
		stop->counts.lost = stop->before.lost + lost;
}

/* A signal that kills is left pending by the death that it causes. */
static uint32_t hearing_at_exit(const struct stop *stop, const struct obs_exit *exit)
{
	uint32_t ignored = exit->flags & GRACED_EXIT_STOP_IGNORED ? STOP_ENDS_IGNORED : 0;

	if (exit->flags & GRACED_EXIT_AWAITS_CHILD && exit->deliver_ns)
		return STOP_AWAITS_CHILD | ignored;
	if (!(exit->flags & GRACED_EXIT_STOP_PENDING) || exit->deliver_ns ||
	    stop->request->passed || (exit->status & 0x7f) == stop->request->number)
		return ignored;
	return exit->flags & GRACED_EXIT_STOP_BLOCKED ? STOP_UNTAKEN | STOP_ENDS_BLOCKED
						      : STOP_UNTAKEN;
}

/* How init would have taken the request at its end. What it blocks would be queued. */
static uint32_t hearing_of_last(const struct stop *stop, const struct obs_exit *exit)
{
	uint64_t bit = 1ULL << ((stop->request->number - 1) & 63);

	if (!stop->request->seen || !exit->looked_at)
		return 0;
	if (!(exit->looked_at & bit))
		return STOP_LAST_UNKNOWN;
	if (exit->caught & bit)
		return STOP_CATCHES_LATER;
	if (exit->blocked & bit)
		return 0;
	return exit->ignored & bit ? STOP_LAST_IGNORED : STOP_LAST_DEFAULT;
}

/* The OOM killer marks what dies already, too: of what a process sent, or of its namespace's end. */
static bool died_before_oom(const struct stop_signal *kill)
{
	return kill->seen && (!(kill->flags & GRACED_SIG_INFO_PRIV) ||
			      kill->flags & (GRACED_SIG_NS_TEARDOWN | GRACED_SIG_REBOOT));
}

void stop_exited(struct stop *stop, const struct obs_exit *exit, uint64_t at_ns)
{
	stop->exit_seen = true;
	stop->status = exit->status;
	stop->exit_ns = at_ns;
	stop->init = exit->proc;
	stop->exec_ns = exit->exec_ns;
	stop_count(stop, &exit->counts);
	stop->deliver_ns = stop->request->taken_ns;
	/* The kernel half follows one stop signal; it need not be the one that counts here. */
	if (stop->request->seen && exit->stop_at_ns == stop->request->at_ns) {
		if (!stop->deliver_ns)
			stop->deliver_ns = exit->deliver_ns;
		stop->hearing |= STOP_FOLLOWED | hearing_at_exit(stop, exit);
	}
	stop->hearing |= hearing_of_last(stop, exit);
	stop->takes_others = exit->flags & GRACED_EXIT_NS_OTHERS;
	if (exit->flags & GRACED_EXIT_OOM_VICTIM && !stop->oom_victim &&
	    !died_before_oom(stop->kill)) {
		stop->oom_victim = true;
		stop->oom = OOM_LEVEL_UNKNOWN;
	}
}

uint64_t stop_aborted_ns(const struct stop *stop)
{
	uint32_t died_of = stop->status & 0x7f;
	uint64_t since = stop->fault_ns - stop->abort_ns;

	if (!stop->exit_seen || !died_of || died_of > 64 || !(FAULTS >> (died_of - 1) & 1) ||
	    !stop->abort_ns || stop->fault_ns < stop->abort_ns || since > ABORT_NS)
		return 0;
	return since;
}

uint32_t stop_ended_by(const struct stop *stop)
{
	uint32_t died_of = stop->status & 0x7f;

	return died_of && stop->kill->seen && stop->kill->flags & GRACED_SIG_REBOOT ? SIGKILL_NR
										    : died_of;
}

static uint64_t capped_grace(const struct stop *stop)
{
	return stop->grace.ns < GRACE_MAX ? stop->grace.ns : GRACE_MAX;
}

uint64_t stop_lapse_after_ns(const struct stop *stop)
{
	uint64_t grace_ns = capped_grace(stop);

	return grace_ns ? 2 * grace_ns + LAPSE_MARGIN : LAPSE_GRACE_UNKNOWN;
}

uint64_t stop_lapse_ns(const struct stop *stop)
{
	return stop->request->at_ns + stop_lapse_after_ns(stop);
}

void stop_lapse(struct cgmap *map, struct stop *stop)
{
	if (!stop_advance(stop, STOP_EV_LAPSE))
		return;
	asked_drop(map, &stop->request);
	asked_clear(stop);
	stop->waits = waits_free(stop->waits);
	stop->waits_ns = 0;
}

/* What it dies of now may be what was sent unseen, and blocked or pending since. */
static void forget_unsure(struct stop *stop)
{
	for (uint32_t n = 1; n <= 64; n++)
		if (stop->unsure_from >> (n - 1) & 1)
			note_last_from(stop, n, RELATION_NONE);
	stop->unsure_from = 0;
}

bool stop_lapse_unseen(struct stop *stop, uint64_t from_ns, uint64_t at_ns)
{
	if (!stop_awaits_lapse(stop) || at_ns < from_ns ||
	    at_ns - from_ns < stop_lapse_after_ns(stop))
		return false;
	stop->restarted = stop->blind = false;
	stop->unseen_lapsed = true;
	forget_unsure(stop);
	return true;
}

/* Suppressed signals matter when they came after the request, or when there was no request at all. */
static bool suppression_matters(const struct stop *stop)
{
	uint64_t from = stop->request->seen ? stop->request_suppressed : stop->base.suppressed;

	return stop->counts.suppressed > from;
}

/* Its relation was judged without knowing which cgroup it was in. */
static bool cgroup_unknown(const struct stop_signal *s)
{
	const struct sender *from = &s->sender;

	if (!s->seen || from->relation == RELATION_SELF || from->relation == RELATION_KERNEL ||
	    from->relation == RELATION_TERMINAL)
		return false;
	return from->node ? !from->node->path : from->proc.watch_id != 0;
}

/* A stop signal that was no request might have been one. */
static bool may_have_been_asked(const struct stop *stop)
{
	return stop->unsure_ns && !stop->request->seen &&
	       stop->exit_ns < stop->unsure_ns + stop_lapse_after_ns(stop);
}

/* What a runtime sent may have been the stop, whatever others asked for. An image's STOPSIGNAL may
 * be one that is not recorded. */
static bool stop_signal_unknown(const struct stop *stop)
{
	const struct stop_aside *aside = stop_aside_of(stop);
	uint32_t own = stop->node ? stop->node->stop_signal : 0;

	if (stop->request->inferred || own == SIGCHLD || own == SIGCONT || own == SIGURG)
		return true;
	if (stop->request->seen && stop->request->sender.relation == RELATION_MANAGER)
		return false;
	return aside->numbers && !stop->oom_victim &&
	       stop->exit_ns < aside->candidate.at_ns + stop_lapse_after_ns(stop);
}

/* What it died of, or what it was asked by, is of a sender that cannot be known. */
static bool sender_unknown(const struct stop *stop)
{
	uint32_t died_of = stop_ended_by(stop);

	if (!stop->exit_seen || stop->oom_victim)
		return false;
	if (stop->request->seen && stop->request->sender.relation == RELATION_UNPLACED)
		return true;
	if (died_of == SIGKILL_NR)
		return (stop->kill->seen && relation_is_unknown(stop->kill->sender.relation)) ||
		       may_have_been_asked(stop);
	if (!died_of || died_of > 64)
		return may_have_been_asked(stop);
	return relation_is_unknown(stop_last_from(stop, died_of)) &&
	       !(stop->request->seen && stop->request_sigs >> (died_of - 1) & 1);
}

void stop_shed(struct stop *stop, bool on)
{
	stop->shedding = on;
	stop->shed |= on;
}

/* A manager escalates a manager's request only, any other sender only its own. */
static bool escalates(const struct sender *kill, const struct stop_signal *request)
{
	if (!request->seen || !asked_by(request->sender.relation))
		return false;
	if (kill->relation == RELATION_MANAGER && request->sender.relation == RELATION_MANAGER)
		return true;
	return sender_same(kill, &request->sender);
}

/* The child whose death by a signal init passed on: what ended it ended the container. NULL: none. */
static const struct process *dead_child(const struct stop *stop)
{
	bool sure;
	const struct process *child = processes_via(stop, &sure);

	return child && child->status & 0x7f ? child : NULL;
}

/* The SIGKILL that ended init, or that child; not seen where none did. */
static const struct stop_signal *kill_of(const struct stop *stop)
{
	static const struct stop_signal none;
	const struct process *child = dead_child(stop);
	const struct stop_signal *fatal = child ? process_fatal(child) : stop->kill;

	return fatal && (!child || fatal->number == SIGKILL_NR) ? fatal : &none;
}

/* By a signal that asks most containers, or this one. */
static bool asked_to_stop(const struct stop *stop, const struct stop_signal *s)
{
	return s->seen && (STOPS_SIGNAL_SET | stop->request_sigs) >> (s->number - 1) & 1;
}

/* The request that the SIGKILL escalates, which need not be the one that init acted on; NULL: none.
 */
static const struct stop_signal *escalated(const struct stop *stop)
{
	const struct stop_aside *aside = stop_aside_of(stop);
	const struct stop_signal *kill = kill_of(stop);

	if (!kill->seen || !stop->request->seen)
		return NULL;
	if (escalates(&kill->sender, stop->request))
		return stop->request;
	for (size_t i = 0; i < STOP_OTHERS; i++)
		if (asked_to_stop(stop, &aside->others[i]) &&
		    escalates(&kill->sender, &aside->others[i]))
			return &aside->others[i];
	return NULL;
}

bool stop_has_grace(const struct stop_signal *request)
{
	const struct sender *sender = &request->sender;

	return sender->relation == RELATION_MANAGER || sender_may_manage(sender->proc.exe);
}

static bool kill_is_early(const struct stop *stop)
{
	const struct stop_signal *request = escalated(stop) ?: stop->request;
	uint64_t grace_ns = capped_grace(stop);
	uint64_t slack = grace_ns / 10 < SECOND ? grace_ns / 10 : SECOND;
	const struct stop_signal *kill = kill_of(stop);

	return grace_ns && request->seen && stop_has_grace(request) && kill->seen &&
	       kill->at_ns < request->at_ns + grace_ns - slack;
}

/* By graced's own decision, however long its grace period is. */
static bool kill_for_deafness(const struct stop *stop)
{
	const struct stop_signal *kill = kill_of(stop);

	return stop->hearing & STOP_DEAF_GRACE && kill->seen && kill->sender.kind == SENDER_GRACED;
}

/* No keeper was left by which a person, or the kubelet, could have had it killed. */
static bool cleans_up(const struct stop *stop)
{
	const struct stop_signal *keeper = &stop_aside_of(stop)->keeper, *kill = kill_of(stop);
	bool before = keeper->seen && keeper->at_ns <= kill->at_ns;
	bool lost = kill->flags & GRACED_SIG_KEEPER_LOST || before;

	/* Who kills both cleans nothing up: systemctl kill of a unit that has both. */
	return lost && kill->seen && !(before && sender_same(&keeper->sender, &kill->sender)) &&
	       sender_may_clean_up(&kill->sender);
}

/* What the kubelet, a user of a runtime or systemd allowed may be less than what is known. */
static bool grace_uncertain(const struct stop *stop)
{
	if (kill_for_deafness(stop) || !escalated(stop) ||
	    kill_of(stop)->sender.relation != RELATION_MANAGER)
		return false;
	if (kill_is_early(stop) && cleans_up(stop))
		return false;
	/* Without a known grace period, a clean-up may have come before its end. */
	return stop->grace.from == GRACE_INFERRED || stop->given_unknown ||
	       (kill_is_early(stop) && !stop->grace.sure) ||
	       (!grace_known(&stop->grace) && cleans_up(stop));
}

/*
 * Init died of a signal that no record has. The kernel sends a signal before it ends a process by
 * it, also in a fault. SIGSYS is the exception: seccomp's RET_KILL_THREAD calls do_exit(); but it
 * may have been sent before signals were recorded. Not seen are what a tracer injects
 * (PTRACE_CONT), and the signal of a fault in the kernel itself (make_task_dead()).
 */
static bool fatal_signal_unseen(const struct stop *stop)
{
	uint32_t died_of = stop_ended_by(stop);

	if (!stop->exit_seen || !died_of || died_of > 64 || died_of == SIGKILL_NR ||
	    (died_of == SIGSYS_NR && !stop->unseen_lapsed))
		return false;
	return stop_last_from(stop, died_of) == RELATION_NONE;
}

/*
 * Init ended on its own, and how its stop signal left the queue was not seen: by sigwait(3) or a
 * signalfd, which those use who block it; or a tracer kept it; or it was flushed when init began to
 * ignore it.
 */
static bool take_unseen(const struct stop *stop)
{
	const struct stop_signal *request = stop->request;
	bool waits = request->flags & (GRACED_SIG_BLOCKED | GRACED_SIG_WAITED) &&
		     !(stop->hearing & STOP_ENDS_IGNORED);

	/* poll(2) of a signalfd and sigpending(2) tell of one that is blocked, and leave it there. */
	if (request->seen && stop->exit_seen && !stop_ended_by(stop) &&
	    stop->hearing & STOP_UNTAKEN && stop->hearing & STOP_ENDS_BLOCKED)
		return true;
	return request->seen && stop->exit_seen && stop->hearing & STOP_FOLLOWED &&
	       !(stop->hearing & STOP_UNTAKEN) && !stop->deliver_ns && !waits &&
	       !stop_signal_unheard(request) && stop_ended_by(stop) != request->number;
}

/* The gaps of a child whose death init passed on: what ended it is not known for sure. */
static uint32_t gaps_of_child(const struct stop *stop)
{
	bool sure, killed;
	const struct process *child = processes_via(stop, &sure);
	uint32_t gaps = (!sure || processes_timed_out(stop)) << GAP_CHILD_UNCERTAIN;

	/* Whoever's code it is, init ended by it. */
	if (child && !(child->status & 0x7f) && !processes_timed_out(stop))
		return 0;
	if (!dead_child(stop))
		return gaps;
	killed = (child->status & 0x7f) == SIGKILL_NR;
	if (child->oom_victim)
		return gaps | (killed && child->oom == OOM_LEVEL_UNKNOWN) << GAP_OOM_LEVEL;
	if (!process_fatal(child))
		return gaps | 1u << GAP_KILL_UNSEEN;
	return gaps | relation_is_unknown(child->fatal.sender.relation) << GAP_SENDER_UNKNOWN |
	       cgroup_unknown(&child->fatal) << GAP_UNKNOWN_CGROUP;
}

uint32_t stop_gaps(const struct stop *stop)
{
	bool killed = stop->exit_seen && stop_ended_by(stop) == SIGKILL_NR;
	uint32_t gaps = gaps_of_child(stop);

	if (stop->record_lost || stop->counts.lost > stop->base.lost)
		gaps |= 1u << GAP_EVENTS_LOST;
	if (suppression_matters(stop))
		gaps |= 1u << GAP_SUPPRESSED;
	if (stop->late && !stop->unseen_lapsed)
		gaps |= 1u << GAP_ATTACHED_LATE;
	if ((stop->node && !stop->node->path) || cgroup_unknown(stop->request) ||
	    cgroup_unknown(stop->kill))
		gaps |= 1u << GAP_UNKNOWN_CGROUP;
	if (stop->guessed)
		gaps |= 1u << GAP_INIT_GUESSED;
	if ((killed && !stop->kill->seen && !stop->oom_victim) || fatal_signal_unseen(stop))
		gaps |= 1u << GAP_KILL_UNSEEN;
	if (!stop->exit_seen)
		gaps |= 1u << GAP_EXIT_UNSEEN;
	if (stop->oom_victim && stop->oom == OOM_LEVEL_UNKNOWN && killed)
		gaps |= 1u << GAP_OOM_LEVEL;
	if (stop->shed)
		gaps |= 1u << GAP_SHED;
	if (stop->restarted)
		gaps |= 1u << GAP_DAEMON_DOWN;
	if ((killed || kill_of(stop)->seen) && grace_uncertain(stop))
		gaps |= 1u << GAP_GRACE_UNCERTAIN;
	if (sender_unknown(stop))
		gaps |= 1u << GAP_SENDER_UNKNOWN;
	if (stop_signal_unknown(stop))
		gaps |= 1u << GAP_STOP_SIGNAL_UNKNOWN;
	if (stop->init_unseen)
		gaps |= 1u << GAP_INIT_UNSEEN;
	if (take_unseen(stop))
		gaps |= 1u << GAP_TAKE_UNSEEN;
	if (stop->held == STOP_HELD)
		gaps |= 1u << GAP_NOT_REAPED;
	if (stop->moved && !stop->exit_seen)
		gaps |= 1u << GAP_INIT_MOVED;
	return gaps;
}

const struct stop_signal *stop_signal_of(const struct stop *stop)
{
	const struct stop_signal *inside = &stop_aside_of(stop)->inside;

	if (stop->request->seen)
		return stop->request;
	if (!inside->seen || !stop->exit_seen || stop_ended_by(stop) == SIGKILL_NR)
		return NULL;
	return stop->exit_ns <= inside->at_ns + INSIDE_NS ? inside : NULL;
}

/* A container that was asked to stop and then calls reboot(2) has ended itself as others exit. */
static uint32_t judged_status(const struct stop *stop)
{
	const struct stop_signal *kill = stop->kill;
	bool inside = kill->sender.relation == RELATION_SELF ||
		      kill->sender.relation == RELATION_SAME_CONTAINER;

	if (stop_ended_by(stop) == (stop->status & 0x7f))
		return stop->status;
	return inside && stop->request->seen && !stop_signal_unheard(stop->request) ? 0
										    : SIGKILL_NR;
}

/* Init only passed on what had ended its child. Another signal than the request is a part of the
 * stop, too, if init or a process that was asked sent it then: dumb-init --rewrite 15:3. */
static void facts_of_child(const struct stop *stop, const struct process *child,
			   struct outcome_facts *ret)
{
	const struct stop_signal *fatal = process_fatal(child);
	const struct stop_signal *passed = fatal ? stop_passed_beside(stop, fatal) : NULL;
	uint32_t died_of = child->status & 0x7f;

	/* Init passed on what its own container had asked it for; SIGKILL asks for nothing. */
	if (ret->stopped_inside && fatal && died_of != SIGKILL_NR &&
	    stop_sent_by_init(stop, fatal) && fatal->at_ns >= stop_aside_of(stop)->inside.at_ns)
		return;
	ret->status = child->status;
	ret->oom = child->oom_victim ? child->oom : OOM_LEVEL_NONE;
	ret->fatal_from = fatal ? fatal->sender.relation : RELATION_NONE;
	ret->by_supervisor = !passed && process_ended_by_parent(child);
	if (passed)
		ret->fatal_from = passed->sender.relation;
	if (fatal && died_of != SIGKILL_NR && processes_passed_request(stop, fatal))
		ret->request_sigs |= 1ULL << (died_of - 1);
}

void stop_facts(const struct stop *stop, uint32_t gaps, struct outcome_facts *ret)
{
	const uint32_t holes = 1u << GAP_EVENTS_LOST | 1u << GAP_SUPPRESSED |
			       1u << GAP_ATTACHED_LATE | 1u << GAP_DAEMON_DOWN | 1u << GAP_SHED |
			       1u << GAP_INIT_UNSEEN | 1u << GAP_KILL_UNSEEN;
	const struct stop_signal *kill = kill_of(stop);
	const struct process *child = dead_child(stop);
	uint32_t died_of = stop_ended_by(stop);

	/* What init died of was seen, if not what came of it. */
	if (stop->restarted && !stop->blind)
		gaps &= ~(1u << GAP_DAEMON_DOWN);
	*ret = (struct outcome_facts){
		.status_seen = stop->exit_seen,
		.status = judged_status(stop),
		.oom = stop->oom_victim ? stop->oom : OOM_LEVEL_NONE,
		.kill_seen = kill->seen,
		.kill_from = kill->seen ? kill->sender.relation : RELATION_NONE,
		.kill_ns_teardown = kill->flags & GRACED_SIG_NS_TEARDOWN,
		.kill_escalates = escalated(stop),
		.kill_early = kill_is_early(stop),
		.kill_cleans_up = cleans_up(stop),
		.kill_by_oomd = kill->seen && sender_frees_memory(&kill->sender),
		.kill_deaf = kill_for_deafness(stop),
		.request_open = stop->request->seen,
		.request_by_oomd =
			stop->request->seen && sender_frees_memory(&stop->request->sender),
		.request_heard = stop->request->seen && !stop_signal_unheard(stop->request),
		.request_parent = stop->request->sender.relation == RELATION_PARENT,
		.request_sigs = stop->request_sigs,
		.stopped_inside = stop_signal_of(stop) == &stop_aside_of(stop)->inside,
		.fatal_from = stop_last_from(stop, died_of),
		.timed_out = processes_timed_out(stop),
		.window_complete = !(gaps & holes),
	};
	if (child)
		facts_of_child(stop, child, ret);
}
