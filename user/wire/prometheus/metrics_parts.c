// SPDX-License-Identifier: Apache-2.0
/* The families of containers and of how they stopped. */
#include "wire/prometheus/metrics.h"

#define LABELS_MAX 6

static const struct expo_family container_families[SERIES_FAMILY_COUNT] = {
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
	[SERIES_CUT] = {"graced_container_cut_processes", EXPO_COUNTER, NULL,
			"Processes of containers that were killed after the stop signal though their "
			"init ended well: most had not been asked to stop."},
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
	[SERIES_RESTARTS] =
		{"graced_container_requested_restarts", EXPO_COUNTER, NULL,
		 "Containers that their runtime was asked to stop while their pod went on, and that "
		 "were made again, by whether they have a liveness or startup probe."},
	[SERIES_HEARS] =
		{"graced_container_hears", EXPO_GAUGE, NULL,
		 "Whether a running container would react to its stop signal: 1, it would, by "
		 "the reason how; 0, it is deaf, by the reason why. Absent where that is not "
		 "known; of several of one name the worst."},
	[SERIES_WORKLOAD] =
		{"graced_workload_info", EXPO_GAUGE, NULL,
		 "1; what kind of thing the workload is, where that is known: to join with."},
};

static void add_point(void *userdata, const struct series_point *point)
{
	struct expo *expo = userdata;
	struct expo_label labels[LABELS_MAX] = {
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
	if (point->probe)
		labels[n++] = (struct expo_label){"probe", point->probe};
	if (point->kind)
		labels[n++] = (struct expo_label){"kind", point->kind};
	if (point->reason)
		labels[n++] = (struct expo_label){"reason", point->reason};
	if (point->histogram)
		expo_histogram(expo, labels, n,
			       &(struct expo_histogram){point->histogram, point->bounds,
							point->exemplars, point->created_wall_ns});
	else
		expo_counter(expo, labels, n, point->value, point->created_wall_ns);
}

/* A line for each outcome from the start, so that a query about all containers reads only these. */
static void add_stops(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_stops", EXPO_COUNTER, NULL,
		"Stops in graced_container_stops_total, of all containers together, by outcome."};

	expo_family(expo, &family);
	for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++)
		expo_count(expo, "outcome", outcome_name((enum outcome)outcome),
			   stats->stops[outcome]);
}

static void add_incomplete(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_stops_incomplete", EXPO_COUNTER, NULL,
		"Stops whose evidence has a gap, by gap: those in graced_container_stops_total, each "
		"under all of its gaps, and of guessed sandboxes, which are not in there, under "
		"sandbox-guessed alone."};

	expo_family(expo, &family);
	for (int gap = 0; gap < GAP_COUNT; gap++)
		expo_count(expo, "gap", gap_name((enum gap)gap), stats->incomplete[gap]);
}

/* A line for each reason from the start, and none for each container. */
static void add_unheard(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_unheard_stops", EXPO_COUNTER, NULL,
		"Stops in graced_container_stops_total whose stop signal was not acted on, by "
		"why."};

	expo_family(expo, &family);
	for (int reason = UNHEARD_NONE + 1; reason < UNHEARD_COUNT; reason++)
		expo_count(expo, "reason", unheard_name((enum unheard)reason),
			   stats->unheard[reason]);
}

/* Each pair from the start: a first event is seen. */
static void add_kills(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_kills", EXPO_COUNTER, NULL,
		"Stops in graced_container_stops_total with outcome killed, by cause and by what "
		"sent the SIGKILL."};

	expo_family(expo, &family);
	for (int kill = 0; kill < SERIES_KILL_COUNT; kill++) {
		for (int sender = 0; sender <= SENDER_UNKNOWN; sender++) {
			const char *name = sender_kind_name((enum sender_kind)sender);
			const struct expo_label labels[] = {
				{"cause", cause_name(series_kill_cause((enum series_kill)kill))},
				{"sender", name ? name : "unknown"},
			};

			expo_u64(expo, labels, 2, stats->kills[kill][sender]);
		}
	}
}

static void add_terminations(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_pod_terminations", EXPO_COUNTER, NULL,
		"Pods that began to terminate, by what triggered it."};

	expo_family(expo, &family);
	for (int trigger = POD_TRIGGER_NONE; trigger < POD_TRIGGER_COUNT; trigger++) {
		const char *name = pod_trigger_name((enum pod_trigger)trigger);

		expo_count(expo, "trigger", name ? name : "unknown", stats->terminations[trigger]);
	}
}

void metrics_containers_write(struct expo *expo, const struct series *series)
{
	struct series_stats stats;

	for (int family = 0; family < SERIES_FAMILY_COUNT; family++) {
		expo_family(expo, &container_families[family]);
		series_each(series, (enum series_family)family, add_point, expo);
	}
	series_get_stats(series, &stats);
	add_stops(expo, &stats);
	add_incomplete(expo, &stats);
	add_unheard(expo, &stats);
	add_kills(expo, &stats);
	add_terminations(expo, &stats);
}

void metrics_containers_write_absorbed(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_series_absorbed", EXPO_COUNTER, NULL,
		"Increments of a metric counted under \"_other\" instead of their own labels because "
		"graced_series_limit was reached."};

	expo_family(expo, &family);
	for (int i = 0; i < SERIES_FAMILY_COUNT; i++)
		if (i != SERIES_HEARS && i != SERIES_WORKLOAD)
			expo_count(expo, "metric", series_family_name((enum series_family)i),
				   stats->absorbed[i]);
}

/* --- how earlier boots ended ------------------------------------------------------------------ */

static void add_word(struct expo *expo, const struct expo_family *family, const char *key,
		     const char *word)
{
	expo_family(expo, family);
	if (word)
		expo_count(expo, key, word, 1);
}

static void add_last_outcomes(struct expo *expo, const struct bootlog_shutdown *s)
{
	static const struct expo_family family = {
		"graced_last_shutdown_containers", EXPO_GAUGE, NULL,
		"Containers that ended between the announcement of the last shutdown of an earlier "
		"boot and the end of graced, by outcome."};

	expo_family(expo, &family);
	for (int i = 0; i < OUTCOME_COUNT && s->announced_ns; i++)
		expo_count(expo, "outcome", outcome_name((enum outcome)i), s->outcomes[i]);
}

static void add_last_shutdown(struct expo *expo, const struct bootlog *log)
{
	static const struct expo_family
		start = {"graced_last_shutdown_start_time_seconds", EXPO_GAUGE, "seconds",
			 "When the shutdown that ended the earlier boot was announced, since 1970."},
		length = {"graced_last_shutdown_duration_seconds", EXPO_GAUGE, "seconds",
			  "Time from that announcement to the release of graced's lock."},
		reason = {"graced_last_shutdown_release", EXPO_GAUGE, NULL,
			  "Why graced released its lock in that shutdown; always 1."};
	const struct bootlog_shutdown *s = &log->shutdown;
	int64_t offset = log->saved_wall_ns - (int64_t)log->saved_ns;

	metrics_add_wall(expo, &start, s->announced_ns ? offset + (int64_t)s->announced_ns : 0);
	expo_family(expo, &length);
	if (s->released_ns > s->announced_ns)
		expo_decimal(expo, NULL, 0, s->released_ns - s->announced_ns, 9 /* ns */);
	add_word(expo, &reason, "reason",
		 s->released_ns ? shutdown_reason_name((enum shutdown_reason)s->reason) : NULL);
	add_last_outcomes(expo, s);
}

static void add_last_alive(struct expo *expo, const struct bootlog *log)
{
	static const struct expo_family
		seen = {"graced_last_boot_seen_time_seconds", EXPO_GAUGE, "seconds",
			"When graced looked last at what was alive in the earlier boot, since 1970."},
		alive = {"graced_last_boot_alive", EXPO_GAUGE, NULL,
			 "Pods with a running container, and running containers outside pods, when "
			 "graced looked last in the earlier boot."};

	metrics_add_wall(expo, &seen, log->saved_wall_ns);
	expo_family(expo, &alive);
	expo_count(expo, "kind", "pod", log->pods.total);
	expo_count(expo, "kind", "container", log->containers.total);
}

void metrics_boot_write(struct expo *expo, const struct metrics_boot *boot)
{
	static const struct expo_family
		unclean = {"graced_unclean_shutdowns", EXPO_COUNTER, NULL,
			   "Earlier boots that ended while graced was running and without an "
			   "orderly end, counted across boots."},
		end = {"graced_last_boot_end", EXPO_GAUGE, NULL,
		       "How the last boot ended that graced has a note of (clean, unclean, unknown); "
		       "always 1."};

	if (!boot->on)
		return;
	expo_family(expo, &unclean);
	expo_u64(expo, NULL, 0, boot->unclean);
	if (!boot->previous)
		return;
	add_word(expo, &end, "end", boot_end_name(bootlog_judge(boot->previous).end));
	add_last_shutdown(expo, boot->previous);
	add_last_alive(expo, boot->previous);
}

/* --- requests to the API server --------------------------------------------------------------- */

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
	for (int i = 0; i < API_EVENT_COUNT; i++)
		expo_count(expo, "result", results[i], events->results[i]);
}

static void add_writes(struct expo *expo, const struct shutdown_statuses *counts)
{
	static const struct expo_family family = {
		"graced_api_status_writes", EXPO_COUNTER, NULL,
		"Attempts to write the last status of a pod in a shutdown: written, already-there (another "
		"has), gone (the object is), conflict (attempted again), refused, or gave-up (the API "
		"server did not decide in time)."};

	expo_family(expo, &family);
	for (int i = 0; i < SHUTDOWN_WRITE_COUNT; i++)
		expo_count(expo, "result", shutdown_write_name((enum shutdown_write)i),
			   counts->writes[i]);
}

static void add_withheld(struct expo *expo, const struct shutdown_statuses *counts)
{
	static const struct expo_family family = {
		"graced_api_status_withheld", EXPO_COUNTER, NULL,
		"Pods whose last status was not written when the lock was released: alive, records-lost, "
		"unnamed, kubelet (it may still write, or start containers), or late."};

	expo_family(expo, &family);
	for (int i = 0; i < SHUTDOWN_WITHHELD_COUNT; i++)
		expo_count(expo, "reason", shutdown_withheld_name((enum shutdown_withheld)i),
			   counts->withheld[i]);
}

void metrics_api_write(struct expo *expo, const struct api_metrics *api)
{
	add_events(expo, &api->events);
	if (!api->statuses.on)
		return;
	add_writes(expo, &api->statuses.counts);
	add_withheld(expo, &api->statuses.counts);
}
