// SPDX-License-Identifier: Apache-2.0
/* The exposition as a whole, and the families of the daemon itself. */
#include "wire/prometheus/metrics.h"

#include <stdio.h>
#include <string.h>

#include "wire/prometheus/metrics_priv.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))
#define NS	   9
#define MILLIONTHS 6

/* A family of one sample, which is a member of the snapshot. */
struct plain {
	struct expo_family family;
	size_t member; /* offset of an uint64_t */
	unsigned int decimals;
};

static void add_plain(struct expo *expo, const struct metrics *metrics, const struct plain *plain,
		      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value;

		memcpy(&value, (const char *)metrics + plain[i].member, sizeof(value));
		expo_family(expo, &plain[i].family);
		expo_decimal(expo, NULL, 0, value, plain[i].decimals);
	}
}

#define MEMBER(name) offsetof(struct metrics, name)

static const struct plain engine[] = {
	{{"graced_observations", EXPO_COUNTER, NULL,
	  "Observations the engine took: events, names, counts, timers."},
	 MEMBER(engine.observations),
	 0},
	{{"graced_unexpected_events", EXPO_COUNTER, NULL,
	  "Events that did not fit the state of their container, and changed nothing."},
	 MEMBER(engine.unexpected),
	 0},
	{{"graced_inits_not_found", EXPO_COUNTER, NULL,
	  "Containers that had processes none of which was found to be the init."},
	 MEMBER(engine.inits_not_found),
	 0},
	{{"graced_effects_dropped", EXPO_COUNTER, NULL,
	  "Questions of the engine that found no room in the queue."},
	 MEMBER(effects_dropped),
	 0},
	{{"graced_processes_forgotten", EXPO_COUNTER, NULL,
	  "Processes that survived a signal and are no longer followed (scope all)."},
	 MEMBER(engine.procs_forgotten),
	 0},
	{{"graced_cgroups", EXPO_GAUGE, NULL, "Cgroups the engine knows."},
	 MEMBER(engine.cgroups),
	 0},
	{{"graced_known_pods", EXPO_GAUGE, NULL, "Pods the engine knows by their cgroups."},
	 MEMBER(engine.pods),
	 0},
};

static const struct plain shed[] = {
	{{"graced_shed_containers", EXPO_GAUGE, NULL,
	  "Containers that graced follows less closely to stay within its CPU budget."},
	 MEMBER(shed_containers),
	 0},
	{{"graced_shed_changes", EXPO_COUNTER, NULL,
	  "Changes of what graced leaves out to stay within its CPU budget."},
	 MEMBER(shed_changes),
	 0},
};

static const struct plain connections[] = {
	{{"graced_http_connections", EXPO_GAUGE, NULL, "HTTP connections that are open."},
	 MEMBER(http_connections),
	 0},
	{{"graced_http_connections_refused", EXPO_COUNTER, NULL,
	  "HTTP connections closed to make room for others, or not taken in when they came."},
	 MEMBER(http_connections_refused),
	 0},
	{{"graced_http_connections_expired", EXPO_COUNTER, NULL,
	  "HTTP connections closed because they took too long."},
	 MEMBER(http_connections_expired),
	 0},
};

static const struct plain checkpoint[] = {
	{{"graced_checkpoint_size_bytes", EXPO_GAUGE, "bytes",
	  "Size of the file that a restart of graced continues from; 0: it cannot be written now."},
	 MEMBER(checkpoint.bytes),
	 0},
	{{"graced_checkpoint_writes", EXPO_COUNTER, NULL,
	  "Writes of the file that a restart of graced continues from."},
	 MEMBER(checkpoint.writes),
	 0},
	{{"graced_checkpoint_failures", EXPO_COUNTER, NULL,
	  "Failed writes of the file that a restart of graced continues from."},
	 MEMBER(checkpoint.failed),
	 0},
	{{"graced_checkpoint_dropped", EXPO_COUNTER, NULL,
	  "Records left out of the file that a restart of graced continues from although a sink may "
	  "not have written them yet."},
	 MEMBER(checkpoint.dropped),
	 0},
};

static const struct plain log_lines[] = {
	{{"graced_log_lines_lost", EXPO_COUNTER, NULL,
	  "Lines of the daemon's log that could not be written."},
	 MEMBER(log_lost),
	 0},
};

static const struct plain process[] = {
	{{"process_cpu_seconds", EXPO_COUNTER, "seconds",
	  "Total user and system CPU time spent in seconds."},
	 MEMBER(process_cpu_ns),
	 NS},
	{{"process_open_fds", EXPO_GAUGE, NULL, "Number of open file descriptors."},
	 MEMBER(process_open_fds),
	 0},
	{{"process_max_fds", EXPO_GAUGE, NULL, "Maximum number of open file descriptors."},
	 MEMBER(process_max_fds),
	 0},
	{{"process_virtual_memory_bytes", EXPO_GAUGE, "bytes", "Virtual memory size in bytes."},
	 MEMBER(process_virtual_bytes),
	 0},
	{{"process_resident_memory_bytes", EXPO_GAUGE, "bytes", "Resident memory size in bytes."},
	 MEMBER(process_resident_bytes),
	 0},
};

/* A moment since 1970, left out while unknown. */
static void add_wall(struct expo *expo, const struct expo_family *family, int64_t wall_ns)
{
	expo_family(expo, family);
	if (wall_ns > 0)
		expo_decimal(expo, NULL, 0, (uint64_t)wall_ns, NS);
}

static void add_source_lookups(struct expo *expo, const struct metrics_source *source,
			       const char *name)
{
	for (int i = 0; i < META_RESULT_COUNT; i++) {
		struct expo_label labels[] = {{"source", name},
					      {"result", meta_result_name((enum meta_result)i)}};

		expo_u64(expo, labels, LEN(labels), source->lookups[i]);
	}
}

static void add_expiry(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family expiry = {
		"graced_credential_expiry_timestamp_seconds", EXPO_GAUGE, "seconds",
		"When the token or client certificate for a source expires; absent while unknown."};
	static const struct expo_family warn = {
		"graced_credential_warn_timestamp_seconds", EXPO_GAUGE, "seconds",
		"When the log begins to warn that the token or client certificate for a source "
		"expires: a day before that, or when the last tenth of its life begins if that is "
		"later; absent while unknown."};
	static const enum meta_source sources[] = {META_KUBELET, META_API};

	expo_family(expo, &expiry);
	for (size_t i = 0; i < LEN(sources); i++) {
		const struct credential *c = &metrics->sources[sources[i]].credential;
		struct expo_label label = {"source", meta_source_name(sources[i])};

		if (c->kind)
			expo_u64(expo, &label, 1, (uint64_t)c->expires_s);
	}
	expo_family(expo, &warn);
	for (size_t i = 0; i < LEN(sources); i++) {
		const struct credential *c = &metrics->sources[sources[i]].credential;
		struct expo_label label = {"source", meta_source_name(sources[i])};

		if (c->kind)
			expo_u64(expo, &label, 1, c->warn_s > 0 ? (uint64_t)c->warn_s : 0);
	}
}

static void add_sources(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family up = {
		"graced_metadata_source_up", EXPO_GAUGE, NULL,
		"Whether a source of names answered the last question; absent while there is none."};
	static const struct expo_family lookups = {
		"graced_metadata_lookups", EXPO_COUNTER, NULL,
		"Names of pods and containers looked for, by where and with what result."};

	expo_family(expo, &up);
	for (int i = META_NONE + 1; i < META_SOURCE_COUNT; i++) {
		struct expo_label label = {"source", meta_source_name((enum meta_source)i)};

		if (metrics->sources[i].asked)
			expo_u64(expo, &label, 1, metrics->sources[i].up);
	}
	expo_family(expo, &lookups);
	for (int i = META_NONE + 1; i < META_SOURCE_COUNT; i++)
		if (metrics->sources[i].asked)
			add_source_lookups(expo, metrics->sources + i,
					   meta_source_name((enum meta_source)i));
}

static void add_described(struct expo *expo, const struct engine_stats *stats)
{
	static const struct expo_family entries = {
		"graced_metadata_entries", EXPO_GAUGE, NULL,
		"Pods and containers that sources have described and that are not forgotten."};
	static const struct expo_family refused = {
		"graced_metadata_refused", EXPO_COUNTER, NULL,
		"Descriptions of pods and containers for which there was no room."};

	expo_family(expo, &entries);
	expo_u64(expo, &(struct expo_label){"kind", "pod"}, 1, stats->pods_described);
	expo_u64(expo, &(struct expo_label){"kind", "container"}, 1, stats->containers_described);
	expo_family(expo, &refused);
	expo_u64(expo, NULL, 0, stats->names_refused);
}

static void add_sinks(struct expo *expo, const struct metrics *metrics, bool dropped)
{
	static const struct expo_family families[] = {
		{"graced_sink_records", EXPO_COUNTER, NULL, "Records written to a sink."},
		{"graced_sink_dropped", EXPO_COUNTER, NULL,
		 "Records a sink did not take, and that are not in it."}};
	static const char *const names[METRICS_SINK_COUNT] = {
		[METRICS_STDOUT] = "stdout",
		[METRICS_FILE] = "file",
		[METRICS_JOURNAL] = "journal",
	};

	expo_family(expo, &families[dropped]);
	for (int i = 0; i < METRICS_SINK_COUNT; i++) {
		const struct metrics_sink *sink = &metrics->sinks[i];
		struct expo_label label = {"sink", names[i]};

		if (sink->on)
			expo_u64(expo, &label, 1, dropped ? sink->dropped : sink->records);
	}
}

static void add_http(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family family = {"graced_http_requests", EXPO_COUNTER, NULL,
						  "HTTP requests answered, by class of status."};
	static const char *const classes[] = {"2xx", "3xx", "4xx", "5xx"};

	expo_family(expo, &family);
	for (size_t i = 0; i < LEN(classes); i++) {
		struct expo_label label = {"code", classes[i]};

		expo_u64(expo, &label, 1, metrics->http_requests[i + 2]);
	}
	add_plain(expo, metrics, connections, LEN(connections));
}

static void add_control(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family family = {
		"graced_control_requests", EXPO_COUNTER, NULL,
		"Connections to the control socket that were answered, refused (who asks may not, or too "
		"many do), or failed (no request, too slow)."};
	const struct {
		const char *result;
		uint64_t count;
	} results[] = {
		{"answered", metrics->control.answered},
		{"refused", metrics->control.refused},
		{"failed", metrics->control.failed},
	};

	if (!metrics->control.on)
		return;
	expo_family(expo, &family);
	for (size_t i = 0; i < LEN(results); i++) {
		struct expo_label label = {"result", results[i].result};

		expo_u64(expo, &label, 1, results[i].count);
	}
}

static void add_config(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		ok = {"graced_config_last_reload_successful", EXPO_GAUGE, NULL,
		      "Whether the last reading of the configuration succeeded, 1 or 0."},
		at = {"graced_config_last_reload_success_timestamp_seconds", EXPO_GAUGE, "seconds",
		      "When the configuration was last read with success, since 1970."};

	expo_family(expo, &ok);
	expo_u64(expo, NULL, 0, !metrics->reload_failed);
	add_wall(expo, &at, metrics->reload_ok_wall_ns);
}

static void add_build(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family family = {
		"graced_build", EXPO_INFO, NULL,
		"The version of graced and the kernel release it runs on; always 1."};
	struct expo_label labels[] = {
		{"version", metrics->version},
		{"kernel", metrics->kernel},
	};

	expo_family(expo, &family);
	expo_u64(expo, labels, LEN(labels), 1);
}

static void add_process(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family start = {
		"process_start_time_seconds", EXPO_GAUGE, "seconds",
		"Start time of the process since unix epoch in seconds."};

	if (!metrics->process_known)
		return;
	add_plain(expo, metrics, process, LEN(process));
	add_wall(expo, &start, metrics->process_start_wall_ns);
}

static void add_absorbed(struct expo *expo, const struct series_stats *stats)
{
	static const struct expo_family family = {
		"graced_series_absorbed", EXPO_COUNTER, NULL,
		"Increments of a metric counted under \"_other\" instead of their own labels because "
		"graced_series_limit was reached."};

	expo_family(expo, &family);
	for (int i = 0; i < SERIES_FAMILY_COUNT; i++) {
		struct expo_label label = {"metric", series_family_name((enum series_family)i)};

		expo_u64(expo, &label, 1, stats->absorbed[i]);
	}
}

static void add_about_series(struct expo *expo, const struct series *series)
{
	static const struct expo_family
		aged = {"graced_series_aged", EXPO_COUNTER, NULL,
			"Time series of containers dropped metrics.maxAge after their last container "
			"was gone."},
		limit = {"graced_series_limit", EXPO_GAUGE, NULL,
			 "Time series that graced exposes at most (metrics.maxSeries)."},
		used = {"graced_series_used_ratio", EXPO_GAUGE, "ratio",
			"Share of the time series for containers that is in use; at 1 further "
			"containers count under \"_other\"."},
		now = {"graced_series", EXPO_GAUGE, NULL, "Time series that graced exposes now."};
	struct series_stats stats = {};

	if (series) {
		series_get_stats(series, &stats);
		add_absorbed(expo, &stats);
		expo_family(expo, &aged);
		expo_u64(expo, NULL, 0, stats.aged);
		expo_family(expo, &limit);
		expo_u64(expo, NULL, 0, stats.limit);
		expo_family(expo, &used);
		expo_decimal(expo, NULL, 0, stats.used_ppm, MILLIONTHS);
	}
	expo_family(expo, &now);
	expo_u64(expo, NULL, 0, expo->samples + 1);
}

int metrics_write(struct buf *out, enum expo_format format, const struct metrics *metrics)
{
	struct expo expo;

	expo_begin(&expo, out, format);
	if (metrics->series)
		metrics_add_series(&expo, metrics->series);
	metrics_add_events(&expo, metrics);
	add_plain(&expo, metrics, engine, LEN(engine));
	metrics_add_pods(&expo, metrics);
	metrics_add_programs(&expo, metrics);
	metrics_add_cost(&expo, metrics);
	add_plain(&expo, metrics, shed, LEN(shed));
	add_sources(&expo, metrics);
	add_expiry(&expo, metrics);
	add_described(&expo, &metrics->engine);
	add_sinks(&expo, metrics, false);
	add_sinks(&expo, metrics, true);
	add_http(&expo, metrics);
	add_control(&expo, metrics);
	if (metrics->checkpoint.on)
		add_plain(&expo, metrics, checkpoint, LEN(checkpoint));
	metrics_add_shutdown(&expo, &metrics->shutdown);
	add_plain(&expo, metrics, log_lines, LEN(log_lines));
	add_config(&expo, metrics);
	add_build(&expo, metrics);
	add_process(&expo, metrics);
	add_about_series(&expo, metrics->series);
	return expo_end(&expo);
}
