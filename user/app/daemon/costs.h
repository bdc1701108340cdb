/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon costs, and keeping it within the budget. The kernel's statistics of BPF run time
 * slow every BPF program of the node down a little, so they are on for a tenth of each second only
 * and scaled up; core/load/budget decides, and what it decides is carried out and logged here.
 */
#ifndef APP_DAEMON_COSTS_H
#define APP_DAEMON_COSTS_H

#include "wire/prometheus/metrics.h"

struct costs;
struct daemon;

/* Starts to measure. -errno, logged. The caller frees, before the monitor's sources are closed. */
int costs_new(struct daemon *daemon, struct costs **ret);
struct costs *costs_free(struct costs *costs);

/* Takes over the budget of the configuration. */
void costs_reload(struct costs *costs);

/* Fills the programs, which ret borrows, and what concerns the overhead and what was shed. */
void costs_get_metrics(struct costs *costs, struct metrics *ret);

#endif
