/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for a person on stderr: one line each, without control characters. In the daemon, once
 * its log is set up, they are errors in the log.
 */
#ifndef APP_LOG_SAY_H
#define APP_LOG_SAY_H

#include <stdarg.h>
#include <stdbool.h>

#include "app/log/log.h"

/* "graced: <text>" */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "graced COMMAND: <text>" */
void say_as(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Wrong use: says it as `graced COMMAND: <text>; see graced COMMAND --help` and returns the exit
 * status for it, 2. */
int say_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True in the host's pid namespace. Else says that the command, like "audit", needs it. */
bool say_host_pids(const char *command);

/* What a library says for who debugs it: as it is, or line by line in the log. */
void say_debug(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
