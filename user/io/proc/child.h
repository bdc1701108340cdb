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

/*
 * Starts a program as a container's: PID 1 of a pid namespace, in a cgroup, a session and a mount
 * namespace of its own, with its own /proc. All else is this host's. It ends with the thread that
 * started it.
 */

struct launch_spec {
	const char *cgroup; /* directory */
	const char *file;   /* the program, looked up in PATH */
	char *const *argv;  /* NULL-ended */
};

/* The descriptors do not block, and are the caller's to close. */
struct launch {
	pid_t pid;  /* the caller's child */
	int output; /* what it writes to its standard output and error */
	int report; /* ends when it is started, and has its launch_failure before that if it fails */
	int proc;   /* its own /proc, from launch_open_proc() on; -1 */
};

struct launch_failure {
	enum launch_step { LAUNCH_SETUP, LAUNCH_PROC, LAUNCH_EXEC } step;
	int error; /* errno */
};

/* 0 or -errno. */
int launch_start(const struct launch_spec *spec, struct launch *ret);
/* Once it is started, and before it may have put something else there. */
void launch_open_proc(struct launch *launch);
/* Whether a process of its pid namespace, or of one below, runs in a cgroup of that hierarchy (a
 * v1 controller's name, NULL for the unified one) whose path has not this name. */
bool launch_has_elsewhere(const struct launch *launch, const char *controller, const char *name);
/* SIGKILL to all of it, and waits until it has ended, 10 s at most: false, it has not. */
bool launch_kill(struct launch *launch);

#endif
