/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the requests that change something at the API server. */
#ifndef WIRE_PROMETHEUS_API_H
#define WIRE_PROMETHEUS_API_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shutdown/shutdown.h"
#include "wire/prometheus/exposition.h"

enum api_event {
	API_EVENT_CREATED,
	API_EVENT_UPDATED, /* the count of one was written */
	API_EVENT_DROPPED, /* beyond the limit */
	API_EVENT_REFUSED, /* by the server */
	API_EVENT_EXPIRED, /* the server did not answer in time */
	API_EVENT_COUNT,
};

/* Events in Kubernetes, and updates of their counts. */
struct api_events {
	bool on; /* false: none are written, left out */
	uint64_t results[API_EVENT_COUNT];
};

/* The last status of pods. */
struct api_statuses {
	bool on; /* false: none are written, left out */
	struct shutdown_statuses counts;
};

/* All that is written to the API server. */
struct api_metrics {
	struct api_events events;
	struct api_statuses statuses;
};

void api_add(struct expo *expo, const struct api_metrics *api);

#endif
