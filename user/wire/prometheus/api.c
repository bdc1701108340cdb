// SPDX-License-Identifier: Apache-2.0
/* Exposes the counts, each with its result. */
#include "wire/prometheus/api.h"

void api_add_events(struct expo *expo, const struct api_events *events)
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
