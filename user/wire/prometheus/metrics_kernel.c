// SPDX-License-Identifier: Apache-2.0
/* The families of the kernel half: what it produced, and what it costs. */
#include <string.h>

#include "wire/kernel/event_names.h"
#include "wire/prometheus/metrics_priv.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))
#define NS	   9
#define MILLIONTHS 6

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
	for (size_t i = 0; i < LEN(refused); i++) {
		struct expo_label label = {"reason", refused[i].reason};

		expo_u64(expo, &label, 1, refused[i].count);
	}
}

/*
 * Emitted, lost and suppressed are what was produced. So what could not be understood after it was
 * read is no stage of loss but a family of its own: it was emitted, and counts there already.
 */
void metrics_add_events(struct expo *expo, const struct metrics *metrics)
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
	expo_family(expo, &rejected);
	expo_u64(expo, NULL, 0, metrics->rejected);
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
	if (program->known)
		expo_decimal(expo, label, 1, program->run_ns, NS);
}

static void add_runs(struct expo *expo, const struct metrics_program *program,
		     const struct expo_label *label)
{
	if (program->known)
		expo_u64(expo, label, 1, program->runs);
}

void metrics_add_programs(struct expo *expo, const struct metrics *metrics)
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
		  "Time spent in a BPF program, estimated from samples of the kernel's statistics."},
		 add_run_time},
		{{"graced_bpf_runs", EXPO_COUNTER, NULL,
		  "Runs of a BPF program, estimated from samples of the kernel's statistics."},
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

void metrics_add_cost(struct expo *expo, const struct metrics *metrics)
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
	for (enum shed what = SHED_NOTHING + 1; what < SHED_COUNT; what++) {
		struct expo_label label = {"what", shed_name(what)};

		expo_u64(expo, &label, 1, metrics->shed >= what);
	}
}
