/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check reports of shutdowns of the node. */
#ifndef APP_CHECK_SHUTDOWN_H
#define APP_CHECK_SHUTDOWN_H

#include <stdbool.h>

#include "app/query/describe.h"
#include "app/config/config.h"
#include "app/config/kubelet_file.h"

/* A line: what it is about, and what to do about it; hint NULL: nothing, it is all right. The
 * strings are valid during the call. */
typedef void (*check_line_fn)(void *userdata, const char *name, const char *hint, const char *text);

/* By whose rules pods are stopped. */
struct check_rules {
	const struct config_shutdown *options; /* graced's own */
	const struct kubeletfile *kubelet;
};

/* Judges the configuration of graced and of the kubelet, and queries logind, for at most 3 s.
 * Nothing is changed. */
void check_shutdown(const struct check_rules *rules, check_line_fn fn, void *userdata);

/* Checks the grace of the pods that sources provided; no line without pods or groups. */
void check_grace(const struct describe *describe, const struct check_rules *rules, check_line_fn fn,
		 void *userdata);

#endif
