/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check reports of shutdowns of the node. */
#ifndef APP_CHECK_CHECK_H
#define APP_CHECK_CHECK_H

#include <stdbool.h>

#include "app/config/config.h"
#include "app/config/shutdown.h"
#include "app/query/describe.h"
#include "base/buf.h"

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

/* What graced check reports of what is written to the API server. */

/* Asks the API server, for at most 3 s, whether it lets graced write what config has it write. */
void check_report(const struct config *config, check_line_fn fn, void *userdata);

/*
 * What graced check -o npd prints for node-problem-detector, whose rules are those of its
 * pkg/custompluginmonitor/plugin/plugin.go: one line, of which it keeps max_output_length bytes,
 * and an exit status. The verdict is about this host's daemon. That this process lacks a right
 * is no problem of the daemon.
 */

struct checknpd {
	int asked; /* what control_query() returned */
	unsigned int n_fail, n_warn;
	struct buf problem; /* the first failure; freed by checknpd_print() */
};

/* Whether the daemon runs: it answered, or refused to, as it does to processes of containers. */
bool checknpd_runs(int asked);

/* Counts a failure. The first is the one that the line has. */
void checknpd_fail(struct checknpd *npd, const char *name, const struct buf *text);

/* socket: where the daemon was asked. Returns the exit status: 0 where it runs, 1 where it does
 * not, 2 where that cannot be seen from here. */
int checknpd_print(struct checknpd *npd, const char *socket);

/* Prints that the settings cannot be read. Returns the exit status: 2. */
int checknpd_print_unknown(void);

#endif
