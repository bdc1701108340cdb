// SPDX-License-Identifier: Apache-2.0
/* Drives core/pods/kill_grace, and the grace periods of core/pods/life and core/stop/grace, from
 * grace.json. */
#include <errno.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/pods/kill_grace.h"
#include "core/pods/life.h"
#include "core/stop/grace.h"
#include "kubelet/compare.h"
#include "kubelet/seconds.h"
#include "kubelet/vectors.h"

/* One call: stored is what the calls before have left. No kill overrides it: graced kills nothing. */
static int effective(json_t *step, json_t *spec, int64_t stored, int64_t *ret_stored,
		     json_t **ret_got)
{
	struct podlife life = {.stage = POD_STAGE_TERMINATING, .grace_s = stored};
	struct podlife_update update = {};
	int r;

	if (json_is_integer(json_object_get(step, "override")))
		return -EINVAL;
	if ((r = vectors_read_seconds(json_object_get(step, "deletionGracePeriodSeconds"),
				      &update.deletion_grace)) < 0 ||
	    (r = vectors_read_seconds(spec, &update.spec_grace)) < 0)
		return r;
	podlife_step(&life, PODLIFE_WANTED, &update, 1);
	*ret_stored = life.grace_s;
	*ret_got = json_pack("{s:I, s:b}", "grace", (json_int_t)life.grace_s, "shortened",
			     stored && life.grace_s != stored);
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

static int run_container_base(json_t *input, json_t **ret_got)
{
	struct podtab_container container = {};
	struct podtab_pod pod = {.known = META_POD_DELETING};
	struct seconds deletion, spec;
	json_t *liveness, *startup;
	struct grace grace;

	if (vectors_read_seconds(json_object_get(input, "pod_deletionGracePeriodSeconds"),
				 &deletion) < 0 ||
	    vectors_read_seconds(json_object_get(input, "pod_terminationGracePeriodSeconds"),
				 &spec) < 0)
		return -EINVAL;
	liveness = json_object_get(input, "livenessProbe_grace");
	startup = json_object_get(input, "startupProbe_grace");
	container.probe_grace = json_is_integer(liveness) || json_is_integer(startup);
	pod.deleting = deletion.set;
	pod.known |= deletion.set ? META_POD_DELETION_GRACE : 0;
	pod.known |= spec.set ? META_POD_GRACE : 0;
	pod.deletion_grace_ns = (uint64_t)deletion.s * NS_PER_S;
	pod.grace_ns = (uint64_t)spec.s * NS_PER_S;
	grace = grace_of(&pod, NULL, &container, 0);
	*ret_got = grace_known(&grace)
			   ? json_pack("{s:I}", "grace", (json_int_t)(grace.ns / NS_PER_S))
			   : json_object();
	return *ret_got ? 0 : -ENOMEM;
}

static int run_container_kill(json_t *input, json_t **ret_got)
{
	json_t *override_json, *prestop, *wait;
	struct seconds override;
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

struct scene {
	json_t *mains, *sidecars, *inits, *running, *exits;
	json_t *waits; /* borrowed: what is answered */
};

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
		turns[i].running = vectors_has(scene->running, name);
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

		if (name && vectors_has(scene->running, name))
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
	static const struct vectors_kind kinds[] = {
		{"effective", run_effective},
		{"effective_sequence", run_effective_sequence},
		{"container_base", run_container_base},
		{"container_kill", run_container_kill},
		{"sidecar_order", run_sidecar_order},
		{},
	};

	return vectors_run_kind(kinds, vector, ret_got);
}
