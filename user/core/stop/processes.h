/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a container beside its init, as far as they matter for its stop: those that were
 * asked to stop in it, or ended in it, and those that ended shortly before init did. And what
 * follows from them: whose death init passed on, and which of them were cut.
 *
 * The kernel half says which of them it records: GRACED_OTHERS_NS in graced/event.h. Times are
 * nanoseconds of CLOCK_BOOTTIME.
 */
#ifndef CORE_STOP_PROCESSES_H
#define CORE_STOP_PROCESSES_H

#include "core/stop/stop.h"

/* How many are kept: of a stop, and while none is under way. */
#define PROCESSES_MAX	   64
#define PROCESSES_UNASKED  8
/* ... and of how many more their identity alone. */
#define PROCESSES_LEFT_OUT 256

struct process {
	struct graced_proc proc;  /* pid 0: none */
	uint32_t parent_pid;	  /* at its end, or when it was looked at; 0: not known */
	struct stop_signal asked; /* the first stop signal to it in this stop that was not ignored,
				   * else the first */
	struct stop_signal fatal; /* the last signal to it that is fatal by default */
	bool oom_victim;
	enum oom_level oom;	      /* UNKNOWN until it is known */
	uint64_t end_ns;	      /* 0: it lives, or its end was not seen */
	uint32_t status;	      /* raw wait status */
	bool entered;		      /* by exec or the like: its parent was outside at its end */
	bool helper;		      /* nobody has to ask it to stop, as the configuration says */
	enum disposition disposition; /* of the stop signal, when it was looked at */
};

struct process_left_out {
	uint32_t pid;
	uint64_t start_ns;
};

struct processes {
	size_t n, room;
	struct process *list;
	uint32_t dropped;     /* ended in this stop, and there was no room for them */
	uint32_t dropped_cut; /* ... and were cut */
	uint64_t dropped_ns;  /* when the last one that made way had ended, before init */
	size_t n_left_out;    /* which made way in this stop before their end was seen */
	struct process_left_out *left_out;
	bool more;	    /* live than there is room for */
	uint32_t missed;    /* as in graced_watch, at the last exit */
	uint64_t missed_ns; /* when that was found to have grown; 0: never */
};

/* Whether both are of one process: what /proc says of its start is cut to the tick. */
bool process_is_same(const struct graced_proc *a, const struct graced_proc *b);

/* A signal to one of them, its sender judged; asks: to stop. Takes over sender's reference. */
void processes_signalled(struct cgmap *map, struct stop *stop, const struct obs_signal *sig,
			 uint64_t at_ns, bool asks, struct sender *sender);
void processes_exited(struct cgmap *map, struct stop *stop, const struct obs_exit *exit,
		      uint64_t at_ns);
/* It lives, in a stop that was asked for. */
void processes_looked_at(struct stop *stop, const struct obs_look *look);
void processes_oom(struct cgmap *map, struct stop *stop, const struct graced_proc *victim,
		   enum oom_level level);
/* How many records of them were not made by then; an exit's record says that. */
void processes_missed(struct stop *stop, uint32_t missed, uint64_t at_ns);
void processes_forget(struct cgmap *map, struct stop *stop);

/*
 * The process whose death init passed on by its own status: 128 + the number of its signal, its
 * code, or the same signal that it sent itself; through others that did so, too. NULL: none.
 * *ret_sure: it was the last child that ended so, by what says that it is passed on, and no record
 * that may name another is missing.
 */
const struct process *processes_via(const struct stop *stop, bool *ret_sure);

/* Init, or the process whose code it passed on, is timeout(1) whose time was over, unasked: by its
 * name and code, as what it ended by a signal handled that, or was not seen to die of it. */
bool processes_timed_out(const struct stop *stop);

/* Its own parent, a process of its container, sent the signal that it died of. */
bool process_ended_by_parent(const struct process *p);

/* Whether a signal came after the request, from init or from another process that was asked to
 * stop. */
bool processes_passed_request(const struct stop *stop, const struct stop_signal *s);

/* What init passed its request to had ended by itself before init was killed. */
bool processes_outlived(const struct stop *stop);

/* The signal that ended it; NULL: it was not seen, or none did. */
const struct stop_signal *process_fatal(const struct process *p);

/* It was heard of since the request; without one, in the last second of init. */
bool process_concerns(const struct stop *stop, const struct process *p);

/* There were more than the list has room for, and how many is not known. */
bool processes_left_out(const struct stop *stop);

/* It, or the process that started it, was brought in by exec or the like. Known where init is
 * PID 1. */
bool process_is_entered(const struct stop *stop, const struct process *p);

/* It was killed after the stop began, before it had ended by itself. One that was brought in is not
 * the container's, and never cut; a helper is neither. */
bool process_is_cut(const struct stop *stop, const struct process *p);

#endif
