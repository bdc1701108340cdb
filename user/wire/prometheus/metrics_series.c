// SPDX-License-Identifier: Apache-2.0
/* The families of series about containers. */
#include "core/metrics/series.h"

#include "wire/prometheus/metrics_priv.h"

static const struct expo_family families[SERIES_FAMILY_COUNT] = {
	[SERIES_STOP_DURATION] =
		{"graced_container_stop_duration_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time from a container's stop signal to the exit of its init, by the stop's outcome."},
	[SERIES_STOPS] =
		{"graced_container_stops", EXPO_COUNTER, NULL,
		 "Exits of containers' init processes, with or without a stop signal, by outcome "
		 "and cause."},
	[SERIES_GRACE_USED] =
		{"graced_container_grace_used_ratio", EXPO_HISTOGRAM, "ratio",
		 "Time from a container's stop signal to the exit of its init, divided by its grace "
		 "period; above 1 it overran."},
	[SERIES_DEAF_STOPS] = {"graced_container_deaf_stops", EXPO_COUNTER, NULL,
			       "Stops of containers whose init was deaf to the stop signal: PID 1 "
			       "without a handler for it, so that the kernel dropped it."},
	[SERIES_COLLATERAL_KILLS] =
		{"graced_collateral_kills", EXPO_COUNTER, NULL,
		 "Processes of containers that the kernel killed because the init of their pid "
		 "namespace exited."},
	[SERIES_OOM_KILLS] =
		{"graced_oom_kills", EXPO_COUNTER, NULL,
		 "Processes of containers that the OOM killer killed, by whose memory ran "
		 "out: the container's, its pod's, the node's."},
	[SERIES_POD_EMPTY] =
		{"graced_pod_empty_duration_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time from the exit of a pod's last container to the moment when no process is left "
		 "in the pod's cgroups."},
	[SERIES_POD_READY] =
		{"graced_pod_ready_while_terminating_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time that the API reported a terminating pod as Ready after the first stop signal to "
		 "one of its containers."},
};

static void add_point(void *userdata, const struct series_point *point)
{
	struct expo *expo = userdata;
	struct expo_label labels[5] = {
		{"namespace", point->namespace_},
		{"workload", point->workload},
	};
	size_t n = 2;

	if (point->container)
		labels[n++] = (struct expo_label){"container", point->container};
	if (point->outcome)
		labels[n++] = (struct expo_label){"outcome", point->outcome};
	if (point->cause)
		labels[n++] = (struct expo_label){"cause", point->cause};
	if (point->level)
		labels[n++] = (struct expo_label){"level", point->level};
	if (point->histogram)
		expo_histogram(expo, labels, n, point->histogram, point->bounds);
	else
		expo_u64(expo, labels, n, point->value);
	expo_created(expo, labels, n, point->created_wall_ns);
}

static void add_incomplete(struct expo *expo, const struct series *series)
{
	static const struct expo_family family = {
		"graced_stops_incomplete", EXPO_COUNTER, NULL,
		"Stops whose evidence has a gap, by gap: those in graced_container_stops_total, each "
		"under all of its gaps, and of guessed sandboxes, which are not in there, under "
		"sandbox-guessed alone."};
	struct series_stats stats;

	series_get_stats(series, &stats);
	expo_family(expo, &family);
	for (int gap = 0; gap < GAP_COUNT; gap++) {
		struct expo_label label = {"gap", gap_name((enum gap)gap)};

		expo_u64(expo, &label, 1, stats.incomplete[gap]);
	}
}

/* A line for each reason from the start, and none for each container. */
static void add_unheard(struct expo *expo, const struct series *series)
{
	static const struct expo_family family = {
		"graced_unheard_stops", EXPO_COUNTER, NULL,
		"Stops in graced_container_stops_total whose stop signal was not acted on, by "
		"why."};
	struct series_stats stats;

	series_get_stats(series, &stats);
	expo_family(expo, &family);
	for (int reason = UNHEARD_NONE + 1; reason < UNHEARD_COUNT; reason++) {
		struct expo_label label = {"reason", unheard_name((enum unheard)reason)};

		expo_u64(expo, &label, 1, stats.unheard[reason]);
	}
}

void metrics_add_series(struct expo *expo, const struct series *series)
{
	for (int family = 0; family < SERIES_FAMILY_COUNT; family++) {
		expo_family(expo, &families[family]);
		series_each(series, (enum series_family)family, add_point, expo);
	}
	add_incomplete(expo, series);
	add_unheard(expo, series);
}
