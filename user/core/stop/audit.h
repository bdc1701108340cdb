/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a running container would react to its stop signal: facts of its init in, verdict out.
 *
 * The rules are the kernel's (kernel/signal.c). A signal from outside is sent to the leader of the
 * thread group. prepare_signal() drops it at once if the leader neither blocks it nor waits for it
 * and would ignore it: by SIG_IGN, or by SIG_DFL with the shield that the init of a pid namespace
 * has (SIGNAL_UNKILLABLE). Otherwise it is queued, and any thread that does not block it may take
 * it: for a handler, in a wait (rt_sigtimedwait), or for its default action, from which the shield
 * protects it on some kernels and not on others. While every thread blocks it, only a signalfd
 * takes it.
 *
 * Not judged: what a handler does once it runs, whether a signalfd is ever read, whether the
 * program changes its dispositions later. A thread is assumed to block what it waits for, as POSIX
 * demands; while it waits, the kernel shows its mask without that signal.
 */
#ifndef CORE_STOP_AUDIT_H
#define CORE_STOP_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/words/words.h"

/* Warnings about pairs of processes below the init (core/tree/pairs). */
#define AUDIT_PAIR_FIRST AUDIT_SHELL_BETWEEN
#define AUDIT_PAIRS	 (AUDIT_WARNING_COUNT - AUDIT_PAIR_FIRST)

/* One thread and the signal. */
enum audit_thread {
	AUDIT_OPEN,   /* does not block it */
	AUDIT_BLOCKS, /* blocks it and does not wait for it */
	AUDIT_WAITS,  /* waits for it */
	AUDIT_UNSURE, /* does not block it, or waits for it: not known */
	AUDIT_THREAD_COUNT,
};

/* How many threads that are awake are followed from look to look. */
#define AUDIT_AWAKE 4

struct audit_shell {
	bool is_shell; /* the init is one; else nothing else here counts */
	bool waits;    /* it is in a call that ends when a child does */
	bool in_front; /* it has a child */
	bool behind;   /* each of its children was started with & */
};

/* What a thread that was awake had done by a look; all zero: there was none, or it was asleep. */
struct audit_run {
	uint64_t ran_ns, sleeps;
	uint32_t tid;
};

/* The leader's, and those of the first other threads that were awake: one look needs what the one
 * before it had, or takes all of them for just woken. */
struct audit_runs {
	struct audit_run leader, others[AUDIT_AWAKE];
};

struct audit_facts {
	uint32_t signal; /* 1 to 64 */
	bool shielded;	 /* init of a pid namespace */
	enum audit_disposition disposition;
	enum audit_thread leader; /* by its mask, which counts also when it has left its threads */
	bool left;		  /* ... then one of these takes it */
	/* It does not block it and is not asleep; and since the last look, if there was one, it has
	 * not run, or has slept. In sigtimedwait(2) the kernel opens the mask for the wait: one
	 * that is woken there looks like that until it gets a CPU. */
	bool waking;
	/* How many other threads are awake and do not block it. waking_others: of these, how many
	 * may be waking like the leader, with all beyond AUDIT_AWAKE. */
	uint32_t awake, waking_others;
	struct audit_runs before, runs;	      /* of the last look, and of this one */
	uint32_t threads[AUDIT_THREAD_COUNT]; /* how many live ones, the leader with them */
	bool threads_unread;		      /* there are more, of which nothing is known */
	uint32_t spawning;     /* of those that do not: until a child has begun, as in vfork(2) */
	uint32_t passing;      /* of those that block it: not asleep, or for a time
				  (procsig_is_settled()) */
	bool calls_unread;     /* ... or what one of them does could not be seen */
	bool signalfds_unread; /* whether there are signalfds could not be seen */
	uint32_t signalfds;    /* with the signal in their mask */
	bool stopped, frozen, pending, guessed;
	bool child_ignores;  /* the child of an init that passes signals on */
	bool reraises;	     /* audit_reraises() */
	bool keeps_terminal; /* it ignores SIGTTOU, as a shell does that a person talks to */
	struct audit_shell shell;
	/* For an init that only keeps the container there (audit_is_placeholder()), or a shell
	 * whose children all do: the processes started in it otherwise, without their children. */
	uint32_t workers;
};

struct audit {
	enum audit_verdict verdict;
	enum audit_reason reason;
	uint32_t warnings; /* bits 1 << enum audit_warning */
};

/* What a thread is to a signal, by its mask of blocked ones and, when it does not block it, by what
 * it is doing. Masks have bit n-1 for signal n. */
enum audit_call {
	AUDIT_CALL_OTHER,   /* no wait for signals */
	AUDIT_CALL_WAIT,    /* rt_sigtimedwait for the signals in awaited */
	AUDIT_CALL_WAIT_ON, /* rt_sigtimedwait, but for which is not known */
	AUDIT_CALL_UNREAD,
};
enum audit_thread audit_thread_of(uint32_t signal, uint64_t blocked, enum audit_call call,
				  uint64_t awaited);

/* The disposition by /proc's masks of caught and ignored signals. */
enum audit_disposition audit_disposition_of(uint32_t signal, uint64_t caught, uint64_t ignored);

struct audit audit_judge(const struct audit_facts *facts);

/* Whether the signal would have no effect on the container: deaf or ignores. */
bool audit_is_deaf(const struct audit *audit);

/*
 * Whether an init is a stage of the runtime that makes its container: what it does about signals
 * says nothing of the program that is yet to come. comm and link, the target of /proc/PID/exe, are
 * a runtime's; in_memory says that the program is in memory and not a file of that name. A
 * container can imitate all of that by a program in memory, so that a stage is believed for
 * AUDIT_STAGE_NS after the process has started.
 */
#define AUDIT_STAGE_NS 10000000000ull
bool audit_is_starting(const char *comm, const char *link, bool in_memory, uint64_t age_ns);

/* What a program is called, by exe (the base name of the program, "" when it could not be seen) and
 * comm: the name of the file, but of one file with many programs its own. */
const char *audit_program_name(const char *exe, const char *comm);

/* Whether exe and comm, as above, are a shell's.
 * Busybox and toybox are one when they are called as one. */
bool audit_is_shell(const char *exe, const char *comm);

/* Whether exe and comm, as above, are of a program that does nothing for others: it shows a file,
 * or waits. As PID 1 it only keeps a container from ending. */
bool audit_is_placeholder(const char *exe, const char *comm);

/*
 * Whether exe, the base name of the program, is that of a language's runtime with a handler for the
 * signal that restores the default and raises it again: Node's SignalExit() (src/node.cc), for
 * SIGINT and SIGTERM. Masks do not show whether the application has replaced it.
 */
bool audit_reraises(const char *exe, uint32_t signal);

#endif
