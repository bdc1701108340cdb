/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: one observation in, effects out. It holds every decision about stops and never
 * looks at the world: it queries by an effect, and a later observation answers.
 */
#ifndef CORE_ENGINE_ENGINE_H
#define CORE_ENGINE_ENGINE_H

#include "core/model/effect.h"
#include "core/facts/observation.h"
#include "core/kubelet/ending.h"
#include "core/stop/record.h"
#include "core/words/words.h"

struct engine;

struct engine_config {
	enum engine_scope scope;
	uint64_t assumed_grace_ns;	 /* for stops whose grace no source provides; 0: unknown */
	const char *const *nested_nodes; /* cgroup paths of nodes inside containers, NULL-ended */
	/* Cgroup paths that containers are looked for below (core/cgroup/trust.h); NULL or empty:
	 * all */
	const char *const *container_roots;
	uint32_t max_containers; /* 0: the default, 16384 */
	uint32_t sources; /* that answer: bits 1 << enum meta_source; log directories always do */
	const char *const *helpers; /* names of processes that nobody has to ask to stop,
				       NULL-ended; NULL: none */
	uint64_t name_wait_ns; /* a verdict waits so long for its name; 0: the default, 250 ms */
};

/* Counters of what the engine could not or would not do; all since engine_new(). */
struct engine_stats {
	uint64_t observations;
	uint64_t stops;
	uint64_t unexpected;	  /* events a state does not expect: counted no-ops */
	uint64_t inits_not_found; /* containers with processes of which none was found to be init */
	uint64_t cgroups;	  /* known now */
	uint64_t cgroups_refused; /* table full */
	uint64_t pods;		  /* known now */
	uint64_t pods_refused;	  /* not followed: no room */
	uint64_t pod_states[POD_STAGE_COUNT]; /* how often a pod was reported to come to each */
	uint64_t pods_described; /* known by name, or about to be, by what sources provided */
	uint64_t containers_described;
	uint64_t names_refused;	  /* of those: found no room */
	uint64_t procs_forgotten; /* scope all: survivors of a signal, followed no longer */
	uint64_t discrepancies[DISCREPANCY_COUNT]; /* reported */
	uint64_t kept_refused; /* observations of an earlier engine that could not be so */
};

/* 0, -ENOMEM or -EINVAL. The configuration is copied, its lists are borrowed. The caller
 * frees with engine_free(). */
int engine_new(const struct engine_config *config, struct engine **ret);
struct engine *engine_free(struct engine *engine);

/*
 * Takes one observation. 0, or -ENOMEM when something had to be dropped (and was counted).
 * Observations of any content and in any order are safe.
 */
int engine_step(struct engine *engine, const struct obs *obs, effect_fn fn, void *userdata);

/* Receives each observation in order; must not call the engine. */
typedef void (*engine_obs_fn)(void *userdata, const struct obs *obs);
/* Whether something that engine_keep() would write has changed since its last call. */
bool engine_has_changed(const struct engine *engine);
/*
 * Writes what a new engine needs to go on from here: fed in this order to a new engine,
 * before anything else. all: everything that is there; otherwise only of those containers and pods
 * that changed since the last call, to be fed after what was written before: the last word about a
 * container or pod stands, and one that is over is written as such.
 */
void engine_keep(struct engine *engine, bool all, engine_obs_fn fn, void *userdata);

/* A container that has an init now. */
struct engine_running {
	uint64_t id;	   /* cgroup */
	uint32_t kind;	   /* enum graced_watch_kind */
	uint64_t start_ns; /* of the init */
	uint32_t pid, ns_pid;
	bool guessed;	      /* it may be another process */
	bool stopping;	      /* engine_each_stopping() has it, too */
	uint32_t stop_signal; /* as a source provides it; 0: unknown */
	bool unanswered;      /* a source has been queried for its names or its pod's, and has not
				 answered */
	bool unnamed;	      /* ... and none had the name of the container */
	uint32_t lapse;	      /* enum names_lapse: why names that there may be are not known */
	struct record_pod pod;
	struct record_container container;
};

/* Called for each of them; must not call the engine. The strings are valid during the call. */
typedef void (*engine_container_fn)(void *userdata, const struct engine_running *running);
void engine_each_container(const struct engine *engine, engine_container_fn fn, void *userdata);

/*
 * Called for each container and service whose init runs and was asked to stop, or killed. Its
 * record is that of the verdict to come, without outcome, cause and gaps; its grace period ends at
 * stop_signal.at_ns + grace.ns. The record is valid during the call. Must not call the engine.
 */
typedef void (*engine_stop_fn)(void *userdata, const struct record_stop *stop);
void engine_each_stopping(struct engine *engine, engine_stop_fn fn, void *userdata);

/*
 * Called with the cgroup of each container that has been without an init for so long that it is no
 * longer being made, as far as its cgroup is known: OBS_INIT or OBS_NO_INIT is expected of those
 * that have processes. Must not call the engine.
 */
typedef void (*engine_id_fn)(void *userdata, uint64_t id);
void engine_each_without_init(const struct engine *engine, uint64_t now_ns, engine_id_fn fn,
			      void *userdata);

/* A cgroup that the engine knows. */
struct engine_cgroup {
	bool is_container; /* or may be one: that is not known yet */
	bool is_sandbox;   /* of a pod, as a source says or as nothing else is left; no guess */
	bool is_known_pod; /* what the API says of its pod's uid is about this pod */
	struct record_pod pod;
	struct record_container container;
};

/* False: it knows none of that id. The strings are valid until the next call of engine_step(). */
bool engine_get_cgroup(const struct engine *engine, uint64_t id, struct engine_cgroup *ret);

/* A cgroup's path, valid until the next call of engine_step(); NULL: not known. */
const char *engine_cgroup_path(const struct engine *engine, uint64_t id);

/* A pod as `graced pods` and the metrics show it, or a container or service in none. Strings are
 * borrowed and valid during the call that shows it. Times are nanoseconds of CLOCK_BOOTTIME. */
struct podview {
	SHARED(record_pod, pod);
	/* Known: it is about this container, which is in no pod. Of what follows there are its
	 * stage (POD_STAGE_SYNC: it runs, POD_STAGE_TERMINATING: it was asked to stop) and the
	 * times. */
	struct record_container container;
	enum pod_stage stage;
	uint64_t first_ns;    /* when it was first seen */
	uint64_t since_ns;    /* ... and when it came to its stage */
	uint64_t grace_ns;    /* effective, once it is terminating; 0: not known */
	uint64_t deadline_ns; /* when that is over; 0: not known */
	uint32_t containers;  /* that have a cgroup, the sandbox apart */
	uint32_t running;     /* ... and whose init lives */
	bool sandbox_running;
	bool desired; /* the kubelet lists it */
	bool deleting;
	bool waiting;		 /* static, and another of its full name has to finish first */
	bool ready_known, ready; /* as the kubelet lists it; not known where it does not */
	uint64_t ready_stop_ns;	 /* it is reported as Ready, being stopped since then; 0: not so */
	uint32_t discrepancies;	 /* that hold, and those of its exits: bits of enum discrepancy */
	/* What the engine leaves to those who show it. */
	uint64_t at_ns;
	int64_t wall_ns;    /* since 1970, UTC */
	const char *node;   /* NULL: not known */
	bool desired_known; /* the source that lists such pods has answered */
	bool gone;	    /* the daemon knows it no longer; the rest is what it knew last */
};

/* Called for each pod that is followed, the oldest first; must not call the engine. */
typedef void (*engine_pod_fn)(void *userdata, const struct podview *pod);
void engine_pods_each(const struct engine *engine, engine_pod_fn fn, void *userdata);

/* How many pods there are, as the kubelet counts its own (docs/kubelet-rules.md, "Pod metrics"); of
 * a pod that it never listed it is unknown whether it is static. */
void engine_pods_count(const struct engine *engine, struct pod_counts *ret);

/* Whether a shutdown of the node is announced. */
bool engine_in_shutdown(const struct engine *engine);
/* As a node's shutdown is gone along with. False: it is not, OBS_SHUTDOWN_PLAN never came. */
bool engine_get_shutdown(const struct engine *engine, struct shutdown_status *ret,
			 struct shutdown_stats *ret_stats);

/* Pods of a priority from this on, up to the next group's. */
struct engine_shutdown_group {
	int32_t priority;
	uint64_t pods[SHUTDOWN_POD_STATE_COUNT]; /* while a shutdown is going on */
};

/* The kubelet's groups in the order of their ending, at most max of them; how many they are. 0: it
 * has none, or no shutdown is followed. */
size_t engine_get_shutdown_groups(const struct engine *engine, struct engine_shutdown_group *ret,
				  size_t max);

/* How a pod ended, for its status. False: its names are not known, or more of its containers have
 * ended than are listed. The strings are valid until the next call of engine_step(). */
bool engine_get_ending(const struct engine *engine, const char *pod_uid,
		       struct kubelet_ending *ret);

/* A pod that a shutdown would end. */
struct engine_planned_pod {
	const char *uid, *namespace_, *name; /* names: NULL where they are not known */
	bool priority_known;		     /* else it counts as 0 */
	size_t group;			     /* in the order of their ending */
	bool grace_known;
	uint64_t grace_ns; /* what it asks for by its spec */
	uint64_t given_ns; /* at most; what its group has where grace is not known */
	bool cut_short;	   /* given less than it asks for */
};

/* Called for each of them, the oldest first; must not call the engine. The strings are valid until
 * the next call of engine_step(). Without groups there is none. */
typedef void (*engine_planned_fn)(void *userdata, const struct engine_planned_pod *pod);
void engine_each_planned(const struct engine *engine, engine_planned_fn fn, void *userdata);

/* How many pods a shutdown would give less time than they ask for, as far as that is known. */
size_t engine_count_cut_short(const struct engine *engine);

/* What this boot has shown of pods so far. */
struct engine_evidence {
	bool complete; /* every cgroup that there was at the start is known */
	bool lost;     /* a record of the kernel half was, or a cgroup found no room */
	size_t pods;   /* cgroups of pods and in pods that are there, with or without processes */
};
void engine_get_evidence(const struct engine *engine, struct engine_evidence *ret);

void engine_get_stats(const struct engine *engine, struct engine_stats *ret);

#endif
