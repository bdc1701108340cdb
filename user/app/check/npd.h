/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What graced check -o npd prints for node-problem-detector, whose rules are those of its
 * pkg/custompluginmonitor/plugin/plugin.go: one line, of which it keeps max_output_length bytes,
 * and an exit status. The verdict is about this host's daemon. That this process lacks a right
 * is no problem of the daemon.
 */
#ifndef APP_CHECK_NPD_H
#define APP_CHECK_NPD_H

#include <stdbool.h>

#include "base/buf.h"

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
