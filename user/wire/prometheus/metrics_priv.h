/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the exposition, each a few families that belong together. */
#ifndef WIRE_PROMETHEUS_METRICS_PRIV_H
#define WIRE_PROMETHEUS_METRICS_PRIV_H

#include "wire/prometheus/exposition.h"
#include "wire/prometheus/metrics.h"

void metrics_add_series(struct expo *expo, const struct series *series);
void metrics_add_events(struct expo *expo, const struct metrics *metrics);
void metrics_add_programs(struct expo *expo, const struct metrics *metrics);
void metrics_add_pods(struct expo *expo, const struct metrics *metrics);
void metrics_add_shutdown(struct expo *expo, const struct metrics_shutdown *shutdown);
void metrics_add_cost(struct expo *expo, const struct metrics *metrics);

#endif
