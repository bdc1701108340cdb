// SPDX-License-Identifier: Apache-2.0
/* All families that the daemon exposes. */
#include "wire/prometheus/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/metrics/series.h"
#include "wire/kernel/event.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))
#define NS	   9
#define MILLIONTHS 6

static void add_one(struct expo *expo, const struct expo_family *family, uint64_t value)
{
	expo_family(expo, family);
	expo_u64(expo, NULL, 0, value);
}

/* The families of the kernel half: what it produced, and what it costs. */

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

/* One sample for each type of event; counter is the offset of one in struct graced_stat. */
static void add_types(struct expo *expo, const struct graced_stat *totals, size_t counter,
		      const char *stage)
{
	for (unsigned int type = GRACED_EV_NONE + 1; type < GRACED_EV_COUNT; type++) {
		struct expo_label labels[] = {{"type", evname(type)}, {"stage", stage}};
		__u64 count;

		memcpy(&count, (const char *)&totals[type] + counter, sizeof(count));
		expo_u64(expo, labels, stage ? 2 : 1, count);
	}
}

static void add_refused(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family family = {
		"graced_cgroups_refused", EXPO_COUNTER, NULL,
		"Cgroups that are not watched because a limit was reached."};
	const struct {
		const char *reason;
		uint64_t count;
	} refused[] = {
		{"map-full", metrics->totals[GRACED_STAT_WATCH_FULL].lost},
		{"quota", metrics->totals[GRACED_STAT_QUOTA].lost},
		{"too-deep", metrics->totals[GRACED_STAT_TOO_DEEP].lost},
		{"table-full", metrics->engine.cgroups_refused},
	};

	expo_family(expo, &family);
	for (size_t i = 0; i < LEN(refused); i++)
		expo_count(expo, "reason", refused[i].reason, refused[i].count);
}

/*
 * Emitted, lost and suppressed are what was produced. So what could not be understood after it was
 * read is no stage of loss but a family of its own: it was emitted, and counts there already.
 */
static void add_events(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		emitted = {"graced_events", EXPO_COUNTER, NULL,
			   "Events the BPF programs wrote to the ring buffer."},
		lost = {"graced_events_lost", EXPO_COUNTER, NULL,
			"Events that found no room in the ring buffer, and runs the kernel left out "
			"because a program ran on that CPU already (stage program, type unknown)."},
		suppressed = {"graced_events_suppressed", EXPO_COUNTER, NULL,
			      "Events the BPF programs held back because one container made too "
			      "many."},
		rejected = {"graced_events_rejected", EXPO_COUNTER, NULL,
			    "Events read from the ring buffer and not understood, which are among "
			    "graced_events too."};
	static const struct expo_label missed[] = {{"type", "unknown"}, {"stage", "program"}};

	expo_family(expo, &emitted);
	add_types(expo, metrics->totals, offsetof(struct graced_stat, emitted), NULL);
	expo_family(expo, &lost);
	add_types(expo, metrics->totals, offsetof(struct graced_stat, lost), "ring");
	expo_u64(expo, missed, LEN(missed), metrics->recursion_misses);
	expo_family(expo, &suppressed);
	add_types(expo, metrics->totals, offsetof(struct graced_stat, suppressed), "kernel");
	add_one(expo, &rejected, metrics->rejected);
	add_refused(expo, metrics);
}

static void add_attached(struct expo *expo, const struct metrics_program *program,
			 const struct expo_label *label)
{
	expo_u64(expo, label, 1, program->attached);
}

static void add_run_time(struct expo *expo, const struct metrics_program *program,
			 const struct expo_label *label)
{
	if (program->attached)
		expo_decimal(expo, label, 1, program->run_ns, NS);
}

static void add_runs(struct expo *expo, const struct metrics_program *program,
		     const struct expo_label *label)
{
	if (program->attached)
		expo_u64(expo, label, 1, program->runs);
}

static void add_programs(struct expo *expo, const struct metrics *metrics)
{
	static const struct {
		struct expo_family family;
		void (*add)(struct expo *expo, const struct metrics_program *program,
			    const struct expo_label *label);
	} parts[] = {
		{{"graced_bpf_attached", EXPO_GAUGE, NULL,
		  "Whether a BPF program is attached, 1 or 0."},
		 add_attached},
		{{"graced_bpf_run_seconds", EXPO_COUNTER, "seconds",
		  "Time spent in a BPF program, estimated: it is timed in a sixteenth of all ticks."},
		 add_run_time},
		{{"graced_bpf_runs", EXPO_COUNTER, NULL,
		  "Runs of a BPF program, estimated: they are counted in a sixteenth of all ticks."},
		 add_runs},
	};
	size_t n = metrics->programs ? metrics->n_programs : 0;

	for (size_t part = 0; part < LEN(parts); part++) {
		expo_family(expo, &parts[part].family);
		for (size_t i = 0; i < n && i < METRICS_PROGRAMS_MAX; i++) {
			struct expo_label label = {"program", metrics->programs[i].name};

			parts[part].add(expo, &metrics->programs[i], &label);
		}
	}
}

static void add_cost(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		overhead = {"graced_overhead_ratio", EXPO_GAUGE, "ratio",
			    "Share of one CPU the BPF programs and the daemon take, estimated."},
		budget = {"graced_overhead_budget_ratio", EXPO_GAUGE, "ratio",
			  "Share of one CPU that the BPF programs and the daemon are to stay below "
			  "(budget.cpu)."},
		shed = {"graced_shed", EXPO_GAUGE, NULL,
			"Whether graced leaves out a kind of work (noisy, signals, names) to stay within "
			"its CPU budget, 1 or 0."};

	expo_family(expo, &overhead);
	if (metrics->overhead_known)
		expo_decimal(expo, NULL, 0, metrics->overhead_ppm, MILLIONTHS);
	expo_family(expo, &budget);
	if (metrics->budget_ppm)
		expo_decimal(expo, NULL, 0, metrics->budget_ppm, MILLIONTHS);
	expo_family(expo, &shed);
	for (enum shed what = SHED_NOTHING + 1; what < SHED_COUNT; what++)
		expo_count(expo, "what", shed_name(what), metrics->shed >= what);
}

/*
 * The families about pods, the kubelet's own under another prefix (docs/kubelet-rules.md, "Pod
 * metrics"): static is "true" or empty there, and "unknown" of pods that are known by their cgroups
 * only.
 */

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static const char *const is_static[] = {"", "true"};

static void add_working(struct expo *expo, const struct pod_counts *pods)
{
	static const struct expo_family family = {
		"graced_working_pods", EXPO_GAUGE, NULL,
		"Pods that are followed, by where they are in their life, whether the kubelet lists "
		"them, and whether they are static."};
	static const char *const configs[] = {
		[POD_DESIRED] = "desired",
		[POD_ORPHAN] = "orphan",
		[POD_RUNTIME_ONLY] = "runtime_only",
	};

	expo_family(expo, &family);
	for (int stage = POD_STAGE_SYNC; stage <= POD_STAGE_TERMINATED; stage++) {
		for (int i = 0; i < 2 * POD_CONFIG_COUNT - 1; i++) {
			bool runtime = i / 2 == POD_RUNTIME_ONLY;
			struct expo_label labels[] = {
				{"lifecycle", pod_stage_name((enum pod_stage)stage)},
				{"config", configs[i / 2]},
				{"static", runtime ? "unknown" : is_static[i % 2]},
			};

			expo_u64(expo, labels, LEN(labels), pods->working[stage][i / 2][i % 2]);
		}
	}
}

static void add_split(struct expo *expo, const struct expo_family *family, const uint64_t *values)
{
	expo_family(expo, family);
	for (int i = 0; i < 2; i++)
		expo_count(expo, "static", is_static[i], values[i]);
}

static void add_transitions(struct expo *expo, const uint64_t *states)
{
	static const struct expo_family family = {"graced_pod_transitions", EXPO_COUNTER, NULL,
						  "Pods that entered a state, by state."};

	expo_family(expo, &family);
	for (int state = POD_STAGE_SYNC; state <= POD_STAGE_FINISHED; state++)
		expo_count(expo, "state", pod_stage_name((enum pod_stage)state), states[state]);
}

static void add_discrepancies(struct expo *expo, const uint64_t *counts)
{
	static const struct expo_family family = {
		"graced_discrepancies", EXPO_COUNTER, NULL,
		"Reports of the kubelet, the API or the runtime about pods and exits that contradict what "
		"the kernel observed, by kind."};

	expo_family(expo, &family);
	for (int kind = 0; kind < DISCREPANCY_COUNT; kind++)
		expo_count(expo, "kind", discrepancy_name((enum discrepancy)kind), counts[kind]);
}

static void add_pods(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		desired = {"graced_desired_pods", EXPO_GAUGE, NULL,
			   "Pods that the kubelet lists, those at their end included."},
		active = {"graced_active_pods", EXPO_GAUGE, NULL,
			  "Pods that the kubelet lists and that have processes, or are to have."},
		mirror = {"graced_mirror_pods", EXPO_GAUGE, NULL,
			  "Mirror pods that the kubelet is to have in the API: one for each static "
			  "pod that it lists."},
		restarted = {"graced_restarted_pods", EXPO_COUNTER, NULL,
			     "Pods that began again under the uid of one that was over."},
		orphaned = {"graced_orphaned_runtime_pods", EXPO_COUNTER, NULL,
			    "Pods with processes that the kubelet did not list when it was asked."},
		refused = {"graced_pods_refused", EXPO_COUNTER, NULL,
			   "Pods that are not followed because there is no room."};
	const struct pod_counts *pods = &metrics->pods;

	add_working(expo, pods);
	add_split(expo, &desired, pods->desired);
	add_split(expo, &active, pods->active);
	add_one(expo, &mirror, pods->desired[true]);
	add_split(expo, &restarted, pods->restarted);
	add_one(expo, &orphaned, pods->orphaned);
	add_one(expo, &refused, metrics->engine.pods_refused);
	add_transitions(expo, metrics->engine.pod_states);
	add_discrepancies(expo, metrics->engine.discrepancies);
}

/* The families about shutdowns of the node. */

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

	add_one(expo, &held, shutdown->held);
	expo_family(expo, &delay);
	if (shutdown->delay_known)
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

	add_one(expo, &start, shutdown->start_s > 0 ? (uint64_t)shutdown->start_s : 0);
	add_one(expo, &end, shutdown->end_s > 0 ? (uint64_t)shutdown->end_s : 0);
}

static void add_group_pods(struct expo *expo, const struct metrics_shutdown *shutdown)
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

static void add_shutdown(struct expo *expo, const struct metrics_shutdown *shutdown)
{
	static const struct expo_family ready = {
		"graced_shutdown_ready", EXPO_GAUGE, NULL,
		"Whether a condition for a graceful shutdown of the node holds, 1 or 0 (also while that is "
		"not known); absent where the condition does not apply."};

	if (!shutdown->on)
		return;
	add_lock(expo, shutdown);
	add_times(expo, shutdown);
	add_group_pods(expo, shutdown);
	expo_family(expo, &ready);
	for (int i = 0; i < METRICS_READY_COUNT; i++)
		if (shutdown->ready[i] != METRICS_READY_ABSENT)
			expo_count(expo, "condition", conditions[i],
				   shutdown->ready[i] == METRICS_READY_YES);
}

/* The families of the daemon itself, and all in order. */

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

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

#define PLAIN(type, name, unit, member, decimals, help)                                     \
	{                                                                                   \
		{name, EXPO_##type, unit, help}, offsetof(struct metrics, member), decimals \
	}

static const struct plain engine[] = {
	PLAIN(COUNTER, "graced_observations", NULL, engine.observations, 0,
	      "Observations the engine took: events, names, counts, timers."),
	PLAIN(COUNTER, "graced_unexpected_events", NULL, engine.unexpected, 0,
	      "Events that did not fit the state of their container, and changed nothing."),
	PLAIN(COUNTER, "graced_inits_not_found", NULL, engine.inits_not_found, 0,
	      "Containers that had processes none of which was found to be the init."),
	PLAIN(COUNTER, "graced_effects_dropped", NULL, effects_dropped, 0,
	      "Questions of the engine that found no room in the queue."),
	PLAIN(COUNTER, "graced_processes_forgotten", NULL, engine.procs_forgotten, 0,
	      "Processes that survived a signal and are no longer followed (scope all)."),
	PLAIN(GAUGE, "graced_cgroups", NULL, engine.cgroups, 0, "Cgroups the engine knows."),
	PLAIN(GAUGE, "graced_known_pods", NULL, engine.pods, 0,
	      "Pods the engine knows by their cgroups."),
};

static const struct plain shed[] = {
	PLAIN(GAUGE, "graced_shed_containers", NULL, shed_containers, 0,
	      "Containers that graced follows less closely to stay within its CPU budget."),
	PLAIN(COUNTER, "graced_shed_changes", NULL, shed_changes, 0,
	      "Changes of what graced leaves out to stay within its CPU budget."),
};

static const struct plain connections[] = {
	PLAIN(GAUGE, "graced_http_connections", NULL, http_connections, 0,
	      "HTTP connections that are open."),
	PLAIN(COUNTER, "graced_http_connections_refused", NULL, http_connections_refused, 0,
	      "HTTP connections closed to make room for others, or not taken in when they came."),
	PLAIN(COUNTER, "graced_http_connections_expired", NULL, http_connections_expired, 0,
	      "HTTP connections closed because they took too long."),
};

static const struct plain checkpoint[] = {
	PLAIN(GAUGE, "graced_checkpoint_size_bytes", "bytes", checkpoint.bytes, 0,
	      "Size of the file that a restart of graced continues from; 0: it cannot be written now."),
	PLAIN(COUNTER, "graced_checkpoint_writes", NULL, checkpoint.writes, 0,
	      "Writes of the file that a restart of graced continues from."),
	PLAIN(COUNTER, "graced_checkpoint_failures", NULL, checkpoint.failed, 0,
	      "Failed writes of the file that a restart of graced continues from."),
	PLAIN(COUNTER, "graced_checkpoint_dropped", NULL, checkpoint.dropped, 0,
	      "Records left out of the file that a restart of graced continues from although a sink may not have written them yet."),
};

static const struct plain log_lines[] = {
	PLAIN(COUNTER, "graced_log_lines_lost", NULL, log_lost, 0,
	      "Lines of the daemon's log that could not be written."),
};

static const struct plain process[] = {
	PLAIN(COUNTER, "process_cpu_seconds", "seconds", process_cpu_ns, NS,
	      "Total user and system CPU time spent in seconds."),
	PLAIN(GAUGE, "process_open_fds", NULL, process_open_fds, 0,
	      "Number of open file descriptors."),
	PLAIN(GAUGE, "process_max_fds", NULL, process_max_fds, 0,
	      "Maximum number of open file descriptors."),
	PLAIN(GAUGE, "process_virtual_memory_bytes", "bytes", process_virtual_bytes, 0,
	      "Virtual memory size in bytes."),
	PLAIN(GAUGE, "process_resident_memory_bytes", "bytes", process_resident_bytes, 0,
	      "Resident memory size in bytes."),
};

void metrics_add_wall(struct expo *expo, const struct expo_family *family, int64_t wall_ns)
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
	for (int i = META_NONE + 1; i < META_SOURCE_COUNT; i++)
		if (metrics->sources[i].asked)
			expo_count(expo, "source", meta_source_name((enum meta_source)i),
				   metrics->sources[i].up);
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
	expo_count(expo, "kind", "pod", stats->pods_described);
	expo_count(expo, "kind", "container", stats->containers_described);
	add_one(expo, &refused, stats->names_refused);
}

static void add_sinks(struct expo *expo, const struct metrics *metrics)
{
	static const struct {
		struct expo_family family;
		size_t offset;
	} rows[] = {
		{{"graced_sink_records", EXPO_COUNTER, NULL, "Records written to a sink."},
		 offsetof(struct metrics_sink, records)},
		{{"graced_sink_dropped", EXPO_COUNTER, NULL,
		  "Records a sink did not take, and that are not in it."},
		 offsetof(struct metrics_sink, dropped)},
		{{"graced_sink_failures", EXPO_COUNTER, NULL,
		  "How often a sink could no longer be written."},
		 offsetof(struct metrics_sink, failures)},
		{{"graced_sink_waiting_records", EXPO_GAUGE, NULL,
		  "Records that wait in memory for a sink."},
		 offsetof(struct metrics_sink, waiting)},
	};
	static const char *const names[METRICS_SINK_COUNT] = {
		[METRICS_STDOUT] = "stdout",
		[METRICS_FILE] = "file",
		[METRICS_JOURNAL] = "journal",
	};

	for (size_t row = 0; row < LEN(rows); row++) {
		expo_family(expo, &rows[row].family);
		for (int i = 0; i < METRICS_SINK_COUNT; i++) {
			const char *sink = (const char *)&metrics->sinks[i];
			struct expo_label label = {"sink", names[i]};
			uint64_t value;

			memcpy(&value, sink + rows[row].offset, sizeof(value));
			if (metrics->sinks[i].on)
				expo_u64(expo, &label, 1, value);
		}
	}
}

static void add_loop(struct expo *expo, const struct metrics_loop *loop)
{
	static const struct expo_family families[] = {
		{"graced_loop_step_seconds", EXPO_HISTOGRAM, "seconds",
		 "Time that a step of the event loop took, in which all other events wait; includes what "
		 "other processes took of the CPU."},
		{"graced_loop_step_cpu_seconds", EXPO_HISTOGRAM, "seconds",
		 "CPU time that graced used in a step of the event loop."},
		{"graced_loop_delay_seconds", EXPO_HISTOGRAM, "seconds",
		 "How late a timer of twice a second was handled: what an event waited for its step."},
	};
	const struct histogram *const histograms[] = {loop->wall, loop->cpu, loop->delay};

	for (size_t i = 0; loop->bounds && i < LEN(families); i++) {
		expo_family(expo, &families[i]);
		expo_histogram(expo, NULL, 0,
			       &(struct expo_histogram){.histogram = histograms[i],
							.bounds = loop->bounds});
	}
}

static void add_http(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family family = {"graced_http_requests", EXPO_COUNTER, NULL,
						  "HTTP requests answered, by class of status."};
	static const char *const classes[] = {"2xx", "3xx", "4xx", "5xx"};

	expo_family(expo, &family);
	for (size_t i = 0; i < LEN(classes); i++)
		expo_count(expo, "code", classes[i], metrics->http_requests[i + 2]);
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
	for (size_t i = 0; i < LEN(results); i++)
		expo_count(expo, "result", results[i].result, results[i].count);
}

static void add_config(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		ok = {"graced_config_last_reload_successful", EXPO_GAUGE, NULL,
		      "Whether the last reading of the configuration succeeded, 1 or 0."},
		at = {"graced_config_last_reload_success_timestamp_seconds", EXPO_GAUGE, "seconds",
		      "When the configuration was last read with success, since 1970."};

	add_one(expo, &ok, !metrics->reload_failed);
	metrics_add_wall(expo, &at, metrics->reload_ok_wall_ns);
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
	metrics_add_wall(expo, &start, metrics->process_start_wall_ns);
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
		metrics_containers_write_absorbed(expo, &stats);
		add_one(expo, &aged, stats.aged);
		add_one(expo, &limit, stats.limit);
		expo_family(expo, &used);
		expo_decimal(expo, NULL, 0, stats.used_ppm, MILLIONTHS);
	}
	add_one(expo, &now, expo->samples + 1);
}

int metrics_write(struct buf *out, enum expo_format format, const struct metrics *metrics)
{
	struct expo expo;

	expo_begin(&expo, out, format);
	if (metrics->series)
		metrics_containers_write(&expo, metrics->series);
	add_events(&expo, metrics);
	add_plain(&expo, metrics, engine, LEN(engine));
	add_pods(&expo, metrics);
	add_programs(&expo, metrics);
	add_cost(&expo, metrics);
	add_plain(&expo, metrics, shed, LEN(shed));
	add_sources(&expo, metrics);
	add_expiry(&expo, metrics);
	add_described(&expo, &metrics->engine);
	add_sinks(&expo, metrics);
	add_loop(&expo, &metrics->loop);
	add_http(&expo, metrics);
	add_control(&expo, metrics);
	if (metrics->checkpoint.on)
		add_plain(&expo, metrics, checkpoint, LEN(checkpoint));
	add_shutdown(&expo, &metrics->shutdown);
	metrics_boot_write(&expo, &metrics->boot);
	metrics_api_write(&expo, &metrics->api);
	add_plain(&expo, metrics, log_lines, LEN(log_lines));
	add_config(&expo, metrics);
	add_build(&expo, metrics);
	add_process(&expo, metrics);
	add_about_series(&expo, metrics->series);
	return expo_end(&expo);
}
