/* SPDX-License-Identifier: Apache-2.0 */
/* What the program tells a person on stderr: one line each, no control characters. */
#ifndef APP_SAY_H
#define APP_SAY_H

/* "graced: <text>" */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Wrong use: says it as `graced COMMAND: <text>; see graced COMMAND --help` and returns the exit
 * status for it, 2. */
int say_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
