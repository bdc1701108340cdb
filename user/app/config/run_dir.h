/* SPDX-License-Identifier: Apache-2.0 */
/* Where the daemon keeps what does not outlive the boot, and what does. */
#ifndef APP_CONFIG_RUN_DIR_H
#define APP_CONFIG_RUN_DIR_H

#include <limits.h>

#include "wire/json/control.h"

/* Unless the service manager made another place for it. */
#define RUNDIR	 "/run/graced"
#define STATEDIR "/var/lib/graced"

/* The first of RUNTIME_DIRECTORY and STATE_DIRECTORY that names a place which depends on where the
 * process began; NULL: none. */
const char *rundir_relative(void);

/* The path of what is called so in RUNTIME_DIRECTORY, or in RUNDIR. */
const char *rundir_path(const char *name, char buffer[static PATH_MAX]);
/* The same of STATE_DIRECTORY, or STATEDIR. */
const char *statedir_path(const char *name, char buffer[static PATH_MAX]);

#define CONTROL_SOCKET_NAME "control.sock"

/* Where a client reaches the daemon: given; else GRACED_CONTROL_SOCKET, if that is an absolute
 * path; else where the daemon makes its socket by default. */
const char *control_socket_path(const char *given, char buffer[static PATH_MAX]);

/* For commands that query the running daemon. */

/* Logs why the daemon did not answer the command, and what to do about it. socket is as it was
 * given, NULL for the default. */
void query_say(const char *command, const char *socket, int error, const struct control_why *why);

#endif
