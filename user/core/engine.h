/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: one observation in, effects out. It holds every decision about stops and never
 * looks at the world: it asks by an effect and is told by a later observation.
 */
#ifndef CORE_ENGINE_H
#define CORE_ENGINE_H

#include "core/obs.h"
#include "core/record.h"

struct engine;

enum engine_scope { SCOPE_PODS, SCOPE_CONTAINERS, SCOPE_SERVICES, SCOPE_ALL };

/* As options and recordings write it; NULL for what is none. */
const char *engine_scope_name(enum engine_scope scope);

struct engine_config {
	enum engine_scope scope;
	uint64_t assumed_grace_ns;	 /* for stops whose grace no source tells; 0: unknown */
	const char *const *nested_nodes; /* cgroup paths of nodes inside containers, NULL-ended */
	uint32_t max_containers;	 /* 0: the default, 16384 */
};

enum effect_type {
	EFFECT_REPORT,	     /* hand record to the sinks */
	EFFECT_WAKE_AT,	     /* send OBS_TIMER at at_ns; replaces the earlier wish; 0 cancels it */
	EFFECT_READ_COUNTS,  /* answer with OBS_COUNTS for id */
	EFFECT_FIND_CGROUP,  /* answer with OBS_CGROUP_FOUND for id, if it exists */
	EFFECT_CHECK_CGROUP, /* answer with OBS_CGROUP_GONE for id, if it is gone */
	EFFECT_PROBE_INIT,   /* answer with OBS_PROBE for id, pid, start_ns */
	EFFECT_FIND_NAMES,   /* answer with OBS_NAMES for pod_uid, container_id */
	EFFECT_SET_WATCH,    /* correct the kernel half's entry for id to kind */
};

struct effect {
	enum effect_type type;
	uint64_t id;
	uint64_t at_ns;
	uint64_t start_ns;
	uint32_t pid;
	uint32_t kind; /* enum graced_watch_kind */
	char pod_uid[37];
	char container_id[65];
	const struct record *record;
};

/* Receives each effect in order, while engine_step() runs; must not call the engine. */
typedef void (*engine_effect_fn)(void *userdata, const struct effect *effect);

/* Counters of what the engine could not or would not do; all since engine_new(). */
struct engine_stats {
	uint64_t observations;
	uint64_t stops;
	uint64_t unexpected;	  /* events a state does not expect: counted no-ops */
	uint64_t cgroups;	  /* known now */
	uint64_t cgroups_refused; /* table full */
	uint64_t pods;		  /* known now */
	uint64_t procs_forgotten; /* scope all: survivors of a signal, followed no longer */
};

/* 0, -ENOMEM or -EINVAL. The configuration is copied, its nested_nodes are borrowed. The caller
 * frees with engine_free(). */
int engine_new(const struct engine_config *config, struct engine **ret);
struct engine *engine_free(struct engine *engine);

/*
 * Takes one observation. 0, or -ENOMEM when something had to be dropped (and was counted).
 * Observations of any content and in any order are safe.
 */
int engine_step(struct engine *engine, const struct obs *obs, engine_effect_fn fn, void *userdata);

/* Called for each container that has an init now; must not call the engine. The strings are valid
 * during the call. */
typedef void (*engine_container_fn)(void *userdata, const struct record_pod *pod,
				    const struct record_container *container);
void engine_each_container(const struct engine *engine, engine_container_fn fn, void *userdata);

void engine_get_stats(const struct engine *engine, struct engine_stats *ret);

#endif
