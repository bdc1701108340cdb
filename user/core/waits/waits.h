/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stop of a container waited for, by a few looks at it while it was under way: at half and
 * at nine tenths of its grace period, and once after its SIGKILL. A look is a moment: it shows what
 * a process did then, not that this is why the stop took so long.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME.
 */
#ifndef CORE_WAITS_WAITS_H
#define CORE_WAITS_WAITS_H

#include <stddef.h>

#include "core/facts/look.h"

/* How many a record has. */
#define WAITS_MAX 8

/* A process of a container, or all of it. */
struct wait {
	enum wait_for what;
	uint64_t at_ns; /* the last look that found it so */
	uint32_t looks; /* how many did */
	/* pid 0: the container. */
	uint32_t pid, ns_pid;
	char comm[GRACED_COMM_LEN];
	/* As in struct obs_look. */
	enum look_call call;
	char wchan[LOOK_WCHAN_SIZE];
	char file[LOOK_FILE_SIZE];
	uint32_t peer_pid; /* its reader, its tracer, or the only child that lives; 0: not known */
	char peer_comm[GRACED_COMM_LEN];
	uint32_t port;
	uint64_t count;	  /* children, connections or failed forks; 0: none of these */
	uint64_t limit;	  /* of processes; 0: none */
	uint64_t time_ns; /* throttled or stalled since the first look, CPU time since then */
};

/* In vfork(2), or posix_spawn(3): a thread waits until its child has exec'd or ended. */
bool wait_is_vfork(const struct wait *w);

/* What init made of the request, for what a look is worth. */
enum waits_init {
	WAITS_INIT_HEARD,
	WAITS_INIT_TAKEN,   /* it took it by a handler */
	WAITS_INIT_UNHEARD, /* it does not act on it */
	WAITS_INIT_KILLED,
};

struct waits;

/* When to look at what it waits for, after the look of last_ns (0: none yet) and before its kill;
 * 0: not again. grace_ns: 0 if it is not known; what is known later sets other times. */
uint64_t waits_next_ns(uint64_t last_ns, uint64_t asked_ns, uint64_t grace_ns);
/* When to look after its kill. */
#define WAITS_KILLED_NS 1000000000ULL

/* A thread, and the end of a look. *waits is made where it is NULL, and stays so without memory. */
void waits_take(struct waits **waits, const struct obs_look *look);
void waits_end(struct waits **waits, const struct obs_looked *looked, uint64_t at_ns,
	       uint32_t init_pid, enum waits_init init);
struct waits *waits_free(struct waits *waits);

/* How many looks there were, and what the stop waited for at the last one that found something, in
 * the order of enum wait_for. The list is owned by waits. */
uint32_t waits_looks(const struct waits *waits);
size_t waits_list(const struct waits *waits, const struct wait **ret);

/* It was looked at since the request, with waits or without; more: not at all of its processes. */
bool waits_looked(const struct waits *waits, bool *ret_more);

#endif
