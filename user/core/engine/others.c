// SPDX-License-Identifier: Apache-2.0
/* The engine's part that follows the processes of a container beside its init. */
#include "core/stop/processes.h"

#include <string.h>

#include "core/engine/stops.h"
#include "core/engine/subject.h"

/* The stop of a container whose other processes matter: its init runs, or has no verdict yet. */
static struct stop *stop_beside(const struct stops *stops, uint64_t id)
{
	struct stop *stop = stop_in(cgmap_get(stops->map, id));

	return stop && (stop_is_running(stop) || stop->state == STOP_EXITED) ? stop : NULL;
}

/* Asks any container to stop, or this one. */
static bool asks(const struct stops *stops, const struct stop *stop, const struct sender *sender,
		 uint32_t number)
{
	uint64_t set = stops_signal_set(stops, stop->node, sender->kind) | STOPS_SIGNAL_SET;

	return set >> (number - 1) & 1;
}

static bool is_helper(const struct stops *stops, const struct process *p)
{
	for (const char *const *name = stops->helpers; *name; name++)
		if (strncmp(p->proc.comm, *name, sizeof(p->proc.comm) - 1) == 0)
			return true;
	return false;
}

/* What is listed of a stop has changed: an exec may have given one another name. */
static void mark_helpers(const struct stops *stops, const struct stop *stop)
{
	struct processes *all = stop->processes;

	for (size_t i = 0; stops->helpers && all && i < all->n; i++)
		all->list[i].helper = is_helper(stops, all->list + i);
}

void stops_other_signalled(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_beside(stops, obs->signal.id);
	struct sender sender;

	if (!stop)
		return;
	sender_judge(stops->map, &obs->signal, stop->node, stops->out->host.self_pid, &sender);
	processes_signalled(stops->map, stop, &obs->signal, obs->at_ns,
			    asks(stops, stop, &sender, obs->signal.sig), &sender);
	mark_helpers(stops, stop);
	sender_done(stops->map, &sender);
}

void stops_other_exited(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_beside(stops, obs->exit.id);

	if (!stop)
		return;
	processes_exited(stops->map, stop, &obs->exit, obs->at_ns);
	mark_helpers(stops, stop);
}

/* --- a stop under way is looked at ---------------------------------------------------------------
 */

static void look_at(struct stops *stops, const struct stop *stop, bool waits)
{
	output_effect(stops->out, &(struct effect){.type = EFFECT_LOOK,
						   .id = stop->node->id,
						   .pid = stop->init.pid,
						   .waits = waits});
}

void stops_look(struct stops *stops, struct stop *stop)
{
	stop->waits = waits_free(stop->waits);
	stop->waits_ns = 0;
	look_at(stops, stop, false);
}

/* 0: not again. */
static uint64_t next_look_ns(const struct stop *stop)
{
	uint64_t grace_ns = grace_known(&stop->grace) ? stop->grace.ns : 0;

	if (!stop->request->seen)
		return 0;
	if (stop->state == STOP_KILLED && stop->kill->seen)
		return stop->looked_late ? 0 : stop->kill->at_ns + WAITS_KILLED_NS;
	if (stop->state != STOP_REQUESTED)
		return 0;
	return waits_next_ns(stop->waits_ns, stop->request->at_ns, grace_ns);
}

void stops_watch(struct stops *stops, struct stop *stop)
{
	uint64_t lapse_ns = stop->state == STOP_REQUESTED ? stop_lapse_ns(stop) : 0;
	uint64_t look_ns = next_look_ns(stop);

	stops_wake(stops, stop, look_ns && (!lapse_ns || look_ns < lapse_ns) ? look_ns : lapse_ns);
}

/* One look is enough for all that were due meanwhile. */
bool stops_look_due(struct stops *stops, struct stop *stop, uint64_t now_ns)
{
	uint64_t at_ns = next_look_ns(stop);

	if (!at_ns || at_ns > now_ns ||
	    (stop->state == STOP_REQUESTED && now_ns >= stop_lapse_ns(stop)))
		return false;
	stop->waits_ns = now_ns;
	stop->looked_late = stop->state == STOP_KILLED;
	look_at(stops, stop, true);
	return true;
}

/* The stop that a look was at, which began then: not one that has ended since, or was asked anew. */
static struct stop *stop_of_look(const struct stops *stops, uint64_t id, uint64_t begin_ns)
{
	struct stop *stop = stop_in(cgmap_get(stops->map, id));
	bool is_open = stop && stop->request->seen &&
		       (stop->state == STOP_REQUESTED || stop->state == STOP_KILLED);

	return is_open && begin_ns >= stop->request->at_ns ? stop : NULL;
}

int stops_on_look(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_of_look(stops, obs->look.id, obs->look.begin_ns);

	if (!stop)
		return 0;
	if (!obs->look.tid && obs->look.proc.pid != stop->init.pid)
		processes_looked_at(stop, &obs->look);
	stop_looked_at(stop, &obs->look);
	waits_take(&stop->waits, &obs->look);
	return 0;
}

/* As far as that was observed. */
static enum waits_init waits_init_of(const struct stop *stop, uint64_t begin_ns)
{
	enum unheard reason = stop_unheard(stop);

	if (stop->kill->seen && begin_ns >= stop->kill->at_ns)
		return WAITS_INIT_KILLED;
	if (reason != UNHEARD_NONE && reason != UNHEARD_TRAP && reason != UNHEARD_CHILD_IGNORED)
		return WAITS_INIT_UNHEARD;
	return stop->request->taken_ns ? WAITS_INIT_TAKEN : WAITS_INIT_HEARD;
}

int stops_on_looked(struct stops *stops, const struct obs *obs)
{
	struct stop *stop = stop_of_look(stops, obs->looked.id, obs->looked.begin_ns);

	if (!stop)
		return 0;
	waits_end(&stop->waits, &obs->looked, obs->at_ns, stop->init.pid,
		  waits_init_of(stop, obs->looked.begin_ns));
	return 0;
}

/* --- in a record ------------------------------------------------------------------------------- */

struct record_asked stops_asked(const struct stop_signal *s)
{
	if (!s || !s->seen)
		return (struct record_asked){};
	return (struct record_asked){
		.number = s->number,
		.result = s->result,
		.at_ns = s->at_ns,
		.sender = s->sender.kind,
		.process = subject_sender(&s->sender),
		.inside = s->sender.relation == RELATION_SAME_CONTAINER ||
			  s->sender.relation == RELATION_SELF,
	};
}

static enum ended_by by_relation(enum relation from)
{
	switch (from) {
	case RELATION_SELF:
		return ENDED_ITSELF;
	case RELATION_SAME_CONTAINER:
		return ENDED_CONTAINER;
	case RELATION_KERNEL:
	case RELATION_TERMINAL:
		return ENDED_KERNEL;
	case RELATION_PARENT:
		return ENDED_PARENT_DEATH;
	case RELATION_MANAGER:
		return ENDED_RUNTIME;
	case RELATION_SAME_POD:
	case RELATION_OTHER_POD:
		return ENDED_POD;
	case RELATION_HOST:
		return ENDED_HOST;
	default:
		return ENDED_UNKNOWN;
	}
}

/* The kernel half records each SIGKILL but those by which a pid namespace ends, if none is missing.
 */
static bool ends_with_init(const struct stop *stop, const struct process *p)
{
	return (p->status & 0x7f) == 9 && stop->takes_others && !process_fatal(p) &&
	       stop->exit_seen && p->end_ns > stop->exit_ns && !stop->processes->missed;
}

static enum ended_by ended_by(const struct stop *stop, const struct process *p)
{
	const struct stop_signal *fatal = process_fatal(p);

	if (!p->end_ns)
		return ENDED_UNKNOWN;
	if (p->oom_victim && (p->status & 0x7f) == 9)
		return ENDED_OOM;
	if (!(p->status & 0x7f))
		return ENDED_ITSELF;
	if (fatal)
		return by_relation(fatal->sender.relation);
	return ends_with_init(stop, p) ? ENDED_PID_NAMESPACE : ENDED_UNKNOWN;
}

static enum disposition disposition_of(const struct stop_signal *asked)
{
	if (!asked->seen)
		return DISPOSITION_UNKNOWN;
	if (asked->flags & GRACED_SIG_BLOCKED)
		return DISPOSITION_BLOCKED;
	if (asked->flags & GRACED_SIG_IGN)
		return DISPOSITION_IGNORED;
	return asked->flags & GRACED_SIG_DFL ? DISPOSITION_DEFAULT : DISPOSITION_HANDLER;
}

static struct record_member member_of(const struct stop *stop, const struct process *p)
{
	return (struct record_member){
		.process = subject_process(&p->proc),
		.exe = *p->proc.exe ? p->proc.exe : NULL,
		.parent_pid = p->parent_pid,
		.disposition = p->asked.seen ? disposition_of(&p->asked) : p->disposition,
		.asked = stops_asked(&p->asked),
		.fatal = stops_asked(process_fatal(p)),
		.exit = {.known = p->end_ns, .status = p->status, .at_ns = p->end_ns},
		.by = ended_by(stop, p),
		.entered = process_is_entered(stop, p),
		.helper = p->helper,
		.cut = process_is_cut(stop, p),
	};
}

/* A SIGKILL that ended init is kept whole; of any other signal only the relation of its sender. */
static enum ended_by init_ended_by(const struct stop *stop)
{
	uint32_t died_of = stop->exit_seen ? stop->status & 0x7f : 0;

	if (!stop->exit_seen)
		return ENDED_UNKNOWN;
	if (!died_of)
		return ENDED_ITSELF;
	if (died_of == 9 && stop->oom_victim)
		return ENDED_OOM;
	if (died_of == 9 && stop->kill->flags & GRACED_SIG_NS_TEARDOWN)
		return ENDED_PID_NAMESPACE;
	if (died_of == 9 && stop->kill->seen)
		return by_relation(stop->kill->sender.relation);
	return by_relation(stop_last_from(stop, died_of));
}

static struct record_member first_member(const struct stop *stop)
{
	bool killed = stop->exit_seen && (stop->status & 0x7f) == 9;

	return (struct record_member){
		.process = subject_process(&stop->init),
		.exe = *stop->init.exe ? stop->init.exe : NULL,
		.disposition = disposition_of(stop->request),
		.asked = stops_asked(stop->request),
		.fatal = stops_asked(killed ? stop->kill : NULL),
		.exit = {.known = stop->exit_seen, .status = stop->status, .at_ns = stop->exit_ns},
		.by = init_ended_by(stop),
	};
}

/* What says most comes first: whose end was passed on, what was cut, what a signal ended. */
static unsigned int rank(const struct stop *stop, const struct process *p,
			 const struct process *via)
{
	return (unsigned int)(p == via) << 3 | process_is_cut(stop, p) << 2 |
	       (p->end_ns && p->status & 0x7f) << 1 | p->asked.seen;
}

static bool comes_before(const struct stop *stop, const struct process *a, const struct process *b,
			 const struct process *via)
{
	unsigned int x = rank(stop, a, via), y = rank(stop, b, via);

	if (x != y)
		return x > y;
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->proc.pid < b->proc.pid;
}

/* The ones that come first, in their order; *ret_n: of how many. */
static size_t pick(const struct stop *stop, const struct process *via,
		   const struct process *ret[RECORD_MEMBERS], uint32_t *ret_n)
{
	const struct processes *all = stop->processes;
	size_t n = 0, max = RECORD_MEMBERS - 1;

	*ret_n = 0;
	for (size_t i = 0; i < all->n; i++) {
		size_t at = n < max ? n : max - 1;

		if (all->list + i != via && !process_concerns(stop, all->list + i))
			continue;
		++*ret_n;
		if (n == max && !comes_before(stop, all->list + i, ret[at], via))
			continue;
		for (; at > 0 && comes_before(stop, all->list + i, ret[at - 1], via); at--)
			ret[at] = ret[at - 1];
		ret[at] = all->list + i;
		n += n < max;
	}
	return n;
}

/* Each end in a stop that init has heard is recorded: of what is not there any more and has none,
 * that was elsewhere. */
static bool has_left(const struct stop *stop)
{
	const struct processes *all = stop->processes;

	if (!all || all->missed || !stop->request->seen || stop_signal_unheard(stop->request) ||
	    stop->restarted || stop->shed || !stop->exit_seen ||
	    stop->exit_ns - stop->request->at_ns >= GRACED_OTHERS_NS)
		return false;
	for (size_t i = 0; i < all->n; i++)
		if (!all->list[i].end_ns)
			return true;
	return false;
}

static uint32_t list_gaps(const struct stop *stop, bool not_empty)
{
	bool more, looked = waits_looked(stop->waits, &more);
	uint32_t ret = 0;

	if (stop->processes && stop->processes->missed)
		ret |= 1u << LIST_GAP_MISSED;
	if (more || (stop->processes && processes_left_out(stop)))
		ret |= 1u << LIST_GAP_MORE;
	if (stop->request->seen && not_empty && !looked)
		ret |= 1u << LIST_GAP_NOT_LOOKED;
	if (!not_empty && has_left(stop))
		ret |= 1u << LIST_GAP_LEFT;
	return ret;
}

/* Those beside init, and whose end it passed on. */
static void fill_others(struct stops *stops, const struct stop *stop, struct record_stop *ret)
{
	const struct process *via, *list[RECORD_MEMBERS];
	const struct processes *all = stop->processes;
	uint32_t concerned;
	bool sure;
	size_t n;

	via = processes_via(stop, &sure);
	if (via)
		ret->via = (struct record_via){subject_process(&via->proc),
					       sure ? VIA_PASSED_ON : VIA_INFERRED};
	n = pick(stop, via, list, &concerned);
	if (!n)
		return;
	stops->members[0] = first_member(stop);
	for (size_t i = 0; i < n; i++)
		stops->members[i + 1] = member_of(stop, list[i]);
	ret->processes = stops->members;
	ret->n_processes = n + 1;
	ret->processes_other = concerned - (uint32_t)n + all->dropped + (uint32_t)all->n_left_out;
	ret->cut = all->dropped_cut;
	for (size_t i = 0; i < all->n; i++)
		ret->cut += process_is_cut(stop, all->list + i);
}

void stops_fill_members(struct stops *stops, const struct stop *stop, bool not_empty,
			struct record_stop *ret)
{
	ret->looks = waits_looks(stop->waits);
	ret->n_waited_for = waits_list(stop->waits, &ret->waited_for);
	ret->processes_gaps = list_gaps(stop, not_empty);
	if (stop->processes)
		fill_others(stops, stop, ret);
}
