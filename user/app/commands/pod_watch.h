/* SPDX-License-Identifier: Apache-2.0 */
/* `graced pods --watch`: asks the daemon again and again, and shows what has changed. */
#ifndef APP_COMMANDS_POD_WATCH_H
#define APP_COMMANDS_POD_WATCH_H

#include "app/commands/pod_list.h"
#include "app/config/options.h"

/* Asks once; *ret is an empty list. stop_fd ends the waiting (-ECANCELED), -1: nothing does.
 * -errno, with *ret_why filled. */
int podwatch_ask(const struct options *options, int stop_fd, struct podlist *ret,
		 struct control_why *ret_why);

/* Says why the daemon did not answer, and what to do about it. */
void podwatch_say(const struct options *options, int error, const struct control_why *why);

/* Shows an answer each second, until SIGINT, SIGTERM (which have to be blocked) or a reader that
 * leaves: on a terminal the whole table, else the rows that are new, changed or gone. The exit
 * status. */
int podwatch_run(const struct options *options);

#endif
