/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a running daemon over its control socket, and waits for all of the answer. */
#ifndef IO_CONTROL_CLIENT_H
#define IO_CONTROL_CLIENT_H

#include "wire/json/control.h"

struct control_answer {
	struct buf text; /* lines, each with its newline; fits buf_free() */
	uint64_t lines;
};

/*
 * Waits at most timeout_ms, and no longer than until stop_fd (-1: none) can be read: -ECANCELED.
 * 0 with the answer, which replaces what *ret held. -ENOENT, -ECONNREFUSED: no daemon is there.
 * -EACCES, -EPERM: this user may not ask. -ETIMEDOUT, -EBADMSG (also for an answer that was cut
 * short), -EPROTONOSUPPORT, -EREMOTEIO (what it said is in *ret_why), -EINVAL for a path that is
 * none; else -errno. *ret_why is filled whenever something failed.
 */
int control_ask(const char *path, enum control_command command, int timeout_ms, int stop_fd,
		struct control_answer *ret, struct control_why *ret_why);

#endif
