/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share that print until SIGINT or SIGTERM. The two are blocked (main() does that for
 * such commands), and a slow reader of the output never keeps them from ending it. */
#ifndef APP_COMMANDS_FOLLOW_H
#define APP_COMMANDS_FOLLOW_H

#include "base/buf.h"
#include "io/sinks/out.h"

/* A descriptor that is readable once one of them came; the caller closes it. -errno. */
int follow_open_stop(int *ret_fd);

/* For a command that prints once after all: they end it at once. */
void follow_release_signals(void);

/* Until a signal comes (-ECANCELED), the reader leaves (-EPIPE), the output is ready for events
 * (poll()) or the time is over. -1: it never is. */
int follow_wait(int stop_fd, const struct out *out, short events, int timeout_ms);

/* Writes the text. 0, the text's error, or as follow_wait(). */
int follow_put(int stop_fd, struct out *out, const struct buf *text);

#endif
