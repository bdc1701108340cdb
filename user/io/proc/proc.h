/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes as /proc shows them. Parsing is split from reading: the parsers take any bytes. A
 * process chooses its own name, so nothing in these files but the numbers after it is trusted.
 */
#ifndef IO_PROC_PROC_H
#define IO_PROC_PROC_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/stop/audit.h"
#include "graced/event.h"
#include "wire/kernel/proc.h"

struct procfs_stat {
	char comm[GRACED_COMM_LEN];
	char state; /* 'R', 'S', 'Z' ... */
	uint32_t ppid;
	uint32_t pgrp;
	uint32_t flags;	   /* PF_... of the leader */
	uint64_t start_ns; /* CLOCK_BOOTTIME, cut to the clock tick (10 ms) */
	uint64_t cpu_ns;   /* user and system time of all threads, likewise */
	/* Where its program's code begins; 0: it has none, or that is being mapped; 1: it may not
	 * be read. */
	uint64_t code;
};

struct procfs_status {
	uint32_t uid;	   /* real */
	uint32_t ns_pid;   /* number in the innermost pid namespace */
	uint32_t ns_depth; /* pid namespaces it is in, seen from ours; 1 is ours alone */
};

/* A process as an init candidate. */
struct procfs_proc {
	struct graced_proc proc; /* watch_id is left 0 */
	uint32_t ppid;
	uint32_t pgrp;
	uint32_t ns_depth;
	bool exiting; /* with its last thread */
	bool stage;   /* of the runtime that makes the container */
	bool unexecd; /* runs a runtime's program and has yet to exec its own */
	bool execs;   /* an exec has replaced its program, and has yet to map the new one */
};

/* -EBADMSG for text that is not such a file. */
int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret);
int procfs_parse_status(const char *text, size_t len, struct procfs_status *ret);

/*
 * Whether an exec has replaced its program, and has yet to close its files: nothing but a stack is
 * mapped. Who reads its `syscall` then waits (exec_update_lock), and on Linux 6.18.44 also who
 * reads `stat`, `wchan` or its links: for good if the file system of such a file does not answer.
 * The functions below do not read these then.
 */
bool procfs_is_replaced(pid_t pid);

/* Of a thread; tid 0: of the process. -ESRCH: there is none; -EBUSY: procfs_is_replaced(). */
int procfs_stat(pid_t pid, pid_t tid, struct procfs_stat *ret);

/* -ESRCH: there is no such process; -EBUSY: procfs_is_replaced(). cgroup_id is copied into *ret. */
int procfs_read(pid_t pid, uint64_t cgroup_id, struct procfs_proc *ret);

/* The inode number of a process's pid namespace; 0: not known. */
ino_t procfs_pidns(pid_t pid);
/* How many levels above the process's own that pid namespace is. -ENOENT: it is in none of them. */
int procfs_pidns_above(pid_t pid, ino_t pidns);
/* The number of a process in that pid namespace; 0: it has none, or has gone. pidns 0: in its own.
 */
uint32_t procfs_ns_pid(const struct procfs_proc *p, ino_t pidns);

/* The keeper of an init, as graced_init has it, as far as its parent now shows: what makes
 * containers has left by the time that they are older than a moment. 0: not known. */
uint32_t procfs_keeper(const struct procfs_proc *init);

/* The target of /proc/PID/exe, "" when it may not be read. */
void procfs_exe(pid_t pid, char *ret, size_t size);
/*
 * Whether the program is in memory (memfd_create()), by the mount that it is on: its name may be
 * that of a file. No file system is asked, as a container's may never answer. -errno: unknown.
 */
int procfs_exe_in_memory(pid_t pid);

/* Whether the process pid that started at start_ns (cut to a tick or not) still has a thread that
 * is not on its way out. What cannot be read counts as running. */
bool procfs_alive(pid_t pid, uint64_t start_ns);
/* Whether a thread of it is on its way out, and none runs. Those that have ended are zombies, which
 * the leader may be long before the last. */
bool procfs_ends(pid_t pid);

/* Whether pid is the process that started at start_ns (cut to a tick or not), running or not. What
 * cannot be read is not. */
bool procfs_is_process(pid_t pid, uint64_t start_ns);

/* Whether pid is that of a thread, and not of the process that it belongs to. False also on kernels
 * before 5.3, which do not say so. */
bool procfs_is_thread(pid_t pid);

/*
 * Chooses the init among all processes of a container: PID 1 of its own pid namespace with its
 * parent outside (rank GRACED_INIT_PID1), unless an older process is in a namespace further up;
 * else the oldest (GRACED_INIT_GUESSED). Stages of a runtime are passed over, but for what is such
 * a PID 1 and only has to exec. NULL and rank GRACED_INIT_NONE when there is none. Sorts procs by
 * pid; the result points into them.
 */
const struct procfs_proc *procfs_choose_init(struct procfs_proc *procs, size_t n,
					     uint32_t *ret_rank);

/* The cgroup path of a process in one hierarchy (a v1 controller's name, NULL for the unified one),
 * out of the text of /proc/PID/cgroup. -ENOENT: not listed; -ENAMETOOLONG. */
int procfs_parse_cgroup(const char *text, const char *controller, char *ret, size_t size);

/* The same for a process. -ESRCH when it is gone. */
int procfs_cgroup_of(pid_t pid, const char *controller, char *ret, size_t size);

/* CapEff of the calling process, 0 when unknown. */
uint64_t procfs_own_capabilities(void);

/*
 * What a running process does about a signal, as /proc shows it now. Masks are there for everybody
 * to read; what a thread waits for and which files are open, for who may trace the process.
 */

/*
 * Fills in what the facts have of dispositions, threads, signalfds, a pending signal and a stopped
 * process, and leaves the rest alone. facts->signal and ->shielded are given. Reads signalfds only
 * when they would matter. Reads at most `most` threads beside the leader, and as many files; the
 * rest is marked as unread. -ESRCH: the process is gone; *facts may be half filled then.
 */
int procfs_sig_read(pid_t pid, uint32_t most, struct audit_facts *facts);
#define PROCFS_SIG_MOST (1u << 16) /* for a command that may take its time */

/* Whether the leader has a child; false also when that may not be read, or the kernel does not list
 * children (CONFIG_PROC_CHILDREN). */
bool procfs_has_child(pid_t pid);

/* The leader's. -ESRCH when it is gone. */
int procfs_sig_status(pid_t pid, struct procsig_status *ret);

/* Whether the leader sleeps until a child ends; false also when that may not be read. */
bool procfs_sig_awaits_child(pid_t pid);

/* How a process was started: by which arguments, with which variables. It may have changed both. */

/* The first bytes of its arguments, each with its NUL: how many. 0: there are none, or they may not
 * be read. */
size_t procfs_args(pid_t pid, char *ret, size_t size);

/* Whether a variable of the environment that it was started with begins with this, or is this where
 * that is a whole "NAME=VALUE". -errno: it may not be read. */
int procfs_has_variable(pid_t pid, const char *variable);

#endif
