/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon costs, and keeping it within the budget: its own CPU time, and what the BPF
 * programs measure of theirs (bpf/cost.bpf.h). core/load/budget decides, and what it decides is
 * carried out and logged here.
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
