// SPDX-License-Identifier: Apache-2.0
/* The families of series about containers. */
#include "core/series.h"

#include "wire/metrics_priv.h"

/* In the contract's order, section 4. */
static const struct expo_family families[SERIES_FAMILY_COUNT] = {
	[SERIES_STOP_DURATION] =
		{"graced_container_stop_duration_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time from a container's stop signal to the exit of its init, by outcome."},
	[SERIES_STOPS] = {"graced_container_stops", EXPO_COUNTER, NULL,
			  "Containers whose init left, asked or not, by outcome and cause."},
	[SERIES_GRACE_USED] =
		{"graced_container_grace_used_ratio", EXPO_HISTOGRAM, "ratio",
		 "Share of its grace period a stopping container used, above 1 where it overran."},
	[SERIES_DEAF_STOPS] = {"graced_container_deaf_stops", EXPO_COUNTER, NULL,
			       "Stops whose signal the container's init could not hear."},
	[SERIES_COLLATERAL_KILLS] =
		{"graced_collateral_kills", EXPO_COUNTER, NULL,
		 "Processes killed because the init of their pid namespace left."},
	[SERIES_OOM_KILLS] = {"graced_oom_kills", EXPO_COUNTER, NULL,
			      "Processes the OOM killer chose, by the level whose memory ran out."},
	[SERIES_POD_EMPTY] =
		{"graced_pod_empty_duration_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time from the exit of a pod's last container to its cgroups being empty."},
	[SERIES_POD_READY] =
		{"graced_pod_ready_while_terminating_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time a pod was still told to be Ready after the first stop signal of its end."},
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
}

void metrics_add_series(struct expo *expo, const struct series *series)
{
	for (int family = 0; family < SERIES_FAMILY_COUNT; family++) {
		expo_family(expo, &families[family]);
		series_each(series, (enum series_family)family, add_point, expo);
	}
}
