/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check tells of shutdowns of the node. */
#ifndef APP_CHECK_SHUTDOWN_H
#define APP_CHECK_SHUTDOWN_H

#include <stdbool.h>

/* The newest kubelet's rules: groups take as long by all of them. */
#define CHECK_SHUTDOWN_MINOR 36

/* A line: what it is about, and whether it is all right. text is valid during the call. */
typedef void (*check_shutdown_fn)(void *userdata, bool ok, const char *name, const char *text);

/* Asks logind, for at most 3 s. Nothing is changed. */
void check_shutdown(check_shutdown_fn fn, void *userdata);

#endif
