/* SPDX-License-Identifier: Apache-2.0 */
/* For commands that query the running daemon. */
#ifndef APP_QUERY_ASK_H
#define APP_QUERY_ASK_H

#include "wire/json/control.h"

/* Logs why the daemon did not answer the command, and what to do about it. socket is as it was
 * given, NULL for the default. */
void query_say(const char *command, const char *socket, int error, const struct control_why *why);

#endif
