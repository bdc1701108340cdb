/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container init (or service main process) on its way out: running, stop requested, killed,
 * exited, done. Facts come in, and at the end outcome_facts go out; the verdict itself is
 * core/stop/outcome's, names and reporting are the engine's.
 */
#ifndef CORE_STOP_STOP_H
#define CORE_STOP_STOP_H

#include <stddef.h>

#include "base/deadline.h"
#include "core/stop/grace.h"
#include "core/stop/sender.h"
#include "core/stop/unheard.h"
#include "core/waits/waits.h"

enum stop_state {
	STOP_IDLE, /* no init is known */
	STOP_RUNNING,
	STOP_REQUESTED, /* a request is open */
	STOP_KILLED,	/* a fatal SIGKILL was delivered */
	STOP_EXITED,	/* init is gone, processes may be left */
	STOP_REPORTED,	/* reported; the cgroup may not be empty yet */
	STOP_STATE_COUNT,
};

enum stop_event {
	STOP_EV_INIT,	 /* a process is init from now on */
	STOP_EV_REQUEST, /* a stop signal that counts */
	STOP_EV_KILL,	 /* a SIGKILL delivered to init */
	STOP_EV_LAPSE,	 /* the request is too old to explain anything */
	STOP_EV_EXIT,
	STOP_EV_REPORT, /* the verdict goes out */
	STOP_EV_EMPTY,
	STOP_EV_VOID, /* what left was no init after all */
	STOP_EVENT_COUNT,
};

struct stop_signal {
	bool seen;
	bool shell; /* init was a shell then */
	SHARED(stop_sent, sent);
	struct sender sender; /* holds a reference while seen */
};

/* All zero: none. */
extern const struct stop_signal stop_no_signal;

/* SIGTERM, SIGINT, SIGQUIT, SIGRTMIN+3: what stops a container whose own signal is not known. */
#define STOPS_SIGNAL_SET (1ULL << 14 | 1ULL << 1 | 1ULL << 2 | 1ULL << 36)

/* How many requests are kept beside the one that counts, and how many there are for a record. */
#define STOP_OTHERS   3
#define STOP_REQUESTS (STOP_OTHERS + 2)

/* What few stops have: signals that are no request, but may turn out to be why init exits, and what
 * holds an init that has exited. */
struct stop_aside {
	/* The last signal of a runtime that would be a request if it were the stop signal, sent
	 * while no source had provided which one that is. */
	struct stop_signal candidate;
	uint64_t numbers; /* of all candidates: bits 1 << (number - 1) */
	uint64_t suppressed;
	/* The last stop-set signal from its own container that init heard: docker exec … kill 1. */
	struct stop_signal inside;
	/* The requests beside the one that counts: the first ones, and the last. */
	struct stop_signal others[STOP_OTHERS];
	uint32_t n_others; /* how many there were */
	/* As in struct obs_probe. */
	struct graced_proc holder, holder_parent;
	struct stop_signal keeper; /* the SIGKILL that ended init's keeper */
};

/* How the request and what init made of it went, in struct stop's hearing. */
enum stop_hearing {
	STOP_SHELL = 1 << 0,	     /* init was a shell when it was asked */
	STOP_FORWARD_TAKEN = 1 << 2, /* a process did not ignore what init forwarded */
	STOP_UNTAKEN = 1 << 3,	     /* the signal was pending at the exit, and never taken */
	STOP_ENDS_BLOCKED = 1 << 4,  /* ... and blocked by the last thread */
	STOP_AWAITS_CHILD = 1 << 5,  /* init waited for the same child from then to its exit */
	STOP_RERAISED = 1 << 6,	     /* init took it, and sent it to itself again, in vain */
	STOP_ENDS_IGNORED = 1 << 7,  /* it was not pending at the exit, and ignored by then */
	STOP_FOLLOWED = 1 << 8,	     /* the kernel half says what became of the request */
	/* How init would have taken at its end what it had dropped. */
	STOP_LAST_DEFAULT = 1 << 9,
	STOP_LAST_IGNORED = 1 << 10,
	STOP_LAST_UNKNOWN = 1 << 11, /* only other signals were looked at */
	STOP_RAISED_OTHER = 1 << 12, /* init took it, and sent itself another one, in vain */
	STOP_CATCHES_LATER =
		1 << 13, /* a look after the request, or its end, shows a handler for it */
	/* These two last as long as the stop, whichever request counts. */
	STOP_DEAF_GRACE = 1 << 16,  /* graced kills it, since it cannot receive the signal */
	STOP_IN_SHUTDOWN = 1 << 17, /* the node's shutdown requested it */
};

/*
 * Whether an init that has exited waits for a process of its pid namespace, which another process
 * has to wait for (kernel/pid_namespace.c, zap_pid_ns_processes()). It is looked at twice, as that
 * lasts for a moment in each teardown.
 */
enum stop_held {
	STOP_HELD_UNASKED,
	STOP_HELD_ASKED,
	STOP_HELD_ONCE, /* the first look showed it */
	STOP_HELD_ASKED_AGAIN,
	STOP_HELD,
	STOP_HELD_ENDED, /* it was reported, and is held no longer: the record of that may be due */
	STOP_HELD_NOT,
};

struct stop {
	struct cgnode *node; /* a reference; NULL: a process outside every container */

	SHARED(kept_stop, saved);  /* what a checkpoint has of it */
	struct graced_proc former; /* was init before, in this cgroup; pid 0: none was */
	uint32_t keeper_pid;	   /* as in graced_init; 0: it has none, or that is not known */
	bool there;		   /* its cgroup was, and has not run empty since */
	uint64_t unseen_ns;	   /* a look found what no record said, see stops_on_counts() */
	bool unseen_asked;	   /* ... and the second look was asked for */
	bool empty_due;	  /* a look found it empty, the record of that is in the ring or lost */
	uint64_t idle_ns; /* since when its cgroup is known without an init, or is empty */

	const struct stop_signal *request, *kill; /* owned, or stop_no_signal; never NULL */
	struct stop_aside *aside;		  /* owned; NULL: nothing is aside */
	struct processes *processes; /* those beside init, owned; NULL: none is known */
	struct waits *waits;	     /* what it waited for, owned; NULL: it was not looked at */
	uint64_t unsure_from; /* of last_from, bits n-1: of before the restart, and perhaps not last
			       */
	struct graced_counts before; /* what was counted before the daemon was restarted */

	struct grace grace;    /* as reported last */
	uint64_t exec_ns;      /* init exec'd last, since it is the init; 0: never */
	uint64_t asked_ns;     /* counts were asked for; 0: not */
	uint64_t looked_ns;    /* when signalled_ns was so; 0: it is not known */
	uint64_t signalled_ns; /* others than init were last asked to stop, or ended; 0: never */
	enum stop_held held;
	bool base_known;      /* scope all: base is that of its first signal */
	uint64_t left_ns;     /* init was moved, and its cgroup is empty; 0: it was not */
	bool probed;	      /* init was found gone without an exit record */
	bool shedding;	      /* less is recorded of it now */
	bool unseen_lapsed;   /* late or blind, so long ago that no verdict can depend on it */
	bool kept;	      /* it was, and init was not found since */
	struct deadline wake; /* lapse, or the bound on waiting */
	uint64_t gone_ns; /* since when its cgroup is gone while its verdict or reap is due; 0: not */
	uint64_t waits_ns;	/* when a look at what it waits for was asked for; 0: not yet */
	bool looked_late;	/* one was after the kill */
	struct stop *next_over; /* of those that end with this step */
};

/* A new stop for node (a reference is taken; may be NULL). NULL: out of memory. */
struct stop *stop_new(struct cgnode *node);
struct stop *stop_free(struct cgmap *map, struct deadline_queue *queue, struct stop *stop);

/* The stop of a cgroup that is there; NULL. In one that is gone nothing happens any more. */
static inline struct stop *stop_in(const struct cgnode *node)
{
	return node && node->stop && !node->stop->gone_ns ? node->stop : NULL;
}

static inline struct stop *stop_of_wake(struct deadline *wake)
{
	return (struct stop *)((char *)wake - offsetof(struct stop, wake));
}

/*
 * Moves stop by event. False: the state does not expect the event, nothing changed, and the caller
 * counts it.
 */
bool stop_advance(struct stop *stop, enum stop_event event);

/* What is aside; all zero where nothing is. */
const struct stop_aside *stop_aside_of(const struct stop *stop);
/* The same, to note something. NULL without memory: the stop is marked to have lost a record. */
struct stop_aside *stop_want_aside(struct stop *stop);

/* Forgets the last init's life; the cgroup may be entered anew. */
void stop_begin(struct cgmap *map, struct stop *stop, const struct graced_proc *init,
		uint32_t rank);

/* The life goes on in another cgroup, whose stop is to: from has none any more. */
void stop_move(struct cgmap *map, struct stop *from, struct stop *to);

/*
 * A signal for init, its sender judged. Takes over sender's reference. Says whether it counts as a
 * request, a fatal kill, or only as the last of its number. set_known: a source has provided the
 * stop signal, so that no other number can be one.
 */
enum stop_note { STOP_NOTE_NONE, STOP_NOTE_REQUEST, STOP_NOTE_KILL, STOP_NOTE_UNEXPECTED };
enum stop_note stop_signalled(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			      uint64_t at_ns, uint64_t stop_set, bool set_known,
			      struct sender *sender);

/*
 * A source provides the container's stop signal: a candidate of that number becomes the request,
 * unless it has lapsed by now_ns or a manager's request of that number is open; the others were
 * none. True: a request is open that was not before.
 */
bool stop_learn_signal(struct cgmap *map, struct stop *stop, uint32_t number, uint64_t now_ns);

/*
 * For a verdict that is due: without a request, and killed by a runtime, the candidate is one, if
 * inferred.
 */
void stop_infer_request(struct cgmap *map, struct stop *stop);

/* The kernel drops what would end PID 1 of a pid namespace by its default action. */
#define STOP_SHIELD (GRACED_SIG_SHIELDED | GRACED_SIG_DFL)

/* Whether sig finds its target deaf: ignored under the shield of PID 1, and not by choice. */
bool stop_signal_deaf(const struct obs_signal *sig);

/* The kernel dropped it, when it was queued or when it was taken. */
bool stop_signal_unheard(const struct stop_signal *s);
/* ... since PID 1 has no handler for it, and was not about to end. */
bool stop_deaf_to(const struct stop_signal *s);

/* Whether a grace period began with it: a manager sent it, or who may be one. */
bool stop_has_grace(const struct stop_signal *request);

/* Whether a process is the keeper of the init that runs; a later one may have the same pid. */
bool stop_has_keeper(const struct stop *stop, const struct graced_proc *proc);

/* A SIGKILL ended that keeper. Takes over sender's reference. */
void stop_keeper_killed(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			uint64_t at_ns, struct sender *sender);

/* Init has taken a stop signal from its queue, to run a handler or for nothing. */
void stop_taken(struct stop *stop, const struct obs_taken *taken, uint64_t at_ns);

/*
 * STOP_RERAISED or STOP_RAISED_OTHER if the number, sent by init to itself with the default action
 * of PID 1 (flags as those of a signal), is to end it after a request that it has taken: node, su
 * and python send themselves that signal again, others another one. 0: it is not.
 */
uint32_t stop_reraised(const struct stop *stop, uint32_t number, uint32_t flags);

/* The requests of the stop, in their order, at most STOP_REQUESTS; total counts those that were
 * left out, too. */
size_t stop_requests(const struct stop *stop, const struct stop_signal *ret[STOP_REQUESTS],
		     uint32_t *ret_total);

/* Not by the kernel, as what the end of a thread of init has sent (PR_SET_PDEATHSIG). */
bool stop_sent_by_init(const struct stop *stop, const struct stop_signal *s);

/* What init was sent in the minute before it sent s, of that number, and which asked for no stop:
 * init passed it on. NULL: nothing was. */
const struct stop_signal *stop_passed_beside(const struct stop *stop, const struct stop_signal *s);

/* When init was asked: by the first request that it took, as far as that was seen, else by the one
 * that counts. */
uint64_t stop_asked_ns(const struct stop *stop);

/* What a look at a thread of init shows of how it would take the request now. */
void stop_looked_at(struct stop *stop, const struct obs_look *look);

/*
 * How long before the fault that ended it init raised SIGABRT in vain: PID 1 without a handler does
 * not get it, and abort(3) makes a fault then, within microseconds of CPU time. 0: it was no
 * abort().
 */
uint64_t stop_aborted_ns(const struct stop *stop);

/* The signal that ended init; 0: none. Where reboot(2) did, its parent sees another one. */
uint32_t stop_ended_by(const struct stop *stop);

/* Deaf to the request that counts, with the program that was there when it ended. */
bool stop_is_deaf(const struct stop *stop);

/* Why that signal was not acted on, as far as itself and what came later show. */
enum unheard stop_signal_reason(const struct stop *stop, const struct stop_signal *s);

/* Why the request that is open was not acted on, as far as that was observed. */
enum unheard stop_unheard(const struct stop *stop);

static inline bool stop_is_running(const struct stop *stop)
{
	return stop->state == STOP_RUNNING || stop->state == STOP_REQUESTED ||
	       stop->state == STOP_KILLED;
}

/*
 * Whether a life went by in an idle cgroup without a record of its init: processes ended in there,
 * and records about it were lost, or none of its processes was found to be the init.
 */
static inline bool stop_is_unseen_life(const struct stop *stop)
{
	return stop->state == STOP_IDLE && stop->counts.exits > stop->base.exits &&
	       (stop->init_unseen || stop->counts.lost > stop->base.lost);
}

/* Who sent the last signal of that number that acted. */
static inline enum relation stop_last_from(const struct stop *stop, uint32_t number)
{
	char digit = number >= 1 && number <= 64 ? stop->last_from[number - 1] : '\0';

	return digit ? (enum relation)(digit - '0') : RELATION_NONE;
}

/* What tells a life from others of its container: when init started, or since when it is the init
 * where that was not seen, or has a record already. */
static inline uint64_t stop_life_ns(const struct stop *stop)
{
	return stop->init.pid && !stop->again ? stop->init.start_ns : stop->since_ns;
}

/* Its verdict was reported, and that its init is reaped is still to be. */
static inline bool stop_is_held(const struct stop *stop)
{
	return (stop->state == STOP_IDLE || stop->state == STOP_REPORTED) &&
	       (stop->held == STOP_HELD || stop->held == STOP_HELD_ENDED);
}

/* Its cgroup has run empty, and what is to be reported of it is. */
static inline void stop_vacate(struct stop *stop, uint64_t at_ns)
{
	stop->idle_ns = at_ns;
	stop->base = stop->counts;
	stop->there = stop->init_unseen = false;
	stop->unseen_asked = stop->empty_due = false;
	stop->unseen_ns = 0;
}

/* It never exec'd, no signal asked it to stop, and only its exit made it look like the init. */
static inline bool stop_is_exit_guess(const struct stop *stop)
{
	return stop->guessed && !stop->late && !stop->request->seen && !stop->kill->seen;
}

/* What the kernel half has counted, which begins anew with each start of the daemon. */
void stop_count(struct stop *stop, const struct graced_counts *counts);

/* A record says how many about its cgroup were lost by then; counts may have come later. */
void stop_lost_by(struct stop *stop, uint64_t lost);

/* A signal that init sent to another process of its container. */
void stop_forwards(struct stop *stop, const struct obs_signal *sig, uint64_t at_ns);

/* Takes what the exit's record says; the state is the caller's to move. */
void stop_exited(struct stop *stop, const struct obs_exit *exit, uint64_t at_ns);

/* When an open request lapses: at + 2 x grace + 60 s; 10 minutes when the grace is unknown. */
uint64_t stop_lapse_after_ns(const struct stop *stop);
uint64_t stop_lapse_ns(const struct stop *stop);
void stop_lapse(struct cgmap *map, struct stop *stop);

/* Whether it runs unasked, and signals to it may have gone unseen that can still matter. */
static inline bool stop_awaits_lapse(const struct stop *stop)
{
	return stop->state == STOP_RUNNING && (stop->blind || (stop->late && !stop->unseen_lapsed));
}

/*
 * All signals to it were recorded since from_ns. What was sent before has lapsed as a request would
 * have by at_ns, unless one is open that may only have repeated it: the verdict does not depend on
 * it any more. True: it has lapsed now.
 */
bool stop_lapse_unseen(struct stop *stop, uint64_t from_ns, uint64_t at_ns);

/* Less is recorded of it from now on, or all again. */
void stop_shed(struct stop *stop, bool on);

/* What it was stopped by: the request; without one, the stop signal from its own container that it
 * heard within the minute before its exit, unless it was killed. NULL: neither was there. */
const struct stop_signal *stop_signal_of(const struct stop *stop);

/* Bits 1 << enum gap that follow from the facts alone. */
uint32_t stop_gaps(const struct stop *stop);

void stop_facts(const struct stop *stop, uint32_t gaps, struct outcome_facts *ret);

#endif
