/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a look at a container that is being stopped shows: a thread for each OBS_LOOK, as /proc has
 * it, the leader of each process first; OBS_LOOKED ends them, with what the kernel counts of the
 * container's cgroups. The parts are read one after the other.
 */
#ifndef CORE_FACTS_LOOK_H
#define CORE_FACTS_LOOK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/words/words.h"
#include "graced/event.h"

/* How many processes a look reads; how many of them a look at what they wait for, and how many
 * threads of each. */
#define LOOK_PROCESSES	256
#define LOOK_WAITS	64
#define LOOK_THREADS	16
#define LOOK_WCHAN_SIZE 32
#define LOOK_FILE_SIZE	64

struct obs_look {
	uint64_t id;		 /* container */
	uint64_t begin_ns;	 /* of the look, CLOCK_BOOTTIME */
	struct graced_proc proc; /* start_ns is cut to the tick of /proc */
	uint32_t tid;		 /* of another thread than the leader; 0: the leader */
	uint32_t parent_pid;
	uint32_t state;			   /* the letter in /proc/PID/stat */
	uint64_t cpu_ns;		   /* user and system time of the process so far */
	uint64_t ignored, caught, blocked; /* signals: bit n-1 for signal n */
	/* What follows is read where waits are wanted, else 0. */
	bool waits;
	uint32_t call;		     /* enum look_call */
	char wchan[LOOK_WCHAN_SIZE]; /* where it sleeps in the kernel; "": it may not be read */
	/* What is behind the descriptor that it reads, writes or locks, as /proc/PID/fd has it. */
	char file[LOOK_FILE_SIZE];
	/* Who reads what it writes into a pipe, among the container's processes and the parent of
	 * its init; or holds the lock that it waits for. pid 0: not known. */
	uint32_t reader_pid;
	char reader_comm[GRACED_COMM_LEN];
	uint32_t tracer_pid;
	/* Established connections that came to the process, and the port of the first. */
	uint32_t clients, port;
};

/* Since the cgroup was made. 0 also for what the kernel does not count. */
struct look_figures {
	uint64_t throttled_ns;
	uint64_t forks_failed;
	uint64_t memory_stalled_ns, io_stalled_ns; /* all of its processes at once */
	uint64_t pids_max;			   /* 0: no limit */
};

struct obs_looked {
	uint64_t id;	   /* container */
	uint64_t begin_ns; /* CLOCK_BOOTTIME */
	bool failed;	   /* its processes could not be listed */
	bool more;	   /* there are more than LOOK_PROCESSES; with waits, LOOK_WAITS */
	bool waits;
	bool unread; /* which connections came to it was not read, for that takes time */
	bool frozen;
	struct look_figures figures;
};

#endif
