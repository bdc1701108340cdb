// SPDX-License-Identifier: Apache-2.0
/* The families of an earlier boot. */
#include "wire/prometheus/metrics.h"

#define NS 9

static void add_wall(struct expo *expo, const struct expo_family *family, int64_t wall_ns)
{
	expo_family(expo, family);
	if (wall_ns > 0)
		expo_decimal(expo, NULL, 0, (uint64_t)wall_ns, NS);
}

static void add_word(struct expo *expo, const struct expo_family *family, const char *key,
		     const char *word)
{
	struct expo_label label = {key, word};

	expo_family(expo, family);
	if (word)
		expo_u64(expo, &label, 1, 1);
}

static void add_last_outcomes(struct expo *expo, const struct bootlog_shutdown *s)
{
	static const struct expo_family family = {
		"graced_last_shutdown_containers", EXPO_GAUGE, NULL,
		"Containers that ended between the announcement of the last shutdown of an earlier "
		"boot and the end of graced, by outcome."};

	expo_family(expo, &family);
	for (int i = 0; i < OUTCOME_COUNT && s->announced_ns; i++) {
		struct expo_label label = {"outcome", outcome_name((enum outcome)i)};

		expo_u64(expo, &label, 1, s->outcomes[i]);
	}
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

	add_wall(expo, &start, s->announced_ns ? offset + (int64_t)s->announced_ns : 0);
	expo_family(expo, &length);
	if (s->released_ns > s->announced_ns)
		expo_decimal(expo, NULL, 0, s->released_ns - s->announced_ns, NS);
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

	add_wall(expo, &seen, log->saved_wall_ns);
	expo_family(expo, &alive);
	expo_u64(expo, &(struct expo_label){"kind", "pod"}, 1, log->pods.total);
	expo_u64(expo, &(struct expo_label){"kind", "container"}, 1, log->containers.total);
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
