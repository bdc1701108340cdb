/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that do one thing for the daemon which it must not do itself, since it takes long or
 * since its input is hostile: forked, without privileges, sharing nothing with the daemon but one
 * end of a socket pair.
 */
#ifndef IO_PROC_CHILD_H
#define IO_PROC_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* For child_stop(), or for the caller to wait for pid and to close fd. All zero: none. */
struct child {
	pid_t pid;
	int fd; /* SOCK_SEQPACKET */
};

/*
 * What the child does; its end of the pair is descriptor 0, and no other one is open. confined:
 * whether it has given up its capabilities and the memory shared with the daemon. Ends by
 * child_end().
 */
typedef void (*child_fn)(void *userdata, bool confined);

/* Forks; name is that of the process. The child dies with the thread that started it. 0 or -errno. */
int child_start(const char *name, child_fn run, void *userdata, struct child *ret);

/* As child_start(), of a child that needs its privileges: it is called unconfined, and reads input
 * that is more hostile than the caller's after child_confine() alone. Its standard output and error
 * go nowhere. */
int child_start_privileged(const char *name, child_fn run, void *userdata, struct child *ret);

/* Gives up, in a child, what one that is called confined has given up. False: it could not. */
bool child_confine(void);

/*
 * Ends it by SIGKILL and waits for that, 2 s at most: one that waits for a disk ends later, and
 * is a zombie until its parent ends. Does nothing to one that is all zero, as it leaves it.
 */
void child_stop(struct child *child);

/* As closefrom(), which glibc has since 2.34. */
void child_close_from(int first);

/* Without flushing what the daemon had buffered. */
_Noreturn void child_end(int status);

#endif
