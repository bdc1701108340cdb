// SPDX-License-Identifier: Apache-2.0
#include "core/stop/asked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop/audit.h"

#define SIGKILL_NR 9
#define SECOND	   1000000000ULL
/* A signal from inside of the container that comes that long before the request is a part of the
 * stop: of a preStop hook. */
#define HOOK_NS	   (60 * SECOND)

#define ACTION (GRACED_SIG_SHIELDED | GRACED_SIG_DFL | GRACED_SIG_IGN)

void asked_forget(struct cgmap *map, struct stop_signal *s)
{
	if (s->seen)
		sender_done(map, &s->sender);
	*s = (struct stop_signal){};
}

const struct stop_signal stop_no_signal;

static struct stop_signal *owned(const struct stop_signal *s)
{
	assert(s != &stop_no_signal);
	return (struct stop_signal *)s;
}

void asked_drop(struct cgmap *map, const struct stop_signal **s)
{
	if (*s != &stop_no_signal) {
		asked_forget(map, owned(*s));
		free(owned(*s));
	}
	*s = &stop_no_signal;
}

struct stop_signal *asked_want(struct stop *stop, const struct stop_signal **s)
{
	struct stop_signal *own = *s == &stop_no_signal ? calloc(1, sizeof(*own)) : owned(*s);

	stop->record_lost |= !own;
	*s = own ?: &stop_no_signal;
	return own;
}

void asked_clear(struct stop *stop)
{
	stop->request_sigs = stop->given_ns = 0;
	stop->hearing = 0;
	stop->deaf = stop->given_unknown = false;
}

void asked_forget_all(struct cgmap *map, struct stop *stop)
{
	struct stop_aside *aside = stop->aside;

	asked_drop(map, &stop->request);
	asked_drop(map, &stop->kill);
	if (!aside)
		return;
	asked_forget(map, &aside->candidate);
	asked_forget(map, &aside->inside);
	asked_forget(map, &aside->keeper);
	for (size_t i = 0; i < STOP_OTHERS; i++)
		asked_forget(map, &aside->others[i]);
	free(aside);
	stop->aside = NULL;
}

const struct stop_aside *stop_aside_of(const struct stop *stop)
{
	static const struct stop_aside none;

	return stop->aside ?: &none;
}

struct stop_aside *stop_want_aside(struct stop *stop)
{
	if (!stop->aside)
		stop->aside = calloc(1, sizeof(*stop->aside));
	stop->record_lost |= !stop->aside;
	return stop->aside;
}

void asked_take(struct cgmap *map, struct stop_signal *s, const struct obs_signal *sig,
		uint64_t at_ns, struct sender *sender)
{
	asked_forget(map, s);
	*s = (struct stop_signal){
		.seen = true,
		.number = sig->sig,
		.result = sig->result,
		.flags = sig->flags,
		.at_ns = at_ns,
		.shell = audit_is_shell(sig->target.exe, sig->target.comm),
		.sender = *sender,
	};
	memcpy(s->target_comm, sig->target.comm, sizeof(s->target_comm));
	sender->node = NULL;
}

/* --- the request --------------------------------------------------------------------------------
 */

/* The first ones and the last one stay. */
static void push_other(struct cgmap *map, struct stop *stop, struct stop_signal *s)
{
	struct stop_aside *aside = stop_want_aside(stop);
	size_t i = 0;

	if (!aside) {
		asked_forget(map, s);
		return;
	}
	while (i < STOP_OTHERS - 1 && aside->others[i].seen)
		i++;
	asked_forget(map, &aside->others[i]);
	aside->others[i] = *s;
	aside->n_others++;
	*s = (struct stop_signal){};
}

static void request_is(struct stop *stop, struct stop_signal *s)
{
	*owned(stop->request) = *s;
	stop->deaf = stop_deaf_to(s);
	stop->hearing &= STOP_DEAF_GRACE | STOP_IN_SHUTDOWN;
	stop->hearing |= s->shell ? STOP_SHELL : 0;
	*s = (struct stop_signal){};
}

/* A manager's request replaces one of another sender, and one that was heard one that was not. */
static bool replaces(const struct stop_signal *s, const struct stop_signal *request)
{
	if (!request->seen)
		return true;
	if (stop_signal_unheard(s) != stop_signal_unheard(request))
		return stop_signal_unheard(request);
	return s->sender.relation == RELATION_MANAGER &&
	       request->sender.relation != RELATION_MANAGER;
}

/* What was sent long before the first request is no part of the stop. */
static void forget_old(struct cgmap *map, struct stop_aside *aside, uint64_t at_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < STOP_OTHERS; i++) {
		struct stop_signal s = aside->others[i];

		aside->others[i] = (struct stop_signal){};
		if (s.seen && s.at_ns + HOOK_NS >= at_ns)
			aside->others[n++] = s;
		else
			asked_forget(map, &s);
	}
	aside->n_others = (uint32_t)n;
}

void asked_note(struct cgmap *map, struct stop *stop, const struct obs_signal *sig, uint64_t at_ns,
		struct sender *sender)
{
	struct stop_signal s = {};

	if (!stop->request->seen && stop->aside)
		forget_old(map, stop->aside, at_ns);
	asked_take(map, &s, sig, at_ns, sender);
	stop->request_sigs |= 1ULL << (sig->sig - 1);
	if (!replaces(&s, stop->request)) {
		push_other(map, stop, &s);
		return;
	}
	if (stop->request->seen)
		push_other(map, stop, owned(stop->request));
	request_is(stop, &s);
	stop->request_suppressed = stop->before.suppressed + sig->suppressed;
}

/* The request was dropped after all: another one that was heard is what the stop is judged by. */
static void choose_again(struct stop *stop)
{
	struct stop_signal *best = NULL, former;

	for (size_t i = 0; stop->aside && i < STOP_OTHERS; i++) {
		struct stop_signal *s = &stop->aside->others[i];

		if (s->seen && stop->request_sigs >> (s->number - 1) & 1 &&
		    asked_by(s->sender.relation) && !stop_signal_unheard(s) &&
		    (!best || s->at_ns < best->at_ns))
			best = s;
	}
	if (!best)
		return;
	former = *stop->request;
	request_is(stop, best);
	*best = former;
}

/* A later one replaces one of before, as a second stop follows on a first that lapsed. */
bool asked_note_candidate(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			  uint64_t at_ns, struct sender *sender)
{
	struct stop_aside *aside;

	if (sender->kind != SENDER_RUNTIME || sender->relation != RELATION_MANAGER ||
	    sig->result == RESULT_OVERFLOW || !stop_is_running(stop) || stop->state == STOP_KILLED)
		return false;
	aside = stop_want_aside(stop);
	if (!aside)
		return false;
	aside->suppressed = stop->before.suppressed + sig->suppressed;
	aside->numbers |= 1ULL << (sig->sig - 1);
	asked_take(map, &aside->candidate, sig, at_ns, sender);
	return true;
}

bool asked_by(enum relation from)
{
	return from == RELATION_SAME_POD || from == RELATION_OTHER_POD ||
	       from == RELATION_MANAGER || from == RELATION_HOST || from == RELATION_UNPLACED ||
	       from == RELATION_PARENT;
}

static bool is_inside(enum relation from)
{
	return from == RELATION_SAME_CONTAINER || from == RELATION_SELF;
}

void asked_note_inside(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
		       uint64_t at_ns, struct sender *sender)
{
	struct stop_aside *aside;

	if (!is_inside(sender->relation) || !stop_is_running(stop) ||
	    sig->result == RESULT_IGNORED || sig->result == RESULT_OVERFLOW)
		return;
	aside = stop_want_aside(stop);
	if (aside)
		asked_take(map, &aside->inside, sig, at_ns, sender);
}

/* SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGPWR and those of real time, without the
 * two that are libc's: programs end by these. */
#define ENDING_SET                                                                              \
	(1ULL << 0 | 1ULL << 1 | 1ULL << 2 | 1ULL << 9 | 1ULL << 11 | 1ULL << 14 | 1ULL << 29 | \
	 ~0ULL << 33)

void asked_note_beside(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
		       uint64_t at_ns, struct sender *sender)
{
	struct stop_signal s = {};

	if (!(ENDING_SET >> (sig->sig - 1) & 1) || !stop_is_running(stop) ||
	    sig->result == RESULT_OVERFLOW || sender->relation == RELATION_NONE ||
	    sender->relation == RELATION_SELF)
		return;
	if (!stop->request->seen && stop->aside)
		forget_old(map, stop->aside, at_ns);
	asked_take(map, &s, sig, at_ns, sender);
	push_other(map, stop, &s);
}

/* To a runtime's stop signal: what others sent, or another number, was not the stop. */
static bool yields(const struct stop_signal *request, uint32_t number)
{
	return !request->seen || request->number != number ||
	       request->sender.relation != RELATION_MANAGER;
}

static void candidate_is_request(struct cgmap *map, struct stop *stop, bool inferred)
{
	struct stop_aside *aside = stop->aside;

	asked_forget(map, owned(stop->request));
	aside->candidate.inferred = inferred;
	request_is(stop, &aside->candidate);
	stop->request_sigs = aside->numbers;
	stop->request_suppressed = aside->suppressed;
	/* This was of the request before. */
	stop->forward = (struct stop_forward){};
	stop->deliver_ns = stop->request->taken_ns;
}

bool stop_learn_signal(struct cgmap *map, struct stop *stop, uint32_t number, uint64_t now_ns)
{
	struct stop_aside *aside = stop->aside;
	const struct stop_signal *c = &stop_aside_of(stop)->candidate;
	bool is_last = c->number == number;
	bool is_request = is_last && c->seen && yields(stop->request, number) &&
			  now_ns < c->at_ns + stop_lapse_after_ns(stop) &&
			  asked_want(stop, &stop->request);

	if (!aside)
		return false;
	aside->numbers &= 1ULL << (number - 1);
	if (is_request) {
		candidate_is_request(map, stop, false);
		stop_advance(stop, STOP_EV_REQUEST);
	}
	/* An earlier one may have been the request: only its time and sender are lost. */
	if (is_last || !aside->numbers) {
		if (c->seen)
			push_other(map, stop, &aside->candidate);
		aside->numbers = 0;
	}
	return is_request;
}

void stop_infer_request(struct cgmap *map, struct stop *stop)
{
	const struct stop_signal *c = &stop_aside_of(stop)->candidate;

	if (stop->request->seen || !c->seen || !stop->kill->seen || !stop->exit_seen ||
	    unheard_by(c->number, c->result, c->flags, false) == UNHEARD_DEFAULT_IGNORE ||
	    (stop->status & 0x7f) != SIGKILL_NR || stop->kill->sender.kind != SENDER_RUNTIME ||
	    stop->kill->at_ns >= c->at_ns + stop_lapse_after_ns(stop) ||
	    !asked_want(stop, &stop->request))
		return;
	candidate_is_request(map, stop, true);
}

/* --- what became of them ------------------------------------------------------------------------
 */

#define SIGNALS_MAX (STOP_OTHERS + 3)

static size_t signals_of(struct stop *stop, struct stop_signal *ret[static SIGNALS_MAX])
{
	size_t n = 0;

	if (stop->request->seen)
		ret[n++] = owned(stop->request);
	if (!stop->aside)
		return n;
	ret[n++] = &stop->aside->inside;
	ret[n++] = &stop->aside->candidate;
	for (size_t i = 0; i < STOP_OTHERS; i++)
		ret[n++] = &stop->aside->others[i];
	return n;
}

static bool is_queued(const struct stop_signal *s, uint32_t number)
{
	return s->seen && s->number == number && !s->taken_ns && !s->dropped_ns && !s->passed &&
	       s->result != RESULT_IGNORED && s->result != RESULT_OVERFLOW;
}

/* A signal for the whole process is queued once: what was queued before has left the queue, and how
 * went unseen. */
void asked_queued(struct stop *stop, const struct obs_signal *sig)
{
	struct stop_signal *all[SIGNALS_MAX];
	size_t n = signals_of(stop, all);

	if (sig->result != RESULT_DELIVERED || !(sig->flags & GRACED_SIG_GROUP))
		return;
	for (size_t i = 0; i < n; i++)
		all[i]->passed |= is_queued(all[i], sig->sig);
}

static void note_taken(struct stop_signal *s, const struct obs_taken *taken, bool dropped,
		       uint64_t at_ns)
{
	if (!dropped) {
		s->taken_ns = at_ns;
		return;
	}
	s->dropped_ns = at_ns;
	s->flags = (s->flags & ~(uint32_t)ACTION) | (taken->flags & ACTION);
}

uint32_t stop_reraised(const struct stop *stop, uint32_t number, uint32_t flags)
{
	const struct stop_signal *request = stop->request;

	if (!request->seen || stop_signal_unheard(request) ||
	    unheard_by(number, RESULT_IGNORED, flags & STOP_SHIELD, false) != UNHEARD_NO_HANDLER)
		return 0;
	if (request->number == number)
		return STOP_RERAISED;
	return request->taken_ns ? STOP_RAISED_OTHER : 0;
}

void stop_taken(struct stop *stop, const struct obs_taken *taken, uint64_t at_ns)
{
	bool own = taken->flags & GRACED_TAKEN_OWN;
	bool dropped = taken->flags & GRACED_SIG_IGN || (taken->flags & STOP_SHIELD) == STOP_SHIELD;
	struct stop_signal *all[SIGNALS_MAX];
	size_t n = signals_of(stop, all);

	if (own && dropped)
		stop->hearing |= stop_reraised(stop, taken->sig, taken->flags);
	for (size_t i = 0; i < n; i++) {
		/* Two of a number that are pending at once are one. */
		if (!is_queued(all[i], taken->sig) ||
		    (own && all[i]->result != RESULT_ALREADY_PENDING &&
		     all[i]->sender.relation != RELATION_SELF))
			continue;
		note_taken(all[i], taken, dropped, at_ns);
	}
	if (!stop->request->dropped_ns)
		return;
	stop->deaf = stop_deaf_to(stop->request);
	choose_again(stop);
}

/* Heard, and so shortly before the request that it belongs to the stop. */
static bool is_of_stop(const struct stop *stop, const struct stop_signal *inside)
{
	return inside->seen && !stop_signal_unheard(inside) &&
	       inside->sender.relation != RELATION_SELF &&
	       inside->at_ns + HOOK_NS >= stop->request->at_ns;
}

/* Without a request what came beside matters where it may be why init exited: of the minute before
 * that. */
static bool is_of_exit(const struct stop *stop, const struct stop_signal *s)
{
	return s->seen &&
	       (stop->request->seen || (stop->exit_seen && s->at_ns + HOOK_NS >= stop->exit_ns));
}

static void insert(const struct stop_signal **list, size_t n, const struct stop_signal *s)
{
	for (; n && list[n - 1]->at_ns > s->at_ns; n--)
		list[n] = list[n - 1];
	list[n] = s;
}

size_t stop_requests(const struct stop *stop, const struct stop_signal *ret[STOP_REQUESTS],
		     uint32_t *ret_total)
{
	const struct stop_aside *aside = stop_aside_of(stop);
	size_t n = 0, old = 0;

	if (stop->request->seen)
		insert(ret, n++, stop->request);
	for (size_t i = 0; i < STOP_OTHERS; i++)
		if (is_of_exit(stop, aside->others + i))
			insert(ret, n, aside->others + i), n++;
		else
			old += aside->others[i].seen;
	*ret_total = n ? aside->n_others - (uint32_t)old + stop->request->seen : 0;
	if (stop->request->seen && is_of_stop(stop, &aside->inside)) {
		insert(ret, n, &aside->inside), n++;
		++*ret_total;
	}
	return n;
}

bool stop_sent_by_init(const struct stop *stop, const struct stop_signal *s)
{
	return s->sender.relation == RELATION_SAME_CONTAINER &&
	       s->sender.proc.pid == stop->init.pid;
}

const struct stop_signal *stop_passed_beside(const struct stop *stop, const struct stop_signal *s)
{
	const struct stop_aside *aside = stop_aside_of(stop);
	const struct stop_signal *ret = NULL;

	if (!stop_sent_by_init(stop, s))
		return NULL;
	for (size_t i = 0; i < STOP_OTHERS; i++) {
		const struct stop_signal *other = aside->others + i;

		if (other->seen && other->number == s->number && other->at_ns <= s->at_ns &&
		    other->at_ns + HOOK_NS >= s->at_ns && !stop_signal_unheard(other) &&
		    other->sender.relation != RELATION_KERNEL &&
		    (!ret || other->at_ns > ret->at_ns))
			ret = other;
	}
	return ret;
}

uint64_t stop_asked_ns(const struct stop *stop)
{
	const struct stop_signal *list[STOP_REQUESTS];
	uint32_t total;
	size_t n = stop_requests(stop, list, &total);

	for (size_t i = 0; i < n; i++)
		if (list[i]->taken_ns && list[i]->at_ns < stop->request->at_ns)
			return list[i]->at_ns;
	return stop->request->at_ns;
}
