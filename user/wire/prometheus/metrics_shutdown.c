// SPDX-License-Identifier: Apache-2.0
/* The families about shutdowns of the node. */
#include <inttypes.h>
#include <stdio.h>

#include "wire/prometheus/metrics_priv.h"

#define NS 9

static const char *const conditions[METRICS_READY_COUNT] = {
	[METRICS_READY_LOGIND] = "logind-reachable", [METRICS_READY_LOCK] = "lock-held",
	[METRICS_READY_DELAY] = "delay-enough",	     [METRICS_READY_UNPINNED] = "delay-not-pinned",
	[METRICS_READY_KUBELET] = "kubelet-config",  [METRICS_READY_GRACE] = "grace-fits",
};

static void add_lock(struct expo *expo, const struct metrics_shutdown *shutdown)
{
	static const struct expo_family
		held = {"graced_shutdown_inhibitor_held", EXPO_GAUGE, NULL,
			"Whether graced holds a delay lock of systemd-logind on shutdown, 1 or 0."},
		delay = {"graced_shutdown_delay_max_seconds", EXPO_GAUGE, "seconds",
			 "How long systemd-logind waits for delay locks on shutdown at most "
			 "(InhibitDelayMaxSec)."};

	expo_family(expo, &held);
	expo_u64(expo, NULL, 0, shutdown->held);
	expo_family(expo, &delay);
	if (shutdown->delay_max_ns)
		expo_decimal(expo, NULL, 0, shutdown->delay_max_ns, NS);
}

static void add_times(struct expo *expo, const struct metrics_shutdown *shutdown)
{
	static const struct expo_family
		start = {"graced_shutdown_start_time_seconds", EXPO_GAUGE, "seconds",
			 "Unix time at which systemd-logind announced the last shutdown of the node; 0: "
			 "none was announced."},
		end = {"graced_shutdown_end_time_seconds", EXPO_GAUGE, "seconds",
		       "Unix time at which graced released its lock in the last shutdown of the node, or "
		       "that was cancelled; 0: neither happened yet."};

	expo_family(expo, &start);
	expo_u64(expo, NULL, 0, shutdown->start_s > 0 ? (uint64_t)shutdown->start_s : 0);
	expo_family(expo, &end);
	expo_u64(expo, NULL, 0, shutdown->end_s > 0 ? (uint64_t)shutdown->end_s : 0);
}

static void add_pods(struct expo *expo, const struct metrics_shutdown *shutdown)
{
	static const struct expo_family family = {
		"graced_shutdown_pods", EXPO_GAUGE, NULL,
		"Pods in the node shutdown under way, by the lowest priority of the kubelet's shutdown group "
		"they are in and by state."};
	char priority[16];

	expo_family(expo, &family);
	for (size_t i = 0; i < shutdown->n_groups; i++) {
		const struct engine_shutdown_group *group = &shutdown->groups[i];

		snprintf(priority, sizeof(priority), "%" PRId32, group->priority);
		for (int state = 0; state < SHUTDOWN_POD_STATE_COUNT; state++) {
			struct expo_label labels[] = {
				{"group", priority},
				{"state", shutdown_pod_state_name((enum shutdown_pod_state)state)},
			};

			expo_u64(expo, labels, 2, group->pods[state]);
		}
	}
}

void metrics_add_shutdown(struct expo *expo, const struct metrics_shutdown *shutdown)
{
	static const struct expo_family ready = {
		"graced_shutdown_ready", EXPO_GAUGE, NULL,
		"Whether a condition for a graceful shutdown of the node holds, 1 or 0 (also while that is "
		"not known); absent where the condition does not apply."};

	if (!shutdown->on)
		return;
	add_lock(expo, shutdown);
	add_times(expo, shutdown);
	add_pods(expo, shutdown);
	expo_family(expo, &ready);
	for (int i = 0; i < METRICS_READY_COUNT; i++) {
		struct expo_label label = {"condition", conditions[i]};

		if (shutdown->ready[i] != METRICS_READY_ABSENT)
			expo_u64(expo, &label, 1, shutdown->ready[i] == METRICS_READY_YES);
	}
}
