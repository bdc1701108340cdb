// SPDX-License-Identifier: Apache-2.0
/* Drives core/pods/kill_grace, and the grace periods of core/pods/life and of the model of the pod
 * worker, from grace.json. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "core/pods/kill_grace.h"
#include "core/pods/life.h"
#include "kubelet/model/kill_base.h"
#include "kubelet/model/pod_worker.h"
#include "kubelet/seconds.h"
#include "kubelet/vectors.h"

static json_t *write_seconds(struct pod_seconds seconds)
{
	return seconds.set ? json_integer(seconds.s) : json_null();
}

static int64_t life_grace(int64_t stored, struct pod_seconds deletion, struct pod_seconds spec)
{
	const struct podlife_update update = {.deletion_grace = deletion, .spec_grace = spec};
	struct podlife life = {.stage = POD_STAGE_TERMINATING, .grace_s = stored};

	podlife_step(&life, PODLIFE_WANTED, &update, 1);
	return life.grace_s;
}

/* One call: stored is what the calls before have left. */
static int effective(json_t *step, json_t *spec_json, int64_t stored, int64_t *ret_stored,
		     json_t **ret_got)
{
	struct pod_seconds deletion, override, spec;
	bool shortened;
	int r;

	if ((r = vectors_read_seconds(json_object_get(step, "deletionGracePeriodSeconds"),
				      &deletion)) < 0 ||
	    (r = vectors_read_seconds(json_object_get(step, "override"), &override)) < 0 ||
	    (r = vectors_read_seconds(spec_json, &spec)) < 0)
		return r;
	*ret_stored = podworker_effective_grace(stored, deletion, override, spec, &shortened);
	if (!override.set && life_grace(stored, deletion, spec) != *ret_stored)
		return -ERANGE;
	*ret_got =
		json_pack("{s:I, s:b}", "grace", (json_int_t)*ret_stored, "shortened", shortened);
	return *ret_got ? 0 : -ENOMEM;
}

static int run_effective(json_t *input, json_t **ret_got)
{
	json_int_t current;
	int64_t stored;
	json_t *spec;

	if (json_unpack(input, "{s:I, s:o, s?o, s?o!}", "current", &current, "spec", &spec,
			"deletionGracePeriodSeconds", &(json_t *){NULL}, "override",
			&(json_t *){NULL}) < 0)
		return -EINVAL;
	return effective(input, spec, current, &stored, ret_got);
}

static int run_effective_sequence(json_t *input, json_t **ret_got)
{
	json_auto_t *results = json_array();
	json_t *spec, *steps, *step, *result;
	int64_t stored = 0;
	size_t i;

	if (json_unpack(input, "{s:o, s:o!}", "spec", &spec, "steps", &steps) < 0)
		return -EINVAL;
	json_array_foreach(steps, i, step) {
		int r = effective(step, spec, stored, &stored, &result);

		if (r < 0)
			return r;
		json_array_append_new(results, result);
	}
	*ret_got = json_pack("{s:O}", "results", results);
	return *ret_got ? 0 : -ENOMEM;
}

static int run_kill_call_timeout(json_t *input, json_t **ret_got)
{
	struct pod_seconds override, spec;
	json_t *override_json, *spec_json;

	if (json_unpack(input, "{s:o, s:o!}", "override", &override_json, "spec", &spec_json) < 0 ||
	    vectors_read_seconds(override_json, &override) < 0 ||
	    vectors_read_seconds(spec_json, &spec) < 0)
		return -EINVAL;
	*ret_got = json_pack("{s:I, s:{s:[s, s, s], s:s}}", "timeout_s",
			     (json_int_t)podworker_kill_timeout(override, spec), "on_timeout",
			     "event", KILLGRACE_TIMEOUT_EVENT, KILLGRACE_TIMEOUT_REASON,
			     KILLGRACE_TIMEOUT_MESSAGE, "error", KILLGRACE_TIMEOUT_ERROR);
	return *ret_got ? 0 : -ENOMEM;
}

static int run_container_base(json_t *input, json_t **ret_got)
{
	struct pod_seconds deletion, spec, probe = {};
	json_t *deletion_json, *spec_json, *liveness, *startup;
	enum killgrace_why why;
	const char *reason;

	if (json_unpack(input, "{s:o, s:o, s:o, s:o, s:s!}", "pod_deletionGracePeriodSeconds",
			&deletion_json, "pod_terminationGracePeriodSeconds", &spec_json,
			"livenessProbe_grace", &liveness, "startupProbe_grace", &startup, "reason",
			&reason) < 0 ||
	    vectors_read_seconds(deletion_json, &deletion) < 0 ||
	    vectors_read_seconds(spec_json, &spec) < 0)
		return -EINVAL;
	why = killgrace_why_of(reason);
	if ((why == KILLGRACE_LIVENESS_PROBE && vectors_read_seconds(liveness, &probe) < 0) ||
	    (why == KILLGRACE_STARTUP_PROBE && vectors_read_seconds(startup, &probe) < 0))
		return -EINVAL;
	*ret_got = json_pack("{s:I}", "grace", (json_int_t)killgrace_base(deletion, spec, probe));
	return *ret_got ? 0 : -ENOMEM;
}

static int run_container_kill(json_t *input, json_t **ret_got)
{
	json_t *override_json, *prestop, *wait;
	struct pod_seconds override;
	struct killgrace_kill kill = {};
	struct killgrace_steps steps;
	json_int_t base;

	if (json_unpack(input, "{s:I, s:o, s:o, s:o!}", "base", &base, "override", &override_json,
			"preStop_duration_s", &prestop, "sidecar_wait_s", &wait) < 0 ||
	    vectors_read_seconds(override_json, &override) < 0 ||
	    vectors_read_ns(prestop, &kill.prestop_ns) < 0 ||
	    vectors_read_ns(wait, &kill.wait_ns) < 0)
		return -EINVAL;
	kill.grace_s = override.set ? override.s : base;
	kill.has_prestop = !json_is_null(prestop);
	steps = killgrace_steps(&kill);
	*ret_got = json_pack("{s:b, s:I, s:I, s:I}", "preStop_run", steps.prestop_run,
			     "preStop_consumed_s", (json_int_t)steps.prestop_s, "wait_consumed_s",
			     (json_int_t)steps.wait_s, "StopContainer_timeout_s",
			     (json_int_t)steps.stop_s);
	return *ret_got ? 0 : -ENOMEM;
}

static int run_eviction_override(json_t *input, json_t **ret_got)
{
	struct pod_seconds spec;
	const char *trigger;
	json_t *spec_json;
	json_int_t max;
	int kind;

	if (json_unpack(input, "{s:s, s:I, s:o!}", "trigger", &trigger, "evictionMaxPodGracePeriod",
			&max, "spec", &spec_json) < 0 ||
	    vectors_read_seconds(spec_json, &spec) < 0 ||
	    (kind = killgrace_trigger_of(trigger)) < 0)
		return -EINVAL;
	*ret_got = json_pack(
		"{s:o, s:b}", "override",
		write_seconds(killgrace_eviction((enum killgrace_trigger)kind, max, spec)),
		"evict_flag", true);
	return *ret_got ? 0 : -ENOMEM;
}

struct scene {
	json_t *mains, *sidecars, *inits, *running, *exits;
	json_t *waits; /* borrowed: what is answered */
};

static bool names(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *its = json_string_value(json_array_get(list, i));

		if (its && strcmp(its, name) == 0)
			return true;
	}
	return false;
}

static int read_turns(const struct scene *scene, const json_t *list, struct arena *arena,
		      struct killgrace_turn **ret)
{
	struct killgrace_turn *turns = arena_array(arena, json_array_size(list), sizeof(*turns));

	if (!turns)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (!name ||
		    vectors_read_ns(json_object_get(scene->exits, name), &turns[i].exit_ns) < 0)
			return -EINVAL;
		turns[i].running = names(scene->running, name);
	}
	*ret = turns;
	return 0;
}

/* Those that run; waits is NULL for who has not to. */
static void write_waits(const struct scene *scene, const json_t *list, const uint64_t *waits)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		uint64_t wait_ns = waits ? waits[i] : 0;

		if (name && names(scene->running, name))
			json_object_set_new(scene->waits, name,
					    json_integer((json_int_t)(wait_ns / 1000000000)));
	}
}

static int run_sidecar_order(json_t *input, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct killgrace_turn *mains, *sidecars;
	struct scene scene;
	uint64_t grace_ns, *waits;
	json_t *grace;
	int r;

	if (json_unpack(input, "{s:o, s:o, s:o, s:o, s:o, s:o!}", "containers", &scene.mains,
			"sidecars_in_spec_order", &scene.sidecars, "regular_init_containers",
			&scene.inits, "running", &scene.running, "exit_after_s", &scene.exits,
			"grace_s", &grace) < 0 ||
	    vectors_read_ns(grace, &grace_ns) < 0)
		return -EINVAL;
	if ((r = read_turns(&scene, scene.mains, &arena, &mains)) < 0 ||
	    (r = read_turns(&scene, scene.sidecars, &arena, &sidecars)) < 0)
		return r;
	waits = arena_array(&arena, json_array_size(scene.sidecars), sizeof(*waits));
	scene.waits = json_object();
	*ret_got = json_pack("{s:o}", "wait_s_truncated", scene.waits);
	if (!waits || !*ret_got)
		return -ENOMEM;
	killgrace_order(mains, json_array_size(scene.mains), sidecars,
			json_array_size(scene.sidecars), grace_ns, waits);
	write_waits(&scene, scene.mains, NULL);
	write_waits(&scene, scene.inits, NULL);
	write_waits(&scene, scene.sidecars, waits);
	return 0;
}

int vectors_run_grace(json_t *vector, json_t **ret_got)
{
	static const struct {
		const char *kind;
		int (*run)(json_t *input, json_t **ret_got);
	} kinds[] = {
		{"effective", run_effective},
		{"effective_sequence", run_effective_sequence},
		{"kill_call_timeout", run_kill_call_timeout},
		{"container_base", run_container_base},
		{"container_kill", run_container_kill},
		{"eviction_override", run_eviction_override},
		{"sidecar_order", run_sidecar_order},
	};
	const char *kind = json_string_value(json_object_get(vector, "kind"));

	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].run(json_object_get(vector, "input"), ret_got);
	}
	return -ENOTSUP;
}
