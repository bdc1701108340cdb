/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PID 1 of a pid namespace that exits waits for every process in there, also for one that joined it
 * and whose parent is outside: until that parent waits for it, PID 1 is no zombie, and its own
 * parent sees no exit (kernel/pid_namespace.c, zap_pid_ns_processes()).
 */
#ifndef IO_PROC_HELD_H
#define IO_PROC_HELD_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "graced/event.h"

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
