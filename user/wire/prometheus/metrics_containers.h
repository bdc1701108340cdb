/* SPDX-License-Identifier: Apache-2.0 */
/* The families that struct series counts. */
#ifndef WIRE_PROMETHEUS_METRICS_CONTAINERS_H
#define WIRE_PROMETHEUS_METRICS_CONTAINERS_H

#include "core/metrics/series.h"
#include "wire/prometheus/exposition.h"

/* Lines that do not depend on which containers there are. */
#define METRICS_CONTAINERS_LINES                         \
	(OUTCOME_COUNT + GAP_COUNT + UNHEARD_COUNT - 1 + \
	 SERIES_KILL_COUNT * (SENDER_UNKNOWN + 1) + POD_TRIGGER_COUNT)

void metrics_containers_write(struct expo *expo, const struct series *series);

/* What of them was counted under "_other", after all. */
void metrics_containers_write_absorbed(struct expo *expo, const struct series_stats *stats);

#endif
