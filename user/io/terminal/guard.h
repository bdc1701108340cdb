/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that brings a terminal back when the one that changed it dies without doing so, by
 * SIGKILL or a crash. It has no descriptor but the terminal and a pipe, whose end it waits for.
 *
 * The shell that takes the terminal over sets its modes, too: they are changed back only where they
 * are still those of the one that died.
 */
#ifndef IO_TERMINAL_GUARD_H
#define IO_TERMINAL_GUARD_H

#include <sys/types.h>
#include <termios.h>

struct guard {
	pid_t pid; /* 0: there is none */
	int fd;	   /* of the pipe */
};

/* was: the modes to bring back, set: those that are to be changed back, reset: what is written to
 * the terminal then. 0 or -errno. */
int guard_start(int terminal_fd, const struct termios *was, const struct termios *set,
		const char *reset, struct guard *ret);
/* The terminal is as it was: the process ends. No-op without one. */
void guard_end(struct guard *guard);

/* The terminal takes nothing, as after Ctrl-S: the process stays until it does, and brings it back
 * then. No-op without one. */
void guard_leave(struct guard *guard);

#endif
