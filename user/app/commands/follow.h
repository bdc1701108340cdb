/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share that print until SIGINT or SIGTERM. The two are blocked (main() does that for
 * such commands), and a slow reader of the output never keeps them from ending it. */
#ifndef APP_COMMANDS_FOLLOW_H
#define APP_COMMANDS_FOLLOW_H

#include <stdbool.h>

#include "base/buf.h"
#include "io/sinks/out.h"

struct follow {
	int stop_fd; /* readable once one of them came */
	struct out *out;
};

/* False: it was said why. */
bool follow_open(struct follow *ret);
void follow_close(struct follow *follow);

/* For a command that prints once after all: they end it at once. */
void follow_release_signals(void);

/* Writes the text. 0, the text's error, -ECANCELED: a signal came, or -EPIPE: the reader left. */
int follow_put(const struct follow *follow, const struct buf *text);

/* Calls turn() each second, until that fails, a signal comes or the reader leaves. The exit status.
 * -EALREADY: it was said what is wrong. */
int follow_run(const struct follow *follow, int (*turn)(void *userdata), void *userdata);

#endif
