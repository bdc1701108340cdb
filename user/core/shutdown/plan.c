// SPDX-License-Identifier: Apache-2.0
/* The kubelet's shutdown configuration, and the groups of pods that it comes to. */
#include "core/shutdown/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/time.h"
#include "core/pods/kill_grace.h"

struct errors {
	shutplan_error_fn fn;
	void *userdata;
	size_t n;
};

static void __attribute__((format(printf, 2, 3)))
add_error(struct errors *errors, const char *format, ...)
{
	static const char prefix[] = "invalid configuration: ";
	char text[256];
	va_list args;

	memcpy(text, prefix, sizeof(prefix));
	va_start(args, format);
	vsnprintf(text + sizeof(prefix) - 1, sizeof(text) - sizeof(prefix) + 1, format, args);
	va_end(args);
	errors->n++;
	errors->fn(errors->userdata, text);
}

static void check_period(struct errors *errors, const char *name, int64_t ns)
{
	char text[GODURATION_SIZE];

	if (ns < 0 || (ns > 0 && ns < NS_PER_S))
		add_error(errors, "%s {%s} must be either zero or otherwise >= 1 sec", name,
			  goduration_format(ns, text));
}

size_t shutplan_validate(const struct shutplan_config *config, shutplan_error_fn fn, void *userdata)
{
	struct errors errors = {fn, userdata, 0};
	char critical[GODURATION_SIZE], total[GODURATION_SIZE];
	bool legacy = config->total_ns > 0 || config->critical_ns > 0;

	if (config->critical_ns > config->total_ns)
		add_error(
			&errors,
			"shutdownGracePeriodCriticalPods {%s} must be <= shutdownGracePeriod {%s}",
			goduration_format(config->critical_ns, critical),
			goduration_format(config->total_ns, total));
	check_period(&errors, "shutdownGracePeriod", config->total_ns);
	check_period(&errors, "shutdownGracePeriodCriticalPods", config->critical_ns);
	if (legacy && !config->gate)
		add_error(&errors,
			  "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods"
			  " requires feature gate GracefulNodeShutdown");
	if (legacy && config->n_list > 0 && config->priority_gate)
		add_error(&errors, "Cannot specify both shutdownGracePeriodByPodPriority and"
				   " shutdownGracePeriod at the same time");
	if (config->n_list > 0 && !config->priority_gate)
		add_error(&errors,
			  "Specifying shutdownGracePeriodByPodPriority requires feature gate"
			  " GracefulNodeShutdownBasedOnPodPriority");
	return errors.n;
}

enum shutplan_rules shutplan_rules_of(unsigned int minor)
{
	return minor < 23 ? SHUTPLAN_TWO_PHASES : SHUTPLAN_RANGES;
}

/* As migrateConfig() of the kubelet: 0 or 2. */
static size_t migrate(int64_t total_ns, int64_t critical_ns, struct shutplan_range ret[static 2])
{
	int64_t default_ns;

	if (total_ns == 0 || __builtin_sub_overflow(total_ns, critical_ns, &default_ns) ||
	    default_ns < 0)
		return 0;
	ret[0] = (struct shutplan_range){0, default_ns / NS_PER_S};
	ret[1] = (struct shutplan_range){SHUTPLAN_CRITICAL, critical_ns / NS_PER_S};
	return 2;
}

static int by_priority(const void *x, const void *y)
{
	const struct shutplan_group *a = x, *b = y;

	return (a->priority > b->priority) - (a->priority < b->priority);
}

/* A timer of no or negative time fires at once. */
static uint64_t window_ns(int64_t seconds)
{
	int64_t ns;

	if (seconds <= 0)
		return 0;
	return __builtin_mul_overflow(seconds, NS_PER_S, &ns) ? INT64_MAX : (uint64_t)ns;
}

int shutplan_of_ranges(const struct shutplan_range *ranges, size_t n, struct arena *arena,
		       struct shutplan *ret)
{
	struct shutplan_group *groups = arena_array(arena, n, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		groups[i] = (struct shutplan_group){
			.priority = ranges[i].priority,
			.seconds = ranges[i].seconds,
			.ns = window_ns(ranges[i].seconds),
		};
	if (n > 0)
		qsort(groups, n, sizeof(*groups), by_priority);
	*ret = (struct shutplan){.rules = SHUTPLAN_RANGES, .groups = groups, .n = n};
	return 0;
}

/* The older kubelet compares and sleeps by the durations themselves. */
static int two_phases(const struct shutplan_config *config, struct arena *arena,
		      struct shutplan *ret)
{
	struct shutplan_range pair[2];
	struct shutplan_group *groups;

	*ret = (struct shutplan){.rules = SHUTPLAN_TWO_PHASES};
	if (config->total_ns <= 0 || config->critical_ns < 0 ||
	    migrate(config->total_ns, config->critical_ns, pair) == 0)
		return 0;
	groups = arena_array(arena, 2, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	groups[0] = (struct shutplan_group){pair[0].priority, pair[0].seconds,
					    (uint64_t)(config->total_ns - config->critical_ns)};
	groups[1] = (struct shutplan_group){pair[1].priority, pair[1].seconds,
					    (uint64_t)config->critical_ns};
	ret->groups = groups;
	ret->n = 2;
	return 0;
}

int shutplan_of_config(const struct shutplan_config *config, enum shutplan_rules rules,
		       struct arena *arena, struct shutplan *ret)
{
	struct shutplan_range pair[2];

	if (!config->gate) {
		*ret = (struct shutplan){.rules = rules};
		return 0;
	}
	if (rules == SHUTPLAN_TWO_PHASES)
		return two_phases(config, arena, ret);
	if (config->priority_gate && config->n_list > 0)
		return shutplan_of_ranges(config->list, config->n_list, arena, ret);
	return shutplan_of_ranges(pair, migrate(config->total_ns, config->critical_ns, pair), arena,
				  ret);
}

uint64_t shutplan_requested_ns(const struct shutplan *plan)
{
	uint64_t sum = 0, less = 0;

	for (size_t i = 0; i < plan->n; i++) {
		int64_t s = plan->groups[i].seconds;

		if (__builtin_add_overflow(sum, plan->groups[i].ns, &sum))
			return UINT64_MAX;
		if (s < 0 &&
		    __builtin_add_overflow(less, window_ns(s > INT64_MIN ? -s : INT64_MAX), &less))
			return 0;
	}
	return sum > less ? sum - less : 0;
}

size_t shutplan_group_of(const struct shutplan *plan, int32_t priority, bool is_static)
{
	size_t i = 0;

	if (plan->n == 0)
		return 0;
	if (plan->rules == SHUTPLAN_TWO_PHASES)
		return is_static || priority >= SHUTPLAN_CRITICAL;
	while (i < plan->n - 1 && plan->groups[i].priority < priority)
		i++;
	return i > 0 && plan->groups[i].priority > priority ? i - 1 : i;
}

int64_t shutplan_override_s(int64_t group_s, struct seconds grace)
{
	return grace.set && grace.s <= group_s ? grace.s : group_s;
}

/* What the shutdown alone gives it; without a plan its own grace period stands. */
static struct seconds own_stop_s(const struct shutplan *plan, size_t group, struct seconds grace)
{
	if (plan->n == 0)
		return grace;
	return (struct seconds){true, shutplan_override_s(plan->groups[group].seconds, grace)};
}

struct seconds shutplan_stop_s(const struct shutplan *plan, size_t group, struct seconds grace,
			       struct seconds deletion)
{
	struct seconds stop = own_stop_s(plan, group, grace);

	if (deletion.set && (deletion.s > 0 || !stop.set))
		stop = deletion;
	stop.s = killgrace_stop_s(stop.s);
	return stop;
}

struct seconds shutplan_longest_stop_s(const struct shutplan *plan, size_t group,
				       struct seconds grace, struct seconds deletion)
{
	struct seconds stop = own_stop_s(plan, group, grace);

	if (deletion.set && (!stop.set || deletion.s > stop.s))
		stop = deletion;
	stop.s = killgrace_stop_s(stop.s);
	return stop;
}
