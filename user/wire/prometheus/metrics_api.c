// SPDX-License-Identifier: Apache-2.0
/* Exposes the counts, each with its result. */
#include "wire/prometheus/metrics.h"

static void add_events(struct expo *expo, const struct api_events *events)
{
	static const struct expo_family family = {
		"graced_api_events", EXPO_COUNTER, NULL,
		"Events for Kubernetes that were created, updated (it happened again), dropped (there "
		"were too many), refused by the API server, or expired (it did not answer)."};
	static const char *const results[API_EVENT_COUNT] = {
		[API_EVENT_CREATED] = "created", [API_EVENT_UPDATED] = "updated",
		[API_EVENT_DROPPED] = "dropped", [API_EVENT_REFUSED] = "refused",
		[API_EVENT_EXPIRED] = "expired",
	};

	if (!events->on)
		return;
	expo_family(expo, &family);
	for (int i = 0; i < API_EVENT_COUNT; i++) {
		struct expo_label label = {"result", results[i]};

		expo_u64(expo, &label, 1, events->results[i]);
	}
}

static void add_writes(struct expo *expo, const struct shutdown_statuses *counts)
{
	static const struct expo_family family = {
		"graced_api_status_writes", EXPO_COUNTER, NULL,
		"Attempts to write the last status of a pod in a shutdown: written, already-there (another "
		"has), gone (the object is), conflict (attempted again), refused, or gave-up (the API "
		"server did not decide in time)."};

	expo_family(expo, &family);
	for (int i = 0; i < SHUTDOWN_WRITE_COUNT; i++) {
		struct expo_label label = {"result", shutdown_write_name((enum shutdown_write)i)};

		expo_u64(expo, &label, 1, counts->writes[i]);
	}
}

static void add_withheld(struct expo *expo, const struct shutdown_statuses *counts)
{
	static const struct expo_family family = {
		"graced_api_status_withheld", EXPO_COUNTER, NULL,
		"Pods whose last status was not written when the lock was released: alive, records-lost, "
		"unnamed, kubelet (it may still write, or start containers), or late."};

	expo_family(expo, &family);
	for (int i = 0; i < SHUTDOWN_WITHHELD_COUNT; i++) {
		struct expo_label label = {"reason",
					   shutdown_withheld_name((enum shutdown_withheld)i)};

		expo_u64(expo, &label, 1, counts->withheld[i]);
	}
}

void metrics_api_write(struct expo *expo, const struct api_metrics *api)
{
	add_events(expo, &api->events);
	if (!api->statuses.on)
		return;
	add_writes(expo, &api->statuses.counts);
	add_withheld(expo, &api->statuses.counts);
}
