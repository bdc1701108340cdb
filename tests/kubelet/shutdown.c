// SPDX-License-Identifier: Apache-2.0
/* Drives core/shutdown/plan and wire/kubernetes/kubelet_files from shutdown.json. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/shutdown/plan.h"
#include "kubelet/seconds.h"
#include "kubelet/vectors.h"
#include "lib/shutdown/shutplay.h"
#include "wire/kubernetes/kubelet_files.h"

static json_t *write_range(int32_t priority, int64_t seconds)
{
	return json_pack("{s:I, s:I}", "priority", (json_int_t)priority, "seconds",
			 (json_int_t)seconds);
}

static int read_ranges(const json_t *list, struct arena *arena, struct shutplan_range **ret)
{
	struct shutplan_range *ranges = arena_array(arena, json_array_size(list), sizeof(*ranges));

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_int_t priority, seconds;

		if (json_unpack(json_array_get(list, i), "{s:I, s:I!}", "priority", &priority,
				"seconds", &seconds) < 0 ||
		    priority != (int32_t)priority)
			return -EINVAL;
		ranges[i] = (struct shutplan_range){(int32_t)priority, seconds};
	}
	*ret = ranges;
	return 0;
}

static int read_ms(const json_t *input, const char *key, int64_t *ret)
{
	const json_t *value = json_object_get(input, key);
	int64_t ms = json_integer_value(value);

	if (value && !json_is_integer(value))
		return -EINVAL;
	return __builtin_mul_overflow(ms, NS_PER_MS, ret) ? -EINVAL : 0;
}

/* What a case does not say is the kubelet's default; gates are on. */
static int read_config(const json_t *input, const char *gate, const char *priority_gate,
		       struct arena *arena, struct shutplan_config *ret)
{
	const json_t *list = json_object_get(input, "byPodPriority");
	struct shutplan_range *ranges;
	int r;

	*ret = (struct shutplan_config){
		.gate = !json_is_false(json_object_get(input, gate)),
		.priority_gate = !json_is_false(json_object_get(input, priority_gate)),
		.n_list = json_array_size(list),
	};
	if ((r = read_ms(input, "shutdownGracePeriod_ms", &ret->total_ns)) < 0 ||
	    (r = read_ms(input, "shutdownGracePeriodCriticalPods_ms", &ret->critical_ns)) < 0 ||
	    (r = read_ranges(list, arena, &ranges)) < 0)
		return r;
	ret->list = ranges;
	return 0;
}

static int run_migrate_config(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_config config = {.gate = true};
	struct shutplan plan;
	int r;

	if (read_ms(input, "shutdownGracePeriod_ms", &config.total_ns) < 0 ||
	    read_ms(input, "shutdownGracePeriodCriticalPods_ms", &config.critical_ns) < 0)
		return -EINVAL;
	r = shutplan_of_config(&config, SHUTPLAN_RANGES, &arena, &plan);
	if (r < 0)
		return r;
	if (plan.n == 0)
		*ret_got = json_pack("{s:n}", "ranges");
	else
		*ret_got = json_pack("{s:[o, o]}", "ranges",
				     write_range(plan.groups[0].priority, plan.groups[0].seconds),
				     write_range(plan.groups[1].priority, plan.groups[1].seconds));
	return *ret_got ? 0 : -ENOMEM;
}

static int run_select_ranges(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_config config;
	struct shutplan plan;
	json_t *ranges = NULL;
	int r = read_config(input, "gate_GracefulNodeShutdown", "gate_priority", &arena, &config);

	if (r < 0)
		return r;
	r = shutplan_of_config(&config, SHUTPLAN_RANGES, &arena, &plan);
	if (r < 0)
		return r;
	if (plan.n > 0)
		ranges = json_array();
	for (size_t i = 0; i < plan.n; i++)
		json_array_append_new(ranges,
				      write_range(plan.groups[i].priority, plan.groups[i].seconds));
	*ret_got = json_pack("{s:o?, s:o}", "ranges", ranges ? ranges : json_null(),
			     "periodRequested_s", vectors_write_ns(shutplan_requested_ns(&plan)));
	if (*ret_got && plan.n == 0)
		json_object_set_new(*ret_got, "manager", json_string("disabled"));
	return *ret_got ? 0 : -ENOMEM;
}

static int run_enabled(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_config config;
	struct shutplan plan;
	int r = read_config(input, "gate_GracefulNodeShutdown", "gate_priority", &arena, &config);

	if (r < 0)
		return r;
	r = shutplan_of_config(&config, SHUTPLAN_RANGES, &arena, &plan);
	if (r < 0)
		return r;
	*ret_got = json_pack("{s:b}", "enabled", plan.n > 0);
	return *ret_got ? 0 : -ENOMEM;
}

static void add_error(void *userdata, const char *error)
{
	json_array_append_new(userdata, json_string(error));
}

static int run_validate(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_config config;
	json_t *errors;
	int r = read_config(input, "GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority",
			    &arena, &config);

	if (r < 0)
		return r;
	errors = json_array();
	shutplan_validate(&config, add_error, errors);
	*ret_got = json_pack("{s:o}", "errors", errors);
	return *ret_got ? 0 : -ENOMEM;
}

struct pods {
	json_t *list;
	struct shutplan_player *pods;
	size_t n;
};

static int read_pod(json_t *json, struct shutplan_player *player)
{
	json_t *priority = NULL, *grace = NULL, *kill = NULL, *unmount = NULL;
	int is_static = 0, mirror = 0;
	const char *name;

	if (json_unpack(json, "{s:s, s?o, s?b, s?b, s?o, s?o, s?o!}", "name", &name, "priority",
			&priority, "static", &is_static, "mirror", &mirror, "grace", &grace,
			"kill_returns_after_s", &kill, "unmount_done_after_s", &unmount) < 0 ||
	    vectors_read_seconds(grace, &player->grace) < 0 ||
	    vectors_read_ns(kill, &player->kill_ns) < 0 ||
	    vectors_read_ns(unmount, &player->unmount_ns) < 0)
		return -EINVAL;
	player->is_static = is_static || mirror;
	player->priority = (int32_t)json_integer_value(priority);
	return 0;
}

static int read_plan(json_t *input, struct arena *arena, struct shutplan *plan, struct pods *pods)
{
	struct shutplan_range *ranges;
	json_t *list;
	int r;

	if (json_unpack(input, "{s:o, s:o!}", "ranges", &list, "pods", &pods->list) < 0)
		return -EINVAL;
	if ((r = read_ranges(list, arena, &ranges)) < 0 ||
	    (r = shutplan_of_ranges(ranges, json_array_size(list), arena, plan)) < 0)
		return r;
	pods->n = json_array_size(pods->list);
	pods->pods = arena_array(arena, pods->n, sizeof(*pods->pods));
	if (!pods->pods)
		return -ENOMEM;
	for (size_t i = 0; i < pods->n; i++)
		if ((r = read_pod(json_array_get(pods->list, i), &pods->pods[i])) < 0)
			return r;
	return plan->n > 0 || pods->n == 0 ? 0 : -EINVAL;
}

static json_t *write_group(const struct shutplan *plan, size_t group, const struct pods *pods)
{
	json_t *json = write_range(plan->groups[group].priority, plan->groups[group].seconds);
	json_t *list = json_array();

	for (size_t i = 0; i < pods->n; i++)
		if (shutplay_group_of(plan, &pods->pods[i]) == group)
			json_array_append(list,
					  json_object_get(json_array_get(pods->list, i), "name"));
	json_object_set_new(json, "pods", list);
	return json;
}

static int run_group_by_priority(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan plan;
	struct pods pods;
	json_t *groups;
	int r = read_plan(input, &arena, &plan, &pods);

	if (r < 0)
		return r;
	groups = json_array();
	for (size_t i = 0; i < plan.n; i++)
		json_array_append_new(groups, write_group(&plan, i, &pods));
	*ret_got = json_pack("{s:o}", "groups", groups);
	return *ret_got ? 0 : -ENOMEM;
}

static int run_grace_override(json_t *input, json_t **ret_got)
{
	const struct seconds none = {};
	struct shutplan_group group = {};
	const struct shutplan plan = {.rules = SHUTPLAN_RANGES, .groups = &group, .n = 1};
	struct seconds own = {};
	json_int_t group_s;
	json_t *grace;

	if (json_unpack(input, "{s:I, s:o!}", "group_seconds", &group_s,
			"pod_terminationGracePeriodSeconds", &grace) < 0 ||
	    vectors_read_seconds(grace, &own) < 0)
		return -EINVAL;
	group.seconds = group_s;
	*ret_got =
		json_pack("{s:I, s:I}", "override", (json_int_t)shutplan_override_s(group_s, own),
			  "container_stop_minimum",
			  (json_int_t)shutplan_stop_s(&plan, 0, own, none).s);
	return *ret_got ? 0 : -ENOMEM;
}

static json_t *write_run(const struct shutplan *plan, size_t group, const struct pods *pods,
			 const struct shutplan_run *run)
{
	json_t *json = write_group(plan, group, pods), *overrides = json_object();

	for (size_t i = 0; i < pods->n; i++) {
		const struct shutplan_player *pod = &pods->pods[i];

		if (shutplay_group_of(plan, pod) != group)
			continue;
		json_object_set_new(
			overrides,
			json_string_value(json_object_get(json_array_get(pods->list, i), "name")),
			json_integer(shutplan_override_s(plan->groups[group].seconds, pod->grace)));
	}
	json_object_set_new(json, "grace_override", overrides);
	json_object_set_new(json, "start_s", vectors_write_ns(run->start_ns));
	json_object_set_new(json, "end_s", vectors_write_ns(run->end_ns));
	json_object_set_new(json, "outcome", json_string(shutplan_outcome_name(run->outcome)));
	return json;
}

static int run_sequence(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan_run *runs;
	struct shutplan plan;
	struct pods pods;
	uint64_t end_ns;
	json_t *groups;
	int r = read_plan(input, &arena, &plan, &pods);

	if (r < 0)
		return r;
	runs = arena_array(&arena, plan.n, sizeof(*runs));
	groups = json_array();
	if (!runs || !groups)
		return -ENOMEM;
	end_ns = shutplan_play(&plan, pods.pods, pods.n, runs);
	for (size_t i = 0; i < plan.n; i++)
		if (runs[i].has_pods)
			json_array_append_new(groups, write_run(&plan, i, &pods, &runs[i]));
	*ret_got = json_pack("{s:o, s:o, s:o}", "groups", groups, "lock_released_at_s",
			     vectors_write_ns(end_ns), "state_file_and_end_metric_written_at_s",
			     vectors_write_ns(end_ns));
	return *ret_got ? 0 : -ENOMEM;
}

/* The two times are in the input as they are in the file. */
static int write_state(json_t *input, json_t **ret_got)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(cleanup_free) char *text = json_dumps(input, 0);
	struct shutstate state;
	int r;

	if (!text || shutstate_read(text, strlen(text), &state) < 0)
		return -EINVAL;
	r = shutstate_write(&out, &state);
	if (r < 0)
		return r;
	*ret_got = json_pack("{s:s, s:{s:I, s:I}}", "bytes", buf_str(&out), "metrics",
			     SHUTSTATE_START_METRIC,
			     (json_int_t)shutstate_seconds(state.started, state.start_wall_ns),
			     SHUTSTATE_END_METRIC,
			     (json_int_t)shutstate_seconds(state.ended, state.end_wall_ns));
	return *ret_got ? 0 : -ENOMEM;
}

static void add_metric(json_t *got, const char *name, bool set, int64_t wall_ns)
{
	if (!set)
		return;
	json_array_append_new(json_object_get(got, "metrics_set"), json_string(name));
	json_object_set_new(got, name, json_integer(shutstate_seconds(set, wall_ns)));
}

/* file is NULL for one that is not there. */
static int read_state(const char *file, json_t **ret_got)
{
	struct shutstate state = {};
	int r = shutstate_read(file, file ? strlen(file) : 0, &state);

	*ret_got = json_pack("{s:[]}", "metrics_set");
	if (!*ret_got)
		return -ENOMEM;
	if (r < 0)
		json_object_set_new(*ret_got, "error", json_string(strerror(-r)));
	else if (!file)
		json_object_set_new(*ret_got, "error", json_null());
	add_metric(*ret_got, SHUTSTATE_START_METRIC, state.started, state.start_wall_ns);
	add_metric(*ret_got, SHUTSTATE_END_METRIC, state.ended, state.end_wall_ns);
	return 0;
}

static int run_state_file(json_t *input, json_t **ret_got)
{
	const char *file = json_string_value(json_object_get(input, "file"));
	struct shutplan_config config = {
		.gate = true,
		.priority_gate = !json_is_false(json_object_get(input, "gate_priority")),
	};

	if (!shutplan_keeps_state(&config)) {
		*ret_got = json_pack("{s:b, s:[]}", "written", false, "metrics_set");
		return *ret_got ? 0 : -ENOMEM;
	}
	if (file || json_is_false(json_object_get(input, "file_exists")))
		return read_state(file, ret_got);
	return write_state(input, ret_got);
}

int vectors_run_shutdown(json_t *vector, json_t **ret_got)
{
	static const struct vectors_kind kinds[] = {
		{"migrate_config", run_migrate_config},
		{"select_ranges", run_select_ranges},
		{"enabled", run_enabled},
		{"validate", run_validate},
		{"group_by_priority", run_group_by_priority},
		{"grace_override", run_grace_override},
		{"sequence", run_sequence},
		{"state_file", run_state_file},
		{},
	};

	return vectors_run_kind(kinds, vector, ret_got);
}
