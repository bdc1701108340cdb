// SPDX-License-Identifier: Apache-2.0
#include "core/stop/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/stop/asked.h"

#define SIGKILL_NR    9
#define SECOND	      1000000000ULL
/* How long after its child's end an init passes that on, for sure; what a script may do first, or a
 * busy machine; and how long a code that is the init's own may still have come of it. */
#define PASS_NS	      SECOND
#define PASS_LATE_NS  (10 * SECOND)
#define PASS_DOUBT_NS (60 * SECOND)
/* How many of them pass a status on to each other. */
#define PASS_DEPTH    8

/* A scan knows when a process started by the tick of /proc only; a record, to the nanosecond: a
 * process may have the pid of one that has just ended (clone3() with set_tid). */
#define START_GRAIN_NS 10000000ULL

static bool is_cut(uint64_t start_ns)
{
	return start_ns % START_GRAIN_NS == 0;
}

static bool is_same_start(uint64_t a_ns, uint64_t b_ns)
{
	uint64_t apart = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;

	return !apart || ((is_cut(a_ns) || is_cut(b_ns)) && apart < START_GRAIN_NS);
}

bool process_is_same(const struct graced_proc *a, const struct graced_proc *b)
{
	return a->pid && a->pid == b->pid && is_same_start(a->start_ns, b->start_ns);
}

static void forget(struct cgmap *map, struct process *p)
{
	asked_forget(map, &p->asked);
	asked_forget(map, &p->fatal);
	*p = (struct process){};
}

void processes_forget(struct cgmap *map, struct stop *stop)
{
	struct processes *all = stop->processes;

	if (!all)
		return;
	for (size_t i = 0; i < all->n; i++)
		forget(map, all->list + i);
	free(all->list);
	free(all->left_out);
	free(all);
	stop->processes = NULL;
}

static struct processes *want_all(struct stop *stop)
{
	if (!stop->processes)
		stop->processes = calloc(1, sizeof(*stop->processes));
	stop->record_lost |= !stop->processes;
	return stop->processes;
}

/* --- room in the list -------------------------------------------------------------------------- */

/* A shell's code for a child that died of a signal. */
static bool is_like_a_signal(uint32_t status)
{
	uint32_t code = status >> 8 & 0xff;

	return code > 128 && code <= 128 + 64;
}

/* How long before the end of a process a child may have ended whose end it passes on by status, or
 * perhaps does. What ended by a code of its own explains nothing later. */
static uint64_t pass_ns(uint32_t status)
{
	return is_like_a_signal(status) ? PASS_DOUBT_NS : PASS_NS;
}

/* When it was heard of last. */
static uint64_t heard_ns(const struct process *p)
{
	return p->end_ns ?: p->fatal.at_ns;
}

bool process_concerns(const struct stop *stop, const struct process *p)
{
	uint64_t at_ns = heard_ns(p);

	if (p->asked.seen || !at_ns)
		return true;
	return stop->request->seen ? at_ns >= stop->request->at_ns
				   : at_ns + pass_ns(stop->status) >= stop->exit_ns;
}

static bool ended_before_init(const struct stop *stop, const struct process *p)
{
	return p->end_ns && (!stop->exit_seen || p->end_ns <= stop->exit_ns);
}

/* What explains most stays longest: whose end init may pass on, and what was killed. */
static unsigned int worth(const struct stop *stop, const struct process *p)
{
	bool killed = p->end_ns && p->status & 0x7f;
	bool inits = p->status && p->parent_pid == stop->init.pid && ended_before_init(stop, p);

	if (!process_concerns(stop, p))
		return 0;
	return inits << 3 | killed << 2 | (!p->end_ns || p->status) << 1 | p->asked.seen;
}

static struct process *least(const struct stop *stop, struct processes *all)
{
	struct process *ret = all->list;

	for (size_t i = 1; i < all->n; i++) {
		struct process *p = all->list + i;
		unsigned int a = worth(stop, p), b = worth(stop, ret);

		if (a < b || (a == b && p->end_ns < ret->end_ns))
			ret = p;
	}
	return ret;
}

/* Unasked, those that ended too long ago for init to pass that on make way. */
static struct process *oldest(struct processes *all)
{
	struct process *ret = all->list;

	for (size_t i = 1; i < all->n; i++)
		if (heard_ns(all->list + i) < heard_ns(ret))
			ret = all->list + i;
	return ret;
}

static bool grow(struct processes *all, size_t max)
{
	return (all->n < all->room || all->n < max) &&
	       ROOM_FOR_ONE(all->list, all->n, all->room, 4);
}

/* Its end may follow, and it is one process all the same. */
static void leave_out(struct processes *all, const struct graced_proc *proc)
{
	if (!all->left_out)
		all->left_out = calloc(PROCESSES_LEFT_OUT, sizeof(*all->left_out));
	if (all->left_out && all->n_left_out < PROCESSES_LEFT_OUT)
		all->left_out[all->n_left_out++] =
			(struct process_left_out){proc->pid, proc->start_ns};
	else
		all->more = true;
}

static void take_back(struct processes *all, const struct graced_proc *proc)
{
	for (size_t i = 0; i < all->n_left_out; i++) {
		struct process_left_out *it = all->left_out + i;

		if (it->pid != proc->pid || !is_same_start(it->start_ns, proc->start_ns))
			continue;
		*it = all->left_out[--all->n_left_out];
		return;
	}
}

/* Makes room by what explains least. */
static struct process *replace(struct cgmap *map, struct stop *stop, struct processes *all)
{
	bool stopped = stop->request->seen;
	struct process *p = stopped ? least(stop, all) : oldest(all);

	if (stopped && process_concerns(stop, p)) {
		all->dropped += p->end_ns > 0;
		if (!p->end_ns)
			leave_out(all, &p->proc);
	}
	all->dropped_cut += process_is_cut(stop, p);
	if (ended_before_init(stop, p) && p->end_ns > all->dropped_ns)
		all->dropped_ns = p->end_ns;
	forget(map, p);
	return p;
}

static struct process *add(struct cgmap *map, struct stop *stop, struct processes *all,
			   const struct graced_proc *proc)
{
	bool stopped = stop->request->seen;
	struct process *p;

	take_back(all, proc);
	if (grow(all, stopped ? PROCESSES_MAX : PROCESSES_UNASKED)) {
		p = all->list + all->n++;
	} else if (!all->n) {
		stop->record_lost = true;
		return NULL;
	} else if (!stopped && stop->exit_seen && process_concerns(stop, oldest(all))) {
		/* Nobody asked init to end: what ends after it is no reason for that. */
		return NULL;
	} else {
		p = replace(map, stop, all);
	}
	*p = (struct process){.proc = *proc};
	return p;
}

static struct process *find(struct processes *all, const struct graced_proc *proc)
{
	for (size_t i = 0; i < all->n; i++)
		if (process_is_same(&all->list[i].proc, proc))
			return all->list + i;
	return NULL;
}

/* NULL: without memory. What is missing then is a gap of the list. */
static struct process *want(struct cgmap *map, struct stop *stop, const struct graced_proc *proc)
{
	struct processes *all = want_all(stop);
	struct process *p = all && proc->pid ? find(all, proc) : NULL;
	uint64_t start_ns;

	if (!all || !proc->pid)
		return NULL;
	if (!p)
		return add(map, stop, all, proc);
	/* It may have exec'd since. */
	start_ns = is_cut(proc->start_ns) ? p->proc.start_ns : proc->start_ns;
	p->proc = *proc;
	p->proc.start_ns = start_ns;
	return p;
}

/* --- what is seen of them ---------------------------------------------------------------------- */

static bool is_fatal(const struct obs_signal *sig)
{
	if (sig->result != RESULT_DELIVERED && sig->result != RESULT_LOST_INFO)
		return false;
	return sig->sig == SIGKILL_NR || sig->flags & GRACED_SIG_DFL;
}

void processes_signalled(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			 uint64_t at_ns, bool asks, struct sender *sender)
{
	struct process *p = want(map, stop, &sig->target);
	bool fatal = is_fatal(sig);

	if (!p || p->end_ns)
		return;
	if (stop->request->seen && asks &&
	    (!p->asked.seen ||
	     (p->asked.result == RESULT_IGNORED && sig->result != RESULT_IGNORED))) {
		struct sender copy = *sender;

		if (copy.node)
			cgnode_ref(copy.node);
		asked_take(map, &p->asked, sig, at_ns, &copy);
	}
	/* What comes after a SIGKILL ends nothing. */
	if (fatal && !(p->fatal.seen && p->fatal.number == SIGKILL_NR))
		asked_take(map, &p->fatal, sig, at_ns, sender);
}

void processes_exited(struct cgmap *map, struct stop *stop, const struct obs_exit *exit,
		      uint64_t at_ns)
{
	struct process *p = want(map, stop, &exit->proc);

	processes_missed(stop, exit->others_missed, at_ns);
	if (!p) {
		if (stop->processes && stop->exit_seen && exit->proc.pid)
			stop->processes->dropped++;
		return;
	}
	p->parent_pid = exit->parent_pid;
	p->end_ns = at_ns;
	p->status = exit->status;
	p->entered = exit->flags & GRACED_EXIT_ENTERED;
	if (exit->flags & GRACED_EXIT_OOM_VICTIM && !p->oom_victim) {
		p->oom_victim = true;
		p->oom = OOM_LEVEL_UNKNOWN;
	}
}

static enum disposition disposition_by(const struct obs_look *look, uint32_t number)
{
	uint64_t bit = 1ULL << (number - 1);

	if (look->blocked & bit)
		return DISPOSITION_BLOCKED;
	if (look->ignored & bit)
		return DISPOSITION_IGNORED;
	return look->caught & bit ? DISPOSITION_HANDLER : DISPOSITION_DEFAULT;
}

void processes_looked_at(struct stop *stop, const struct obs_look *look)
{
	struct processes *all = want_all(stop);
	struct process *p = all ? find(all, &look->proc) : NULL;

	if (!all)
		return;
	/* What was recorded is worth more than what only lives. */
	if (!p && !grow(all, PROCESSES_MAX)) {
		all->more = true;
		return;
	}
	if (!p) {
		p = all->list + all->n++;
		*p = (struct process){.proc = look->proc};
	}
	/* Its end may have been recorded before the look at it was fed. */
	if (p->end_ns)
		return;
	p->parent_pid = look->parent_pid;
	p->disposition = disposition_by(look, stop->request->number);
}

void processes_oom(struct cgmap *map, struct stop *stop, const struct graced_proc *victim,
		   enum oom_level level)
{
	struct process *p = want(map, stop, victim);

	if (!p)
		return;
	p->oom_victim = true;
	p->oom = level;
}

void processes_missed(struct stop *stop, uint32_t missed, uint64_t at_ns)
{
	struct processes *all = missed || stop->processes ? want_all(stop) : NULL;

	if (!all || missed == all->missed)
		return;
	all->missed = missed;
	all->missed_ns = at_ns;
}

/* --- what follows ------------------------------------------------------------------------------ */

static bool is_timeout(const struct graced_proc *proc)
{
	return strcmp(proc->comm, "timeout") == 0;
}

/* timeout(1) ends by this code when it has ended its child by a signal. */
static bool is_time_limit(const struct graced_proc *proc, uint32_t status)
{
	return status == 124 << 8 && is_timeout(proc);
}

bool process_ended_by_parent(const struct process *p)
{
	const struct stop_signal *fatal = process_fatal(p);

	return fatal && fatal->sender.relation == RELATION_SAME_CONTAINER &&
	       fatal->sender.proc.pid == p->parent_pid;
}

/* Whether proc, which ended with status, has the end of p for its own. */
static bool passes_on(const struct graced_proc *proc, uint32_t status, const struct process *p)
{
	uint32_t died_of = status & 0x7f, code = status >> 8 & 0xff;
	uint32_t childs = p->status & 0x7f;

	if (died_of)
		return childs == died_of;
	if (is_time_limit(proc, status) && process_ended_by_parent(p))
		return true;
	return childs ? code == 128 + childs : code && code == (p->status >> 8 & 0xff);
}

/* tini and its like block a signal, and fetch it. */
#define FETCHED (GRACED_SIG_BLOCKED | GRACED_SIG_WAITED)

/* The last child of proc that ended from from_ns to end_ns, at most within_ns before that, and
 * whose end status passes on. Of one like tini the oldest: it waits for the child that it started,
 * and adopts the rest. *ret_n: how many did within PASS_NS. */
static const struct process *passed(const struct processes *all, const struct graced_proc *proc,
				    const struct stop_signal *asked, uint32_t status,
				    uint64_t from_ns, uint64_t end_ns, uint64_t within_ns,
				    uint32_t *ret_n)
{
	bool waits_for_one = asked->seen && asked->flags & FETCHED;
	const struct process *ret = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct process *p = all->list + i;

		if (!p->end_ns || p->parent_pid != proc->pid || p->end_ns < from_ns ||
		    p->end_ns > end_ns || p->end_ns + within_ns < end_ns ||
		    !passes_on(proc, status, p))
			continue;
		*ret_n += p->end_ns + PASS_NS >= end_ns;
		if (!ret || (waits_for_one ? p->proc.start_ns < ret->proc.start_ns
					   : p->end_ns > ret->end_ns))
			ret = p;
	}
	return ret;
}

/* It ended by its own code, or by a signal that it sent itself: PID 1 ends by none but a fault. */
static bool ended_itself(const struct stop *stop)
{
	uint32_t died_of = stop->status & 0x7f;

	if (!died_of)
		return true;
	if (stop->init.ns_pid == 1)
		return false;
	if (died_of == SIGKILL_NR)
		return stop->kill->seen && stop->kill->sender.relation == RELATION_SELF;
	return stop_last_from(stop, died_of) == RELATION_SELF;
}

/*
 * A process that handled a stop signal, and ended by 128 + its number: as likely by its own
 * decision as to pass on that a child died of it.
 */
static bool decided(const struct stop_signal *asked, uint32_t status)
{
	return asked->seen && !(asked->flags & (FETCHED | GRACED_SIG_DFL | GRACED_SIG_IGN)) &&
	       !(status & 0x7f) && (status >> 8 & 0xff) == 128 + asked->number;
}

/* What init, or another process, may as well have chosen for itself. */
static bool is_any_code(const struct process *p)
{
	return !(p->status & 0x7f) && !is_like_a_signal(p->status) &&
	       !is_time_limit(&p->proc, p->status);
}

bool processes_passed_request(const struct stop *stop, const struct stop_signal *s)
{
	const struct processes *all = stop->processes;
	uint32_t pid = s->sender.proc.pid;

	/* Nobody asks by a fault, or by abort(3). */
	if (!stop->request->seen || s->at_ns < stop->request->at_ns || !pid ||
	    s->sender.relation != RELATION_SAME_CONTAINER)
		return false;
	if (pid == stop->init.pid)
		return true;
	for (size_t i = 0; all && i < all->n; i++)
		if (all->list[i].proc.pid == pid && all->list[i].asked.seen)
			return true;
	return false;
}

/* It died of a signal that it sent itself, as what passes the death of its child on does. */
static bool raised_it(const struct process *p)
{
	const struct stop_signal *fatal = process_fatal(p);

	return fatal && fatal->sender.relation == RELATION_SELF;
}

/*
 * It died of its own signal, and had ended that child by the same without having been asked to: its
 * own decision about both, or it repeated what it had done. timeout(1) is known to end itself, too.
 */
static bool ended_both(const struct stop *stop, const struct graced_proc *proc, uint32_t status,
		       const struct process *child)
{
	return status & 0x7f && process_ended_by_parent(child) && !is_timeout(proc) &&
	       !processes_passed_request(stop, process_fatal(child)) &&
	       !stop_passed_beside(stop, process_fatal(child));
}

static bool was_missed(const struct processes *all, uint64_t end_ns)
{
	return (all->missed_ns && all->missed_ns + PASS_NS >= end_ns) ||
	       (all->dropped_ns && all->dropped_ns + PASS_NS >= end_ns);
}

const struct process *processes_via(const struct stop *stop, bool *ret_sure)
{
	const struct processes *all = stop->processes;
	const struct stop_signal *asked = stop->request;
	const struct process *ret = NULL, *p;
	const struct graced_proc *proc = &stop->init;
	uint32_t status = stop->status, n;
	/* What init was before its last exec has waited for the children of that time. */
	uint64_t from_ns = stop->exec_ns, end_ns = stop->exit_ns;
	/* Another one may raise the same signal for a reason of its own. */
	bool raised = false;

	*ret_sure = true;
	if (!all || !stop->exit_seen || !status || !ended_itself(stop))
		return NULL;
	for (int i = 0; i < PASS_DEPTH && !decided(asked, status); i++) {
		p = passed(all, proc, asked, status, from_ns, end_ns,
			   is_like_a_signal(status) ? PASS_LATE_NS : PASS_NS, &n);
		if (!p) {
			*ret_sure &= !is_like_a_signal(status) ||
				     (!was_missed(all, end_ns) &&
				      !passed(all, proc, asked, status, from_ns, end_ns,
					      PASS_DOUBT_NS, &n));
			break;
		}
		if (ended_both(stop, proc, status, p)) {
			*ret_sure = false;
			break;
		}
		*ret_sure = n == 1 && !raised && !is_any_code(p) && all->missed_ns <= p->end_ns &&
			    all->dropped_ns <= p->end_ns && (!ret || *ret_sure);
		ret = p;
		raised = raised_it(p);
		if (p->status & 0x7f && !raised)
			break;
		asked = &p->asked;
		from_ns = 0;
		status = p->status;
		proc = &p->proc;
		end_ns = p->end_ns;
	}
	return ret;
}

bool processes_timed_out(const struct stop *stop)
{
	bool sure;
	const struct process *via = processes_via(stop, &sure);

	if (!stop->exit_seen || stop->request->seen)
		return false;
	return is_time_limit(via ? &via->proc : &stop->init, via ? via->status : stop->status);
}

const struct stop_signal *process_fatal(const struct process *p)
{
	/* One that came while it was ending already did not. */
	bool is_it = p->fatal.seen && p->fatal.at_ns <= p->end_ns &&
		     p->fatal.number == (p->status & 0x7f);

	return p->end_ns && is_it ? &p->fatal : NULL;
}

bool processes_left_out(const struct stop *stop)
{
	const struct processes *all = stop->processes;

	if (stop->request->seen)
		return all->more;
	return all->dropped_ns && all->dropped_ns + pass_ns(stop->status) >= stop->exit_ns;
}

static const struct process *parent_of(const struct processes *all, const struct process *p)
{
	for (size_t i = 0; i < all->n; i++)
		if (p->parent_pid && all->list[i].proc.pid == p->parent_pid)
			return all->list + i;
	return NULL;
}

/* Init adopts what an ended process leaves behind: it may be of one that was brought in before. */
static bool may_be_of_entered(const struct stop *stop, const struct process *p)
{
	const struct processes *all = stop->processes;

	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].entered && all->list[i].proc.start_ns < p->proc.start_ns)
			return true;
	return false;
}

bool process_is_entered(const struct stop *stop, const struct process *p)
{
	const struct process *up;

	/* Orphans have no parent in the container either. */
	if (stop->init.ns_pid != 1)
		return false;
	for (int i = 0; p && i < PASS_DEPTH; i++) {
		if (p->entered)
			return true;
		up = parent_of(stop->processes, p);
		if (!up)
			return p->parent_pid == stop->init.pid && may_be_of_entered(stop, p);
		p = up;
	}
	return false;
}

bool process_is_cut(const struct stop *stop, const struct process *p)
{
	const struct stop_signal *fatal = process_fatal(p);

	if (!stop->request->seen || p->end_ns < stop->request->at_ns || p->oom_victim ||
	    p->helper || (p->status & 0x7f) != SIGKILL_NR || process_is_entered(stop, p))
		return false;
	return !fatal || fatal->sender.relation != RELATION_SELF;
}

bool processes_outlived(const struct stop *stop)
{
	const struct processes *all = stop->processes;
	bool ended = false;

	for (size_t i = 0; all && i < all->n; i++) {
		const struct process *p = all->list + i;

		if (!process_is_same(&p->proc, &stop->forward.to) &&
		    !(p->asked.seen && stop_sent_by_init(stop, &p->asked)))
			continue;
		if (!p->end_ns || p->end_ns >= stop->kill->at_ns || process_is_cut(stop, p))
			return false;
		ended = true;
	}
	return ended;
}
