/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program as a container's: PID 1 of a pid namespace, in a cgroup, a session and a mount
 * namespace of its own, with its own /proc. All else is this host's. It ends with the thread that
 * started it.
 */
#ifndef IO_PROC_LAUNCH_H
#define IO_PROC_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

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
