/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process that a test needs to know. */
#ifndef TESTS_LIB_BOX_PEEK_H
#define TESTS_LIB_BOX_PEEK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* The number of the system call that libc's pause() makes: arm64 has no pause. */
#ifdef SYS_pause
#define PEEK_PAUSE SYS_pause
#else
#define PEEK_PAUSE SYS_ppoll
#endif

/* The start time in clock ticks as /proc/<pid>/stat has it (ns / 10^7 at 100 Hz); 0 if unknown. */
uint64_t peek_start_ticks(pid_t pid);

/*
 * Wait until a thread of the process is inside a system call (by number, SYS_…), at most 30
 * seconds. A process cannot say itself that it sleeps in sigtimedwait(2). 0 or -ETIMEDOUT.
 */
int peek_await_syscall(pid_t pid, long number);

/* Wait until the main thread of a process has ended, at most PATIENCE_S; others may go on. 0 or
 * -ETIMEDOUT. */
int peek_await_leader_gone(pid_t pid);

/* The parent of a process and its comm, from /proc. 0 or -ESRCH. */
int peek_parent(pid_t pid, pid_t *ret_parent, char ret_comm[16]);

/* The oldest child of a process; 0: it has none. */
pid_t peek_first_child(pid_t pid);

/* The pid a process has in its own namespace; pid itself when that cannot be read. */
pid_t peek_ns_pid(pid_t pid);

#endif
