/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of a container wait for, as /proc shows it. No file system is asked: of a file
 * only the name is read; and of a process in uninterruptible sleep, what it does not have to be
 * waited for.
 */
#ifndef IO_PROC_LOOK_H
#define IO_PROC_LOOK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/look.h"
#include "graced/event.h"

/*
 * The connections that came to the sockets of a net namespace, read step by step: the kernel walks
 * all connections of the host for a table, which takes 5 ms and more.
 */
struct look_net;

/* NULL: out of memory. */
struct look_net *look_net_new(void);
/* Reads on in the tables of the namespace of pid. False: all were read. */
bool look_net_step(struct look_net *net, pid_t pid);
struct look_net *look_net_free(struct look_net *net);

/*
 * The leader of a process: what every look has. -ESRCH: it is gone, or a zombie. ret->id and
 * ret->waits are left to the caller. pidns: as for procfs_ns_pid().
 */
int look_process(pid_t pid, uint64_t cgroup_id, ino_t pidns, struct obs_look *ret);

/* Where one of its threads sleeps; tid 0: the leader. False: it is gone. */
bool look_thread(pid_t pid, pid_t tid, struct obs_look *ret);
/* The threads beside the leader, at most LOOK_THREADS. How many. */
size_t look_threads(pid_t pid, pid_t ret[static LOOK_THREADS]);

/* Whether one of its first files is a socket. */
bool look_has_socket(pid_t pid);

/* The connections that it holds, as far as its first files show. */
void look_clients(struct look_net *net, struct obs_look *look);

/* Whether it waits for the reader of a pipe; and which of these processes that is. */
bool look_is_piped(const struct obs_look *look);
void look_reader(const pid_t *pids, size_t n, struct obs_look *look);

/* Which process has the lock that it waits for, if that still has the file; none where threads of
 * it wait for several. */
void look_holder(struct obs_look *look);

/*
 * PID 1 of a pid namespace that exits waits for every process in there, also for one that joined it
 * and whose parent is outside: until that parent waits for it, PID 1 is no zombie, and its own
 * parent sees no exit (kernel/pid_namespace.c, zap_pid_ns_processes()).
 */

/* The process that is waited for, and its parent, which has to wait for it. */
struct held {
	uint32_t pid, parent_pid;
	char comm[GRACED_COMM_LEN], parent_comm[GRACED_COMM_LEN];
};

/* Whether the process that started at start_ns (0: whenever) is such a PID 1. */
bool held_is(uint32_t pid, uint64_t start_ns);

/* One of those that PID 1 waits for, a zombie before others. -ENOENT: none is to be seen. */
int held_find(uint32_t pid, struct held *ret);

/* Such a PID 1 of any namespace below ours; 0: there is none. */
uint32_t held_any(void);

#endif
